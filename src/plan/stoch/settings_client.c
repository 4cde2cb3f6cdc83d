/* SPDX-License-Identifier: Apache-2.0 */
/* settings_client.c: whether a record may be everything that a client contributes. See unit_client.c. */
#include "plan/family.h"

#include <inttypes.h>

#define GROWTH_MOST (1u << 20)

/* What has no meaning where every phase learns from all losses so far, or has no mean. */
static caucus_status check_fit(const caucus_settings *s, caucus_error *e) {
    if (s->rounds == CAUCUS_ROUNDS_ENDLESS)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "unit",
                           "client in a run without an end, to which a client contributes without an end "
                           "(accepted: event, client-block; or a number of rounds)");
    if (s->calibration == CAUCUS_CALIBRATION_PAPER)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "unit",
                           "client with calibration paper (accepted: event, client-block; or calibration tight)");
    if (s->loss_shape != CAUCUS_LOSS_SHAPE_LINEAR || s->trees > 0)
        return caucus_fail(
            e, CAUCUS_E_INFEASIBLE, "unit",
            "client with %s, of which there is no mean (accepted: event; or linear losses without trees)",
            s->trees > 0 ? "trees" : "convex losses");
    if (s->longest_phase != 0 || s->past_phases)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, s->past_phases ? "past-phases" : "longest-phase",
                           "given with unit client, where every phase learns from all losses so far (accepted: none; "
                           "or unit event or client-block)");
    return CAUCUS_OK;
}

caucus_status caucus_settings_check_client(const caucus_settings *s, caucus_error *e) {
    if (s->unit != CAUCUS_UNIT_CLIENT)
        return s->growth == CAUCUS_GROWTH_AUTO ? CAUCUS_OK
                                               : caucus_fail(e, CAUCUS_E_INFEASIBLE, "growth",
                                                             "%" PRIu64 " (accepted only with unit client)", s->growth);
    if (s->growth != CAUCUS_GROWTH_AUTO && (s->growth < 2 || s->growth > GROWTH_MOST))
        return caucus_fail(e, CAUCUS_E_RANGE, "growth", "%" PRIu64 " (accepted: 2 to %u, or auto)", s->growth,
                           GROWTH_MOST);
    return check_fit(s, e);
}
