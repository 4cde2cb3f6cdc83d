#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# caucus serve: what the machine refuses is exit code 1, a run that cannot go on is exit code 3. What is refused before
# anything is opened is in exact/serve.exact.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

# refuses NAME EXIT_CODE PATTERN ARGUMENTS...: nothing on stdout, one line on stderr that has PATTERN in it.
refuses() {
    local name=$1 code=$2 pattern=$3 got=0
    shift 3
    timeout 60 "$CAUCUS" serve "$@" >out 2>err </dev/null || got=$?
    if [ "$got" -ne "$code" ] || [ -s out ] || [ "$(wc -l <err)" -ne 1 ] || ! grep -qF -- "$pattern" err; then
        echo "not ok: $name (exit code $got): $(cat out err)"
        failures=$((failures + 1))
    else
        echo "ok: $name"
    fi
}

# A coordinator that waits for its clients: what it says, who else may have its state, how it ends.
timeout 300 "$CAUCUS" up --clients 2 --rounds 10 --keep kept >/dev/null 2>&1
timeout 300 "$CAUCUS" up --clients 3 --rounds 10 --keep other >/dev/null 2>&1
start() { # start FLAGS...: sets server and where
    rm -f run.out # what the last one said is not what this one says
    timeout 300 "$CAUCUS" serve --plan kept/plan.yaml --state s --listen 127.0.0.1:0 --insecure "$@" \
        >run.out 2>run.err </dev/null &
    server=$!
    for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do grep -qs 'listening' run.out && break; sleep 0.05; done
    where=$(sed -n 's/.*listening[^1]*\(127.0.0.1:[0-9]*\).*/\1/p' run.out)
}
stop() { # stop NAME PATTERN: ends with exit code 0 and says so
    local got=0
    kill -TERM "$server"
    wait "$server" || got=$?
    if [ "$got" -ne 0 ] || ! grep -qF -- "$2" run.out; then
        echo "not ok: $1 (exit code $got): $(cat run.out run.err)"
        failures=$((failures + 1))
    else
        echo "ok: $1"
    fi
}
start
refuses "a state in use" 1 "s" --plan kept/plan.yaml --state s --listen 127.0.0.1:0 --insecure
refuses "a port in use" 1 "listen" --plan kept/plan.yaml --state s2 --listen "$where" --insecure
refuses "a page's port in use" 1 "http" --plan kept/plan.yaml --state s2 --listen 127.0.0.1:0 --insecure --seed 1 \
    --http "$where"
stop "SIGTERM" "stopped: expert"
refuses "a state of another plan" 3 "plan" --plan other/plan.yaml --state s --listen 127.0.0.1:0 --insecure
refuses "beyond this machine without TLS" 2 "only this machine may connect" --plan kept/plan.yaml --state s \
    --listen 0.0.0.0:0 --insecure
refuses "a quorum beyond the clients" 2 "--quorum 3" --plan kept/plan.yaml --state s --listen 127.0.0.1:0 \
    --insecure --quorum 3
refuses "a quorum without a deadline" 2 "give --deadline" --plan kept/plan.yaml --state s2 --listen 127.0.0.1:0 \
    --insecure --quorum 1
# What is refused leaves no state: the next attempt is the first.
echo short >short
refuses "a short token" 2 "shorter than 16" --plan kept/plan.yaml --state s2 --listen 127.0.0.1:0 --insecure --seed 1 \
    --http 127.0.0.1:0 --token short
refuses "a page for all" 2 "give --token" --plan kept/plan.yaml --state s2 --listen 127.0.0.1:0 --insecure --seed 1 \
    --http 0.0.0.0:0
refuses "a name that is not UTF-8" 2 "--name" --plan kept/plan.yaml --state s2 --listen 127.0.0.1:0 \
    --insecure --seed 1 --name $'a\xff'
refuses "a name with a line in it" 2 "--name" --plan kept/plan.yaml --state s2 --listen 127.0.0.1:0 \
    --insecure --name $'a\nb'
[ ! -e s2 ] || { echo "not ok: a state was left by what was refused: $(ls s2)"; failures=$((failures + 1)); }
# A directory that has held a state begins no new run when the state is lost.
cp -r s lost
rm lost/coordinator.db
refuses "a lost state" 3 "run no older copy" --plan kept/plan.yaml --state lost --listen 127.0.0.1:0 --insecure
: >lost/coordinator.db
refuses "an empty state" 3 "is gone" --plan kept/plan.yaml --state lost --listen 127.0.0.1:0 --insecure
start --format json
stop "json" '"finished": false'

"$CAUCUS" serve --help >out
grep -q '^  --fault-commit' out && [ "$(awk '{ if (length > 125) long++ } END { print long + 0 }' out)" -eq 0 ] || {
    echo "not ok: help"
    failures=$((failures + 1))
}
[ "$failures" -eq 0 ]
