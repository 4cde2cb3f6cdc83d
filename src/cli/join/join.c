/* SPDX-License-Identifier: Apache-2.0 */
/* join.c: `caucus join`, and the program caucus-client: one client of a live federation.
 *
 * Losses in, one row per round; the expert for each round out, one line per round, before its losses are asked for.
 * What travels is made by the client's machine (include/caucus/link.h); this file moves lines and bytes. */
#include "cli/clean_stderr.h"
#include "cli/complain.h"
#include "cli/join/join_end.h"
#include "cli/join/joining.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "store/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A signal that comes just before poll() is seen this much later at most. */
#define STEP_MS 200

static int failed_save(const caucus_joining *j, const caucus_error *error) {
    caucus_error whole = *error;
    whole.os_error = j->journal ? caucus_journal_errno(j->journal) : 0;
    if (whole.os_error == EBUSY)
        (void)caucus_fail(&whole, CAUCUS_E_SAVE, "state", "another process has written it — each client needs its own");
    return caucus_join_complain_state(j, CAUCUS_E_SAVE, &whole);
}

static void pause_ms(double ms) {
    struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(fmod(ms, 1000) * 1e6)};
    (void)nanosleep(&t, NULL);
}

/* The next row. Whoever waits for a line before each row waits after a row that is passed over, too: each is answered
 * by the line of the round that is to come, with its number. */
static caucus_losses_state next_row(caucus_joining *j, uint64_t round, caucus_error *ret_error) {
    const uint64_t left = j->losses.lines.skip;
    const caucus_losses_state state = caucus_losses_next(&j->losses, round, ret_error);
    for (uint64_t i = j->losses.lines.skip; i < left; i++)
        caucus_losses_ask(&j->losses, j->link, ++j->passed);
    return j->losses.lines.skip == left || fflush(stdout) == 0 ? state : CAUCUS_LOSSES_FAILED; /* main() says why */
}

/* Print the expert, take a row if there is one. Returns an exit code, or 0 to go on; *ret_wait: standard input is
 * waited for. */
static int play_round(caucus_joining *j, bool *ret_wait, bool *ret_played) {
    uint64_t round = caucus_link_round(j->link);
    caucus_error error = {0};
    if (j->printed < round) /* a run without an end went on */
        caucus_join_say_missed(j->printed + 1, round);
    if (j->printed <= round) {
        caucus_losses_ask(&j->losses, j->link, 0);
        j->printed = round + 1;
        if (fflush(stdout) != 0)
            return CAUCUS_EXIT_FAILED; /* main() says why */
    }
    switch (next_row(j, round, &error)) {
    case CAUCUS_LOSSES_WRONG:
        fprintf(stderr, "%s\n", error.text);
        return CAUCUS_EXIT_USAGE;
    case CAUCUS_LOSSES_FAILED:
        if (error.text[0] != '\0')
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
static int play_pace(caucus_joining *j, bool *ret_wait, bool *ret_played) {
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
static int check_counted(caucus_joining *j) {
    if (!j->from_the_start)
        return 0;
    j->from_the_start = false;
    const uint64_t counted = caucus_client_item(caucus_link_client(j->link)) - 1;
    if (counted == 0)
        return 0;
    fprintf(stderr,
            "%s: --%s: %" PRIu64 " reports of this client are counted, and no state here knows of them: these losses "
            "may be in them, and would be counted twice — give new losses only, on standard input\n",
            caucus_program("join"), j->text[CAUCUS_JOIN_REPLAY] ? "replay" : "losses", counted);
    return CAUCUS_EXIT_USAGE;
}

/* All that was asked for is played. */
static bool has_played(const caucus_joining *j) {
    if (caucus_join_own_pace(j))
        return caucus_link_done(j->link) || j->pace.over;
    return caucus_link_done(j->link) || (j->play != 0 && caucus_link_round(j->link) >= j->play);
}

/* At its own pace a visit that met no coordinator has something left to report. */
static bool has_reported(const caucus_joining *j) {
    return !caucus_join_own_pace(j) || j->losses.trial || caucus_link_done(j->link) || j->pace.reported;
}

static int play(caucus_joining *j) {
    while (!caucus_stopped() && !has_played(j)) {
        bool wait = false, awake = false, played = false;
        caucus_join_dial_mind(&j->out, j->link);
        if (caucus_link_ready(j->link)) {
            int code = check_counted(j);
            if (code != 0)
                return code;
            code = caucus_join_own_pace(j) ? play_pace(j, &wait, &played) : play_round(j, &wait, &played);
            if (code != 0)
                return code;
        }
        caucus_error error = {0};
        caucus_status status = caucus_dial_step(j->out.dial, j->link, wait && caucus_losses_waits(&j->losses) ? 0 : -1,
                                                played ? 0 : STEP_MS, &awake, &error);
        if (status == CAUCUS_E_SAVE)
            return failed_save(j, &error);
        if (status != CAUCUS_OK)
            return caucus_join_complain(status, &error);
        if (awake)
            caucus_losses_read(&j->losses);
        if (caucus_join_own_pace(j))
            caucus_join_pace_mind_end(&j->pace, caucus_clock_ms());
        double missing = (double)caucus_link_missing_ms(j->link, caucus_clock_ms()) / 1000;
        if (missing > j->give_up) {
            fprintf(stderr, "%s: no %s at %s for %g s\n", caucus_program("join"),
                    caucus_link_late(j->link) ? "announcement" : "coordinator", j->text[CAUCUS_JOIN_CONNECT],
                    j->give_up);
            return CAUCUS_EXIT_FAILED;
        }
    }
    return 0;
}

/* Save as it is, say goodbye. */
static int leave(caucus_joining *j, int code) {
    caucus_error error = {0};
    const char *words = has_played(j) ? "done" : caucus_stopped() ? "stopped" : "failed";
    caucus_status status = caucus_link_leave(j->link, words, &error);
    caucus_dial_finish(j->out.dial, j->link, 2000);
    if (code == 0)
        caucus_join_say_end(j->link, j->plan);
    if (code == 0 && has_played(j) && !has_reported(j))
        caucus_join_say_alone(j->text[CAUCUS_JOIN_CONNECT], j->journal != NULL);
    if (status == CAUCUS_E_SAVE && code == 0)
        return failed_save(j, &error);
    if (status != CAUCUS_OK && code == 0)
        return caucus_join_complain(status, &error);
    return code == 0 && (!has_played(j) || !has_reported(j)) ? CAUCUS_EXIT_FAILED : code;
}

static char end_words[64]; /* written before a signal may want to print them */

/* Before anything is played a signal ends the process where it is: as after SIGKILL, a state goes on. */
static void end_start(int number) {
    (void)number;
    (void)!write(STDERR_FILENO, end_words, strlen(end_words));
    _exit(CAUCUS_EXIT_FAILED);
}

static int run(caucus_joining *j, int argc, char **argv) {
    caucus_keep_standard_files();
    caucus_on_signal(SIGHUP, SIG_IGN); /* it asks for files to be read again: they are about to be read */
    (void)snprintf(end_words, sizeof end_words, "%s: stopped before it began\n", caucus_program("join"));
    caucus_on_signals(end_start);
    int code = caucus_join_read(j, argc, argv);
    if (code == 0)
        code = caucus_join_open(j);
    if (code != 0)
        return code;
    caucus_stop_on_signals();
    caucus_on_signal(SIGPIPE, SIG_IGN);
    return leave(j, play(j));
}

int caucus_cli_join(int argc, char **argv) {
    caucus_joining j = {.index = 0};
    int code = run(&j, argc, argv);
    if (code == CAUCUS_OPTIONS_HELP) {
        caucus_join_help();
        code = CAUCUS_EXIT_DONE;
    }
    caucus_join_close(&j);
    return code;
}
