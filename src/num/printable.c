/* SPDX-License-Identifier: Apache-2.0 */
/* printable.c: see printable.h. Well-formed is what RFC 3629 says: no overlong forms, no surrogates, nothing above
 * U+10FFFF.
 * layer: num */
#include "num/printable.h"

#include <stdint.h>
#include <string.h>

/* Bytes of the printable character that begins here; 0: there is none. */
static size_t character(const uint8_t *at, size_t left) {
    if (at[0] < 0x80)
        return at[0] >= 0x20 && at[0] != 0x7f;
    size_t bytes = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || left < bytes)
        return 0;
    for (size_t i = 1; i < bytes; i++)
        if ((at[i] & 0xc0u) != 0x80u)
            return 0;
    const unsigned two = (unsigned)at[0] << 8 | at[1];
    const int wrong = (two >= 0xc280 && two <= 0xc29f) ||                                     /* U+0080 to U+009F */
                      (two >= 0xe080 && two <= 0xe09f) || (two >= 0xf080 && two <= 0xf08f) || /* overlong */
                      (two >= 0xeda0 && two <= 0xedbf) || (two >= 0xf490 && two <= 0xf4bf);   /* no characters */
    return wrong ? 0 : bytes;
}

void caucus_printable_bytes(char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        size_t bytes = character((const uint8_t *)text + i, length - i);
        if (bytes == 0) {
            text[i] = '?';
            bytes = 1;
        }
        i += bytes;
    }
}

void caucus_printable(char *text) {
    caucus_printable_bytes(text, strlen(text));
}
