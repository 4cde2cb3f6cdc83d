/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h: the immutable result of calibration. Everything a run does is fixed here, in integers.
 * layer: plan
 *
 * caucus_plan_new() calibrates and then lets the accountant recompute epsilon and delta from the integers it chose; a
 * plan that would exceed what was asked is refused, never returned. Plans as files are in plan_file.h.
 *
 * A plan is opaque: it is asked by name. What it is asked never changes while it exists, any number of threads may ask
 * at a time, and what is given out as a pointer belongs to the plan and stands until caucus_plan_free(). None of the
 * questions costs more than a look. */
#ifndef CAUCUS_PLAN_H
#define CAUCUS_PLAN_H

#include <caucus/rational.h>
#include <caucus/settings.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Everything that is fixed about a run. */
typedef struct caucus_plan caucus_plan;

/** Of a plan's hash, SHA-256. */
#define CAUCUS_PLAN_HASH_BYTES 32

/** How a regret bound is to be read. */
typedef enum caucus_bound_kind {
    CAUCUS_BOUND_NONE = 0,    /* nothing is proved */
    CAUCUS_BOUND_PROBABILITY, /* holds with probability at least 1 - rho */
    CAUCUS_BOUND_EXPECTATION  /* bounds the mean */
} caucus_bound_kind;

/** Calibrate.
 *  In:      settings  set up by caucus_settings_init(); checked again here; borrowed for the call.
 *  Out:     *ret_plan  free with caucus_plan_free(); written only on success.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE, CAUCUS_E_INFEASIBLE, CAUCUS_E_OVERFLOW, CAUCUS_E_MEMORY; the error names the
 *           field.
 *  Cost:    tens of milliseconds for svt (the renewal bound), microseconds otherwise. Deterministic. */
CAUCUS_API caucus_status caucus_plan_new(const caucus_settings *settings, caucus_plan **ret_plan,
                                         caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Free. NULL is allowed. */
CAUCUS_API void caucus_plan_free(caucus_plan *plan);

/** SHA-256 of the plan's canonical text (plan_file.h), CAUCUS_PLAN_HASH_BYTES of it and as 64 hexadecimal digits:
 *  the plan's name, the same for everybody who has the same plan. */
CAUCUS_API const uint8_t *caucus_plan_hash(const caucus_plan *plan);
CAUCUS_API const char *caucus_plan_hash_text(const caucus_plan *plan);

/** The settings it was made from, as checked: the grid is chosen, baselines have one client. */
CAUCUS_API const caucus_settings *caucus_plan_settings(const caucus_plan *plan);
/** m, d and T of the settings; T is CAUCUS_ROUNDS_ENDLESS where the run does not end. */
CAUCUS_API uint32_t caucus_plan_clients(const caucus_plan *plan);
CAUCUS_API uint32_t caucus_plan_experts(const caucus_plan *plan);
CAUCUS_API uint64_t caucus_plan_rounds(const caucus_plan *plan);
/** What expert number `expert`, from 0, is called; NULL: it has no name, or there is no such expert. */
CAUCUS_API const char *caucus_plan_expert_name(const caucus_plan *plan, uint32_t expert);
/** What the run is called; NULL: it has no name. */
CAUCUS_API const char *caucus_plan_federation(const caucus_plan *plan);
/** How many experts a client evaluates in a round: d, or fewer (settings.evaluate). */
CAUCUS_API uint32_t caucus_plan_evaluate(const caucus_plan *plan);
/** Whether the run has no end. */
CAUCUS_API bool caucus_plan_is_endless(const caucus_plan *plan);
/** Blocks of the run (stoch: phases); CAUCUS_ROUNDS_ENDLESS where it does not end. */
CAUCUS_API uint64_t caucus_plan_blocks(const caucus_plan *plan);
/** The most selections that a run can make; CAUCUS_ROUNDS_ENDLESS where it does not end and phases or cycles go on. */
CAUCUS_API uint64_t caucus_plan_selections(const caucus_plan *plan);
/** G: a loss becomes a whole number of steps, 0 for `lo` and G for `hi`. */
CAUCUS_API int64_t caucus_plan_grid(const caucus_plan *plan);

/** Epsilon for everything announced, recomputed by the accountant from the plan's integers. INFINITY: not private. */
CAUCUS_API double caucus_plan_epsilon_choices(const caucus_plan *plan);
/** Epsilon for everything a client sends. NAN: the coordinator is trusted with it. */
CAUCUS_API double caucus_plan_epsilon_messages(const caucus_plan *plan);
/** What the larger of the two comes to for everything that one client contributes to the whole run, at the same delta:
 *  a record is one loss, or one block (settings.unit), and a client has many of them. */
CAUCUS_API double caucus_plan_epsilon_device(const caucus_plan *plan);
/** Delta of both; 0: pure. */
CAUCUS_API double caucus_plan_delta(const caucus_plan *plan);
/** What was accounted for as zero-concentrated privacy (zCDP); 0: nothing. */
CAUCUS_API double caucus_plan_rho_zcdp(const caucus_plan *plan);
/** Whom the plan protects from what, one plain sentence. */
CAUCUS_API const char *caucus_plan_note(const caucus_plan *plan);

/** What is proved about the regret: with which reading, and how much at most, per client and in the units of the
 *  losses, capped at T*(hi - lo). The number means nothing if the kind is CAUCUS_BOUND_NONE. */
CAUCUS_API caucus_bound_kind caucus_plan_bound_kind(const caucus_plan *plan);
CAUCUS_API double caucus_plan_bound(const caucus_plan *plan);
/** The formula's own value: a bound above T*(hi - lo) says nothing. */
CAUCUS_API double caucus_plan_bound_uncapped(const caucus_plan *plan);

/** The rate at which the coordinator's selection number `selection` (from 0) draws, P(y) ~ e^(-rate*score), scores in
 *  grid units summed over the clients; 2*rate*G is what it costs. With `evaluate` the rate if everybody reports.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (there is no such selection, or the clients' own noise decides it, or with
 *           `evaluate` and means who evaluates what). */
CAUCUS_API caucus_status caucus_plan_select_rate(const caucus_plan *plan, uint64_t selection,
                                                 caucus_rational *ret) CAUCUS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
