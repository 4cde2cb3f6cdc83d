/* SPDX-License-Identifier: Apache-2.0 */
/* slot_clock.c: see slot_clock.h. */
#include "net/pace/slot_clock.h"

#include <time.h>

#include "plan/pace/pace.h"

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

int64_t caucus_slot_decides_ns(const caucus_settings *s, uint64_t phase, int64_t now_ns) {
    const int64_t next = caucus_slot_next_ns(s, now_ns);
    if (!caucus_pace_by_question(s))
        return next;
    int64_t due;
    if (__builtin_mul_overflow((int64_t)caucus_pace_question_end(s, phase - 1), (int64_t)s->phase_time * SECOND,
                               &due) ||
        __builtin_add_overflow(due, (int64_t)s->grace * SECOND, &due))
        return INT64_MAX; /* no clock comes to it */
    return next > due ? next : due;
}

uint64_t caucus_slot_decided(const caucus_settings *s, int64_t now_ns) {
    const int64_t since = now_ns - (int64_t)s->grace * SECOND;
    return since > 0 ? (uint64_t)(since / ((int64_t)s->phase_time * SECOND)) : 0;
}

uint64_t caucus_slot_sleep_ns(int64_t at_ns, int64_t now_ns) {
    const int64_t left = at_ns - now_ns;
    return left <= 0 ? 0 : (uint64_t)(left < LOOK_NS ? left : LOOK_NS);
}
