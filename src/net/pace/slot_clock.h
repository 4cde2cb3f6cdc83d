/* SPDX-License-Identifier: Apache-2.0 */
/* slot_clock.h: when a coordinator decides where every device has its own pace: `grace` after each multiple of
 * `phase-time` of the clock that is set, and at no other time (docs/PRIVACY.md, "At their own pace").
 * layer: net */
#ifndef CAUCUS_NET_PACE_SLOT_CLOCK_H
#define CAUCUS_NET_PACE_SLOT_CLOCK_H

#include <caucus/settings.h>

/** Nanoseconds since 1970, by the clock that is set. */
int64_t caucus_slot_now_ns(void);

/** The first time to decide after `now_ns`, likewise. */
int64_t caucus_slot_next_ns(const caucus_settings *settings, int64_t now_ns);

/** The first time after `now_ns` at which the announcement that asks about phase `phase` may be decided on: the same,
 *  and of unit client not before its question has ended. */
int64_t caucus_slot_decides_ns(const caucus_settings *settings, uint64_t phase, int64_t now_ns);

/** The slot after the last one whose end was `grace` ago or longer. */
uint64_t caucus_slot_decided(const caucus_settings *settings, int64_t now_ns);

/** How long to sleep at most before looking at that clock again, which may have been set meanwhile: until `at_ns`, and
 *  a minute at most. */
uint64_t caucus_slot_sleep_ns(int64_t at_ns, int64_t now_ns);

#endif
