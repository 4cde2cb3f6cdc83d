# SPDX-License-Identifier: Apache-2.0
"""Why a connection was lost: in the program's words, whether coming again can help, and the log "caucus_dp"."""

from __future__ import annotations

import logging
import re
import ssl
from typing import TYPE_CHECKING

from ._connection import now_ms
from ._tls import log

if TYPE_CHECKING:
    from ._tls import Credentials

_REPEAT_MS = 600_000  # nobody wants to read the same every 30 seconds
# Alerts with which a coordinator refuses this client's certificate.
_NOT_ACCEPTED = re.compile(
    r"ALERT_(BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_(?:REVOKED|EXPIRED|UNKNOWN|REQUIRED)|UNKNOWN_CA)$"
)


def _alert(why: OSError) -> str | None:
    """The alert about this client's certificate, None if it is something else."""
    found = _NOT_ACCEPTED.search((why.reason if isinstance(why, ssl.SSLError) else None) or "")
    return None if found is None else found[1]


def words_of(why: OSError, said: str) -> str:
    """Why, as `caucus join` has it; `said` are the coordinator's last words."""
    if isinstance(why, ssl.SSLCertVerificationError):
        return f"TLS: certificate: {why.verify_message}"
    if isinstance(why, ssl.SSLError):
        reason = (why.reason or str(why)).lower().replace("_", " ")
        return f"TLS: {reason}" if _alert(why) is None else f"it does not accept this client's certificate: {reason}"
    if isinstance(why, ConnectionResetError) and said:
        return f"the coordinator said: {said}"
    return why.strerror or str(why)


def refuses(why: OSError, accepted: bool, credentials: Credentials | None) -> bool:
    """Whether coming again cannot help: the coordinator does not accept this client's certificate.

    Its clock may be wrong: one that is ahead calls a certificate expired, one that is behind calls it bad. Only a
    certificate that has expired by both is left to its owner. A coordinator that has accepted the same one before has
    got another authority's file, which may be mended; and a certificate that has been renewed since has not been seen.
    """
    alert = _alert(why)
    if alert is None or credentials is None or credentials.changed:
        return False
    if alert in ("BAD_CERTIFICATE", "CERTIFICATE_EXPIRED"):
        return credentials.expired
    return not (alert == "UNKNOWN_CA" and accepted)


class Notices:
    """What is said about a client's connections: what is said again and again is said seldom."""

    def __init__(self) -> None:
        self.address = ""
        """The one in hand."""
        self.last: OSError | None = None
        """Why the last connection ended, or did not come about."""
        self._words = ""
        self._said_ms = 0
        self._since = 0

    def forget(self) -> None:
        """Something has been read: whatever was wrong is mended, and would be worth saying again."""
        self._words = ""

    def say(self, why: OSError, words: str, pause: float | None) -> None:
        """A connection is lost, or did not come about, and is tried again after a pause (None: never)."""
        same, now = words == self._words, now_ms()
        self.last = why
        self._since = self._since + 1 if same else 0
        quiet = same and now - self._said_ms < _REPEAT_MS
        again = f" ({self._since} times since this was last said)" if same else ""
        then = "it is not dialled again" if pause is None else f"trying again in {pause:.1f} s"
        log.log(logging.DEBUG if quiet else logging.WARNING, "%s: %s%s — %s", self.address, words, again, then)
        if not quiet:
            self._words, self._said_ms, self._since = words, now, 0
