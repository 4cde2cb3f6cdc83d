/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_text.c: one ledger entry as one line of text, and back (ledger.h has the format).
 * layer: plan */
#include "num/number_text.h"
#include "plan/ledger.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 10 /* of a run; other entries, and runs of format 1, have one less */

static const char *const kind_words[] = {"?", "budget", "run", "release"};

/* Bytes of the character that begins here, 0 if it is none: UTF-8 without overlong forms, surrogates or what lies
 * beyond U+10FFFF. A name is shown in pages and JSON, which must be whole. */
static size_t character_bytes(const unsigned char *text, size_t length) {
    unsigned char c = text[0];
    size_t bytes = c < 0x80                 ? 1
                   : c >= 0xc2 && c <= 0xdf ? 2
                   : c >= 0xe0 && c <= 0xef ? 3
                   : c >= 0xf0 && c <= 0xf4 ? 4
                                            : 0;
    if (bytes == 0 || bytes > length)
        return 0;
    for (size_t i = 1; i < bytes; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f) || (c == 0xf0 && text[1] < 0x90) ||
        (c == 0xf4 && text[1] > 0x8f))
        return 0;
    return bytes;
}

/* Control characters, the two-byte ones of UTF-8 (U+0080 to U+009F) included, could forge lines or move a terminal. */
static bool is_name(const char *text, size_t length) {
    if (length == 0 || length >= CAUCUS_RUN_NAME_BYTES || text[0] == ' ' || text[length - 1] == ' ')
        return false;
    const unsigned char *byte = (const unsigned char *)text;
    for (size_t i = 0, bytes; i < length; i += bytes) {
        bytes = character_bytes(byte + i, length - i);
        if (bytes == 0 || byte[i] < 0x20 || byte[i] == 0x7f || (byte[i] == 0xc2 && byte[i + 1] < 0xa0))
            return false;
    }
    return true;
}

bool caucus_ledger_text_name(const char *name, const char *suffix, char *ret) {
    size_t length = name != NULL ? strnlen(name, CAUCUS_RUN_NAME_BYTES) : 0;
    if (!is_name(name, length) || (suffix != NULL && length > CAUCUS_LEDGER_NAME_MAX))
        return false;
    (void)snprintf(ret, CAUCUS_RUN_NAME_BYTES, "%s%s%s", name, suffix != NULL ? " " : "", suffix != NULL ? suffix : "");
    return is_name(ret, strnlen(ret, CAUCUS_RUN_NAME_BYTES));
}

static void amount_text(uint64_t amount, char *ret, size_t bytes) {
    if (amount == UINT64_MAX)
        (void)snprintf(ret, bytes, "infinite");
    else
        (void)snprintf(ret, bytes, "%llu", (unsigned long long)amount);
}

/* printf's radix character is skipped, so no locale shows. */
long caucus_ledger_text_decimal(double value, char *ret) {
    for (int precision = 0;; precision++) {
        char printed[64];
        (void)snprintf(printed, sizeof printed, "%.*e", precision, value);
        size_t used = 0;
        const char *c = printed;
        for (; *c != '\0' && *c != 'e'; c++)
            if (*c >= '0' && *c <= '9' && used < 20)
                ret[used++] = *c;
        ret[used] = '\0';
        const long exponent = (*c == 'e' ? strtol(c + 1, NULL, 10) : 0) - precision;
        (void)snprintf(printed, sizeof printed, "%.20se%ld", ret, exponent);
        if (precision == 16 || strtod(printed, NULL) == value) /* 17 digits tell all doubles apart */
            return exponent;
    }
}

/* "25e-8". */
static void delta_text(double delta, char *ret, size_t bytes) {
    char digits[32];
    if (delta == 0) {
        (void)snprintf(ret, bytes, "0");
        return;
    }
    const long exponent = caucus_ledger_text_decimal(delta, digits);
    (void)snprintf(ret, bytes, "%.20se%ld", digits, exponent);
}

/* The line up to the tab before the hash. Returns its length; 0 if it does not fit. */
static size_t body(const caucus_entry *e, char *ret, size_t bytes) {
    char number[24], choices[24], messages[24], delta[40], clients[24] = "";
    if (e->kind == CAUCUS_ENTRY_RUN)
        amount_text(e->device, number, sizeof number);
    else
        (void)snprintf(number, sizeof number, "%llu", (unsigned long long)e->block);
    if (e->kind == CAUCUS_ENTRY_RUN && e->block != 0)
        (void)snprintf(clients, sizeof clients, "\t%llu", (unsigned long long)e->block);
    amount_text(e->choices, choices, sizeof choices);
    amount_text(e->messages, messages, sizeof messages);
    delta_text(e->delta, delta, sizeof delta);
    int length = snprintf(ret, bytes, "%s\t%lu\t%s\t%s\t%s\t%s\t%s\t%s%s", kind_words[e->kind], (unsigned long)e->run,
                          number, e->what, e->seeded ? "seeded" : "private", choices, messages, delta, clients);
    return length > 0 && (size_t)length < bytes ? (size_t)length : 0;
}

caucus_status caucus_ledger_text_line(const caucus_entry *entry, char *ret, size_t ret_bytes) {
    const size_t hex = 2 * CAUCUS_HASH_BYTES + 1; /* with the final 0 */
    char text[CAUCUS_LEDGER_LINE_BYTES];
    size_t length = body(entry, text, sizeof text);
    if (length == 0 || length + 1 + hex > ret_bytes)
        return CAUCUS_E_RANGE;
    memcpy(ret, text, length);
    ret[length] = '\t';
    sodium_bin2hex(ret + length + 1, hex, entry->hash, sizeof entry->hash);
    return CAUCUS_OK;
}

void caucus_ledger_text_hash(const caucus_entry *entry, const uint8_t *previous, uint8_t *ret) {
    char text[CAUCUS_LEDGER_LINE_BYTES];
    size_t length = body(entry, text, sizeof text);
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, previous, CAUCUS_HASH_BYTES);
    crypto_hash_sha256_update(&state, (const unsigned char *)text, length);
    crypto_hash_sha256_final(&state, ret);
}

static bool parse_amount(const char *text, uint64_t *ret) {
    if (strcmp(text, "infinite") == 0) {
        *ret = UINT64_MAX;
        return true;
    }
    return caucus_whole_parse(text, 0, UINT64_MAX - 1, ret);
}

static bool parse_delta(const char *text, double *ret) {
    if (text[0] < '0' || text[0] > '9' || strspn(text, "0123456789e-") != strlen(text))
        return false;
    char *end;
    double value = strtod(text, &end);
    if (*end != '\0' || !(value >= 0 && value < 1))
        return false;
    *ret = value;
    return true;
}

static bool parse_hash(const char *text, uint8_t *ret) {
    size_t bytes;
    return strlen(text) == 2 * CAUCUS_HASH_BYTES &&
           sodium_hex2bin(ret, CAUCUS_HASH_BYTES, text, 2 * CAUCUS_HASH_BYTES, NULL, &bytes, NULL) == 0 &&
           bytes == CAUCUS_HASH_BYTES;
}

/* Cut at the tabs, in place. Returns the number of fields, FIELDS + 1 if there are more. */
static size_t split(char *text, char **field) {
    size_t count = 0;
    for (;;) {
        if (count == FIELDS)
            return FIELDS + 1;
        field[count++] = text;
        char *tab = strchr(text, '\t');
        if (tab == NULL)
            return count;
        *tab = '\0';
        text = tab + 1;
    }
}

static const char *parse_fields(char **field, size_t count, caucus_entry *ret) {
    uint64_t run;
    *ret = (caucus_entry){0};
    for (int kind = CAUCUS_ENTRY_BUDGET; kind <= CAUCUS_ENTRY_RELEASE; kind++)
        if (strcmp(field[0], kind_words[kind]) == 0)
            ret->kind = (caucus_entry_kind)kind;
    if ((int)ret->kind == 0)
        return "field 1 is not budget, run or release";
    if (!caucus_whole_parse(field[1], 0, UINT32_MAX, &run) ||
        !(ret->kind == CAUCUS_ENTRY_RUN ? parse_amount(field[2], &ret->device)
                                        : caucus_whole_parse(field[2], 0, UINT64_MAX, &ret->block)))
        return "fields 2 and 3 are not numbers of a run and a block";
    ret->run = (uint32_t)run;
    if (!is_name(field[3], strlen(field[3])))
        return "field 4 is not a name";
    memcpy(ret->what, field[3], strlen(field[3]) + 1);
    ret->seeded = strcmp(field[4], "seeded") == 0;
    if (!ret->seeded && strcmp(field[4], "private") != 0)
        return "field 5 is not private or seeded";
    if (!parse_amount(field[5], &ret->choices) || !parse_amount(field[6], &ret->messages))
        return "fields 6 and 7 are not amounts";
    if (!parse_delta(field[7], &ret->delta))
        return "field 8 is not a delta";
    if (ret->kind == CAUCUS_ENTRY_RUN && count == FIELDS && !caucus_whole_parse(field[8], 1, UINT64_MAX, &ret->block))
        return "field 9 is not a number of clients";
    return parse_hash(field[count - 1], ret->hash) ? NULL : "the last field is not a SHA-256 hash: torn or altered";
}

const char *caucus_ledger_text_parse(const char *line, caucus_entry *ret) {
    char text[CAUCUS_LEDGER_LINE_BYTES], again[CAUCUS_LEDGER_LINE_BYTES];
    char *field[FIELDS];
    size_t length = strnlen(line, sizeof text);
    if (length == sizeof text)
        return "longer than any entry";
    memcpy(text, line, length + 1);
    size_t count = split(text, field);
    if (count < FIELDS - 1 || count > FIELDS)
        return count < FIELDS ? "fewer than nine fields: torn or altered" : "more than ten fields";
    const char *wrong = parse_fields(field, count, ret);
    if (wrong != NULL)
        return wrong;
    if (caucus_ledger_text_line(ret, again, sizeof again) != CAUCUS_OK || strcmp(line, again) != 0)
        return "not written the way entries are written";
    return NULL;
}
