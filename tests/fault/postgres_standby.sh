#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A standby takes over: from a coordinator that was killed, and from one that was stopped (SIGSTOP) and moves again
# afterwards: it finds the answers that came meanwhile, decides, and its own commit is fenced. Clients find the standby
# by themselves, and the run is the undisturbed one. The standby's page says what it is, before and after, and that it
# cannot reach the database while it cannot; its JSON is as docs/schemas/standby.json says.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/postgres.bash"
# A deadline, so that clients notice a coordinator that says nothing more; all of them are waited for all the same.
seed=24 clients=3 security=(--insecure --deadline 1)
flags=(--algorithm svt --clients 3 --experts 8 --rounds 24 --epsilon 60 --trust coordinator)
plan=$work/plan.yaml
make_plan "$plan" "${flags[@]}"
make_losses 3 24 8
undisturbed reference "$plan" "${flags[@]}"
start_cluster pg
wrong 2 "goes with a state in PostgreSQL" "$CAUCUS" serve --plan "$plan" --state "$work/dir" --insecure --standby

# The standby's files are those of NAME.b; its key file is a copy from before the run. It goes to the database by a way
# of its own, which can be closed, under a name of its own.
ln -s "$cluster" "$work/way"
start_standby() {
    local own="${record/host=$cluster/host=$work/way}&application_name=standby"
    own_port
    second=$free_port
    own_port
    page=$free_port
    "$CAUCUS" serve --plan "$plan" --state "$own" --state-key "$work/$1.b.key" --listen "127.0.0.1:$second" \
        --seed "$seed" --format json --http "127.0.0.1:$page" --standby "${security[@]}" \
        >"$work/$1.b.out" 2>"$work/$1.b.err" </dev/null &
    standby=$!
    until_true 20 says "$work/$1.b.err" "standing by" || bad "$1: no standby: $(cat "$work/$1.b.err")"
}
page_says() { # page_says PATH TEXT [CODE]
    python3 - "http://127.0.0.1:$page$1" "$2" "${3:-200}" <<'PY'
import sys, urllib.error, urllib.request
try:
    answer = urllib.request.urlopen(sys.argv[1], timeout=20)
except urllib.error.HTTPError as error:
    answer = error
except OSError:
    sys.exit(1)
sys.exit(answer.code != int(sys.argv[3]) or sys.argv[2] not in answer.read().decode())
PY
}
is_as_described() { # is_as_described REACHED: the JSON, and the schema takes nothing that is otherwise
    python3 - "http://127.0.0.1:$page/api/v1/status" "$CAUCUS_SOURCE/docs/schemas/standby.json" "$1" <<'PY'
import json, sys, urllib.request
import jsonschema
document = json.load(urllib.request.urlopen(sys.argv[1], timeout=20))
schema = jsonschema.Draft202012Validator(json.load(open(sys.argv[2], encoding="utf-8")))
schema.validate(document)
altered = [{**document, "stranger": 1}, {**document, "version": 2}]
altered += [{k: v for k, v in document.items() if k != key} for key in document]
sys.exit(document["reached"] is not (sys.argv[3] == "true") or any(map(schema.is_valid, altered)))
PY
}
for how in kill stop; do
    new_record "$how"
    cp "$work/$how.key" "$work/$how.b.key"
    start_coordinator "$how" "$plan" 0 "${security[@]}" --state-key "$work/$how.key"
    [ -n "$port" ] || give_up "$how: $(cat "$work/$how.err")"
    first=$server
    start_standby "$how"
    port=$port,127.0.0.1:$second
    join_all "$how" 1
    let_play "$how" 1 10
    until_true 20 has_lines "$work/$how.1.1.out" 11 || bad "$how: no 10 rounds were played"
    ! says "$work/$how.b.out" listening || bad "$how: the standby listens while the coordinator is at work"
    until_true 20 page_says /readyz "standing by: term 1, " || bad "$how: /readyz of the standby"
    page_says /metrics 'caucus_role{role="standby"} 1' || bad "$how: the metrics of the standby"
    page_says /api/v1/status '"role": "standby"' || bad "$how: the JSON of the standby"
    page_says / "stands by" || bad "$how: the page of the standby"
    is_as_described true || bad "$how: the JSON of the standby is not as its schema says"
    if [ "$how" = kill ]; then
        mv "$work/way" "$work/closed"
        sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'standby'" >/dev/null
        until_true 20 page_says /readyz "standing by, and the database cannot be reached" 503 ||
            bad "$how: /readyz of a standby without a database"
        page_says / "No database." || bad "$how: the page of a standby without a database"
        page_says /metrics "caucus_standby_reached 0" || bad "$how: the metrics of a standby without a database"
        is_as_described false || bad "$how: the JSON of a standby without a database"
        mv "$work/closed" "$work/way"
        until_true 20 page_says /readyz "standing by: term 1, " || bad "$how: the database is back, and the standby not"
    fi
    # One that is stopped has all answers to its question when it moves again: the last of them is sent to it.
    if [ "$how" = kill ]; then kill -9 "$first"; else kill -STOP "$first" && let_play "$how" 1 16; fi
    until_true 40 says "$work/$how.b.out" listening || bad "$how: no takeover: $(cat "$work/$how.b.err")"
    if [ "$how" = stop ]; then
        until_true 60 has_lines "$work/$how.1.1.out" 17 || bad "$how: the run does not go on: $(cat "$work/$how.b.err")"
        kill -CONT "$first"
        ended "$first" "$how: the first" 1
        says "$work/$how.err" "another coordinator has taken this run over" ||
            bad "$how: the first was not fenced: $(cat "$work/$how.err")"
    fi
    page_says /metrics 'caucus_role{role="primary"} 1' || bad "$how: the metrics after the takeover"
    page_says /api/v1/status '"term": 2,' || bad "$how: the term after the takeover"
    let_play "$how" 1 24
    for i in "${pids[@]}" "$standby"; do ended "$i" "$how" 0; done
    mv "$work/$how.b.key" "$work/$how.key" # the one that has followed to the end
    export_records "$how"
    same_run "$how" reference
    [ "$how" = stop ] || ended "$first" "$how: the first" 137
done
end_cluster pg
done_with "a standby takes over"
