/* SPDX-License-Identifier: Apache-2.0 */
/* serve_print.h: what `caucus serve` prints on standard output, for people or as one JSON object per line.
 * layer: cli */
#ifndef CAUCUS_CLI_SERVE_PRINT_H
#define CAUCUS_CLI_SERVE_PRINT_H

#include "net/server.h"

/** The lines scripts wait for. http_port: 0 = no status page. */
void caucus_serve_listening(bool json, const char *listen, uint16_t port, const char *hash, uint16_t http_port,
                            bool seeded);

/** How it ended. */
void caucus_serve_summary(bool json, const caucus_server_status *now, const caucus_plan *plan, const char *name,
                          const char *state_dir);
/** Somebody has loaded the page; JSON only. */
void caucus_serve_page_shown(void);

#endif
