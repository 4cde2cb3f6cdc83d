/* SPDX-License-Identifier: Apache-2.0 */
/* unfinished.c: complete trials of a simulation that is not done, to the last bit. See out_dir.h.
 *
 *     caucus-unfinished,7
 *     run,1,<hash of its settings>,<complete trials>
 *     <regret>,<switches>,...,<last look>             one line per trial; reals in hexadecimal, hence exact
 *     run,2,...
 *     end
 * A trial depends on its run's settings, the seed and its number only, so the number of trials asked for is not part
 * of the hash. */
#include "num/fail.h"
#include "show/out_dir.h"

#include "show/out_file.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "unfinished.csv"
#define HEAD "caucus-unfinished,7"
#define HASH_BYTES 16

static void path_of(const char *directory, char *ret, size_t bytes) {
    (void)snprintf(ret, bytes, "%s/" NAME, directory);
}

bool caucus_out_dir_unfinished(const char *directory) {
    char path[4096];
    path_of(directory, path, sizeof path);
    return access(path, F_OK) == 0;
}

void caucus_unfinished_remove(const char *directory) {
    char path[4096];
    path_of(directory, path, sizeof path);
    (void)unlink(path);
}

static void hash_text(crypto_generichash_state *state, const char *format, ...) CAUCUS_PRINTF(2, 3);
static void hash_text(crypto_generichash_state *state, const char *format, ...) {
    char text[4608];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t used = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    crypto_generichash_update(state, (const uint8_t *)text, used);
}

/* Data that changed is other data: size and time stand for its content. */
static void hash_path(crypto_generichash_state *state, const char *path) {
    struct stat info = {0};
    if (path != NULL && stat(path, &info) == 0)
        hash_text(state, "|%.4000s|%lld|%lld.%ld", path, (long long)info.st_size, (long long)info.st_mtim.tv_sec,
                  info.st_mtim.tv_nsec);
}

/* Of everything a trial depends on. */
static void hash_run(const caucus_run *run, char ret[2 * HASH_BYTES + 1]) {
    const caucus_settings *s = &run->settings;
    const caucus_adversary_settings *a = &run->adversary;
    uint8_t hash[HASH_BYTES];
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    hash_text(&state, "%s|%s|%s|%s|%s|%s|%s|%s", caucus_algorithm_word(s->algorithm), caucus_trust_word(s->trust),
              caucus_calibration_word(s->calibration), caucus_protocol_word(s->protocol), caucus_unit_word(s->unit),
              caucus_select_word(s->select), caucus_message_word(s->message), caucus_loss_shape_word(s->loss_shape));
    hash_text(&state, "|%u|%u|%" PRIu64 "|%" PRIu64 "|%a|%a|%a|%a|%a|%a|%d|%a|%a|%d|%d|%u", s->clients, s->experts,
              s->rounds, s->interval, s->epsilon, s->delta, s->rho, s->lstar, s->lo, s->hi, s->trees, s->lipschitz,
              s->smoothness, s->front_load, s->past_phases, s->grid);
    hash_text(&state, "|%" PRIu64 "|%" PRIu64 "|%a|%" PRIu64, s->longest_phase, s->first_phase, s->changes, s->renew);
    if (s->pace == CAUCUS_PACE_OWN)
        hash_text(&state, "|%u|%u|%" PRIu64 "|%a|%a", s->phase_time, s->grace, s->most, a->activity_mean,
                  a->activity_spread);
    if (caucus_settings_grow(s))
        hash_text(&state, "|nominal %" PRIu64, s->nominal_rounds);
    hash_text(&state, "|%u|%a", s->evaluate, s->show_loss);
    if (s->unit == CAUCUS_UNIT_CLIENT)
        hash_text(&state, "|growth %" PRIu64, s->growth);
    if (s->start != 1)
        hash_text(&state, "|start %" PRIu64, s->start);
    hash_text(&state, "|%s|%" PRIu64 "|%s", caucus_adversary_kind_word(a->kind), run->seed,
              a->genre != NULL ? a->genre : "");
    hash_text(&state, "|%" PRIu64 "|%a|%a|%a|%a", a->segments, a->mean_lo, a->mean_hi, a->spread, a->drift);
    if (s->rounds == CAUCUS_ROUNDS_ENDLESS)
        hash_text(&state, "|%" PRIu64, a->rounds);
    hash_path(&state, a->data);
    hash_path(&state, a->losses);
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(ret, 2 * HASH_BYTES + 1, hash, sizeof hash);
}

static void write_trial(FILE *out, const caucus_trial_result *t) {
    fprintf(out,
            "%a,%a,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
            ",%" PRIu64,
            t->regret, t->regret_segments, t->switches, t->selections, t->scalars_up, t->scalars_down, t->bytes_up,
            t->bytes_down, t->clipped, t->nan, t->digest);
    fprintf(out, ",%a,%a", t->regret_devices, t->bound);
    fprintf(out, ",%u,%u,%" PRIu64 ",%a,%" PRIu64, t->last, t->best, t->losses, t->loss, t->since);
    for (size_t k = 0; k < CAUCUS_CURVE_POINTS; k++)
        fprintf(out, ",%a", t->curve[k]);
    fprintf(out, ",%u,%u", t->choices.count, t->choices.thinned);
    for (uint32_t k = 0; k < t->choices.count; k++)
        fprintf(out, ",%" PRIu64 ",%u", t->choices.before[k], t->choices.expert[k]);
    fprintf(out, ",%u,%" PRIu64 ",%u,%a,%a,%a", t->look.clients, t->look.phase, t->look.expert, t->look.loss,
            t->look.low, t->look.high);
    fputc('\n', out);
}

caucus_status caucus_unfinished_save(const char *directory, const caucus_run *runs, size_t count,
                                     const caucus_outcome *outcome, caucus_error *ret_error) {
    caucus_atomic_file file;
    caucus_status status = caucus_out_file_begin(&file, directory, NAME, ret_error);
    if (status != CAUCUS_OK)
        return status;
    fprintf(file.out, HEAD "\n");
    for (size_t i = 0; i < count; i++) {
        char hash[2 * HASH_BYTES + 1];
        uint32_t done = i < outcome->count ? outcome->result[i].done : 0;
        hash_run(&runs[i], hash);
        fprintf(file.out, "run,%zu,%s,%u\n", i + 1, hash, done);
        for (uint32_t k = 0; k < done; k++)
            write_trial(file.out, &outcome->result[i].trial[k]);
    }
    fputs("end\n", file.out);
    return caucus_out_file_end(&file, ret_error);
}

typedef struct reader {
    FILE *in;
    const char *path;
    char *line;
    size_t room, number;
    int failed; /* errno of a line that could not be read though it is there; 0: none */
    caucus_error *error;
} reader;

static caucus_status refuse(reader *r, const char *what) {
    if (r->failed != 0)
        return caucus_fail_os(r->error, CAUCUS_E_IO, r->failed, "", "%s", caucus_path_tail(r->path));
    return caucus_fail(r->error, CAUCUS_E_FORMAT, "", "%s:%zu: %s — remove it to begin anew", caucus_path_tail(r->path),
                       r->number, what);
}

/* The next line without its newline; "" at the end. */
static const char *next_line(reader *r) {
    errno = 0;
    ssize_t length = getline(&r->line, &r->room, r->in);
    if (length < 0 && !feof(r->in))
        r->failed = errno != 0 ? errno : EIO;
    r->number++;
    if (length <= 0 || r->line[length - 1] != '\n')
        return "";
    r->line[length - 1] = '\0';
    return r->line;
}

static bool take_real(const char **at, double *ret) {
    char *end = NULL;
    *ret = strtod(*at, &end);
    bool good = end != *at && (*end == ',' || *end == '\0');
    *at = *end == ',' ? end + 1 : end;
    return good;
}

static bool take_whole(const char **at, uint64_t *ret) {
    char *end = NULL;
    errno = 0;
    *ret = strtoull(*at, &end, 10);
    bool good = end != *at && **at != '-' && errno == 0 && (*end == ',' || *end == '\0');
    *at = *end == ',' ? end + 1 : end;
    return good;
}

static bool take_expert(const char **at, uint32_t *ret) {
    uint64_t wide = 0;
    const bool good = take_whole(at, &wide) && wide <= UINT32_MAX;
    *ret = (uint32_t)wide;
    return good;
}

static bool read_trial(const char *at, caucus_trial_result *t) {
    bool good = take_real(&at, &t->regret) && take_real(&at, &t->regret_segments) && take_whole(&at, &t->switches) &&
                take_whole(&at, &t->selections) && take_whole(&at, &t->scalars_up) &&
                take_whole(&at, &t->scalars_down) && take_whole(&at, &t->bytes_up) && take_whole(&at, &t->bytes_down) &&
                take_whole(&at, &t->clipped) && take_whole(&at, &t->nan) && take_whole(&at, &t->digest) &&
                take_real(&at, &t->regret_devices) && take_real(&at, &t->bound) && take_expert(&at, &t->last) &&
                take_expert(&at, &t->best) && take_whole(&at, &t->losses) && take_real(&at, &t->loss) &&
                take_whole(&at, &t->since);
    for (size_t k = 0; good && k < CAUCUS_CURVE_POINTS; k++)
        good = take_real(&at, &t->curve[k]);
    caucus_choices *c = &t->choices;
    good = good && take_expert(&at, &c->count) && c->count <= CAUCUS_CHOICES && take_expert(&at, &c->thinned) &&
           c->thinned <= 1;
    for (uint32_t k = 0; good && k < c->count; k++)
        good = take_whole(&at, &c->before[k]) && take_expert(&at, &c->expert[k]);
    good = good && take_expert(&at, &t->look.clients) && take_whole(&at, &t->look.phase) &&
           take_expert(&at, &t->look.expert) && take_real(&at, &t->look.loss) && take_real(&at, &t->look.low) &&
           take_real(&at, &t->look.high);
    return good && *at == '\0';
}

static caucus_status read_run(reader *r, const caucus_run *run, size_t number, caucus_unfinished *ret) {
    char hash[2 * HASH_BYTES + 1], expected[64 + 2 * HASH_BYTES];
    hash_run(run, hash);
    (void)snprintf(expected, sizeof expected, "run,%zu,%s,", number, hash);
    const char *line = next_line(r);
    if (strncmp(line, expected, strlen(expected)) != 0) {
        if (r->failed != 0 || (strncmp(line, "run,", 4) != 0 && strcmp(line, "end") != 0))
            return refuse(r, "torn or altered");
        return caucus_fail_hint(r->error,
                                caucus_fail(r->error, CAUCUS_E_CONFLICT, "", "%s: run %zu had other settings",
                                            caucus_path_tail(r->path), number),
                                "resume with the same ones, or use a new 'out'");
    }
    uint64_t done = 0;
    const char *at = line + strlen(expected);
    if (!take_whole(&at, &done) || *at != '\0' || done > 1u << 30)
        return refuse(r, "torn or altered");
    for (uint64_t k = 0; k < done; k++) { /* grown as lines come, not as the number promises */
        if ((k & (k - 1)) == 0) {
            caucus_trial_result *grown = realloc(ret->trial, (k == 0 ? 1 : 2 * k) * sizeof *grown);
            if (grown == NULL)
                return caucus_fail_memory(r->error, "trials");
            ret->trial = grown;
        }
        memset(&ret->trial[k], 0, sizeof ret->trial[k]);
        if (!read_trial(next_line(r), &ret->trial[k]))
            return refuse(r, "torn or altered");
        ret->done = (uint32_t)k + 1;
    }
    return CAUCUS_OK;
}

caucus_status caucus_unfinished_load(const char *directory, const caucus_run *runs, size_t count,
                                     caucus_unfinished *ret, caucus_error *ret_error) {
    char path[4096];
    path_of(directory, path, sizeof path);
    reader r = {.path = path, .error = ret_error, .in = fopen(path, "re")};
    if (r.in == NULL)
        return caucus_fail_path(ret_error, CAUCUS_E_PATH, "", path);
    caucus_status status = strcmp(next_line(&r), HEAD) == 0 ? CAUCUS_OK : refuse(&r, "not a file of this version");
    for (size_t i = 0; status == CAUCUS_OK && i < count; i++)
        status = read_run(&r, &runs[i], i + 1, &ret[i]);
    if (status == CAUCUS_OK && strcmp(next_line(&r), "end") != 0)
        status = r.failed == 0 && r.line != NULL && strncmp(r.line, "run,", 4) == 0
                     ? caucus_fail_hint(ret_error,
                                        caucus_fail(ret_error, CAUCUS_E_CONFLICT, "",
                                                    "%s: there were more than %zu runs", caucus_path_tail(path), count),
                                        "resume with the same settings, or use a new 'out'")
                     : refuse(&r, "torn or altered");
    free(r.line);
    fclose(r.in);
    return status;
}
