/* status.c: texts of the statuses, and the one way an error line is written.
 * layer: num */
#include <caucus/status.h>

#include <stdarg.h>
#include <stdio.h>

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

/* An error is one line on somebody's terminal, and may quote what a stranger wrote: no control characters. */
static void one_line(char *text) {
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

caucus_status caucus_fail(caucus_error *ret_error, caucus_status status, const char *field, const char *format, ...) {
    if (ret_error == NULL)
        return status;
    va_list args;
    va_start(args, format);
    int written = vsnprintf(ret_error->text, sizeof ret_error->text, format, args);
    va_end(args);
    if (written < 0)
        (void)snprintf(ret_error->text, sizeof ret_error->text, "%s", caucus_status_text(status));
    (void)snprintf(ret_error->field, sizeof ret_error->field, "%s", field != NULL ? field : "");
    one_line(ret_error->text);
    one_line(ret_error->field);
    return status;
}
