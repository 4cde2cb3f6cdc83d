/* SPDX-License-Identifier: Apache-2.0 */
/* history.c: one pass over somebody's losses, and what it says. See history.h. */
#include "show/choice/history.h"

#include "num/fail.h"
#include "plan/family.h"
#include "show/plan_facts.h"
#include "show/plan_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARTS = CAUCUS_HISTORY_PARTS, BLOCKS_MOST = 64, BLOCKS_LEAST = 2 * PARTS };
enum { CHUNK_VALUES = 1 << 14, WIDE_EXPERTS = 1 << 16 };

typedef struct reader {
    const caucus_adversary_trial *trial;
    uint32_t clients, experts;
    uint64_t rounds;
    uint32_t blocks; /* a multiple of PARTS; PARTS itself: too few rounds to tell */
    double *chunk;   /* rows of one client */
    uint64_t rows;   /* that fit a chunk */
    double *block;   /* [blocks][experts] sums over clients, counted from lo */
    double *client;  /* [experts] sums of one client */
    double *worst;   /* [experts] the largest of those */
    uint64_t outside, nan;
    double least, most;
    caucus_history found;
} reader;

/* Block b has the rounds from here on to before those of the next: fewer than 2^30 of at most 64 blocks. */
static uint64_t begin_of(const reader *r, uint64_t b) {
    return r->rounds * b / r->blocks;
}

/* A loss counted from lo, as the grid counts it: clamped, and the worst if it is no number. */
static double take(reader *r, double loss) {
    const double lo = r->found.lo, hi = r->found.hi;
    if (isnan(loss)) {
        r->nan++;
        return hi - lo;
    }
    if (isfinite(loss)) { /* no range that could be proposed holds the others */
        r->least = fmin(r->least, loss);
        r->most = fmax(r->most, loss);
    }
    if (loss >= lo && loss <= hi)
        return loss - lo;
    r->outside++;
    return loss < lo ? 0 : hi - lo;
}

static void read_block(reader *r, uint32_t client, uint64_t first, uint64_t count, double *block) {
    const uint32_t d = r->experts;
    while (count > 0) {
        const uint64_t rows = count < r->rows ? count : r->rows;
        caucus_adversary_fill64(r->trial, client, first, rows, r->chunk);
        for (uint64_t i = 0; i < rows; i++)
            for (uint32_t y = 0; y < d; y++) {
                const double loss = take(r, r->chunk[i * d + y]);
                block[y] += loss;
                r->client[y] += loss;
            }
        first += rows;
        count -= rows;
    }
}

static void read_all(reader *r) {
    for (uint32_t client = 1; client <= r->clients; client++) {
        for (uint32_t y = 0; y < r->experts; y++)
            r->client[y] = 0;
        for (uint32_t b = 0; b < r->blocks; b++)
            read_block(r, client, begin_of(r, b), begin_of(r, b + 1) - begin_of(r, b),
                       r->block + (size_t)b * r->experts);
        for (uint32_t y = 0; y < r->experts; y++)
            r->worst[y] = fmax(r->worst[y], r->client[y]);
    }
}

/* P(F with (v1, v2) degrees of freedom > f), by Paulson's normal approximation: the cube root of a chi-square over its
 * degrees of freedom is near normal (Wilson and Hilferty). */
static double tail_of(double f, double v1, double v2) {
    const double a = 2 / (9 * v1), b = 2 / (9 * v2), root = cbrt(f);
    const double z = ((1 - b) * root - (1 - a)) / sqrt(b * root * root + a);
    return erfc(z / sqrt(2)) / 2;
}

/* F of expert y; 0 where all its losses are alike. */
static double f_of(const reader *r, uint32_t y) {
    const uint32_t each = r->blocks / PARTS;
    double mean[PARTS] = {0}, all = 0, between = 0, within = 0;
    for (uint32_t b = 0; b < r->blocks; b++) {
        const double x = r->block[(size_t)b * r->experts + y] / (double)(begin_of(r, b + 1) - begin_of(r, b));
        mean[b / each] += x / each;
        all += x / r->blocks;
    }
    for (uint32_t b = 0; b < r->blocks; b++) {
        const double x = r->block[(size_t)b * r->experts + y] / (double)(begin_of(r, b + 1) - begin_of(r, b));
        within += (x - mean[b / each]) * (x - mean[b / each]);
    }
    for (uint32_t k = 0; k < PARTS; k++)
        between += each * (mean[k] - all) * (mean[k] - all);
    const double tiny = 1e-20 * (all * all + 1); /* of sums that differ by rounding alone */
    if (between <= tiny * r->blocks)
        return 0;
    return (between / (PARTS - 1)) / fmax(within / (r->blocks - PARTS), tiny);
}

static caucus_history_drift drift_of(const reader *r) {
    if (r->blocks < BLOCKS_LEAST)
        return CAUCUS_HISTORY_TOO_FEW;
    double largest = 0;
    for (uint32_t y = 0; y < r->experts; y++)
        largest = fmax(largest, f_of(r, y));
    const double chance = largest > 0 ? r->experts * tail_of(largest, PARTS - 1, r->blocks - PARTS) : 1;
    return chance < 0.001 ? CAUCUS_HISTORY_DRIFTS : CAUCUS_HISTORY_STEADY;
}

static void find_best(reader *r) {
    double least = INFINITY, safest = INFINITY;
    for (uint32_t y = 0; y < r->experts; y++) {
        double total = 0;
        for (uint32_t b = 0; b < r->blocks; b++)
            total += r->block[(size_t)b * r->experts + y];
        if (total < least)
            r->found.best = y;
        least = fmin(least, total);
        if (r->worst[y] < safest)
            r->found.safest = y;
        safest = fmin(safest, r->worst[y]);
    }
    r->found.safest_loss = safest;
}

static double gain_of(const reader *r) {
    const uint32_t each = r->blocks / PARTS;
    double gain = 0;
    for (uint32_t k = 0; each > 0 && k < PARTS; k++) {
        double least = INFINITY, best = 0;
        for (uint32_t y = 0; y < r->experts; y++) {
            double total = 0;
            for (uint32_t b = k * each; b < (k + 1) * each; b++)
                total += r->block[(size_t)b * r->experts + y];
            least = fmin(least, total);
            best = y == r->found.best ? total : best;
        }
        gain += best - least;
    }
    return gain / r->clients;
}

static void conclude(reader *r) {
    const double losses = (double)r->clients * (double)r->rounds * r->experts;
    caucus_history *f = &r->found;
    f->outside = (double)r->outside / losses;
    f->nan = (double)r->nan / losses;
    f->least = r->least <= r->most ? r->least : 0;
    f->most = r->least <= r->most ? r->most : 0;
    find_best(r);
    f->drift = drift_of(r);
    f->gain = gain_of(r);
}

static uint32_t blocks_for(uint64_t rounds, uint32_t experts) {
    const uint64_t most = experts > WIDE_EXPERTS ? BLOCKS_LEAST : BLOCKS_MOST;
    const uint64_t blocks = (rounds < most ? rounds : most) / PARTS * PARTS;
    return blocks < PARTS ? 1 : (uint32_t)blocks;
}

caucus_status caucus_history_read(const caucus_adversary *adversary, const caucus_settings *settings, uint32_t clients,
                                  uint64_t rounds, caucus_history *ret, caucus_error *ret_error) {
    reader r = {.clients = clients, .rounds = rounds, .least = INFINITY, .most = -INFINITY};
    caucus_adversary_trial *trial = NULL;
    caucus_adversary_shape(adversary, NULL, &r.experts, NULL);
    r.found = (caucus_history){.lo = settings->lo, .hi = settings->hi, .lstar = settings->lstar};
    r.blocks = blocks_for(rounds, r.experts);
    r.rows = r.experts < CHUNK_VALUES ? CHUNK_VALUES / r.experts : 1;
    r.chunk = calloc((size_t)r.rows * r.experts, sizeof *r.chunk);
    r.block = calloc((size_t)r.blocks * r.experts, sizeof *r.block);
    r.client = calloc(r.experts, sizeof *r.client);
    r.worst = calloc(r.experts, sizeof *r.worst);
    const bool room = r.chunk != NULL && r.block != NULL && r.client != NULL && r.worst != NULL;
    caucus_status status = room ? caucus_adversary_trial_new(adversary, 0, &trial) : CAUCUS_E_MEMORY;
    if (status == CAUCUS_OK) {
        r.trial = trial;
        read_all(&r);
        status = caucus_adversary_whole(adversary, ret_error);
    } else {
        (void)caucus_fail_memory(ret_error, "losses");
    }
    if (status == CAUCUS_OK) {
        conclude(&r);
        r.found.best_name = caucus_names_label(settings->names, r.found.best);
        r.found.safest_name = caucus_names_label(settings->names, r.found.safest);
        *ret = r.found;
    }
    caucus_adversary_trial_free(trial);
    free(r.chunk);
    free(r.block);
    free(r.client);
    free(r.worst);
    return status;
}

bool caucus_history_refutes(const caucus_history *history, const caucus_settings *settings) {
    if (caucus_algorithm_variant(settings->algorithm)->reference)
        return true; /* nothing is proved for it */
    if (caucus_knowledge_of(settings->algorithm) == CAUCUS_KNOWLEDGE_REALIZABLE)
        return !caucus_history_realizable(history);
    return history->drift == CAUCUS_HISTORY_DRIFTS &&
           caucus_knowledge_of(settings->algorithm) == CAUCUS_KNOWLEDGE_IID &&
           !caucus_knowledge_covers(settings, CAUCUS_KNOWLEDGE_DRIFTING);
}

/* The next of 1, 2, 5, 10, … (and 0.5, 0.2, …): a range that people would state. 0 for 0. */
static double round_up(double value) {
    if (!(value > 0))
        return 0;
    double power = pow(10, floor(log10(value)));
    static const double steps[] = {1, 2, 5, 10};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (steps[i] * power >= value * (1 - 1e-12))
            return steps[i] * power;
    return 10 * power;
}

static void percent(char ret[32], double share) {
    if (share < 0.0001)
        (void)snprintf(ret, 32, "less than 0.01 %%");
    else
        (void)snprintf(ret, 32, "%.*f %%", share < 0.01 ? 2 : share < 0.1 ? 1 : 0, 100 * fmin(share, 1));
}

bool caucus_history_range(const caucus_history *h, double *ret_lo, double *ret_hi) {
    *ret_lo = h->least < 0 ? -round_up(-h->least) : 0;
    *ret_hi = h->most > 0 ? round_up(h->most) : 0;
    return h->outside > 0 && *ret_lo < *ret_hi && (*ret_lo < h->lo || *ret_hi > h->hi);
}

static bool say_range(const caucus_history *h, char ret[CAUCUS_HISTORY_BYTES]) {
    double lo, hi;
    const bool wider = caucus_history_range(h, &lo, &hi);
    char share[32];
    percent(share, h->outside);
    if (wider)
        (void)snprintf(
            ret, CAUCUS_HISTORY_BYTES,
            "range: %s of the losses are outside %g,%g: did you mean the range %g,%g? (it must be public, and "
            "not be read off the losses)",
            share, h->lo, h->hi, lo, hi);
    else if (h->outside > 0)
        (void)snprintf(ret, CAUCUS_HISTORY_BYTES, "range: %s of the losses are outside %g,%g", share, h->lo, h->hi);
    else if (h->nan < 1 && lo >= h->lo && lo < hi && hi - lo <= (h->hi - h->lo) / 5)
        (void)snprintf(ret, CAUCUS_HISTORY_BYTES,
                       "range: the largest loss is %.3g, and noise is sized for the whole of %g,%g: if a smaller range "
                       "is public, such as %g,%g, each loss is worth more",
                       h->most, h->lo, h->hi, lo, hi);
    else
        return false;
    return true;
}

static void say_lstar(const caucus_history *h, char ret[CAUCUS_HISTORY_BYTES]) {
    const bool named = h->safest_name.text[0] != '\0';
    if (caucus_history_realizable(h))
        (void)snprintf(ret, CAUCUS_HISTORY_BYTES,
                       "realizable: expert %s%s%u%s loses at most %s in all at every client, and svt assumes at most "
                       "%s: so it is here",
                       h->safest_name.text, named ? " (" : "", h->safest, named ? ")" : "",
                       caucus_words_number(h->safest_loss).text, caucus_words_number(h->lstar).text);
    else
        (void)snprintf(ret, CAUCUS_HISTORY_BYTES,
                       "not realizable: svt assumes an expert that loses at most L* = %s in all at every client; here "
                       "every expert loses %s or more at some client, so nothing is proved for svt",
                       caucus_words_number(h->lstar).text, caucus_words_number(h->safest_loss).text);
}

static void say_drift(const caucus_history *h, char ret[CAUCUS_HISTORY_BYTES]) {
    if (h->drift == CAUCUS_HISTORY_DRIFTS)
        (void)snprintf(
            ret, CAUCUS_HISTORY_BYTES,
            "drifting: more than chance explains; the best expert of each eighth of the rounds loses %s less "
            "per client than the best of all (stoch without a longest phase assumes that they do not drift)",
            caucus_words_number(h->gain).text);
    else if (h->drift == CAUCUS_HISTORY_STEADY)
        (void)snprintf(ret, CAUCUS_HISTORY_BYTES,
                       "steady: no drift beyond chance over eighths of the rounds, as stoch assumes");
    else
        (void)snprintf(ret, CAUCUS_HISTORY_BYTES, "drift: too few rounds to tell (16 or more would do)");
}

size_t caucus_history_say(const caucus_history *history, char ret[CAUCUS_HISTORY_SENTENCES][CAUCUS_HISTORY_BYTES]) {
    size_t count = 0;
    char share[32];
    if (say_range(history, ret[count]))
        count++;
    if (history->nan > 0) {
        percent(share, history->nan);
        (void)snprintf(ret[count++], CAUCUS_HISTORY_BYTES,
                       "not a number: %s of the losses, each counted as the worst loss", share);
    }
    say_lstar(history, ret[count++]);
    say_drift(history, ret[count++]);
    return count;
}

void caucus_history_json(caucus_json *j, const caucus_history *h) {
    static const char *const drifts[] = {"no", "yes", "unknown"};
    char sentence[CAUCUS_HISTORY_SENTENCES][CAUCUS_HISTORY_BYTES];
    if (h == NULL) {
        caucus_json_null(j, "history");
        return;
    }
    const size_t count = caucus_history_say(h, sentence);
    caucus_json_object(j, "history");
    caucus_json_truth(j, "private", false);
    caucus_json_real(j, "least", h->least);
    caucus_json_real(j, "most", h->most);
    caucus_json_real(j, "outside_share", h->outside);
    caucus_json_real(j, "nan_share", h->nan);
    caucus_json_whole(j, "best", h->best);
    caucus_json_text(j, "best_name", h->best_name.text[0] != '\0' ? h->best_name.text : NULL);
    caucus_json_real(j, "lstar", h->safest_loss);
    caucus_json_truth(j, "realizable", caucus_history_realizable(h));
    caucus_json_text(j, "drifts", drifts[h->drift]);
    caucus_json_real(j, "drift_gain", h->gain);
    caucus_json_list(j, "premises");
    for (size_t i = 0; i < count; i++)
        caucus_json_text(j, NULL, sentence[i]);
    caucus_json_close(j);
    caucus_json_close(j);
}
