/* lend.h: losses lent to a client, to be added up when somebody asks for sums.
 * layer: algo
 *
 * Between two vectors a client of blocks (svt, hedge) tells what its expert has cost and nothing else. Whoever holds
 * the losses of many rounds in memory anyway, as the simulator does, lends them: the client reads one number per round,
 * and adds the rows up in one long run, which is several times faster than row by row, when the vector is due. */
#ifndef CAUCUS_ALGO_LEND_H
#define CAUCUS_ALGO_LEND_H

#include <caucus/client.h>

/** Have the losses that are lent added to total[d] too when they are added up, until nothing more is asked for.
 *  Returns: false where the client adds nothing up later (stoch; unit client-block): then nothing is done. */
bool caucus_client_tally(caucus_client *client, int64_t *total);

/** As caucus_client_observe_f32(), but the rows must stand still until caucus_client_settle(). */
caucus_status caucus_client_lend_f32(caucus_client *client, const float *loss, uint32_t rounds) CAUCUS_MUST_CHECK;

/** Add up what was lent; the rows may go. Due before caucus_client_clips(), _save() and _free(). */
void caucus_client_settle(caucus_client *client);

#endif
