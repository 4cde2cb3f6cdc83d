/* SPDX-License-Identifier: Apache-2.0 */
/* slot_clock.c: see slot_clock.h. */
#include "net/pace/slot_clock.h"

#include <time.h>

#define SECOND INT64_C(1000000000)
#define LOOK_NS (60 * SECOND)

int64_t caucus_slot_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * SECOND + (int64_t)now.tv_nsec;
}

int64_t caucus_slot_next_ns(const caucus_settings *s, int64_t now_ns) {
    const int64_t length = (int64_t)s->phase_time * SECOND, grace = (int64_t)s->grace * SECOND;
    const int64_t since = now_ns - grace;
    int64_t slot = since / length;
    if (since < 0 && since % length != 0) /* before 1970: round down */
        slot--;
    return (slot + 1) * length + grace;
}

uint64_t caucus_slot_sleep_ns(int64_t at_ns, int64_t now_ns) {
    const int64_t left = at_ns - now_ns;
    return left <= 0 ? 0 : (uint64_t)(left < LOOK_NS ? left : LOOK_NS);
}
