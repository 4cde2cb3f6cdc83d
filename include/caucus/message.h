/* SPDX-License-Identifier: Apache-2.0 */
/* message.h: everything that passes between a client and the coordinator.
 * layer: algo
 *
 * The coordinator announces; every client hears the same words. An announcement says what is in force
 * and what is asked next; a report answers it. A report is an immutable item: counted at most
 * once, re-sent byte for byte, never merged with another (docs/PRIVACY.md, "Reports on a network that fails").
 *
 * Both structs are on the path of every report, are made by either side and hold no size: their shape is frozen within
 * a soname. A new field is a new version of the protocol and a new soname. */
#ifndef CAUCUS_MESSAGE_H
#define CAUCUS_MESSAGE_H

#include <caucus/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the coordinator asks for, and what a report holds. */
typedef enum caucus_ask {
    CAUCUS_ASK_NOTHING = 0, /* nothing more is wanted: the expert stays in force to the end */
    CAUCUS_ASK_COST,        /* svt: at the end of the next block, what the expert in force cost in it (1 value) */
    CAUCUS_ASK_SUMS,        /* svt, hedge: sums of all experts' losses not yet reported, up to `block` (d values) */
    CAUCUS_ASK_LEAF,        /* stoch: the gradient estimate at the `leaf` of phase `block` (d values) */
    CAUCUS_ASK_VOTE,        /* stoch, trust nobody: a private vote on phase `block` (1 value) */
    CAUCUS_ASK_SHORTLIST /* stoch, trust nobody: noisy sums of the experts listed (CAUCUS_SHORTLIST values or fewer) */
} caucus_ask;

/** What the coordinator says to every client.
 *  Fixed: the protocol says what an announcement holds, and one that holds more is another version of it. */
typedef struct caucus_announcement {
    uint64_t serial;                 /* 0, 1, 2, ...: position in the coordinator's sequence of announcements */
    uint64_t epoch;                  /* svt: number of selections so far; stoch: selections so far in this phase */
    uint64_t block;                  /* the block (svt, hedge) or phase (stoch) that is asked about */
    uint32_t expert;                 /* in force; for stoch the last one chosen (the client mixes, docs/PRIVACY.md) */
    caucus_ask ask;                  /* what every client is to answer */
    uint32_t leaf;                   /* stoch: leaf within the phase, from 0; NOTHING: CAUCUS_LEAF_STOPPED, or 0 */
    uint32_t listed;                 /* entries of `list` */
    uint32_t list[CAUCUS_SHORTLIST]; /* SHORTLIST: the experts whose sums are wanted */
} caucus_announcement;

/** `leaf` of an announcement that asks for nothing because somebody has ended the run before its time: no round is
 *  played any more. It may be heard at any moment, whatever was announced before it. */
#define CAUCUS_LEAF_STOPPED 1u
/** Is it such an announcement? */
CAUCUS_API bool caucus_announcement_stops(const caucus_announcement *announcement);

/** What one client answers.
 *  Fixed: the protocol says what a report holds, and one that holds more is another version of it. */
typedef struct caucus_report {
    uint32_t client;        /* 1..m */
    caucus_ask kind;        /* what it answers */
    uint64_t first;         /* SUMS: first block it covers; otherwise = block */
    uint64_t block;         /* COST: the block; SUMS: last block it covers; stoch: the phase */
    uint64_t epoch_or_leaf; /* stoch: the leaf; otherwise the epoch the cost belongs to */
    uint32_t count;         /* number of values */
    const int64_t *value;   /* [count]: sums in grid units, or an expert's number (VOTE); the machine's memory */
} caucus_report;

/** Sizes of the content alone, whatever the encoding: 4 bytes per field and per listed expert, 8 per value. They
 *  measure what an algorithm says, so that results of different versions and encodings can be compared, and are not the
 *  widths of the types above: a block or a serial counts 4 bytes here and takes as many as it needs on the wire. */
#define CAUCUS_REPORT_HEAD_BYTES 24       /* client, kind, first, block, epoch or leaf, count */
#define CAUCUS_ANNOUNCEMENT_HEAD_BYTES 28 /* serial, expert, epoch, ask, block, leaf, listed */
CAUCUS_API uint64_t caucus_report_bytes(const caucus_report *report);
CAUCUS_API uint64_t caucus_announcement_bytes(const caucus_announcement *announcement);
/** Numbers a client must read to follow it: the expert, and the shortlist. */
CAUCUS_API uint64_t caucus_announcement_scalars(const caucus_announcement *announcement);

#ifdef __cplusplus
}
#endif
#endif
