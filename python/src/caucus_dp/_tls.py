# SPDX-License-Identifier: Apache-2.0
"""A client's certificate, its key and the authority: read, judged as `caucus join` judges them, and read again.

Connections last for months, and certificates do not: whoever renews the files of a client that runs need tell nobody.
Each new connection is made with what is there then, unless it cannot be used.
"""

from __future__ import annotations

import logging
import os
import ssl
import stat
import time
from datetime import datetime, timezone

from ._certificate import CLIENT, SERVER, Certificate, chain_of, read_der, read_pem
from ._errors import InputError
from ._plan import FilePath

log = logging.getLogger("caucus_dp")


def _words(field: str, error: OSError | ValueError) -> str:
    """What OpenSSL said, as the program says it; what it would have said, if something else was in its way."""
    reason = getattr(error, "reason", None) or ("no certificate or crl found" if field == "ca" else "PEM lib")
    return reason if " " in reason else reason.lower().replace("_", " ")


def _fail(field: str, path: FilePath, error: OSError | ValueError) -> InputError:
    """Why a file cannot be used."""
    name = os.fspath(path)
    try:
        with open(path, "rb"):
            pass
    except IsADirectoryError:
        pass
    except OSError as why:
        code = why.errno or 0
        return InputError(f"{field} {name}: cannot be read: {os.strerror(code)}", "CAUCUS_E_PATH", field, code)
    return InputError(f"{field} {name}: {_words(field, error)} (a PEM file is expected)", "CAUCUS_E_FORMAT", field)


def _check_mode(path: FilePath) -> None:
    """A key is for its owner alone, or, if it is the administrator's, for a group too."""
    try:
        found = os.stat(path)
    except OSError:
        return  # whoever opens it says so
    mode, others = found.st_mode & 0o777, 0o037 if found.st_uid == 0 else 0o077
    if stat.S_ISREG(found.st_mode) and mode & others:
        name = os.fspath(path)
        words = f"others can read or change it (mode {mode:04o}), and a key is for its owner alone — chmod 600 {name}"
        raise InputError(f"key {name}: {words}", "CAUCUS_E_RANGE", "key")


def _certificates(field: str, path: FilePath) -> list[Certificate]:
    """Those of a PEM file, one at least."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            found = read_pem(file.read())
    except (OSError, ValueError) as error:
        raise _fail(field, path, error) from error
    if not found:
        raise _fail(field, path, ValueError())
    return found


def _authorities(path: FilePath) -> list[Certificate]:
    """Those of a file that OpenSSL has accepted; none if they cannot be read here: then nobody knows when they end."""
    try:
        return _certificates("ca", path)
    except InputError:
        return []


def _signature(paths: tuple[FilePath, ...]) -> tuple[object, ...]:
    """What changes when one of the files does."""
    seen: list[object] = []
    for path in paths:
        try:
            found = os.stat(path)
        except OSError as error:
            seen.append(error.errno)
        else:
            seen.append((found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))
    return tuple(seen)


class Credentials:
    """TLS 1.3 and nothing older, with a certificate on both sides."""

    def __init__(self, cert: FilePath, key: FilePath, ca: FilePath) -> None:
        self.cert, self.key, self.ca = cert, key, ca
        self._seen = _signature((cert, key, ca))
        self._read()
        self._say_end(always=False)

    def _read(self) -> None:
        """Read the files, in the program's order, and keep nothing of them unless all are well."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        _check_mode(self.key)
        own = _certificates("cert", self.cert)
        try:
            context.load_cert_chain(self.cert, self.key, password=lambda: b"")
        except OSError as error:
            if getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
                words = f"key {os.fspath(self.key)}: is not the key of {os.fspath(self.cert)}"
                raise InputError(words, "CAUCUS_E_CONFLICT", "key") from error
            raise _fail("key", self.key, error) from error
        try:
            context.load_verify_locations(self.ca)
        except OSError as error:
            raise _fail("ca", self.ca, error) from error
        if CLIENT not in own[0].uses:
            words = "its extended key usage must contain clientAuth, or no coordinator would accept it"
            raise InputError(f"cert {os.fspath(self.cert)}: {words}", "CAUCUS_E_RANGE", "cert")
        chain = chain_of(own[0], [*own[1:], *_authorities(self.ca)])
        self.context, self.index = context, own[0].index
        self._ends, self._warn_from = min(c.ends for c in chain), min(c.warn_from for c in chain)

    @property
    def expired(self) -> bool:
        """Whether this client's certificate, or one that it builds on, has ended by this machine's clock."""
        return self._ends <= time.time()

    @property
    def changed(self) -> bool:
        """Whether the files are others than those that were read."""
        return self._seen != _signature((self.cert, self.key, self.ca))

    def renew(self) -> bool:
        """Read the files again if they have changed; whether others are in use now."""
        if not self.changed:
            return False
        before = vars(self).copy()
        self._seen = _signature((self.cert, self.key, self.ca))
        try:
            self._read()
            if self.index != before["index"]:
                words = f"cert {os.fspath(self.cert)}: is another client's now"
                raise InputError(words, "CAUCUS_E_CONFLICT", "cert")
        except InputError as error:
            vars(self).update(before, _seen=self._seen)
            log.warning("not read again: %s; what was read before stays in use", error)
            return False
        log.info("certificates were read again")
        self._say_end(always=True)
        return True

    def _say_end(self, always: bool) -> None:
        """Whoever looks after this device hears of it before it is too late."""
        soon = time.time() >= self._warn_from
        if soon or always:
            date = datetime.fromtimestamp(self._ends, timezone.utc)
            words = "this client's certificate expires %s%s"
            log.log(logging.WARNING if soon else logging.INFO, words, f"{date:%Y-%m-%d %H:%MZ}", ": renew it" * soon)


def check_coordinator(der: bytes | None) -> None:
    """The other side's certificate must say that it is a server's: OpenSSL takes one that says nothing for any."""
    try:
        suits = der is not None and SERVER in read_der(der).uses
    except ValueError:
        suits = False
    if not suits:
        raise ConnectionError(
            "TLS: certificate: unsuitable certificate purpose (its extended key usage must contain serverAuth)"
        )
