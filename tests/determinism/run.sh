#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same seed gives the same numbers from gcc and clang, without and with optimisation, with one thread and with
# eight, and those that are committed in digest.expected. Plain compiler calls, so that the build system cannot make the
# variants alike.
#   run.sh            two variants, which share no compiler, level or number of threads
#   run.sh --all      all eight (make nightly)
#   run.sh --update   write digest.expected anew, when a stream or a plan is meant to change: CHANGELOG.md must say so
# A digest that is not in digest.expected, of an algorithm that is new, is compared between the variants only.
set -euo pipefail
cd "${CAUCUS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -ra sodium <<<"$(pkg-config --cflags --libs libsodium)"
mapfile -t core < <(find src/num src/rng src/dp src/plan src/algo -name '*.c' | LC_ALL=C sort)
expected=tests/determinism/digest.expected

reference=
failures=0
# variant COMPILER LEVEL THREADS...
variant() {
    local compiler=$1 level=$2 threads result program=$work/$1$2
    if ! command -v "$compiler" >/dev/null; then
        echo "not ok: $compiler is not installed; tools/install-deps --test installs it"
        exit 1
    fi
    "$compiler" -std=c11 -D_DEFAULT_SOURCE "$level" -ffp-contract=off -Wall -Wextra -Iinclude -Isrc -pthread \
        -o "$program" "${core[@]}" tests/determinism/digest.c "${sodium[@]}" -lm
    for threads in "${@:3}"; do
        result=$program.$threads
        if ! timeout 600 "$program" "$threads" >"$result"; then
            echo "not ok: $compiler $level, $threads threads: the program failed"
            failures=$((failures + 1))
            continue
        fi
        echo "$compiler $level, $threads threads: $(grep '^all ' "$result")"
        reference=${reference:-$result}
        if ! diff "$reference" "$result"; then
            echo "not ok: differs from $(basename "$reference")"
            failures=$((failures + 1))
        fi
    done
}

case ${1:-} in
--all)
    for compiler in gcc clang; do
        for level in -O0 -O3; do variant $compiler $level 1 8; done
    done
    ;;
--update) variant gcc -O0 8 ;;
*)
    variant gcc -O0 8
    variant clang -O3 1
    ;;
esac
[ "$failures" -eq 0 ] || exit 1
if [ "${1:-}" = --update ]; then
    grep -v '^all ' "$reference" >$expected
    exit 0
fi
if grep -vxFf "$reference" $expected; then
    echo "not ok: the digests above are committed, and are not what is computed; if that is meant: $0 --update"
    exit 1
fi
