# SPDX-License-Identifier: Apache-2.0
"""caucus over a Flower federation: the machines of caucus-dp, whose messages Flower carries."""

from __future__ import annotations

import caucus_dp as caucus


def read_plan(path: str) -> caucus.Plan:
    """A plan that this app can play, on either side; what it cannot is refused before anything is asked of a node."""
    plan = caucus.Plan.read(path)
    if plan.pace == "own":
        words = "its devices have their own pace, and here every node is asked at once — caucus serve plays it"
    elif plan.endless:
        words = "it has no end, and an app has one — say rounds in the plan, or let caucus serve play it"
    elif plan.convex:
        words = "its losses are convex functions, and here nodes measure numbers — caucus_dp.join(gradient=) plays it"
    else:
        return plan
    raise caucus.InputError(f"plan {path}: {words}", "CAUCUS_E_INFEASIBLE", "plan")
