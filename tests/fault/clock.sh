#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The time of day jumps by years at every look, for the coordinator and for every client, with deadlines on: the run
# is the undisturbed one.
# Deadlines and back-off are on the monotonic clock; the time of day is for log lines and certificates only (so no TLS
# here).
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
if nm -D "$CAUCUS" 2>/dev/null | grep -c 'asan\|tsan' >/dev/null; then
    echo "skipped: a sanitizer does not like another library loaded before it"
    exit 77
fi
seed=24 adversary=halving clients=3 security=(--insecure)
flags=(--algorithm svt --clients 3 --experts 8 --rounds 40 --epsilon 60 --trust coordinator)
plan=$work/plan.yaml
make_plan "$plan" "${flags[@]}"
undisturbed reference "$plan" "${flags[@]}"

"${CC:-cc}" -shared -fPIC -O1 -o "$work/jumps.so" "$(dirname "$0")/clock_jumps.c" -ldl ||
    give_up "cannot build the jumping clock"
year() { LD_PRELOAD=$work/jumps.so date +%Y; }
[ "$(year)" != "$(date +%Y)" ] || [ "$(LD_PRELOAD=$work/jumps.so date +%s)" -ne "$(date +%s)" ] ||
    bad "the clock does not jump: nothing was tested"
export LD_PRELOAD=$work/jumps.so
start_coordinator jumping "$plan" 0 "${security[@]}" --deadline 600 --quorum 2
for i in 1 2 3; do
    start_client jumping "$plan" "$port" "$i" --insecure --client "$i" --state "$work/jumping.$i.state"
    pid[i]=$client
done
unset LD_PRELOAD
for i in "${pid[@]}" "$server"; do ended "$i" "with a jumping clock" 0; done
same_run jumping reference
done_with "the clock may jump"
