"""The noise of a client under trust nobody, in Python's standard library, written from docs/PROTOCOL.md ("Noise") alone.

Integers and exact comparisons only: where a logarithm is needed it is computed to as many digits as the decision takes. Slow, and meant to be:
it is what the library's samplers are held against (tests/net/test_peer.c, tests/e2e/equality_nobody.sh).
"""
import decimal
import hashlib
import math
import secrets
import struct
from fractions import Fraction

MESSAGE, SHORTLIST = 5, 6  # purposes
LIMIT = 1 << 62


# ---- keys and streams ----

def fresh_key():
    return secrets.token_bytes(32)


def subkey(key, number, person):
    return hashlib.blake2b(digest_size=32, key=key, salt=struct.pack("<Q8x", number), person=person + bytes(8)).digest()


def seeded_key(seed, client):
    """The key of a client in a repeatable run: trial 0 of the seed. NOT PRIVATE."""
    key = hashlib.blake2b(b"caucus: run key from a seed, v1" + struct.pack("<Q", seed), digest_size=32).digest()
    for entity in (0, client):
        key = subkey(key, entity, b"caucus__")
    return key


def chacha20_block(key, counter, nonce):
    """RFC 8439, section 2.3."""
    start = list(struct.unpack("<4I8II3I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce))
    x = start[:]

    def quarter(a, b, c, d):
        for into, other, turned, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[into] = (x[into] + x[other]) & 0xFFFFFFFF
            word = x[turned] ^ x[into]
            x[turned] = (word << bits | word >> (32 - bits)) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(x, start)))


class Stream:
    """64-bit words of the stream (key, purpose, phase, index)."""

    def __init__(self, key, purpose, phase, index):
        high, low = divmod(phase, 1 << 16)
        self.key = subkey(key, high, b"phase___") if high else key
        self.nonce = struct.pack("<HHII", purpose, low, index, 0)
        self.blocks, self.left = 0, []

    def word(self):
        if not self.left:
            self.left = list(struct.unpack("<8Q", chacha20_block(self.key, self.blocks, self.nonce)))
            self.blocks += 1
        return self.left.pop(0)


# ---- draws ----

def uniform(stream, n):
    """0..n-1. Nothing is drawn for n = 1."""
    while n > 1:
        high, low = divmod(stream.word() * n, 1 << 64)
        if low >= (1 << 64) % n:
            return high
    return 0


class Real:
    """A uniform real number on [0,1), known to as many words as have been drawn."""

    def __init__(self, stream):
        self.stream, self.value, self.words = stream, stream.word(), 1

    def more(self):
        self.value = self.value << 64 | self.stream.word()
        self.words += 1

    def ends(self):
        return Fraction(self.value, 1 << 64 * self.words), Fraction(self.value + 1, 1 << 64 * self.words)


def precisely(function, argument, words):
    """exp or ln of a fraction, and a bound on the error that is far below what `words` words can tell."""
    with decimal.localcontext() as context:
        context.prec = 40 * words + 60
        value = getattr(decimal.Decimal(argument.numerator) / decimal.Decimal(argument.denominator), function)()
        return Fraction(value), Fraction(1, 10 ** (40 * words))


def coin(stream, x):
    """True with probability e^-x: a uniform real is below it. Nothing is drawn for x = 0."""
    if x == 0:
        return True
    u = Real(stream)
    while True:
        if x > 100 * u.words and u.value > 0:
            return False  # e^-100 is far below 2^-64
        border, error = precisely("exp", -x, u.words)
        low, high = u.ends()
        if high <= border - error:
            return True
        if low >= border + error:
            return False
        u.more()


def geometric(stream, rate):
    """floor(-ln(U) / rate)."""
    if rate >= 44:
        raise NotImplementedError(f"rate {rate}: noise below the grid's step")
    u = Real(stream)
    while True:
        low, high = u.ends()
        if low > 0:
            (most, error), (least, _) = precisely("ln", low, u.words), precisely("ln", high, u.words)
            if max(0, (-least - error) // rate) == (-most + error) // rate:
                return (-most + error) // rate
        u.more()


class Signed:
    """Geometric draws with a sign; the signs of a row are the bits of words of their own, the lowest first."""

    def __init__(self, stream, rate):
        self.stream, self.rate, self.signs = stream, rate, []

    def draw(self):
        while True:
            y = geometric(self.stream, self.rate)
            if not self.signs:
                word = self.stream.word()
                self.signs = [word >> i & 1 for i in range(64)]
            negative = self.signs.pop(0)
            if y or not negative:  # -0 is drawn again
                return -y if negative else y


def laplace(stream, rate, count):
    row = Signed(stream, rate)
    return [row.draw() for _ in range(count)]


def gaussian(stream, variance, count):
    p, q = variance.numerator, variance.denominator
    t = math.isqrt(p // q) + 1
    row, kept = Signed(stream, Fraction(1, t)), []
    while len(kept) < count:
        y = row.draw()
        if coin(stream, Fraction((abs(y) * t * q - p) ** 2, 2 * p * q * t * t)):
            kept.append(y)
    return kept


def knorm(stream, rate, count):
    while True:
        radius = sum(geometric(stream, rate) for _ in range(count + 1))
        if all(uniform(stream, 2 * (radius + i)) < 2 * radius + 1 for i in range(1, count + 1)):
            return [uniform(stream, 2 * radius + 1) - radius for _ in range(count)]


def add_noise(stream, noise, values):
    """noise: what a plan file says, "laplace 3/1000" for example."""
    law, _, parameter = noise.partition(" ")
    if law == "none":
        return values
    parameter = Fraction(parameter)
    if law == "knorm":
        drawn = knorm(stream, parameter, len(values))
    else:
        drawn = []
        for start in range(0, len(values), 256):
            drawn += {"laplace": laplace, "gaussian": gaussian}[law](stream, parameter, min(256, len(values) - start))
    return [max(-LIMIT, min(LIMIT, value + z)) for value, z in zip(values, drawn)]


def permute_and_flip(stream, scores, rate):
    """Visit in random order; take the one visited with probability e^(-rate * (its score - the least))."""
    left, least = list(range(len(scores))), min(scores)
    while len(left) > 1:
        at = uniform(stream, len(left))
        if coin(stream, rate * (scores[left[at]] - least)):
            return left[at]
        left[at] = left[-1]
        left.pop()
    return left[0]
