#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ports for coordinators that are killed and started again; sourced, not run.
#
# A port that the system gives (port 0) is free again when its coordinator is dead, and the system may give it to a
# coordinator of another test before this one is started anew: then that start fails, or clients meet a stranger. So
# ports come from below those that the system gives (ip_local_port_range), 1,024 of them, and each is kept by a lock on
# a file while any process of the test lives.
own_port() { # sets free_port
    local last fd locks=/tmp/caucus-ports.$UID
    mkdir -p "$locks"
    read -r last _ </proc/sys/net/ipv4/ip_local_port_range
    [ "$last" -gt 4096 ] || last=32768
    for _ in $(seq 500); do
        free_port=$((last - 1 - SRANDOM % 1024))
        exec {fd}>"$locks/$free_port"
        # Locked by this test, and no other program of this machine listens there.
        if flock -n "$fd" && ! (: <>"/dev/tcp/127.0.0.1/$free_port") 2>/dev/null; then return 0; fi
        exec {fd}>&-
    done
    echo "not ok: no port is free"
    return 1
}
