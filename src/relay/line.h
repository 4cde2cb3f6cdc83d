/* SPDX-License-Identifier: Apache-2.0 */
/* line.h: a connection to a NATS server, or to a cluster of them: publish, subscribe, and a queue of what has come.
 * layer: relay
 *
 * Nothing more is asked of NATS than to deliver at most once, in the order of the sender: what must not be lost is sent
 * again by who needs it, what must not be read or made up is sealed (seal.h). The library gives up by default, keeps
 * what is published while it is cut off, and drops for slow subscribers; here it tries for ever, keeps nothing, and
 * what it drops is counted. A connection that it gives up all the same (an nkey that a server refuses twice, an error
 * that it does not know) is made anew by who takes what has come: after 250 ms, then after longer, up to 8 s.
 *
 * What comes is put into a queue by the library's threads; one thread takes it out, which waits for the descriptor
 * caucus_line_wait() together with whatever else it waits for. */
#ifndef CAUCUS_RELAY_LINE_H
#define CAUCUS_RELAY_LINE_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAUCUS_LINE_SUBJECT_BYTES 96u
#define CAUCUS_LINE_WHY_BYTES 128u
#define CAUCUS_LINE_MESSAGE_BYTES (512u << 10) /* longer ones are not taken: nobody here sends them */

typedef struct caucus_line_settings {
    const char *url;  /* nats://HOST:PORT or tls://HOST:PORT, several with commas; plain only on this machine */
    const char *ca;   /* PEM file: who signs the servers' certificates; NULL: the system's */
    const char *seed; /* file with the nkey's seed; NULL: none */
    const char *name; /* of this connection, for the server's own pages */
} caucus_line_settings;

typedef struct caucus_line caucus_line;

/* What has come. */
typedef struct caucus_letter {
    struct caucus_letter *next;
    char subject[CAUCUS_LINE_SUBJECT_BYTES];
    size_t size;
    uint8_t bytes[];
} caucus_letter;

/** Which library this program has; NULL: none. */
const char *caucus_line_version(void);

/** Connect, now or as soon as somebody is there.
 *  Returns: CAUCUS_OK; CAUCUS_E_RANGE: url, or a plain one beyond this machine; CAUCUS_E_PATH: a file cannot be read;
 *           CAUCUS_E_NETWORK; CAUCUS_E_MEMORY; CAUCUS_E_INFEASIBLE: this program was built without the library. */
caucus_status caucus_line_open(const caucus_line_settings *settings, caucus_line **ret,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** NULL is allowed. What was published last is sent first, if that takes no time. */
void caucus_line_close(caucus_line *line);

/** Hear what is published under this subject, from now on. Returns: CAUCUS_OK, CAUCUS_E_NETWORK, CAUCUS_E_MEMORY. */
caucus_status caucus_line_hear(caucus_line *line, const char *subject) CAUCUS_MUST_CHECK;
/** Returns: false: it was not sent, since nobody is there. True says nothing about its arrival. */
bool caucus_line_say(caucus_line *line, const char *subject, const uint8_t *bytes, size_t size);

/** A descriptor that can be read once something has come; it is cleared by caucus_line_take(). */
int caucus_line_wait(const caucus_line *line);
/** Make it readable. Async-signal-safe. */
void caucus_line_wake(caucus_line *line);
/** All that has come, the oldest first, the caller's to free; NULL: nothing. */
caucus_letter *caucus_line_take(caucus_line *line);

bool caucus_line_is_up(caucus_line *line);
/** Has the library given the connection up? True once, until somebody is there again; ret_why: in the
 *  library's words. */
#define CAUCUS_LINE_LOST_TEXT "NATS has ended the connection (%s): trying again until it is accepted"
bool caucus_line_lost(caucus_line *line, char ret_why[CAUCUS_LINE_WHY_BYTES]);
uint64_t caucus_line_reconnects(const caucus_line *line);
uint64_t caucus_line_drops(const caucus_line *line); /* that could not be kept until somebody took them */

#endif
