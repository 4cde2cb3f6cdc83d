/* SPDX-License-Identifier: Apache-2.0 */
/* joining.h: one client of a live federation: what was asked for, and what it holds while it plays.
 * layer: cli
 *
 * join_options.c reads the words, join_open.c opens everything that they name, join.c plays. Functions that return an
 * exit code have said what is wrong; 0: go on. */
#ifndef CAUCUS_CLI_JOIN_JOINING_H
#define CAUCUS_CLI_JOIN_JOINING_H

#include "cli/join/join_dial.h"
#include "cli/join/join_losses.h"
#include "cli/join/join_pace.h"
#include "cli/options.h"
#include "num/error_line.h"
#include "store/budget.h"
#include <caucus/journal.h>

typedef enum caucus_join_option {
    CAUCUS_JOIN_CONNECT,
    CAUCUS_JOIN_PLAN,
    CAUCUS_JOIN_CERT,
    CAUCUS_JOIN_KEY,
    CAUCUS_JOIN_CA,
    CAUCUS_JOIN_INSECURE,
    CAUCUS_JOIN_CLIENT,
    CAUCUS_JOIN_STATE,
    CAUCUS_JOIN_LEDGER,
    CAUCUS_JOIN_BUDGET,
    CAUCUS_JOIN_NEW_DEVICE,
    CAUCUS_JOIN_GIVE_UP,
    CAUCUS_JOIN_TICK,
    CAUCUS_JOIN_LOSSES,
    CAUCUS_JOIN_REPLAY,
    CAUCUS_JOIN_ADVERSARY,
    CAUCUS_JOIN_SEED,
    CAUCUS_JOIN_SEGMENTS,
    CAUCUS_JOIN_MEANS,
    CAUCUS_JOIN_SPREAD,
    CAUCUS_JOIN_DRIFT,
    CAUCUS_JOIN_ACTIVITY,
    CAUCUS_JOIN_DATA,
    CAUCUS_JOIN_GENRE,
    CAUCUS_JOIN_DELAY,
    CAUCUS_JOIN_PLAY,
    CAUCUS_JOIN_CONFIG,
    CAUCUS_JOIN_OPTIONS
} caucus_join_option;

typedef struct caucus_joining {
    const char *text[CAUCUS_JOIN_OPTIONS]; /* as given; NULL: not given */
    uint32_t index;
    uint64_t seed, tick;
    double give_up, delay;
    caucus_plan *plan;
    caucus_budget budget;
    caucus_key key;
    caucus_journal *journal;
    caucus_join_dial out;
    caucus_link *link;
    caucus_losses_source losses;
    uint64_t printed;      /* rounds whose expert was printed */
    uint64_t passed;       /* rows of a replay that were passed over */
    uint64_t play;         /* the last round to play; 0: all */
    caucus_join_pace pace; /* where every device has its own */
    bool from_the_start;   /* there: losses begin at the first one, and no state says which were taken */
} caucus_joining;

extern const caucus_option caucus_join_table[];

void caucus_join_help(void);
/** The words of the command line, then those of --config, and what belongs together. Returns: an exit code,
 *  CAUCUS_OPTIONS_HELP. */
int caucus_join_read(caucus_joining *j, int argc, char **argv);

/** The plan, the ledger, the certificates, the key, the state and the losses, in this order. Returns: an exit code. */
int caucus_join_open(caucus_joining *j);
/** Close what is open; one that is all zeros is allowed. */
void caucus_join_close(caucus_joining *j);

/** Whether the devices of the plan are not in step. */
bool caucus_join_own_pace(const caucus_joining *j);
int caucus_join_refuse(const char *option, const char *value, const char *why);
int caucus_join_complain(caucus_status status, const caucus_error *error);
/** The same of what is wrong with the state, with the file's name. */
int caucus_join_complain_state(const caucus_joining *j, caucus_status status, const caucus_error *error);

#endif
