# SPDX-License-Identifier: Apache-2.0
"""Between libcaucus-link and a socket: sockets and TLS are Python's, all else is the link's.

Nothing here waits. Whoever waits, for a blocking loop or for asyncio, is in _member.py and _device.py.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import select
import socket
import ssl
import time
from collections.abc import Iterable
from typing import Any

from ._errors import Error, InputError, RefusedError, check, failure, new_error, owned, refuse
from ._keys import Key, key_of
from ._keys import pointer as key_pointer
from ._native import ffi, lib
from ._plan import Plan, pointer

_READ_BYTES = 1 << 16
# Alerts with which a coordinator refuses this client's certificate: coming again cannot help. The last one can be the
# fault of the coordinator's own files, if it has accepted the same certificate before.
_NOT_ACCEPTED = re.compile(
    r"ALERT_(BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_(REVOKED|EXPIRED|UNKNOWN|REQUIRED)|UNKNOWN_CA)$"
)


def now_ms() -> int:
    """The link's clock: it never goes back."""
    return time.monotonic_ns() // 1_000_000


def split_address(text: str) -> tuple[str, int]:
    """Host and port of HOST:PORT or [HOST]:PORT."""
    found = re.fullmatch(r"(?:\[([^\[\]]+)\]|([^:\[\]]+)):([0-9]{1,5})", text)
    if found is None or int(found[3]) > 65535:
        raise refuse("connect", f"{text} — write HOST:PORT, for example 127.0.0.1:7400 or [::1]:7400")
    return found[1] or found[2], int(found[3])


def tls_context(
    cert: str | os.PathLike[str], key: str | os.PathLike[str], ca: str | os.PathLike[str]
) -> ssl.SSLContext:
    """TLS 1.3 and nothing older, with a certificate on both sides."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    for name, path in (("cert", cert), ("key", key), ("ca", ca)):
        if not os.access(path, os.R_OK):
            why = FileNotFoundError if not os.path.exists(path) else PermissionError
            words = {FileNotFoundError: "No such file or directory", PermissionError: "Permission denied"}[why]
            raise InputError(f"{name} {os.fspath(path)}: {words}", "CAUCUS_E_PATH", name)
    try:
        context.load_verify_locations(ca)
    except ssl.SSLError as error:
        raise InputError(f"ca {os.fspath(ca)}: {error.reason or error}", "CAUCUS_E_FORMAT", "ca") from None
    try:
        context.load_cert_chain(cert, key, password=lambda: b"")
    except ssl.SSLError as error:
        raise InputError(f"cert {os.fspath(cert)}: {error.reason or error}", "CAUCUS_E_FORMAT", "cert") from None
    return context


class Connection:
    """One connection that is being made, or is there: a socket, TLS, and the link's bytes."""

    def __init__(self, link: Link, address: str, targets: Iterable[tuple[Any, ...]]) -> None:
        self.link = link
        self.host, _ = split_address(address)
        self._targets = list(targets)
        self._tls: ssl.SSLObject | None = None
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._pending = b""  # for the socket
        self._shaken = False
        self._reached = False
        self.socket = self._next_socket(OSError("all that this name stands for have refused"))
        if link.context is not None:
            self._tls = link.context.wrap_bio(self._incoming, self._outgoing, server_hostname=self.host)

    def _next_socket(self, why: OSError) -> socket.socket:
        """Begin to connect to the next machine that the name stands for."""
        while self._targets:
            family, kind, protocol, _, target = self._targets.pop(0)
            if self.link.context is None and not ipaddress.ip_address(target[0]).is_loopback:
                raise refuse(
                    "connect",
                    f"{self.host}: is not this machine, and without certificates nothing may leave it "
                    "— give cert, key and ca",
                )
            try:
                fresh = socket.socket(family, kind, protocol)
            except OSError as error:
                why = error
                continue
            fresh.setblocking(False)
            with contextlib.suppress(OSError):
                fresh.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                fresh.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            code = fresh.connect_ex(target)
            if code in (0, 115):  # EINPROGRESS
                return fresh
            why = OSError(code, os.strerror(code))
            fresh.close()
        raise why

    @property
    def wants_write(self) -> bool:
        """Whether to wait until the socket can be written to."""
        return not self._reached or bool(self._pending)

    @property
    def wants_read(self) -> bool:
        """Whether to wait until the socket can be read from: not while announcements are far ahead of losses."""
        return self._reached and (not self._shaken or self.link.wants)

    def _reach(self) -> bool:
        """Whether connecting has ended well; another machine is tried if it has not."""
        if not select.select([], [self.socket], [], 0)[1]:
            return False
        code = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code != 0:
            self.socket.close()
            self.socket = self._next_socket(OSError(code, os.strerror(code)))
            return False
        self._reached = True
        return True

    def move(self) -> None:
        """Do what the socket allows. OSError (ssl.SSLError is one): the connection is lost."""
        if not self._reached and not self._reach():
            return
        ended = self._receive() if self.wants_read else False
        self._work()
        self._send()
        if ended:
            raise ConnectionResetError("the coordinator has closed the connection")

    def _receive(self) -> bool:
        """Take what the socket has. True: it has ended."""
        try:
            data = self.socket.recv(_READ_BYTES)
        except BlockingIOError:
            return False
        self._incoming.write(data)
        return not data

    def _work(self) -> None:
        """Between the link and the bytes of the socket: shake hands, decrypt, encrypt."""
        if not self._shaken:
            try:
                if self._tls is not None:
                    self._tls.do_handshake()
            except ssl.SSLWantReadError:
                return
            self._shaken = True
            self.link.connected()
        while self.link.wants:
            try:
                data = self._tls.read(_READ_BYTES) if self._tls is not None else self._incoming.read(_READ_BYTES)
            except ssl.SSLWantReadError:
                break
            if not data:
                break
            self.link.receive(data)

    def _send(self) -> None:
        if self._shaken:
            while data := self.link.to_send():
                self.link.sent((self._tls or self._outgoing).write(data))
        while True:
            self._pending = self._pending or self._outgoing.read(_READ_BYTES)
            if not self._pending:
                return
            try:
                self._pending = self._pending[self.socket.send(self._pending) :]
            except BlockingIOError:
                return

    def close(self) -> None:
        """Hang up."""
        self.socket.close()


class Link:
    """A caucus_link with the file of its state."""

    def __init__(
        self,
        addresses: list[str],
        plan: Plan,
        client: int,
        *,
        context: ssl.SSLContext | None,
        state: str | os.PathLike[str] | None,
        seed: int | None,
        key: Key | None,
        new_device: bool,
    ) -> None:
        self.plan, self.index, self.context, self.addresses = plan, client, context, addresses
        self.accepted = False  # this client's certificate, by some coordinator
        self._state = state
        self._error = new_error()
        self._why: Exception | None = None  # the last refusal
        self._journal = ffi.NULL
        if state is not None:
            ret = ffi.new("caucus_journal **")
            check(lib.caucus_journal_open(os.fsencode(state), ret, self._error), self._error)
            self._journal = ffi.gc(ret[0], lib.caucus_journal_close)
        try:
            self._link = self._open(key_of(key, seed, client), new_device)
        except BaseException:
            self.close()
            raise

    def _open(self, key: Key, new_device: bool) -> Any:
        settings, ret = ffi.new("caucus_link_settings *"), ffi.new("caucus_link **")
        kept, size = ffi.new("uint8_t **"), ffi.new("size_t *")
        texts = [ffi.new("char[]", address.encode()) for address in self.addresses]
        addresses = ffi.new("char *[]", texts)
        lib.caucus_link_settings_init(settings)
        settings.plan, settings.index, settings.key = pointer(self.plan), self.index, key_pointer(key)
        settings.new_device = new_device
        settings.address, settings.addresses = addresses, len(texts)
        if self._journal != ffi.NULL:
            check(lib.caucus_journal_read(self._journal, kept, size, self._error), self._error)
            settings.state, settings.state_bytes = kept[0], size[0]
            settings.save, settings.user = ffi.addressof(lib, "caucus_journal_write"), self._journal
        try:
            before = f"state {os.fspath(self._state)}: " if self._state is not None and size[0] > 0 else ""
            check(lib.caucus_link_new(settings, ret, self._error), self._error, before)
        finally:
            if kept[0] != ffi.NULL:
                lib.native_wipe(kept[0], size[0])
                lib.native_free(kept[0])
        return owned(ret[0], lib.caucus_link_free, pointer(self.plan), self._journal)

    def close(self) -> None:
        """Free the link and give the lock on the state back."""
        if hasattr(self, "_link"):
            ffi.release(self._link)
            del self._link
        if self._journal != ffi.NULL:
            ffi.release(self._journal)
            self._journal = ffi.NULL

    def _check(self, status: int) -> None:
        """Raise what concerns the client; OSError for what concerns the connection alone."""
        if status == lib.CAUCUS_OK:
            return
        error = failure(status, self._error)
        if status == lib.CAUCUS_E_SAVE:
            code = lib.caucus_journal_errno(self._journal) if self._journal != ffi.NULL else 0
            said = f": {os.strerror(code)}" if code else ""
            raise Error(f"state {os.fspath(self._state or '')}: {error}{said}", "CAUCUS_E_SAVE", "state", code)
        if isinstance(error, MemoryError):
            raise error
        self._why = error
        raise ConnectionError(str(error))

    def connected(self) -> None:
        """A connection is up, handshake included."""
        lib.caucus_link_connected(self._link, now_ms())

    def receive(self, data: bytes) -> None:
        """Bytes from the coordinator, which therefore accepts this client's certificate."""
        self.accepted = True
        self._check(lib.caucus_link_receive(self._link, data, len(data), self._error))

    def observe(self, row: Any) -> None:
        """One round of losses."""
        self._check(lib.caucus_link_observe(self._link, row, self._error))

    def slot(self, number: int) -> None:
        """Which slot of the device's clock it is."""
        self._check(lib.caucus_link_slot(self._link, number, self._error))

    def lost(self, why: OSError) -> None:
        """The connection is gone, or the attempt has failed."""
        reason = getattr(why, "reason", None) if isinstance(why, ssl.SSLError) else None
        found = _NOT_ACCEPTED.search(reason or "")
        if found is not None and not (self.accepted and found[1] == "UNKNOWN_CA"):
            lib.caucus_link_refuse(self._link)
            words = f"it does not accept this client's certificate: {(reason or '').lower().replace('_', ' ')}"
            self._why = RefusedError(f"{','.join(self.addresses)}: {words}", "CAUCUS_E_REFUSED")
        lib.caucus_link_disconnected(self._link, now_ms())

    def check_refused(self) -> None:
        """Raise why every address has refused for good, if all have."""
        if lib.caucus_link_refused(self._link):
            words = f"every address has refused this client for good: {','.join(self.addresses)}"
            raise self._why if isinstance(self._why, RefusedError) else RefusedError(words, "CAUCUS_E_REFUSED")

    def check_missing(self, give_up: float | None) -> None:
        """Raise if there has been no coordinator for so many seconds."""
        if give_up is not None and lib.caucus_link_missing_ms(self._link, now_ms()) > give_up * 1000:
            what = "announcement" if lib.caucus_link_late(self._link) else "coordinator"
            raise Error(f"no {what} at {','.join(self.addresses)} for {give_up:g} s", "CAUCUS_E_NETWORK")

    def leave(self, words: str) -> None:
        """Save the state as it is, and put a farewell behind what is being sent."""
        self._check(lib.caucus_link_leave(self._link, words.encode(), self._error))

    def to_send(self) -> bytes:
        """Bytes for the coordinator."""
        size = ffi.new("size_t *")
        data = lib.caucus_link_to_send(self._link, size)
        return b"" if data == ffi.NULL else bytes(ffi.buffer(data, min(size[0], _READ_BYTES)))

    def sent(self, count: int) -> None:
        """So many of them are on their way."""
        lib.caucus_link_sent(self._link, count)

    def next_address(self) -> str | None:
        """The address to dial now; None: not now."""
        address = lib.caucus_link_next_address(self._link, now_ms())
        return None if address == ffi.NULL else ffi.string(address).decode()

    @property
    def overdue(self) -> bool:
        """Whether the connection has taken too long to come, or to bring an announcement."""
        return bool(lib.caucus_link_timeout(self._link, now_ms()) != lib.CAUCUS_LINK_IN_TIME)

    @property
    def wait_seconds(self) -> float:
        """How long one may sleep if nothing else happens; a minute at most."""
        wait = lib.caucus_link_wait_ms(self._link, now_ms())
        return 60.0 if wait < 0 else min(wait / 1000, 60.0)

    @property
    def wants(self) -> bool:
        """False while so many announcements wait for their losses that no more should be read."""
        return bool(lib.caucus_link_wants(self._link))

    @property
    def ready(self) -> bool:
        """Whether the next round can be played."""
        return bool(lib.caucus_link_ready(self._link))

    @property
    def done(self) -> bool:
        """All rounds are played and every report is counted or no longer wanted."""
        return bool(lib.caucus_link_done(self._link))

    @property
    def heard(self) -> int:
        """The serial number after that of the newest announcement."""
        return int(lib.caucus_client_heard(lib.caucus_link_client(self._link)))

    @property
    def expert(self) -> int:
        """The expert of the coming round."""
        return int(lib.caucus_link_expert(self._link))

    @property
    def evaluate(self) -> list[int]:
        """The experts to evaluate in the coming round."""
        which = ffi.new("uint32_t[]", self.plan.evaluate)
        self._check(lib.caucus_link_evaluate(self._link, which, len(which)))
        return list(which)

    @property
    def round(self) -> int:
        """Rounds observed so far."""
        return int(lib.caucus_link_round(self._link))

    @property
    def counts(self) -> dict[str, int]:
        """Reports sent, reports sent again, bytes."""
        counts = ffi.new("caucus_link_counts *")
        lib.caucus_link_counts_init(counts)
        check(lib.caucus_link_count(self._link, counts), self._error)
        return {name: int(getattr(counts, name)) for name in ("reports", "again", "bytes_sent", "bytes_received")}
