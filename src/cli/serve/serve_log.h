/* SPDX-License-Identifier: Apache-2.0 */
/* serve_log.h: the coordinator's log: lines with dates, as text or JSON, that nobody can hold up.
 *
 * A line is made where something happens and put into a queue; one thread writes it. Whoever reads standard error and
 * stops reading (a pager, a stuck collector) holds up that thread and nothing else: when the queue is full lines are
 * dropped and counted, and the next line that is written says how many. */
#ifndef CAUCUS_CLI_SERVE_LOG_H
#define CAUCUS_CLI_SERVE_LOG_H

#include "net/server.h"

typedef enum caucus_log_level { CAUCUS_LOG_ERROR, CAUCUS_LOG_NOTICE, CAUCUS_LOG_DETAIL } caucus_log_level;

typedef struct caucus_log caucus_log;

/** verb: who writes, "serve": before every line that is text.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_log_open(const char *verb, caucus_log_level level, bool json, caucus_log **ret,
                              caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Write what is in the queue, for a second at most; NULL is allowed. */
void caucus_log_close(caucus_log *log);

/** For caucus_server_settings: log, with log_user a caucus_log. */
void caucus_log_put(void *log, const caucus_log_line *line);

/** A line of the program's own. */
void caucus_log_say(caucus_log *log, caucus_log_level level, const char *event, const char *text);

/** Lines dropped so far, for a metric: lives as long as the log. */
const _Atomic uint64_t *caucus_log_dropped(const caucus_log *log);

#endif
