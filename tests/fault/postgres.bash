#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034,SC2154 # names are shared with lib.bash and the tests
# What fault tests with a state in PostgreSQL share; sourced after lib.bash.
cluster_script=$(dirname "${BASH_SOURCE[0]}")/../store/postgres.bash
export_script=$(dirname "${BASH_SOURCE[0]}")/postgres_export.py
"$CAUCUS" version | grep -q '^  PostgreSQL *[0-9]' || { echo "skipped: built without PostgreSQL"; exit 77; }

# Several clusters may run side by side; what follows is done to the one that was started or used last.
declare -A cluster_pid cluster_orders cluster_answers
# start_cluster NAME [SETTING ...]: one of our own in $work/NAME, ended with the test; sets cluster to its folder.
# With standby_of=NAME it is a standby of that one, which streams under its own name.
start_cluster() {
    local name=$1 said orders answers
    shift
    chmod 711 "$work" # the user that the cluster runs under must come through
    mkdir "$work/$name"
    mkfifo "$work/$name.orders" "$work/$name.answers"
    CLUSTER_OF=${standby_of:+$work/$standby_of} "$cluster_script" "$work/$name" "$@" <"$work/$name.orders" \
        >"$work/$name.answers" 2>"$work/$name.said" &
    cluster_pid[$name]=$!
    exec {orders}>"$work/$name.orders" {answers}<"$work/$name.answers"
    cluster_orders[$name]=$orders cluster_answers[$name]=$answers
    use_cluster "$name"
    read -r said <&"$answers" || said=
    if [ "$said" = "no initdb" ]; then echo "skipped: PostgreSQL is not installed"; exit 77; fi
    [ "$said" = ready ] || give_up "the cluster does not start: $said $(cat "$work/$name.said")"
}
use_cluster() { # use_cluster NAME
    cluster_name=$1 cluster=$work/$1
}
cluster_do() { # cluster_do start|stop|kill
    local said
    echo "$1" >&"${cluster_orders[$cluster_name]}"
    read -r said <&"${cluster_answers[$cluster_name]}" || said=
    [ "$said" = "done" ] || give_up "$1: the cluster says '$said': $(tail -n 3 "$cluster/log")"
}
end_cluster() { # end_cluster NAME...
    local name fd
    for name in "$@"; do
        echo end >&"${cluster_orders[$name]}" # what was started later holds the pipe, too: closing it does not end it
        wait "${cluster_pid[$name]}" || bad "the cluster $name did not end in order"
        for fd in "${cluster_orders[$name]}" "${cluster_answers[$name]}"; do eval "exec $fd>&-"; done
    done
}
sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$cluster" -U caucus -d caucus -c "$1"; }
# new_record NAME: a schema of that name with our tables, and $work/NAME.key; sets record. hosts=A,B: folders of several
# clusters, of which the one that takes writes is meant.
new_record() {
    record="postgresql://caucus@/caucus?host=${hosts:-$cluster}&options=-csearch_path%3D$1"
    sql "CREATE SCHEMA \"$1\"" # a name may be a word of SQL
    "$CAUCUS" store init --state "$record" --state-key "$work/$1.key" >/dev/null || give_up "store init $1"
}
schema_of() { schema=${1//[^a-z0-9]/_}; } # schema_of NAME: sets schema, that of a run's record
# state_in_postgres NAME: for state_of, which see: made when it is first asked for. Sets schema, too.
state_in_postgres() {
    local record
    schema_of "$1"
    [ -e "$work/$schema.key" ] || new_record "$schema"
    state="postgresql://caucus@/caucus?host=$cluster&options=-csearch_path%3D$schema"
    state_key=(--state-key "$work/$schema.key")
}
# copy_record NAME COPY: as a backup would: the tables as of one moment, and the key file as it is.
copy_record() {
    local from table
    schema_of "$1"
    from=$schema
    schema_of "$2"
    {
        echo "BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE SCHEMA \"$schema\";"
        for table in store run chunk announcement ledger; do
            echo "CREATE TABLE \"$schema\".caucus_$table (LIKE \"$from\".caucus_$table INCLUDING ALL);"
            echo "INSERT INTO \"$schema\".caucus_$table SELECT * FROM \"$from\".caucus_$table;"
        done
        echo "COMMIT;"
    } | psql -X -q -v ON_ERROR_STOP=1 -h "$cluster" -U caucus -d caucus || give_up "$1 cannot be copied"
    cp "$work/$from.key" "$work/$schema.key"
}
# export_records NAME...: what the database holds of each, opened with its key file, as $work/NAME/coordinator.db, where
# same_state looks. If `caucus stop` has ended it, the copy of the key file that it was shown is the newer one. Whole or
# not at all: two runs may want their reference at once.
export_records() {
    local name key=() schema
    for name in "$@"; do
        mkdir -p "$work/$name"
        schema_of "$name"
        key=("$work/$schema.key")
        [ ! -e "${key[0]}.copy" ] || key+=("${key[0]}.copy")
        if python3 "$export_script" "$cluster" "$schema" "$work/$name/export.$BASHPID" "${key[@]}"; then
            mv "$work/$name/export.$BASHPID" "$work/$name/coordinator.db"
        else
            bad "$name: cannot be exported"
        fi
    done
}
# plan_small_run: sets plan to that of a run that is soon over, and plays the undisturbed one as `reference`.
plan_small_run() {
    seed=24 clients=3 security=(--insecure) patience=1000
    flags=(--algorithm svt --clients 3 --experts 8 --rounds 24 --epsilon 60 --trust coordinator)
    plan=$work/plan.yaml
    make_plan "$plan" "${flags[@]}"
    make_losses 3 24 8
    undisturbed reference "$plan" "${flags[@]}"
}
# play_to NAME ROUND: the held client of that run plays up to there
play_to() {
    let_play "$1" 1 "$2"
    until_true 40 has_lines "$work/$1.1.1.out" $(($2 + 1)) || bad "$1: no $2 rounds were played: $(cat "$work/$1.err")"
}
# join_all NAME HELD [FLAGS...]: three clients of $plan at $port, the first HELD of them held; sets pids
join_all() {
    local name=$1 held=$2 i how
    shift 2
    pids=()
    for i in 1 2 3; do
        how=client
        [ "$i" -gt "$held" ] || how=held
        "start_$how" "$name" "$plan" "$port" "$i" --insecure --client "$i" "$@"
        pids+=("$client")
    done
}
play_all() { # play_all NAME: clients and coordinator end, and it was the undisturbed run
    local i
    for i in "${pids[@]}" "$server"; do ended "$i" "$1" 0; done
    export_records "$1"
    same_run "$1" reference
}
