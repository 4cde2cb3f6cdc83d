#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The database is killed at every commit of a run: while a decision is on its way, so that nobody knows at first whether
# it was made, in turn before it is sent and just after. Each time it is started again, the coordinator finds out, and
# the run is the undisturbed one.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/../lib.bash"
. "$(dirname "$0")/../postgres.bash"
plan_small_run
start_cluster pg
new_record kills
start_coordinator kills "$plan" 0 "${security[@]}" --state-key "$work/kills.key"
[ -n "$port" ] || give_up "kills: $(cat "$work/kills.err")"
join_all kills 1
unknown() { grep -c "nothing is announced until it is" "$work/kills.err" || true; }
more_unknown() { [ "$(unknown)" -gt "$1" ]; }
for round in $(seq 1 23); do
    play_to kills "$round"
    before=$(unknown)
    if [ $((round % 2)) -eq 0 ]; then # gone before it is sent
        cluster_do kill
        let_play kills 1 $((round + 1))
        until_true 40 more_unknown "$before" || bad "round $round: no outcome was unknown"
    else # sent, and the server dies at any moment of it
        let_play kills 1 $((round + 1))
        cluster_do kill
    fi
    cluster_do start
done
let_play kills 1 24
play_all kills
[ "$(unknown)" -ge 5 ] || bad "only $(unknown) outcomes were unknown: the test shows little"
end_cluster pg
done_with "the database killed at every commit, $(unknown) outcomes unknown at first"
