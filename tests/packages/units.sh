#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# units.sh: run by the systemd of the system that tests/packages/deb boots: a coordinator, a `caucus join` and a
# caucus-client play a run, each as a unit of its package; and a coordinator, a relay and a `caucus join` another one,
# over a nats-server. That relay is started before its broker, too: it says what it waits for.
exec >/out/said 2>&1
touch /out/begun
units=(caucus-serve@one caucus-join@one caucus-client@two caucus-serve@three caucus-relay@three caucus-join@three)
systemctl start caucus-relay@three || echo "not started: caucus-relay@three"
alone=
for _ in $(seq 300); do
    journalctl --no-pager -u caucus-relay@three | grep -F 'NATS cannot be reached' && alone=yes && break
    sleep 0.1
done
(cd /etc/caucus/nats && exec nats-server -c nats.conf) &
for unit in "${units[@]}"; do systemctl start "$unit" || echo "not started: $unit"; done
for _ in $(seq 3000); do
    [ "$(systemctl is-active "${units[@]}" | sort -u)" = inactive ] && break
    sleep 0.1
done
good=0
for unit in "${units[@]}"; do
    result=$(systemctl show -p Result -p ExecMainStatus -p ActiveState "$unit" | paste -sd' ')
    echo "$unit: $result"
    [ "$result" = "Result=success ExecMainStatus=0 ActiveState=inactive" ] && good=$((good + 1))
done
journalctl --no-pager -u caucus-relay@three | grep -E '[1-9][0-9]* partials sent, [1-9][0-9]* accepted' || good=0
[ "$good" -eq ${#units[@]} ] && [ -n "$alone" ] && touch /out/ok || journalctl --no-pager | tail -n 60
kill -RTMIN+4 1 # power off, without asking a bus
