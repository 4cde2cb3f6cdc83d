# SPDX-License-Identifier: Apache-2.0
"""`caucus.join()`: a place in a live federation."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ._connection import split_address
from ._device import Device
from ._errors import InputError, refuse
from ._gradient import Gradient, source_of
from ._keys import Key
from ._link import Ledger, Link
from ._member import Member
from ._native import lib
from ._numbers import pair, real, whole
from ._plan import FilePath, PlanOrPath, as_plan, pointer
from ._tls import Credentials

_TICK_MOST = 60_000
_CLIENT_MOST = 1 << 24


def _ledger(
    path: FilePath | None, budget: float | tuple[float, float] | None, trusted: bool, state: FilePath | None
) -> Ledger | None:
    """The device's own ledger, as it was asked for."""
    if path is None:
        if budget is not None:
            raise refuse("budget", f"{budget}: is of a ledger — give ledger, too")
        return None
    if trusted:
        words = "the plan trusts the coordinator, which keeps the budget — caucus serve --ledger"
        raise refuse("ledger", f"{os.fspath(path)}: {words}")
    if state is None:
        raise refuse("ledger", f"{os.fspath(path)}: needs state: a run is reserved once for each")
    if budget is None:
        return Ledger(path, None, 0.0)
    words = "must be epsilon, 0 or above, or (epsilon, delta) with delta from 0 to below 1"
    alone = not isinstance(budget, Sequence)
    epsilon, delta = (real("budget", budget, words), 0.0) if alone else pair("budget", budget, words)
    if not epsilon >= 0 or not 0 <= delta < 1:
        raise refuse("budget", f"{budget}: {words}")
    return Ledger(path, epsilon, delta)


def _credentials(
    cert: FilePath | None, key: FilePath | None, ca: FilePath | None, insecure: bool
) -> Credentials | None:
    """The certificate to show, None: without TLS."""
    files = {"cert": cert, "key": key, "ca": ca}
    if insecure and any(path is not None for path in files.values()):
        raise refuse("insecure", "uses no certificates — leave out cert, key and ca, or insecure")
    if insecure:
        return None
    if cert is None or key is None or ca is None:
        missing = next(name for name, path in files.items() if path is None)
        words = "is needed (caucus certify makes certificates to try things with; insecure works on loopback)"
        raise refuse(missing, words)
    return Credentials(cert, key, ca)


def _client(given: int | None, credentials: Credentials | None) -> int:
    """Which client this is: what its certificate says, or what was given."""
    if given is not None:
        given = whole("client", given, 1, _CLIENT_MOST, "must be a client's number, from 1")
    if credentials is None:
        if given is None:
            raise refuse("client", "is needed with insecure: no certificate says who this is")
        return given
    if credentials.index == 0:
        raise refuse("cert", f"{os.fspath(credentials.cert)}: its common name is not a client's number")
    if given not in (None, credentials.index):
        words = f"client {given}: the certificate {os.fspath(credentials.cert)} is that of client {credentials.index}"
        raise InputError(words, "CAUCUS_E_CONFLICT", "client")
    return credentials.index


def _check_tick(tick: int, trusts_nobody: bool) -> int:
    """Milliseconds; 0: as soon as they can."""
    tick = whole("tick", tick, 0, _TICK_MOST, f"must be milliseconds, at most {_TICK_MOST} (a minute)")
    if tick > 0 and not trusts_nobody:
        words = "goes with trust nobody: elsewhere the coordinator, which sees the time, sees the sums too"
        raise refuse("tick", f"{tick}: {words}")
    return tick


def _check_give_up(seconds: float | None) -> float | None:
    """Seconds, None: never."""
    words = "must be seconds, or None: never"
    if seconds is not None and real("give_up", seconds, words) < 0:
        raise refuse("give_up", f"{seconds}: {words}")
    return None if seconds is None else float(seconds)


def _check_new_device(new_device: bool, own_pace: bool, trusted: bool) -> None:
    if new_device and own_pace:
        raise refuse("new_device", "is not needed at its own pace: a client without a state begins with its next slot")
    if new_device and trusted:
        raise refuse("new_device", "is for plans that trust nobody: here no noise is drawn by clients")


def join(
    connect: str | Sequence[str],
    *,
    plan: PlanOrPath,
    client: int | None = None,
    cert: FilePath | None = None,
    key: FilePath | None = None,
    ca: FilePath | None = None,
    insecure: bool = False,
    state: FilePath | None = None,
    ledger: FilePath | None = None,
    budget: float | tuple[float, float] | None = None,
    new_device: bool = False,
    tick: int = 0,
    gradient: Gradient | None = None,
    give_up: float | None = None,
    seed: int | None = None,
) -> Member:
    """Join a live federation as the client whose number the certificate has, its common name.

    `client`, the number from 1, may be said too, and must be where there is no certificate. Files of certificates that
    have been renewed are read again with the next connection.

    `connect` is the coordinator's HOST:PORT; of several, each is tried in turn. Connections that break, and
    coordinators that announce nothing after their own deadline, are dialled again, and the log "caucus_dp" says why;
    `give_up` ends that after so many seconds without a coordinator. `state` is a file that survives a restart: the next
    round is then the one after `.round`. `insecure` leaves TLS out, on this machine only. A seed repeats a run: NOT
    PRIVATE.

    Where clients add the noise, `ledger` is this device's own: the run is reserved in it, once for each state, or
    refused if its budget has no room; `budget`, E or (E, D), begins a new one, and an old one must have the same.
    With `tick` (trust nobody) reports leave on multiples of so many milliseconds only.

        with join("host:7400", plan="plan.yaml", client=7, cert="7.pem", key="7.key", ca="ca.pem", state="7") as me:
            for round in me:
                play(round.expert)
                round.observe({expert: loss(expert) for expert in round.evaluate})

    Plans with convex losses need `gradient(round, x)`, the gradient of this client's loss of a round at the mixture x,
    one number per expert; `round.mixture` is played, and `round.observe()` says that the round is over. After a restart
    it is asked about rounds since the last report again, and must give the same answers.

    `async with` and `async for` do the same without blocking.

    Of a plan whose devices have their own pace (`pace: own`) it is a `Device`: losses are observed when there are some,
    and `wait()` gives the network its time.

        with join("host:7400", plan="plan.yaml", client=7, cert="7.pem", key="7.key", ca="ca.pem", state="7") as me:
            while not me.done:
                me.wait(60)
                for request in served(me.expert):
                    me.observe(losses_of_all_experts(request))
    """
    addresses = connect.split(",") if isinstance(connect, str) else list(connect)
    for address in addresses:
        split_address(address)
    own, give_up = as_plan(plan), _check_give_up(give_up)
    settings = lib.caucus_plan_settings(pointer(own))
    source = source_of(own, gradient)
    own_pace = settings.pace == lib.CAUCUS_PACE_OWN
    trusted = settings.trust == lib.CAUCUS_TRUST_COORDINATOR
    if not trusted and not own_pace and state is None and seed is None:
        words = "is needed where clients add the noise: without it a restart would draw noise for the same losses again"
        raise refuse("state", words)
    device_ledger = _ledger(ledger, budget, trusted, state)
    tick = _check_tick(tick, settings.trust == lib.CAUCUS_TRUST_NOBODY)
    _check_new_device(new_device, own_pace, trusted)
    credentials = _credentials(cert, key, ca, insecure)
    link = Link(
        addresses,
        own,
        _client(client, credentials),
        credentials=credentials,
        state=state,
        seed=seed,
        key=None if seed is not None else Key(),
        new_device=new_device,
        ledger=device_ledger,
        tick=tick,
        source=source,
    )
    return Device(link, give_up, seed is not None) if own_pace else Member(link, give_up)
