#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The three libraries as somebody else finds them: each one's soname, what it needs, that it exports what its headers
# declare and nothing else; programs made with pkg-config and with CMake, shared and static, which run.
set -euo pipefail
: "${CAUCUS_BUILD:?build directory}" "${CAUCUS_SOURCE:?source directory}"
cc=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "not ok: $*"; exit 1; }
same() { # same WHAT EXPECTED FOUND
    [ "$2" = "$3" ] || { diff <(echo "$2") <(echo "$3") || true; fail "$1 (< expected, > found)"; }
}

cmake --install "$CAUCUS_BUILD" --prefix "$work/first" >"$work/log" || { cat "$work/log"; fail "cmake --install"; }
mv "$work/first" "$work/moved" # nothing may depend on where it was installed
prefix=$work/moved
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name caucus.pc)")
export PKG_CONFIG_PATH
libdir=$(readlink -f "$(pkg-config --variable=libdir caucus)")
version=$(cat "$CAUCUS_SOURCE/VERSION")
soversion=$(sed -n 's/^set(caucus_soversion \([0-9]*\))$/\1/p' "$CAUCUS_SOURCE/cmake/libraries.cmake")
[ -n "$soversion" ] || fail "cmake/libraries.cmake does not say caucus_soversion"

# Which library a header's functions are in, by the layer that its first lines name.
library_of_layer() {
    case $1 in
        num | rng | dp | plan | algo) echo caucus ;;
        wire | store | link) echo caucus-link ;;
        data | sim | scenario | show | audit) echo caucus-sim ;;
        *) fail "no library has the layer '$1'" ;;
    esac
}
# declared HEADER: the functions and objects that it, or a header it includes, offers.
declared() {
    "$cc" -std=c11 -E -P -I"$prefix/include" "$1" | tr '\n' ' ' |
        grep -oE '__attribute__\(\(visibility\("default"\)\)\)[^;({=]*[ *]caucus_[a-z0-9_]+' |
        grep -oE 'caucus_[a-z0-9_]+$'
}
: >"$work/caucus.all"
: >"$work/caucus-link.all"
: >"$work/caucus-sim.all"
for header in "$prefix"/include/caucus/*.h; do
    layer=$(sed -n '1,5s/^ \* layer: \([a-z]*\).*/\1/p' "$header")
    declared "$header" >>"$work/$(library_of_layer "$layer").all" || true # some declare types alone
done
sort -u "$work/caucus.all" -o "$work/caucus.all"
sort -u "$work/caucus.all" "$work/caucus-link.all" -o "$work/caucus-link.all"
sort -u "$work/caucus-link.all" "$work/caucus-sim.all" -o "$work/caucus-sim.all"
[ "$(wc -l <"$work/caucus.all")" -ge 50 ] || fail "only $(wc -l <"$work/caucus.all") declarations found"

# needs LIBRARY: the shared libraries it asks for, but libc and libm.
needs() {
    readelf -d "$libdir/lib$1.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\.so.*\]/\1/p' | awk '!/^lib[cm]$/' | sort | xargs
}
same "what libcaucus needs" "libsodium" "$(needs caucus)"
same "what libcaucus-link needs" "libprotobuf-c libsodium libyaml-0" "$(needs caucus-link)"
same "what libcaucus-sim needs" "libprotobuf-c libsodium libyaml-0" "$(needs caucus-sim)"

for name in caucus caucus-link caucus-sim; do
    same "$name: version in pkg-config" "$version" "$(pkg-config --modversion $name)"
    same "$name: soname" "lib$name.so.$soversion" \
        "$(readelf -d "$libdir/lib$name.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')"
    same "$name: lib$name.so" "$libdir/lib$name.so.$version" "$(readlink -f "$libdir/lib$name.so")"
    same "$name: its soname's link" "$libdir/lib$name.so.$version" "$(readlink -f "$libdir/lib$name.so.$soversion")"
    same "$name: what it exports is what its headers declare" "$(cat "$work/$name.all")" \
        "$(nm -D --defined-only "$libdir/lib$name.so" | awk '{ print $3 }' | sort -u)"
    same "$name: a shared program names one library" "-l$name" "$(pkg-config --libs-only-l $name | xargs)"
    # Every global of the archive is ours by name: it must not meet a program's own.
    foreign=$(nm --defined-only -g "$libdir/lib$name.a" | awk 'NF == 3 && $3 !~ /^caucus_/ { print $3 }' | sort -u | \
        xargs)
    same "$name: globals of the archive without our prefix" "" "$foreign"
done
foreign=$(nm --defined-only -g "$CAUCUS_BUILD/libcaucus-coordinator.a" | awk \
    'NF == 3 && $3 !~ /^caucus_/ { print $3 }' | xargs)
same "globals of the coordinator without our prefix" "" "$foreign"

# A program per library. Each calls something that only its library has.
cat >"$work/caucus.c" <<'C'
#include <caucus/caucus.h>
#include <stdio.h>
int main(void) {
    puts(caucus_status_text(CAUCUS_OK));
    return 0;
}
C
cat >"$work/caucus-link.c" <<'C'
#include <caucus/link.h>
#include <stdio.h>
int main(void) {
    caucus_link_free(NULL);
    puts(caucus_status_text(CAUCUS_OK));
    return 0;
}
C
cat >"$work/caucus-sim.c" <<'C'
#include <caucus/simulate.h>
#include <stdio.h>
int main(void) {
    static const char scenario[] = "algorithm: svt\ntrust: coordinator\nclients: 2\nrounds: 8\nexperts: 3\ntrials: 2\n";
    caucus_simulation *simulation = NULL;
    double regret[2] = {-1, -1};
    caucus_error error = {0};
    caucus_status status = caucus_simulation_new(scenario, sizeof scenario - 1, NULL, NULL, &simulation, &error);
    if (status == CAUCUS_OK)
        status = caucus_simulation_values(simulation, 0, CAUCUS_SIMULATION_REGRET, regret, 2);
    puts(regret[0] >= 0 && regret[1] >= 0 ? caucus_status_text(status) : error.text);
    caucus_simulation_free(simulation);
    return 0;
}
C
flags=(-std=c11 -Wall -Wextra -Wpedantic -Werror)
mkdir "$work/pkg-config"
for name in caucus caucus-link caucus-sim; do
    program=$work/pkg-config/$name
    read -ra shared <<<"$(pkg-config --cflags --libs $name)"
    read -ra static <<<"$(pkg-config --cflags --libs --static $name)"
    "$cc" "${flags[@]}" -o "$program" "$work/$name.c" "${shared[@]}"
    "$cc" "${flags[@]}" -static -o "${program}_static" "$work/$name.c" "${static[@]}"
done

# The same with CMake.
mkdir "$work/project"
cp "$work"/caucus*.c "$work/project/"
cat >"$work/project/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.18)
project(somebody_elses LANGUAGES C)
find_package(caucus $version REQUIRED COMPONENTS link sim static)
foreach(part caucus link sim)
    set(name caucus-\${part})
    if(part STREQUAL "caucus")
        set(name caucus)
    endif()
    add_executable(\${name} \${name}.c)
    target_link_libraries(\${name} PRIVATE caucus::\${part})
    add_executable(\${name}_static \${name}.c)
    target_link_libraries(\${name}_static PRIVATE caucus::\${part}_static)
    target_link_options(\${name}_static PRIVATE -static)
endforeach()
CMAKE
# in_cmake DIRECTORY: configure it against the installed copy alone.
in_cmake() { cmake -S "$1" -B "$1/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" >"$work/log" 2>&1; }
in_cmake "$work/project" || { cat "$work/log"; fail "find_package(caucus COMPONENTS link sim static)"; }
cmake --build "$work/project/build" >"$work/log" 2>&1 || { cat "$work/log"; fail "the CMake project does not build"; }

for way in "$work/pkg-config" "$work/project/build"; do
    for name in caucus caucus-link caucus-sim; do
        same "$way: $name, shared" "done" "$(LD_LIBRARY_PATH=$libdir "$way/$name")"
        same "$way: $name, static" "done" "$("$way/${name}_static")"
        asked=$(LD_LIBRARY_PATH=$libdir ldd "$way/$name")
        grep -q "$libdir/lib$name.so.$soversion" <<<"$asked" || fail "$way/$name uses another library: $asked"
        asked=$(ldd "$way/${name}_static" 2>&1 || true)
        if grep -q "lib" <<<"$asked"; then fail "$way/${name}_static is not static: $asked"; fi
    done
done

# What is not there is refused in words.
mkdir "$work/wrong"
# wrong ARGUMENTS EXPECTED: find_package(caucus ARGUMENTS) fails and says EXPECTED.
wrong() {
    printf 'cmake_minimum_required(VERSION 3.18)\nproject(wrong LANGUAGES C)\nfind_package(caucus %s)\n' "$1" \
        >"$work/wrong/CMakeLists.txt"
    if in_cmake "$work/wrong"; then fail "find_package(caucus $1) is accepted"; fi
    grep -qF -- "$2" "$work/log" || { cat "$work/log"; fail "find_package(caucus $1) does not say: $2"; }
}
wrong "REQUIRED COMPONENTS server" "caucus has no component 'server': there are link, sim and static"
wrong "99.0 REQUIRED" "requested version \"99.0\""
echo "ok"
