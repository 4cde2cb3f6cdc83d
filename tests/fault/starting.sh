#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGTERM while the coordinator starts, at any moment: it ends with 0 and one line; the next start finds nothing wrong.
# A lock file that somebody removes, or a lock in the database that ends with its session, lets no second coordinator in
# that would use the same mark or key file.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed=24 adversary=halving clients=1 security=(--insecure)
plan=$work/plan.yaml
make_plan "$plan" --algorithm svt --clients 1 --experts 4 --rounds 16 --epsilon 60 --trust coordinator

# In the middle for sure: it has opened its token, and waits for whoever writes it.
mkfifo "$work/token"
exec 7<>"$work/token"
state_of waits
"$CAUCUS" serve --plan "$plan" "${state_flags[@]}" --listen 127.0.0.1:0 --insecure --http 127.0.0.1:0 \
    --token "$work/token" >"$work/waits.out" 2>"$work/waits.err" 7>&- &
server=$!
is_caucus() { [ "$(readlink "/proc/$server/exe")" = "$(realpath "$CAUCUS")" ]; } # not the shell that becomes it
waits() { is_caucus && [ -n "$(find "/proc/$server/fd" -lname "$work/token" 2>/dev/null)" ]; }
until_true 20 waits || bad "it does not wait for its token"
kill -TERM "$server"
ended "$server" "SIGTERM while it reads its files" 0
says "$work/waits.err" "stopped before it listened" || bad "it does not say so: $(cat "$work/waits.err")"

# At moments of the machine's choosing.
state_of early
for i in $(seq 12); do
    "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" --listen 127.0.0.1:0 --insecure --seed 24 --format json \
        >"$work/early.out" 2>"$work/early.err" &
    server=$!
    until_true 20 is_caucus || bad "it does not start" # a signal to the shell that becomes it can be lost there
    for _ in $(seq $((i * 40))); do :; done
    kill -TERM "$server"
    exit_code "$server"
    # 143: it had not yet read its words
    { [ "$code" -eq 0 ] || { [ "$code" -eq 143 ] && [ ! -s "$work/early.err" ]; }; } ||
        bad "SIGTERM at the start: exit code $code: $(cat "$work/early.err")"
done
start_coordinator early "$plan" 0 "${security[@]}"
start_client early "$plan" "$port" 1 --insecure --client 1
ended "$client" "after the signals: client" 0
ended "$server" "after the signals" 0

# `rm lock`. In a database whoever comes may find the lock free, or taken again: it is refused either way.
start_coordinator locked "$plan" 0 "${security[@]}"
state_of locked
if in_postgres; then
    ended=$(sql "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory'")
    [ "$ended" -eq 1 ] || bad "$ended sessions held a lock"
    refused="is in use by another"
else
    rm "$work/locked/lock"
    refused="is in use by another process"
fi
wrong 1 "$refused" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" --listen 127.0.0.1:0 --seed 24 --insecure
start_client locked "$plan" "$port" 1 --insecure --client 1
ended "$client" "after rm lock: client" 0
ended "$server" "after rm lock" 0
done_with "starting"
