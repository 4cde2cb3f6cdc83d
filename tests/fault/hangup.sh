#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGHUP kills nobody: the coordinator and its clients read their certificates again, in the middle of a run, with new
# ones and with bad ones in place, and the run is what it would have been.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
seed=24 adversary=halving clients=3 security=(--insecure)
flags=(--algorithm svt --clients 3 --experts 8 --rounds 24 --epsilon 60 --trust coordinator)
plan=$work/plan.yaml
make_plan "$plan" "${flags[@]}"
undisturbed reference "$plan" "${flags[@]}"

# Nor while its options are being read from a file: the signal comes when that is opened. What is in it is read, and
# found wrong, which is no signal's exit code.
if ! nm -D "$CAUCUS" 2>/dev/null | grep -c 'asan\|tsan' >/dev/null; then # they do not like a library before them
    "${CC:-cc}" -shared -fPIC -O1 -o "$work/hangup.so" "$(dirname "$0")/hangup_at_open.c" -ldl ||
        give_up "cannot build what sends the signal"
    printf 'plan: %s\nstate: %s\n' "$work/nothing.yaml" "$work/nothing" >"$work/config.yaml"
    for verb in serve join; do
        LD_PRELOAD=$work/hangup.so HANGUP_AT=$work/config.yaml wrong 2 "caucus $verb: " \
            "$CAUCUS" "$verb" --config "$work/config.yaml"
    done
fi

mkdir "$work/ca"
key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
openssl req -x509 "${key[@]}" -keyout "$work/ca/ca.key" -out "$work/ca/ca.pem" -subj "/CN=hangup test" -days 2 \
    2>/dev/null
issue() { # issue NAME COMMON SERIAL USAGE: a new pair in the place of an older one
    openssl req -new "${key[@]}" -keyout "$work/ca/new.key" -out "$work/ca/$1.csr" -subj "/CN=$2" 2>/dev/null
    printf 'extendedKeyUsage=%s\nsubjectAltName=IP:127.0.0.1\n' "$4" >"$work/ca/$1.ext"
    openssl x509 -req -in "$work/ca/$1.csr" -CA "$work/ca/ca.pem" -CAkey "$work/ca/ca.key" -set_serial "$3" -days 2 \
        -extfile "$work/ca/$1.ext" -out "$work/ca/new.pem" 2>"$work/ca/err" || give_up "openssl: $(cat "$work/ca/err")"
    mv "$work/ca/new.key" "$work/ca/$1.key"
    mv "$work/ca/new.pem" "$work/ca/$1.pem"
}
issue coordinator coordinator 0x10 serverAuth
for i in 1 2 3; do issue "$i" "$i" "0xa$i" clientAuth; done
: >"$work/revoked"
start_coordinator run "$plan" 0 --cert "$work/ca/coordinator.pem" --key "$work/ca/coordinator.key" \
    --client-ca "$work/ca/ca.pem" --revoked "$work/revoked" --http 127.0.0.1:0
pids=()
for i in 1 2; do
    start_client run "$plan" "$port" "$i" --cert "$work/ca/$i.pem" --key "$work/ca/$i.key" --ca "$work/ca/ca.pem"
    pids+=("$client")
done
until_true 20 has_lines "$work/run.1.1.err" 1 || bad "client 1 does not start"
is_there() { # is_there N: so many clients are connected
    python3 - "http://127.0.0.1:$(field http_port "$work/run.out")/api/v1/status" "$1" <<'PY'
import json, sys, urllib.request
sys.exit(json.load(urllib.request.urlopen(sys.argv[1], timeout=10))["present"] != int(sys.argv[2]))
PY
}
until_true 20 is_there 2 || bad "two clients are not connected"

# New certificates for all three, and each is told; who is connected may stay, and the clients come again by themselves.
issue coordinator coordinator 0x20 serverAuth
for i in 1 2; do issue "$i" "$i" "0xb$i" clientAuth; done
kill -HUP "$server" "${pids[@]}"
until_true 20 says "$work/run.err" "read again: certificate (it expires " || bad "not said: $(cat "$work/run.err")"
for i in 1 2; do
    until_true 20 says "$work/run.$i.1.err" "certificates were read again" ||
        bad "client $i: $(cat "$work/run.$i.1.err")"
done
until_true 20 is_there 2 || bad "two clients have not come back"
openssl s_client -connect "127.0.0.1:$port" </dev/null >"$work/seen" 2>/dev/null || true # it has no certificate
seen=$(openssl x509 -noout -serial <"$work/seen")
[ "$seen" = serial=20 ] || bad "newcomers see $seen"
# The new ones are in use: who has been revoked by the number of its old one is not sent away.
printf 'a1\na2\n' >"$work/revoked"
kill -HUP "$server"
echo "ok: new certificates"

# Bad ones change nothing.
for i in coordinator 1; do
    cp "$work/ca/$i.pem" "$work/ca/$i.kept"
    echo nonsense >"$work/ca/$i.pem"
done
kill -HUP "$server" "${pids[0]}"
until_true 20 says "$work/run.err" "not read again: --cert $work/ca/coordinator.pem" ||
    bad "a bad certificate is not said"
until_true 20 says "$work/run.1.1.err" "not read again: --cert $work/ca/1.pem" || bad "client 1 does not say it"
cp "$work/ca/2.pem" "$work/ca/1.pem" # another client's
cp -p "$work/ca/1.key" "$work/ca/1.own"
cp -p "$work/ca/2.key" "$work/ca/1.key"
kill -HUP "${pids[0]}"
until_true 20 says "$work/run.1.1.err" "is another client's now" || bad "client 1 becomes client 2"
echo "ok: bad certificates"

start_client run "$plan" "$port" 3 --cert "$work/ca/3.pem" --key "$work/ca/3.key" --ca "$work/ca/ca.pem"
for i in "${pids[@]}" "$client" "$server"; do ended "$i" "the run" 0; done
same_run run reference
done_with hangup
