/* SPDX-License-Identifier: Apache-2.0 */
/* join_end.c: see join_end.h. */
#include "cli/join/join_end.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/options.h"
#include "cli/signals.h"

void caucus_join_say_end(const caucus_link *link, const caucus_plan *plan) {
    caucus_link_counts counts;
    uint64_t low, high, nan;
    caucus_link_counts_init(&counts);
    if (caucus_link_count(link, &counts) != CAUCUS_OK)
        return;
    caucus_client_clips(caucus_link_client(link), &low, &high, &nan);
    const bool ended = caucus_client_stopped(caucus_link_client(link));
    fprintf(stderr, "%s: %s%" PRIu64 " %s, %llu reports%s", caucus_program("join"),
            ended              ? "the run was ended for good: "
            : caucus_stopped() ? "stopped: "
                               : "",
            caucus_link_round(link), plan->settings.pace == CAUCUS_PACE_OWN ? "losses" : "rounds",
            (unsigned long long)counts.reports, counts.again ? "" : "\n");
    if (counts.again)
        fprintf(stderr, " (%llu sent again)\n", (unsigned long long)counts.again);
    if (low + high > 0)
        fprintf(stderr, "%s: %llu losses were outside [%g, %g] and were moved to its border\n", caucus_program("join"),
                (unsigned long long)low + high, plan->settings.lo, plan->settings.hi);
    if (nan > 0)
        fprintf(stderr, "%s: %llu losses were not numbers and counted as %g, the worst\n", caucus_program("join"),
                (unsigned long long)nan, plan->settings.hi);
}

void caucus_join_say_missed(uint64_t first, uint64_t last) {
    fprintf(stderr,
            "%s: rounds %" PRIu64 " to %" PRIu64 " were played without this client: going on at round %" PRIu64 "\n",
            caucus_program("join"), first, last, last + 1);
}

void caucus_join_say_alone(const char *connect, bool kept) {
    fprintf(stderr, "%s: no coordinator at %s since the losses ended%s\n", caucus_program("join"), connect,
            kept ? " — they are in --state, and the next start reports them" : "");
}
