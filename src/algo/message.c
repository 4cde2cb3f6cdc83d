/* SPDX-License-Identifier: Apache-2.0 */
/* message.c: the cost of messages, and the last one. See message.h. */
#include <caucus/message.h>

bool caucus_announcement_stops(const caucus_announcement *announcement) {
    return announcement->ask == CAUCUS_ASK_NOTHING && announcement->leaf == CAUCUS_LEAF_STOPPED;
}

uint64_t caucus_report_bytes(const caucus_report *report) {
    return CAUCUS_REPORT_HEAD_BYTES + 8 * (uint64_t)report->count;
}

uint64_t caucus_announcement_bytes(const caucus_announcement *announcement) {
    return CAUCUS_ANNOUNCEMENT_HEAD_BYTES + 4 * (uint64_t)announcement->listed;
}

uint64_t caucus_announcement_scalars(const caucus_announcement *announcement) {
    return 1 + (uint64_t)announcement->listed;
}
