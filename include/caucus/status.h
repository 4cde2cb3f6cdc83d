/* status.h: how the library says what went wrong.
 * layer: num
 *
 * Every function that can fail returns a caucus_status, which must be looked at. Hostile or
 * wrong input gives a status and, where a caucus_error is passed, one line that names the field,
 * the value and what is accepted. A caller's bug (a NULL where none is allowed) is an assertion;
 * a broken invariant aborts. The library never logs and a message never contains a loss. */
#ifndef CAUCUS_STATUS_H
#define CAUCUS_STATUS_H

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

/* One list gives the enum, the texts and the bindings. */
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
    X(E_IO, "a file could not be read or written")                                                                     \
    X(E_FORMAT, "a file or message is malformed")                                                                      \
    X(E_MISMATCH, "this belongs to another plan")

typedef enum caucus_status {
#define CAUCUS_STATUS_ENUM(name, text) CAUCUS_##name,
    CAUCUS_STATUS_LIST(CAUCUS_STATUS_ENUM)
#undef CAUCUS_STATUS_ENUM
        CAUCUS_STATUS_COUNT
} caucus_status;

/** One line about a failure: "epsilon: 0 (accepted: above 0, at most 1000; or infinite)". */
typedef struct caucus_error {
    char field[32]; /* the setting or argument at fault, as written in files; "" if none */
    char text[224]; /* what was wrong and what is accepted, without the field's name */
} caucus_error;

/** The text of a status, never NULL. */
CAUCUS_API const char *caucus_status_text(caucus_status status);

/** Fill an error (NULL is allowed and ignored) and return the status, for `return caucus_fail(...)`. */
CAUCUS_API caucus_status caucus_fail(caucus_error *ret_error, caucus_status status, const char *field,
                                     const char *format, ...) CAUCUS_PRINTF(4, 5);

#ifdef __cplusplus
}
#endif
#endif
