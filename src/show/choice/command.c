/* SPDX-License-Identifier: Apache-2.0 */
/* command.c: settings as they are typed, and what to type next. See comparison.h. */
#include "dial/certify.h"
#include "show/choice/comparison.h"
#include "show/choice/shell_word.h"
#include "show/plan_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every digit that counts: what is typed again must make the same plan. */
static void digits(FILE *out, double value) {
    char text[32] = "infinite";
    for (int count = 15; count <= 17 && isfinite(value); count++) {
        (void)snprintf(text, sizeof text, "%.*g", count, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, out);
}

static void real(FILE *out, const char *name, double value, double plain) {
    if (value == plain)
        return;
    fprintf(out, " --%s ", name);
    digits(out, value);
}

static void whole(FILE *out, const char *name, uint64_t value, uint64_t plain) {
    if (value != plain)
        fprintf(out, " --%s %" PRIu64, name, value);
}

static void word(FILE *out, const char *name, const char *value, const char *plain) {
    if (strcmp(value, plain) != 0)
        fprintf(out, " --%s %s", name, value);
}

static void sizes(FILE *out, const caucus_settings *s) {
    fprintf(out, " --clients %u", s->clients);
    if (s->names != NULL) {
        fputs(s->names[0] == '@' ? " --names @" : " --names ", out); /* one @ alone is a file's */
        caucus_shell_word(out, s->names);
    } else {
        fprintf(out, " --experts %u", s->experts);
    }
    if (s->pace != CAUCUS_PACE_OWN && s->rounds == CAUCUS_ROUNDS_ENDLESS)
        fputs(" --rounds endless", out);
    else if (s->rounds != CAUCUS_ROUNDS_ENDLESS)
        fprintf(out, " --rounds %" PRIu64, s->rounds);
}

static void phases(FILE *out, const caucus_settings *s, const caucus_settings *plain) {
    if (s->longest_phase == CAUCUS_PHASE_AUTO)
        fputs(" --longest-phase auto", out);
    else
        whole(out, "longest-phase", s->longest_phase, plain->longest_phase);
    whole(out, "first-phase", s->first_phase, plain->first_phase);
    real(out, "changes", s->changes, plain->changes);
    whole(out, "renew", s->renew, plain->renew);
    whole(out, "nominal-rounds", s->nominal_rounds, plain->nominal_rounds);
    whole(out, "evaluate", s->evaluate, plain->evaluate);
    whole(out, "growth", s->growth, plain->growth);
    real(out, "show-loss", s->show_loss, plain->show_loss);
    if (s->pace != CAUCUS_PACE_OWN)
        return;
    fprintf(out, " --pace own --phase-time %s", caucus_words_typed_time(s->phase_time).text);
    if (s->grace != CAUCUS_GRACE_AUTO)
        fprintf(out, " --grace %s", caucus_words_typed_time(s->grace).text);
    whole(out, "most", s->most, plain->most);
    if (s->start != plain->start)
        fprintf(out, " --start %s", caucus_words_typed_slot(s, s->start).text);
}

void caucus_command_options(FILE *out, const caucus_settings *s) {
    caucus_settings plain;
    caucus_settings_init(&plain);
    fprintf(out, " --algorithm %s", caucus_algorithm_word(s->algorithm));
    sizes(out, s);
    if (s->interval == CAUCUS_INTERVAL_AUTO)
        fputs(" --interval auto", out);
    else
        whole(out, "interval", s->interval, plain.interval);
    fputs(" --epsilon ", out);
    digits(out, s->epsilon);
    real(out, "delta", s->delta, plain.delta);
    fprintf(out, " --trust %s", caucus_trust_word(s->trust));
    word(out, "unit", caucus_unit_word(s->unit),
         caucus_unit_word(s->pace == CAUCUS_PACE_OWN ? CAUCUS_UNIT_CLIENT_BLOCK : plain.unit));
    word(out, "protocol", caucus_protocol_word(s->protocol), caucus_protocol_word(plain.protocol));
    word(out, "select", caucus_select_word(s->select), caucus_select_word(plain.select));
    word(out, "message", caucus_message_word(s->message), caucus_message_word(plain.message));
    if (s->trees != plain.trees)
        fprintf(out, " --trees %d", s->trees);
    fputs(s->front_load ? " --front-load" : "", out);
    fputs(s->past_phases ? " --past-phases" : "", out);
    phases(out, s, &plain);
    real(out, "rho", s->rho, plain.rho);
    real(out, "lstar", s->lstar, plain.lstar);
    if (s->lo != plain.lo || s->hi != plain.hi) { /* a minus sign must not look like an option */
        fputs(" --range=", out);
        digits(out, s->lo);
        fputc(',', out);
        digits(out, s->hi);
    }
}

void caucus_command_plan(FILE *out, const caucus_settings *settings) {
    fputs("caucus plan", out);
    caucus_command_options(out, settings);
    whole(out, "grid", settings->grid, 0);
    fputs(" --write plan.yaml", out);
}

/* The length of the next word and the blanks before it: quotes hold blanks together (caucus_shell_word). */
static size_t next_word(const char *text) {
    bool quoted = false;
    size_t length = strspn(text, " ");
    for (; text[length] != '\0' && (quoted || text[length] != ' '); length++)
        quoted = quoted != (text[length] == '\'');
    return length;
}

/* One command in lines that fit. An option stays with its value. */
static void put_command(FILE *out, int width, const char *before, const char *text) {
    int at = (int)strlen(before);
    fputs(before, out);
    for (size_t length; *text != '\0'; text += length) {
        length = next_word(text);
        if (strncmp(text, " --", 3) == 0 && text[length] == ' ' && strncmp(text + length, " --", 3) != 0)
            length += next_word(text + length);
        int columns = 0;
        for (size_t i = 0; i < length; i++)
            columns += ((unsigned char)text[i] & 0xc0) != 0x80;
        const bool fits = width == 0 || at + columns + 2 <= width;
        if (!fits)
            at = fprintf(out, " \\\n%s   ", before) - 3;
        fwrite(text, 1, length, out);
        at += columns;
    }
    fputc('\n', out);
}

bool caucus_comparison_range(const caucus_comparison *c, double *ret_lo, double *ret_hi) {
    return c->own && c->question->range_open && c->history.outside > CAUCUS_HISTORY_OUTSIDE &&
           caucus_history_range(&c->history, ret_lo, ret_hi);
}

caucus_settings caucus_command_settings(const caucus_comparison *c, const caucus_candidate *x) {
    caucus_settings s = x->asked;
    double lo, hi;
    if (caucus_comparison_range(c, &lo, &hi)) {
        s.lo = lo;
        s.hi = hi;
    }
    return s;
}

static void print_simulate(FILE *out, const caucus_comparison *c) {
    caucus_settings shaped = caucus_command_settings(c, c->taken);
    const bool endless = shaped.rounds == CAUCUS_ROUNDS_ENDLESS;
    shaped.clients = c->own_clients;
    if (!endless)
        shaped.rounds = c->own_rounds < shaped.rounds ? c->own_rounds : shaped.rounds;
    fputs("caucus simulate --losses ", out);
    caucus_shell_word(out, c->question->losses);
    caucus_command_options(out, &shaped);
    if (endless)
        fprintf(out, " --play %" PRIu64, c->own_rounds);
    if (c->segments > 1) /* what the figures of the table are against */
        fprintf(out, " --segments %" PRIu64, c->segments);
    fputs(" --trials 20", out);
}

static void print_plan(FILE *out, const caucus_comparison *c) {
    const caucus_settings s = caucus_command_settings(c, c->taken);
    caucus_command_plan(out, &s);
}

/* Certificates to try it with, up to as many as certify makes. */
static void print_certify(FILE *out, const caucus_comparison *c) {
    fprintf(out, "caucus certify certs --clients %u",
            c->taken->asked.clients < CAUCUS_CERTIFY_MAX_CLIENTS ? c->taken->asked.clients
                                                                 : CAUCUS_CERTIFY_MAX_CLIENTS);
}

/* A command that is printed by `print`, which may fail for want of memory alone: then the lines are missing. */
static void put_printed(FILE *out, int width, const char *before, void (*print)(FILE *, const caucus_comparison *),
                        const caucus_comparison *c) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL)
        return;
    print(memory, c);
    if (fclose(memory) == 0)
        put_command(out, width, before, text);
    free(text);
}

void caucus_command_next(FILE *out, const caucus_comparison *c, const char *before, int width) {
    if (c->own && c->question->losses != NULL)
        put_printed(out, width, before, print_simulate, c);
    put_printed(out, width, before, print_plan, c);
    put_command(out, width, before, "caucus statement plan.yaml");
    put_printed(out, width, before, print_certify, c);
    put_command(out, width, before,
                "caucus serve --plan plan.yaml --state state --listen 0.0.0.0:7400 --cert certs/coordinator.pem --key "
                "certs/coordinator.key --client-ca certs/ca.pem");
    /* The first client, on the coordinator's machine. Its losses come by lines, new ones: those of a file that was
     * compared on have been read without privacy, and a run on them would protect nothing. */
    put_command(out, width, before,
                "caucus join --plan plan.yaml --connect 127.0.0.1:7400 --state client-1.state --cert "
                "certs/client-1.pem --key certs/client-1.key --ca certs/ca.pem");
}
