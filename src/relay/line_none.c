/* SPDX-License-Identifier: Apache-2.0 */
/* line_none.c: line.h in a program that was built without libnats: a line cannot be opened, so nothing is ever asked of
 * one. */
#include "num/fail.h"
#include "relay/line.h"

#ifndef CAUCUS_NATS

const char *caucus_line_version(void) {
    return NULL;
}

caucus_status caucus_line_open(const caucus_line_settings *settings, caucus_line **ret, caucus_error *ret_error) {
    (void)settings, (void)ret;
    return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "nats", "this program was built without libnats (libnats-dev)");
}

void caucus_line_close(caucus_line *line) {
    (void)line;
}

caucus_status caucus_line_hear(caucus_line *line, const char *subject) {
    (void)line, (void)subject;
    return CAUCUS_E_NETWORK;
}

bool caucus_line_say(caucus_line *line, const char *subject, const uint8_t *bytes, size_t size) {
    (void)line, (void)subject, (void)bytes, (void)size;
    return false;
}

int caucus_line_wait(const caucus_line *line) {
    (void)line;
    return -1;
}

void caucus_line_wake(caucus_line *line) {
    (void)line;
}

caucus_letter *caucus_line_take(caucus_line *line) {
    (void)line;
    return NULL;
}

bool caucus_line_is_up(caucus_line *line) {
    (void)line;
    return false;
}

uint64_t caucus_line_reconnects(const caucus_line *line) {
    (void)line;
    return 0;
}

uint64_t caucus_line_drops(const caucus_line *line) {
    (void)line;
    return 0;
}

bool caucus_line_lost(caucus_line *line, char ret_why[CAUCUS_LINE_WHY_BYTES]) {
    (void)line, (void)ret_why;
    return false;
}

#endif
