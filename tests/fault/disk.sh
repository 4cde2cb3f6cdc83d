#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The disk is full, cannot be written to, or lost the end of the log: the coordinator goes on from a whole commit or
# says why it does not, and tells nobody what it has not kept. With the state in PostgreSQL: its tables are in a
# tablespace whose disk is full; the server takes no writes, or the key file is where nothing can be written; and tables
# from before the last commits are put back. (A full disk under the server's own log ends the server: that is a kill,
# tests/fault/long/postgres_kills.sh; a log that lost its end is a matter of the server's own recovery.)
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed=24 clients=3 security=(--insecure)
flags=(--algorithm svt --clients 3 --experts 8 --rounds 60 --epsilon 60 --trust coordinator)
plan=$work/plan.yaml
make_plan "$plan" "${flags[@]}"
make_losses 3 60 8
undisturbed reference "$plan" "${flags[@]}"
join_all() { # join_all NAME PORT [held]: sets pids; held: client 1 plays as far as it may, and so does the run
    local name=$1 to=$2 how=${3:-client} i
    pids=()
    for i in 1 2 3; do
        "start_$how" "$name" "$plan" "$to" "$i" --insecure --client "$i" --state "$work/$name.$i.state"
        pids+=("$client")
        how=client
    done
}
all_ended() { # all_ended NAME
    local i
    for i in "${pids[@]}" "$server"; do ended "$i" "$1" 0; done
}
last_block() { # last_block NAME: what the committed announcements allow to play. Read elsewhere: it takes room.
    if in_postgres; then
        sql "SELECT block FROM \"$1\".caucus_announcement ORDER BY serial DESC LIMIT 1"
        return
    fi
    rm -rf "$work/read"
    mkdir "$work/read"
    cp "$work/$1"/coordinator.db "$work/$1"/coordinator.db-wal "$work/read" 2>/dev/null || true
    python3 -c 'import sqlite3, sys
query = "SELECT block FROM announcement ORDER BY serial DESC LIMIT 1"
print(sqlite3.connect(sys.argv[1]).execute(query).fetchone()[0])' "$work/read/coordinator.db"
}

# A coordinator that finds the disk full empties its log, and goes on if that gives it room. So somebody else takes
# every block that becomes free, until told to stop.
fill_disk() { # fill_disk FILE
    dd if=/dev/zero of="$1" bs=4096 2>/dev/null && bad "the disk did not fill"
    python3 -c 'import sys, time
with open(sys.argv[1], "ab", buffering=0) as filler:
    while True:
        try:
            filler.write(bytes(4096))
        except OSError:
            time.sleep(0.0005)' "$1" &
    filler=$!
}
nothing_free() { [ "$(stat -f -c %a "$work/full")" -eq 0 ]; }
played_or_over() { has_lines "$work/full.1.1.out" $(($1 + 1)) || is_over "$server"; } # played_or_over ROUND
stop_filling() {
    kill "$filler" 2>/dev/null || true
    wait "$filler" 2>/dev/null || true
}

# make_full_record: its tables and their indexes are on the small disk; and somebody reads them for long, so that the
# server gives no place to a new row that an old one had
make_full_record() {
    local move
    mkdir "$work/full/tables"
    chown "$(stat -c %U "$cluster/data")" "$work/full/tables"
    sql "CREATE TABLESPACE small LOCATION '$work/full/tables'"
    state_of full
    sql "SELECT format('ALTER %s \"full\".%I SET TABLESPACE small', CASE relkind WHEN 'r' THEN 'TABLE' ELSE 'INDEX' END,
        relname) FROM pg_class WHERE relnamespace = '\"full\"'::regnamespace AND relkind IN ('r', 'i')" >"$work/moves"
    while read -r move; do sql "$move" </dev/null; done <"$work/moves"
    psql -X -q -h "$cluster" -U caucus -d caucus -c "BEGIN ISOLATION LEVEL REPEATABLE READ" \
        -c 'SELECT * FROM "full".caucus_run' -c "SELECT pg_sleep(3600)" >"$work/reads" 2>&1 </dev/null &
    until_true 20 reads_for_long || bad "nobody reads for long"
}
reads_for_long() { [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(3600)'")" -eq 1 ]; }

# 1. A full disk, in the middle of a run.
mkdir "$work/full"
size=512k mode=0700
! in_postgres || size=1m mode=0711
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o "size=$size,mode=$mode" caucus-fault "$work/full" 2>/dev/null; then
    ! in_postgres || make_full_record
    start_coordinator full "$plan" 0 "${security[@]}"
    fixed=$port
    join_all full "$fixed" held
    let_play full 1 10
    until_true 20 has_lines "$work/full.1.1.out" 11 || bad "full: no 10 rounds were played"
    fill_disk "$work/full/filler"
    # Round by round, with every free block taken before the next.
    for round in $(seq 11 60); do
        until_true 20 nothing_free || bad "full: nobody takes what is free"
        let_play full 1 "$round"
        until_true 100 played_or_over "$round" || give_up "full: round $round was not played"
        ! is_over "$server" || break
    done
    let_play full 1 60
    ended "$server" "full disk" 1
    grep -qE 'full|[Nn]o space' "$work/full.err" || bad "full disk: it does not say why: $(tail -n 2 "$work/full.err")"
    [ "$(grep -c 'finished' "$work/full.out")" -eq 0 ] || bad "full disk: it says it has finished"
    # Whatever it may have sent has come when the clients have seen that it is gone.
    for i in 1 2 3; do until_true 20 says "$work/full.$i.1.err" "trying again" || bad "client $i has not seen it"; done
    told=$(cat "$work/full.1.1.out" "$work/full.2.1.out" "$work/full.3.1.out" | wc -l)
    kept=$(last_block full)
    for i in 1 2 3; do
        [ "$(wc -l <"$work/full.$i.1.out")" -le "$kept" ] ||
            bad "full disk: client $i plays round $(wc -l <"$work/full.$i.1.out"), kept is $kept"
    done
    { [ "$kept" -ge 10 ] && [ "$kept" -lt 60 ]; } || bad "full disk: it filled at block $kept"
    start_coordinator full "$plan" "$fixed" "${security[@]}"
    exit_code "$server"
    [ "$code" -eq 1 ] || bad "still full: exit code $code: $(tail -n 1 "$work/full.err")"
    stop_filling
    rm "$work/full/filler"
    ! in_postgres || sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '% pg_sleep(3600)'
        AND pid <> pg_backend_pid()" >"$work/reads"
    start_coordinator full "$plan" "$fixed" "${security[@]}"
    all_ended "full disk, room again"
    same_run full reference
    echo "ok: full disk at block $kept, $told experts told"

    # A client whose state cannot be kept sends nothing that depends on it, says why, and goes on when there is room.
    start_coordinator away "$plan" 0 "${security[@]}"
    fixed=$port
    pids=()
    for i in 3 2; do
        start_client away "$plan" "$fixed" "$i" --insecure --client "$i" --state "$work/away.$i.state"
        pids+=("$client")
    done
    start_held away "$plan" "$fixed" 1 --insecure --client 1 --state "$work/full/away.1.state"
    let_play away 1 10
    until_true 20 has_lines "$work/away.1.1.out" 11 || bad "away: no 10 rounds were played"
    dd if=/dev/zero of="$work/full/filler" bs=4096 2>/dev/null && bad "away: the disk did not fill"
    let_play away 1 60
    ended "$client" "client 1, disk full" 1
    grep -qE 'full|[Nn]o space' "$work/away.1.1.err" ||
        bad "client 1, disk full: it does not say why: $(tail -n 1 "$work/away.1.1.err")"
    rm "$work/full/filler"
    start_client away "$plan" "$fixed" 1 --insecure --client 1 --state "$work/full/away.1.state"
    pids[2]=$client
    all_ended "a client's disk, room again"
    same_run away reference
    echo "ok: a client's disk full: $(sed -n 's/.*caucus join: .*state: //p' "$work/away.1.1.err" | tail -n 1)"

    # 2. A file system, or a server, that cannot be written to.
    if in_postgres; then
        state_of new
        cp "${state_key[1]}" "$work/full/new.key"
        mount -o remount,ro "$work/full"
        wrong 1 "ead-only file system" "$CAUCUS" serve --plan "$plan" --state "$state" \
            --state-key "$work/full/new.key" --listen 127.0.0.1:0 --insecure --seed 24
        sql "ALTER SYSTEM SET default_transaction_read_only = on"
        sql "SELECT pg_reload_conf()" >/dev/null
        wrong 1 "read-only" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" --listen 127.0.0.1:0 --insecure --seed 24
        PGOPTIONS=-cdefault_transaction_read_only=off sql "ALTER SYSTEM RESET default_transaction_read_only"
        sql "SELECT pg_reload_conf()" >/dev/null
        keeps_nothing new || bad "read-only, and a run was begun"
        mount -o remount,rw "$work/full"
        sql 'DROP SCHEMA "full" CASCADE' 2>/dev/null
        sql "DROP TABLESPACE small"
    else
        mount -o remount,ro "$work/full"
        wrong 1 "ead-only file system" "$CAUCUS" serve --plan "$plan" --state "$work/full" --listen 127.0.0.1:0 \
            --insecure --seed 24
        wrong 1 "ead-only file system" "$CAUCUS" serve --plan "$plan" --state "$work/full/new" --listen 127.0.0.1:0 \
            --insecure --seed 24
    fi
    umount "$work/full"
    echo "ok: read-only"
else
    echo "skip: full disk (a small file system needs root and the right to mount)"
    mkdir "$work/closed"
    chmod 500 "$work/closed"
    wrong 2 "ermission denied" "$CAUCUS" serve --plan "$plan" --state "$work/closed/new" --listen 127.0.0.1:0 \
        --insecure --seed 24
    echo "ok: read-only"
fi

# 3. The log of a killed coordinator, cut short: with the commit that nobody heard of missing it goes on, with more
# missing it refuses. Clients that begin anew bring everything again.
if in_postgres; then
    # Copies of the tables with the key file of the end: one without the last commit, which nobody has heard of, and one
    # without ten more.
    dies=$(sql "SELECT min(serial) + 3 FROM reference.caucus_announcement WHERE block >= 20")
    start_coordinator killed "$plan" 0 "${security[@]}" --fault-commit "$dies:after"
    join_all killed "$port" held
    for round in 10 19; do
        let_play killed 1 $round
        until_true 20 has_lines "$work/killed.1.1.out" $((round + 1)) || give_up "killed: no $round rounds were played"
        copy_record killed "cut$round"
    done
    let_play killed 1 60
    ended "$server" "killed" 137
    for i in "${pids[@]}"; do kill -9 "$i" 2>/dev/null || true; exit_code "$i"; done
    state_of killed
    for cut in cut10 cut19; do cp "${state_key[1]}" "$work/$cut.key"; done
    state_of cut10
    wrong 3 "an older copy, or its log is damaged or gone" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" \
        --listen 127.0.0.1:0 --seed 24 "${security[@]}"
    for cut in cut19 killed; do
        start_coordinator "$cut" "$plan" 0 "${security[@]}"
        rm -f "$work/$cut".[123].*
        join_all "$cut" "$port"
        all_ended "$cut"
        same_run "$cut" reference
        echo "$cut: $(grep -o 'going on at step.*' "$work/$cut.err" | head -n 1)"
    done
    done_with "disk"
    exit 0
fi
start_coordinator killed "$plan" 0 "${security[@]}" --fault-commit 30:after
fixed=$port
join_all killed "$fixed"
ended "$server" "killed" 137
for i in "${pids[@]}"; do kill -9 "$i" 2>/dev/null || true; exit_code "$i"; done
log=$work/killed/coordinator.db-wal
bytes=$(stat -c %s "$log")
[ "$bytes" -gt 40000 ] || give_up "a log of $bytes bytes: nothing to cut"
frame=4120 # 24 of head, a page of 4096; before them 32
frames=$(((bytes - 32) / frame / 3))
third=$((32 + frames * frame)) # the log begins with the epoch: what was before it is in the database
cut=0
for length in 0 17 32 $((32 + frame / 2)) $third $((third + 2 * frame + 100)) $((bytes / 2)) $((bytes - frame)) \
    $((bytes - 1)); do
    cut=$((cut + 1))
    cp -r "$work/killed" "$work/cut$cut"
    rm -f "$work/cut$cut/coordinator.db-shm"
    truncate -s "$length" "$work/cut$cut/coordinator.db-wal"
    start_coordinator "cut$cut" "$plan" 0 "${security[@]}"
    if [ -z "$port" ]; then
        exit_code "$server"
        { [ "$code" -ne 0 ] && tail -n 1 "$work/cut$cut.err" | grep -q ' — '; } ||
            bad "cut at $length: exit code $code without a reason: $(tail -n 1 "$work/cut$cut.err")"
        echo "cut at $length: refused: $(tail -n 1 "$work/cut$cut.err")"
        continue
    fi
    join_all "cut$cut" "$port"
    all_ended "cut at $length"
    same_run "cut$cut" reference
    echo "cut at $length of $bytes: $(grep -o 'going on at step.*' "$work/cut$cut.err" | head -n 1)"
done
# A log that is cut where commits were marked takes the state back: the coordinator refuses to go on, for good.
cp -r "$work/killed" "$work/rolled"
rm -f "$work/rolled/coordinator.db-shm"
truncate -s $((third + 2 * frame + 100)) "$work/rolled/coordinator.db-wal"
wrong 3 "an older copy, or its log is damaged or gone" "$CAUCUS" serve --plan "$plan" --state "$work/rolled" \
    --listen 127.0.0.1:0 --seed 24 \
    "${security[@]}"
done_with "disk"
