# SPDX-License-Identifier: Apache-2.0
"""caucus: pick the best of d experts for a fleet, online, with differential privacy.

`plan()` calibrates a run, `simulate()` plays one, `join()` is a client of a live federation; `Client` and `Coordinator`
are the bare machines, for transports of your own; `pick()` makes one private choice, `laplace()` and `gaussian()` draw
exact noise. All of it is the C library of the program `caucus`: the same settings, the same words, the same bytes.
"""

from ._device import Device
from ._errors import Error, InputError, OutsideWarning, RefusedError
from ._gradient import Gradient
from ._join import join
from ._keys import Key
from ._machines import Client, Coordinator
from ._member import Member, Round
from ._messages import Announcement, Look, Report
from ._native import ffi as _ffi
from ._native import lib as _lib
from ._pick import pick
from ._plan import Advice, Plan, PlanSettings, plan
from ._samplers import gaussian, laplace
from ._simulate import Curves, Run, Simulation, SimulationSettings, simulate

__version__: str = _ffi.string(_lib.caucus_version()).decode()

__all__ = [
    "Advice",
    "Announcement",
    "Client",
    "Coordinator",
    "Curves",
    "Device",
    "Error",
    "Gradient",
    "InputError",
    "Key",
    "Look",
    "Member",
    "OutsideWarning",
    "Plan",
    "PlanSettings",
    "RefusedError",
    "Report",
    "Round",
    "Run",
    "Simulation",
    "SimulationSettings",
    "gaussian",
    "join",
    "laplace",
    "pick",
    "plan",
    "simulate",
]
