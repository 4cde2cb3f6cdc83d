# SPDX-License-Identifier: Apache-2.0
"""`caucus.join()`: a place in a live federation."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ._device import Device
from ._errors import refuse
from ._keys import Key
from ._link import Link, split_address, tls_context
from ._member import Member
from ._native import lib
from ._plan import Plan, pointer


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
    new_device: bool = False,
    give_up: float | None = None,
    seed: int | None = None,
) -> Member:
    """Join a live federation as client number `client` (from 1), which is what its certificate says.

    `connect` is the coordinator's HOST:PORT; of several, each is tried in turn. Connections that break, and
    coordinators that announce nothing after their own deadline, are dialled again; `give_up` ends that after so many
    seconds without a coordinator. `state` is a file that survives a restart: the next round is then the one after
    `.round`. `insecure` leaves TLS out, on this machine only. A seed repeats a run: NOT PRIVATE.

        with join("host:7400", plan="plan.yaml", client=7, cert="7.pem", key="7.key", ca="ca.pem", state="7") as me:
            for round in me:
                play(round.expert)
                round.observe(losses_of_all_experts())

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
    if settings.loss_shape != lib.CAUCUS_LOSS_SHAPE_LINEAR:
        raise refuse("plan", "its losses are convex functions, known by their gradients — use the C interface")
    own_pace = settings.pace == lib.CAUCUS_PACE_OWN
    trusted = settings.trust == lib.CAUCUS_TRUST_COORDINATOR
    if not trusted and not own_pace and state is None and seed is None:
        words = "is needed where clients add the noise: without it a restart would draw noise for the same losses again"
        raise refuse("state", words)
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
    link = Link(addresses, own, client, context=context, state=state, seed=seed, key=secret, new_device=new_device)
    if own_pace:
        return Device(link, give_up, seed is not None)
    return Member(link, give_up)
