#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A state in PostgreSQL: the same run as with a directory, switch for switch and byte for byte, also if the coordinator
# is killed, if the database is killed, and if a second coordinator wants the same run; and what is refused: an old
# copy, another key file, a pool in between, a server that does not sync.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/postgres.bash"
seed=24 clients=3 security=(--insecure)
flags=(--algorithm svt --clients 3 --experts 8 --rounds 24 --epsilon 60 --trust coordinator)
plan=$work/plan.yaml
make_plan "$plan" "${flags[@]}"
make_losses 3 24 8
undisturbed reference "$plan" "${flags[@]}"
start_cluster pg

# Undisturbed.
new_record plain
wrong 2 "--state-key" "$CAUCUS" serve --plan "$plan" --state "$record" --insecure
wrong 2 "goes with a state in PostgreSQL" "$CAUCUS" serve --plan "$plan" --state "$work/dir" --insecure \
    --state-key "$work/plain.key"
start_coordinator plain "$plan" 0 "${security[@]}" --state-key "$work/plain.key"
[ -n "$port" ] || give_up "plain: $(cat "$work/plain.err")"
join_all plain 1
play_to plain 10
# While it runs: others are kept out, and may look.
cp "$work/plain.key" "$work/other.key"
wrong 1 "in use by another coordinator" "$CAUCUS" serve --plan "$plan" --state "$record" --insecure --seed "$seed" \
    --listen 127.0.0.1:0 --state-key "$work/other.key"
"$CAUCUS" store check --state "$record" >"$work/check" || bad "store check"
says "$work/check" "a coordinator is at work" || bad "store check: $(cat "$work/check")"
"$CAUCUS" privacy "$record" --format json >"$work/spent" || bad "privacy of a database"
says "$work/spent" '"runs"' || bad "privacy: $(cat "$work/spent")"
# The same by the name of a service, which says where and as whom.
printf '[fleet]\nhost=%s\ndbname=caucus\nuser=caucus\noptions=-csearch_path=plain\n' "$cluster" >"$work/service.conf"
PGSERVICEFILE=$work/service.conf "$CAUCUS" privacy service=fleet --format json >"$work/by_service" || bad "service="
cmp -s <(grep -v '"ledger"' "$work/spent") <(grep -v '"ledger"' "$work/by_service") ||
    bad "privacy service=: $(cat "$work/by_service")"
let_play plain 1 24
play_all plain
[ "$(field commits "$work/plain.out")" = "$(field commits "$work/reference.out")" ] || bad "plain: other commits"

# Once more with the same plan: it is over, and says so; with another key file it cannot be read, nor with an old copy
# of the tables behind the key file.
new_record stranger
wrong 3 "not sealed with this key file" "$CAUCUS" serve --plan "$plan" --insecure --seed "$seed" \
    --listen 127.0.0.1:0 --state "${record/stranger/plain}" --state-key "$work/stranger.key"
new_record back
start_coordinator back "$plan" 0 "${security[@]}" --state-key "$work/back.key"
join_all back 1
play_to back 6
sql "CREATE SCHEMA old; SET search_path = old;
     CREATE TABLE run AS SELECT * FROM back.caucus_run; CREATE TABLE chunk AS SELECT * FROM back.caucus_chunk;
     CREATE TABLE announcement AS SELECT * FROM back.caucus_announcement;
     CREATE TABLE ledger AS SELECT * FROM back.caucus_ledger"
let_play back 1 24
play_all back
for table in run chunk announcement ledger; do
    sql "TRUNCATE back.caucus_$table; INSERT INTO back.caucus_$table SELECT * FROM old.$table"
done
wrong 3 "were made: an older copy" "$CAUCUS" serve --plan "$plan" --state "$record" --insecure --seed "$seed" \
    --listen 127.0.0.1:0 --state-key "$work/back.key"

# The coordinator is killed just before and just after a commit, and the database while the run stands.
for fault in 7 8:after; do
    name=at_${fault/:/_}
    new_record "$name"
    start_coordinator "$name" "$plan" 0 "${security[@]}" --state-key "$work/$name.key" --fault-commit "$fault"
    fixed=$port
    join_all "$name" 0
    ended "$server" "$name: killed" 137
    start_coordinator "$name" "$plan" "$fixed" "${security[@]}" --state-key "$work/$name.key"
    play_all "$name"
done
new_record crash
start_coordinator crash "$plan" 0 "${security[@]}" --state-key "$work/crash.key"
join_all crash 1
play_to crash 9
cluster_do kill
let_play crash 1 15 # decided while there is nobody to keep it
until_true 20 says "$work/crash.err" "nothing is announced until it is" || bad "crash: $(cat "$work/crash.err")"
cluster_do start
let_play crash 1 24
play_all crash

# Tables of version 1, which did not know where the run was, are brought to this version, when nobody uses them.
new_record version1
start_coordinator version1 "$plan" 0 "${security[@]}" --state-key "$work/version1.key"
fixed=$port
join_all version1 1
play_to version1 6
sql "ALTER TABLE version1.caucus_run DROP COLUMN system, DROP COLUMN timeline, DROP COLUMN names;
     UPDATE version1.caucus_store SET version = 1"
wrong 1 "a coordinator is at work" "$CAUCUS" store migrate --state "$record"
kill -9 "$server"
ended "$server" "version1: killed" 137
migrates() { "$CAUCUS" store migrate --state "$record" >"$work/migrate" 2>&1; } # when the server knows that it is gone
wrong 2 "caucus store migrate" "$CAUCUS" store check --state "$record"
until_true 20 migrates || bad "store migrate: $(cat "$work/migrate")"
says "$work/migrate" "version 2 now; they were of version 1" || bad "store migrate says: $(cat "$work/migrate")"
migrates || bad "store migrate again: $(cat "$work/migrate")"
says "$work/migrate" "nothing to do" || bad "store migrate again says: $(cat "$work/migrate")"
start_coordinator version1 "$plan" "$fixed" "${security[@]}" --state-key "$work/version1.key"
let_play version1 1 24
play_all version1
sql "UPDATE version1.caucus_store SET version = 3"
wrong 2 "a newer caucus" "$CAUCUS" store migrate --state "$record"

# Ended for good, with a coordinator and without.
new_record ended
start_coordinator ended "$plan" 0 "${security[@]}" --state-key "$work/ended.key" --linger 0
cp "$work/ended.key" "$work/ended.copy"
make_plan "$work/other.yaml" "${flags[@]}" --delta 1e-9
for key in ended.copy ended.key; do # the first as somebody else, the second as one whom the coordinator keeps out
    wrong 2 "nothing was ended" "$CAUCUS" stop --state "$record" --state-key "$work/$key" --plan "$work/other.yaml"
done
"$CAUCUS" stop --state "$record" --state-key "$work/ended.copy" --plan "$plan" >"$work/stop" ||
    bad "stop: $(cat "$work/stop")"
ended "$server" "ended by caucus stop" 0
says "$work/stop" "ended for good" || bad "stop says: $(cat "$work/stop")"
wrong 3 "was ended for good" "$CAUCUS" serve --plan "$plan" --state "$record" --insecure --seed "$seed" \
    --listen 127.0.0.1:0 --state-key "$work/ended.key"
"$CAUCUS" stop --state "$record" --state-key "$work/ended.key" >"$work/stop" || bad "stop again"
says "$work/stop" "ended before" || bad "stop again says: $(cat "$work/stop")"

# What is refused: passwords on the command line, databases without tables, tables that are there already, no server,
# key files that others can read, and a server that does not sync.
for secret in "postgresql://caucus:secret@/caucus?host=$cluster" "service=fleet password=secret" \
    "postgresql://caucus@/caucus?host=$cluster&sslpassword=secret"; do
    wrong 2 "a password does not belong" "$CAUCUS" store check --state "$secret"
done
empty="postgresql://caucus@/postgres?host=$cluster"
wrong 2 "caucus store init" "$CAUCUS" store check --state "$empty"
wrong 2 "there already" "$CAUCUS" store init --state "$record"
wrong 1 "$work/nowhere" "$CAUCUS" store check --state "postgresql://caucus@/caucus?host=$work/nowhere"
wrong 2 "not a database" "$CAUCUS" store check --state "$work/dir"
if command -v pgbouncer >/dev/null; then # a pool, in the mode that hands sessions around
    mkdir -m 777 "$work/pool"
    cat >"$work/pool/ini" <<EOF
[databases]
caucus = host=$cluster user=caucus dbname=caucus
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = $work/pool
auth_type = any
pool_mode = transaction
ignore_startup_parameters = options
EOF
    as=()
    [ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups)
    "${as[@]}" pgbouncer "$work/pool/ini" >"$work/pool.log" 2>&1 &
    pool=$!
    until_true 20 test -S "$work/pool/.s.PGSQL.6432" || bad "pgbouncer does not start: $(cat "$work/pool.log")"
    wrong 2 "a connection pool" "$CAUCUS" serve --plan "$plan" --insecure --seed "$seed" --listen 127.0.0.1:0 \
        --state "postgresql://caucus@/caucus?host=$work/pool&port=6432" --state-key "$work/ended.key"
    kill "$pool"
    wait "$pool" || true
fi
chmod 640 "$work/ended.key"
wrong 2 "chmod 600" "$CAUCUS" serve --plan "$plan" --state "$record" --insecure --seed "$seed" \
    --listen 127.0.0.1:0 --state-key "$work/ended.key"
cluster_do stop
echo "fsync = off" >>"$cluster/data/postgresql.conf"
cluster_do start
wrong 2 "fsync = off" "$CAUCUS" store check --state "$record"
end_cluster pg
done_with "a state in PostgreSQL"
