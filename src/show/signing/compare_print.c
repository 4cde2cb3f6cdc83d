/* SPDX-License-Identifier: Apache-2.0 */
/* compare_print.c: a comparison of two plans, for people and for programs. See compare.h. */
#include "show/plan_words.h"
#include "show/signing/compare.h"
#include "show/wrap.h"
#include "store/json.h"

#include <string.h>

static const char *const compared_words[] = {
#define CAUCUS_WORD_COMPARED(name, word) word,
    CAUCUS_COMPARED_LIST(CAUCUS_WORD_COMPARED)
#undef CAUCUS_WORD_COMPARED
};

static const char *summary(caucus_compared privacy) {
    static const char *const said[] = {
        "both promise the same",
        "the second promises more",
        "the second promises LESS",
        "the second promises more in some respects and LESS in others",
        "the promises are about different units: only what they come to for a whole device compares",
    };
    return said[privacy];
}

/* Keys that people read as something else. */
static const char *people_say(const char *what) {
    static const struct {
        const char *key, *words;
    } said[] = {
        {"epsilon_choices", "epsilon, choices"},
        {"epsilon_messages", "epsilon, messages"},
        {"epsilon_device", "epsilon, device"},
        {"right_guesses", "right guesses of 100"},
        {"right_guesses_device", "  whole device"},
        {"weak", "WEAK"},
        {"regret_at_most", "regret at most"},
        {"scalars_up", "numbers up"},
        {"bytes_up", "bytes up"},
    };
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        if (strcmp(what, said[i].key) == 0)
            return said[i].words;
    return what;
}

/* A long list of names is not read here. */
static void print_change(FILE *out, const caucus_change *c, int width) {
    enum { MOST = 160 };
    char first[40], text[2 * MOST + 64];
    const char *before = c->before != NULL ? c->before : "(not there)",
               *after = c->after != NULL ? c->after : "(not there)";
    char label[24];
    (void)snprintf(label, sizeof label, "%s", people_say(c->what));
    for (char *l = label; *l != '\0'; l++)
        *l = *l == '_' ? '-' : *l;
    (void)snprintf(first, sizeof first, "    %-20s  ", label);
    (void)snprintf(text, sizeof text, "%.*s%s \u00a0->\u00a0 %.*s%s", MOST, before, strlen(before) > MOST ? " ..." : "",
                   MOST, after, strlen(after) > MOST ? " ..." : "");
    caucus_wrap_put(out, width, first, text);
}

static void print_section(FILE *out, const caucus_plan_comparison *c, const char *section, const char *title,
                          int width) {
    bool titled = false;
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->change[i].section, section) != 0)
            continue;
        if (!titled && title != NULL)
            fprintf(out, "\n  %s\n", title);
        titled = true;
        print_change(out, &c->change[i], width);
    }
}

/* Integers of mechanisms follow from the settings, and are many: how many differ. */
static void print_rest(FILE *out, const caucus_plan_comparison *c, int width) {
    char text[120];
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += strcmp(c->change[i].section, "mechanism") == 0;
    if (count == 0)
        return;
    (void)snprintf(text, sizeof text, "%zu number%s of the mechanisms (JSON lists %s)", count, count == 1 ? "" : "s",
                   count == 1 ? "it" : "them");
    fputc('\n', out);
    caucus_wrap_put(out, width, "  And ", text);
}

static void print_plans(FILE *out, const caucus_plan_comparison *c, int width) {
    for (size_t p = 0; p < 2; p++) {
        char first[64], text[512];
        (void)snprintf(first, sizeof first, "  %-8s", p == 0 ? "First" : "Second");
        (void)snprintf(text, sizeof text, "%.300s: plan %.12s..., %s", c->file[p], caucus_plan_hash_text(c->plan[p]),
                       caucus_words_algorithm(c->plan[p]->settings.algorithm));
        caucus_wrap_put(out, width, first, text);
    }
}

void caucus_compare_print(FILE *out, const caucus_plan_comparison *c, int width) {
    print_plans(out, c, width);
    if (c->count == 0) {
        fputs("\n  The same plan.\n", out);
        return;
    }
    fputc('\n', out);
    caucus_wrap_put(out, width, "  Privacy: ", summary(c->privacy));
    print_section(out, c, "privacy", NULL, width);
    print_section(out, c, "regret", "Regret per client", width);
    print_section(out, c, "traffic", "Traffic per client, at most", width);
    print_section(out, c, "settings", "Settings", width);
    print_rest(out, c, width);
}

void caucus_compare_json(FILE *out, const caucus_plan_comparison *c) {
    static const char *const names[] = {"first", "second"};
    caucus_json j;
    caucus_json_begin(&j, out, false);
    for (size_t p = 0; p < 2; p++) {
        caucus_json_object_row(&j, names[p]);
        caucus_json_text(&j, "file", c->file[p]);
        caucus_json_text(&j, "plan", caucus_plan_hash_text(c->plan[p]));
        caucus_json_close(&j);
    }
    caucus_json_text(&j, "privacy", compared_words[c->privacy]);
    caucus_json_list(&j, "changes");
    for (size_t i = 0; i < c->count; i++) {
        caucus_json_object_row(&j, NULL);
        caucus_json_text(&j, "section", c->change[i].section);
        caucus_json_text(&j, "what", c->change[i].what);
        caucus_json_text(&j, "before", c->change[i].before);
        caucus_json_text(&j, "after", c->change[i].after);
        caucus_json_close(&j);
    }
    caucus_json_close(&j);
    caucus_json_end(&j);
}
