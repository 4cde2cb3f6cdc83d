/* SPDX-License-Identifier: Apache-2.0 */
/* html.c: see html.h. */
#include "store/html.h"

#include <stddef.h>

const char *caucus_html_entity(char character) {
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void caucus_html_put(FILE *to, const char *text) {
    for (; *text != '\0'; text++) {
        const char *entity = caucus_html_entity(*text);
        if (entity != NULL)
            (void)fputs(entity, to);
        else
            (void)fputc(*text, to);
    }
}
