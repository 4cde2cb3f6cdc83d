#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The database's machine is lost and its standby is promoted. One that every commit had to wait for goes on by itself,
# also under a coordinator that lives through it. One that may lack commits is refused, unless a person says that it has
# the last one; and nobody can say so of one that is behind the key file.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/postgres.bash"
plan_small_run
start_cluster pa
answers() { [ "$(sql "$2")" = "$1" ]; } # answers TEXT QUERY
promote() { # promote NAME: it takes writes
    use_cluster "$1"
    sql "SELECT pg_promote(false)" >/dev/null
    until_true 40 answers f "SELECT pg_is_in_recovery()" || give_up "$1 is not promoted"
}
serve() { # serve NAME PORT FLAGS...: on $record, with its key file
    start_coordinator "$1" "$plan" "$2" "${security[@]}" --state-key "$work/$1.key" "${@:3}"
}
refused() { # refused TEXT KEY FLAGS...: with exit code 3
    wrong 3 "$1" "$CAUCUS" serve --plan "$plan" --insecure --seed "$seed" --listen 127.0.0.1:0 --state "$record" \
        --state-key "$work/$2.key" "${@:3}"
}
hosts=$work/pa,$work/pb
new_record unnamed
wrong 2 "goes with a state in PostgreSQL" "$CAUCUS" serve --plan "$plan" --state "$work/dir" --insecure --promoted 3
standby_of=pa start_cluster pb
use_cluster pa
sql "ALTER SYSTEM SET synchronous_standby_names = 'pb'"
sql "SELECT pg_reload_conf()" >/dev/null
until_true 40 answers sync "SELECT max(sync_state) FROM pg_stat_replication" || give_up "pb does not follow"

# Two runs, both with every commit at pb: the coordinator of one dies with the database, that of the other does not.
new_record synced
serve synced 0 --require-sync
[ -n "$port" ] || give_up "synced: $(cat "$work/synced.err")"
fixed=$port
join_all synced 1
play_to synced 10
kill -9 "$server"
ended "$server" "synced: killed" 137
synced=("${pids[@]}") sync_record=$record
new_record alive
serve alive 0
join_all alive 1
play_to alive 10
alive=$server
use_cluster pa
cluster_do kill
let_play alive 1 14 # decided while there is nobody to keep it
until_true 20 says "$work/alive.err" "nothing is announced until it is" || bad "alive: $(cat "$work/alive.err")"
promote pb
until_true 60 has_lines "$work/alive.1.1.out" 15 || bad "alive: does not go on: $(cat "$work/alive.err")"
let_play alive 1 24
play_all alive
record=$sync_record pids=("${synced[@]}")
serve synced "$fixed"
[ -n "$port" ] || give_up "synced: $(cat "$work/synced.err")"
let_play synced 1 24
play_all synced

# Now pb is the one that is lost, and pc had nothing to wait for it.
hosts=$work/pb,$work/pc
standby_of=pb start_cluster pc
use_cluster pb
until_true 40 answers 1 "SELECT count(*) FROM pg_stat_replication" || give_up "pc does not follow"
new_record whole
serve whole 0 --promoted 3 # nothing was promoted since: not needed, and no harm
[ -n "$port" ] || give_up "whole: $(cat "$work/whole.err")"
fixed=$port
join_all whole 1
play_to whole 10
kill -9 "$server"
ended "$server" "whole: killed" 137
whole=("${pids[@]}") whole_record=$record
made=$(sql "SELECT announcements FROM whole.caucus_run")
new_record lost
serve lost 0
join_all lost 1
play_to lost 4
early=$(sql "SELECT announcements FROM lost.caucus_run")
cp "$work/lost.key" "$work/early.key"
chmod 600 "$work/early.key"
use_cluster pc # it has what was committed up to here, and nothing after it
until_true 40 answers "$early $made" "SELECT (SELECT announcements FROM lost.caucus_run) || ' ' || announcements
    FROM whole.caucus_run" || bad "pc does not follow"
cluster_do stop
play_to lost 10
kill -9 "$server" "${pids[@]}"
for i in "$server" "${pids[@]}"; do ended "$i" "lost: killed" 137; done
use_cluster pb
cluster_do kill
use_cluster pc
cluster_do start
promote pc
refused "were made: an older copy" lost
refused "were made: an older copy" lost --promoted $((early - 1))
refused "was promoted (timeline 3, the run was on 2)" early
record=$whole_record pids=("${whole[@]}")
refused "the last it holds is number $((made - 1))" whole
refused "holds is number $((made - 1))" whole --promoted "$made"
serve whole "$fixed" --promoted $((made - 1))
[ -n "$port" ] || give_up "whole: $(cat "$work/whole.err")"
let_play whole 1 24
play_all whole
end_cluster pc pb pa
done_with "promoted standbys"
