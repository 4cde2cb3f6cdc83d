#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034,SC2154 # names are shared with lib.bash and the tests
# What fault tests with a state in PostgreSQL share; sourced after lib.bash.
cluster_script=$(dirname "${BASH_SOURCE[0]}")/../store/postgres.bash
export_script=$(dirname "${BASH_SOURCE[0]}")/postgres_export.py
"$CAUCUS" version | grep -q '^  PostgreSQL *[0-9]' || { echo "skipped: built without PostgreSQL"; exit 77; }

# start_cluster NAME [SETTING ...]: one of our own in $work/NAME, ended with the test; sets cluster to its folder
start_cluster() {
    local name=$1 fd said
    shift
    chmod 711 "$work" # the user that the cluster runs under must come through
    mkdir "$work/$name"
    mkfifo "$work/$name.orders" "$work/$name.answers"
    "$cluster_script" "$work/$name" "$@" <"$work/$name.orders" >"$work/$name.answers" 2>"$work/$name.said" &
    cluster_pid=$!
    exec {cluster_orders}>"$work/$name.orders" {cluster_answers}<"$work/$name.answers"
    cluster=$work/$name
    read -r said <&"$cluster_answers" || said=
    if [ "$said" = "no initdb" ]; then echo "skipped: PostgreSQL is not installed"; exit 77; fi
    [ "$said" = ready ] || give_up "the cluster does not start: $said $(cat "$work/$name.said")"
}
cluster_do() { # cluster_do start|stop|kill
    local said
    echo "$1" >&"$cluster_orders"
    read -r said <&"$cluster_answers" || said=
    [ "$said" = "done" ] || give_up "$1: the cluster says '$said': $(tail -n 3 "$cluster/log")"
}
end_cluster() {
    exec {cluster_orders}>&-
    wait "$cluster_pid" || bad "the cluster did not end in order"
    exec {cluster_answers}<&-
}
sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$cluster" -U caucus -d caucus -c "$1"; }
# new_record NAME: a schema of that name with our tables, and $work/NAME.key; sets record
new_record() {
    record="postgresql://caucus@/caucus?host=$cluster&options=-csearch_path%3D$1"
    sql "CREATE SCHEMA $1"
    "$CAUCUS" store init --state "$record" --state-key "$work/$1.key" >/dev/null || give_up "store init $1"
}
# export_record NAME: what the database holds, opened with $work/NAME.key, as $work/NAME/coordinator.db: for same_run
export_record() {
    mkdir -p "$work/$1"
    python3 "$export_script" "$cluster" "$1" "$work/$1.key" "$work/$1/coordinator.db" || bad "$1: cannot be exported"
}
