#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# postgres.bash DIR [SETTING ...]: a PostgreSQL cluster of a test's own in DIR, on a socket in DIR and nowhere else, for
# as long as standard input is open: if the test dies, the cluster ends with it. Role and database are both `caucus`.
# With CLUSTER_OF=FOLDER it is a standby instead, of the cluster in that folder, which is running; its cluster_name, and
# so the name that it streams under, is that of DIR.
# As root it runs under the user `postgres` or `nobody`, since PostgreSQL refuses root.
# Each line on standard input is a command, answered by one line: start, kill (-9, all of it), stop;
# and end, which is not answered.
# At the beginning it is started, and "ready" is printed. Exit code 77: PostgreSQL is not installed.
set -euo pipefail
dir=$1
shift
bin=$(find /usr/lib/postgresql/*/bin -maxdepth 0 2>/dev/null | sort -V | tail -1)
[ -n "$bin" ] || bin=$(dirname "$(command -v postgres || echo /nowhere/x)")
[ -x "$bin/initdb" ] || { echo "no initdb"; exit 77; }

as=()
if [ "$(id -u)" -eq 0 ]; then
    user=$(id -un postgres 2>/dev/null || echo nobody)
    as=(setpriv "--reuid=$user" "--regid=$(id -g "$user")" --clear-groups)
    chmod 755 "$dir"
    chown "$user" "$dir"
fi
data=$dir/data
patience=${CAUCUS_PATIENCE:-1}

start() {
    (cd "$dir" && exec "${as[@]}" "$bin/postgres" -D "$data" </dev/null >>"$dir/log" 2>&1) &
    postmaster=$!
    for _ in $(seq $((600 * patience))); do
        "$bin/pg_isready" -q -h "$dir" -U caucus -d postgres && return 0
        kill -0 "$postmaster" 2>/dev/null || break
        sleep 0.05
    done
    echo "the cluster does not start:" >&2
    tail -5 "$dir/log" >&2
    return 1
}
# With KILL the children go with it, and are waited for: the next start finds the memory that they share in use else.
end() {
    local signal=$1 children=() child
    if [ "$signal" = KILL ]; then
        kill -STOP "$postmaster"
        mapfile -t children < <(pgrep -P "$postmaster")
        kill -KILL "${children[@]}" || true
    fi
    kill "-$signal" "$postmaster" 2>/dev/null || true
    wait "$postmaster" 2>/dev/null || true
    for child in "${children[@]}"; do
        for _ in $(seq $((600 * patience))); do kill -0 "$child" 2>/dev/null || break; sleep 0.05; done
    done
}

postmaster=
trap 'if [ -n "$postmaster" ]; then end QUIT; fi' EXIT
if [ ! -d "$data" ] && [ -n "${CLUSTER_OF:-}" ]; then
    (cd "$dir" && "${as[@]}" "$bin/pg_basebackup" -D "$data" -R -h "$CLUSTER_OF" -U caucus --checkpoint=fast \
        --wal-method=stream --no-sync >>"$dir/log" 2>&1)
    {
        echo "unix_socket_directories = '$dir'"
        echo "cluster_name = '$(basename "$dir")'"
        printf '%s\n' "$@"
    } >>"$data/postgresql.conf"
    start
elif [ ! -d "$data" ]; then
    (cd "$dir" && "${as[@]}" "$bin/initdb" -D "$data" -U caucus -A trust --no-sync --locale=C -E UTF8 >>"$dir/log" 2>&1)
    {
        echo "listen_addresses = ''"
        echo "unix_socket_directories = '$dir'"
        echo "shared_buffers = 8MB"
        echo "max_connections = 40"
        echo "autovacuum = off"
        echo "cluster_name = '$(basename "$dir")'"
        printf '%s\n' "$@"
    } >>"$data/postgresql.conf"
    start
    "$bin/createdb" -h "$dir" -U caucus caucus
else
    start
fi
echo ready
while read -r command; do
    case $command in
        start) start ;;
        kill) end KILL ;;
        stop) end QUIT ;;
        end) exit 0 ;;
        *) echo "no such command: $command" >&2; exit 2 ;;
    esac
    echo "done"
done
