# SPDX-License-Identifier: Apache-2.0
# Sourced by every bash of a test (BASH_ENV) in a build that is slower than usual: what is given N seconds is given
# N times CAUCUS_PATIENCE. Limits in tests are there to end what hangs, not to measure anything.
if [ "${CAUCUS_PATIENCE:-1}" -gt 1 ]; then
    timeout() {
        case $1 in
        *[!0-9]*) command timeout "$@" ;;
        *) command timeout "$(($1 * CAUCUS_PATIENCE))" "${@:2}" ;;
        esac
    }
fi
