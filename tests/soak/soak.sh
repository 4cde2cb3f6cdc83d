#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make soak: federations over mutual TLS, or plain with clocks that jump, under everything at once, in random order:
# SIGKILL and SIGSTOP for coordinator and clients, one or all; SIGTERM for the coordinator; links cut in the middle;
# a full disk below the coordinator's state; lists of the revoked and excused that cannot be read; strangers who flood
# the port. Whatever happens, each run must end as the undisturbed one: the same experts at every client, and the same
# state, byte for byte (lib.bash, same_run).
#
# SOAK_MINUTES=10 how long; SOAK_KILLS=N ends earlier, once so many were killed; SOAK_SEED=N repeats who dies when.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
here=$(dirname "$0")
. "$here/../fault/lib.bash"
exec 2> >(grep -v ' Killed ' >&2) # the shell's remarks on every kill
chaos=${SOAK_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
minutes=${SOAK_MINUTES:-10} most=${SOAK_KILLS:-0}
RANDOM=$((chaos % 32768))
echo "soak: SOAK_SEED=$chaos SOAK_MINUTES=$minutes"
end=$((SECONDS + minutes * 60))
clients=6 total=0 runs=0 seed=24 security=(--insecure)
declare -A done_so_often=()
certs=$work/certs
"$CAUCUS" certify "$certs" --clients 6 >/dev/null 2>&1
tls=(--cert "$certs/coordinator.pem" --key "$certs/coordinator.key" --client-ca "$certs/ca.pem")
"${CC:-cc}" -shared -fPIC -O1 -o "$work/jumps.so" "$here/../fault/clock_jumps.c" -ldl || give_up "no jumping clock"
mkdir "$work/full"
small=no
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=2m tmpfs "$work/full" 2>/dev/null; then small=yes; fi
echo "soak: full disks: $small"

# RANDOM is drawn here and not in $(...): a subshell would draw the same again and again.
one_of() { shift $((RANDOM % $#)); one=$1; }
nap() { sleep "0.$(printf %03d $((RANDOM % $1)))"; }
algorithm() { while [ "$1" != --algorithm ]; do shift; done; echo "$2"; }
alive() { kill -0 "$1" 2>/dev/null; }
count() { done_so_often[$1]=$((${done_so_often[$1]:-0} + 1)); }

free_port() {
    python3 -c 'import random, socket
while True:
    port = random.randrange(10000, 30000)
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        continue
    print(port)
    break'
}
coordinator() { # started again where it was
    local preload=''
    [ "$jumping" = no ] || preload=$work/jumps.so
    LD_PRELOAD=$preload start_coordinator "$name" "$plan" "$behind" "${secure[@]}" --revoked "$work/revoked" \
        --excused "$work/excused" --linger 60
}
start() { # start INDEX
    local mine=(--insecure --client "$1") preload=''
    [ "$jumping" = no ] || preload=$work/jumps.so
    [ "$jumping" = yes ] || mine=(--cert "$certs/client-$1.pem" --key "$certs/client-$1.key" --ca "$certs/ca.pem")
    LD_PRELOAD=$preload start_client "$name" "$plan" "$front" "$1" "${mine[@]}" --state "$work/$name.$1.state" --pace 3
    pid[$1]=$client
}
any_alive() {
    local i
    for i in $(seq "$clients"); do if alive "${pid[i]}"; then return 0; fi; done
    return 1
}
kill_client() { # kill_client INDEX: false if it had ended
    alive "${pid[$1]}" || return 1
    kill -9 "${pid[$1]}" 2>/dev/null || true
    exit_code "${pid[$1]}"
    [ "$code" -eq 137 ] || return 1
    killed=$((killed + 1))
}
kill_coordinator() {
    kill -9 "$server" 2>/dev/null || true
    exit_code "$server"
    [ "$code" -eq 137 ] || return 1
    killed=$((killed + 1))
}
fill_disk() { # the coordinator ends for it, or is killed if it has nothing to write; then there is room again
    dd if=/dev/zero of="$work/full/filler" bs=4096 2>/dev/null || true
    nap 400
    rm -f "$work/full/filler"
    alive "$server" && return 0
    exit_code "$server"
    if [ "$code" -ne 1 ]; then return 1; fi
    coordinator
}
disturb() {
    local what i kinds
    kinds=(kill-client kill-coordinator kill-both kill-all kill-all kill-all stop-client stop-coordinator term cut)
    kinds+=(bad-lists)
    if [ "$small" = yes ] && [ "$on_small" = yes ]; then kinds+=(full-disk); fi
    one_of "${kinds[@]}"
    what=$one
    i=$((1 + RANDOM % clients))
    alive "$server" || return 1
    case $what in
    kill-client) if kill_client "$i"; then start "$i"; fi ;;
    kill-coordinator) kill_coordinator || return 1; coordinator ;;
    kill-both)
        local gone=no
        if kill_client "$i"; then gone=yes; fi
        kill_coordinator || { [ "$gone" = no ] || start "$i"; return 1; }
        coordinator
        [ "$gone" = no ] || start "$i" ;;
    kill-all)
        local back=()
        for i in $(seq "$clients"); do if kill_client "$i"; then back+=("$i"); fi; done
        if kill_coordinator; then coordinator; fi
        for i in "${back[@]}"; do start "$i"; done ;;
    stop-client) kill -STOP "${pid[i]}" 2>/dev/null || true; nap 300; kill -CONT "${pid[i]}" 2>/dev/null || true ;;
    stop-coordinator) kill -STOP "$server" 2>/dev/null || true; nap 300; kill -CONT "$server" 2>/dev/null || true ;;
    term)
        kill -TERM "$server" 2>/dev/null || true
        exit_code "$server"
        [ "$code" -eq 0 ] || bad "$name: SIGTERM: exit code $code: $(tail -n 2 "$work/$name.err")"
        [ "$(field finished "$work/$name.out")" = false ] || return 1
        coordinator ;;
    cut) kill -USR1 "$proxy" 2>/dev/null || true ;;
    bad-lists)
        echo "no client $RANDOM" >"$work/revoked"
        echo "3-1" >"$work/excused"
        nap 999
        : >"$work/revoked"
        echo "# nobody" >"$work/excused" ;;
    full-disk) fill_disk || return 1 ;;
    esac
    count "$what"
}

# one_run NUMBER: a federation, disturbed until it is over
one_run() {
    local flags i
    name=run$1 killed=0
    one_of no no yes
    jumping=$one
    one_of no yes
    on_small=$one
    one_of halving gaussian
    adversary=$one
    flags=(--clients "$clients" --experts 8 --epsilon 60 --trust coordinator)
    case $((RANDOM % 3)) in
    0) flags+=(--algorithm svt --rounds 600) ;;
    1) flags+=(--algorithm hedge --rounds 600 --interval 3) ;;
    2) flags=(--algorithm stoch --clients "$clients" --experts 6 --rounds 1023 --epsilon 20 --trust nobody)
        adversary=gaussian ;;
    esac
    plan=$work/$name.yaml
    : >"$work/revoked"
    echo "# nobody" >"$work/excused"
    make_plan "$plan" "${flags[@]}"
    undisturbed "$name-reference" "$plan" "${flags[@]}"
    secure=("${tls[@]}")
    [ "$jumping" = no ] || secure=(--insecure)
    if [ "$small" = yes ] && [ "$on_small" = yes ]; then
        rm -rf "$work/full/$name"
        mkdir "$work/full/$name"
        ln -s "$work/full/$name" "$work/$name"
    fi
    # Below the ports that the system gives to those who connect: whoever dials a port where nobody listens could meet
    # itself there.
    front=$(free_port)
    behind=$(free_port)
    coordinator
    python3 "$here/proxy.py" "$front" "$behind" >"$work/$name.proxy" 2>&1 &
    proxy=$!
    until_true 20 says "$work/$name.proxy" ready || give_up "$name: no proxy: $(cat "$work/$name.proxy")"
    python3 "$here/flood.py" "$behind" "$RANDOM" 2>/dev/null &
    flood=$!
    pid=()
    for i in $(seq "$clients"); do start "$i"; done
    while alive "$server" && [ "$SECONDS" -lt $((end + 120)) ]; do
        nap 120
        disturb || true
        [ "$failures" -eq 0 ] || break
        any_alive || break
        if [ "$most" -gt 0 ] && [ $((total + killed)) -ge "$most" ]; then break; fi
        if [ "$SECONDS" -ge "$end" ]; then break; fi
    done
    for i in $(seq "$clients"); do ended "${pid[i]}" "$name: client $i" 0; done
    ended "$server" "$name: coordinator" 0
    kill "$proxy" "$flood" 2>/dev/null || true
    wait "$proxy" "$flood" 2>/dev/null || true
    same_run "$name" "$name-reference"
    total=$((total + killed)) runs=$((runs + 1))
    echo "soak: $name ($(algorithm "${flags[@]}"), $([ "$jumping" = no ] && echo TLS || echo jumping clocks), disk" \
        "$([ "$on_small" = no ] && echo large || echo small)): $killed kills, $total in all, $SECONDS s"
    if [ "$failures" -gt 0 ]; then
        echo "soak: seed $chaos, $name: $(tail -n 5 "$work/$name.err")"
        exit 1
    fi
    rm -rf "${work:?}/$name" "$work/$name-reference" "$work/$name".* "$work/$name-reference".* "${work:?}/full/$name"
}
while [ "$SECONDS" -lt "$end" ]; do
    one_run "$runs"
    if [ "$most" -gt 0 ] && [ "$total" -ge "$most" ]; then break; fi
done
for what in "${!done_so_often[@]}"; do echo "soak: $what: ${done_so_often[$what]}"; done | sort
echo "soak: SOAK_SEED=$chaos: $runs runs, $total kills, no difference"
done_with "soak"
