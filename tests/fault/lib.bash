#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # a test sets seed, adversary, clients, security
# What the fault tests share; sourced, not run (its name does not end in .sh, so that it is no test).
#
# Every run here is seeded: whatever happens on the way, the experts must be those of the undisturbed run, and so must
# everything in the coordinator's state: the machine with its sums, the announcements, the ledger. A loss counted
# twice or lost, or a release spent twice, makes another state.
set -euo pipefail
: "${CAUCUS:?path of the program}"
# shellcheck source=tests/fault/ports.bash
. "$(dirname "${BASH_SOURCE[0]}")/ports.bash"
work=$(mktemp -d "${TMPDIR:-/tmp}/caucus-fault.XXXXXX") # every process of a test has this path in its command line
failures=0
bad() { echo "not ok: $*"; failures=$((failures + 1)); }
give_up() { bad "$@"; exit 1; }
finish() {
    local pid
    for pid in $(pgrep -f "$work"); do kill -9 "$pid" 2>/dev/null || true; done
    # Lazily: whoever was killed may take a moment to let go of its files.
    if mountpoint -q "$work/full" 2>/dev/null; then umount -l "$work/full"; fi
    rm -rf "$work"
}
trap finish EXIT
done_with() { # done_with NAME: nothing of it runs on; the verdict
    local _
    ! in_postgres || end_cluster families
    for _ in $(seq $((400 * ${CAUCUS_PATIENCE:-1}))); do pgrep -f "$work" >/dev/null || break; sleep 0.05; done
    if pgrep -af "$work" >"$work/left"; then bad "processes left: $(cat "$work/left")"; fi
    [ "$failures" -eq 0 ] && echo "ok: $1" || exit 1
}

# until_true SECONDS COMMAND...: whether it came true in that time
until_true() {
    local tries=$(($1 * 50 * ${CAUCUS_PATIENCE:-1})) _
    shift
    for _ in $(seq "$tries"); do
        if "$@"; then return 0; fi
        sleep 0.02
    done
    return 1
}
has_lines() { [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]; }
says() { grep -qsF -- "$2" "$1"; } # says FILE TEXT
is_over() { ! kill -0 "$1" 2>/dev/null; }
exit_code() { # exit_code PID: sets code; whoever hangs is killed
    code=0
    until_true 100 is_over "$1" || kill -9 "$1"
    wait "$1" 2>/dev/null || code=$?
}
ended() { # ended PID NAME CODE
    exit_code "$1"
    [ "$code" -eq "$3" ] || bad "$2: exit code $code, expected $3"
}
wrong() { # wrong CODE TEXT COMMAND...: it ends so, and says so in one line
    local want=$1 text=$2 code=0
    shift 2
    timeout 60 "$@" >"$work/wrong.out" 2>"$work/wrong.err" </dev/null || code=$?
    { [ "$code" -eq "$want" ] && says "$work/wrong.err" "$text"; } ||
        bad "$*: exit code $code, expected $want and '$text': $(cat "$work/wrong.err")"
}

# ---- a federation named NAME: plan $work/NAME.yaml, state $work/NAME, whatever is printed in $work/NAME.* ----
# Set by the test: seed (empty: the coordinator's noise is its own), adversary, or losses (a file, see make_losses),
# clients; security=(--insecure) or the coordinator's certificates; record, a state that is not $work/NAME.

make_plan() { # make_plan FILE FLAGS...
    local file=$1
    shift
    "$CAUCUS" plan "$@" --write "$file" >/dev/null 2>"$work/plan.err" || give_up "plan: $(cat "$work/plan.err")"
}
# With CAUCUS_RECORD=postgres every run's state is in a PostgreSQL of the test's own: all families of faults run so
# (tools/nightly, part records).
in_postgres() { [ "${CAUCUS_RECORD:-}" = postgres ]; }
# state_of NAME: sets state, what --state is for that run, state_key, the flags that go with it, and state_flags: all
# that a verb needs to be told.
state_of() {
    state=$work/$1 state_key=()
    ! in_postgres || state_in_postgres "$1"
    state_flags=(--state "$state" "${state_key[@]}")
}
# state_asked NAME: the same for who is not its coordinator: one at work has its key file, so that a copy is shown.
state_asked() {
    state_of "$1"
    ! in_postgres || { cp "${state_key[1]}" "${state_key[1]}.copy" && state_flags[3]=${state_key[1]}.copy; }
}
stop_run() { # stop_run NAME: ask for the end of that run
    state_asked "$1"
    "$CAUCUS" stop "${state_flags[@]}" >"$work/stop.out" 2>&1 || bad "stop: $(cat "$work/stop.out")"
}
# keeps_nothing NAME: no run was ever begun there
keeps_nothing() {
    if in_postgres; then
        state_of "$1"
        [ "$(sql "SELECT count(*) FROM \"$schema\".caucus_run")" -eq 0 ]
    else
        [ ! -e "$work/$1" ]
    fi
}
# open_kept NAME...: what is kept of those runs is in $work/NAME/coordinator.db, to be looked at
open_kept() { ! in_postgres || export_records "$@"; }
listens() { # listens FILE PID: it said where, or it is dead
    says "$1" "listening" || ! kill -0 "$2" 2>/dev/null
}
# start_coordinator NAME PLAN PORT FLAGS...: sets server and port; port stays empty if it died before it listened.
# PORT 0 is one that nobody else takes: a coordinator that is started again finds it free, and clients that dial
# meanwhile find nobody there.
start_coordinator() {
    local name=$1 plan=$2 listen=$3
    shift 3
    [ "$listen" -ne 0 ] || { own_port && listen=$free_port; }
    rm -f "$work/$name.out"
    state_of "$name"
    "$CAUCUS" serve --plan "$plan" --state "${record:-$state}" "${state_key[@]}" --listen "127.0.0.1:$listen" \
        ${seed:+--seed "$seed"} --format json "$@" \
        >"$work/$name.out" 2>>"$work/$name.err" </dev/null &
    server=$!
    until_true 20 listens "$work/$name.out" $server ||
        bad "$name: the coordinator does not start: $(tail -n 3 "$work/$name.err")"
    port=$(sed -n 's/^{.*"listening": "127.0.0.1:\([0-9]*\)".*/\1/p' "$work/$name.out")
}
join_command=("$CAUCUS" join) # what clients are
# start_client NAME PLAN PORT INDEX FLAGS...: sets client. A client may live several times: each life has its files.
# patience, if set: seconds without a coordinator that it bears.
start_client() {
    local from=(--adversary "${adversary:-}")
    [ -z "${losses:-}" ] || from=(--losses "$losses")
    join_from /dev/null "$@" "${from[@]}"
}
join_from() { # join_from INPUT NAME PLAN PORT INDEX FLAGS...: what start_client and start_held share
    local input=$1 name=$2 plan=$3 to=$4 index=$5 life=1 seeded=(--seed "${seed:-9}")
    shift 5
    [ -n "$seed" ] || [ -z "${losses:-}" ] || seeded=() # an adversary needs one all the same
    while [ -e "$work/$name.$index.$life.out" ]; do life=$((life + 1)); done
    : >"$work/$name.$index.$life.out" # here, not only in the new process, which may be slower than the next life
    : >"$work/$name.$index.$life.err"
    "${join_command[@]}" --connect "127.0.0.1:$to" --plan "$plan" "${seeded[@]}" --give-up "${patience:-120}" "$@" \
        >"$work/$name.$index.$life.out" 2>"$work/$name.$index.$life.err" <"$input" &
    client=$!
}

# ---- a run that is held ----
# Whoever acts in the middle of a run must not rely on its lasting: on a fast machine it is over at once. A held client
# has its losses from a pipe that the test fills: `let_play NAME INDEX ROUND` gives those up to that round, and the
# client tells the expert of the next one and waits. Where every client is waited for, the run stands there; with a
# quorum, so many are held that those left do not make one.

# make_losses CLIENTS ROUNDS EXPERTS [drawn]: sets losses, a file for start_client and simulate; client I's lines are in
# $work/losses.I. All experts but one turn bad, one by one, in the first three quarters, so that there are switches; or
# all losses are drawn, for algorithms that take them as draws.
make_losses() {
    losses=$work/losses.npy
    python3 - "$work/losses" "$@" <<'PY'
import random, struct, sys
path, (clients, rounds, experts), drawn = sys.argv[1], map(int, sys.argv[2:5]), sys.argv[5:] == ["drawn"]
random.seed(3)
order = random.sample(range(experts), experts)
bad_from = {e: rounds if n == experts - 1 else rounds * 3 * (n + 1) // (4 * experts) for n, e in enumerate(order)}
loss = lambda t, e: random.randrange(101) / 100 if drawn else float(t >= bad_from[e])
rows = [[[loss(t, e) for e in range(experts)] for t in range(rounds)] for client in range(clients)]
head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d, %d), }" % (clients, rounds, experts)
head += " " * (63 - (10 + len(head)) % 64) + "\n"
with open(path + ".npy", "wb") as out: # NumPy's format 1.0, without NumPy
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
    for row in (row for client in rows for row in client):
        out.write(struct.pack("<%dd" % experts, *row))
for i, client in enumerate(rows, 1):
    with open(f"{path}.{i}", "w") as out:
        out.writelines(",".join(map(repr, row)) + "\n" for row in client)
PY
}
declare -A held_pipe held_round # of NAME.INDEX: the descriptor of its pipe, and the rounds that were given
# start_held NAME PLAN PORT INDEX FLAGS...: as start_client; it may play no round yet. A later life is given its losses
# from round 1 on again, and passes over those that it has played.
start_held() {
    local who=$1.$4 pipe fd
    pipe=$(mktemp -u "$work/$who.pipe.XXXXXX")
    mkfifo "$pipe"
    exec {fd}<>"$pipe" # open for both ways: it never ends, and who writes to it never waits for a reader
    held_pipe[$who]=$fd held_round[$who]=0
    join_from "$pipe" "$@" --replay
}
let_play() { # let_play NAME INDEX ROUND
    local who=$1.$2 lines
    [ "$3" -gt "${held_round[$who]}" ] || return 0
    mapfile -t -s "${held_round[$who]}" -n $(($3 - held_round[$who])) lines <"$work/losses.$2"
    printf '%s\n' "${lines[@]}" >&"${held_pipe[$who]}"
    held_round[$who]=$3
}
# A run whose losses do not matter is fed round by round instead, and its clients' input can end.
declare -a fed pid
# start_fed NAME INDEX FLAGS...: a client of $plan at $port; sets fed[INDEX], its pipe, and pid[INDEX]
start_fed() {
    local name=$1 index=$2 fd pipe=$work/$1.$2.pipe
    shift 2
    [ -p "$pipe" ] || mkfifo "$pipe"
    join_from "$pipe" "$name" "$plan" "$port" "$index" --insecure --client "$index" "$@"
    pid[index]=$client
    exec {fd}>"$pipe"
    fed[index]=$fd
}
feed() { # feed INDEX...: a round of losses of eight experts for each
    local i
    for i in "$@"; do echo "0.5,0.1,0.9,0.3,0.2,0.8,0.7,0.4" >&"${fed[i]}"; done
}
end_feed() { # end_feed INDEX...
    local i
    for i in "$@"; do eval "exec ${fed[i]}>&-"; done
}
# experts NAME INDEX: what a client played over its lives, one line per round; a round told twice was told the same.
experts() {
    local life=1 from
    while [ -e "$work/$1.$2.$life.out" ]; do
        # Killed before it had a file for it.
        from=$(sed -n 's/.*going on at round \([0-9]*\)$/\1/p' "$work/$1.$2.$life.err" 2>/dev/null || true)
        awk -v from="${from:-1}" '!/ replay=/ { print from + n++, $1 }' "$work/$1.$2.$life.out"
        life=$((life + 1))
    done | awk '($1 in expert) && expert[$1] != $2 { print "round " $1 " was told as " expert[$1] " and as " $2; exit }
        { expert[$1] = $2; if ($1 > last) last = $1 }
        END { for (t = 1; t <= last; t++) print (t in expert) ? expert[t] : "no round " t }'
}
# same_state NAME REFERENCE: everything in a coordinator's state: the machine byte for byte, the announcements, and
# the releases. Their amounts are whole steps of 10^-9, rounded up; a restart rounds once more, which may move a step
# from one release to another, or add one. The last third of the chunks is not compared: with which certificates clients
# came.
same_state() {
    open_kept "$1" "$2"
    python3 - "$work/$1/coordinator.db" "$work/$2/coordinator.db" <<'PY'
import re, sqlite3, sys
one, two = (sqlite3.connect(path) for path in sys.argv[1:])
run = "plan, seeded, begun, announcements, lines, chunks, root" # terms differ, and so seals
for table, what in (("run", run), ("chunk", "*"), ("announcement", "*"), ("ledger", "*")):
    a, b = (db.execute(f"SELECT {what} FROM {table} ORDER BY 1").fetchall() for db in (one, two))
    if len(a) != len(b):
        sys.exit(f"{table}: {len(a)} rows, not {len(b)}")
    if table == "chunk":
        a, b = a[:len(a) * 2 // 3], b[:len(b) * 2 // 3]
    for x, y in zip(a, b):
        if table == "ledger" and x[1].startswith("run"): # two runs have two numbers, and so two hashes
            x, y = ([re.sub(" #[0-9a-f]{8}-[0-9a-f]{16} ", " ", r[1]).split("\t")[:-1] for r in (x, y)])
        if table == "ledger" and not isinstance(x, list) and x[1].startswith("release"):
            x, y = x[1].split("\t")[:-1], y[1].split("\t")[:-1]
            amounts = [(int(p), int(q)) for p, q in zip(x[5:], y[5:])]
            if len(x) != 8 or x[:5] != y[:5] or any(abs(p - q) > 1 for p, q in amounts):
                sys.exit(f"{table}: {x} and {y}")
        elif x != y:
            sys.exit(f"{table}: {x} and {y}"[:300])
PY
}
field() { sed -n "s/.*\"$1\": \([-0-9.a-z]*\).*/\1/p" "$2" | tail -n 1; } # field NAME FILE
# same_run NAME REFERENCE: all clients played what was played there, and the states are the same
same_run() {
    local i
    for i in $(seq "$clients"); do
        experts "$1" "$i" >"$work/$1.played"
        experts "$2" "$i" | cmp -s - "$work/$1.played" ||
            bad "$1: client $i did not play as in $2: $(paste -sd' ' "$work/$1.played" | head -c 300)"
    done
    same_state "$1" "$2" >"$work/$1.differs" 2>&1 || bad "$1: another state than in $2: $(cat "$work/$1.differs")"
}
# as_announced NAME: clients played what the coordinator has kept: an expert per block of $interval rounds (hedge).
# Noise that is not seeded differs from life to life: a decision that was told before it was kept would be another one
# afterwards.
as_announced() {
    local i
    open_kept "$1"
    python3 - "$work/$1/coordinator.db" "$interval" >"$work/$1.kept" <<'PY'
import sqlite3, sys
for (expert,) in sqlite3.connect(sys.argv[1]).execute("SELECT expert FROM announcement ORDER BY serial"):
    print(f"{expert}\n" * int(sys.argv[2]), end="")
PY
    for i in $(seq "$clients"); do
        experts "$1" "$i" | cmp -s - "$work/$1.kept" ||
            bad "$1: client $i was told what was not kept: $(experts "$1" "$i" | paste -sd' ' | head -c 300)"
    done
    [ "$(sort -u "$work/$1.kept" | wc -l)" -ge 3 ] || bad "$1: the test shows little: $(paste -sd' ' "$work/$1.kept")"
}
# undisturbed NAME PLAN FLAGS...: the reference, and that it shows something: equal to the simulation (flags of
# simulate), with switches
undisturbed() {
    local name=$1 plan=$2 i pids=() simulated
    shift 2
    start_coordinator "$name" "$plan" 0 "${security[@]}"
    for i in $(seq "$clients"); do
        start_client "$name" "$plan" "$port" "$i" --insecure --client "$i"
        pids+=("$client")
    done
    for i in "${pids[@]}" "$server"; do ended "$i" "$name" 0; done
    local from=(--adversary "${adversary:-}")
    [ -z "${losses:-}" ] || from=(--losses "$losses")
    simulated=$("$CAUCUS" simulate "$@" "${from[@]}" --seed "$seed" --trials 1 --format csv 2>/dev/null |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "selections") at = i } NR == 2 { print $at }')
    [ "$(field selections "$work/$name.out")" = "$simulated" ] ||
        bad "$name: other selections than simulated: $simulated"
    experts "$name" 1 >"$work/$name.played"
    [ "$(sort -u "$work/$name.played" | wc -l)" -ge 3 ] ||
        bad "$name: fewer than 3 experts were played: the test would show little"
}
if in_postgres; then
    # shellcheck source=tests/fault/postgres.bash
    . "$(dirname "${BASH_SOURCE[0]}")/postgres.bash"
    start_cluster families
fi
