# SPDX-License-Identifier: Apache-2.0
"""One connection to a coordinator: a socket and TLS, both Python's, around the bytes of a link. Nothing here waits."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import math
import os
import re
import select
import socket
import ssl
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._errors import refuse
from ._tls import check_coordinator

if TYPE_CHECKING:
    from ._link import Link

READ_BYTES = 1 << 16
_NEXT_MS = 2500  # a name stands for several machines, and this one does not answer: the next one
# As `caucus join` has it: a host that vanished sends nothing, not even an end. After 20 s of silence the kernel asks,
# every 5 s, whether it is still there; 30 s after the first byte that nobody acknowledged the connection is over.
_PATIENCE = (
    (socket.TCP_KEEPIDLE, 20),
    (socket.TCP_KEEPINTVL, 5),
    (socket.TCP_KEEPCNT, 2),
    (socket.TCP_USER_TIMEOUT, 30_000),
)


def now_ms() -> int:
    """The link's clock: it never goes back."""
    return time.monotonic_ns() // 1_000_000


def wait_for(one: socket.socket, read: bool, write: bool, seconds: float) -> bool:
    """Wait until a socket can be read from or written to, whatever its number (select() ends at 1024)."""
    poll = select.poll()
    poll.register(one, (select.POLLIN if read else 0) | (select.POLLOUT if write else 0))
    return bool(poll.poll(math.ceil(seconds * 1000)))


def split_address(text: str) -> tuple[str, int]:
    """Host and port of HOST:PORT or [HOST]:PORT."""
    found = re.fullmatch(r"(?:\[([^\[\]]+)\]|([^:\[\]]+)):([0-9]{1,5})", text)
    if found is None or int(found[3]) > 65535:
        raise refuse("connect", f"{text} — write HOST:PORT, for example 127.0.0.1:7400 or [::1]:7400")
    return found[1] or found[2], int(found[3])


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
        self._next_ms = 0  # when the next machine is tried instead of one that does not answer
        self.socket = self._next_socket(OSError("all that this name stands for have refused"))
        if link.credentials is not None:
            self._tls = link.credentials.context.wrap_bio(self._incoming, self._outgoing, server_hostname=self.host)

    def _next_socket(self, why: OSError) -> socket.socket:
        """Begin to connect to the next machine that the name stands for."""
        while self._targets:
            family, kind, protocol, _, target = self._targets.pop(0)
            if self.link.credentials is None and not ipaddress.ip_address(target[0]).is_loopback:
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
                for option, value in _PATIENCE:
                    fresh.setsockopt(socket.IPPROTO_TCP, option, value)
            self._next_ms = now_ms() + _NEXT_MS
            code = fresh.connect_ex(target)
            if code in (0, errno.EINPROGRESS):
                return fresh
            why = OSError(code, os.strerror(code))
            fresh.close()
        raise why

    @property
    def wait_seconds(self) -> float:
        """How long one may wait for the socket: less, while there is another machine to try."""
        return 60.0 if self._reached or not self._targets else max(self._next_ms - now_ms(), 0) / 1000

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
        if not wait_for(self.socket, read=False, write=True, seconds=0):
            if self._targets and now_ms() >= self._next_ms:
                self.socket.close()
                self.socket = self._next_socket(TimeoutError("no answer"))
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
            raise ConnectionResetError("the connection was closed")

    def _receive(self) -> bool:
        """Take what the socket has. True: it has ended."""
        try:
            data = self.socket.recv(READ_BYTES)
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
                    check_coordinator(self._tls.getpeercert(binary_form=True))  # before anything has left
            except ssl.SSLWantReadError:
                return
            self._shaken = True
            self.link.connected()
        while self.link.wants:
            try:
                data = self._tls.read(READ_BYTES) if self._tls is not None else self._incoming.read(READ_BYTES)
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
            self._pending = self._pending or self._outgoing.read(READ_BYTES)
            if not self._pending:
                return
            try:
                self._pending = self._pending[self.socket.send(self._pending) :]
            except BlockingIOError:
                return

    def close(self) -> None:
        """Hang up."""
        self.socket.close()
