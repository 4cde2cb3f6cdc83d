/* SPDX-License-Identifier: Apache-2.0 */
/* serve_stay.h: `serve --stay`: the run is over, and page and coordinator stay. */
#ifndef CAUCUS_CLI_SERVE_STAY_H
#define CAUCUS_CLI_SERVE_STAY_H

#include "cli/serve/serve_log.h"
#include "net/http.h"
#include "net/server.h"

typedef struct caucus_staying {
    caucus_http *http; /* NULL: no page */
    caucus_log *log;
    bool json;                   /* json: whoever reads our lines hears when the page has been seen */
    void (*summary)(void *user); /* prints how it went; called once, when the run is over */
    void *user;
    _Atomic bool over; /* set by caucus_stay_over() */
} caucus_staying;

/** For caucus_server_settings: over and over_user (a caucus_staying). */
void caucus_stay_over(void *staying);

/** caucus_server_run(), with the summary when the run is over and not when the process is.
 *  Out:     ret_said  whether the summary was printed. */
caucus_status caucus_stay_run(caucus_server *server, caucus_staying *staying, bool *ret_said,
                              caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
