/* SPDX-License-Identifier: Apache-2.0 */
/* recent.c: see recent.h. */
#include "net/page/recent.h"

#include <assert.h>

static uint64_t more(uint64_t now, uint64_t before) {
    return now > before ? now - before : 0;
}

void caucus_recent_note(caucus_recent *r, double uptime_seconds, const caucus_recent_counts *now) {
    const uint64_t minute = uptime_seconds > 0 ? (uint64_t)(uptime_seconds / 60) : 0;
    if (!r->begun) {
        *r = (caucus_recent){.begun = true, .known = 1, .minute = minute};
        if (minute > 0) /* in which of the minutes before is not known */
            r->last = *now;
    }
    if (minute > r->minute + CAUCUS_RECENT_MINUTES) /* all that was known is too old */
        r->minute = minute - CAUCUS_RECENT_MINUTES;
    while (r->minute < minute) {
        r->in[++r->minute % CAUCUS_RECENT_MINUTES] = (caucus_recent_counts){0};
        r->known += r->known < CAUCUS_RECENT_MINUTES;
    }
    caucus_recent_counts *in = &r->in[r->minute % CAUCUS_RECENT_MINUTES];
    in->steps += more(now->steps, r->last.steps);
    in->reports += more(now->reports, r->last.reports);
    in->refused += more(now->refused, r->last.refused);
    r->last = *now;
}

const caucus_recent_counts *caucus_recent_at(const caucus_recent *r, uint32_t ago) {
    assert(ago < r->known && ago <= r->minute);
    return &r->in[(r->minute - ago) % CAUCUS_RECENT_MINUTES];
}
