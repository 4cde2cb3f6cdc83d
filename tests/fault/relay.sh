#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Clients behind two relays, and one beside them, against the same clients without: every expert, announcement and line
# of the ledger is the same, and so is the machine's state, byte for byte. Over mutual TLS and a real nats-server that
# runs with the configuration that certify makes. It fails if the relays have carried no report.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/relay.bash"
seed=24 clients=5 security=(--insecure)
make_certificates 5 2
start_nats

get() { # get PORT PATH: the code of the answer, and the answer
    python3 - "http://127.0.0.1:$1$2" <<'PY'
import sys, urllib.error, urllib.request
try:
    with urllib.request.urlopen(sys.argv[1]) as answer:
        print(answer.status, answer.read().decode())
except urllib.error.HTTPError as answer:
    print(answer.code, answer.read().decode())
PY
}
page_of() { # page_of PORT: a relay's own page, metrics and readiness
    local said words
    is_ready() { case $(get "$1" /readyz) in 200*) ;; *) false ;; esac; }
    until_true 20 is_ready "$1" || bad "relay 1 is not ready: $(get "$1" /readyz)"
    said=$(get "$1" /metrics)
    for words in 'caucus_relay_ready 1' 'caucus_nats_up 1' 'relay="1"} 1'; do
        case $said in *"$words"*) ;; *) bad "a relay's metrics do not say '$words'" ;; esac
    done
    said=$(get "$1" /)
    case $said in *"<h1>Relay 1</h1>"*"The coordinator is heard"*) ;; *) bad "a relay's page: $said" ;; esac
    case $(get "$1" /api/v1/status) in 404*) ;; *) bad "a relay has a coordinator's status" ;; esac
}
relayed() { # relayed NAME FLAGS...
    local name=$1 plan=$work/$1.yaml i to pids=()
    shift
    set -- "$@" --clients 5
    make_plan "$plan" "$@"
    undisturbed "$name-direct" "$plan" "$@"
    start_coordinator "$name" "$plan" 0 "${tls[@]}" "${hears[@]}"
    start_relay "$name" "$plan" 1 --http 127.0.0.1:0
    start_relay "$name" "$plan" 2 --loops 1
    for i in 1 2; do until_true 20 relay_listens "$name" "$i" || give_up "$name: relay $i does not listen"; done
    [ "$name" != svt ] || page_of "$(field http_port "$work/$name.relay1.1.out")"
    for i in 1 2 3 4 5; do
        to=${relay_port[1 + i % 2]}
        [ "$i" -ne 5 ] || to=$port
        as_client "$i"
        start_client "$name" "$plan" "$to" "$i" "${mine[@]}"
        pids+=("$client")
    done
    for i in "${pids[@]}" "$server" "${relay[1]}" "${relay[2]}"; do ended "$i" "$name" 0; done
    carried "$name" 1 2
    same_run "$name" "$name-direct"
    for i in scalars_up reports; do
        [ "$(field "$i" "$work/$name.out")" = "$(field "$i" "$work/$name-direct.out")" ] ||
            bad "$name: another $i: $(field "$i" "$work/$name.out"), not $(field "$i" "$work/$name-direct.out")"
    done
}

make_losses 5 240 8
relayed svt --algorithm svt --trust coordinator --epsilon 60 --rounds 240 --experts 8
make_losses 5 120 6
relayed hedge --algorithm hedge --trust coordinator --epsilon 40 --rounds 120 --interval 3 --experts 6
make_losses 5 120 6 drawn
relayed stoch --algorithm stoch --trust coordinator --epsilon 400 --rounds 120 --experts 6
relayed votes --algorithm stoch --trust nobody --epsilon 400 --rounds 120 --experts 6

# What relays print, as docs/schemas has it.
python3 - "${CAUCUS_SOURCE:-$(dirname "$0")/../..}/docs/schemas" "$work"/*.relay?.?.out <<'PY' || bad "a relay's JSON"
import json, sys
import jsonschema
first, last = (jsonschema.Draft202012Validator(json.load(open(f"{sys.argv[1]}/{name}.json")))
               for name in ("serve_listening", "relay_summary"))
for path in sys.argv[2:]:
    listening, summary = (json.loads(line) for line in open(path))
    first.validate(listening)
    last.validate(summary)
    assert next(iter(listening)) == next(iter(summary)) == "version" and summary["partials"] > 0, summary
    assert not last.is_valid({**summary, "version": 2}) and not last.is_valid({**summary, "stranger": 0})
assert len(sys.argv) == 2 + 8, sys.argv
PY

# What is wrong is said in a line, before anything is written.
wrong 2 "belong together" "$CAUCUS" serve --plan "$work/svt.yaml" --state "$work/none" --insecure \
    --nats nats://127.0.0.1:1
wrong 2 "without TLS only on this machine" "$CAUCUS" serve --plan "$work/svt.yaml" --state "$work/none" --insecure \
    --nats nats://192.0.2.1:4222 --relays "$certs/relays.list" --relay-key "$certs/coordinator.secret"
# ... and without the password that somebody wrote into a URL.
wrong 2 " nats://192.0.2.1:4222: without TLS" "$CAUCUS" serve --plan "$work/svt.yaml" --state "$work/none" --insecure \
    --nats nats://name:s@cret@192.0.2.1:4222 --relays "$certs/relays.list" --relay-key "$certs/coordinator.secret"
wrong 2 "no relay is listed" "$CAUCUS" serve --plan "$work/svt.yaml" --state "$work/none" --insecure \
    --nats nats://127.0.0.1:1 --relays /dev/null --relay-key "$certs/coordinator.secret"
wrong 2 "--coordinator is missing" "$CAUCUS" relay --plan "$work/svt.yaml" --number 1 --nats nats://127.0.0.1:1 \
    --relay-key "$certs/relay-1.secret" --insecure
wrong 2 "not a file with 'caucus relay key 1'" "$CAUCUS" relay --plan "$work/svt.yaml" --number 1 \
    --nats nats://127.0.0.1:1 --relay-key "$certs/ca.pem" --coordinator "$certs/coordinator.public" --insecure
[ ! -e "$work/none" ] || bad "a refused start has left a state behind"
kill "$nats_pid"
done_with relay
