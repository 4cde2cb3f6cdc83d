#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The commands that `plan --recommend` prints at its end, typed as they are printed, lead to a federation that runs to
# its end. Only the port is another: 0, a free one, and then the one that serve says. The clients are given losses as a
# device would give them, on standard input: the commands do not spend the run on the history.
set -euo pipefail
: "${CAUCUS:?path of the program}"
work=$(mktemp -d)
finish() {
    for job in $(jobs -p); do kill "$job" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT
bad() {
    echo "not ok: $*"
    exit 1
}
mkdir "$work/bin"
ln -s "$(realpath "$CAUCUS")" "$work/bin/caucus"
PATH=$work/bin:$PATH
cd "$work"
patience=$((200 * ${CAUCUS_PATIENCE:-1}))

# Three clients, 40 rounds, three models with names; the second is the best.
awk 'BEGIN { srand(3); print "client,round,small,distilled,large"
    for (c = 1; c <= 3; c++) for (t = 1; t <= 40; t++)
        printf "%d,%d,%.2f,%.2f,%.2f\n", c, t, 0.5 + 0.4 * rand(), 0.2 * rand(), 0.3 + 0.6 * rand() }' >mine.csv
caucus plan --recommend --losses mine.csv --epsilon 50 >advice 2>&1 || bad "recommend: $(cat advice)"
sed -n '/^    Next$/,$ s/^      \(caucus .*\)/\1/p' advice >commands
mapfile -t command <commands
[ "$(awk '{ print $2 }' commands | tr '\n' ' ')" = "simulate plan statement certify serve join " ] ||
    bad "commands: $(cat advice)"
case ${command[1]} in *" --names small,distilled,large "*) ;; *) bad "names: ${command[1]}" ;; esac

for i in 0 1 2 3; do
    eval "${command[i]}" >"$i.out" 2>&1 </dev/null || bad "${command[i]}: $(cat "$i.out")"
done
grep -q "distilled (1)" 0.out || bad "simulate says no names: $(cat 0.out)"
eval "${command[4]//:7400/:0}" >serve.out 2>serve.err </dev/null &
server=$!
port=
for _ in $(seq $((50 * patience))); do
    port=$(sed -nE 's/.*listening on [^ ]*:([0-9]+).*/\1/p' serve.out serve.err | head -n 1)
    [ -z "$port" ] || break
    kill -0 "$server" 2>/dev/null || bad "serve: $(cat serve.out serve.err)"
    sleep 0.02
done
[ -n "$port" ] || bad "serve says no port: $(cat serve.out serve.err)"
join=${command[5]//:7400/:$port}
clients=()
for client in 1 2 3; do
    awk -F, -v client="$client" '$1 == client { print $3 "," $4 "," $5 }' mine.csv >"losses-$client"
    eval "exec timeout $patience ${join//client-1/client-$client}" >"join-$client" 2>"join-$client.err" \
        <"losses-$client" &
    clients+=($!)
done
for client in 1 2 3; do
    wait "${clients[client - 1]}" || bad "client $client: $(cat "join-$client.err" serve.err)"
done
wait "$server" || bad "serve: $(cat serve.out serve.err)"
if [ "$(wc -l <join-1)" -ne 40 ] || ! cmp join-1 join-2 || ! cmp join-1 join-3; then bad "experts: $(cat join-1)"; fi
grep -qE "^1 name=distilled$" join-1 || bad "experts have no names: $(cat join-1)"
echo "ok: the commands to type next"
