/* SPDX-License-Identifier: Apache-2.0 */
/* audit_federation.c: whole runs of coordinator and clients on neighbouring losses. See audit_parts.h.
 *
 * Plans come from caucus_plan_new or are given, and the machines are those of src/algo and src/link; a broken twin
 * alters the integers of its own copy of the plan, or breaks a rule of the coordinator (audit_fault.c).
 *
 * Restarts. The worst is assumed: whoever crashes has been heard before. A client's report is seen, the client is
 * restored from its state with another key, and its report is seen again. A verdict is seen, the coordinator is
 * restored from the state before it with another key, the reports come again, and its verdict is seen again. Machines
 * that say the same twice say nothing new. */
#include "audit/audit_stage.h"

#include "algo/borrowed_rows.h"
#include "algo/coordinator.h"
#include "algo/schedule.h"
#include "num/hand_over.h"
#include "plan/family.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

bool caucus_audit_phases(const caucus_audit_stage *s) {
    return caucus_plan_ops_of(s->plan)->phases;
}

uint64_t caucus_audit_phase(const caucus_audit_stage *s) {
    return s->setting.phase > 0 ? s->setting.phase : s->plan->stoch.phases;
}

const caucus_stoch_phase *caucus_audit_learner(const caucus_audit_stage *s) {
    return caucus_stoch_phase_of(s->plan, caucus_audit_phase(s));
}

static void settings_of(const caucus_audit_federation *a, bool coarse, caucus_settings *ret) {
    caucus_settings_init(ret);
    ret->algorithm = a->algorithm;
    ret->trust = a->trust;
    ret->calibration = a->calibration;
    ret->protocol = a->protocol;
    ret->unit = a->unit;
    ret->select = a->select;
    ret->message = a->message;
    ret->clients = a->clients;
    ret->experts = a->experts;
    ret->rounds = a->endless ? CAUCUS_ROUNDS_ENDLESS : a->rounds;
    if (a->endless)
        ret->nominal_rounds = a->rounds;
    ret->interval = a->interval > 0 ? a->interval : 1;
    ret->epsilon = a->epsilon;
    ret->delta = a->delta;
    ret->rho = a->rho > 0 ? a->rho : 0.5;
    ret->loss_shape = a->convex ? CAUCUS_LOSS_SHAPE_CONVEX : CAUCUS_LOSS_SHAPE_LINEAR;
    ret->trees = a->convex || a->trust == CAUCUS_TRUST_PAPER_LOCAL ? a->trees : CAUCUS_TREES_AUTO;
    ret->smoothness = a->smoothness;
    ret->front_load = a->front_load;
    ret->past_phases = a->past_phases;
    ret->longest_phase = a->longest_phase;
    ret->renew = a->renew;
    ret->evaluate = a->evaluate;
    ret->growth = a->growth;
    ret->grid = coarse ? 1u << 16 : 0; /* five times it is still a grid */
}

static void close_stage(void *self) {
    caucus_audit_stage *s = self;
    for (unsigned w = 0; w < 2; w++) {
        free(s->loss[w]);
        free(s->sum[w]);
        free(s->own[w]);
    }
    free(s->choice);
    free(s->vote);
    caucus_plan_free(s->plan);
    caucus_plan_free(s->quiet);
    free(s);
}

/* A plan may leave out what it need not use; an audit of that would be an audit of nothing. */
static bool is_what_it_says(const caucus_audit_stage *s) {
    const caucus_audit_federation *a = &s->setting;
    if (a->plan != NULL)
        return true;
    if (s->fault.kind == CAUCUS_AUDIT_KEEP_SUMS && s->plan->settings.experts > CAUCUS_AUDIT_KEPT)
        return false;
    bool trees = (a->convex || a->trust == CAUCUS_TRUST_PAPER_LOCAL) && caucus_audit_phases(s);
    /* Later epochs are those of later cycles where there are any. */
    const bool once = (a->around == CAUCUS_AUDIT_AT && !a->front_load) || a->renew != 0;
    uint32_t switches = a->losses != CAUCUS_AUDIT_EDGE ? 0 : once ? 1 : 2;
    return (a->delta <= 0 || s->plan->guarantee.delta > 0) && (!a->past_phases || s->plan->stoch.past > 1) &&
           (!trees || (int)caucus_audit_learner(s)->trees == a->trees) && s->plan->svt.switches >= switches;
}

/* How large the run is, and where the replaced loss is. */
static void set_extent(caucus_audit_stage *s) {
    const caucus_settings *settings = &s->plan->settings;
    s->m = settings->clients;
    s->d = settings->experts;
    s->rounds = s->setting.endless ? s->setting.rounds : settings->rounds;
    s->steps = s->setting.endless ? s->plan->svt.checks + 1 : caucus_plan_blocks(s->plan);
    if (caucus_audit_phases(s)) {
        const bool all = settings->unit == CAUCUS_UNIT_CLIENT; /* all that a client sees before the last phase */
        s->window = caucus_audit_learner(s)->samples;
        s->replaced = all ? 0 : caucus_phase_first(s->plan, caucus_audit_phase(s) - 1) - 1;
    } else {
        s->window = settings->interval;
        s->replaced = s->setting.around == CAUCUS_AUDIT_SECOND ? s->window : 0;
    }
    s->records = s->m * (caucus_settings_means(settings) ? 1 : s->window);
}

static caucus_status open_plan(caucus_audit_stage *s, caucus_error *ret_error) {
    if (s->setting.plan != NULL) {
        s->plan = caucus_audit_clone(s->setting.plan);
    } else {
        caucus_settings settings;
        settings_of(&s->setting, s->fault.kind == CAUCUS_AUDIT_RANGE_5, &settings);
        caucus_status status = caucus_plan_new(&settings, &s->plan, ret_error);
        if (status != CAUCUS_OK)
            return status;
    }
    if (s->plan == NULL)
        return CAUCUS_E_MEMORY;
    if (!is_what_it_says(s))
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "audit", "the plan does not use what is to be audited");
    if (s->setting.endless) /* as if sums had no room for more: the machine's own way to come to an end */
        s->plan->svt.checks = s->setting.rounds / s->plan->settings.interval - 1;
    caucus_audit_break_plan(s->plan, &s->fault);
    s->quiet = caucus_audit_clone(s->plan);
    if (s->quiet == NULL)
        return CAUCUS_E_MEMORY;
    s->quiet->svt.check_noise.kind = CAUCUS_NOISE_NONE;
    return CAUCUS_OK;
}

static caucus_status open_stage(const caucus_audit *audit, void **ret_self, caucus_error *ret_error) {
    caucus_audit_stage *s = calloc(1, sizeof *s);
    if (s == NULL)
        return CAUCUS_E_MEMORY;
    s->setting = *(const caucus_audit_federation *)audit->setting;
    s->fault = audit->fault;
    caucus_status status = open_plan(s, ret_error);
    if (status == CAUCUS_OK) {
        set_extent(s);
        for (unsigned w = 0; status == CAUCUS_OK && w < 2; w++) {
            s->loss[w] = calloc((size_t)s->m * s->rounds * s->d, sizeof *s->loss[w]);
            status = s->loss[w] != NULL ? CAUCUS_OK : CAUCUS_E_MEMORY;
        }
    }
    if (status == CAUCUS_OK) {
        caucus_audit_worlds(s);
        if (s->setting.statistic != CAUCUS_AUDIT_TRANSCRIPT)
            status = caucus_audit_expect(s);
    }
    return CAUCUS_HAND_OVER(status, ret_self, s, close_stage(s));
}

void caucus_audit_next_key(caucus_audit_play *r, caucus_key *ret) {
    caucus_key_derive(&r->key, (uint64_t)r->stage->m + 1 + r->keys++, ret);
}

/* Returns: CAUCUS_OK, CAUCUS_E_MEMORY; end() frees what was made in either case. */
static caucus_status begin(const caucus_audit_stage *s, unsigned world, const caucus_key *key, caucus_audit_play *r) {
    bool noisy = s->plan->settings.trust != CAUCUS_TRUST_COORDINATOR;
    *r = (caucus_audit_play){.stage = s, .world = world, .key = *key};
    r->seat = calloc(s->m, sizeof *r->seat);
    if (r->seat == NULL)
        return CAUCUS_E_MEMORY;
    caucus_status status = caucus_coordinator_new(s->plan, key, &r->coordinator);
    for (uint32_t i = 0; i < s->m; i++)
        r->seat[i].slope = (caucus_audit_slope){s, i + 1, world};
    if (status == CAUCUS_OK && s->setting.links)
        return caucus_audit_links_open(r);
    for (uint32_t i = 0; status == CAUCUS_OK && i < s->m; i++) {
        caucus_audit_seat *seat = &r->seat[i];
        caucus_key own = *key; /* a client that trusts the coordinator draws nothing that leaves it */
        if (noisy)
            caucus_key_derive(key, i + 1, &own);
        status = caucus_client_new(s->plan, i + 1, &own, &seat->client);
        if (status == CAUCUS_OK && s->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
            caucus_client_set_gradient(seat->client, caucus_audit_gradient, &seat->slope);
    }
    return status;
}

static void end(caucus_audit_play *r) {
    caucus_audit_links_close(r);
    for (uint32_t i = 0; r->seat != NULL && i < r->stage->m; i++)
        caucus_client_free(r->seat[i].client);
    free(r->seat);
    caucus_coordinator_free(r->coordinator);
}

static void tell(caucus_audit_play *r) {
    for (uint32_t i = 0; !r->stage->setting.links && i < r->stage->m; i++)
        if (caucus_client_hear(r->seat[i].client, caucus_coordinator_announcement(r->coordinator)) != CAUCUS_OK)
            abort(); /* messages arrive in order here */
}

/* The client goes and comes back, with another key, from what it has saved. */
static caucus_status restart_client(caucus_audit_play *r, uint32_t i, const uint8_t *state, size_t bytes) {
    caucus_audit_seat *seat = &r->seat[i];
    caucus_client *restored = NULL;
    caucus_key key;
    caucus_audit_next_key(r, &key);
    caucus_status status = caucus_client_restore(r->stage->plan, i + 1, &key, state, bytes, &restored);
    if (status == CAUCUS_E_MEMORY)
        return status;
    if (status != CAUCUS_OK)
        abort(); /* it saved it itself */
    caucus_client_free(seat->client);
    seat->client = restored;
    if (r->stage->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        caucus_client_set_gradient(restored, caucus_audit_gradient, &seat->slope);
    return CAUCUS_OK;
}

static void note_report(caucus_audit_play *r, const caucus_report *report) {
    if (report == NULL)
        abort(); /* every step asks every client */
    if (r->stage->setting.statistic == CAUCUS_AUDIT_MESSAGES)
        r->ratio +=
            caucus_audit_message_ratio(r->stage, report, caucus_coordinator_announcement(r->coordinator), &r->before);
}

/* A report, made, saved and repeated after a restart; the broken twin restarts from what it was before it was made. */
static caucus_status report_twice(caucus_audit_play *r, uint32_t i) {
    size_t bytes = caucus_client_state_bytes(r->seat[i].client);
    uint8_t *state = malloc(bytes);
    if (state == NULL)
        return CAUCUS_E_MEMORY;
    bool again = r->stage->fault.kind == CAUCUS_AUDIT_DRAW_AGAIN;
    if (again && caucus_client_save(r->seat[i].client, state, bytes) != CAUCUS_OK)
        abort(); /* it was measured above */
    note_report(r, caucus_client_report(r->seat[i].client));
    bytes = again ? bytes : caucus_client_state_bytes(r->seat[i].client);
    uint8_t *larger = realloc(state, bytes);
    if (larger == NULL) {
        free(state);
        return CAUCUS_E_MEMORY;
    }
    state = larger;
    if (!again && caucus_client_save(r->seat[i].client, state, bytes) != CAUCUS_OK)
        abort(); /* and again */
    caucus_status status = restart_client(r, i, state, bytes);
    if (status == CAUCUS_OK)
        note_report(r, caucus_client_report(r->seat[i].client));
    free(state);
    return status;
}

/* Play up to the next report, and make it. */
static caucus_status make_reports(caucus_audit_play *r) {
    const caucus_audit_stage *s = r->stage;
    for (uint32_t i = 0; i < s->m; i++) {
        caucus_client *client = r->seat[i].client;
        size_t at = ((size_t)i * s->rounds + caucus_client_round(client)) * s->d;
        if (caucus_client_observe_whole(client, s->loss[r->world] + at, caucus_client_rounds_left(client)) != CAUCUS_OK)
            abort();
        if (s->setting.restarts) {
            caucus_status status = report_twice(r, i);
            if (status != CAUCUS_OK)
                return status;
        } else {
            note_report(r, caucus_client_report(client));
        }
    }
    return CAUCUS_OK;
}

static void deliver(caucus_audit_play *r) {
    for (uint32_t i = 0; i < r->stage->m; i++) {
        const caucus_report *report = caucus_client_report(r->seat[i].client);
        if (report == NULL || caucus_coordinator_receive(r->coordinator, report) != CAUCUS_OK)
            abort();
    }
}

/* A verdict that is seen. */
static void decide(caucus_audit_play *r) {
    const caucus_announcement asked = *caucus_coordinator_announcement(r->coordinator);
    if (caucus_audit_decide(r->stage, r->coordinator) != CAUCUS_OK)
        abort();
    if (r->stage->setting.statistic == CAUCUS_AUDIT_CHOICES)
        r->ratio +=
            caucus_audit_choice_ratio(r->stage, &asked, caucus_coordinator_announcement(r->coordinator), &r->before) +
            caucus_audit_look_ratio(r->stage, r->coordinator, &asked);
}

/* The verdict, seen; then the state before it, the reports again, and the verdict again. */
static caucus_status decide_twice(caucus_audit_play *r) {
    const caucus_audit_stage *s = r->stage;
    size_t bytes = caucus_coordinator_state_bytes(r->coordinator);
    uint8_t *state = malloc(bytes);
    if (state == NULL)
        return CAUCUS_E_MEMORY;
    if (caucus_coordinator_save(r->coordinator, state, bytes) != CAUCUS_OK)
        abort(); /* it was measured above */
    const caucus_audit_before before = r->before;
    deliver(r);
    decide(r);
    caucus_coordinator *restored = NULL;
    caucus_key key;
    caucus_audit_next_key(r, &key);
    caucus_status status = caucus_coordinator_restore(s->plan, &key, state, bytes, &restored);
    free(state);
    if (status == CAUCUS_E_MEMORY)
        return status;
    if (status != CAUCUS_OK)
        abort(); /* it saved it itself */
    caucus_coordinator_free(r->coordinator);
    r->coordinator = restored;
    r->before = before;
    if (s->fault.kind == CAUCUS_AUDIT_DRAW_AGAIN)
        restored->key = key; /* the rule that caucus_coordinator_restore itself cannot break */
    deliver(r);
    decide(r);
    return CAUCUS_OK;
}

/* One step: play up to the next report, report, decide. */
static caucus_status step(caucus_audit_play *r) {
    caucus_status status;
    if (r->stage->setting.links) {
        status = caucus_audit_links_step(r);
        if (status == CAUCUS_OK)
            decide(r);
        return status;
    }
    status = make_reports(r);
    if (status != CAUCUS_OK)
        return status;
    if (r->stage->setting.restarts)
        return decide_twice(r);
    deliver(r);
    decide(r);
    return CAUCUS_OK;
}

/* What an announcement says: is another than expert 0 in force, and has the check just made fired? */
static uint32_t words(const caucus_announcement *a, const caucus_announcement *before) {
    bool fired = before != NULL && before->ask == CAUCUS_ASK_COST && a->ask == CAUCUS_ASK_SUMS;
    bool chosen = before != NULL && before->ask == CAUCUS_ASK_SUMS && a->epoch > before->epoch; /* protocol paper */
    return (a->expert != 0 ? 1u : 0u) + (fired || chosen ? 2u : 0u);
}

static caucus_status play(const void *self, unsigned world, const caucus_key *key, double *ret) {
    const caucus_audit_stage *s = self;
    caucus_audit_play r;
    bool messages = s->setting.statistic == CAUCUS_AUDIT_MESSAGES;
    caucus_status status = begin(s, world, key, &r);
    if (status != CAUCUS_OK) {
        end(&r);
        return status;
    }
    caucus_announcement before = *caucus_coordinator_announcement(r.coordinator), now = before;
    uint64_t said = 2 + words(&now, NULL); /* a leading 1 keeps transcripts of different lengths apart */
    tell(&r);
    while (now.ask != CAUCUS_ASK_NOTHING && (!messages || now.block <= caucus_audit_phase(s))) {
        before = now;
        status = step(&r);
        if (status != CAUCUS_OK)
            break; /* without memory some clients have not played the step */
        now = *caucus_coordinator_announcement(r.coordinator);
        said = 4 * said + words(&now, &before);
        tell(&r);
    }
    end(&r);
    *ret = s->setting.statistic == CAUCUS_AUDIT_TRANSCRIPT ? (double)said : r.ratio;
    return status;
}

const caucus_audit_family caucus_audit_federation_family = {.open = open_stage, .play = play, .close = close_stage};
