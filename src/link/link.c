/* SPDX-License-Identifier: Apache-2.0 */
/* link.c: one client's side of a session, without a socket. See include/caucus/link.h.
 *
 * Order of things, each a rule of docs/PRIVACY.md, statement 25:
 *   the machine makes a report -> its frame becomes an item -> the state, item included, is saved -> it may be sent ->
 *   it is sent again, the same bytes, on every new connection -> it is forgotten when the coordinator says that
 *   it is counted, or that its step is decided.
 * At the devices' own pace the state is saved with every loss as well: the slot that a loss belongs to is on disk
 * before its giver is told that it was taken (docs/PRIVACY.md, "At their own pace", rule 4).
 * A coordinator that withholds its acknowledgements gets the same bytes again; one that asks again for what was
 * answered is refused by the machine. Nothing here draws noise. */
#include <assert.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/schedule.h"
#include "algo/wipe.h"
#include "link/link_impl.h"
#include "num/fail.h"
#include "plan/pace/pace.h"

/* Bytes that may lie unread while the queue is full; a caller that minds caucus_link_wants() stays far below. */
#define IN_MAX ((size_t)1 << 20)

void caucus_link_item_free(caucus_link_item *item) {
    caucus_wipe_free(item->bytes, item->size);
}

caucus_link_item *caucus_link_item_add(caucus_link *link) {
    if (link->items == link->items_room) {
        size_t room = link->items_room ? 2 * link->items_room : 8;
        caucus_link_item *more = realloc(link->item, room * sizeof *more);
        if (!more)
            return NULL;
        link->item = more;
        link->items_room = room;
    }
    caucus_link_item *item = &link->item[link->items++];
    memset(item, 0, sizeof *item);
    return item;
}

static void remove_item(caucus_link *link, size_t at) {
    caucus_link_item_free(&link->item[at]);
    memmove(link->item + at, link->item + at + 1, (link->items - at - 1) * sizeof *link->item);
    link->items--;
    if (at < link->next)
        link->next--;
}

void caucus_link_set_gradient(caucus_link *link, caucus_gradient gradient, void *user) {
    caucus_client_set_gradient(link->machine, gradient, user);
}

static uint64_t serial_expected(const caucus_link *link) {
    return caucus_client_heard(link->machine) + link->queue_count;
}

static void put_control(caucus_link *link, const caucus_frame *frame) {
    size_t size = caucus_wire_put(frame, link->control + link->control_size, sizeof link->control - link->control_size);
    assert(size > 0);
    link->control_size += size;
}

void caucus_link_greet(caucus_link *link) {
    caucus_link_forget_connection(link);
    link->connected = true;
    link->received_before = link->counts.bytes_received;
    link->last_words[0] = '\0';
    caucus_frame hello = {.kind = CAUCUS_FRAME_HELLO,
                          .version = CAUCUS_WIRE_VERSION,
                          .client = link->index,
                          .heard = serial_expected(link)};
    memcpy(hello.plan, link->plan_hash, sizeof hello.plan);
    put_control(link, &hello);
}

void caucus_link_forget_connection(caucus_link *link) {
    link->connected = link->welcomed = link->leaving = false;
    link->control_size = link->control_sent = 0;
    link->in_size = 0;
    link->next = link->offset = 0;
    for (size_t i = link->items; i-- > 0;)
        if (link->item[i].unwanted)
            remove_item(link, i);
    link->next = 0;
}

/* Clients at their own pace wait for no announcement: an item is about slots of their own clock, is named by their own
 * number, and stays until the coordinator says that it has counted it (docs/PRIVACY.md, "At their own pace"). */
static bool own_pace(const caucus_link *link) {
    return link->plan->settings.pace == CAUCUS_PACE_OWN;
}

/* Is the report of this announcement known to be counted, or its step to be decided? That a step is decided is known by
 * an announcement that the machine has accepted, and by nothing else. */
static bool unwanted(const caucus_link *link, caucus_ask kind, uint64_t block, uint64_t serial) {
    if (link->over)
        return true;
    if (own_pace(link)) /* by its number, whatever was announced since; unit client: its question may be decided */
        return block < link->sums_next ||
               (caucus_pace_by_question(&link->plan->settings) && block < caucus_client_item(link->machine));
    if (kind == CAUCUS_ASK_COST)
        return block < link->cost_next;
    if (kind == CAUCUS_ASK_SUMS)
        return block < link->sums_next;
    return serial + 1 < caucus_client_heard(link->machine); /* stoch: a later announcement was heard */
}

/* A client that came without its state must not answer again what it may have answered before: what was counted of it,
 * and, of stoch, any step that is decided by now. Its noise would be other noise for the same losses. */
static bool may_be_answered(const caucus_link *link, caucus_ask kind, uint64_t serial) {
    if (!link->careful || kind == CAUCUS_ASK_COST || kind == CAUCUS_ASK_SUMS) /* these: cost_next and sums_next */
        return false;
    return serial < link->counted || link->queue_count > 0;
}

static void forget_unwanted(caucus_link *link) {
    for (size_t i = link->items; i-- > 0;) {
        const caucus_link_item *item = &link->item[i];
        if (!unwanted(link, item->kind, item->block, item->serial))
            continue;
        if (i == link->next && link->offset > 0)
            link->item[i].unwanted = true; /* half of it is on its way */
        else
            remove_item(link, i);
    }
}

/* The report that the machine has made becomes an item: its bytes are fixed here, once. */
static caucus_status keep_report(caucus_link *link, const caucus_report *report, caucus_error *ret_error) {
    uint64_t heard = caucus_client_heard(link->machine);
    if (own_pace(link)) {
        link->answered = report->block;
        if (unwanted(link, report->kind, report->block, heard - 1))
            return CAUCUS_OK;
    } else if (link->over_received || unwanted(link, report->kind, report->block, heard - 1) ||
               may_be_answered(link, report->kind, heard - 1)) {
        link->answered = heard;
        return CAUCUS_OK;
    }
    if (link->items >= CAUCUS_LINK_ITEMS)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "coordinator", "has not counted the last %u reports",
                           CAUCUS_LINK_ITEMS);
    size_t room = caucus_wire_max_bytes(link->plan->settings.experts), size = 0;
    uint8_t *whole = malloc(room);
    caucus_link_item *item = whole ? caucus_link_item_add(link) : NULL;
    if (item) {
        caucus_frame frame = {.kind = CAUCUS_FRAME_REPORT, .report = *report};
        size = caucus_wire_put(&frame, whole, room);
        assert(size > 0);
        item->bytes = malloc(size);
    }
    if (!item || !item->bytes) {
        link->items -= item != NULL;
        caucus_wipe_free(whole, size);
        return caucus_fail_memory(ret_error, "report");
    }
    memcpy(item->bytes, whole, size);
    caucus_wipe_free(whole, size);
    item->size = size;
    item->serial = heard - 1;
    item->kind = report->kind;
    item->block = report->block;
    if (!own_pace(link))
        link->answered = heard;
    return CAUCUS_OK;
}

/* Hear the first announcement of the queue. */
static caucus_status hear_next(caucus_link *link, caucus_error *ret_error) {
    caucus_announcement a = link->queue[link->queue_first];
    link->queue_first = (link->queue_first + 1) % CAUCUS_LINK_QUEUE;
    link->queue_count--;
    caucus_status status = caucus_client_hear(link->machine, &a);
    if (status == CAUCUS_OK || status == CAUCUS_E_DUPLICATE) {
        link->over = link->over || a.ask == CAUCUS_ASK_NOTHING;
        forget_unwanted(link);
        return CAUCUS_OK;
    }
    link->queue_count = 0; /* what came after it is not believed either */
    link->over_received = link->over;
    return caucus_fail(ret_error, CAUCUS_E_FORMAT, "announcement",
                       "%" PRIu64 " asks for what this plan never asks, or again for what was answered", a.serial);
}

/* Go as far as losses and announcements allow; then save what is new. */
static caucus_status advance(caucus_link *link, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    for (;;) {
        if (own_pace(link) || link->answered < caucus_client_heard(link->machine)) {
            const caucus_report *report = caucus_client_report(link->machine);
            if (report && (!own_pace(link) || report->block > link->answered))
                status = keep_report(link, report, ret_error);
        }
        bool busy = caucus_client_heard(link->machine) > 0 && caucus_client_rounds_left(link->machine) > 0;
        if (status != CAUCUS_OK || link->queue_count == 0 || busy)
            break;
        status = hear_next(link, ret_error);
        if (status != CAUCUS_OK)
            break;
    }
    bool fresh = link->unkept || (link->over && !link->over_saved); /* over: from here on no coordinator is needed */
    for (size_t i = 0; i < link->items; i++)
        fresh = fresh || !link->item[i].saved;
    if (fresh) {
        caucus_status stored = caucus_link_store(link, status == CAUCUS_OK ? ret_error : NULL);
        status = status == CAUCUS_OK ? stored : status;
    }
    return status;
}

static caucus_status take_welcome(caucus_link *link, const caucus_frame *frame, caucus_error *ret_error) {
    if (link->welcomed)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "coordinator", "said welcome twice");
    if (frame->version != CAUCUS_WIRE_VERSION)
        return caucus_fail(ret_error, CAUCUS_E_REFUSED, "coordinator",
                           "speaks version %u of the protocol, this client %u", frame->version, CAUCUS_WIRE_VERSION);
    if (memcmp(frame->plan, link->plan_hash, sizeof link->plan_hash) != 0) {
        char own[9], other[9];
        sodium_bin2hex(own, sizeof own, link->plan_hash, 4);
        sodium_bin2hex(other, sizeof other, frame->plan, 4);
        return caucus_fail(ret_error, CAUCUS_E_MISMATCH, "plan",
                           "the coordinator runs plan %s… and this client has %s…", other, own);
    }
    if (link->born && frame->answered > 0 && !link->new_device && !own_pace(link) &&
        link->plan->settings.trust != CAUCUS_TRUST_COORDINATOR)
        return caucus_fail(ret_error, CAUCUS_E_LOST, "state",
                           "lost: reports of this client were counted, and without their state noise would be drawn "
                           "again for the same losses");
    if (link->born && !link->new_device)
        link->counted = frame->answered;
    link->born = false;
    link->welcomed = true;
    link->deadline_ms = frame->deadline_ms;
    return CAUCUS_OK;
}

/* A run without an end: what lies between was not kept. What is asked now overtakes whatever waits to be heard; costs
 * of blocks that were missed are wanted no more, while sums may still be counted. */
static caucus_status take_jump(caucus_link *link, const caucus_announcement *a, caucus_error *ret_error) {
    link->queue_count = 0;
    if (caucus_client_hear(link->machine, a) != CAUCUS_OK)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "announcement",
                           "%" PRIu64 " asks for what this plan never asks, or again for what was answered", a->serial);
    link->answered = caucus_client_heard(link->machine) - 1;
    for (size_t i = link->items; i-- > 0;)
        if (link->item[i].kind == CAUCUS_ASK_COST) {
            if (i == link->next && link->offset > 0)
                link->item[i].unwanted = true; /* half of it is on its way */
            else
                remove_item(link, i);
        }
    return CAUCUS_OK;
}

static caucus_status take_announcement(caucus_link *link, const caucus_announcement *a, caucus_error *ret_error) {
    uint64_t expected = serial_expected(link);
    if (a->serial < expected)
        return CAUCUS_OK; /* said before */
    if (own_pace(link)) { /* the newest counts, and nothing waits for it */
        if (caucus_client_hear(link->machine, a) != CAUCUS_OK)
            return caucus_fail(ret_error, CAUCUS_E_FORMAT, "announcement",
                               "%" PRIu64 " asks for what this plan never asks", a->serial);
        link->over = link->over_received = a->ask == CAUCUS_ASK_NOTHING;
        return CAUCUS_OK;
    }
    if (a->serial > expected && caucus_plan_is_endless(link->plan) && !link->over_received)
        return take_jump(link, a, ret_error);
    if (a->serial > expected)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "announcement", "%" PRIu64 " came, %" PRIu64 " is next",
                           a->serial, expected);
    if (link->over_received)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "announcement", "%" PRIu64 " came after the last one",
                           a->serial);
    link->queue[(link->queue_first + link->queue_count) % CAUCUS_LINK_QUEUE] = *a;
    link->queue_count++;
    link->over_received = a->ask == CAUCUS_ASK_NOTHING;
    return CAUCUS_OK;
}

/* The run was ended before its time. That overtakes whatever waits to be heard, and what was missed. */
static caucus_status take_stop(caucus_link *link, const caucus_announcement *a, caucus_error *ret_error) {
    link->queue_count = 0;
    caucus_status status = caucus_client_hear(link->machine, a);
    if (status == CAUCUS_E_DUPLICATE)
        return CAUCUS_OK;
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "announcement", "%" PRIu64 " ends the run and is malformed",
                           a->serial);
    link->answered = caucus_client_heard(link->machine);
    link->over = link->over_received = true;
    link->over_saved = false;
    return CAUCUS_OK;
}

static caucus_status take_refusal(caucus_link *link, const caucus_frame *frame, caucus_error *ret_error) {
    memcpy(link->last_words, frame->text, sizeof link->last_words);
    caucus_status status = CAUCUS_E_REFUSED;
    if (frame->code == CAUCUS_REFUSAL_FULL || frame->code == CAUCUS_REFUSAL_LATER)
        status = CAUCUS_E_LATER;
    if (frame->code == CAUCUS_REFUSAL_FULL)
        link->redial.unwelcome = true; /* the longest pause: there is no room, and everybody wants it */
    if (frame->code == CAUCUS_REFUSAL_PLAN)
        status = CAUCUS_E_MISMATCH;
    else if (frame->code == CAUCUS_REFUSAL_ORDER)
        status = CAUCUS_E_ROLLED_BACK;
    return caucus_fail(ret_error, status, "coordinator", "refused: %.200s",
                       frame->text[0] ? frame->text : "it gave no reason");
}

static caucus_status take_frame(caucus_link *link, const caucus_frame *frame, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    switch (frame->kind) {
    case CAUCUS_FRAME_REFUSAL:
        return take_refusal(link, frame, ret_error);
    case CAUCUS_FRAME_GOODBYE:
        memcpy(link->last_words, frame->text, sizeof link->last_words);
        return CAUCUS_OK;
    case CAUCUS_FRAME_WELCOME:
        status = take_welcome(link, frame, ret_error);
        break;
    case CAUCUS_FRAME_ANNOUNCEMENT:
        if (!link->welcomed)
            return caucus_fail(ret_error, CAUCUS_E_FORMAT, "coordinator", "announced before it said welcome");
        status = caucus_announcement_stops(&frame->announcement)
                     ? take_stop(link, &frame->announcement, ret_error)
                     : take_announcement(link, &frame->announcement, ret_error);
        break;
    default:
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "coordinator", "sent what only clients send");
    }
    if (status != CAUCUS_OK)
        return status;
    if (frame->cost_next > link->cost_next)
        link->cost_next = frame->cost_next;
    if (frame->sums_next > link->sums_next)
        link->sums_next = frame->sums_next;
    if (own_pace(link) && caucus_client_acknowledge(link->machine, frame->sums_next) != CAUCUS_OK)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "coordinator", "says to have counted %" PRIu64 " items",
                           frame->sums_next - 1);
    forget_unwanted(link);
    return CAUCUS_OK;
}

bool caucus_link_wants(const caucus_link *link) {
    return link->queue_count < CAUCUS_LINK_QUEUE;
}

/* Read what lies in the buffer, as far as the queue has room, and let the machine go on. */
static caucus_status read_on(caucus_link *link, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    bool again;
    do {
        size_t at = 0;
        while (status == CAUCUS_OK && at < link->in_size && caucus_link_wants(link)) {
            caucus_frame frame;
            size_t used = 0;
            status = caucus_wire_take(link->in + at, link->in_size - at, link->plan->settings.experts, link->scratch,
                                      &used, &frame, ret_error);
            if (status != CAUCUS_OK || used == 0)
                break;
            at += used;
            status = take_frame(link, &frame, ret_error);
        }
        bool full = !caucus_link_wants(link);
        memmove(link->in, link->in + at, link->in_size - at);
        link->in_size -= at;
        if (status == CAUCUS_OK)
            status = advance(link, ret_error);
        again = status == CAUCUS_OK && full && caucus_link_wants(link) && link->in_size > 0;
    } while (again);
    return status;
}

/* What this says about the address at the other end. */
static caucus_status judge(caucus_link *link, caucus_status status) {
    bool own = status == CAUCUS_E_SAVE || status == CAUCUS_E_MEMORY; /* nothing is wrong with the connection */
    if (caucus_status_is_final(status))
        caucus_redial_refused(&link->redial);
    else if (status == CAUCUS_E_LATER)
        link->redial.fruitful = false; /* pauses grow as after any failure: soon is soon enough, and never a hurry */
    else if (status != CAUCUS_OK && !own)
        link->redial.unwelcome = true;
    else if (status == CAUCUS_OK && link->connected && link->counts.bytes_received > link->received_before)
        link->redial.fruitful = true;
    return status;
}

caucus_status caucus_link_receive(caucus_link *link, const uint8_t *bytes, size_t size, caucus_error *ret_error) {
    link->counts.bytes_received += size;
    if (size > IN_MAX || link->in_size > IN_MAX)
        return judge(link, caucus_fail(ret_error, CAUCUS_E_FORMAT, "coordinator",
                                       "is too far ahead: read no more while caucus_link_wants() is false"));
    if (link->in_size + size > link->in_room) {
        size_t room = link->in_room ? link->in_room : 4096;
        while (room < link->in_size + size)
            room *= 2;
        uint8_t *more = realloc(link->in, room);
        if (!more)
            return caucus_fail_memory(ret_error, "coordinator");
        link->in = more;
        link->in_room = room;
    }
    if (size > 0)
        memcpy(link->in + link->in_size, bytes, size);
    link->in_size += size;
    return judge(link, link->in_size > 0 ? read_on(link, ret_error) : advance(link, ret_error));
}

const uint8_t *caucus_link_to_send(caucus_link *link, size_t *ret_size) {
    *ret_size = 0;
    if (!link->connected)
        return NULL;
    if (link->offset == 0 && link->control_sent < link->control_size) {
        *ret_size = link->control_size - link->control_sent;
        return link->control + link->control_sent;
    }
    bool open = link->offset > 0 || (link->welcomed && !link->leaving);
    if (!open || link->next >= link->items || !link->item[link->next].saved)
        return NULL;
    const caucus_link_item *item = &link->item[link->next];
    *ret_size = item->size - link->offset;
    return item->bytes + link->offset;
}

void caucus_link_sent(caucus_link *link, size_t bytes) {
    if (bytes == 0)
        return;
    link->counts.bytes_sent += bytes;
    if (link->offset == 0 && link->control_sent < link->control_size) {
        link->control_sent += bytes;
        assert(link->control_sent <= link->control_size);
        if (link->control_sent == link->control_size)
            link->control_sent = link->control_size = 0;
        return;
    }
    assert(link->next < link->items && link->offset + bytes <= link->item[link->next].size);
    caucus_link_item *item = &link->item[link->next];
    link->offset += bytes;
    if (link->offset < item->size)
        return;
    link->offset = 0;
    if (item->sent)
        link->counts.again++;
    else
        link->counts.reports++;
    item->sent = true;
    if (item->unwanted)
        remove_item(link, link->next);
    else
        link->next++;
}

bool caucus_link_ready(const caucus_link *link) {
    return caucus_client_rounds_left(link->machine) > 0;
}

bool caucus_link_awaits(const caucus_link *link) {
    return !link->over && caucus_client_heard(link->machine) > 0 && !caucus_link_ready(link);
}

uint32_t caucus_link_deadline_ms(const caucus_link *link) {
    return link->deadline_ms;
}

uint32_t caucus_link_expert(const caucus_link *link) {
    return caucus_client_expert(link->machine);
}

caucus_status caucus_link_evaluate(const caucus_link *link, uint32_t *ret, size_t ret_count) {
    return caucus_client_evaluate(link->machine, ret, ret_count);
}

uint64_t caucus_link_round(const caucus_link *link) {
    return caucus_client_round(link->machine);
}

caucus_status caucus_link_observe(caucus_link *link, const double *loss, caucus_error *ret_error) {
    return caucus_link_observe_rows(link, loss, 1, ret_error);
}

caucus_status caucus_link_observe_rows(caucus_link *link, const double *loss, uint64_t rows, caucus_error *ret_error) {
    if (rows == 0)
        return CAUCUS_OK;
    caucus_status status = caucus_client_observe(link->machine, loss, rows);
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, status, "losses", "no round can be played now: an announcement is due");
    link->unkept = own_pace(link);
    return judge(link, link->in_size > 0 ? read_on(link, ret_error) : advance(link, ret_error));
}

caucus_status caucus_link_slot(caucus_link *link, uint64_t slot, caucus_error *ret_error) {
    caucus_status status = caucus_client_slot(link->machine, slot);
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, status, "slot", "the plan's clients are in step: it has no slots");
    return judge(link, link->in_size > 0 ? read_on(link, ret_error) : advance(link, ret_error));
}

bool caucus_link_has_reported(const caucus_link *link) {
    return link->connected && link->welcomed && link->control_sent == link->control_size && link->offset == 0 &&
           link->next >= link->items;
}

caucus_status caucus_link_leave(caucus_link *link, const char *words, caucus_error *ret_error) {
    caucus_status status = caucus_link_store(link, ret_error);
    if (link->connected && !link->leaving) {
        caucus_frame goodbye = {.kind = CAUCUS_FRAME_GOODBYE};
        (void)snprintf(goodbye.text, sizeof goodbye.text, "%s", words);
        put_control(link, &goodbye);
        link->leaving = true;
    }
    return status;
}

bool caucus_link_done(const caucus_link *link) {
    return link->over && link->items == 0 && caucus_client_rounds_left(link->machine) == 0;
}

const char *caucus_link_last_words(const caucus_link *link) {
    return link->last_words;
}

void caucus_link_counts_init(caucus_link_counts *ret) {
    *ret = (caucus_link_counts){.size = sizeof *ret};
}

caucus_status caucus_link_count(const caucus_link *link, caucus_link_counts *ret) {
    if (ret->size != sizeof *ret) /* the only size there has been */
        return CAUCUS_E_RANGE;
    *ret = link->counts;
    ret->size = sizeof *ret;
    return CAUCUS_OK;
}

const caucus_client *caucus_link_client(const caucus_link *link) {
    return link->machine;
}
