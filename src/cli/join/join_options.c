/* SPDX-License-Identifier: Apache-2.0 */
/* join_options.c: the words of `caucus join`: which there are, what each may say, and what belongs together. */
#include "cli/complain.h"
#include "cli/config.h"
#include "cli/join/joining.h"
#include "cli/options.h"
#include "num/number_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const caucus_option caucus_join_table[] = {
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
    {"config", "FILE", NULL, CAUCUS_CONFIG_HELP("connect: host:7400")},
    {NULL, NULL, NULL, NULL},
};

static const caucus_option_section sections[] = {
    {"The federation", CAUCUS_JOIN_CONNECT, CAUCUS_JOIN_LOSSES, NULL},
    {"Losses (standard input, or one of these)", CAUCUS_JOIN_LOSSES, CAUCUS_JOIN_CONFIG, NULL},
    {"All of these from a file", CAUCUS_JOIN_CONFIG, CAUCUS_JOIN_CONFIG + 1, NULL},
    {NULL, 0, 0, NULL},
};

void caucus_join_help(void) {
    const char *name = caucus_program("join");
    printf("%s: one client of a live federation: losses in, experts out\n"
           "\n"
           "  my-losses | %s --connect fleet.example:7400 --plan plan.yaml --cert 3.pem --key 3.key --ca ca.pem "
           "--state 3.state\n"
           "  %s --connect 127.0.0.1:7400 --plan plan.yaml --insecure --client 3 --adversary realizable --seed "
           "1\n"
           "\n"
           "Prints the number of the expert to play, from 0, one line per round; then wants that round's losses, one\n"
           "line of d numbers (0.1,0.2 or [0.1,0.2]). Where a plan says evaluate k, the line names the k experts that\n"
           "are to be evaluated (3 evaluate=7,8), and k losses are wanted, theirs, in that order; where it has names,\n"
           "the expert's, last (3 name=large). What leaves is what the plan allows: sums of losses, under trust\n"
           "nobody with noise. What breaks is dialled again; with --state a restart goes on where it says.\n",
           name, name, name);
    caucus_options_sections(caucus_join_table, sections);
}

static int take_option(void *user, size_t index, const char *value) {
    caucus_joining *j = user;
    if (index == SIZE_MAX) {
        fprintf(stderr, "%s: '%s': every setting has a name — '%s --help' lists them\n", caucus_program("join"), value,
                caucus_program("join"));
        return CAUCUS_EXIT_USAGE;
    }
    if (j->text[index] != NULL)
        return caucus_join_refuse(caucus_join_table[index].name, value, "given twice");
    if (caucus_join_table[index].argument == NULL) {
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
            return caucus_join_refuse(caucus_join_table[index].name, value, "must be true or false");
        j->text[index] = strcmp(value, "true") == 0 ? value : NULL;
        return 0;
    }
    j->text[index] = value;
    return 0;
}

static bool seconds(const char *text, double *ret) {
    return caucus_real_parse(text, ret) && *ret >= 0;
}

static int check_numbers(caucus_joining *j) {
    uint64_t client = 0;
    if (j->text[CAUCUS_JOIN_CLIENT] &&
        (!caucus_whole_parse(j->text[CAUCUS_JOIN_CLIENT], 0, 1u << 24, &client) || client == 0))
        return caucus_join_refuse("client", j->text[CAUCUS_JOIN_CLIENT], "must be a client's number, from 1");
    j->index = (uint32_t)client;
    if (j->text[CAUCUS_JOIN_SEED] && !caucus_whole_parse(j->text[CAUCUS_JOIN_SEED], 0, UINT64_MAX, &j->seed))
        return caucus_join_refuse("seed", j->text[CAUCUS_JOIN_SEED], "must be a whole number");
    if (j->text[CAUCUS_JOIN_TICK] && !caucus_whole_parse(j->text[CAUCUS_JOIN_TICK], 0, 60000, &j->tick))
        return caucus_join_refuse("tick", j->text[CAUCUS_JOIN_TICK], "must be milliseconds, at most 60000 (a minute)");
    if (j->text[CAUCUS_JOIN_PLAY] && !caucus_whole_parse(j->text[CAUCUS_JOIN_PLAY], 1, 1u << 30, &j->play))
        return caucus_join_refuse("play", j->text[CAUCUS_JOIN_PLAY],
                                  "must be a number of rounds, from 1 to 1073741824");
    j->give_up = INFINITY;
    if (j->text[CAUCUS_JOIN_GIVE_UP] && strcmp(j->text[CAUCUS_JOIN_GIVE_UP], "never") != 0 &&
        !seconds(j->text[CAUCUS_JOIN_GIVE_UP], &j->give_up))
        return caucus_join_refuse("give-up", j->text[CAUCUS_JOIN_GIVE_UP], "must be seconds, or never");
    if (j->text[CAUCUS_JOIN_DELAY] && (!seconds(j->text[CAUCUS_JOIN_DELAY], &j->delay) || j->delay > CAUCUS_DELAY_MAX))
        return caucus_join_refuse("delay", j->text[CAUCUS_JOIN_DELAY],
                                  "must be milliseconds, at most 86400000 (a day)");
    return 0;
}

/* What belongs together, before anything is read. */
static int check_options(caucus_joining *j) {
    const char *const *t = j->text;
    if (!t[CAUCUS_JOIN_CONNECT] || !t[CAUCUS_JOIN_PLAN])
        return caucus_join_refuse(t[CAUCUS_JOIN_CONNECT] ? "plan" : "connect", NULL,
                                  t[CAUCUS_JOIN_CONNECT] ? "is needed: the file the coordinator has too"
                                                         : "is needed: the coordinator's host:port");
    if (t[CAUCUS_JOIN_INSECURE] && (t[CAUCUS_JOIN_CERT] || t[CAUCUS_JOIN_KEY] || t[CAUCUS_JOIN_CA]))
        return caucus_join_refuse("insecure", NULL,
                                  "uses no certificates — leave out --cert, --key and --ca, or --insecure");
    if (!t[CAUCUS_JOIN_INSECURE] && !(t[CAUCUS_JOIN_CERT] && t[CAUCUS_JOIN_KEY] && t[CAUCUS_JOIN_CA]))
        return caucus_join_refuse(
            !t[CAUCUS_JOIN_CERT]  ? "cert"
            : !t[CAUCUS_JOIN_KEY] ? "key"
                                  : "ca",
            NULL, "is needed (caucus certify makes certificates to try things with; --insecure works on loopback)");
    if (t[CAUCUS_JOIN_INSECURE] && !t[CAUCUS_JOIN_CLIENT])
        return caucus_join_refuse("client", NULL, "is needed with --insecure: no certificate says who this is");
    if (!t[CAUCUS_JOIN_INSECURE] && t[CAUCUS_JOIN_CLIENT])
        return caucus_join_refuse("client", t[CAUCUS_JOIN_CLIENT],
                                  "goes with --insecure; with a certificate its common name is the client's number");
    if (t[CAUCUS_JOIN_LOSSES] && t[CAUCUS_JOIN_ADVERSARY])
        return caucus_join_refuse("losses", t[CAUCUS_JOIN_LOSSES], "they come from one place — leave out --adversary");
    if (t[CAUCUS_JOIN_ADVERSARY] && !t[CAUCUS_JOIN_SEED])
        return caucus_join_refuse("seed", NULL,
                                  "is needed with --adversary: all clients must simulate the same losses");
    if ((t[CAUCUS_JOIN_DATA] || t[CAUCUS_JOIN_GENRE]) &&
        (!t[CAUCUS_JOIN_ADVERSARY] || strcmp(t[CAUCUS_JOIN_ADVERSARY], "movielens") != 0))
        return caucus_join_refuse(t[CAUCUS_JOIN_DATA] ? "data" : "genre", NULL, "goes with --adversary movielens");
    for (int i = CAUCUS_JOIN_SEGMENTS; i <= CAUCUS_JOIN_DRIFT; i++)
        if (t[i] && !t[CAUCUS_JOIN_ADVERSARY])
            return caucus_join_refuse(caucus_join_table[i].name, t[i], "goes with --adversary");
    if (t[CAUCUS_JOIN_REPLAY] && (t[CAUCUS_JOIN_LOSSES] || t[CAUCUS_JOIN_ADVERSARY]))
        return caucus_join_refuse("replay", NULL, "is for standard input; other losses find their place by themselves");
    return check_numbers(j);
}

int caucus_join_read(caucus_joining *j, int argc, char **argv) {
    int code = caucus_options_parse("join", caucus_join_table, argc, argv, take_option, j);
    if (code == 0 && j->text[CAUCUS_JOIN_CONFIG])
        code = caucus_config_read("join", caucus_join_table, j->text[CAUCUS_JOIN_CONFIG], j->text, take_option, j);
    return code == 0 ? check_options(j) : code;
}
