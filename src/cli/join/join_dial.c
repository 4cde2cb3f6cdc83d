/* SPDX-License-Identifier: Apache-2.0 */
/* join_dial.c: see join_dial.h. */
#include "cli/join/join_dial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void notice(void *user, const char *line) {
    (void)user;
    fprintf(stderr, "caucus join: %s\n", line);
}

/* A,B,C: an empty one is found by caucus_dial_check(). */
static caucus_status split(caucus_join_dial *d, const char *connect, caucus_error *ret_error) {
    d->text = strdup(connect);
    if (!d->text)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "connect", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    for (char *rest = d->text; rest;) {
        if (d->addresses == CAUCUS_ADDRESSES_MOST)
            return caucus_fail(ret_error, CAUCUS_E_RANGE, "connect", "%.100s…: more than %u addresses", connect,
                               CAUCUS_ADDRESSES_MOST);
        d->address[d->addresses++] = strsep(&rest, ",");
    }
    return CAUCUS_OK;
}

caucus_status caucus_join_dial_open(caucus_join_dial *d, const char *connect, const caucus_dial_settings *settings,
                                    caucus_error *ret_error) {
    *d = (caucus_join_dial){0};
    caucus_dial_settings own = *settings;
    own.notice = notice;
    caucus_status status = split(d, connect, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_dial_new(&own, &d->dial, ret_error);
    for (size_t i = 0; status == CAUCUS_OK && i < d->addresses; i++)
        status = caucus_dial_check(d->dial, d->address[i], ret_error);
    if (status == CAUCUS_OK)
        d->index = caucus_dial_index(d->dial);
    return status;
}

void caucus_join_dial_close(caucus_join_dial *d) {
    caucus_dial_free(d->dial);
    free(d->text);
}
