/* SPDX-License-Identifier: Apache-2.0 */
/* status.h: how the library says what went wrong.
 * layer: num
 *
 * Every function that can fail returns a caucus_status, which must be looked at. Hostile or
 * wrong input gives a status and, where a caucus_error is passed, what one line needs: the field,
 * the value and what is accepted. A caller's bug (a NULL where none is allowed) is an assertion;
 * a broken invariant aborts. The library never logs and a message never contains a loss. */
#ifndef CAUCUS_STATUS_H
#define CAUCUS_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CAUCUS_API __attribute__((visibility("default")))
#define CAUCUS_MUST_CHECK __attribute__((warn_unused_result))
#define CAUCUS_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CAUCUS_API
#define CAUCUS_MUST_CHECK
#define CAUCUS_PRINTF(fmt, args)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* One list gives the enum, the texts and the bindings. One meaning each: whoever acts on a failure looks at its status,
 * never at an error's words. */
#define CAUCUS_STATUS_LIST(X)                                                                                          \
    X(OK, "done")                                                                                                      \
    X(E_RANGE, "a value is outside what is accepted")                                                                  \
    X(E_INFEASIBLE, "no plan can satisfy all of what was asked")                                                       \
    X(E_ORDER, "a call came before the one it depends on")                                                             \
    X(E_DUPLICATE, "this item was counted already")                                                                    \
    X(E_BUDGET, "the privacy budget is exhausted")                                                                     \
    X(E_OVERFLOW, "sums could leave 62 bits")                                                                          \
    X(E_MEMORY, "out of memory")                                                                                       \
    X(E_RANDOM, "the system's random source failed")                                                                   \
    X(E_IO, "reading or writing failed")                                                                               \
    X(E_FORMAT, "a file or message is malformed")                                                                      \
    X(E_MISMATCH, "this belongs to another plan")                                                                      \
    X(E_PATH, "a file or directory that was named cannot be used")                                                     \
    X(E_EXISTS, "something else is there already")                                                                     \
    X(E_CONFLICT, "two things that were given do not belong together")                                                 \
    X(E_CHANGED, "a file changed while it was being read")                                                             \
    X(E_EXPIRED, "a certificate is outside the time for which it is valid")                                            \
    X(E_BUSY, "another process uses it")                                                                               \
    X(E_FULL, "the disk is full")                                                                                      \
    X(E_SAVE, "the state could not be saved")                                                                          \
    X(E_NETWORK, "an address cannot be reached or listened on")                                                        \
    X(E_PROGRAM, "another program is missing or failed")                                                               \
    X(E_LATER, "refused for now: come again later")                                                                    \
    X(E_STOPPED, "stopped before the end")                                                                             \
    X(E_REFUSED, "refused for good")                                                                                   \
    X(E_ROLLED_BACK, "this is an older copy: later decisions have been made")                                          \
    X(E_OVER, "the run is over")                                                                                       \
    X(E_DAMAGED, "what was kept is damaged: the run cannot go on")                                                     \
    X(E_LOST, "the state that this depends on is gone")                                                                \
    X(E_FENCED, "another coordinator has taken the run over")                                                          \
    X(E_UNKNOWN, "whether it was done is not known")

/** What became of a call. */
typedef enum caucus_status {
#define CAUCUS_STATUS_ENUM(name, text) CAUCUS_##name,
    CAUCUS_STATUS_LIST(CAUCUS_STATUS_ENUM)
#undef CAUCUS_STATUS_ENUM
        CAUCUS_STATUS_COUNT
} caucus_status;

/** What is known about a failure, in parts. A program makes one line of them, with its own names for the fields:
 *  "--epsilon 0: must be above 0", "--listen 127.0.0.1:80: Permission denied — another port, or 0 for any".
 *  Fixed: it is this large for ever, and what is added later is taken from `reserved`. Begin with `= {0}`. */
typedef struct caucus_error {
    char field[32];   /* the setting or argument at fault, as written in files; "" if none */
    char text[224];   /* what was wrong and what is accepted, without the field's name */
    char hint[160];   /* what would help; "" if nothing is known. Names of fields stand in single quotes: 'deadline' */
    uint64_t line;    /* of the file or text that was being read, from 1; 0: none, or the text names it */
    int32_t os_error; /* errno of what the system refused, 0 if it did not; its words are not in the text */
    uint32_t reserved[21]; /* 0 */
} caucus_error;

/** The text of a status, never NULL. */
CAUCUS_API const char *caucus_status_text(caucus_status status);

/** True for what was refused for good: neither coming again nor starting again can help (another plan, a budget that
 *  does not allow it, refused, rolled back, over, damaged, lost). */
CAUCUS_API bool caucus_status_is_final(caucus_status status);

/** Fill an error (NULL is allowed and ignored) and return the status, for `return caucus_fail(...)`. */
CAUCUS_API caucus_status caucus_fail(caucus_error *ret_error, caucus_status status, const char *field,
                                     const char *format, ...) CAUCUS_PRINTF(4, 5);
/** The same for what the system refused: os_error is its errno. CAUCUS_E_IO and CAUCUS_E_PATH become the more exact
 *  CAUCUS_E_FULL or CAUCUS_E_MEMORY where the errno says so, and CAUCUS_E_PATH becomes CAUCUS_E_IO where the path is
 *  not to blame; the status that is returned is the one to go by. */
CAUCUS_API caucus_status caucus_fail_os(caucus_error *ret_error, caucus_status status, int os_error, const char *field,
                                        const char *format, ...) CAUCUS_PRINTF(5, 6);
/** Add what would help to an error that was filled just now, and return the status. */
CAUCUS_API caucus_status caucus_fail_hint(caucus_error *ret_error, caucus_status status, const char *hint);

#ifdef __cplusplus
}
#endif
#endif
