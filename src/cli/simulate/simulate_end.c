/* SPDX-License-Identifier: Apache-2.0 */
/* simulate_end.c: what `caucus simulate` gives: tables, JSON, CSV, the picture; and what to type to go on. */
#include "cli/simulate/simulate.h"
#include "cli/terminal/dress.h"

#include "num/fail.h"
#include "show/choice/shell_word.h"
#include "store/atomic_file.h"

#include <stdio.h>
#include <string.h>

static bool complete(const caucus_simulate *s) {
    if (s->begun < s->prepared.count)
        return false;
    for (size_t i = 0; i < s->begun; i++)
        if (s->result[i].done < s->result[i].trials)
            return false;
    return true;
}

/* The command as it can be typed again. */
static void print_command(const caucus_simulate *s) {
    if (s->ranks != NULL)
        fprintf(stderr, "mpirun -n %u caucus-mpi simulate", s->ranks->size);
    else
        fputs("caucus simulate", stderr);
    for (int i = 1; i < s->argc; i++)
        if (strncmp(s->argv[i], "--resume", 8) != 0) {
            fputc(' ', stderr);
            caucus_shell_word(stderr, s->argv[i]);
        }
}

static void say_stopped(const caucus_simulate *s) {
    uint64_t done = 0, asked = 0;
    for (size_t i = 0; i < s->prepared.count; i++) {
        done += i < s->begun ? s->result[i].done : 0;
        asked += s->prepared.run[i].trials;
    }
    fprintf(stderr, "caucus simulate: %sstopped after %llu of %llu trials", caucus_cli_gone(s->ranks),
            (unsigned long long)done, (unsigned long long)asked);
    if (s->wanted.out == NULL) {
        fputs(" — with --out DIR they are kept, and --resume goes on from there\n", stderr);
        return;
    }
    fprintf(stderr, ", kept in %s — to go on: ", s->wanted.out);
    print_command(s);
    fputs(" --resume\n", stderr);
}

static void print_results(const caucus_simulate *s) {
    caucus_outcome outcome = caucus_simulate_outcome(s);
    if (s->wanted.format != CAUCUS_FORMAT_TABLE)
        caucus_dress_data();
    if (s->wanted.format == CAUCUS_FORMAT_JSON)
        caucus_output_json(stdout, &outcome);
    else if (s->wanted.format == CAUCUS_FORMAT_CSV)
        caucus_output_trials(stdout, &outcome);
    else
        caucus_output_table(stdout, &outcome);
    caucus_output_remarks(stderr, &outcome);
}

/* The picture comes last: what fails here takes nothing away from the results. */
static caucus_status draw(const caucus_simulate *s, caucus_error *ret_error) {
    const caucus_outcome outcome = caucus_simulate_outcome(s);
    caucus_text picture = {0};
    caucus_status status = caucus_plot_simulation(&outcome, s->plot_kind, &picture, ret_error);
    if (status == CAUCUS_OK && picture.failed)
        status = caucus_fail_memory(ret_error, "plot");
    if (status == CAUCUS_OK && !caucus_atomic_file_write(s->plot, picture.data, picture.length, 0666, true))
        status = caucus_fail_path(ret_error, CAUCUS_E_PATH, "plot", s->plot);
    caucus_text_free(&picture);
    return status;
}

int caucus_simulate_end(caucus_simulate *s) {
    caucus_error error = {0};
    caucus_outcome outcome = caucus_simulate_outcome(s);
    bool whole = complete(s);
    caucus_status status = CAUCUS_OK;
    if (s->wanted.out != NULL && !whole)
        status = caucus_simulate_save(s, &error);
    if (status == CAUCUS_OK && !whole)
        say_stopped(s); /* at once: whoever has stopped us may be about to kill us */
    if (s->wanted.out != NULL && status == CAUCUS_OK)
        status = caucus_out_dir_write(s->wanted.out, &outcome, &error);
    if (status != CAUCUS_OK)
        return caucus_simulate_complain(s, status, &error);
    if (s->wanted.out != NULL && whole)
        caucus_unfinished_remove(s->wanted.out);
    print_results(s);
    if (s->plot != NULL)
        status = draw(s, &error);
    if (status != CAUCUS_OK)
        return caucus_simulate_refuse(status, &error);
    return whole ? CAUCUS_EXIT_DONE : CAUCUS_EXIT_FAILED;
}
