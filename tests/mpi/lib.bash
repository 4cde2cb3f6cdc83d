# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# What the scripts of this folder share beside those of tests/cli: ranks on this machine, and comparing without seconds.
[ -z "${CAUCUS_MPI:-}" ] || CAUCUS_MPI=$(realpath "$CAUCUS_MPI")
# shellcheck disable=SC1091
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.bash"
if [ -z "${CAUCUS_MPI:-}" ] || ! command -v mpirun >/dev/null; then
    echo "skipped: no caucus-mpi here (tools/install-deps --test)"
    exit 77
fi
# Root is who runs tests in a container, where ranks may not read each other's memory either.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none

# ranks N ARGUMENTS...: caucus-mpi as N processes.
ranks() {
    local count=$1
    shift
    mpirun --oversubscribe -n "$count" "$CAUCUS_MPI" "$@"
}

# start_ranks N ARGUMENTS...: the same in the background, with its output in out and err; mpirun is in $mpirun.
start_ranks() {
    local count=$1
    shift
    mpirun --oversubscribe -n "$count" "$CAUCUS_MPI" "$@" >out 2>err &
    mpirun=$!
    trap 'kill "$mpirun" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
}

# same WHAT A B: files or folders with the same bytes, seconds aside.
same() {
    local what=$1
    if diff -r <(without_seconds "$2") <(without_seconds "$3") >difference; then
        pass "$what"
    else
        fail "$what"
        head -n 20 difference
    fi
}
without_seconds() {
    find "$1" -type f -printf '%P\n' | LC_ALL=C sort | while read -r name; do
        echo "== $name"
        sed -E -e '/"seconds":/d' -e 's/[0-9.]+ seconds( \(|[.])|"seconds" class="number">[0-9.]+|[0-9.]+ s$//g' \
            "$1${name:+/$name}"
    done
}

# ours FILE: the lines of standard error that are ours, not mpirun's.
ours() { grep -E '^(caucus|[a-z]+[.]npy:)' "$1" || true; }

# rank_pid MPIRUN NUMBER: the process of a rank, once it is there.
rank_pid() {
    local pid
    while kill -0 "$1" 2>/dev/null; do
        for pid in $(pgrep -P "$1" || true); do
            if grep -qzxs "OMPI_COMM_WORLD_RANK=$2" "/proc/$pid/environ" &&
                [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = caucus-mpi ]; then
                echo "$pid"
                return
            fi
        done
        sleep 0.1
    done
    return 1
}

# playing DIR RANK: whether it came so far: its folder is made, and that rank (a process) listens to signals.
playing() {
    local caught
    while kill -0 "$mpirun" 2>/dev/null; do
        caught=$(sed -n 's/^SigCgt:[[:space:]]*/0x/p' "/proc/$2/status" 2>/dev/null || echo 0)
        if [ -d "$1" ] && ((caught & 1 << 14)); then return 0; fi
        sleep 0.02
    done
    return 1
}
