/* SPDX-License-Identifier: Apache-2.0 */
/* status.c: texts of the statuses, and the one way an error line is written.
 * layer: num */
#include <caucus/status.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "num/fail.h"
#include "num/printable.h"

const char *caucus_status_text(caucus_status status) {
    switch (status) {
#define CAUCUS_STATUS_CASE(name, text)                                                                                 \
    case CAUCUS_##name:                                                                                                \
        return text;
        CAUCUS_STATUS_LIST(CAUCUS_STATUS_CASE)
#undef CAUCUS_STATUS_CASE
    case CAUCUS_STATUS_COUNT:
        break;
    }
    return "unknown status";
}

bool caucus_status_is_final(caucus_status status) {
    return status == CAUCUS_E_MISMATCH || status == CAUCUS_E_REFUSED || status == CAUCUS_E_ROLLED_BACK ||
           status == CAUCUS_E_OVER || status == CAUCUS_E_BUDGET || status == CAUCUS_E_DAMAGED ||
           status == CAUCUS_E_LOST;
}

/* An error is one line on somebody's terminal, and may quote what a stranger wrote. */
static void fill(caucus_error *ret, caucus_status status, int os_error, const char *field, const char *format,
                 va_list args) {
    if (ret == NULL)
        return;
    *ret = (caucus_error){.os_error = os_error};
    if (vsnprintf(ret->text, sizeof ret->text, format, args) < 0)
        (void)snprintf(ret->text, sizeof ret->text, "%s", caucus_status_text(status));
    (void)snprintf(ret->field, sizeof ret->field, "%s", field != NULL ? field : "");
    caucus_printable(ret->text);
    caucus_printable(ret->field);
}

caucus_status caucus_fail(caucus_error *ret_error, caucus_status status, const char *field, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fill(ret_error, status, 0, field, format, args);
    va_end(args);
    return status;
}

static caucus_status refine(caucus_status status, int os_error) {
    if (status != CAUCUS_E_IO && status != CAUCUS_E_PATH)
        return status;
    switch (os_error) {
    case ENOSPC:
    case EDQUOT:
        return CAUCUS_E_FULL;
    case ENOMEM:
        return CAUCUS_E_MEMORY;
    case EIO:
    case EROFS:
    case EMFILE:
    case ENFILE:
    case EINTR:
    case EAGAIN:
        return CAUCUS_E_IO;
    default:
        return status;
    }
}

caucus_status caucus_fail_os(caucus_error *ret_error, caucus_status status, int os_error, const char *field,
                             const char *format, ...) {
    status = refine(status, os_error);
    va_list args;
    va_start(args, format);
    fill(ret_error, status, os_error, field, format, args);
    va_end(args);
    return status;
}

caucus_status caucus_fail_hint(caucus_error *ret_error, caucus_status status, const char *hint) {
    if (ret_error != NULL) {
        (void)snprintf(ret_error->hint, sizeof ret_error->hint, "%s", hint);
        caucus_printable(ret_error->hint);
    }
    return status;
}

caucus_status caucus_fail_memory(caucus_error *ret_error, const char *field) {
    return caucus_fail(ret_error, CAUCUS_E_MEMORY, field, "%s", caucus_status_text(CAUCUS_E_MEMORY));
}
