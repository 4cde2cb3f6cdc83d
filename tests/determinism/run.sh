#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same seed gives the same numbers from gcc and clang, without and with optimisation, with one thread
# and with eight. Plain compiler calls, so that the build system cannot make the variants alike.
set -euo pipefail
cd "${CAUCUS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -ra sodium <<<"$(pkg-config --cflags --libs libsodium)"
mapfile -t core < <(find src/num src/rng src/dp src/plan src/algo -name '*.c' | LC_ALL=C sort)

reference=
failures=0
for compiler in gcc clang; do
    if ! command -v "$compiler" >/dev/null; then
        echo "not ok: $compiler is not installed; tools/install-deps --test installs it"
        exit 1
    fi
    for level in -O0 -O3; do
        program=$work/$compiler$level
        "$compiler" -std=c11 -D_DEFAULT_SOURCE "$level" -ffp-contract=off \
            -Wall -Wextra -Iinclude -Isrc -pthread -o "$program" \
            "${core[@]}" tests/determinism/digest.c "${sodium[@]}" -lm
        for threads in 1 8; do
            result=$program.$threads
            if ! timeout 100 "$program" "$threads" >"$result"; then
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
    done
done
[ "$failures" -eq 0 ]
