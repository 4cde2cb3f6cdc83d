/* SPDX-License-Identifier: Apache-2.0 */
/* number_text.c: see number_text.h. */
#include "num/number_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void caucus_real_text(double value, char ret[CAUCUS_REAL_TEXT_BYTES]) {
    for (int digits = 15; digits <= 17; digits++) { /* 17 always suffice (IEEE 754, 5.12.2) */
        (void)snprintf(ret, CAUCUS_REAL_TEXT_BYTES, "%.*g", digits, value);
        if (strtod(ret, NULL) == value)
            return;
    }
}

void caucus_real_apart(double value, double other, int digits, char ret[CAUCUS_REAL_TEXT_BYTES]) {
    char beside[CAUCUS_REAL_TEXT_BYTES];
    for (;; digits++) {
        (void)snprintf(ret, CAUCUS_REAL_TEXT_BYTES, "%.*g", digits, value);
        (void)snprintf(beside, sizeof beside, "%.*g", digits, other);
        if (value == other || digits >= 17 || strcmp(ret, beside) != 0)
            return;
    }
}

bool caucus_digits_parse(const char *text, size_t length, uint64_t most, uint64_t *ret) {
    uint64_t value = 0;
    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (digit > most || value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret = value;
    return true;
}

bool caucus_whole_parse(const char *text, uint64_t least, uint64_t most, uint64_t *ret) {
    uint64_t value;
    if (!caucus_digits_parse(text, strlen(text), most, &value) || value < least)
        return false;
    *ret = value;
    return true;
}

bool caucus_real_parse(const char *text, double *ret) {
    if (text[0] == '\0' || text[strspn(text, "+-.0123456789eE")] != '\0')
        return false;
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value))
        return false;
    *ret = value;
    return true;
}
