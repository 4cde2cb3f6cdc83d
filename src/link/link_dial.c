/* SPDX-License-Identifier: Apache-2.0 */
/* link_dial.c: a link's beginning and end, and its connections: which address, when, how long. See redial.h. */
#include "link/link_impl.h"

#include "algo/wipe.h"
#include "num/fail.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void caucus_link_settings_init(caucus_link_settings *ret) {
    *ret = (caucus_link_settings){.size = sizeof *ret,
                                  .pause_first_ms = 200,
                                  .pause_most_ms = 30000,
                                  .open_ms = 10000,
                                  .grace_ms = 2000,
                                  .patience_most_ms = 300000};
}

static caucus_status check(const caucus_link_settings *s, caucus_error *ret_error) {
    assert(s->plan && s->key);
    if (s->index < 1 || s->index > s->plan->settings.clients)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "client", "%u (the plan has clients 1 to %u)", s->index,
                           s->plan->settings.clients);
    if (s->pause_first_ms < 1 || s->pause_most_ms < s->pause_first_ms)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "pause", "%u to %u ms (accepted: from 1 ms on, the longest last)",
                           s->pause_first_ms, s->pause_most_ms);
    return CAUCUS_OK;
}

/* The machine, new or as it was. */
static caucus_status begin(caucus_link *link, const caucus_link_settings *s, caucus_error *ret_error) {
    link->plan = s->plan;
    memcpy(link->plan_hash, s->plan_hash ? s->plan_hash : caucus_plan_hash(s->plan), sizeof link->plan_hash);
    link->index = s->index;
    link->save = s->save;
    link->user = s->user;
    link->scratch = calloc(s->plan->settings.experts, sizeof *link->scratch);
    link->queue = calloc(CAUCUS_LINK_QUEUE, sizeof *link->queue);
    caucus_status status = link->scratch && link->queue ? CAUCUS_OK : CAUCUS_E_MEMORY;
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, status, "client", "%s", caucus_status_text(status));
    status = caucus_redial_init(&link->redial, s, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (s->state)
        return caucus_link_load(link, s->key, s->state, s->state_bytes, ret_error);
    link->born = link->careful = !s->key->seeded; /* a seeded one makes the same bytes again, and is not private */
    link->new_device = s->new_device;
    status = caucus_client_new(s->plan, s->index, s->key, &link->machine);
    return status == CAUCUS_OK ? status : caucus_fail(ret_error, status, "client", "%s", caucus_status_text(status));
}

caucus_status caucus_link_new(const caucus_link_settings *settings, caucus_link **ret, caucus_error *ret_error) {
    assert(settings && ret);
    if (settings->size < sizeof settings->size || settings->size > sizeof *settings)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "size",
                           "%zu: set up these settings with caucus_link_settings_init() of this version",
                           settings->size);
    caucus_link_settings own; /* what an older caller does not know keeps its default */
    caucus_link_settings_init(&own);
    memcpy(&own, settings, settings->size);
    caucus_status status = check(&own, ret_error);
    if (status != CAUCUS_OK)
        return status;
    caucus_link *link = calloc(1, sizeof *link);
    if (!link)
        return caucus_fail_memory(ret_error, "client");
    status = begin(link, &own, ret_error);
    if (status != CAUCUS_OK) {
        caucus_link_free(link);
        return status;
    }
    link->over_received = link->over;
    *ret = link;
    return CAUCUS_OK;
}

void caucus_link_free(caucus_link *link) {
    if (!link)
        return;
    for (size_t i = 0; i < link->items; i++)
        caucus_link_item_free(&link->item[i]);
    caucus_wipe_free(link->item, link->items_room * sizeof *link->item);
    caucus_wipe_free(link->queue, CAUCUS_LINK_QUEUE * sizeof *link->queue);
    caucus_wipe_free(link->in, link->in_room);
    caucus_wipe_free(link->scratch, link->plan->settings.experts * sizeof *link->scratch);
    caucus_redial_free(&link->redial);
    caucus_client_free(link->machine);
    caucus_wipe_free(link, sizeof *link);
}

const char *caucus_link_next_address(caucus_link *link, int64_t now_ms) {
    return caucus_redial_next(&link->redial, now_ms);
}

void caucus_link_connected(caucus_link *link, int64_t now_ms) {
    caucus_link_greet(link);
    caucus_redial_connected(&link->redial, now_ms);
}

void caucus_link_disconnected(caucus_link *link, int64_t now_ms) {
    caucus_link_forget_connection(link);
    caucus_redial_lost(&link->redial, now_ms);
}

void caucus_link_refuse(caucus_link *link) {
    caucus_redial_refused(&link->redial);
}

bool caucus_link_refused(const caucus_link *link) {
    return caucus_redial_all_refused(&link->redial);
}

static caucus_redial_due due(const caucus_link *link) {
    return (caucus_redial_due){.heard = caucus_client_heard(link->machine),
                               .awaits = caucus_link_awaits(link),
                               .deadline_ms = link->deadline_ms};
}

caucus_link_overdue caucus_link_timeout(caucus_link *link, int64_t now_ms) {
    const caucus_redial_due waits = due(link);
    return caucus_redial_timeout(&link->redial, &waits, now_ms);
}

int64_t caucus_link_wait_ms(caucus_link *link, int64_t now_ms) {
    const caucus_redial_due waits = due(link);
    return caucus_redial_wait(&link->redial, &waits, now_ms);
}

int64_t caucus_link_missing_ms(caucus_link *link, int64_t now_ms) {
    return caucus_redial_missing(&link->redial, now_ms);
}

bool caucus_link_late(const caucus_link *link) {
    return link->redial.late;
}
