/* SPDX-License-Identifier: Apache-2.0 */
/* serve_stay.c: see serve_stay.h. The coordinator runs in a thread of its own; this one looks at the page meanwhile. */
#include "cli/serve/serve_stay.h"

#include "cli/serve/serve_print.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define LOOK_NS 50000000

typedef struct running {
    caucus_server *server;
    caucus_status status;
    caucus_error error;
    _Atomic bool ended;
} running;

void caucus_stay_over(void *staying) {
    atomic_store(&((caucus_staying *)staying)->over, true);
}

static void *run(void *user) {
    running *r = user;
    r->status = caucus_server_run(r->server, &r->error);
    atomic_store(&r->ended, true);
    return NULL;
}

caucus_status caucus_stay_run(caucus_server *server, caucus_staying *staying, bool *ret_said, caucus_error *ret_error) {
    running r = {.server = server};
    pthread_t thread;
    bool said = false, told = !staying->json || !staying->http;
    int failed = pthread_create(&thread, NULL, run, &r);
    if (failed != 0)
        return caucus_fail_os(ret_error, CAUCUS_E_MEMORY, failed, "stay", "cannot start a thread");
    while (!atomic_load(&r.ended)) {
        (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL); /* a signal ends it early, too */
        if (!said && atomic_load(&staying->over)) {
            said = true;
            staying->summary(staying->user);
            (void)fflush(stdout);
            caucus_log_say(staying->log, CAUCUS_LOG_NOTICE, "stays",
                           "the run is over; page and coordinator stay until this program is stopped");
        }
        if (said && !told && caucus_http_shown(staying->http)) {
            caucus_serve_page_shown();
            told = true;
        }
    }
    (void)pthread_join(thread, NULL);
    *ret_said = said;
    if (r.status != CAUCUS_OK && ret_error)
        *ret_error = r.error;
    return r.status;
}
