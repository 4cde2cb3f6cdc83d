/* SPDX-License-Identifier: Apache-2.0 */
/* join_dial.c: see join_dial.h. */
#include "cli/join/join_dial.h"

#include "cli/options.h"
#include "cli/signals.h"
#include "num/error_line.h"
#include "num/fail.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t wanted;

static void on_hangup(int number) {
    (void)number;
    wanted = 1;
}

static void notice(void *user, const char *line) {
    (void)user;
    fprintf(stderr, "%s: %s\n", caucus_program("join"), line);
}

/* A,B,C: an empty one is found by caucus_dial_check(). */
static caucus_status split(caucus_join_dial *d, const char *connect, caucus_error *ret_error) {
    d->text = strdup(connect);
    if (!d->text)
        return caucus_fail_memory(ret_error, "connect");
    for (char *rest = d->text; rest;) {
        if (d->addresses == CAUCUS_ADDRESSES_MOST)
            return caucus_fail(ret_error, CAUCUS_E_RANGE, "connect", "%.100s…: more than %u addresses", connect,
                               CAUCUS_ADDRESSES_MOST);
        d->address[d->addresses++] = strsep(&rest, ",");
    }
    return CAUCUS_OK;
}

/* Whoever looks after this device hears of it before it is too late. */
static void say_expiry(const caucus_join_dial *d, bool always) {
    bool soon;
    const time_t ends = (time_t)caucus_dial_expiry(d->dial, &soon);
    struct tm parts;
    char date[24] = "";
    if (ends == 0 || !(soon || always))
        return;
    if (gmtime_r(&ends, &parts))
        (void)strftime(date, sizeof date, "%Y-%m-%d %H:%MZ", &parts);
    fprintf(stderr, "%s: this client's certificate expires %s%s\n", caucus_program("join"), date,
            soon ? ": renew it and send SIGHUP" : "");
}

void caucus_join_dial_mind(caucus_join_dial *d, caucus_link *link) {
    if (!wanted)
        return;
    wanted = 0;
    caucus_error error = {0};
    char line[CAUCUS_ERROR_LINE_BYTES];
    caucus_status status = caucus_dial_reload(d->dial, link, &error);
    if (status == CAUCUS_OK) {
        fprintf(stderr, "%s: certificates were read again\n", caucus_program("join"));
        say_expiry(d, true);
        return;
    }
    caucus_error_line(&error, status, line);
    fprintf(stderr, "%s: not read again: --%s %s; what was read before stays in use\n", caucus_program("join"),
            error.field, line);
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
    if (status != CAUCUS_OK)
        return status;
    d->index = caucus_dial_index(d->dial);
    say_expiry(d, false);
    caucus_on_signal(SIGHUP, on_hangup);
    return CAUCUS_OK;
}

void caucus_join_dial_close(caucus_join_dial *d) {
    caucus_dial_free(d->dial);
    free(d->text);
}
