/* SPDX-License-Identifier: Apache-2.0 */
/* join_losses.h: where a client's losses come from: standard input line by line, a NumPy file, or a simulation.
 * layer: cli */
#ifndef CAUCUS_CLI_JOIN_LOSSES_H
#define CAUCUS_CLI_JOIN_LOSSES_H

#include "plan/plan.h"
#include <caucus/link.h>

#include "data/loss_lines.h"
#include "data/npy.h"
#include "sim/adversary.h"

typedef struct caucus_losses_source {
    const caucus_plan *plan;
    uint32_t client;
    double *row; /* [d] */
    /* A simulation. */
    caucus_adversary *adversary;
    caucus_adversary_trial *trial;
    uint32_t *which; /* [k]: the experts that are evaluated in the coming round */
    double *few;     /* [k]: and their losses */
    /* A file. */
    caucus_npy npy;
    bool has_npy;
    const char *path; /* borrowed */
    /* Lines. */
    caucus_loss_lines lines;
} caucus_losses_source;

/** Lines of standard input. skip: rounds that were played before and come again. With lines.slots set lines may say
 *  which slot of the clock it is. */
caucus_status caucus_losses_from_lines(caucus_losses_source *ret, const caucus_plan *plan, uint64_t skip,
                                       caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** A NumPy file: this client's part of clients x rounds x experts, or rounds x experts. Of a plan without an end *play
 *  rounds are wanted, 0: all that the file has, which are written there. */
caucus_status caucus_losses_from_npy(caucus_losses_source *ret, const caucus_plan *plan, uint32_t client,
                                     const char *path, uint64_t *play, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** A simulation; clients, experts and rounds of the settings are taken from the plan; `play` rounds of one without an
 *  end. */
caucus_status caucus_losses_from_adversary(caucus_losses_source *ret, const caucus_plan *plan, uint32_t client,
                                           const caucus_adversary_settings *settings, uint64_t play,
                                           caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_losses_close(caucus_losses_source *source);

/** Whether standard input is what it waits for. */
bool caucus_losses_waits(const caucus_losses_source *source);
/** Read what standard input has now (call when it can be read; never waits then). */
void caucus_losses_read(caucus_losses_source *source);
/** Print what the coming round is: the number of the expert to play; then, where there is more to say, the experts to
 *  evaluate ("3 evaluate=7,8"), the row of a replay that was passed over (passed, from 1; 0: none; "3 replay=12"), and
 *  what the expert is called, last, since a label may hold blanks ("3 name=large"). */
void caucus_losses_ask(caucus_losses_source *source, const caucus_link *link, uint64_t passed);
/** The row that the client wants of those losses: all of them, or those of the experts that it evaluates. */
const double *caucus_losses_wanted(caucus_losses_source *source, const caucus_link *link);
/** The losses of round `round` (from 0), in source->row. Lines hold what the client evaluates, files and simulations
 *  the losses of all experts. */
caucus_losses_state caucus_losses_next(caucus_losses_source *source, uint64_t round, caucus_error *ret_error);

#endif
