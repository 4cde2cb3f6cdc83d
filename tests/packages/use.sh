#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# use.sh begin VERSION, use.sh end VERSION: what a person does with the packages, in the system where tests/packages/deb
# has installed them. `begin` leaves a run of two clients half way in /test/run, and files for the units in
# /etc/caucus; `end` goes on with it.
set -euo pipefail
part=$1 version=$2 run=/test/run
fail() { echo "not ok: $*"; exit 1; }
# until_true SECONDS COMMAND...: whether it came true in that time
until_true() {
    local tries=$(($1 * 10)) _
    shift
    for _ in $(seq "$tries"); do
        if "$@"; then return 0; fi
        sleep 0.1
    done
    return 1
}
says() { grep -qsF -- "$2" "$1"; }
serve() { # serve NAME: the coordinator of the run; sets server, port
    caucus serve --plan $run/plan.yaml --state $run/state --listen 127.0.0.1:0 --cert $run/certs/coordinator.pem \
        --key $run/certs/coordinator.key --client-ca $run/certs/ca.pem --seed 3 >"$run/$1.out" 2>"$run/$1.err" &
    server=$!
    until_true 60 says "$run/$1.out" "listening on" || fail "serve: $(cat "$run/$1.err")"
    port=$(sed -n 's/^listening on 127.0.0.1:\([0-9]*\)$/\1/p' "$run/$1.out")
}
join() { # join PROGRAM CLIENT ROUNDS FILE: in the background, with the losses up to a round; sets client
    local program=$1 number=$2 rounds=$3 file=$4
    head -n "$rounds" $run/losses >"$run/$file.losses"
    # shellcheck disable=SC2086 # "caucus join" is two words
    $program --plan $run/plan.yaml --connect "127.0.0.1:$port" --cert "$run/certs/client-$number.pem" \
        --key "$run/certs/client-$number.key" --ca $run/certs/ca.pem --seed 3 --replay \
        --state "$run/$number.state" <"$run/$file.losses" >"$run/$file.out" 2>"$run/$file.err" &
    client=$!
}

if [ "$part" = end ]; then
    serve second
    join "caucus join" 1 128 one-b && one=$client
    join caucus-client 2 128 two-b && two=$client
    for pid in $one $two $server; do wait "$pid" || fail "exit code $?: $(tail -n 3 $run/*.err)"; done
    for client in one two; do
        says $run/$client-b.err "going on at round 65" || fail "$client: $(cat $run/$client-b.err)"
        grep -v ' replay=' $run/$client-b.out | cat <(head -n 64 $run/$client-a.out) - >$run/$client.out
    done
    [ "$(wc -l <$run/two.out)" -eq 128 ] || fail "client 2 played $(wc -l <$run/two.out) rounds"
    cmp -s $run/one.out $run/two.out || fail "two clients were told different experts"
    [ "$(sort -u $run/one.out | wc -l)" -ge 3 ] || fail "fewer than three experts: it shows little"
    echo "the run went on at round 65 and ended"
    exit 0
fi

[ "$(caucus --version)" = "caucus $version" ] || fail "caucus --version"
[ "$(caucus-client --version)" = "caucus-client $version" ] || fail "caucus-client --version"
[ "$(caucus-mpi --version)" = "caucus $version" ] || fail "caucus-mpi --version"
for verb in $(caucus --help | sed -n 's/^  .\{12\}  \([a-z]*\) .*/\1/p'); do
    [ "$verb" = version ] || [ -s "/usr/share/man/man1/caucus-$verb.1.gz" ] || fail "no manual page of $verb"
done
for program in caucus caucus-client caucus-mpi; do
    [ -s /usr/share/man/man1/$program.1.gz ] || fail "no manual page of $program"
    bash -c 'source /usr/share/bash-completion/completions/'$program' && complete -p '$program >/dev/null ||
        fail "bash does not complete $program"
    [ -s /usr/share/zsh/vendor-completions/_$program ] || fail "zsh has nothing for $program"
    [ -s /usr/share/fish/vendor_completions.d/$program.fish ] || fail "fish has nothing for $program"
done
for page in OPERATIONS RUNTIME; do
    [ -s "/usr/share/doc/caucus/docs/$page.md" ] || fail "no documentation: $page.md"
done
bash /test/links.sh /usr/share/doc/caucus /usr/include || fail "links of the installed pages"
caucus simulate /usr/share/doc/caucus/experiments/figure2.yaml --trials 1 --rounds 64 >/dev/null 2>&1 ||
    fail "an installed experiment"
caucus-mpi simulate --rounds 64 --trials 2 --trust coordinator >/dev/null 2>&1 || fail "caucus-mpi simulate"

# The libraries, by the shared and by the static way.
cd /test
cp /usr/share/doc/caucus/examples/pick_privately.c .
# shellcheck disable=SC2046
gcc -Wall -Werror -o shared pick_privately.c $(pkg-config --cflags --libs caucus)
# shellcheck disable=SC2046
gcc -static -o static pick_privately.c $(pkg-config --cflags --libs --static caucus)
./shared --seed 7 >shared.txt
./static --seed 7 | cmp -s - shared.txt || fail "shared and static differ"
for library in caucus caucus-link caucus-sim; do
    # shellcheck disable=SC2046
    echo 'int main(void) { return 0; }' | gcc -x c -o any - $(pkg-config --cflags --libs $library) || fail "$library"
done

# A run over TLS, half way.
mkdir -p $run /etc/caucus/one
caucus certify $run/certs --clients 2 >/dev/null 2>&1
caucus plan --algorithm svt --clients 2 --experts 16 --rounds 128 --epsilon 60 --trust coordinator \
    --write $run/plan.yaml >/dev/null 2>&1
awk 'BEGIN { for (t = 0; t < 128; t++) for (e = 0; e < 16; e++)
    printf("%d%s", (e != 11 && t >= 6 * ((e * 5) % 16)), (e < 15 ? "," : "\n")) }' >$run/losses
serve first
join "caucus join" 1 64 one-a && one=$client
join caucus-client 2 64 two-a && two=$client
for pid in $one $two; do wait "$pid" && fail "a client ended well in the middle of the run"; done
kill "$server"
wait "$server" || fail "the coordinator, stopped in the middle of a run: exit code $?"
says $run/two-a.err "standard input ended after round 64 of 128" || fail "client 2: $(cat $run/two-a.err)"

# What the units find.
caucus plan --algorithm svt --clients 2 --experts 3 --rounds 24 --epsilon 60 --trust coordinator \
    --write /etc/caucus/one/plan.yaml >/dev/null 2>&1
cp $run/certs/coordinator.pem $run/certs/coordinator.key $run/certs/ca.pem /etc/caucus/one/
printf '%s\n' 'plan: /etc/caucus/one/plan.yaml' 'listen: 127.0.0.1:7400' 'seed: 3' >/etc/caucus/one/serve.yaml
for i in 1 2; do
    instance=/etc/caucus/one
    [ "$i" -eq 1 ] || { instance=/etc/caucus/two && mkdir -p $instance && cp $run/certs/ca.pem $instance/; }
    cp $run/certs/client-$i.pem $instance/client.pem
    cp $run/certs/client-$i.key $instance/client.key
    printf '%s\n' 'plan: /etc/caucus/one/plan.yaml' 'connect: 127.0.0.1:7400' 'adversary: halving' 'seed: 3' \
        >$instance/join.yaml
done
# A third run goes through a relay, with a broker of its own. The coordinator's keys for relays come by a drop-in, as
# docs/OPERATIONS.md has it.
three=/etc/caucus/three
mkdir -p $three /etc/caucus/nats /etc/systemd/system/caucus-serve@three.service.d
caucus certify $run/relayed --clients 1 --relays 1 >/dev/null 2>&1
caucus plan --algorithm svt --clients 1 --experts 3 --rounds 24 --epsilon 60 --trust coordinator \
    --write $three/plan.yaml >/dev/null 2>&1
cp $run/relayed/nats.* /etc/caucus/nats/
cp $run/relayed/coordinator.* $run/relayed/ca.pem $run/relayed/relays.list $three/
for kind in pem key nkey secret; do cp $run/relayed/relay-1.$kind $three/relay.$kind; done
for kind in pem key; do cp $run/relayed/client-1.$kind $three/client.$kind; done
printf '%s\n' '[Service]' 'LoadCredential=coordinator.nkey:/etc/caucus/%i/coordinator.nkey' \
    'LoadCredential=coordinator.secret:/etc/caucus/%i/coordinator.secret' \
    >/etc/systemd/system/caucus-serve@three.service.d/relays.conf
broker=('nats: tls://127.0.0.1:4222' "nats-ca: $three/ca.pem" "plan: $three/plan.yaml")
keys=/run/credentials/caucus-serve@three.service
printf '%s\n' "${broker[@]}" 'listen: 127.0.0.1:7500' 'seed: 3' "nats-key: $keys/coordinator.nkey" \
    "relays: $three/relays.list" "relay-key: $keys/coordinator.secret" >$three/serve.yaml
printf '%s\n' "${broker[@]}" 'listen: 127.0.0.1:7501' 'number: 1' "coordinator: $three/coordinator.public" \
    >$three/relay.yaml
printf '%s\n' "plan: $three/plan.yaml" 'connect: 127.0.0.1:7501' 'adversary: halving' 'seed: 3' >$three/join.yaml
chmod 755 /etc/caucus /etc/caucus/*
chmod 644 /etc/caucus/*/*.yaml
cat >/etc/systemd/system/caucus-check.service <<'UNIT'
[Unit]
Description=start the units and look at them
[Service]
Type=oneshot
ExecStart=/bin/bash /test/units.sh
UNIT
