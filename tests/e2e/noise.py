# SPDX-License-Identifier: Apache-2.0
"""The noise of a client under trust nobody, in Python's standard library, written from docs/PROTOCOL.md ("Noise")
alone.

Integers and exact comparisons only: where a logarithm is needed it is computed to as many digits as the decision takes.
Slow, and meant to be: it is what the library's samplers are held against (tests/net/test_peer.c,
tests/e2e/equality_nobody.sh).
"""
import decimal
import hashlib
import math
import re
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


def seed_of(text):
    """The number that a text gives for a seed."""
    if not re.fullmatch("[0-9]+", text) or int(text) >= 1 << 64:
        raise ValueError(f"no seed: {text!r}")
    return int(text)


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
        self.place, self.blocks = 0, {}

    def digit(self, number, place):
        """Digit number 0, 1, ... of the real number at a place: the word there of lane number * 2^24."""
        at = (number, place // 8)
        if at not in self.blocks:
            nonce = self.nonce[:8] + struct.pack("<I", number << 24)
            self.blocks[at] = struct.unpack("<8Q", chacha20_block(self.key, place // 8, nonce))
        return self.blocks[at][place % 8]

    def word(self):
        self.place += 1
        return self.digit(0, self.place - 1)


# ---- draws ----

class Real:
    """The uniform real number on [0,1) at the next place of a stream, known to as many digits as were asked for."""

    def __init__(self, stream):
        self.stream, self.place = stream, stream.place
        self.value, self.words = stream.word(), 1

    def more(self):
        self.value = self.value << 64 | self.stream.digit(self.words, self.place)
        self.words += 1

    def ends(self):
        return Fraction(self.value, 1 << 64 * self.words), Fraction(self.value + 1, 1 << 64 * self.words)


def uniform(stream, n):
    """floor(U n)."""
    u = Real(stream)
    while True:
        low, high = u.ends()
        if math.floor(low * n) == math.ceil(high * n) - 1:
            return math.floor(low * n)
        u.more()


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
    """Differences of two geometrics."""
    return [geometric(stream, rate) - geometric(stream, rate) for _ in range(count)]


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
        kept = [uniform(stream, 2 * (radius + i)) < 2 * radius + 1 for i in range(1, count + 1)]
        if all(kept):
            return [uniform(stream, 2 * radius + 1) - radius for _ in range(count)]


def law_of(noise):
    """Law and parameter of what a plan file says, "laplace 3/1000" for example; ("none", None)."""
    if noise == "none":
        return noise, None
    match = re.fullmatch("(laplace|gaussian|knorm) ([1-9][0-9]*)/([1-9][0-9]*)", noise)
    if not match or int(match[2]) >= 1 << 64 or int(match[3]) > 1 << 56 or \
            math.gcd(int(match[2]), int(match[3])) > 1:
        raise ValueError(f"no noise: {noise!r}")
    return match[1], Fraction(int(match[2]), int(match[3]))


def add_noise(stream, noise, values):
    """noise: as a plan file has it."""
    law, parameter = law_of(noise)
    if law == "none":
        return values
    if law == "knorm":
        drawn = knorm(stream, parameter, len(values))
    else:
        drawn = []
        for start in range(0, len(values), 256):
            drawn += {"laplace": laplace, "gaussian": gaussian}[law](stream, parameter, min(256, len(values) - start))
    return [max(-LIMIT, min(LIMIT, value + z)) for value, z in zip(values, drawn)]


def beats(u, v, x):
    """Is -ln(u) - x above -ln(v), that is, u < v e^-x? x >= 0; both are known to as many digits."""
    while True:
        if x < 100 * u.words:
            power, error = precisely("exp", -x, u.words)
        else:
            power, error = Fraction(0), Fraction(1, 1 << 100 * u.words)  # e^-100 is far below 2^-64
        (u_low, u_high), (v_low, v_high) = u.ends(), v.ends()
        if u_high <= v_low * max(0, power - error):
            return True
        if u_low >= v_high * (power + error):
            return False
        u.more()
        v.more()


def permute_and_flip(stream, scores, rate):
    """The expert with the largest -ln(U) - rate * score, a number for each: the law of permute-and-flip."""
    best, best_number = 0, Real(stream)
    for n in range(1, len(scores)):
        number, x = Real(stream), rate * (scores[n] - scores[best])
        while number.words < best_number.words:
            number.more()
        if beats(number, best_number, x) if x >= 0 else not beats(best_number, number, -x):
            best, best_number = n, number
    return best


# ---- what the coordinator alone draws ----

def fair_uniform(stream, n):
    """Below n, by a multiplication and rejection of the short remainder: words, not a real number."""
    while True:
        product = stream.word() * n
        if product % (1 << 64) >= (1 << 64) % n:
            return product >> 64


def exponential(stream, scores, rate):
    """One real number U: the first n with U (w_0 + ... + w_(d-1)) < w_0 + ... + w_n, w = e^(-rate (score - min))."""
    u, least = Real(stream), min(scores)
    while True:
        error, sums = Fraction(0), [Fraction(0)]
        for score in scores:
            x = rate * (score - least)
            weight, off = precisely("exp", -x, u.words) if x < 300 * u.words else (Fraction(0), 0)
            error += max(off, Fraction(1, 1 << 400 * u.words))
            sums.append(sums[-1] + weight)
        low, high = (end * sums[-1] for end in u.ends())
        first = next(n for n in range(len(scores)) if low < sums[n + 1] or n + 1 == len(scores))
        if all(high + error <= border or low - error >= border for border in sums[1:-1]):
            return first
        u.more()


def least(stream, scores):
    """The smallest; of several a uniform number says how many are passed over."""
    tied = [n for n, score in enumerate(scores) if score == min(scores)]
    return tied[fair_uniform(stream, len(tied)) if len(tied) > 1 else 0]


def noisy_min(stream, scores, rate):
    """Discrete Laplace noise for every score, in rows of 256; the k-th of k equal smallest ones is kept if a uniform
    number below k is 0."""
    best, smallest, ties = 0, None, 0
    for start in range(0, len(scores), 256):
        row = scores[start:start + 256]
        for n, (score, noise) in enumerate(zip(row, laplace(stream, rate, len(row))), start):
            if smallest is None or score + noise < smallest:
                best, smallest, ties = n, score + noise, 1
            elif score + noise == smallest:
                ties += 1
                best = n if fair_uniform(stream, ties) == 0 else best
    return best
