#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `caucus certify`: OpenSSL accepts what it made for what it is for and for nothing else; modes. What it says and what
# it refuses is in exact/certify.exact.
# shellcheck disable=SC1091,SC2154 # names are shared with lib.bash
. "$(dirname "$0")/lib.bash"

check() { # check NAME COMMAND...: it succeeds
    local name=$1
    shift
    if "$@" >"$work/said" 2>&1; then echo "ok: $name"; else
        echo "not ok: $name"
        sed 's/^/  /' "$work/said"
        failures=$((failures + 1))
    fi
}
refuse() { # refuse NAME COMMAND...: it fails
    local name=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        echo "not ok: $name was accepted"
        failures=$((failures + 1))
    else echo "ok: $name"; fi
}
says() { # says NAME WORDS: what the last command wrote has them
    if grep -qF -- "$2" "$work/said"; then echo "ok: $1"; else
        echo "not ok: $1"
        sed 's/^/  /' "$work/said"
        failures=$((failures + 1))
    fi
}
same() { # same NAME WANT GOT
    if [ "$2" = "$3" ]; then echo "ok: $1"; else
        printf 'not ok: %s\n  want: %s\n  got:  %s\n' "$1" "$2" "$3"
        failures=$((failures + 1))
    fi
}

(umask 0 && "$CAUCUS" certify certs --clients 12 --host node.example --days 7 >/dev/null)
same "how many files" 27 "$(find certs -type f | wc -l)"
same "modes, whatever the umask" "600 644 700" "$(find certs -printf '%m\n' | sort -u | tr '\n' ' ' | sed 's/ $//')"
same "every key is 0600" "" "$(find certs -name '*.key' ! -perm 600)"
same "no draft is left" "certs" "$(find . -mindepth 1 -maxdepth 1 -name 'certs*' -printf '%f\n')"
same "the authority's key is not kept" "" "$(find certs -name 'ca*.key')"

verify() { openssl verify -x509_strict -CAfile certs/ca.pem "$@"; }
for name in node.example localhost; do
    check "the coordinator is $name" verify -purpose sslserver -verify_hostname $name certs/coordinator.pem
done
for address in 127.0.0.1 ::1; do
    check "the coordinator is $address" verify -purpose sslserver -verify_ip $address certs/coordinator.pem
done
refuse "the coordinator as another host" verify -purpose sslserver -verify_hostname other.example certs/coordinator.pem
refuse "the coordinator as a client" verify -purpose sslclient certs/coordinator.pem
for i in 1 7 12; do
    check "client $i" verify -purpose sslclient certs/client-$i.pem
    same "its name is its number" "subject=CN = $i" "$(openssl x509 -in certs/client-$i.pem -noout -subject)"
    same "its key is its own" "$(openssl x509 -in certs/client-$i.pem -noout -pubkey)" \
        "$(openssl pkey -in certs/client-$i.key -pubout)"
done
refuse "a client as the coordinator" verify -purpose sslserver certs/client-1.pem
refuse "a client as an authority" openssl verify -x509_strict -partial_chain -CAfile certs/client-1.pem \
    certs/client-2.pem
same "the key is P-256" "ASN1 OID: prime256v1" "$(openssl pkey -in certs/client-1.key -noout -text | grep OID)"
check "valid in six days" openssl x509 -in certs/client-1.pem -noout -checkend $((6 * 86400))
refuse "valid in eight days" openssl x509 -in certs/client-1.pem -noout -checkend $((8 * 86400))
same "serials differ" 14 "$(for c in certs/*.pem; do openssl x509 -in "$c" -noout -serial; done | sort -u | wc -l)"

# Relays: short, signed by an authority of their own that signs servers only, and signed again.
"$CAUCUS" certify relayed --clients 1 --relays 2 --host node.example >/dev/null
trusts() { openssl verify -x509_strict -CAfile relayed/ca.pem "$@"; }
check "a relay is a server" trusts -purpose sslserver -verify_hostname node.example relayed/relay-2.pem
check "so is the coordinator" trusts -purpose sslserver -verify_hostname node.example relayed/coordinator.pem
check "a client beside relays" trusts -purpose sslclient relayed/client-1.pem
refuse "a relay as a client" trusts -purpose sslclient relayed/relay-2.pem
check "a relay for six days" openssl x509 -in relayed/relay-1.pem -noout -checkend $((6 * 86400))
refuse "a relay for eight days" openssl x509 -in relayed/relay-1.pem -noout -checkend $((8 * 86400))
same "the key of the authority of relays" 600 "$(stat -c %a relayed/relay-ca.key)"
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout forged.key -subj /CN=1 2>/dev/null |
    openssl x509 -req -CA relayed/relay-ca.pem -CAkey relayed/relay-ca.key -days 1 -out forged.pem \
        -extfile <(printf 'extendedKeyUsage=clientAuth\nauthorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n') \
        >/dev/null 2>&1
check "a client was forged" test -s forged.pem
refuse "a client signed by the authority of relays" openssl verify -CAfile relayed/ca.pem -purpose sslclient forged.pem
before=$(openssl x509 -in relayed/relay-2.pem -noout -pubkey -ext subjectAltName)
cp relayed/relay-2.pem old.pem
"$CAUCUS" certify relayed --renew --days 2 >/dev/null
check "a relay, signed again" trusts -purpose sslserver -verify_hostname node.example relayed/relay-2.pem
same "its key and hosts stay" "$before" "$(openssl x509 -in relayed/relay-2.pem -noout -pubkey -ext subjectAltName)"
refuse "signed again for three days" openssl x509 -in relayed/relay-2.pem -noout -checkend $((3 * 86400))
refuse "with the same serial number" test "$(openssl x509 -in relayed/relay-2.pem -noout -serial)" = \
    "$(openssl x509 -in old.pem -noout -serial)"

# A handshake, both sides verifying.
openssl s_server -accept 127.0.0.1:0 -cert certs/coordinator.pem -key certs/coordinator.key -CAfile certs/ca.pem \
    -Verify 1 -verify_return_error -tls1_3 \
    -www >server 2>&1 &
server=$!
port=
for _ in $(seq $((200 * ${CAUCUS_PATIENCE:-1}))); do
    port=$(sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' server)
    if [ -n "$port" ]; then break; fi
    sleep 0.1
done
dial() { openssl s_client -connect "127.0.0.1:$port" -CAfile certs/ca.pem -verify_return_error -tls1_3 -ign_eof "$@" \
    <<<$'GET / HTTP/1.0\r\n\r'; }
check "a client shakes hands" dial -verify_ip 127.0.0.1 -cert certs/client-3.pem -key certs/client-3.key
says "and is answered" 'HTTP/1.0 200'
refuse "nobody without a certificate" dial -verify_ip 127.0.0.1
says "is told why" 'certificate required'
kill $server
wait $server 2>/dev/null || true

# Once more: replaced as a whole, fewer clients, another authority.
cp certs/ca.pem old-ca.pem
check "an earlier set is replaced" "$CAUCUS" certify certs/ --clients 1
same "by the new one alone" "ca.pem client-1.key client-1.pem coordinator.key coordinator.pem" \
    "$(cd certs && LC_ALL=C && echo *)"
refuse "the old authority has not signed it" openssl verify -CAfile old-ca.pem certs/client-1.pem
check "the new one has" verify -purpose sslclient certs/client-1.pem
check "an address as host" "$CAUCUS" certify v6 --clients 1 --host 2001:db8::7
same "is in the certificate" 1 \
    "$(openssl x509 -in v6/coordinator.pem -noout -ext subjectAltName | grep -c '2001:DB8:0:0:0:0:0:7')"
says "and in brackets in the commands" '--connect [2001:db8::7]:7400 '
mkdir empty
check "an empty directory is used" "$CAUCUS" certify empty --clients 1
check "a name with spaces" "$CAUCUS" certify "my certs" --clients 1
says "is quoted in the commands" "--key 'my certs/client-1.key'"

check "--help" "$CAUCUS" certify --help
says "--help says what it is for" 'For trying things out'
if [ -w /dev/full ]; then
    code=0
    "$CAUCUS" certify certs --clients 1 >/dev/full 2>/dev/null || code=$?
    same "a full disk is a failure" 1 "$code"
fi
if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=16k none small 2>/dev/null; then
    code=0
    "$CAUCUS" certify small/certs --clients 50 >out 2>err || code=$?
    left=$(find small -mindepth 1 | wc -l)
    umount small
    same "no room" "1 0" "$code $left"
    check "is said" grep -q 'No space left on device' err
fi
[ "$failures" -eq 0 ]
