/* SPDX-License-Identifier: Apache-2.0 */
/* audit_link.c: clients as links, which is how they ship: bytes in, bytes out. See audit_stage.h.
 *
 * The coordinator's side reads and writes the real frames. In every step each link connects, hears, plays and reports;
 * then its connection breaks, the link is made again with another key from what it last saved, connects and sends
 * again what is not known to be counted. Every report that comes is seen. The broken twin has lost its state, says that
 * it is a new device, and draws again. */
#include "audit/audit_stage.h"

#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>

/* The link hands over what must survive; memory stands for the disk. */
static bool save(void *user, const uint8_t *bytes, size_t size) {
    caucus_audit_seat *seat = user;
    uint8_t *room = realloc(seat->saved, size);
    if (room == NULL)
        return false;
    memcpy(room, bytes, size);
    seat->saved = room;
    seat->saved_bytes = size;
    return true;
}

static caucus_status make_link(caucus_audit_play *r, uint32_t i, bool forgotten) {
    caucus_audit_seat *seat = &r->seat[i];
    caucus_key key;
    caucus_audit_next_key(r, &key);
    caucus_link_settings settings;
    caucus_link_settings_init(&settings);
    settings.plan = r->stage->plan;
    settings.index = i + 1;
    settings.key = &key;
    settings.state = forgotten ? NULL : seat->saved;
    settings.state_bytes = forgotten ? 0 : seat->saved_bytes;
    settings.save = save;
    settings.user = seat;
    settings.new_device = forgotten;
    caucus_link_free(seat->link);
    seat->link = NULL;
    caucus_error error = {0};
    caucus_status status = caucus_link_new(&settings, &seat->link, &error);
    if (status != CAUCUS_OK && status != CAUCUS_E_MEMORY)
        abort(); /* it saved it itself */
    if (status == CAUCUS_OK && r->stage->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        caucus_link_set_gradient(seat->link, caucus_audit_gradient, &seat->slope);
    return status;
}

caucus_status caucus_audit_links_open(caucus_audit_play *r) {
    const caucus_audit_stage *s = r->stage;
    r->room = 2 * caucus_wire_max_bytes(s->d);
    r->up = malloc(r->room);
    r->down = malloc(r->room);
    r->scratch = calloc(s->d, sizeof *r->scratch);
    caucus_status status = r->up && r->down && r->scratch ? CAUCUS_OK : CAUCUS_E_MEMORY;
    for (uint32_t i = 0; status == CAUCUS_OK && i < s->m; i++)
        status = make_link(r, i, false);
    return status;
}

void caucus_audit_links_close(caucus_audit_play *r) {
    for (uint32_t i = 0; r->seat != NULL && i < r->stage->m; i++) {
        caucus_link_free(r->seat[i].link);
        free(r->seat[i].saved);
    }
    free(r->said);
    free(r->up);
    free(r->down);
    free(r->scratch);
}

/* Every frame here was written by a link or for one, so nothing but memory can be short; a decoder that has none calls
 * a frame malformed. */
static caucus_status expect_ok(caucus_status status) {
    return status == CAUCUS_OK ? CAUCUS_OK : CAUCUS_E_MEMORY;
}

static caucus_status send_down(caucus_audit_play *r, uint32_t i, caucus_frame *frame) {
    caucus_error error = {0};
    frame->cost_next = r->seat[i].cost_next;
    frame->sums_next = r->seat[i].sums_next;
    size_t size = caucus_wire_put(frame, r->down, r->room);
    if (size == 0)
        return CAUCUS_E_MEMORY;
    return expect_ok(caucus_link_receive(r->seat[i].link, r->down, size, &error));
}

static caucus_status welcome(caucus_audit_play *r, uint32_t i, uint64_t heard) {
    caucus_frame frame = {.kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION};
    memcpy(frame.plan, caucus_plan_hash(r->stage->plan), sizeof frame.plan);
    frame.answered = caucus_coordinator_answered(r->coordinator, i + 1);
    caucus_status status = send_down(r, i, &frame);
    for (uint64_t serial = heard; status == CAUCUS_OK && serial < r->said_count; serial++) {
        frame = (caucus_frame){.kind = CAUCUS_FRAME_ANNOUNCEMENT, .announcement = r->said[serial]};
        status = send_down(r, i, &frame);
    }
    return status;
}

/* Whole frames at the start of what has come up. */
static caucus_status read_frames(caucus_audit_play *r, uint32_t i) {
    for (;;) {
        caucus_frame frame;
        caucus_error error = {0};
        size_t used = 0;
        if (caucus_wire_take(r->up, r->up_bytes, r->stage->d, r->scratch, &used, &frame, &error) != CAUCUS_OK)
            return CAUCUS_E_MEMORY;
        if (used == 0)
            return CAUCUS_OK;
        if (frame.kind == CAUCUS_FRAME_REPORT) {
            if (r->stage->setting.statistic == CAUCUS_AUDIT_MESSAGES)
                r->ratio += caucus_audit_message_ratio(r->stage, &frame.report,
                                                       caucus_coordinator_announcement(r->coordinator), &r->before);
            (void)!caucus_coordinator_receive(r->coordinator, &frame.report); /* a second one is not counted */
        }
        uint64_t heard = frame.kind == CAUCUS_FRAME_HELLO ? frame.heard : 0;
        memmove(r->up, r->up + used, r->up_bytes - used);
        r->up_bytes -= used;
        if (frame.kind == CAUCUS_FRAME_HELLO) {
            caucus_status status = welcome(r, i, heard);
            if (status != CAUCUS_OK)
                return status;
        }
    }
}

static caucus_status send_up(caucus_audit_play *r, uint32_t i, bool *ret_moved) {
    size_t size = 0;
    const uint8_t *bytes;
    caucus_status status = CAUCUS_OK;
    while (status == CAUCUS_OK && (bytes = caucus_link_to_send(r->seat[i].link, &size)) != NULL) {
        size_t n = size < r->room - r->up_bytes ? size : r->room - r->up_bytes;
        memcpy(r->up + r->up_bytes, bytes, n);
        r->up_bytes += n;
        caucus_link_sent(r->seat[i].link, n);
        status = read_frames(r, i);
        *ret_moved = true;
    }
    return status;
}

static caucus_status play_rounds(caucus_audit_play *r, uint32_t i, bool *ret_moved) {
    const caucus_audit_stage *s = r->stage;
    caucus_link *link = r->seat[i].link;
    caucus_status status = CAUCUS_OK;
    while (status == CAUCUS_OK && caucus_link_ready(link)) {
        caucus_error error = {0};
        size_t at = ((size_t)i * s->rounds + caucus_link_round(link)) * s->d;
        status = expect_ok(caucus_link_observe(link, s->loss[r->world] + at, &error));
        *ret_moved = true;
    }
    return status;
}

/* A connection, until nothing moves; then it breaks. */
static caucus_status connection(caucus_audit_play *r, uint32_t i) {
    caucus_status status = CAUCUS_OK;
    bool moved = true;
    r->up_bytes = 0;
    caucus_link_connected(r->seat[i].link, 0);
    while (status == CAUCUS_OK && moved) {
        moved = false;
        status = send_up(r, i, &moved);
        if (status == CAUCUS_OK)
            status = play_rounds(r, i, &moved);
    }
    caucus_link_disconnected(r->seat[i].link, 0);
    return status;
}

caucus_status caucus_audit_links_step(caucus_audit_play *r) {
    caucus_announcement *said = realloc(r->said, (r->said_count + 1) * sizeof *said);
    if (said == NULL)
        return CAUCUS_E_MEMORY;
    r->said = said;
    r->said[r->said_count++] = *caucus_coordinator_announcement(r->coordinator);
    caucus_status status = CAUCUS_OK;
    for (uint32_t i = 0; status == CAUCUS_OK && i < r->stage->m; i++) {
        caucus_audit_seat *seat = &r->seat[i];
        bool answered;
        caucus_coordinator_counted(r->coordinator, i + 1, &seat->cost_next, &seat->sums_next, &answered);
        status = connection(r, i);
        if (status == CAUCUS_OK)
            status = make_link(r, i, r->stage->fault.kind == CAUCUS_AUDIT_DRAW_AGAIN);
        if (status == CAUCUS_OK)
            status = connection(r, i);
    }
    if (status == CAUCUS_OK && caucus_coordinator_waiting(r->coordinator) > 0)
        abort(); /* every link has answered */
    return status;
}
