/* SPDX-License-Identifier: Apache-2.0 */
/* simulate_options.c: the options of `caucus simulate`, its help, and the runs that they ask for. */
#include "cli/simulate/simulate.h"

#include <stdio.h>
#include <string.h>

static const caucus_option options[] = {
#define OPTION(name, word, list, argument, fallback, help) {word, argument, fallback, help},
    CAUCUS_FIELD_LIST(OPTION)
#undef OPTION
        {"resume", NULL, NULL, "go on with what a stopped simulation left in --out"},
    {"plot", "FILE", NULL, "draw the results: FILE.svg or FILE.png (needs gnuplot)"},
    {"split", "WHAT", "trials", "over several ranks (caucus-mpi): deal trials, or the clients of each trial"},
    {NULL, NULL, NULL, NULL},
};

enum { RESUME = CAUCUS_FIELD_COUNT, PLOT, SPLIT, OPTIONS };

static int complain(const caucus_complaint *complaint, caucus_status status) {
    return caucus_complain_scenario("simulate", status, complaint);
}

int caucus_simulate_complain(const caucus_simulate *s, caucus_status status, const caucus_error *error) {
    caucus_complaint complaint;
    caucus_error named = *error;
    caucus_complain_name(options, &named);
    (void)caucus_scenario_complain(&s->scenario, status, &named, &complaint);
    return complain(&complaint, status);
}

int caucus_simulate_refuse(caucus_status status, const caucus_error *error) {
    return caucus_complain("simulate", options, status, error);
}

static void print_words(const char *title, const char *(*word)(unsigned), const char *(*help)(unsigned),
                        unsigned count) {
    printf("\n%s\n", title);
    for (unsigned i = 0; i < count; i++)
        printf("  %-22s %s\n", word(i), help(i));
}

#define WORDS(type)                                                                                                    \
    static const char *type##_word(unsigned i) {                                                                       \
        return caucus_##type##_word((caucus_##type)i);                                                                 \
    }                                                                                                                  \
    static const char *type##_help(unsigned i) {                                                                       \
        return caucus_##type##_help((caucus_##type)i);                                                                 \
    }
CAUCUS_EACH_CHOICE(WORDS)
WORDS(adversary_kind)

static const caucus_option_section sections[] = {
    {"What is simulated", CAUCUS_FIELD_ALGORITHM, CAUCUS_FIELD_EPSILON, NULL},
    {"Privacy and mechanisms", CAUCUS_FIELD_EPSILON, CAUCUS_FIELD_SEGMENTS, NULL},
    {"Simulated losses", CAUCUS_FIELD_SEGMENTS, CAUCUS_FIELD_DATA, NULL},
    {"Your own data", CAUCUS_FIELD_DATA, CAUCUS_FIELD_TRIALS, NULL},
    {"Running and results", CAUCUS_FIELD_TRIALS, OPTIONS, NULL},
    {NULL, 0, 0, NULL},
};

void caucus_simulate_help(void) {
    fputs("caucus simulate: any algorithm against any adversary, or your own losses, many trials at once\n"
          "\n"
          "  caucus simulate --algorithm svt,sparse-vector --epsilon 10 --trust coordinator\n"
          "  caucus simulate --losses mine.npy --algorithm svt,hedge --trust coordinator --format json\n"
          "  caucus simulate experiments/figure1.yaml --trials 10 --out out/figure1\n"
          "\n"
          "A scenario file has the same settings as the flags (epsilon: 10); flags override it. A list makes one run "
          "per value\n"
          "(--interval 1,10 or interval: [1, 10]), several lists every combination. Defaults in brackets; --trust must "
          "be said.\n",
          stdout);
    caucus_options_sections(options, sections);
    print_words("Algorithms", algorithm_word, algorithm_help, CAUCUS_ALGORITHM_COUNT);
    print_words("Adversaries", adversary_kind_word, adversary_kind_help, CAUCUS_ADVERSARY_COUNT);
    print_words("Trust", trust_word, trust_help, CAUCUS_TRUST_COUNT);
    print_words("Calibrations", calibration_word, calibration_help, CAUCUS_CALIBRATION_COUNT);
    print_words("Protocols (svt)", protocol_word, protocol_help, CAUCUS_PROTOCOL_COUNT);
    print_words("Units of privacy", unit_word, unit_help, CAUCUS_UNIT_COUNT);
    print_words("Selections (stoch, trust coordinator)", select_word, select_help, CAUCUS_SELECT_COUNT);
    print_words("Messages (stoch, trust nobody)", message_word, message_help, CAUCUS_MESSAGE_COUNT);
}

static int take_split(caucus_simulate *s, const char *value) {
    s->split_clients = strcmp(value, "clients") == 0;
    if (!s->split_clients && strcmp(value, "trials") != 0)
        return caucus_usage("simulate", "--split %s: must be trials or clients", value);
    if (s->split_clients && caucus_ranks_library() == NULL) {
        fputs("caucus simulate: --split clients: this program is one process — mpirun -n 2 caucus-mpi simulate …\n",
              stderr);
        return CAUCUS_EXIT_USAGE;
    }
    return 0;
}

static int take_option(void *user, size_t index, const char *value) {
    caucus_simulate *s = user;
    if (index == SIZE_MAX)
        return caucus_take_word("simulate", "scenario file", value, &s->file);
    if (index == SPLIT)
        return take_split(s, value);
    if (index == PLOT) {
        s->plot = value;
        return caucus_plot_kind_of(value, &s->plot_kind)
                   ? 0
                   : caucus_usage("simulate", "--plot %s: must end in .svg or .png", value);
    }
    if (index == RESUME)
        return caucus_take_switch("simulate", "resume", value, &s->resume);
    caucus_complaint complaint;
    caucus_status status = caucus_scenario_set(&s->scenario, (caucus_scenario_field)index, value, &complaint);
    return status == CAUCUS_OK ? 0 : complain(&complaint, status);
}

int caucus_simulate_read(caucus_simulate *s) {
    int code = caucus_options_parse("simulate", options, s->argc, s->argv, take_option, s);
    if (code != 0)
        return code;
    caucus_complaint complaint;
    caucus_status status = s->file != NULL ? caucus_scenario_load(&s->scenario, s->file, &complaint) : CAUCUS_OK;
    if (status == CAUCUS_OK)
        status = caucus_wanted_read(&s->scenario, &s->wanted, &complaint);
    if (status == CAUCUS_OK)
        status = caucus_scenario_resolve(&s->scenario, &s->prepared, &complaint);
    if (status != CAUCUS_OK)
        return complain(&complaint, status);
    for (size_t i = 0; s->split_clients && i < s->prepared.count; i++)
        if (s->prepared.run[i].settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX) {
            fputs("caucus simulate: --split clients: losses must be linear — convex ones are added up in floating "
                  "point, whose sums depend on the order; use --split trials\n",
                  stderr);
            return CAUCUS_EXIT_USAGE;
        }
    return 0;
}
