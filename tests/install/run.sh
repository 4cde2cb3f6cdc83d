#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a user of the library does: install it, compile a program with pkg-config alone, run it. Once
# against the shared library, once fully static; both must print the same, expected lines.
set -euo pipefail
: "${CAUCUS_BUILD:?build directory}" "${CAUCUS_SOURCE:?source directory}"
cc=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "not ok: $*"; exit 1; }

cmake --install "$CAUCUS_BUILD" --prefix "$work/first" >"$work/log" || { cat "$work/log"; fail "cmake --install"; }
mv "$work/first" "$work/moved" # the pkg-config file must not depend on where it was installed
prefix=$work/moved
pc=$(find "$prefix" -name caucus.pc)
[ -n "$pc" ] || fail "caucus.pc is not installed"
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
version=$(cat "$CAUCUS_SOURCE/VERSION")
[ "$(pkg-config --modversion caucus)" = "$version" ] || fail "pkg-config gives another version than $version"
libdir=$(pkg-config --variable=libdir caucus)
[ "$(readlink -f "$libdir/libcaucus.so")" = "$(readlink -f "$libdir/libcaucus.so.$version")" ] ||
    fail "libcaucus.so -> libcaucus.so.$version"
soversion=$(sed -n 's/^set(caucus_soversion \([0-9]*\))$/\1/p' "$CAUCUS_SOURCE/cmake/libraries.cmake")
[ -f "$libdir/libcaucus.so.$soversion" ] || fail "the soname link is missing"
[ "$("$prefix/bin/caucus" --version)" = "caucus $version" ] || fail "the installed program does not run"
if [ -n "${CAUCUS_CLIENT:-}" ]; then
    [ "$("$prefix/bin/caucus-client" --version)" = "caucus-client $version" ] || fail "caucus-client does not run"
    for script in bash-completion/completions/caucus-client zsh/site-functions/_caucus-client \
        fish/vendor_completions.d/caucus-client.fish man/man1/caucus-client.1; do
        [ -s "$prefix/share/$script" ] || fail "$script is not installed"
    done
    grep -q '^ExecStart=[^ ]*/bin/caucus-client --config' "$prefix/lib/systemd/system/caucus-client@.service" ||
        fail "the unit caucus-client@ does not start caucus-client"
fi
[ -f "$prefix/share/man/man1/caucus.1" ] || fail "the manual page is not installed"
for script in bash-completion/completions/caucus zsh/site-functions/_caucus fish/vendor_completions.d/caucus.fish; do
    [ -s "$prefix/share/$script" ] || fail "$script is not installed"
done
documents=$prefix/share/doc/caucus
for file in README.md docs/OPERATIONS.md docs/RUNTIME.md docs/schemas/plan.json docs/img/status.png \
    examples/pick_privately.c examples/lines experiments/figure2.yaml; do
    [ -e "$documents/$file" ] || fail "$file is not installed"
done
bash "$CAUCUS_SOURCE/tests/install/links.sh" "$documents" "$prefix/include" || fail "links of the installed pages"
"$prefix/bin/caucus" simulate "$documents/experiments/figure2.yaml" --trials 1 --rounds 64 >/dev/null 2>"$work/log" ||
    fail "an installed experiment: $(cat "$work/log")"
(cd "$CAUCUS_SOURCE/include" && find caucus -name '*.h') | while read -r header; do
    [ -f "$prefix/include/$header" ] || fail "$header is not installed"
done

cp "$CAUCUS_SOURCE/examples/pick_privately.c" "$work/"
cd "$work"
# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Werror -o shared pick_privately.c $(pkg-config --cflags --libs caucus)
# shellcheck disable=SC2046
"$cc" -std=c11 -static -o static pick_privately.c $(pkg-config --cflags --libs --static caucus)
# Read whole before it is searched: grep -q would stop at the first match, and pipefail would see ldd stopped by it.
needs=$(LD_LIBRARY_PATH=$libdir ldd shared)
grep -q "$libdir/libcaucus.so.${version%%.*}" <<<"$needs" || fail "the shared program uses another library"
needs=$(ldd static 2>&1 || true)
if grep -q caucus <<<"$needs"; then fail "the static program needs libcaucus.so"; fi
LD_LIBRARY_PATH=$libdir ./shared --seed 7 >shared.txt
./static --seed 7 >static.txt
diff -u shared.txt static.txt || fail "shared and static differ"
cat shared.txt
for pattern in '^scores ' '^picked: expert [0-4] \(.+\), permute-and-flip, epsilon 1$' \
    '^ledger: released 1 of 1, left 0$' \
    '^a second pick is refused: the privacy budget is exhausted' '^NOT PRIVATE \(seeded\)'; do
    grep -qE "$pattern" shared.txt || fail "the example does not print a line like: $pattern"
done
LD_LIBRARY_PATH=$libdir ./shared >private.txt # a real run: key from the operating system
if grep -q 'NOT PRIVATE' private.txt; then fail "an unseeded run calls itself seeded"; fi
code=0
LD_LIBRARY_PATH=$libdir ./shared --seed nonsense >/dev/null 2>&1 || code=$?
[ "$code" -eq 2 ] || fail "wrong use must exit with 2, not $code"

# The other examples; and last the client to embed, in a live federation.
cp "$CAUCUS_SOURCE/examples/model_selection.c" "$CAUCUS_SOURCE/examples/recommender.c" .
for example in model_selection recommender; do
    # shellcheck disable=SC2046
    "$cc" -std=c11 -Wall -Wextra -Werror -o "$example" "$example.c" $(pkg-config --cflags --libs caucus)
done
LD_LIBRARY_PATH=$libdir ./model_selection --seed 7 >selection.txt
grep -qE '^round  +[0-9]+: .+ had cost too much; from now on distilled$' selection.txt ||
    fail "model_selection: $(cat selection.txt)"
code=0
LD_LIBRARY_PATH=$libdir ./recommender "$work/nothing" >/dev/null 2>&1 || code=$?
[ "$code" -eq 1 ] || fail "recommender without data must exit with 1, not $code"
data=${CAUCUS_MOVIELENS:-$CAUCUS_SOURCE/../shared/data}
for set in "ml-100k 78" "ml-1m 503"; do
    read -r name rounds <<<"$set"
    if [ ! -d "$data/$name" ]; then
        echo "recommender: not tried with $name, which is not in $data (CAUCUS_MOVIELENS=directory holding it)"
        continue
    fi
    LD_LIBRARY_PATH=$libdir ./recommender "$data/$name" --seed 7 >recommended.txt ||
        fail "recommender, $name: exit code $?"
    for pattern in '^after round  *[0-9]+ the shops vote:( [A-Z][^ ]+){12}$' \
        "^lost per shop: [0-9.]+ stars in $rounds rounds; always Drama: 0.0$" \
        '^privacy of every message, against everybody: epsilon 5 for one user$'; do
        grep -qE "$pattern" recommended.txt || fail "recommender, $name: no line like $pattern: $(cat recommended.txt)"
    done
done
# shellcheck disable=SC1091 # it is looked at by itself
. "$CAUCUS_SOURCE/tests/install/live.bash"

echo "ok"
