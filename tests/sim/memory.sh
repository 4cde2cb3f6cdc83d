#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A simulation of a million clients with 100 experts stays under 2 GiB, and memory does not grow with the number of
# rounds. Measured: peak resident memory of the child process, as the kernel counts it.
set -euo pipefail
: "${CAUCUS:?path of the program}"
python=/usr/bin/python3
if ! "$CAUCUS" simulate --help >/dev/null 2>&1; then
    echo "skipped: this build of caucus has no verb 'simulate'"
    exit 77
fi
if grep -qaE '__(asan|tsan|msan)_init|__gcov_dump' "$CAUCUS"; then
    echo "skipped: memory and time of what was built in would be measured"
    exit 77
fi
if [ "$(awk '/MemAvailable/ {print int($2/1024)}' /proc/meminfo)" -lt 2560 ]; then
    echo "skipped: less than 2.5 GiB of memory is free"
    exit 77
fi
failures=0

# peak ARGUMENT...: MiB that `caucus simulate ARGUMENT...` took at its largest, on as many threads as it likes.
peak() {
    "$python" - "$CAUCUS" simulate "$@" --seed 1 --trust coordinator --format json <<'END'
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
if done.returncode != 0:
    sys.exit(f"exit code {done.returncode}: {' '.join(sys.argv[1:])}")
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
END
}

# at_most NAME MIB LIMIT
at_most() {
    if [ "$2" -le "$3" ]; then
        echo "ok: $1: $2 MiB, limit $3"
    else
        echo "not ok: $1: $2 MiB, limit $3"
        failures=$((failures + 1))
    fi
}

many=(--clients 1000000 --experts 100 --epsilon 1)
svt=$(peak "${many[@]}" --rounds 2 --trials 2 --threads 2 --algorithm svt --adversary realizable)
at_most "a million clients, svt, two trials, two threads asked for" "$svt" 1536
block=$(peak "${many[@]}" --rounds 2 --trials 1 --algorithm svt --adversary realizable --unit client-block)
at_most "a million clients, svt, unit client-block" "$block" 1536
blocks=$(peak "${many[@]}" --rounds 2 --trials 1 --algorithm svt --adversary realizable --unit client-block \
    --interval 2)
at_most "a million clients, svt, unit client-block, blocks of two" "$blocks" 2048
stoch=$(peak "${many[@]}" --rounds 4 --trials 2 --algorithm stoch --adversary gaussian)
at_most "a million clients, stoch, two trials" "$stoch" 1536
# Walks trees.
paper=$(peak "${many[@]}" --rounds 8 --trials 1 --algorithm stoch --adversary gaussian --calibration paper)
at_most "a million clients, stoch, paper" "$paper" 1536
convex=$(peak --clients 100000 --experts 100 --epsilon 1 --rounds 16 --trials 1 --algorithm stoch \
    --adversary cross-entropy --trees 1)
at_most "100,000 clients, convex losses" "$convex" 160
if [ "$svt" -lt 700 ]; then # their sums alone take 763 MiB: less would mean that nothing was measured
    echo "not ok: $svt MiB cannot hold a million vectors of 100 sums"
    failures=$((failures + 1))
fi

few=(--clients 10 --experts 100 --epsilon 10)
for kind in "svt realizable" "stoch gaussian"; do
    run=("${few[@]}" --algorithm "${kind% *}" --adversary "${kind#* }")
    short=$(peak "${run[@]}" --threads 1 --trials 1 --rounds 1024)
    long=$(peak "${run[@]}" --threads 1 --trials 1 --rounds 65536)
    at_most "$kind, 64 times the rounds" "$long" $((short + 4))
done
exit $((failures > 0))
