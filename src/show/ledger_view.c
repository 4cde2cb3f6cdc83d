/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_view.c: a ledger, run by run. See ledger_view.h. */
#include "show/ledger_view.h"

#include "num/number_text.h"
#include "plan/ledger.h"
#include "plan/plan.h"
#include "show/output.h"
#include "show/plan_words.h"
#include "show/wrap.h"
#include "store/json.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* "simulate svt coordinator event": name, tag of a live run, trust and unit. A name that does not end so is left
 * whole. */
static void split_name(const char *what, caucus_run_view *run) {
    caucus_trust trust;
    caucus_unit unit;
    run->trust = CAUCUS_TRUST_COUNT;
    run->unit = CAUCUS_UNIT_COUNT;
    (void)snprintf(run->name, sizeof run->name, "%s", what);
    size_t at;
    const bool tagged = caucus_run_tag_of(what, &at, run->tag);
    char *space = strrchr(run->name, ' ');
    if (space == NULL || caucus_unit_parse(space + 1, &unit, NULL) != CAUCUS_OK)
        return;
    *space = '\0';
    char *second = strrchr(run->name, ' ');
    if (second == NULL || caucus_trust_parse(second + 1, &trust, NULL) != CAUCUS_OK) {
        *space = ' ';
        return;
    }
    run->name[tagged ? at - 1 : (size_t)(second - run->name)] = '\0';
    run->trust = trust;
    run->unit = unit;
}

/* Sums are taken in whole steps, which are exact. */
typedef struct steps {
    uint64_t choices, messages;
} steps;

static void take_release(caucus_run_view *run, steps *sum, const caucus_entry *e) {
    sum->choices += e->choices;
    sum->messages += e->messages;
    run->first_block = run->releases == 0 || e->block < run->first_block ? e->block : run->first_block;
    run->last_block = e->block > run->last_block ? e->block : run->last_block;
    run->releases++;
}

static void take_run(caucus_run_view *run, const caucus_ledger *ledger, const caucus_entry *e, bool state) {
    run->run = e->run;
    run->seeded = e->seeded;
    run->clients = e->block;
    run->reserved_choices = caucus_ledger_epsilon(ledger, e->choices);
    run->reserved_messages = caucus_ledger_epsilon(ledger, e->messages);
    run->delta = e->delta;
    run->device =
        e->device == 0 && (e->choices > 0 || e->messages > 0) ? (double)NAN : caucus_ledger_epsilon(ledger, e->device);
    split_name(e->what, run);
    run->elsewhere = !state && run->tag[0] != '\0';
}

caucus_status caucus_ledger_view_init(const char *path, const caucus_ledger *ledger, bool state,
                                      caucus_ledger_view *ret) {
    caucus_ledger_view view = {.path = path, .ledger = ledger, .state = state};
    const size_t count = caucus_ledger_count(ledger);
    view.totals = caucus_ledger_totals_of(ledger);
    view.run = calloc(view.totals.runs + 1, sizeof *view.run);
    steps *sum = calloc(view.totals.runs + 1, sizeof *sum);
    if (view.run == NULL || sum == NULL) {
        free(view.run);
        free(sum);
        return CAUCUS_E_MEMORY;
    }
    for (size_t i = 1; i < count; i++) {
        const caucus_entry *e = caucus_ledger_entry(ledger, i);
        caucus_run_view *run = &view.run[e->run - 1];
        if (e->kind == CAUCUS_ENTRY_RUN)
            take_run(run, ledger, e, state);
        else
            take_release(run, &sum[e->run - 1], e);
    }
    for (uint32_t i = 0; i < view.totals.runs; i++) { /* rounded up: really never more than reserved, as the totals */
        caucus_run_view *run = &view.run[i];
        run->released_choices = fmin(caucus_ledger_epsilon(ledger, sum[i].choices), run->reserved_choices);
        run->released_messages = fmin(caucus_ledger_epsilon(ledger, sum[i].messages), run->reserved_messages);
    }
    free(sum);
    const caucus_entry *last = caucus_ledger_entry(ledger, count - 1);
    (void)sodium_bin2hex(view.last, sizeof view.last, last->hash, sizeof last->hash);
    *ret = view;
    return CAUCUS_OK;
}

void caucus_ledger_view_free(caucus_ledger_view *view) {
    free(view->run);
    *view = (caucus_ledger_view){0};
}

static caucus_words amount(double epsilon) {
    caucus_words ret;
    (void)snprintf(ret.text, sizeof ret.text, isinf(epsilon) ? "infinite" : "%.6g", epsilon);
    return ret;
}

static caucus_words device_words(double epsilon) {
    caucus_words ret;
    if (isnan(epsilon))
        (void)snprintf(ret.text, sizeof ret.text, "?");
    else if (isinf(epsilon))
        (void)snprintf(ret.text, sizeof ret.text, "no bound");
    else
        ret = caucus_words_number(epsilon); /* as the plan says it */
    return ret;
}

static caucus_words released_of_reserved(bool known, double released, double reserved) {
    caucus_words ret;
    (void)snprintf(ret.text, sizeof ret.text, "%.28s of %.28s", known ? amount(released).text : "?",
                   amount(reserved).text);
    return ret;
}

/* A path from a file: control characters and what is not UTF-8 do not reach the screen. */
static void print_safe(FILE *out, const char *text) {
    for (const char *c = text; *c != '\0';) {
        const size_t length = caucus_words_character(c);
        const bool plain = length > 0 && (unsigned char)*c >= 0x20 && *c != 0x7f;
        fprintf(out, "%.*s", plain ? (int)length : 1, plain ? c : "?");
        c += length > 0 ? length : 1;
    }
}

/* Names come from a file: only what is UTF-8 reaches the screen, in `wide` columns. */
static void print_name(FILE *out, const char *name, int wide) {
    char safe[CAUCUS_RUN_NAME_BYTES];
    size_t used = 0;
    for (const char *c = name; *c != '\0';) {
        size_t length = caucus_words_character(c);
        memcpy(safe + used, length > 0 ? c : "?", length > 0 ? length : 1);
        used += length > 0 ? length : 1;
        c += length > 0 ? length : 1;
    }
    safe[used] = '\0';
    fprintf(out, "%s%*s", safe, wide > caucus_words_width(safe) ? wide - caucus_words_width(safe) : 0, "");
}

/* A run below its number and name, where the table is wider than the screen. */
static void print_run_narrow(FILE *out, int width, const caucus_run_view *r, const char *blocks, const char *messages) {
    char text[320];
    fprintf(out, "  run %u  ", r->run);
    print_name(out, r->name, 0);
    fprintf(out, "%s\n", r->seeded ? "   NOT PRIVATE (seeded)" : "");
    (void)snprintf(
        text, sizeof text,
        "choices\u00a0released: %.60s; messages\u00a0released: %.60s; delta\u00a0%.3g; whole\u00a0device: %.30s; "
        "trust: %s; unit: %s; %u release%s in blocks\u00a0%s",
        released_of_reserved(!r->elsewhere, r->released_choices, r->reserved_choices).text, messages, r->delta,
        device_words(r->device).text, caucus_trust_word(r->trust), caucus_unit_word(r->unit), r->releases,
        r->releases == 1 ? "" : "s", blocks);
    caucus_wrap_put(out, width, "    ", text);
}

/* Columns beside that of names. */
enum { TABLE_WIDTH = 122 };

static void print_runs(FILE *out, const caucus_ledger_view *v, int width) {
    int wide = 4;
    bool any = false;
    for (uint32_t i = 0; i < v->totals.runs; i++)
        wide = caucus_words_width(v->run[i].name) > wide ? caucus_words_width(v->run[i].name) : wide;
    const bool narrow = width > 0 && width < TABLE_WIDTH + wide;
    if (narrow)
        fputc('\n', out);
    else
        fprintf(
            out,
            "\n  run  %-*s  %-11s  %-12s  choices released   messages released   delta   whole device   releases   in "
            "blocks\n",
            wide, "name", "trust", "unit");
    for (uint32_t i = 0; i < v->totals.runs; i++) {
        const caucus_run_view *r = &v->run[i];
        char blocks[32] = "-";
        if (r->releases > 0)
            (void)snprintf(blocks, sizeof blocks, r->first_block == r->last_block ? "%" PRIu64 : "%" PRIu64 "-%" PRIu64,
                           r->first_block, r->last_block);
        const bool trusted = r->reserved_messages <= 0 && r->trust == CAUCUS_TRUST_COORDINATOR;
        any = any || r->elsewhere;
        if (narrow) {
            print_run_narrow(
                out, width, r, blocks,
                trusted ? "trusted"
                        : released_of_reserved(!r->elsewhere, r->released_messages, r->reserved_messages).text);
            continue;
        }
        fprintf(out, "  %3u  ", r->run);
        print_name(out, r->name, wide);
        fprintf(out, "  %-11s  %-12s", caucus_trust_word(r->trust), caucus_unit_word(r->unit));
        fprintf(
            out, "  %-17s  %-18s  %-6.3g  %-12s   %8u   %s%s\n",
            released_of_reserved(!r->elsewhere, r->released_choices, r->reserved_choices).text,
            trusted ? "trusted" : released_of_reserved(!r->elsewhere, r->released_messages, r->reserved_messages).text,
            r->delta, device_words(r->device).text, r->releases, blocks, r->seeded ? "   NOT PRIVATE (seeded)" : "");
    }
    if (any)
        fputs(
            "  ? of: a live run has reserved all of it; what it has released so far its own state says (caucus privacy "
            "STATE)\n",
            out);
}

static void print_releases(FILE *out, const caucus_ledger_view *v) {
    const size_t count = caucus_ledger_count(v->ledger);
    fputs("\n  run  block  release           choices    messages\n", out);
    for (size_t i = 1; i < count; i++) {
        const caucus_entry *e = caucus_ledger_entry(v->ledger, i);
        if (e->kind != CAUCUS_ENTRY_RELEASE)
            continue;
        fprintf(out, "  %3u  %5" PRIu64 "  ", e->run, e->block);
        print_name(out, e->what, 16);
        fprintf(out, "  %-9s  %s\n", amount(caucus_ledger_epsilon(v->ledger, e->choices)).text,
                amount(caucus_ledger_epsilon(v->ledger, e->messages)).text);
    }
}

enum { CELLS = 40 };

/* A bar: released, reserved and not released, left. Rounding never hides a part that is not 0. */
static void print_bar(FILE *out, const char *label, double released, double reserved, double whole, bool ascii) {
    static const char *const blocks[] = {"█", "▒", "░"}, *const plain[] = {"#", "=", "."};
    const char *const *draw = ascii ? plain : blocks;
    int first = 0, second = 0;
    if (whole > 0 && isfinite(reserved)) {
        first = (int)fmin(CELLS, ceil(CELLS * fmin(released, whole) / whole - 1e-9));
        second = (int)fmin(CELLS, ceil(CELLS * fmin(reserved, whole) / whole - 1e-9)) - first;
    } else if (isinf(reserved)) {
        second = CELLS;
    }
    fprintf(out, "  %-9s ", label);
    for (int i = 0; i < CELLS; i++)
        fputs(draw[i < first ? 0 : i < first + second ? 1 : 2], out);
    fprintf(out, "  %s released, %s reserved", amount(released).text, amount(reserved).text);
}

static void print_picture(FILE *out, const caucus_ledger_view *v, bool ascii) {
    const caucus_ledger_totals *t = &v->totals;
    const bool limited = isfinite(t->budget_epsilon);
    const double most = fmax(t->reserved_choices, t->reserved_messages), whole = limited ? t->budget_epsilon : most;
    fputc('\n', out);
    print_bar(out, "Choices", t->released_choices, t->reserved_choices, whole, ascii);
    fputc('\n', out);
    if (t->reserved_messages > 0) {
        print_bar(out, "Messages", t->released_messages, t->reserved_messages, whole, ascii);
        fputc('\n', out);
    }
    fprintf(out, "            %s released   %s reserved, not released   %s left\n", ascii ? "#" : "█",
            ascii ? "=" : "▒", ascii ? "." : "░");
    if (v->state) {
        char words[CAUCUS_BUDGET_WORDS_BYTES];
        caucus_budget_words(most, fmax(t->released_choices, t->released_messages),
                            v->shared != NULL ? v->shared->budget_epsilon : (double)NAN,
                            v->shared != NULL ? v->shared->left_epsilon : (double)NAN, false,
                            v->shared != NULL ? NULL
                            : v->reserved_in != NULL
                                ? "what is left its ledger says, which cannot be read here"
                                : "no ledger is known here: other runs on this data are not counted",
                            words);
        fprintf(out, "  %s.\n", words);
    } else if (!limited)
        fputs("  Left      no limit was set\n", out);
    else
        fprintf(out, "  Left      epsilon %s of %s, delta %.6g of %.6g\n", amount(t->left_epsilon).text,
                amount(t->budget_epsilon).text, t->left_delta, t->budget_delta);
}

/* What is known of the budget: a state's own ledger has none but its plan's, which is not that of the data. */
static const caucus_ledger_totals *budget_of(const caucus_ledger_view *v) {
    return v->state ? v->shared : &v->totals;
}

/* Whether runs are about records of several units. What they add up to is then about single losses alone: an epsilon
 * for a client or a block holds for each loss in it, and not the other way round (docs/PRIVACY.md, statement 29).
 * Entries that do not say their unit are passed over. */
static bool mixes_units(const caucus_ledger_view *v) {
    caucus_unit first = CAUCUS_UNIT_COUNT;
    for (uint32_t i = 0; i < v->totals.runs; i++) {
        const caucus_unit unit = v->run[i].unit;
        if (unit != CAUCUS_UNIT_COUNT && first != CAUCUS_UNIT_COUNT && unit != first)
            return true;
        first = unit != CAUCUS_UNIT_COUNT ? unit : first;
    }
    return false;
}

/* Whose it is, its budget, and what is weak (caucus_plan_weaknesses() has the same limits). */
static void print_head(FILE *out, const caucus_ledger_view *v) {
    const caucus_ledger_totals *t = &v->totals, *b = budget_of(v);
    fprintf(out, "  %s: ", v->path);
    if (b != NULL && isfinite(b->budget_epsilon))
        fprintf(out, "budget epsilon %s, delta %.6g; ", amount(b->budget_epsilon).text, b->budget_delta);
    else if (b != NULL)
        fputs("no limit; ", out);
    fprintf(out, "%u run%s, %u release%s%s\n", t->runs, t->runs == 1 ? "" : "s", t->releases,
            t->releases == 1 ? "" : "s", t->any_seeded ? ", NOT PRIVATE (seeded)" : "");
    for (uint32_t i = 0; i < t->runs; i++) {
        const caucus_run_view *r = &v->run[i];
        const double most = fmax(r->reserved_choices, r->reserved_messages);
        if (isfinite(most) && most > CAUCUS_PLAN_WEAK_EPSILON) {
            char epsilon[CAUCUS_REAL_TEXT_BYTES];
            caucus_real_apart(most, CAUCUS_PLAN_WEAK_EPSILON, 6, epsilon);
            fprintf(out, "  WEAK: run %u has epsilon %s, above %d: it protects little\n", r->run, epsilon,
                    CAUCUS_PLAN_WEAK_EPSILON);
        }
        if (r->delta * (double)r->clients > 1)
            fprintf(out, "  WEAK: run %u has delta %.6g, above 1/clients: some client may be exposed entirely\n",
                    r->run, r->delta);
    }
    if (mixes_units(v))
        fputs("  WEAK: runs of several units: what they add up to is promised for single losses only\n", out);
    if (v->reserved_in != NULL) {
        fputs("  Reserved in ", out);
        print_safe(out, v->reserved_in);
        fputc('\n', out);
    }
}

void caucus_ledger_view_print(FILE *out, const caucus_ledger_view *v, bool ascii, bool releases, int width) {
    const caucus_ledger_totals *t = &v->totals;
    print_head(out, v);
    if (t->runs > 0)
        print_runs(out, v, width);
    if (releases && t->releases > 0)
        print_releases(out, v);
    print_picture(out, v, ascii);
    if (t->runs > 1)
        fputs("  Runs on the same data add up; each counts with all it has reserved, and with the larger of its two "
              "epsilons.\n",
              out);
    fprintf(out, "  The chain of %zu entries is whole and ends in %s.\n", caucus_ledger_count(v->ledger), v->last);
    fputs("  It catches accidents, torn or altered lines, not somebody who can cut it short or rewrite it all.\n", out);
}

static void json_run(caucus_json *j, const caucus_run_view *r) {
    caucus_json_object_row(j, NULL);
    caucus_json_whole(j, "run", r->run);
    caucus_json_text(j, "name", r->name);
    caucus_json_text(j, "run_id", r->tag[0] != '\0' ? r->tag : NULL);
    caucus_json_text(j, "trust", caucus_trust_word(r->trust));
    caucus_json_text(j, "unit", caucus_unit_word(r->unit));
    caucus_json_truth(j, "seeded", r->seeded);
    if (r->clients > 0)
        caucus_json_whole(j, "clients", r->clients);
    else
        caucus_json_null(j, "clients");
    caucus_json_object(j, "reserved");
    caucus_json_real(j, "choices", r->reserved_choices);
    caucus_json_real(j, "messages", r->reserved_messages);
    caucus_json_real(j, "delta", r->delta);
    caucus_json_close(j);
    caucus_json_real(j, "epsilon_device", r->device);
    caucus_json_object(j, "released");
    caucus_json_real(j, "choices", r->elsewhere ? (double)NAN : r->released_choices);
    caucus_json_real(j, "messages", r->elsewhere ? (double)NAN : r->released_messages);
    caucus_json_close(j);
    caucus_json_whole(j, "releases", r->releases);
    caucus_json_whole(j, "first_block", r->first_block);
    caucus_json_whole(j, "last_block", r->last_block);
    caucus_json_close(j);
}

static void json_releases(caucus_json *j, const caucus_ledger *ledger) {
    const size_t count = caucus_ledger_count(ledger);
    caucus_json_list(j, "releases");
    for (size_t i = 1; i < count; i++) {
        const caucus_entry *e = caucus_ledger_entry(ledger, i);
        if (e->kind != CAUCUS_ENTRY_RELEASE)
            continue;
        caucus_json_object_row(j, NULL);
        caucus_json_whole(j, "run", e->run);
        caucus_json_whole(j, "block", e->block);
        caucus_json_text(j, "what", e->what);
        caucus_json_real(j, "choices", caucus_ledger_epsilon(ledger, e->choices));
        caucus_json_real(j, "messages", caucus_ledger_epsilon(ledger, e->messages));
        caucus_json_close(j);
    }
    caucus_json_close(j);
}

/* Without a limit the epsilon is infinite, and a delta means nothing. */
static void json_pair(caucus_json *j, const char *key, double epsilon, double delta, bool limited) {
    caucus_json_object_row(j, key);
    caucus_json_real(j, "epsilon", epsilon);
    caucus_json_real(j, "delta", limited ? delta : (double)NAN);
    caucus_json_close(j);
}

void caucus_ledger_view_json(FILE *out, const caucus_ledger_view *v, bool releases) {
    const caucus_ledger_totals *t = &v->totals, *b = budget_of(v);
    const bool limited = b != NULL && isfinite(b->budget_epsilon);
    caucus_json j;
    caucus_json_begin(&j, out, false);
    caucus_json_text(&j, "ledger", v->path);
    caucus_json_whole(&j, "entries", caucus_ledger_count(v->ledger));
    caucus_json_text(&j, "last", v->last);
    caucus_json_truth(&j, "seeded", t->any_seeded);
    caucus_json_truth(&j, "mixed_units", mixes_units(v));
    caucus_json_text(&j, "reserved_in", v->reserved_in);
    json_pair(&j, "budget", b != NULL ? b->budget_epsilon : (double)NAN, b != NULL ? b->budget_delta : 0, limited);
    json_pair(&j, "left", b != NULL ? b->left_epsilon : (double)NAN, b != NULL ? b->left_delta : 0, limited);
    caucus_json_object_row(&j, "reserved");
    caucus_json_real(&j, "choices", t->reserved_choices);
    caucus_json_real(&j, "messages", t->reserved_messages);
    caucus_json_real(&j, "delta", t->reserved_delta);
    caucus_json_close(&j);
    caucus_json_object_row(&j, "released");
    caucus_json_real(&j, "choices", t->released_choices);
    caucus_json_real(&j, "messages", t->released_messages);
    caucus_json_close(&j);
    caucus_json_list(&j, "runs");
    for (uint32_t i = 0; i < t->runs; i++)
        json_run(&j, &v->run[i]);
    caucus_json_close(&j);
    if (releases)
        json_releases(&j, v->ledger);
    caucus_json_end(&j);
}
