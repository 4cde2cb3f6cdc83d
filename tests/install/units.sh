#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The units for systemd: sound, hardened (exposure at most 2.5), and they start: a coordinator, a relay (where relays
# are built, and nats-server is there) and a client play a run in a container that systemd boots, as users of their own,
# with keys that only the manager can read.
set -euo pipefail
: "${CAUCUS:?path of the program}" "${CAUCUS_BUILD:?build directory}"
if ! command -v systemd-analyze >/dev/null; then
    echo "skipped: no systemd-analyze on this machine"
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/caucus-units.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
bad() { echo "not ok: $*"; failures=$((failures + 1)); }
chmod 755 "$work"
mkdir "$work/units" "$work/out" "$work/etc" "$work/etc/one"
relay=
[ ! -e "$CAUCUS_BUILD/caucus-relay@.service" ] || relay=relay
for name in serve join $relay ${CAUCUS_CLIENT:+client}; do
    sed 's#^ExecStart=[^ ]*#ExecStart=/opt/caucus#' "$CAUCUS_BUILD/caucus-$name@.service" \
        >"$work/units/caucus-$name@.service"
    sed 's#^ExecStart=[^ ]*#ExecStart=/usr/bin/true#' "$CAUCUS_BUILD/caucus-$name@.service" \
        >"$work/caucus-$name@one.service"
    systemd-analyze verify --man=no "$work/caucus-$name@one.service" >"$work/verify" 2>&1 ||
        bad "$name: $(cat "$work/verify")"
    systemd-analyze security --offline=true --threshold=25 "$work/caucus-$name@one.service" >"$work/security" 2>&1 ||
        bad "$name: $(tail -n 1 "$work/security")"
    echo "$name: $(tail -n 1 "$work/security" | grep -o 'exposure.*')"
    for word in DynamicUser=yes LoadCredential= StartLimitIntervalSec=0 Restart=on-failure \
        'RestartPreventExitStatus=2 3' "ExecReload=/bin/kill -HUP \$MAINPID"; do
        grep -q "^$word" "$work/units/caucus-$name@.service" || bad "$name: no $word"
    done
done
[ "$failures" -eq 0 ] || exit 1
if [ "$(id -u)" -ne 0 ] || ! command -v systemd-nspawn >/dev/null; then
    echo "skipped: units are sound; starting them needs root and systemd-nspawn (package systemd-container)"
    exit 77
fi

PATH=$PATH:/usr/sbin command -v nats-server >/dev/null || relay=
units=(caucus-serve@one ${relay:+caucus-relay@one} caucus-join@one)
"$CAUCUS" certify "$work/certs" --clients 1 --relays 1 >/dev/null 2>&1
"$CAUCUS" plan --algorithm svt --clients 1 --experts 3 --rounds 24 --epsilon 60 --trust coordinator \
    --write "$work/etc/one/plan.yaml" >/dev/null 2>&1
cp "$work/certs/coordinator.pem" "$work/certs/coordinator.key" "$work/certs/ca.pem" "$work/etc/one/"
cp "$work/certs/client-1.pem" "$work/etc/one/client.pem"
cp "$work/certs/client-1.key" "$work/etc/one/client.key"
cat >"$work/etc/one/serve.yaml" <<'YAML'
plan: /etc/caucus/one/plan.yaml
listen: 127.0.0.1:7400
revoked: /etc/caucus/one/revoked
seed: 3
YAML
cat >"$work/etc/one/join.yaml" <<'YAML'
plan: /etc/caucus/one/plan.yaml
connect: 127.0.0.1:7400
adversary: halving
seed: 3
YAML
if [ -n "$relay" ]; then
    # The coordinator's keys for relays come by a drop-in, as docs/OPERATIONS.md has it.
    cp "$work"/certs/coordinator.{nkey,secret,public} "$work/certs/relays.list" "$work/etc/one/"
    for kind in pem key nkey secret; do cp "$work/certs/relay-1.$kind" "$work/etc/one/relay.$kind"; done
    mkdir "$work/etc/nats" "$work/units/caucus-serve@.service.d"
    cp "$work"/certs/nats.* "$work/etc/nats/"
    printf '%s\n' '[Service]' 'LoadCredential=coordinator.nkey:/etc/caucus/%i/coordinator.nkey' \
        'LoadCredential=coordinator.secret:/etc/caucus/%i/coordinator.secret' \
        >"$work/units/caucus-serve@.service.d/relays.conf"
    cat >>"$work/etc/one/serve.yaml" <<'YAML'
nats: tls://127.0.0.1:4222
nats-ca: /etc/caucus/one/ca.pem
nats-key: /run/credentials/caucus-serve@one.service/coordinator.nkey
relays: /etc/caucus/one/relays.list
relay-key: /run/credentials/caucus-serve@one.service/coordinator.secret
YAML
    cat >"$work/etc/one/relay.yaml" <<'YAML'
plan: /etc/caucus/one/plan.yaml
number: 1
listen: 127.0.0.1:7401
nats: tls://127.0.0.1:4222
nats-ca: /etc/caucus/one/ca.pem
coordinator: /etc/caucus/one/coordinator.public
YAML
    sed -i 's/^connect: .*/connect: 127.0.0.1:7401/' "$work/etc/one/join.yaml"
fi
echo "# nobody" >"$work/etc/one/revoked"
chmod 644 "$work/etc/one/revoked"
chmod 755 "$work/etc" "$work/etc/one"
chmod 644 "$work"/etc/one/*.yaml
ln -s /dev/null "$work/units/systemd-networkd-wait-online.service" # there is no network to wait for
cat >"$work/units/check.service" <<'UNIT'
[Unit]
Description=start the units and look at them
[Service]
Type=oneshot
ExecStart=/bin/bash /opt/check.sh
UNIT
cat >"$work/check.sh" <<CHECK
units=(${units[*]})
CHECK
cat >>"$work/check.sh" <<'CHECK'
exec >/opt/out/said 2>&1
systemctl daemon-reload
[ ! -e /etc/caucus/nats ] || (cd /etc/caucus/nats && exec nats-server -c nats.conf) &
systemctl start caucus-serve@one || true
systemctl reload caucus-serve@one || echo "no reload" # nobody has joined: the run stands
for _ in $(seq 600); do
    journalctl --no-pager -u caucus-serve@one | grep "read again: certificate" >/opt/out/reload && break
    sleep 0.1
done
for unit in "${units[@]:1}"; do systemctl start "$unit" || true; done
systemctl show -p DynamicUser -p User -p MainPID caucus-serve@one
for _ in $(seq 3000); do
    [ "$(systemctl is-active "${units[@]}" | sort -u)" = inactive ] && break
    sleep 0.1
done
for unit in "${units[@]}"; do
    systemctl show -p Result -p ExecMainStatus -p ActiveState "$unit" | paste -sd' '
done >/opt/out/result
stat -c '%U %a' /var/lib/private/caucus/one/state >/opt/out/state
journalctl --no-pager "${units[@]/#/--unit=}" | tee /opt/out/journal
touch /opt/out/done
systemctl --no-block poweroff
CHECK
timeout 400 systemd-nspawn -q --register=no --keep-unit --directory=/ --volatile=yes --private-network \
    --bind-ro="$(realpath "$CAUCUS")":/opt/caucus --bind-ro="$work/etc":/etc/caucus --bind="$work/out":/opt/out \
    --bind-ro="$work/check.sh":/opt/check.sh \
    --bind-ro="$work/units":/run/systemd/system --boot systemd.firstboot=off systemd.unit=check.service \
    >"$work/console" 2>&1 </dev/null || true
if [ ! -e "$work/out/said" ]; then
    echo "skipped: units are sound; systemd-nspawn does not boot here: $(tail -n 3 "$work/console")"
    exit 77
fi
[ -e "$work/out/done" ] || bad "the container did not get to its end: $(tail -n 20 "$work/out/said")"
for _ in "${units[@]}"; do echo "Result=success ExecMainStatus=0 ActiveState=inactive"; done >"$work/wanted"
cmp -s "$work/wanted" "$work/out/result" || bad "units: $(cat "$work/out/result") $(tail -n 30 "$work/out/said")"
[ -s "$work/out/reload" ] || bad "systemctl reload reads nothing again: $(tail -n 30 "$work/out/said")"
grep -q ' 700$' "$work/out/state" || bad "state: $(cat "$work/out/state")"
if grep -q '^root' "$work/out/state"; then bad "the state belongs to root: $(cat "$work/out/state")"; fi
[ -z "$relay" ] || grep -qE '[1-9][0-9]* partials sent, [1-9][0-9]* accepted' "$work/out/journal" ||
    bad "the relay has carried no report: $(tail -n 30 "$work/out/said")"
[ "$failures" -eq 0 ] && echo "ok: units: ${units[*]}"
