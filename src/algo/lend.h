/* lend.h: for whoever holds many clients and their losses in one process, as the simulator does.
 * layer: algo
 *
 * Between two vectors a client of blocks (svt, hedge) tells what its expert has cost and nothing else. Whoever holds
 * the losses of many rounds in memory anyway lends them: the client reads one number per round, and adds the rows up in
 * one long run, which is several times faster than row by row, when the vector is due.
 *
 * What was announced is the same for all clients: those that move in step keep it once. */
#ifndef CAUCUS_ALGO_LEND_H
#define CAUCUS_ALGO_LEND_H

#include <caucus/client.h>

/** Have the losses that are lent added to total[d] too when they are added up, until nothing more is asked for.
 *  Returns: false where the client adds nothing up later (stoch; unit client-block with blocks of several rounds): then
 *  nothing is done. */
bool caucus_client_tally(caucus_client *client, int64_t *total);

/** As caucus_client_observe_f32(), but the rows must stand still until caucus_client_settle(). */
caucus_status caucus_client_lend_f32(caucus_client *client, const float *loss, uint32_t rounds) CAUCUS_MUST_CHECK;

/** Add up what was lent; the rows may go. Due before caucus_client_clips(), _save() and _free(). */
void caucus_client_settle(caucus_client *client);

/** As caucus_client_new(), beside another client of the same plan that has heard nothing yet, and sharing with it what
 * both know and the space where reports are made. One thread moves all of them in step: `first` hears every
 * announcement before the others do, and a report is used up before another client is asked for its own. `first` is
 * freed last. NULL: a client by itself. */
caucus_status caucus_client_new_beside(const caucus_plan *plan, uint32_t index, const caucus_key *key,
                                       const caucus_client *first, caucus_client **ret) CAUCUS_MUST_CHECK;

/** Memory that each further client beside another takes, about. */
size_t caucus_client_bytes_beside(const caucus_plan *plan);

#endif
