/* join_losses.c: see join_losses.h. */
#include "cli/join_losses.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longest line per expert: more is no number. */
#define NUMBER_BYTES 64u
#define READ_BYTES 65536u

static caucus_status begin(caucus_losses_source *s, const caucus_plan *plan, uint32_t client, caucus_error *ret_error) {
    *s = (caucus_losses_source){.plan = plan, .client = client};
    s->row = calloc(plan->settings.experts, sizeof *s->row);
    return s->row ? CAUCUS_OK : caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s", caucus_status_text(CAUCUS_E_MEMORY));
}

caucus_status caucus_losses_from_lines(caucus_losses_source *s, const caucus_plan *plan, uint32_t skip,
                                       caucus_error *ret_error) {
    caucus_status status = begin(s, plan, 0, ret_error);
    s->skip = skip;
    return status;
}

caucus_status caucus_losses_from_npy(caucus_losses_source *s, const caucus_plan *plan, uint32_t client,
                                     const char *path, caucus_error *ret_error) {
    caucus_status status = begin(s, plan, client, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_npy_open_own(path, &s->npy, ret_error);
    if (status != CAUCUS_OK)
        return status;
    s->has_npy = true;
    s->path = caucus_path_tail(path);
    const caucus_settings *p = &plan->settings;
    if (s->npy.experts != p->experts || s->npy.rounds < p->rounds || (!s->npy.single && s->npy.clients < client))
        return caucus_fail(
            ret_error, CAUCUS_E_MISMATCH, "",
            "%.60s: %u clients × %u rounds × %u experts — the plan needs client %u, %u rounds, %u experts", path,
            s->npy.clients, s->npy.rounds, s->npy.experts, client, p->rounds, p->experts);
    return CAUCUS_OK;
}

caucus_status caucus_losses_from_adversary(caucus_losses_source *s, const caucus_plan *plan, uint32_t client,
                                           const caucus_adversary_settings *settings, caucus_error *ret_error) {
    caucus_adversary_settings own = *settings;
    own.clients = plan->settings.clients;
    own.experts = plan->settings.experts;
    own.rounds = plan->settings.rounds;
    own.epsilon = plan->settings.epsilon;
    caucus_status status = begin(s, plan, client, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_adversary_open(&own, &s->adversary, ret_error);
    if (status != CAUCUS_OK)
        return status;
    status = caucus_adversary_trial_open(s->adversary, 0, &s->trial);
    return status == CAUCUS_OK ? status : caucus_fail(ret_error, status, "", "%s", caucus_status_text(status));
}

void caucus_losses_close(caucus_losses_source *s) {
    caucus_adversary_trial_free(s->trial);
    caucus_adversary_free(s->adversary);
    if (s->has_npy)
        caucus_npy_close(&s->npy);
    free(s->row);
    free(s->text);
    *s = (caucus_losses_source){0};
}

bool caucus_losses_waits(const caucus_losses_source *s) {
    return !s->trial && !s->has_npy && !s->ended;
}

void caucus_losses_read(caucus_losses_source *s) {
    if (s->used > 0)
        memmove(s->text, s->text + s->used, s->size - s->used);
    s->size -= s->used;
    s->used = 0;
    if (s->room - s->size < READ_BYTES + 1) {
        char *more = realloc(s->text, s->size + READ_BYTES + 1);
        if (!more) {
            s->ended = true;
            return;
        }
        s->text = more;
        s->room = s->size + READ_BYTES + 1;
    }
    ssize_t n = read(STDIN_FILENO, s->text + s->size, READ_BYTES);
    if (n > 0)
        s->size += (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        s->ended = true;
}

static const char *skip_space(const char *at) {
    return at + strspn(at, " \t\r");
}

/* One value; NULL if there is none. JSON has no NaN: null stands for it. */
static const char *take_value(const char *at, double *ret) {
    if (strncmp(at, "null", 4) == 0) {
        *ret = NAN;
        return at + 4;
    }
    char *end = NULL;
    *ret = strtod(at, &end);
    return end == at ? NULL : end;
}

caucus_status caucus_losses_line(const char *line, uint32_t experts, double *ret, caucus_error *ret_error) {
    const char *at = skip_space(line);
    bool json = *at == '[';
    uint64_t count = 0;
    if (json)
        at = skip_space(at + 1);
    while (*at != '\0' && *at != ']') {
        double value = 0;
        const char *end = take_value(at, &value);
        if (!end || (*skip_space(end) != ',' && *skip_space(end) != ']' && *skip_space(end) != '\0')) {
            size_t length = strcspn(at, ",] \t\r");
            return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "value %llu is '%.*s' — expected a number",
                               (unsigned long long)count + 1, length < 40 ? (int)length : 40, at);
        }
        if (count < experts)
            ret[count] = value;
        count++;
        at = skip_space(end);
        if (*at == ',') {
            at = skip_space(at + 1);
            if (*at == '\0' || *at == ']')
                return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                                   "nothing follows the last comma — expected a number");
        }
    }
    if (json != (*at == ']') || (json && *skip_space(at + 1) != '\0'))
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "brackets do not match — expected 0.1,0.2,… or [0.1,0.2,…]");
    if (count != experts)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%llu values — expected %u", (unsigned long long)count,
                           experts);
    return CAUCUS_OK;
}

/* The next line of the buffer, ended by a zero; NULL if none is complete. */
static char *next_line(caucus_losses_source *s) {
    if (s->used == s->size)
        return NULL;
    char *from = s->text + s->used;
    char *end = memchr(from, '\n', s->size - s->used);
    if (!end && !s->ended)
        return NULL;
    if (!end)
        end = s->text + s->size; /* the last line needs no end */
    s->used = (size_t)(end - s->text) + (end < s->text + s->size);
    *end = '\0';
    s->line++;
    return from;
}

static caucus_losses_state take_line(caucus_losses_source *s, caucus_error *ret_error) {
    char *line;
    while ((line = next_line(s)) != NULL && s->skip > 0)
        s->skip--;
    if (line) {
        caucus_error error = {"", ""};
        if (caucus_losses_line(line, s->plan->settings.experts, s->row, &error) == CAUCUS_OK)
            return CAUCUS_LOSSES_READY;
        (void)caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "stdin:%llu: %s", (unsigned long long)s->line, error.text);
        return CAUCUS_LOSSES_WRONG;
    }
    if (s->size - s->used > (size_t)NUMBER_BYTES * s->plan->settings.experts + READ_BYTES) {
        (void)caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                          "stdin:%llu: a line without end — expected %u values per line",
                          (unsigned long long)s->line + 1, s->plan->settings.experts);
        return CAUCUS_LOSSES_WRONG;
    }
    return s->ended ? CAUCUS_LOSSES_ENDED : CAUCUS_LOSSES_LATER;
}

caucus_losses_state caucus_losses_next(caucus_losses_source *s, uint32_t round, caucus_error *ret_error) {
    if (s->trial)
        caucus_adversary_fill64(s->trial, s->client, round, 1, s->row);
    else if (s->has_npy)
        caucus_npy_fill64(&s->npy, s->npy.single ? 0 : s->client - 1, round, 1, s->row);
    else
        return take_line(s, ret_error);
    caucus_status status =
        s->trial ? caucus_adversary_whole(s->adversary, ret_error) : caucus_npy_whole(&s->npy, s->path, ret_error);
    return status == CAUCUS_OK ? CAUCUS_LOSSES_READY : CAUCUS_LOSSES_FAILED;
}
