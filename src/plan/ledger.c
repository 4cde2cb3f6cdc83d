/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c: what has been released about one body of data, and what is left. In memory; callers write the lines.
 * layer: plan
 *
 * The charge of a run is max(epsilon of its choices, epsilon of its messages): a coordinator that sees the messages
 * sees the choices made from them, so for it the larger of the two is the loss; the public sees the choices alone.
 * The total is the sum of the charges of all runs; deltas add (basic composition; docs/PRIVACY.md, statement 29).
 *
 * Amounts are integers in steps of 10^-9. An epsilon of a budget or of a run is taken for the shortest decimal that
 * reads back as the same double, which is what somebody typed, and is rounded up to a whole step: so amounts of at most
 * nine decimals are exact, and equal parts of them fit into their sum. What holds: the epsilons of all runs as their
 * plans guarantee them add up to at most the budget as the ledger shows it (one with more decimals than nine: rounded
 * up to nine), but for what a double differs from its decimal, 2^-53 of each. A plan's own epsilon is less than what it
 * was asked for, by up to a step; that is not given back. A ledger of format 1 keeps its steps of 2^-30.
 *
 * A run's releases are summed in steps 2^64 times as fine, each rounded up, and an entry holds what the sum rounded up
 * to whole steps grew by: so rounding costs a run at most one step in all, not one step per release. A ledger read back
 * starts from the rounded sum; SLACK steps (6e-8 of epsilon) absorb that, so that a restarted run is not refused the
 * last release of a plan that fits exactly. */
#include "plan/ledger.h"
#include "num/fail.h"
#include "plan/plan.h"

#include "num/checked.h"
#include "num/hand_over.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INFINITE UINT64_MAX
#define SLACK 64
#define FINE_BITS 64                /* a step is 2^64 fine steps */
#define STEPS 1000000000u           /* of an epsilon of 1 */
#define STEPS_1 ((uint64_t)1 << 30) /* in format 1 */
#define EPSILON_MOST 0x1p33         /* not itself: its steps stay below 2^63 */

typedef struct ledger_run {
    uint64_t choices, messages;              /* reserved */
    caucus_u128 used_choices, used_messages; /* released, fine steps */
    uint64_t releases;
    bool seeded;
} ledger_run;

struct caucus_ledger {
    uint64_t steps;      /* of an epsilon of 1 */
    caucus_entry *entry; /* [entries - dropped]: those before place `head`, then those after the dropped ones */
    size_t entries, entries_room;
    size_t head, dropped; /* caucus_ledger_drop_releases() */
    uint8_t last[CAUCUS_HASH_BYTES];
    ledger_run *run;
    size_t runs, runs_room;
    uint64_t charged; /* sum over runs of max(choices, messages), saturating */
    double delta;     /* sum over runs */
    /* Running sums, so that a total costs the same after a million releases as after one; saturating. */
    uint64_t reserved_choices, reserved_messages, released_choices, released_messages;
    uint64_t releases;
    bool any_seeded;
};

/* Steps of 10^-9 of the decimal that the number is written as, rounded up; 0 <= epsilon < EPSILON_MOST. */
static uint64_t decimal_steps(double epsilon) {
    char digits[32];
    if (epsilon == 0)
        return 0;
    long places = caucus_ledger_text_decimal(epsilon, digits) + 9;
    uint64_t steps = strtoull(digits, NULL, 10);
    bool rest = false;
    for (; places > 0; places--)
        steps *= 10;
    for (; places < 0 && steps > 0; places++) {
        rest = rest || steps % 10 != 0;
        steps /= 10;
    }
    return steps + rest;
}

/* INFINITY -> INFINITE. */
static caucus_status steps_of(uint64_t per_one, double epsilon, uint64_t *ret) {
    if (isinf(epsilon) && epsilon > 0)
        *ret = INFINITE;
    else if (!(epsilon >= 0 && epsilon < EPSILON_MOST))
        return CAUCUS_E_RANGE;
    else
        *ret = per_one == STEPS ? decimal_steps(epsilon) : (uint64_t)ceil(epsilon * (double)STEPS_1);
    return CAUCUS_OK;
}

double caucus_ledger_epsilon(const caucus_ledger *ledger, uint64_t steps) {
    return steps == INFINITE ? INFINITY : (double)steps / (double)ledger->steps;
}

uint64_t caucus_ledger_steps(const caucus_ledger *ledger) {
    return ledger->steps;
}

bool caucus_ledger_has_budget(const caucus_ledger *ledger, double epsilon, double delta) {
    uint64_t steps;
    return steps_of(ledger->steps, epsilon, &steps) == CAUCUS_OK && steps == ledger->entry[0].choices &&
           delta == ledger->entry[0].delta;
}

/* a in fine steps, rounded up, if a < 2^32. */
static bool fine_steps(const caucus_ledger *ledger, caucus_rational a, caucus_u128 *ret) {
    if (a.den == 0 || a.num / a.den >= (uint64_t)1 << 32)
        return false;
    const caucus_u128 rest = (caucus_u128)(a.num % a.den) * ledger->steps; /* below 2^94 */
    const caucus_u128 whole = (caucus_u128)(a.num / a.den) * ledger->steps + rest / a.den;
    *ret = (whole << FINE_BITS) + (((rest % a.den) << FINE_BITS) + (a.den - 1)) / a.den;
    return true;
}

static caucus_u128 coarse(caucus_u128 fine) {
    return (fine >> FINE_BITS) + ((uint64_t)fine != 0);
}

static bool fits(caucus_u128 fine, uint64_t reserved) {
    return reserved == INFINITE || coarse(fine) <= (caucus_u128)reserved + SLACK;
}

static uint64_t charge_of(const caucus_entry *e) {
    return e->choices > e->messages ? e->choices : e->messages;
}

/* Room for one more of either kind, so that what follows cannot fail half-way. */
static bool reserve(void **array, size_t *room, size_t used, size_t size) {
    if (used < *room)
        return true;
    size_t wanted = *room == 0 ? 16 : *room * 2;
    if (wanted > SIZE_MAX / size)
        return false;
    void *grown = realloc(*array, wanted * size);
    if (grown == NULL)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}

/* Entries in memory. */
static size_t held(const caucus_ledger *ledger) {
    return ledger->entries - ledger->dropped;
}

static bool make_room(caucus_ledger *ledger) {
    void *entry = ledger->entry, *run = ledger->run;
    bool ok = reserve(&entry, &ledger->entries_room, held(ledger), sizeof *ledger->entry);
    ledger->entry = entry;
    ok = ok && reserve(&run, &ledger->runs_room, ledger->runs, sizeof *ledger->run);
    ledger->run = run;
    return ok;
}

/* Charge a run. Deltas are doubles: 2^-40 of the budget, relatively, absorbs the rounding of their decimals. */
static caucus_status apply_run(caucus_ledger *ledger, const caucus_entry *e, caucus_error *ret_error) {
    const caucus_entry *budget = &ledger->entry[0];
    uint64_t charge = charge_of(e);
    if (e->run != ledger->runs + 1)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "ledger", "run %u follows run %zu", e->run, ledger->runs);
    if (budget->choices != INFINITE) {
        uint64_t left = budget->choices - ledger->charged; /* charged <= budget holds from entry to entry */
        if (charge > left)
            return caucus_fail(ret_error, CAUCUS_E_BUDGET, "epsilon", "%.10g asked, %.10g of %.10g left",
                               caucus_ledger_epsilon(ledger, charge), caucus_ledger_epsilon(ledger, left),
                               caucus_ledger_epsilon(ledger, budget->choices));
    }
    if (ledger->delta + e->delta > budget->delta * (1 + 0x1p-40))
        return caucus_fail(ret_error, CAUCUS_E_BUDGET, "delta", "%.10g asked, %.10g of %.10g left", e->delta,
                           fmax(0, budget->delta - ledger->delta), budget->delta);
    ledger->charged = caucus_add_saturating_u64(ledger->charged, charge);
    ledger->delta += e->delta;
    ledger->run[ledger->runs++] = (ledger_run){.choices = e->choices, .messages = e->messages, .seeded = e->seeded};
    return CAUCUS_OK;
}

/* A release read back: its amounts are whole steps. */
static caucus_status apply_release(caucus_ledger *ledger, const caucus_entry *e, caucus_error *ret_error) {
    if (e->run < 1 || e->run > ledger->runs || e->seeded != ledger->run[e->run - 1].seeded || e->delta != 0)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "ledger", "a release that does not belong to its run");
    ledger_run *run = &ledger->run[e->run - 1];
    caucus_u128 choices, messages;
    if (!caucus_add_wide(run->used_choices, (caucus_u128)e->choices << FINE_BITS, &choices) ||
        !fits(choices, run->choices) ||
        !caucus_add_wide(run->used_messages, (caucus_u128)e->messages << FINE_BITS, &messages) ||
        !fits(messages, run->messages))
        return caucus_fail(ret_error, CAUCUS_E_BUDGET, "ledger", "a release beyond what run %u reserved", e->run);
    run->used_choices = choices;
    run->used_messages = messages;
    run->releases++;
    return CAUCUS_OK;
}

static caucus_status apply_budget(caucus_ledger *ledger, const caucus_entry *e, caucus_error *ret_error) {
    if (ledger->entries != 0)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "ledger", "a second budget");
    const bool first = strcmp(e->what, CAUCUS_LEDGER_MAGIC_1) == 0;
    if (e->run != 0 || e->block != 0 || e->messages != 0 || e->seeded ||
        (!first && strcmp(e->what, CAUCUS_LEDGER_MAGIC) != 0))
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "ledger", "not a budget this version understands");
    ledger->steps = first ? STEPS_1 : STEPS;
    return CAUCUS_OK;
}

/* What the last release of a run adds to what is shown as released: no more than what was reserved, which it goes
 * beyond by rounding up alone. */
static uint64_t shown(caucus_u128 used, uint64_t amount, uint64_t reserved) {
    const caucus_u128 after = coarse(used), before = after - amount;
    if (reserved == INFINITE || after <= reserved)
        return amount;
    return before < reserved ? (uint64_t)(reserved - before) : 0;
}

static void add_to_sums(caucus_ledger *ledger, const caucus_entry *e) {
    if (e->kind == CAUCUS_ENTRY_BUDGET)
        return;
    const ledger_run *run = &ledger->run[e->run - 1];
    if (e->kind == CAUCUS_ENTRY_RUN) {
        ledger->reserved_choices = caucus_add_saturating_u64(ledger->reserved_choices, e->choices);
        ledger->reserved_messages = caucus_add_saturating_u64(ledger->reserved_messages, e->messages);
    } else {
        ledger->released_choices =
            caucus_add_saturating_u64(ledger->released_choices, shown(run->used_choices, e->choices, run->choices));
        ledger->released_messages =
            caucus_add_saturating_u64(ledger->released_messages, shown(run->used_messages, e->messages, run->messages));
        ledger->releases++;
    }
    ledger->any_seeded = ledger->any_seeded || e->seeded;
}

/* Check an entry against all before it, chain it and append it; on failure nothing has changed. */
static caucus_status append(caucus_ledger *ledger, caucus_entry *e, caucus_error *ret_error) {
    if (!make_room(ledger))
        return caucus_fail_memory(ret_error, "ledger");
    caucus_status status;
    if (e->kind == CAUCUS_ENTRY_BUDGET)
        status = apply_budget(ledger, e, ret_error);
    else if (ledger->entries == 0)
        status = caucus_fail(ret_error, CAUCUS_E_FORMAT, "ledger", "no budget comes first");
    else if (e->kind == CAUCUS_ENTRY_RUN)
        status = apply_run(ledger, e, ret_error);
    else
        status = apply_release(ledger, e, ret_error);
    if (status != CAUCUS_OK)
        return status;
    e->size = sizeof *e;
    caucus_ledger_text_hash(e, ledger->last, e->hash);
    memcpy(ledger->last, e->hash, sizeof ledger->last);
    ledger->entry[held(ledger)] = *e;
    ledger->entries++;
    add_to_sums(ledger, e);
    return CAUCUS_OK;
}

caucus_status caucus_ledger_new(double epsilon, double delta, caucus_ledger **ret, caucus_error *ret_error) {
    caucus_entry budget = {.kind = CAUCUS_ENTRY_BUDGET, .what = CAUCUS_LEDGER_MAGIC, .delta = delta};
    /* 0 is a budget: that of plans that release nothing (a single round, a single block). */
    if (!(epsilon >= 0) || steps_of(STEPS, epsilon, &budget.choices) != CAUCUS_OK)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "epsilon",
                           "%.10g (accepted: 0 or above and below 2^33, or infinite)", epsilon);
    if (!(delta >= 0 && delta < 1))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "delta", "%.10g (accepted: 0 or above, below 1)", delta);
    caucus_ledger *ledger = calloc(1, sizeof *ledger);
    if (ledger == NULL)
        return caucus_fail_memory(ret_error, "ledger");
    caucus_status status = append(ledger, &budget, ret_error);
    return CAUCUS_HAND_OVER(status, ret, ledger, caucus_ledger_free(ledger));
}

void caucus_ledger_free(caucus_ledger *ledger) {
    if (ledger == NULL)
        return;
    free(ledger->entry);
    free(ledger->run);
    free(ledger);
}

caucus_status caucus_ledger_reserve(caucus_ledger *ledger, const caucus_plan *plan, const char *name, bool seeded,
                                    uint32_t *ret_run, caucus_error *ret_error) {
    const caucus_guarantee *g = &plan->guarantee;
    caucus_entry e = {.kind = CAUCUS_ENTRY_RUN, .run = (uint32_t)ledger->runs + 1, .seeded = seeded, .delta = g->delta};
    char terms[32]; /* what its epsilon is about: against whom, and per what */
    (void)snprintf(terms, sizeof terms, "%s %s", caucus_trust_word(plan->settings.trust),
                   caucus_unit_word(plan->settings.unit));
    if (!caucus_ledger_text_name(name, terms, e.what))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "name",
                           "'%.48s' (accepted: 1 to %d bytes of UTF-8 without control characters, no "
                           "space at either end)",
                           name, CAUCUS_LEDGER_NAME_MAX);
    double messages =
        isnan(g->epsilon_messages) ? 0 : g->epsilon_messages; /* NAN: the coordinator is trusted with them */
    if (steps_of(ledger->steps, g->epsilon_choices, &e.choices) != CAUCUS_OK ||
        steps_of(ledger->steps, messages, &e.messages) != CAUCUS_OK)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "epsilon",
                           "%.10g for choices, %.10g for messages (accepted: 0 or above, "
                           "below 2^33, or infinite)",
                           g->epsilon_choices, messages);
    if (!(g->delta >= 0 && g->delta < 1))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "delta", "%.10g (accepted: 0 or above, below 1)", g->delta);
    if (ledger->steps == STEPS)
        e.block = plan->settings.clients;
    if (steps_of(ledger->steps, caucus_plan_epsilon_device(plan), &e.device) != CAUCUS_OK)
        e.device = INFINITE; /* beyond what can be written: as good as none */
    caucus_status status = append(ledger, &e, ret_error);
    if (status == CAUCUS_OK)
        *ret_run = e.run;
    return status;
}

caucus_status caucus_ledger_release(caucus_ledger *ledger, uint32_t run, uint64_t block, const char *what,
                                    caucus_rational choices, caucus_rational messages, caucus_error *ret_error) {
    if (run < 1 || run > ledger->runs)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "run", "%u (accepted: 1 to %zu)", run, ledger->runs);
    ledger_run before = ledger->run[run - 1], after = before;
    after.releases++;
    caucus_entry e = {.kind = CAUCUS_ENTRY_RELEASE, .run = run, .block = block, .seeded = before.seeded};
    if (!caucus_ledger_text_name(what, NULL, e.what))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "what",
                           "'%.48s' (accepted: 1 to %d bytes of UTF-8 without control characters, no "
                           "space at either end)",
                           what, CAUCUS_RUN_NAME_BYTES - 1);
    caucus_u128 fine_choices, fine_messages;
    if (!fine_steps(ledger, choices, &fine_choices) || !fine_steps(ledger, messages, &fine_messages))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "release", "an amount of 2^32 or more");
    if (!caucus_add_wide(before.used_choices, fine_choices, &after.used_choices) ||
        !fits(after.used_choices, before.choices) ||
        !caucus_add_wide(before.used_messages, fine_messages, &after.used_messages) ||
        !fits(after.used_messages, before.messages))
        return caucus_fail(ret_error, CAUCUS_E_BUDGET, "release",
                           "'%s' would exceed what run %u reserved: %.10g for choices, "
                           "%.10g for messages",
                           e.what, run, caucus_ledger_epsilon(ledger, before.choices),
                           caucus_ledger_epsilon(ledger, before.messages));
    e.choices = (uint64_t)(coarse(after.used_choices) - coarse(before.used_choices));
    e.messages = (uint64_t)(coarse(after.used_messages) - coarse(before.used_messages));
    /* The entry's whole steps are checked from the rounded sums, then the exact sums are kept. */
    ledger->run[run - 1].used_choices = coarse(before.used_choices) << FINE_BITS;
    ledger->run[run - 1].used_messages = coarse(before.used_messages) << FINE_BITS;
    caucus_status status = append(ledger, &e, ret_error);
    ledger->run[run - 1] = status == CAUCUS_OK ? after : before;
    return status;
}

caucus_ledger_totals caucus_ledger_totals_of(const caucus_ledger *ledger) {
    const caucus_entry *budget = &ledger->entry[0];
    caucus_ledger_totals totals, *ret = &totals;
    caucus_ledger_totals_init(ret);
    ret->budget_epsilon = caucus_ledger_epsilon(ledger, budget->choices);
    ret->budget_delta = budget->delta;
    ret->reserved_choices = caucus_ledger_epsilon(ledger, ledger->reserved_choices);
    ret->reserved_messages = caucus_ledger_epsilon(ledger, ledger->reserved_messages);
    ret->released_choices = caucus_ledger_epsilon(ledger, ledger->released_choices);
    ret->released_messages = caucus_ledger_epsilon(ledger, ledger->released_messages);
    ret->releases = (uint32_t)ledger->releases;
    ret->any_seeded = ledger->any_seeded;
    ret->reserved_delta = ledger->delta;
    ret->left_epsilon =
        budget->choices == INFINITE ? INFINITY : caucus_ledger_epsilon(ledger, budget->choices - ledger->charged);
    ret->left_delta = fmax(0, budget->delta - ledger->delta);
    ret->runs = (uint32_t)ledger->runs;
    return totals;
}

void caucus_ledger_totals_init(caucus_ledger_totals *ret) {
    *ret = (caucus_ledger_totals){.size = sizeof *ret};
}

caucus_status caucus_ledger_total(const caucus_ledger *ledger, caucus_ledger_totals *ret) {
    if (ret->size != sizeof *ret) /* the only size there has been */
        return CAUCUS_E_RANGE;
    *ret = caucus_ledger_totals_of(ledger);
    return CAUCUS_OK;
}

size_t caucus_ledger_count(const caucus_ledger *ledger) {
    return ledger->entries;
}

const caucus_entry *caucus_ledger_entry(const caucus_ledger *ledger, size_t index) {
    if (index >= ledger->entries)
        return NULL;
    if (ledger->dropped == 0 || index < ledger->head)
        return &ledger->entry[index];
    return index < ledger->head + ledger->dropped ? NULL : &ledger->entry[index - ledger->dropped];
}

uint64_t caucus_ledger_releases_of(const caucus_ledger *ledger, uint32_t run) {
    assert(run >= 1 && run <= ledger->runs);
    return ledger->run[run - 1].releases;
}

void caucus_ledger_drop_releases(caucus_ledger *ledger) {
    const size_t count = held(ledger);
    size_t first = ledger->dropped > 0 ? ledger->head : 0;
    while (first < count && ledger->dropped == 0 && ledger->entry[first].kind != CAUCUS_ENTRY_RELEASE)
        first++;
    for (size_t i = first; i < count; i++)
        if (ledger->entry[i].kind != CAUCUS_ENTRY_RELEASE)
            return; /* a run after releases of another: a file that several share, kept whole */
    ledger->head = first;
    ledger->dropped += count - first;
}

caucus_status caucus_ledger_line(const caucus_ledger *ledger, size_t index, char *ret, size_t ret_bytes) {
    const caucus_entry *e = caucus_ledger_entry(ledger, index);
    return e != NULL ? caucus_ledger_text_line(e, ret, ret_bytes) : CAUCUS_E_RANGE;
}

/* The next entry in text form, checked against the chain; *ledger is made if it is NULL. */
static caucus_status append_text(caucus_ledger **ledger, const char *line, caucus_error *ret_error) {
    caucus_entry e;
    const char *wrong = caucus_ledger_text_parse(line, &e);
    if (wrong != NULL)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "ledger", "%s", wrong);
    caucus_ledger *fresh = NULL;
    if (*ledger == NULL) {
        fresh = calloc(1, sizeof *fresh);
        if (fresh == NULL)
            return caucus_fail_memory(ret_error, "ledger");
    }
    caucus_ledger *target = fresh != NULL ? fresh : *ledger;
    uint8_t hash[CAUCUS_HASH_BYTES];
    caucus_ledger_text_hash(&e, target->last, hash);
    caucus_status status =
        memcmp(hash, e.hash, sizeof hash) == 0
            ? append(target, &e, ret_error)
            : caucus_fail(ret_error, CAUCUS_E_FORMAT, "ledger",
                          "does not continue the one before: altered, torn, missing or out of order");
    if (status == CAUCUS_OK)
        *ledger = target;
    else
        caucus_ledger_free(fresh);
    return status;
}

caucus_status caucus_ledger_append_line(caucus_ledger **ledger, const char *line, size_t line_number,
                                        caucus_error *ret_error) {
    caucus_status status = append_text(ledger, line, ret_error);
    if (status != CAUCUS_OK && ret_error != NULL)
        ret_error->line = line_number;
    return status;
}
