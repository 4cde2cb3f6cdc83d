# SPDX-License-Identifier: Apache-2.0
"""`caucus.join()`: a place in a live federation."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ._connection import split_address, tls_context
from ._device import Device
from ._errors import refuse
from ._gradient import Gradient, source_of
from ._keys import Key
from ._link import Ledger, Link
from ._member import Member
from ._native import lib
from ._plan import Plan, pointer

_TICK_MOST = 60_000


def _ledger(
    path: str | os.PathLike[str] | None,
    budget: float | tuple[float, float] | None,
    trusted: bool,
    state: str | os.PathLike[str] | None,
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
    epsilon, delta = budget if isinstance(budget, tuple) else (budget, 0.0)
    if not epsilon >= 0 or not 0 <= delta < 1:  # also refuses NaN
        raise refuse(
            "budget", f"{budget}: must be epsilon, 0 or above, or (epsilon, delta) with delta from 0 to below 1"
        )
    return Ledger(path, float(epsilon), float(delta))


def join(
    connect: str | Sequence[str],
    *,
    plan: Plan | str | os.PathLike[str],
    client: int,
    cert: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | None = None,
    ca: str | os.PathLike[str] | None = None,
    insecure: bool = False,
    state: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    budget: float | tuple[float, float] | None = None,
    new_device: bool = False,
    tick: int = 0,
    gradient: Gradient | None = None,
    give_up: float | None = None,
    seed: int | None = None,
) -> Member:
    """Join a live federation as client number `client` (from 1), which is what its certificate says.

    `connect` is the coordinator's HOST:PORT; of several, each is tried in turn. Connections that break, and
    coordinators that announce nothing after their own deadline, are dialled again; `give_up` ends that after so many
    seconds without a coordinator. `state` is a file that survives a restart: the next round is then the one after
    `.round`. `insecure` leaves TLS out, on this machine only. A seed repeats a run: NOT PRIVATE.

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
    files = {"cert": cert, "key": key, "ca": ca}
    given = [name for name, path in files.items() if path is not None]
    if insecure and given:
        raise refuse("insecure", "uses no certificates — leave out cert, key and ca, or insecure")
    own = plan if isinstance(plan, Plan) else Plan.read(plan)
    settings = lib.caucus_plan_settings(pointer(own))
    source = source_of(own, gradient)
    own_pace = settings.pace == lib.CAUCUS_PACE_OWN
    trusted = settings.trust == lib.CAUCUS_TRUST_COORDINATOR
    if not trusted and not own_pace and state is None and seed is None:
        words = "is needed where clients add the noise: without it a restart would draw noise for the same losses again"
        raise refuse("state", words)
    device_ledger = _ledger(ledger, budget, trusted, state)
    if isinstance(tick, bool) or not 0 <= tick <= _TICK_MOST:
        raise refuse("tick", f"{tick}: must be milliseconds, at most {_TICK_MOST} (a minute)")
    if tick > 0 and settings.trust != lib.CAUCUS_TRUST_NOBODY:
        words = "goes with trust nobody: elsewhere the coordinator, which sees the time, sees the sums too"
        raise refuse("tick", f"{tick}: {words}")
    if new_device and own_pace:
        raise refuse("new_device", "is not needed at its own pace: a client without a state begins with its next slot")
    if new_device and trusted:
        raise refuse("new_device", "is for plans that trust nobody: here no noise is drawn by clients")
    context = None
    if cert is not None and key is not None and ca is not None:
        context = tls_context(cert, key, ca)
    elif not insecure:
        missing = next(name for name, path in files.items() if path is None)
        words = "is needed (caucus certify makes certificates to try things with; insecure works on loopback)"
        raise refuse(missing, words)
    secret = None if seed is not None else Key()
    link = Link(
        addresses,
        own,
        client,
        context=context,
        state=state,
        seed=seed,
        key=secret,
        new_device=new_device,
        ledger=device_ledger,
        tick=tick,
        source=source,
    )
    if own_pace:
        return Device(link, give_up, seed is not None)
    return Member(link, give_up)
