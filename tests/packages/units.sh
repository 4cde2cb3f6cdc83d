#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# units.sh: run by the systemd of the system that tests/packages/deb boots: a coordinator, a `caucus join` and a
# caucus-client play a run, each as a unit of its package.
exec >/out/said 2>&1
touch /out/begun
units=(caucus-serve@one caucus-join@one caucus-client@two)
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
[ "$good" -eq 3 ] && touch /out/ok || journalctl --no-pager | tail -n 40
kill -RTMIN+4 1 # power off, without asking a bus
