#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each installed header, included first and alone, is strict C11 and C++17 for gcc and clang: no warning, no extension,
# no macro that the caller would have to define, nothing that another header must bring. First the check is checked
# itself, on headers that break one rule each.
set -euo pipefail
source_dir=${CAUCUS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for compiler in gcc g++ clang clang++; do
    command -v "$compiler" >/dev/null || { echo "not ok: no $compiler; tools/install-deps --test installs it"; exit 1; }
done

# compiles COMPILER DIR HEADER: is DIR/HEADER accepted? A function is defined after it, so that what it leaves open
# shows.
compiles() {
    local compiler=$1 dir=$2 header=$3 standard=(-std=c11 -Wstrict-prototypes -Wmissing-prototypes) suffix=c
    case $compiler in *++) standard=(-std=c++17 -Wold-style-cast -Wzero-as-null-pointer-constant) suffix=cc ;; esac
    printf '#include <%s>\nint main(void) {\n    return 0;\n}\n' "$header" >"$work/alone.$suffix"
    "$compiler" "${standard[@]}" -Wall -Wextra -Wpedantic -Wundef -Wconversion -Wsign-conversion -Wshadow -Werror \
        -fsyntax-only -I"$dir" "$work/alone.$suffix"
}

# refused NAME COMPILER TEXT: a header with this text must not pass.
refused() {
    printf '%b' "$3" >"$work/bad.h"
    if compiles "$2" "$work" bad.h 2>/dev/null; then
        echo "not ok: self-test: $2 takes $1"
        exit 1
    fi
}
refused "an extension" gcc 'typedef __int128 wide;\n'
refused "an empty structure" clang 'struct nothing {};\n'
refused "a type that it does not include" gcc 'uint32_t rounds(void);\n'
refused "a word of C++" g++ 'int f(int class);\n'
refused "a flexible array" clang++ 'struct tail { int n; int rest[]; };\n'

checked=0
for path in "$source_dir"/include/caucus/*.h; do
    header=caucus/$(basename "$path")
    for compiler in gcc clang g++ clang++; do
        compiles "$compiler" "$source_dir/include" "$header" || { echo "not ok: $header alone, $compiler"; exit 1; }
    done
    checked=$((checked + 1))
done
[ "$checked" -ge 10 ] || { echo "not ok: only $checked headers found"; exit 1; }
echo "ok: $checked headers, each alone, C11 and C++17, gcc and clang"
