#!/usr/bin/env bash
# A simulation of a million clients with 100 experts stays under 2 GiB, and memory does not grow with the number of
# rounds. Measured: peak resident memory of the child process, as the kernel counts it.
set -euo pipefail
: "${CAUCUS:?path of the program}"
python=/usr/bin/python3
if ! "$CAUCUS" simulate --help >/dev/null 2>&1; then
    echo "skipped: this build of caucus has no verb 'simulate'"
    exit 77
fi
if grep -qaE '__(asan|tsan|msan)_init' "$CAUCUS"; then
    echo "skipped: a sanitizer's own memory would be measured"
    exit 77
fi
if [ "$(awk '/MemAvailable/ {print int($2/1024)}' /proc/meminfo)" -lt 2560 ]; then
    echo "skipped: less than 2.5 GiB of memory is free"
    exit 77
fi
failures=0

# peak ARGUMENT...: MiB that `caucus simulate ARGUMENT...` took at its largest, one thread, one trial.
peak() {
    "$python" - "$CAUCUS" simulate "$@" --threads 1 --trials 1 --seed 1 --trust coordinator --format json <<'END'
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

many=(--clients 1000000 --experts 100 --rounds 4 --epsilon 1)
svt=$(peak "${many[@]}" --algorithm svt --adversary realizable)
at_most "a million clients, svt" "$svt" 2048
stoch=$(peak "${many[@]}" --algorithm stoch --adversary gaussian)
at_most "a million clients, stoch" "$stoch" 2048
if [ "$svt" -lt 700 ]; then # their sums alone take 763 MiB: less would mean that nothing was measured
    echo "not ok: $svt MiB cannot hold a million vectors of 100 sums"
    failures=$((failures + 1))
fi

few=(--clients 10 --experts 100 --epsilon 10)
for kind in "svt realizable" "stoch gaussian"; do
    run=("${few[@]}" --algorithm "${kind% *}" --adversary "${kind#* }")
    short=$(peak "${run[@]}" --rounds 1024)
    long=$(peak "${run[@]}" --rounds 65536)
    at_most "$kind, 64 times the rounds" "$long" $((short + 4))
done
exit $((failures > 0))
