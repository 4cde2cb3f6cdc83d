/* SPDX-License-Identifier: Apache-2.0 */
/* serve_log.c: see serve_log.h. */
#include "cli/serve/serve_log.h"

#include "cli/terminal/dress.h"
#include "num/fail.h"
#include "num/printable.h"
#include "store/json.h"
#include "store/timed_wait.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINES 256u
#define LINE_BYTES 2048u
#define CLOSE_NS UINT64_C(1000000000) /* how long what is still in the queue may take */

struct caucus_log {
    const char *verb;
    caucus_log_level level;
    bool json;
    pthread_mutex_t lock;
    pthread_cond_t more, less; /* something was put; something was written */
    pthread_t thread;
    uint32_t first, count; /* of the queue */
    bool closing, idle;    /* idle: nothing is being written */
    uint64_t said;         /* dropped lines that were said */
    _Atomic uint64_t dropped;
    char line[LINES][LINE_BYTES];
};

static const char *const level_words[] = {"error", "notice", "detail"};

static void put_bytes(const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t n = write(STDERR_FILENO, bytes, size);
        if (n < 0 && errno == EAGAIN) { /* somebody else made it so */
            struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
            (void)poll(&room, 1, -1);
        } else if (n < 0 && errno != EINTR) {
            return; /* nobody is left to tell */
        }
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
}

static void make_date(char ret[32]) {
    time_t now = time(NULL);
    struct tm parts;
    ret[0] = '\0';
    if (gmtime_r(&now, &parts))
        (void)strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static void make_json(const caucus_log_line *l, const char *date, const char *text, char *ret, size_t room) {
    FILE *to = fmemopen(ret, room, "w");
    if (!to)
        return;
    caucus_json j;
    caucus_json_begin(&j, to, true);
    caucus_json_text(&j, "time", date);
    caucus_json_text(&j, "level", level_words[l->level]);
    caucus_json_text(&j, "event", l->event ? l->event : "remark");
    caucus_json_text(&j, "text", text);
    if (l->client)
        caucus_json_whole(&j, "client", l->client);
    if (l->has_expert) {
        caucus_json_whole(&j, "expert", l->expert);
        caucus_json_text(&j, "expert_name", l->expert_name);
    }
    const struct {
        const char *key, *value;
    } more[] = {{"reason", l->reason},
                {"address", l->address},
                {"certificate", l->certificate},
                {"certificate_serial", l->certificate_serial}};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (more[i].value && more[i].value[0])
            caucus_json_text(&j, more[i].key, more[i].value);
    caucus_json_end(&j);
    (void)fclose(to);
}

/* One whole line with its end; what does not fit is cut. */
static void make_line(const caucus_log *log, const caucus_log_line *l, char ret[LINE_BYTES]) {
    char date[32], text[768];
    make_date(date);
    (void)snprintf(text, sizeof text, "%s", l->text);
    caucus_printable(text);
    ret[0] = '\0';
    if (log->json)
        make_json(l, date, text, ret, LINE_BYTES);
    else
        (void)snprintf(ret, LINE_BYTES, "caucus %s: %s %s\n", log->verb, date, text);
}

/* A line for people fits the terminal it is read on; JSON is one line, whoever reads it. */
static void put_line(const caucus_log *log, const char *line) {
    const caucus_dress *dress = log->json ? NULL : caucus_dress_stderr();
    const size_t length = strlen(line), text = length > 0 && line[length - 1] == '\n' ? length - 1 : length;
    caucus_text fit = {0};
    if (dress != NULL) {
        caucus_dress_line(dress, line, text, &fit);
        caucus_text_add(&fit, "\n");
    }
    if (fit.data != NULL && !fit.failed)
        put_bytes(fit.data, fit.length);
    else
        put_bytes(line, length);
    caucus_text_free(&fit);
}

static void *write_lines(void *user) {
    caucus_log *log = user;
    char line[LINE_BYTES];
    pthread_mutex_lock(&log->lock);
    for (;;) {
        while (log->count == 0 && !log->closing) {
            log->idle = true;
            pthread_cond_broadcast(&log->less);
            pthread_cond_wait(&log->more, &log->lock);
        }
        if (log->count == 0)
            break;
        log->idle = false;
        memcpy(line, log->line[log->first], sizeof line);
        log->first = (log->first + 1) % LINES;
        log->count--;
        uint64_t dropped = atomic_load(&log->dropped), more = dropped - log->said;
        log->said = dropped;
        pthread_mutex_unlock(&log->lock);
        if (more > 0) {
            char lost[LINE_BYTES], text[96];
            (void)snprintf(text, sizeof text, "%" PRIu64 " lines were dropped: nobody read standard error", more);
            make_line(log, &(caucus_log_line){.level = CAUCUS_LOG_ERROR, .event = "dropped", .text = text}, lost);
            put_line(log, lost);
        }
        put_line(log, line);
        pthread_mutex_lock(&log->lock);
    }
    log->idle = true;
    pthread_cond_broadcast(&log->less);
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

caucus_status caucus_log_open(const char *verb, caucus_log_level level, bool json, caucus_log **ret,
                              caucus_error *ret_error) {
    caucus_log *log = calloc(1, sizeof *log);
    if (!log)
        return caucus_fail_memory(ret_error, "");
    log->verb = verb;
    log->level = level;
    log->json = json;
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->more, NULL);
    caucus_timed_init(&log->less);
    sigset_t all, before;
    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&log->thread, NULL, write_lines, log);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0) {
        free(log);
        return caucus_fail_os(ret_error, CAUCUS_E_MEMORY, failed, "", "cannot start a thread");
    }
    *ret = log;
    return CAUCUS_OK;
}

void caucus_log_close(caucus_log *log) {
    if (!log)
        return;
    const uint64_t until_ns = caucus_clock_ns() + CLOSE_NS;
    pthread_mutex_lock(&log->lock);
    log->closing = true;
    pthread_cond_broadcast(&log->more);
    bool in_time = true;
    while (in_time && !(log->count == 0 && log->idle))
        in_time = caucus_timed_wait(&log->less, &log->lock, until_ns);
    pthread_mutex_unlock(&log->lock);
    if (!in_time) {
        (void)pthread_detach(log->thread); /* it hangs in a write; the process ends with it, and so does its memory */
        return;
    }
    (void)pthread_join(log->thread, NULL);
    pthread_mutex_destroy(&log->lock);
    pthread_cond_destroy(&log->more);
    pthread_cond_destroy(&log->less);
    free(log);
}

void caucus_log_put(void *user, const caucus_log_line *line) {
    caucus_log *log = user;
    char made[LINE_BYTES];
    if (line->level > (int)log->level)
        return;
    make_line(log, line, made);
    pthread_mutex_lock(&log->lock);
    if (log->count == LINES) {
        atomic_fetch_add(&log->dropped, 1);
    } else {
        memcpy(log->line[(log->first + log->count++) % LINES], made, sizeof made);
        pthread_cond_signal(&log->more);
    }
    pthread_mutex_unlock(&log->lock);
}

void caucus_log_say(caucus_log *log, caucus_log_level level, const char *event, const char *text) {
    caucus_log_put(log, &(caucus_log_line){.level = (int)level, .event = event, .text = text});
}

const _Atomic uint64_t *caucus_log_dropped(const caucus_log *log) {
    return &log->dropped;
}
