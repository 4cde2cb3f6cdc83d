# SPDX-License-Identifier: Apache-2.0
"""What Python's ssl does not tell about a certificate: what it is for, whose it is, when it ends.

A reader of DER for the few parts of X.509 that `caucus join` looks at (RFC 5280, section 4.1). Signatures, names and
dates of the other side are OpenSSL's to judge; here is only what it would let pass.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

SERVER = b"\x2b\x06\x01\x05\x05\x07\x03\x01"  # serverAuth, 1.3.6.1.5.5.7.3.1
CLIENT = b"\x2b\x06\x01\x05\x05\x07\x03\x02"  # clientAuth
_COMMON_NAME = b"\x55\x04\x03"
_EXTENDED_KEY_USAGE = b"\x55\x1d\x25"
_SEQUENCE, _OBJECT, _OCTETS, _UTC_TIME, _VERSION, _EXTENSIONS = 0x30, 0x06, 0x04, 0x17, 0xA0, 0xA3
_PEM = re.compile(
    r"-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----\s*([A-Za-z0-9+/=\s]+?)\s*-----END \1-----", re.ASCII
)
_SOON_SECONDS = 14 * 86400


@dataclass(frozen=True)
class Certificate:
    """One certificate; `subject` and `issuer` as they are in it, to be compared."""

    subject: bytes
    issuer: bytes
    begins: float
    ends: float
    names: tuple[bytes, ...]
    """Its common names."""
    uses: frozenset[bytes]
    """Its extended key usage: empty if it says nothing."""

    @property
    def index(self) -> int:
        """The client that it is for: one common name, one to eight decimal digits, no leading zero. 0: none."""
        named = len(self.names) == 1 and re.fullmatch(rb"[1-9][0-9]{0,7}", self.names[0]) is not None
        return int(self.names[0]) if named else 0

    @property
    def warn_from(self) -> float:
        """Since when one should say that it ends: its last 14 days, or the last third of its life if that is less."""
        return self.ends - min((self.ends - self.begins) / 3, _SOON_SECONDS)


def _element(data: bytes, at: int) -> tuple[int, bytes, int]:
    """Tag and content of the element at a place, and the place behind it."""
    head = data[at : at + 2]
    if len(head) < 2:
        raise ValueError("DER ends in the middle")
    size, start = head[1], at + 2
    if size >= 0x80:
        count = size & 0x7F
        if not 1 <= count <= 4:
            raise ValueError("no length that DER has")
        size, start = int.from_bytes(data[start : start + count], "big"), start + count
    if start + size > len(data):
        raise ValueError("DER ends in the middle")
    return head[0], data[start : start + size], start + size


def _elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        tag, content, at = _element(data, at)
        yield tag, content


def _time(tag: int, content: bytes) -> float:
    text = content.decode("ascii")
    if tag == _UTC_TIME:  # two digits of the year: 1950 to 2049
        text = ("20" if text[:2] < "50" else "19") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=timezone.utc).timestamp()


def _common_names(subject: bytes) -> Iterator[bytes]:
    for _, relative in _elements(subject):
        for _, pair in _elements(relative):
            (_, kind), (_, value) = _elements(pair)
            if kind == _COMMON_NAME:
                yield value


def _uses(extensions: bytes) -> frozenset[bytes]:
    _, listed, _ = _element(extensions, 0)
    for _, extension in _elements(listed):
        parts = list(_elements(extension))
        if parts[0] == (_OBJECT, _EXTENDED_KEY_USAGE) and parts[-1][0] == _OCTETS:
            _, purposes, _ = _element(parts[-1][1], 0)
            return frozenset(purpose for tag, purpose in _elements(purposes) if tag == _OBJECT)
    return frozenset()


def read_der(der: bytes) -> Certificate:
    """A certificate; ValueError: it is none. What comes behind it is left alone."""
    tag, whole, _ = _element(der, 0)
    _, signed, _ = _element(whole, 0)
    parts = list(_elements(signed))
    if parts and parts[0][0] == _VERSION:
        parts = parts[1:]
    if tag != _SEQUENCE or len(parts) < 6:
        raise ValueError("no certificate")
    # Serial number, algorithm, issuer, validity, subject, public key, and what is optional.
    issuer, validity, subject = parts[2][1], parts[3][1], parts[4][1]
    begins, ends = (_time(*when) for when in _elements(validity))
    extensions = next((content for kind, content in parts[6:] if kind == _EXTENSIONS), None)
    uses = frozenset() if extensions is None else _uses(extensions)
    return Certificate(subject, issuer, begins, ends, tuple(_common_names(subject)), uses)


def read_pem(text: str) -> list[Certificate]:
    """The certificates of a PEM file, in their order; ValueError: one of them is none."""
    begin, end = "-----BEGIN CERTIFICATE-----\n", "\n-----END CERTIFICATE-----\n"
    return [read_der(ssl.PEM_cert_to_DER_cert(f"{begin}{found[2]}{end}")) for found in _PEM.finditer(text)]


def chain_of(own: Certificate, others: Sequence[Certificate]) -> list[Certificate]:
    """A certificate and those that it builds on, as far as they are among others: it has ended when the first has."""
    chain = [own]
    while chain[-1].issuer != chain[-1].subject and len(chain) <= len(others):
        above = next((other for other in others if other.subject == chain[-1].issuer), None)
        if above is None:
            break
        chain.append(above)
    return chain
