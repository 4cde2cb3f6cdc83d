#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A backup of the whole state is put back, with its mark or its key file: the state alone cannot tell, but its clients
# can. They are told to come again, nothing more is announced, and the coordinator says what it is. With --ignore-claims
# they are refused.
set -euo pipefail
# shellcheck source=tests/fault/lib.bash
source "$(dirname "$0")/lib.bash"
seed=24
plan=$work/plan.yaml
make_plan "$plan" --algorithm svt --clients 5 --experts 8 --rounds 60 --epsilon 1 --trust coordinator
security=(--insecure --http 127.0.0.1:0)
make_losses 5 60 8

# 1. Play on past the moment of the backup, then lose the machine.
start_coordinator run "$plan" 0 "${security[@]}"
clients=()
how=held # client 1: the run stands while it is copied, and is not over when the machine is lost
for i in 1 2 3 4 5; do
    "start_$how" run "$plan" "$port" "$i" --insecure --client "$i" --state "$work/run.$i.state"
    clients+=("$client")
    how=client
done
let_play run 1 8
until_true 20 has_lines "$work/run.1.1.out" 9 || give_up "no 8 rounds were played"
if in_postgres; then copy_record run restored; else cp -r "$work/run" "$work/restored"; fi
let_play run 1 20
until_true 20 has_lines "$work/run.1.1.out" 21 || give_up "no further rounds were played"
kill -9 "$server" "${clients[@]}"
for i in "$server" "${clients[@]}"; do exit_code "$i"; done

# 2. The backup, with the clients as they are now.
start_coordinator restored "$plan" 0 "${security[@]}"
announcements() {
    if in_postgres; then
        sql "SELECT announcements FROM restored.caucus_run"
    else
        sha256sum <"$work/restored/mark"
    fi
}
before=$(announcements)
for i in 1 2 3; do
    start_client restored "$plan" "$port" "$i" --insecure --client "$i" --state "$work/run.$i.state"
    clients[i]=$client
done
until_true 20 grep -q 'this state is an older copy: 2 clients' "$work/restored.err" ||
    bad "the coordinator does not say what it is: $(tail -n 2 "$work/restored.err")"
page=http://127.0.0.1:$(sed -n 's/.*"http_port": \([0-9]*\).*/\1/p' "$work/restored.out" | head -n 1)
python3 - "$page" <<'END' || bad "health and metric do not say so"
import sys, urllib.error, urllib.request
page = sys.argv[1].rstrip("/")
try:
    urllib.request.urlopen(page + "/healthz", timeout=10)
    sys.exit("/healthz says that all is well")
except urllib.error.HTTPError as answer:
    text = answer.read().decode()
    assert answer.code == 503 and text.startswith("rolled back: "), (answer.code, text)
metrics = urllib.request.urlopen(page + "/metrics", timeout=10).read().decode()
claims = [line for line in metrics.splitlines() if line.startswith("caucus_rollback_claims ")]
assert claims and float(claims[0].split()[1]) >= 2, claims
END
[ "$(announcements)" = "$before" ] || bad "something was decided"
kill -TERM "$server"
exit_code "$server"
[ "$code" -eq 3 ] || bad "stopped: exit code $code, expected 3"
[ "$(grep -c 'Z this state is an older copy: ' "$work/restored.err")" -eq 1 ] || # at its end it says it once more
    bad "it says so more than once: $(grep 'this state is an older copy' "$work/restored.err")"
for i in 1 2 3; do
    kill -0 "${clients[i]}" 2>/dev/null ||
        bad "client $i was sent away for good: $(tail -n 1 "$work/restored.$i.1.err")"
    kill -9 "${clients[i]}" 2>/dev/null || true
    exit_code "${clients[i]}"
done
echo "ok: $(grep -m 1 'this state is an older copy' "$work/restored.err")"

# 3. A person who knows better.
start_coordinator restored "$plan" 0 "${security[@]}" --ignore-claims
wrong 3 "has heard more than was ever said here" "$CAUCUS" join --connect "127.0.0.1:$port" --plan "$plan" \
    --losses "$losses" --seed 24 --insecure \
    --client 1 --state "$work/run.1.state"
kill -TERM "$server"
ended "$server" "ignoring claims, stopped" 0
done_with "restored"
