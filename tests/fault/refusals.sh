#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who and what is refused, with the real programs and certificates made by openssl; honest clients are not disturbed
# by any of it.
# shellcheck disable=SC1091,SC2034,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"
: "${CAUCUS_SOURCE:?source directory}"
seed=24 adversary=halving clients=3 security=(--insecure)
flags=(--algorithm svt --clients 3 --experts 8 --rounds 24 --epsilon 60 --trust coordinator)
plan=$work/plan.yaml
make_plan "$plan" "${flags[@]}"
make_plan "$work/other.yaml" "${flags[@]}" --rho 0.1
undisturbed reference "$plan" "${flags[@]}"
hash_of() { sed -n 's/.*"plan": "\([0-9a-f]*\)".*/\1/p' "$1"; }
hash=$(hash_of "$work/reference.out")

# ---- certificates ----
mkdir "$work/ca"
key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
openssl req -x509 "${key[@]}" -keyout "$work/ca/ca.key" -out "$work/ca/ca.pem" -subj "/CN=fault test" -days 2 \
    2>/dev/null
issue() { # issue NAME COMMON DAYS SERIAL USAGE
    openssl req -new "${key[@]}" -keyout "$work/ca/$1.key" -out "$work/ca/$1.csr" -subj "/CN=$2" 2>/dev/null
    printf 'basicConstraints=CA:FALSE\nextendedKeyUsage=%s\nsubjectAltName=IP:127.0.0.1,DNS:localhost\n' "$5" \
        >"$work/ca/$1.ext"
    openssl x509 -req -in "$work/ca/$1.csr" -CA "$work/ca/ca.pem" -CAkey "$work/ca/ca.key" -set_serial "$4" -days "$3" \
        -extfile "$work/ca/$1.ext" -out "$work/ca/$1.pem" 2>"$work/ca/err" || give_up "openssl: $(cat "$work/ca/err")"
}
issue coordinator coordinator 2 0x10 serverAuth
for i in 1 2 3; do issue "$i" "$i" 2 "0xabc$i" clientAuth; done
issue expired 1 -1 0x21 clientAuth
issue past coordinator -1 0x11 serverAuth
issue named somebody 2 0x22 clientAuth
issue zero 0 2 0x23 clientAuth
issue four 4 2 0x24 clientAuth
issue server 1 2 0x25 serverAuth
openssl req -x509 "${key[@]}" -keyout "$work/ca/self.key" -out "$work/ca/self.pem" -subj "/CN=1" -days 2 2>/dev/null
"$CAUCUS" certify "$work/others" --clients 3 >/dev/null 2>&1

: >"$work/revoked"
start_coordinator run "$plan" 0 --cert "$work/ca/coordinator.pem" --key "$work/ca/coordinator.key" \
    --client-ca "$work/ca/ca.pem" \
    --revoked "$work/revoked" --http 127.0.0.1:0 --quorum 3 # nobody waits for the revoked: the run begins with all
fixed=$port
as() { # as NAME: sets cmd
    cmd=("$CAUCUS" join --connect "127.0.0.1:$fixed" --plan "$plan" --adversary halving --seed 24 --give-up 5 \
        --cert "$work/ca/$1.pem"
        --key "$work/ca/$1.key" --ca "$work/ca/ca.pem")
}
as expired
wrong 3 "does not accept this client's certificate" "${cmd[@]}"
for name in self server; do
    as $name
    wrong 2 "its extended key usage must contain clientAuth" "${cmd[@]}"
done
chmod 644 "$work/ca/1.key"
as 1
wrong 2 "chmod 600 $work/ca/1.key" "${cmd[@]}"
chmod 600 "$work/ca/1.key"
cp "$work/others/client-1.pem" "$work/ca/foreign.pem"
cp "$work/others/client-1.key" "$work/ca/foreign.key"
as foreign
wrong 3 "does not accept this client's certificate" "${cmd[@]}"
as named
wrong 2 "its common name is not a client's number" "${cmd[@]}"
as zero
wrong 2 "its common name is not a client's number" "${cmd[@]}"
as four
wrong 2 "4" "${cmd[@]}"
# A coordinator that is not believed is not the client's fault: it is tried again.
cmd=("$CAUCUS" join --connect "127.0.0.1:$fixed" --plan "$plan" --adversary halving --seed 24 --cert "$work/ca/1.pem" \
    --key "$work/ca/1.key" --give-up 3
    --ca "$work/others/ca.pem")
wrong 1 "TLS: certificate: self-signed certificate in certificate chain" "${cmd[@]}"
wrong 1 "no coordinator at 127.0.0.1:$fixed" "$CAUCUS" join --connect "127.0.0.1:$fixed" --plan "$plan" \
    --insecure --client 1 \
    --adversary halving --seed 24 --give-up 0.5
peer() { # peer CERTIFICATE CLIENT HASH
    cmd=(python3 "$CAUCUS_SOURCE/tests/e2e/peer.py" --connect "127.0.0.1:$fixed" --ca "$work/ca/ca.pem" \
        --cert "$work/ca/$1.pem"
        --key "$work/ca/$1.key" --plan "$plan" --plan-hash "$3" --client "$2" --function 0 --timeout 60)
}
peer 2 1 "$hash" # client 2's certificate, saying that it is client 1
wrong 1 "refused: code 3" "${cmd[@]}"
peer four 4 "$hash" # signed, and not of this plan
wrong 1 "refused: code 3" "${cmd[@]}"
peer 1 1 "$(printf '0%.0s' {1..64})"
wrong 1 "refused: code 2" "${cmd[@]}"
cmd=("$CAUCUS" join --connect "127.0.0.1:$fixed" --plan "$work/other.yaml" --adversary halving --seed 24 \
    --cert "$work/ca/1.pem" --key "$work/ca/1.key"
    --ca "$work/ca/ca.pem")
wrong 3 "the plan here is ${hash:0:8}" "${cmd[@]}"
echo "ok: certificates and plans"

# The list of the revoked is read again when it changes: by index, by serial number, however short (openssl shows this
# one as 0ABC2).
echo "1 # lost" >"$work/revoked"
as 1
wrong 3 "revoked" "${cmd[@]}"
for serial in abc2 0ABC2 0x00abc2 0a:bc:2; do
    echo "$serial" >"$work/revoked"
    as 2
    wrong 3 "revoked" "${cmd[@]}"
done
as 3 # not on the list: taken, and so it waits
"${cmd[@]}" >/dev/null 2>"$work/wrong.err" </dev/null &
client=$!
until_true 20 says "$work/run.err" "client 3 is here" || bad "client 3 is not revoked: $(cat "$work/wrong.err")"
kill -9 "$client"
exit_code "$client"

# One bad line is the fault of who keeps the list: the last good one stays in force, and the others come again.
echo 2 >"$work/revoked"
as 2
wrong 3 "revoked" "${cmd[@]}"
printf '2\nclient 1 has left us\n' >"$work/revoked"
wrong 3 "revoked" "${cmd[@]}"
as 1
wrong 1 "the list of the revoked cannot be read here: come again later" "${cmd[@]}"
get() { # get PATH: its code, and what it says
    python3 - "http://127.0.0.1:$(field http_port "$work/run.out")$1" <<'PY'
import sys, urllib.error, urllib.request
try:
    answer = urllib.request.urlopen(sys.argv[1], timeout=10)
except urllib.error.HTTPError as error:
    answer = error
print(answer.code, answer.read().decode())
PY
}
until_true 20 says "$work/run.err" "the list of the revoked cannot be read: $work/revoked:2: 'client 1 has left us'" ||
    bad "a bad line is not in the log: $(cat "$work/run.err")"
get /metrics >"$work/page"
grep -qx 'caucus_revoked_list_broken 1' "$work/page" || bad "a bad line is not among the metrics"
get /healthz >"$work/page"
grep -q '^503 the list of the revoked cannot be read' "$work/page" ||
    bad "a bad line and still ready: $(cat "$work/page")"
: >"$work/revoked"
until_true 20 says "$work/run.err" "the list of the revoked can be read again" ||
    bad "mended, and the log does not say so"
echo "ok: revoked"

# Second coordinators.
own=(--listen 127.0.0.1:0 --insecure)
state_of run
called=$work/run # how messages call it
! in_postgres || called="PostgreSQL caucus on"
wrong 1 "$called" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" "${own[@]}" --seed 24
grep -qE 'another|in use' "$work/wrong.err" || bad "a second coordinator: $(cat "$work/wrong.err")"
wrong 1 "127.0.0.1:$fixed" "$CAUCUS" serve --plan "$plan" --state "$work/second" --listen "127.0.0.1:$fixed" --insecure

# Several addresses: nobody listens at the first, the second runs another plan; a client ends when all have refused.
right=$server
start_coordinator other "$work/other.yaml" 0 --cert "$work/ca/coordinator.pem" --key "$work/ca/coordinator.key" \
    --client-ca "$work/ca/ca.pem"
second=$port other=$server
as 1
wrong 2 "HOST:PORT" "${cmd[@]/127.0.0.1:$fixed/127.0.0.1:$fixed,}"
wrong 3 "the plan here is" "${cmd[@]/127.0.0.1:$fixed/127.0.0.1:$second}"
server=$right

# After all that, the run is what it would have been.
pids=()
for i in 1 2 3; do
    start_client run "$plan" "1,127.0.0.1:$second,127.0.0.1:$fixed" "$i" --cert "$work/ca/$i.pem" \
        --key "$work/ca/$i.key" --ca "$work/ca/ca.pem"
    pids+=("$client")
done
for i in "${pids[@]}" "$server"; do ended "$i" "the run" 0; done
same_run run reference
says "$work/run.1.1.err" "127.0.0.1:$second: coordinator refused: the plan here is" ||
    bad "a client does not say who has refused it: $(cat "$work/run.1.1.err")"
kill -TERM "$other"
ended "$other" "the other coordinator" 0
[ "$(field refused "$work/run.out")" -ge 7 ] || bad "it counts $(field refused "$work/run.out") refusals"

# A state belongs to its plan, and to its kind of noise.
state_of run
wrong 3 "belongs to plan ${hash:0:8}" "$CAUCUS" serve --plan "$work/other.yaml" "${state_flags[@]}" "${own[@]}" \
    --seed 24
grep -qE 'you gave plan [0-9a-f]{8}' "$work/wrong.err" || bad "another plan: $(cat "$work/wrong.err")"
wrong 2 "seed" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" "${own[@]}"
state_of new
wrong 2 "this machine" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" --listen 0.0.0.0:0 --insecure
wrong 2 "this machine" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" --listen '[::]:0' --insecure
wrong 2 "not there yet" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" "${own[@]}" --trust sum
wrong 2 "--cert, --key and --client-ca are needed" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" \
    --listen 127.0.0.1:0
wrong 2 "$work/none.pem" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" --listen 127.0.0.1:0 \
    --cert "$work/none.pem" --key "$work/ca/1.key" \
    --client-ca "$work/ca/ca.pem"
wrong 2 "is not the key of" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" --listen 127.0.0.1:0 \
    --cert "$work/ca/coordinator.pem" --key "$work/ca/1.key" \
    --client-ca "$work/ca/ca.pem"
chmod 640 "$work/ca/1.key" # may be the administrator's way to give it to a service
as 1
if [ "$(id -u)" -eq 0 ]; then # it dials, and gives up (5 s are shortened): nobody listens there any more
    wrong 1 "no coordinator at 127.0.0.1:$fixed" "${cmd[@]/#5/0.5}"
    ! says "$work/wrong.err" "chmod" || bad "a key that root lets a group read: $(cat "$work/wrong.err")"
fi
chmod 604 "$work/ca/coordinator.key"
wrong 2 "chmod 600 $work/ca/coordinator.key" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" --listen 127.0.0.1:0 \
    --cert "$work/ca/coordinator.pem" --key "$work/ca/coordinator.key" --client-ca "$work/ca/ca.pem"
chmod 600 "$work/ca/coordinator.key"
wrong 2 "its extended key usage must contain serverAuth" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" \
    --listen 127.0.0.1:0 --cert "$work/ca/2.pem" --key "$work/ca/2.key" --client-ca "$work/ca/ca.pem"
wrong 1 "has expired" "$CAUCUS" serve --plan "$plan" "${state_flags[@]}" --listen 127.0.0.1:0 \
    --cert "$work/ca/past.pem" --key "$work/ca/past.key" \
    --client-ca "$work/ca/ca.pem"
keeps_nothing new || bad "a refused coordinator left a state"
wrong 2 "name the directory" "$CAUCUS" privacy "$work/ca"
done_with "refusals"
