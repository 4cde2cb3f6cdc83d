# SPDX-License-Identifier: Apache-2.0
"""What relays and the coordinator say to each other, in Python's standard library, written from docs/PROTOCOL.md
("Relays") alone: Ed25519 (RFC 8032), X25519 (RFC 7748), XChaCha20-Poly1305, the messages, partials. Slow, and only for
comparing: a real relay takes a library.
"""
import hashlib
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import noise

P = 2 ** 255 - 19
ORDER = 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
FORMS = {  # how many bytes each field has; t: a text, a: an announcement; what is in brackets repeats to the end
    "HERE": (1, "8"), "PLACE": (2, "4(848t"), "LEFT": (3, "4(481"), "PARTIAL": (4, "844(1"), "HISTORY": (5, "8"),
    "STATE": (65, "488818a"), "NEWS": (66, "818a"), "PAST": (67, "884(a"), "PLACED": (68, "4(8418888888t"),
    "TAKEN": (69, "8814(4"), "OUT": (70, "481t"), "END": (71, "1"),
}


class Refused(Exception):
    """What must not be taken."""


# ---- keys and seals ----

def x25519(secret, public):
    k = int.from_bytes(secret, "little") & ~7 & (2 ** 254 - 1) | 2 ** 254
    u = int.from_bytes(public, "little") % 2 ** 255
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for t in reversed(range(255)):
        bit = k >> t & 1
        if swap != bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        x3, z3 = (d * a + c * b) ** 2 % P, u * (d * a - c * b) ** 2 % P
        x2, z2 = a * a * b * b % P, (a * a - b * b) * (a * a + 121665 * (a * a - b * b)) % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def added(one, other):
    """Points as (X, Y, Z, T): x = X/Z, y = Y/Z, T = XY/Z (RFC 8032, section 5.1.4)."""
    (x1, y1, z1, t1), (x2, y2, z2, t2) = one, other
    a, b, c, d = (y1 - x1) * (y2 - x2), (y1 + x1) * (y2 + x2), 2 * t1 * t2 * D, 2 * z1 * z2
    e, f, g, h = (b - a) % P, (d - c) % P, (d + c) % P, (b + a) % P
    return e * f % P, g * h % P, f * g % P, e * h % P


def are_equal(one, other):
    return (one[0] * other[2] - other[0] * one[2]) % P == 0 and (one[1] * other[2] - other[1] * one[2]) % P == 0


def times(point, k):
    total = (0, 1, 1, 0)
    while k:
        if k & 1:
            total = added(total, point)
        point, k = added(point, point), k >> 1
    return total


def point_of(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y % 2 ** 255
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P or y >= P:
        raise Refused("no point of the curve")
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = point_of((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_signed(message, key):
    """Of a message that ends with its signature."""
    text, point, s = message[:-64], message[-64:-32], int.from_bytes(message[-32:], "little")
    if s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(point + key + text).digest(), "little") % ORDER
    try:
        return are_equal(times(BASE, s), added(point_of(point), times(point_of(key), h)))
    except Refused:
        return False


def hchacha20(key, nonce):
    """The block function without its last addition: words 0 to 3 and 12 to 15."""
    start = struct.unpack("<16I", b"expand 32-byte k" + key + nonce)
    block = struct.unpack("<16I", noise.chacha20_block(key, struct.unpack("<I", nonce[:4])[0], nonce[4:]))
    words = [(after - before) % 2 ** 32 for after, before in zip(block, start)]
    return struct.pack("<8I", *words[:4], *words[12:])


def poly1305(key, message):
    r, s = int.from_bytes(key[:16], "little") & 0x0ffffffc0ffffffc0ffffffc0fffffff, int.from_bytes(key[16:], "little")
    total = 0
    for at in range(0, len(message), 16):
        total = (total + int.from_bytes(message[at:at + 16] + b"\1", "little")) * r % (2 ** 130 - 5)
    return ((total + s) % 2 ** 128).to_bytes(16, "little")


def xchacha20poly1305(key, nonce, text, beside, opening):
    """The other text, and the tag of the one that is sealed."""
    key, nonce = hchacha20(key, nonce[:16]), bytes(4) + nonce[16:]
    stream = b"".join(noise.chacha20_block(key, 1 + i, nonce) for i in range(len(text) // 64 + 1))
    other = bytes(a ^ b for a, b in zip(text, stream))
    sealed = text if opening else other
    padded = b"".join(part + bytes(-len(part) % 16) for part in (beside, sealed))
    lengths = struct.pack("<QQ", len(beside), len(sealed))
    return other, poly1305(noise.chacha20_block(key, 0, nonce)[:32], padded + lengths)


class Session:
    """Both sides of it, from the two messages that begin it."""

    def __init__(self, about, greeting, answer, secret):
        check_greeting(about, greeting)
        check_answer(about, greeting, answer)
        self.about, self.term, self.session = about, *struct.unpack_from("<QQ", answer, 10)
        common = x25519(secret, answer[26:58])
        keys = hashlib.blake2b(b"caucus relay keys 1" + common + greeting + answer, digest_size=64).digest()
        self.key = {"relay": keys[:32], "coordinator": keys[32:]}
        self.taken = {"relay": 0, "coordinator": 0}

    def around(self, side, subject):
        return b"caucus relay 1" + self.about["plan"] + self.about["run"] + \
            struct.pack("<QB", self.session, side == "relay") + subject.encode()

    def seal(self, side, subject, counter, message):
        counted = struct.pack("<Q", counter)
        return counted + b"".join(xchacha20poly1305(self.key[side], counted + bytes(16), message,
                                                    self.around(side, subject), False))

    def open(self, side, subject, sealed):
        if len(sealed) < 24:
            raise Refused("too short")
        counter = struct.unpack_from("<Q", sealed)[0]
        message, tag = xchacha20poly1305(self.key[side], sealed[:8] + bytes(16), sealed[8:-16],
                                         self.around(side, subject), True)
        if tag != sealed[-16:] or counter <= self.taken[side]:
            raise Refused("not sealed so, or taken before")
        self.taken[side] = counter
        return message


def check_greeting(about, greeting):
    head = b"CAUCrel1" + struct.pack("<HHI", 1, 1, 1) + about["plan"] + about["run"] + struct.pack("<H", about["relay"])
    if len(greeting) != 178 or greeting[:82] != head or not is_signed(greeting, about["relay_key"]):
        raise Refused("a greeting")


def check_answer(about, greeting, answer):
    if len(answer) != 154 or answer[:10] != b"CAUCrel2\1\0" or not is_signed(answer, about["coordinator_key"]) or \
            answer[58:90] != hashlib.blake2b(greeting, digest_size=32).digest():
        raise Refused("an answer")


# ---- messages and partials ----

def said(kind, message):
    """The values of a message's fields, as texts."""
    number, form = FORMS[kind]
    if message[0] != number:
        raise Refused("another kind")
    first, _, again = form.partition("(")
    at, values, left = 1, [], list(first)
    while left or (again and at < len(message)):
        left = left or list(again)
        field = left.pop(0)
        size = 1 + message[at] if field == "t" else \
            4 + struct.unpack_from("<I", message, at)[0] if field == "a" else int(field)
        part = message[at:at + size]
        if len(part) != size:
            raise Refused("too short")
        values.append(part[1:].decode() if field == "t" else part.hex() if field == "a" else
                      str(int.from_bytes(part, "little")))
        at += size
    if at != len(message):
        raise Refused("too long")
    return values


def partial(data, clients, experts):
    """(serial, q, first, clients in groups, items, values); one chunk of clients is enough for these."""
    if len(data) < 33:
        raise Refused("half a head")
    serial, q, first, kind, groups, items = struct.unpack_from("<QqQBII", data)
    at, grouped, after = 33, [], 0
    for _ in range(groups):
        if len(data) < at + 8:
            raise Refused("half a group")
        chunk, count = struct.unpack_from("<II", data, at)
        if chunk < after or chunk * 65536 >= clients or not 0 < count <= min(clients - chunk * 65536, 4096):
            raise Refused("a group")
        at, after = at + 8 + 2 * count, chunk + 1
        if len(data) < at:
            raise Refused("half a group")
        listed = struct.unpack_from(f"<{count}H", data, at - 2 * count)
        if list(listed) != sorted(set(listed)) or listed[-1] >= clients - chunk * 65536:
            raise Refused("clients that do not rise, or are none")
        grouped += [chunk * 65536 + one + 1 for one in listed]
    each = {0: 0, 1: 8, 2: 4}.get(kind)
    if each is None or len(data) != at + 29 * items + each * experts:
        raise Refused("too short, too long, or another kind of values")
    named = [struct.unpack_from("<IBQQQ", data, at + 29 * i) for i in range(items)]
    if any(not 0 < item[0] <= clients or not 0 < item[1] <= 5 for item in named):
        raise Refused("an item")
    values = struct.unpack_from("<%d%s" % (experts if each else 0, "qI"[kind == 2]), data, at + 29 * items)
    return serial, q, first, grouped, named, list(values)
