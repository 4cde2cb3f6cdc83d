#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A device that comes now and then, as from cron: at its own pace, one loss a visit, and its input ends at once. Each
# visit reports the loss of the one before, whose slot is over, and hears what is in force; one that meets no
# coordinator keeps its losses and says so.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed='' security=(--insecure)
plan=$work/plan.yaml
make_plan "$plan" --algorithm stoch --pace own --unit client-block --clients 1 --experts 2 --epsilon 200 \
    --trust coordinator --phase-time 1s --grace 0s
start_coordinator visits "$plan" 0 "${security[@]}" --log-level detail --linger 1
fixed=$port visits=0
times() { grep -cE "decided with|stays open" "$work/visits.err" || true; } # ends of slots so far, a log line each
visit() { # visit CODE: one loss; sets ended_at, the ends of slots by then
    local code=0
    visits=$((visits + 1))
    echo "1,0" | timeout 120 "$CAUCUS" join --connect "127.0.0.1:$fixed" --plan "$plan" --insecure --client 1 \
        --state "$work/visits.state" >"$work/visit.$visits.out" 2>"$work/visit.$visits.err" || code=$?
    ended_at=$(times)
    [ "$code" -eq "$1" ] || bad "visit $visits: exit code $code, expected $1: $(cat "$work/visit.$visits.err")"
}
slot_is_over() { [ "$(times)" -ge $((ended_at + 2)) ]; } # the first may have been before, and late in the log
decisions() { [ "$(grep -c "decided with 1 of 1" "$work/visits.err")" -ge "$1" ]; }
said() { says "$work/visit.$visits.err" "$1" || bad "visit $visits: no '$1': $(cat "$work/visit.$visits.err")"; }
for _ in 1 2; do # the first slot of a new client does not count, and a slot is reported when it is over
    visit 0
    said "$visits losses, 0 reports"
    until_true 20 slot_is_over || give_up "the clock stands"
done
for reports in 1 2 3; do
    visit 0
    said "$visits losses, 1 reports"
    until_true 20 decisions $reports || give_up "report $reports is in no decision: $(tail -n 3 "$work/visits.err")"
    until_true 20 slot_is_over || give_up "the clock stands"
done
visit 0
[ "$(tail -n 1 "$work/visit.$visits.out")" = 1 ] || bad "visit $visits plays what is not in force any more"
# Its state is lost, and it is given all losses from the first on: they are counted already, and nothing is taken.
printf '%s,0\n' 1 2 >"$work/lost.csv" && sed -i '1i x,y' "$work/lost.csv"
for flags in --replay "--losses $work/lost.csv"; do
    code=0
    # shellcheck disable=SC2086 # an option and its value
    printf '1,0\n1,0\n' | timeout 120 "$CAUCUS" join --connect "127.0.0.1:$fixed" --plan "$plan" --insecure --client 1 \
        --state "$work/lost.state" $flags >"$work/lost.out" 2>"$work/lost.err" || code=$?
    { [ "$code" -eq 2 ] && says "$work/lost.err" "would be counted twice"; } ||
        bad "lost state, $flags: exit code $code: $(cat "$work/lost.err")"
    rm -f "$work/lost.state"
done
kill -TERM "$server"
ended "$server" "the coordinator" 0
visit 1
said "they are in --state"
done_with "own pace, visits"
