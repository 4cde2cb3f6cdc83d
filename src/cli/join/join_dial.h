/* SPDX-License-Identifier: Apache-2.0 */
/* join_dial.h: whom a client dials, and with which certificate. */
#ifndef CAUCUS_CLI_JOIN_DIAL_H
#define CAUCUS_CLI_JOIN_DIAL_H

#include "dial/address.h"
#include "dial/dial.h"

typedef struct caucus_join_dial {
    caucus_dial *dial;
    char *text; /* of --connect, cut at its commas */
    const char *address[CAUCUS_ADDRESSES_MOST];
    size_t addresses;
    uint32_t index; /* this client's, by its certificate; 0: it has none */
} caucus_join_dial;

/** Cut `connect` at its commas, read the certificates, check every address. What goes wrong later is printed. */
caucus_status caucus_join_dial_open(caucus_join_dial *ret, const char *connect, const caucus_dial_settings *settings,
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** SIGHUP asks for it: read the certificates again and dial again, if somebody asked. What comes of it is printed. */
void caucus_join_dial_mind(caucus_join_dial *dial, caucus_link *link);
void caucus_join_dial_close(caucus_join_dial *dial);

#endif
