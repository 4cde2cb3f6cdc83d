#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The units for systemd: sound, hardened (exposure at most 2.5), and they start: a coordinator and a client play a run
# in a container that systemd boots, as users of their own, with keys that only the manager can read.
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
for name in serve join ${CAUCUS_CLIENT:+client}; do
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

"$CAUCUS" certify "$work/certs" --clients 1 >/dev/null 2>&1
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
cat >"$work/check.sh" <<'CHECK'
exec >/opt/out/said 2>&1
systemctl daemon-reload
systemctl start caucus-serve@one || true
systemctl reload caucus-serve@one || echo "no reload" # nobody has joined: the run stands
for _ in $(seq 600); do
    journalctl --no-pager -u caucus-serve@one | grep "read again: certificate" >/opt/out/reload && break
    sleep 0.1
done
systemctl start caucus-join@one || true
systemctl show -p DynamicUser -p User -p MainPID caucus-serve@one
for _ in $(seq 3000); do
    [ "$(systemctl is-active caucus-serve@one caucus-join@one | sort -u)" = inactive ] && break
    sleep 0.1
done
for unit in caucus-serve@one caucus-join@one; do
    systemctl show -p Result -p ExecMainStatus -p ActiveState "$unit" | paste -sd' '
done >/opt/out/result
stat -c '%U %a' /var/lib/private/caucus/one/state >/opt/out/state
journalctl --no-pager -u caucus-serve@one -u caucus-join@one
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
for _ in serve join; do echo "Result=success ExecMainStatus=0 ActiveState=inactive"; done >"$work/wanted"
cmp -s "$work/wanted" "$work/out/result" || bad "units: $(cat "$work/out/result") $(tail -n 30 "$work/out/said")"
[ -s "$work/out/reload" ] || bad "systemctl reload reads nothing again: $(tail -n 30 "$work/out/said")"
grep -q ' 700$' "$work/out/state" || bad "state: $(cat "$work/out/state")"
if grep -q '^root' "$work/out/state"; then bad "the state belongs to root: $(cat "$work/out/state")"; fi
[ "$failures" -eq 0 ] && echo "ok: units"
