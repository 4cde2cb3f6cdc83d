#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A database with a synchronous standby, and a coordinator that demands it (--require-sync). While the standby is away a
# commit waits; whoever cancels that wait, or ends the session, leaves an outcome that nobody knows, and it is found
# out. A server that stops waiting for its standby gets no further decision. The run is the undisturbed one each time.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/postgres.bash"
plan_small_run
wrong 2 "goes with a state in PostgreSQL" "$CAUCUS" serve --plan "$plan" --state "$work/dir" --insecure --require-sync
start_cluster pa
new_record none
wrong 2 "synchronous_standby_names is empty" "$CAUCUS" serve --plan "$plan" --insecure --seed "$seed" \
    --listen 127.0.0.1:0 --state "$record" --state-key "$work/none.key" --require-sync
standby_of=pa start_cluster pb
use_cluster pa
set_names() { # set_names NAMES: and the server knows it
    sql "ALTER SYSTEM SET synchronous_standby_names = '$1'"
    sql "SELECT pg_reload_conf()" >/dev/null
    until_true 20 answers "$1" "SHOW synchronous_standby_names" || bad "synchronous_standby_names is not '$1'"
}
answers() { [ "$(sql "$2")" = "$1" ]; } # answers TEXT QUERY
waiting="SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE 'WITH s AS%'"
is_waiting() { # sets pid_waiting
    pid_waiting=$(sql "$waiting")
    [ "$pid_waiting" -ne 0 ]
}
set_names pb
until_true 40 answers sync "SELECT max(sync_state) FROM pg_stat_replication" || give_up "pb does not follow"

for how in cancel terminate; do
    new_record "$how"
    start_coordinator "$how" "$plan" 0 "${security[@]}" --state-key "$work/$how.key" --require-sync
    [ -n "$port" ] || give_up "$how: $(cat "$work/$how.err")"
    join_all "$how" 1
    play_to "$how" 9
    use_cluster pb
    cluster_do stop
    use_cluster pa
    let_play "$how" 1 15 # a decision, and its commit waits for pb
    until_true 40 is_waiting || bad "$how: no commit waits for the standby"
    has_lines "$work/$how.1.1.out" 16 && bad "$how: it was announced before the standby had it"
    sql "SELECT pg_${how}_backend($pid_waiting)" >/dev/null
    until_true 40 says "$work/$how.err" "nothing is announced until it is" || bad "$how: $(cat "$work/$how.err")"
    use_cluster pb
    cluster_do start
    use_cluster pa
    until_true 40 says "$work/$how.err" "it is on disk" || bad "$how: not found out: $(cat "$work/$how.err")"
    let_play "$how" 1 24
    play_all "$how"
done

# Somebody takes the standby off the list: not one decision more. The next start refuses, until it is on the list again.
new_record names
start_coordinator names "$plan" 0 "${security[@]}" --state-key "$work/names.key" --require-sync
fixed=$port
join_all names 1
play_to names 9
set_names ""
let_play names 1 15
ended "$server" "names: the standby is off the list" 1
says "$work/names.err" "synchronous_standby_names has changed" || bad "names: $(cat "$work/names.err")"
wrong 2 "synchronous_standby_names is empty" "$CAUCUS" serve --plan "$plan" --insecure --seed "$seed" \
    --listen "127.0.0.1:$fixed" --state "$record" --state-key "$work/names.key" --require-sync
set_names pb
until_true 40 answers sync "SELECT max(sync_state) FROM pg_stat_replication" || give_up "pb does not follow again"
start_coordinator names "$plan" "$fixed" "${security[@]}" --state-key "$work/names.key" --require-sync
let_play names 1 24
play_all names
set_names "" # else the end of pb would hold what pa still writes
end_cluster pb pa
done_with "a synchronous standby"
