#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# serve and join from a file: the same words as flags, a flag wins, and what is wrong is said with file and line.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
"$CAUCUS" plan --algorithm svt --clients 1 --experts 3 --rounds 12 --epsilon 60 --trust coordinator \
    --write plan.yaml >/dev/null 2>&1

# A run from two files.
cat >serve.yaml <<'YAML'
# the coordinator
plan: plan.yaml
state: "state"
listen: 127.0.0.1:0
insecure: true
seed: 4
format: json
log-level: error
deadline: 30
YAML
"$CAUCUS" serve --config serve.yaml --linger 5 >serve.out 2>serve.err </dev/null &
server=$!
for _ in $(seq $((1000 * ${CAUCUS_PATIENCE:-1}))); do grep -qs listening serve.out && break; sleep 0.02; done
port=$(sed -n 's/.*"listening": "127.0.0.1:\([0-9]*\)".*/\1/p' serve.out)
cat >join.yaml <<YAML
connect: [127.0.0.1:$port]
plan: plan.yaml
insecure: true
client: 7
adversary: halving
seed: 4
give-up: 120
YAML
code=0
"$CAUCUS" join --config join.yaml --client 1 >join.out 2>join.err </dev/null || code=$? # a flag wins
[ "$code" -eq 0 ] && [ "$(wc -l <join.out)" -eq 12 ] || fail "join --config: $code: $(cat join.err)"
wait "$server" || fail "serve --config: $(cat serve.err)"
grep -q '"finished": true' serve.out || fail "serve --config: $(cat serve.out)"

# wrong VERB TEXT, the file on standard input: exit code 2 and one line
wrong() {
    local code=0
    cat >wrong.yaml
    timeout 60 "$CAUCUS" "$1" --config wrong.yaml >out 2>err </dev/null || code=$?
    { [ "$code" -eq 2 ] && [ "$(cat err)" = "$2" ]; } || fail "$1: exit code $code, expected 2 and '$2': $(cat err)"
}
wrong serve "wrong.yaml:2: unknown field 'dedline' — did you mean 'deadline'?" <<<$'plan: plan.yaml\ndedline: 3'
wrong serve "wrong.yaml:3: plan: given twice, first in line 1" <<<$'plan: plan.yaml\nstate: s\nplan: other.yaml'
wrong serve "wrong.yaml:3: deadline soon: seconds are expected, 0.001 to 2592000, or 0" \
    <<<$'plan: plan.yaml\nstate: s\ndeadline: soon\ninsecure: true'
wrong serve "wrong.yaml:2: quorum x: a whole number up to 4294967295 is expected" \
    <<<$'plan: plan.yaml\nquorum: x\nstate: s\ninsecure: true'
wrong serve "wrong.yaml:1: insecure maybe: must be true or false" <<<$'insecure: maybe'
wrong serve "wrong.yaml:4: quorum 9 (accepted: 1 to 1, the plan's clients; 0 = all of them)" \
    <<<$'plan: plan.yaml\nstate: s\ninsecure: true\nquorum: 9\nlisten: 127.0.0.1:0'
wrong serve "wrong.yaml:1: listen: a list — this field takes one value" <<<$'listen: [a, b]'
wrong serve "wrong.yaml:1: config other.yaml: a file names no other file" <<<$'config: other.yaml'
wrong serve "wrong.yaml: empty — expected fields, for example 'plan: plan.yaml', as on the command line" <<<''
wrong join "wrong.yaml:2: client x: must be a client's number, from 1" \
    <<<$'plan: plan.yaml\nclient: x\nconnect: 127.0.0.1:9\ninsecure: true'
[ ! -e s ] || fail "a refused start left a state"
"$CAUCUS" serve --config nowhere.yaml 2>err && fail "nowhere: accepted"
grep -q 'nowhere.yaml: No such file' err || fail "nowhere: $(cat err)"
[ "$failures" -eq 0 ] && pass "config"
