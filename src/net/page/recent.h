/* SPDX-License-Identifier: Apache-2.0 */
/* recent.h: what happened in each of the last sixty minutes, for the status page's small charts.
 * layer: net
 *
 * Memory is bounded: one set of counts per minute, in places that are used again. Minutes are those of the process's
 * own clock. A minute is as fine as it gets: when exactly something happened is nobody's business. */
#ifndef CAUCUS_NET_PAGE_RECENT_H
#define CAUCUS_NET_PAGE_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#define CAUCUS_RECENT_MINUTES 60

/* Since the process started; each only grows. */
typedef struct caucus_recent_counts {
    uint64_t steps;   /* decided */
    uint64_t reports; /* counted */
    uint64_t refused;
} caucus_recent_counts;

/* Begin with = {0}. */
typedef struct caucus_recent {
    bool begun;
    uint32_t known;  /* minutes, the one in hand included, at most CAUCUS_RECENT_MINUTES */
    uint64_t minute; /* in hand */
    caucus_recent_counts last;
    caucus_recent_counts in[CAUCUS_RECENT_MINUTES]; /* minute k at place k % CAUCUS_RECENT_MINUTES */
} caucus_recent;

/** Take a look. What has been added since the last look counts for the minute of this one. A first look counts what was
 *  before it if it comes within the process's first minute; else that is left out. A clock that goes back is the minute
 *  in hand. */
void caucus_recent_note(caucus_recent *recent, double uptime_seconds, const caucus_recent_counts *now);
/** What happened `ago` minutes ago; 0 is the minute in hand. ago < recent->known (assert). */
const caucus_recent_counts *caucus_recent_at(const caucus_recent *recent, uint32_t ago);

#endif
