/* SPDX-License-Identifier: Apache-2.0 */
/* join.c: `caucus join`, and the program caucus-client: one client of a live federation.
 *
 * Losses in, one row per round; the expert for each round out, one line per round, before its losses are asked for.
 * What travels is made by the client's machine (include/caucus/link.h); this file moves lines and bytes. */
#include "cli/clean_stderr.h"
#include "cli/complain.h"
#include "cli/config.h"
#include "cli/join/join_dial.h"
#include "cli/join/join_end.h"
#include "cli/join/join_law.h"
#include "cli/join/join_losses.h"
#include "cli/join/join_pace.h"
#include "cli/signals.h"
#include "cli/terminal/dress.h"
#include "cli/verbs.h"
#include "cli/wanted.h"
#include "num/number_text.h"
#include "scenario/scenario.h"
#include "store/clock.h"
#include <caucus/journal.h>
#include <caucus/plan_file.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A signal that comes just before poll() is seen this much later at most. */
#define STEP_MS 200

enum {
    CONNECT,
    PLAN,
    CERT,
    KEY,
    CA,
    INSECURE,
    CLIENT,
    STATE,
    LEDGER,
    BUDGET,
    NEW_DEVICE,
    GIVE_UP,
    TICK,
    LOSSES,
    REPLAY,
    ADVERSARY,
    SEED,
    SEGMENTS,
    MEANS,
    SPREAD,
    DRIFT,
    ACTIVITY,
    DATA,
    GENRE,
    DELAY,
    PLAY,
    CONFIG,
    OPTIONS
};
static const caucus_option options[] = {
    {"connect", "HOST:PORT[,...]", NULL, "the coordinator; several, separated by commas, are tried in turn"},
    {"plan", "FILE", NULL, "the plan; a coordinator with another one is refused"},
    {"cert", "FILE", NULL, "this client's certificate (PEM); its common name is the client's number"},
    {"key", "FILE", NULL, "the key of that certificate"},
    {"ca", "FILE", NULL, "the authority that signed the coordinator's certificate"},
    {"insecure", NULL, NULL, "no TLS: to try things on one machine; needs --client"},
    {"client", "I", NULL, "number of this client, from 1, where no certificate says it"},
    {"state", "FILE", NULL, "survive a restart: made if it does not exist, mode 0600"},
    {"ledger", "FILE", NULL,
     "trust nobody: this device's own; the run is reserved, or refused if the budget has no room"},
    {"budget", "E[,D]", NULL, "of a new ledger, for all runs on this device's data; an old one must have the same"},
    {"new-device", NULL, NULL,
     "trust nobody: go on without a state although reports were counted: these losses were never reported"},
    {"give-up", "SECONDS", "never", "end if there is no coordinator, or none that keeps its deadline, for so long"},
    {"tick", "MS", "0", "trust nobody: reports leave on multiples of so many milliseconds only; 0 = at once"},
    {"losses", "FILE", NULL, "a NumPy or CSV file: rounds x experts, or clients x rounds x experts"},
    {"replay", NULL, NULL, "standard input begins at round 1 again: pass over rounds played before"},
    {"adversary", "NAME", NULL, "simulated losses, to try things out (caucus simulate --help lists them)"},
    {"seed", "N", NULL, "repeat a run: NOT PRIVATE; also the seed of simulated losses"},
    {"segments", "S", "1", "parts of the run, each with its own means (adversary shifting)"},
    {"means", "LO,HI", "0.3,0.7", "where means are drawn from (adversaries bernoulli, shifting, drifting)"},
    {"spread", "SD", "0", "how far a client's means are from the experts' (the same adversaries)"},
    {"drift", "SD", "0.001", "how far a mean walks in one round (adversary drifting)"},
    {"activity", "MEAN,SPREAD", "64,1", "losses a device sees in a slot, and how rates differ (pace own, adversary)"},
    {"data", "DIR", "data/ml-1m, ../shared/data/ml-1m", "MovieLens directory (adversary movielens)"},
    {"genre", "NAME", "Drama", "the public best genre (adversary movielens)"},
    {"delay", "MS", "0", "with --losses or --adversary: wait so long before each round, at most a day"},
    {"play", "N", NULL, "of a run without an end: leave after round N (with --losses: its last; pace own: slot N)"},
    {"config", "FILE", NULL, "options from a file, the same words, one per line (connect: host:7400); a flag wins"},
    {NULL, NULL, NULL, NULL},
};

typedef struct joining {
    const char *text[OPTIONS]; /* as given; NULL: not given */
    uint32_t index;
    uint64_t seed, tick;
    double give_up, delay;
    caucus_plan *plan;
    caucus_budget budget;
    caucus_key key;
    caucus_journal *journal;
    caucus_join_dial out;
    caucus_link *link;
    caucus_losses_source losses;
    uint64_t printed;      /* rounds whose expert was printed */
    uint64_t play;         /* the last round to play; 0: all */
    caucus_join_pace pace; /* where every device has its own */
    bool from_the_start;   /* there: losses begin at the first one, and no state says which were taken */
} joining;

static bool own_pace(const joining *j) {
    return j->plan->settings.pace == CAUCUS_PACE_OWN;
}

static int refuse(const char *option, const char *value, const char *why) {
    return caucus_config_refuse("join", option, value, "%s", why);
}

static int complain(caucus_status status, const caucus_error *error) {
    return caucus_complain("join", options, status, error);
}

static const caucus_option_section sections[] = {
    {"The federation", CONNECT, LOSSES, NULL},
    {"Losses (standard input, or one of these)", LOSSES, CONFIG, NULL},
    {"All of these from a file", CONFIG, CONFIG + 1, NULL},
    {NULL, 0, 0, NULL},
};

static void print_help(void) {
    const char *name = caucus_program("join");
    printf("%s: one client of a live federation: losses in, experts out\n"
           "\n"
           "  my-losses | %s --connect fleet.example:7400 --plan plan.yaml --cert 3.pem --key 3.key --ca ca.pem "
           "--state 3.state\n"
           "  %s --connect 127.0.0.1:7400 --plan plan.yaml --insecure --client 3 --adversary realizable --seed "
           "1\n"
           "\n"
           "Prints the number of the expert to play, from 0, one line per round; then wants that round's losses, one\n"
           "line of d numbers (0.1,0.2 or [0.1,0.2]). Where a plan says evaluate, the line names the experts that are\n"
           "wanted (3 evaluate=7,8); where it has names, the expert's, last (3 name=large). What leaves "
           "is\n"
           "what the plan allows: sums of losses, under trust nobody with noise. What breaks is dialled again; with\n"
           "--state a restart goes on where it says.\n",
           name, name, name);
    caucus_options_sections(options, sections);
}

static int take_option(void *user, size_t index, const char *value) {
    joining *j = user;
    if (index == SIZE_MAX) {
        fprintf(stderr, "%s: '%s': every setting has a name — '%s --help' lists them\n", caucus_program("join"), value,
                caucus_program("join"));
        return CAUCUS_EXIT_USAGE;
    }
    if (j->text[index] != NULL)
        return refuse(options[index].name, value, "given twice");
    if (options[index].argument == NULL) {
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
            return refuse(options[index].name, value, "must be true or false");
        j->text[index] = strcmp(value, "true") == 0 ? value : NULL;
        return 0;
    }
    j->text[index] = value;
    return 0;
}

static bool seconds(const char *text, double *ret) {
    return caucus_real_parse(text, ret) && *ret >= 0;
}

static int check_numbers(joining *j) {
    uint64_t client = 0;
    if (j->text[CLIENT] && (!caucus_whole_parse(j->text[CLIENT], 0, 1u << 24, &client) || client == 0))
        return refuse("client", j->text[CLIENT], "must be a client's number, from 1");
    j->index = (uint32_t)client;
    if (j->text[SEED] && !caucus_whole_parse(j->text[SEED], 0, UINT64_MAX, &j->seed))
        return refuse("seed", j->text[SEED], "must be a whole number");
    if (j->text[TICK] && !caucus_whole_parse(j->text[TICK], 0, 60000, &j->tick))
        return refuse("tick", j->text[TICK], "must be milliseconds, at most 60000 (a minute)");
    if (j->text[PLAY] && !caucus_whole_parse(j->text[PLAY], 1, 1u << 30, &j->play))
        return refuse("play", j->text[PLAY], "must be a number of rounds, from 1 to 1073741824");
    j->give_up = INFINITY;
    if (j->text[GIVE_UP] && strcmp(j->text[GIVE_UP], "never") != 0 && !seconds(j->text[GIVE_UP], &j->give_up))
        return refuse("give-up", j->text[GIVE_UP], "must be seconds, or never");
    if (j->text[DELAY] && (!seconds(j->text[DELAY], &j->delay) || j->delay > CAUCUS_DELAY_MAX))
        return refuse("delay", j->text[DELAY], "must be milliseconds, at most 86400000 (a day)");
    return 0;
}

/* What belongs together, before anything is read. */
static int check_options(joining *j) {
    const char *const *t = j->text;
    if (!t[CONNECT] || !t[PLAN])
        return refuse(t[CONNECT] ? "plan" : "connect", NULL,
                      t[CONNECT] ? "is needed: the file the coordinator has too"
                                 : "is needed: the coordinator's host:port");
    if (t[INSECURE] && (t[CERT] || t[KEY] || t[CA]))
        return refuse("insecure", NULL, "uses no certificates — leave out --cert, --key and --ca, or --insecure");
    if (!t[INSECURE] && !(t[CERT] && t[KEY] && t[CA]))
        return refuse(!t[CERT]  ? "cert"
                      : !t[KEY] ? "key"
                                : "ca",
                      NULL,
                      "is needed (caucus certify makes certificates to try things with; --insecure works on loopback)");
    if (t[INSECURE] && !t[CLIENT])
        return refuse("client", NULL, "is needed with --insecure: no certificate says who this is");
    if (!t[INSECURE] && t[CLIENT])
        return refuse("client", t[CLIENT],
                      "goes with --insecure; with a certificate its common name is the client's number");
    if (t[LOSSES] && t[ADVERSARY])
        return refuse("losses", t[LOSSES], "they come from one place — leave out --adversary");
    if (t[ADVERSARY] && !t[SEED])
        return refuse("seed", NULL, "is needed with --adversary: all clients must simulate the same losses");
    if ((t[DATA] || t[GENRE]) && (!t[ADVERSARY] || strcmp(t[ADVERSARY], "movielens") != 0))
        return refuse(t[DATA] ? "data" : "genre", NULL, "goes with --adversary movielens");
    for (int i = SEGMENTS; i <= DRIFT; i++)
        if (t[i] && !t[ADVERSARY])
            return refuse(options[i].name, t[i], "goes with --adversary");
    if (t[REPLAY] && (t[LOSSES] || t[ADVERSARY]))
        return refuse("replay", NULL, "is for standard input; other losses find their place by themselves");
    return check_numbers(j);
}

static int read_plan(joining *j) {
    caucus_error error = {0};
    caucus_status status = caucus_plan_file_read(j->text[PLAN], &j->plan, &error);
    if (status != CAUCUS_OK)
        return complain(status, &error);
    char weak[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    const size_t weaknesses = caucus_plan_weaknesses(j->plan, weak);
    for (size_t i = 0; i < weaknesses; i++)
        fprintf(stderr, "%s: WEAK: %s\n", caucus_program("join"), weak[i]);
    if (j->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        return refuse("plan", j->text[PLAN], "its losses are convex functions — use the C interface, caucus/link.h");
    const bool endless = caucus_plan_is_endless(j->plan);
    if (j->text[PLAY] && !endless)
        return refuse("play", j->text[PLAY],
                      "goes with a plan without an end; this one says how many rounds are played");
    if (j->text[ADVERSARY] && endless && !j->text[PLAY])
        return refuse("play", NULL,
                      "is needed: for how many rounds of a run without an end shall losses be simulated?");
    if (j->plan->settings.trust != CAUCUS_TRUST_COORDINATOR && !own_pace(j) && !j->text[STATE] && !j->text[SEED])
        return refuse(
            "state", NULL,
            "is needed where clients add the noise: without it a restart would draw noise for the same losses again");
    if (j->tick > 0 && j->plan->settings.trust != CAUCUS_TRUST_NOBODY)
        return refuse("tick", j->text[TICK],
                      "goes with trust nobody: elsewhere the coordinator, which sees the time, sees the sums too");
    return 0;
}

/* The device's own ledger. Where the coordinator is trusted the budget is kept by it. */
static int read_budget(joining *j) {
    caucus_complaint complaint;
    caucus_status status = caucus_wanted_budget(j->text[LEDGER], j->text[BUDGET], &j->budget, &complaint);
    if (status != CAUCUS_OK)
        return caucus_complain_scenario("join", status, &complaint);
    const bool trusted = j->plan->settings.trust == CAUCUS_TRUST_COORDINATOR;
    if (j->text[LEDGER] && trusted)
        return refuse("ledger", j->text[LEDGER],
                      "the plan trusts the coordinator, which keeps the budget — caucus serve --ledger");
    if (j->text[LEDGER] && !j->text[STATE])
        return refuse("ledger", j->text[LEDGER], "needs --state FILE: a run is reserved once for each");
    if (j->text[REPLAY] && own_pace(j) && !j->text[STATE])
        return refuse("replay", NULL,
                      "needs --state FILE at its own pace: without one it is not known which losses were reported");
    if (j->text[NEW_DEVICE] && own_pace(j))
        return refuse("new-device", NULL,
                      "is not needed at its own pace: a client without a state begins with its next slot");
    if (j->text[NEW_DEVICE] && trusted)
        return refuse("new-device", NULL, "is for plans that trust nobody: here no noise is drawn by clients");
    return 0;
}

/* Before anything can be sent. Returns an exit code, 0: reserved, or there is no ledger. */
static int reserve(const joining *j) {
    if (j->budget.path == NULL)
        return 0;
    caucus_error error = {0};
    caucus_status status =
        caucus_journal_reserve(j->journal, j->plan, j->index, j->text[SEED] != NULL, j->budget.path,
                               j->budget.given ? j->budget.epsilon : (double)NAN, j->budget.delta, &error);
    return status == CAUCUS_OK ? 0 : complain(status, &error);
}

static int open_dial(joining *j) {
    caucus_error error = {0};
    bool plain = j->text[INSECURE] != NULL;
    caucus_dial_settings settings = {
        .cert = plain ? NULL : j->text[CERT], .key = j->text[KEY], .ca = j->text[CA], .tick_ms = (uint32_t)j->tick};
    caucus_status status = caucus_join_dial_open(&j->out, j->text[CONNECT], &settings, &error);
    if (status != CAUCUS_OK)
        return complain(status, &error);
    if (!plain)
        j->index = j->out.index;
    if (j->index == 0)
        return refuse("cert", j->text[CERT], "its common name is not a client's number");
    return 0;
}

static int open_key(joining *j) {
    if (!j->text[SEED]) {
        if (caucus_key_generate(&j->key) == CAUCUS_OK)
            return 0;
        return complain(CAUCUS_E_RANDOM, &(caucus_error){0});
    }
    caucus_key seeded, run;
    caucus_key_from_seed(j->seed, &seeded);
    caucus_key_derive(&seeded, 0, &run);
    caucus_key_derive(&run, j->index, &j->key);
    fprintf(stderr, "%s: NOT PRIVATE (seeded): whoever knows the seed can subtract the noise\n",
            caucus_program("join"));
    return 0;
}

/* The link knows what is wrong with a state, and not which file it came from. */
static int complain_state(const joining *j, caucus_status status, const caucus_error *error) {
    char line[CAUCUS_ERROR_LINE_BYTES];
    caucus_complain_line(options, status, error, line);
    fprintf(stderr, "%s: --state %s: %s\n", caucus_program("join"), j->text[STATE], line);
    return caucus_exit_code(status);
}

static caucus_status new_link(joining *j, const uint8_t *state, size_t bytes, caucus_error *ret_error) {
    caucus_link_settings settings;
    caucus_link_settings_init(&settings);
    settings.plan = j->plan;
    settings.index = j->index;
    settings.key = &j->key;
    settings.state = state;
    settings.state_bytes = bytes;
    settings.save = j->journal ? caucus_journal_write : NULL;
    settings.user = j->journal;
    settings.new_device = j->text[NEW_DEVICE] != NULL;
    settings.address = j->out.address;
    settings.addresses = j->out.addresses;
    return caucus_link_new(&settings, &j->link, ret_error);
}

static int open_link(joining *j) {
    caucus_error error = {0};
    uint8_t *state = NULL;
    size_t bytes = 0;
    caucus_status status = CAUCUS_OK;
    if (j->text[STATE]) {
        status = caucus_journal_open(j->text[STATE], &j->journal, &error);
        if (status == CAUCUS_OK)
            status = caucus_journal_read(j->journal, &state, &bytes, &error);
    }
    bool restoring = status == CAUCUS_OK && bytes > 0;
    int code = 0;
    if (status == CAUCUS_OK)
        status = new_link(j, state, bytes, &error);
    caucus_key_wipe(&j->key);
    if (status == CAUCUS_OK)
        code = reserve(j);
    if (state)
        sodium_memzero(state, bytes);
    free(state);
    if (status != CAUCUS_OK)
        return restoring ? complain_state(j, status, &error) : complain(status, &error);
    if (code != 0)
        return code;
    uint64_t round = caucus_link_round(j->link);
    if (bytes > 0 && caucus_client_stopped(caucus_link_client(j->link)))
        fprintf(stderr, "%s: this run was ended for good\n", caucus_program("join"));
    else if (bytes > 0 && round == j->plan->settings.rounds)
        fprintf(stderr, "%s: all rounds were played before\n", caucus_program("join"));
    else if (bytes > 0)
        fprintf(stderr, "%s: going on at %s %" PRIu64 "\n", caucus_program("join"), own_pace(j) ? "loss" : "round",
                round + 1);
    j->printed = round;
    j->from_the_start = own_pace(j) && (j->text[REPLAY] || j->text[LOSSES]) && bytes == 0;
    return 0;
}

static int open_losses(joining *j) {
    caucus_error error = {0};
    caucus_status status;
    if (j->text[LOSSES]) {
        status = caucus_losses_from_npy(&j->losses, j->plan, j->index, j->text[LOSSES], &j->play, &error);
    } else if (j->text[ADVERSARY]) {
        caucus_adversary_settings a = {.seed = j->seed, .data = j->text[DATA], .genre = j->text[GENRE]};
        status = caucus_adversary_kind_parse(j->text[ADVERSARY], &a.kind, &error);
        const caucus_law_texts law = {j->text[SEGMENTS], j->text[MEANS], j->text[SPREAD], j->text[DRIFT],
                                      j->text[ACTIVITY]};
        if (status == CAUCUS_OK && caucus_join_law(&law, j->plan, j->play, &a) != 0)
            return CAUCUS_EXIT_USAGE;
        if (status == CAUCUS_OK)
            status = caucus_losses_from_adversary(&j->losses, j->plan, j->index, &a, j->play, &error);
    } else {
        status =
            caucus_losses_from_lines(&j->losses, j->plan, j->text[REPLAY] ? caucus_link_round(j->link) : 0, &error);
    }
    j->losses.lines.slots = own_pace(j) && j->text[SEED] != NULL;
    j->pace = (caucus_join_pace){.link = j->link,
                                 .losses = &j->losses,
                                 .plan = j->plan,
                                 .client = j->index,
                                 .seeded = j->text[SEED] != NULL,
                                 .play = j->play,
                                 .delay_ms = j->delay};
    if (status == CAUCUS_OK && own_pace(j))
        status = caucus_join_pace_begin(&j->pace, &error);
    return status == CAUCUS_OK ? 0 : complain(status, &error);
}

static int failed_save(const joining *j, const caucus_error *error) {
    caucus_error whole = *error;
    whole.os_error = j->journal ? caucus_journal_errno(j->journal) : 0;
    if (whole.os_error == EBUSY)
        (void)caucus_fail(&whole, CAUCUS_E_SAVE, "state", "another process has written it — each client needs its own");
    return complain_state(j, CAUCUS_E_SAVE, &whole);
}

static void pause_ms(double ms) {
    struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(fmod(ms, 1000) * 1e6)};
    (void)nanosleep(&t, NULL);
}

/* Print the expert, take a row if there is one. Returns an exit code, or 0 to go on; *ret_wait: standard input is
 * waited for. */
static int play_round(joining *j, bool *ret_wait, bool *ret_played) {
    uint64_t round = caucus_link_round(j->link);
    caucus_error error = {0};
    if (j->printed < round) /* a run without an end went on */
        caucus_join_say_missed(j->printed + 1, round);
    if (j->printed <= round) {
        caucus_losses_ask(&j->losses, j->link);
        j->printed = round + 1;
        if (fflush(stdout) != 0)
            return CAUCUS_EXIT_FAILED; /* main() says why */
    }
    switch (caucus_losses_next(&j->losses, round, &error)) {
    case CAUCUS_LOSSES_WRONG:
        fprintf(stderr, "%s\n", error.text);
        return CAUCUS_EXIT_USAGE;
    case CAUCUS_LOSSES_FAILED:
        fprintf(stderr, "%s\n", error.text);
        return CAUCUS_EXIT_FAILED;
    case CAUCUS_LOSSES_ENDED:
        fprintf(stderr, "%s: standard input ended after round %" PRIu64, caucus_program("join"), round);
        if (!caucus_plan_is_endless(j->plan))
            fprintf(stderr, " of %" PRIu64, j->plan->settings.rounds);
        fprintf(stderr, "%s\n",
                j->journal ? " — start again with the same --state to go on"
                           : " — with --state FILE one can go on later");
        return CAUCUS_EXIT_FAILED;
    case CAUCUS_LOSSES_LATER:
        *ret_wait = true;
        return 0;
    case CAUCUS_LOSSES_SLOT:
    case CAUCUS_LOSSES_READY:
        break;
    }
    if (j->delay > 0)
        pause_ms(j->delay);
    caucus_status status = caucus_link_observe(j->link, caucus_losses_wanted(&j->losses, j->link), &error);
    *ret_played = true;
    if (status == CAUCUS_E_SAVE)
        return failed_save(j, &error);
    if (status != CAUCUS_OK)
        caucus_dial_drop(j->out.dial, j->link, &error);
    return 0;
}

/* The same at its own pace. */
static int play_pace(joining *j, bool *ret_wait, bool *ret_played) {
    caucus_error error = {0};
    const caucus_pace_state state = caucus_join_pace_turn(&j->pace, &error);
    *ret_wait = state == CAUCUS_PACE_WAITS;
    *ret_played = state == CAUCUS_PACE_PLAYED;
    if (state == CAUCUS_PACE_UNSAVED)
        return failed_save(j, &error);
    if (state == CAUCUS_PACE_BROKEN)
        caucus_dial_drop(j->out.dial, j->link, &error);
    if (state != CAUCUS_PACE_WRONG && state != CAUCUS_PACE_FAILED)
        return 0;
    if (error.text[0] != '\0')
        fprintf(stderr, "%s\n", error.text);
    return state == CAUCUS_PACE_WRONG ? CAUCUS_EXIT_USAGE : CAUCUS_EXIT_FAILED;
}

/* Losses that begin at the first one again, without a state that says which were taken: what the coordinator has
 * counted of this client may be these. Known with the first announcement, before a loss is taken. */
static int check_counted(joining *j) {
    if (!j->from_the_start)
        return 0;
    j->from_the_start = false;
    const uint64_t counted = caucus_client_item(caucus_link_client(j->link)) - 1;
    if (counted == 0)
        return 0;
    fprintf(stderr,
            "%s: --%s: %" PRIu64 " reports of this client are counted, and no state here knows of them: these losses "
            "may be in them, and would be counted twice — give new losses only, on standard input\n",
            caucus_program("join"), j->text[REPLAY] ? "replay" : "losses", counted);
    return CAUCUS_EXIT_USAGE;
}

/* All that was asked for is played. */
static bool has_played(const joining *j) {
    if (own_pace(j))
        return caucus_link_done(j->link) || j->pace.over;
    return caucus_link_done(j->link) || (j->play != 0 && caucus_link_round(j->link) >= j->play);
}

/* At its own pace a visit that met no coordinator has something left to report. */
static bool has_reported(const joining *j) {
    return !own_pace(j) || j->losses.trial || caucus_link_done(j->link) || j->pace.reported;
}

static int play(joining *j) {
    while (!caucus_stopped() && !has_played(j)) {
        bool wait = false, awake = false, played = false;
        caucus_join_dial_mind(&j->out, j->link);
        if (caucus_link_ready(j->link)) {
            int code = check_counted(j);
            if (code != 0)
                return code;
            code = own_pace(j) ? play_pace(j, &wait, &played) : play_round(j, &wait, &played);
            if (code != 0)
                return code;
        }
        caucus_error error = {0};
        caucus_status status = caucus_dial_step(j->out.dial, j->link, wait && caucus_losses_waits(&j->losses) ? 0 : -1,
                                                played ? 0 : STEP_MS, &awake, &error);
        if (status == CAUCUS_E_SAVE)
            return failed_save(j, &error);
        if (status != CAUCUS_OK)
            return complain(status, &error);
        if (awake)
            caucus_losses_read(&j->losses);
        if (own_pace(j))
            caucus_join_pace_mind_end(&j->pace, caucus_clock_ms());
        double missing = (double)caucus_link_missing_ms(j->link, caucus_clock_ms()) / 1000;
        if (missing > j->give_up) {
            fprintf(stderr, "%s: no %s at %s for %g s\n", caucus_program("join"),
                    caucus_link_late(j->link) ? "announcement" : "coordinator", j->text[CONNECT], j->give_up);
            return CAUCUS_EXIT_FAILED;
        }
    }
    return 0;
}

/* Save as it is, say goodbye. */
static int leave(joining *j, int code) {
    caucus_error error = {0};
    const char *words = has_played(j) ? "done" : caucus_stopped() ? "stopped" : "failed";
    caucus_status status = caucus_link_leave(j->link, words, &error);
    caucus_dial_finish(j->out.dial, j->link, 2000);
    if (code == 0)
        caucus_join_say_end(j->link, j->plan);
    if (code == 0 && has_played(j) && !has_reported(j))
        caucus_join_say_alone(j->text[CONNECT], j->journal != NULL);
    if (status == CAUCUS_E_SAVE && code == 0)
        return failed_save(j, &error);
    if (status != CAUCUS_OK && code == 0)
        return complain(status, &error);
    return code == 0 && (!has_played(j) || !has_reported(j)) ? CAUCUS_EXIT_FAILED : code;
}

static char end_words[64]; /* written before a signal may want to print them */

/* Before anything is played a signal ends the process where it is: as after SIGKILL, a state goes on. */
static void end_start(int number) {
    (void)number;
    (void)!write(STDERR_FILENO, end_words, strlen(end_words));
    _exit(CAUCUS_EXIT_FAILED);
}

static int run(joining *j, int argc, char **argv) {
    caucus_keep_standard_files();
    caucus_on_signal(SIGHUP, SIG_IGN); /* it asks for files to be read again: they are about to be read */
    (void)snprintf(end_words, sizeof end_words, "%s: stopped before it began\n", caucus_program("join"));
    caucus_on_signals(end_start);
    int code = caucus_options_parse("join", options, argc, argv, take_option, j);
    if (code == 0 && j->text[CONFIG])
        code = caucus_config_read("join", options, j->text[CONFIG], j->text, take_option, j);
    if (code == 0)
        code = check_options(j);
    if (code == 0) {
        caucus_dress_data(); /* the experts, a line each, which a program reads */
        code = read_plan(j);
    }
    if (code == 0)
        code = read_budget(j);
    if (code == 0)
        code = open_dial(j);
    if (code == 0)
        code = open_key(j);
    if (code == 0)
        code = open_link(j);
    if (code == 0)
        code = open_losses(j);
    if (code != 0)
        return code;
    caucus_stop_on_signals();
    caucus_on_signal(SIGPIPE, SIG_IGN);
    return leave(j, play(j));
}

int caucus_cli_join(int argc, char **argv) {
    joining j = {.index = 0};
    int code = run(&j, argc, argv);
    if (code == CAUCUS_OPTIONS_HELP) {
        print_help();
        code = CAUCUS_EXIT_DONE;
    }
    caucus_join_pace_end(&j.pace);
    caucus_losses_close(&j.losses);
    caucus_link_free(j.link);
    caucus_join_dial_close(&j.out);
    caucus_journal_close(j.journal);
    caucus_plan_free(j.plan);
    return code;
}
