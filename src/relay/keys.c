/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c: see keys.h. */
#include "relay/keys.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "num/fail.h"
#include "num/number_text.h"
#include "store/atomic_file.h"

static const char secret_head[] = "caucus relay key 1", public_head[] = "caucus relay public key 1";

/* The next line, without its end. False: there is none. */
static bool next_line(FILE *from, char *ret, size_t room) {
    if (!fgets(ret, (int)room, from))
        return false;
    ret[strcspn(ret, "\r\n")] = '\0';
    return true;
}

static bool from_hex(const char *text, uint8_t *ret, size_t bytes) {
    size_t used = 0;
    return strlen(text) == 2 * bytes && sodium_hex2bin(ret, bytes, text, 2 * bytes, NULL, &used, NULL) == 0 &&
           used == bytes;
}

/* A head and a number in hexadecimal. */
static caucus_status read_key(const char *path, const char *field, const char *head, uint8_t *ret, size_t bytes,
                              caucus_error *ret_error) {
    char line[160] = "";
    FILE *file = fopen(path, "r");
    if (!file)
        return caucus_fail_path(ret_error, CAUCUS_E_PATH, field, path);
    const bool good = next_line(file, line, sizeof line) && strcmp(line, head) == 0 &&
                      next_line(file, line, sizeof line) && from_hex(line, ret, bytes);
    fclose(file);
    sodium_memzero(line, sizeof line);
    return good ? CAUCUS_OK
                : caucus_fail_hint(
                      ret_error,
                      caucus_fail(ret_error, CAUCUS_E_FORMAT, field, "%.100s: not a file with '%s'", path, head),
                      "it is made together with the certificates of relays");
}

caucus_status caucus_keys_read_secret(const char *path, const char *field, caucus_seal_owner *ret,
                                      caucus_error *ret_error) {
    caucus_seal_owner made;
    caucus_status status = read_key(path, field, secret_head, made.secret_key, sizeof made.secret_key, ret_error);
    if (status == CAUCUS_OK) {
        (void)crypto_sign_ed25519_sk_to_pk(made.public_key, made.secret_key);
        *ret = made;
    }
    sodium_memzero(&made, sizeof made);
    return status;
}

caucus_status caucus_keys_read_public(const char *path, const char *field, uint8_t ret[32], caucus_error *ret_error) {
    return read_key(path, field, public_head, ret, 32, ret_error);
}

/* "7 3f…": false: it is something else. */
static bool read_entry(char *line, uint32_t least, caucus_relay_entry *ret) {
    char *rest = NULL, *number = strtok_r(line, " \t", &rest), *key = strtok_r(NULL, " \t", &rest);
    uint64_t value = 0;
    if (!number || !key || strtok_r(NULL, " \t", &rest) || !caucus_whole_parse(number, least, UINT16_MAX, &value))
        return false;
    ret->number = (uint16_t)value;
    return from_hex(key, ret->key, sizeof ret->key);
}

caucus_status caucus_keys_read_list(const char *path, const char *field, caucus_relay_entry **ret, uint32_t *ret_count,
                                    caucus_error *ret_error) {
    FILE *file = fopen(path, "r");
    if (!file)
        return caucus_fail_path(ret_error, CAUCUS_E_PATH, field, path);
    caucus_relay_entry *list = calloc(CAUCUS_RELAYS_MAX, sizeof *list);
    if (!list) {
        fclose(file);
        return caucus_fail_memory(ret_error, field);
    }
    uint32_t count = 0, number = 0;
    char line[256];
    caucus_status status = CAUCUS_OK;
    while (status == CAUCUS_OK && next_line(file, line, sizeof line)) {
        number++;
        if (line[strspn(line, " \t")] == '\0' || line[0] == '#')
            continue;
        const uint32_t least = count > 0 ? list[count - 1].number + 1u : 1u;
        if (count == CAUCUS_RELAYS_MAX || !read_entry(line, least, &list[count]))
            status =
                caucus_fail(ret_error, CAUCUS_E_FORMAT, field,
                            "%.100s, line %u: a number (from %u on, rising) and a public key are expected, at most "
                            "%u of them",
                            path, number, least, CAUCUS_RELAYS_MAX);
        count++;
    }
    fclose(file);
    if (status == CAUCUS_OK && count == 0)
        status = caucus_fail(ret_error, CAUCUS_E_FORMAT, field, "%.100s: no relay is listed", path);
    if (status != CAUCUS_OK) {
        free(list);
        return status;
    }
    *ret = list;
    *ret_count = count;
    return CAUCUS_OK;
}

static bool write_hex(FILE *to, const uint8_t *from, size_t bytes) {
    char hex[2 * 64 + 1];
    const bool good = fprintf(to, "%s\n", sodium_bin2hex(hex, sizeof hex, from, bytes)) > 0;
    sodium_memzero(hex, sizeof hex);
    return good;
}

bool caucus_keys_write_secret(FILE *to, const caucus_seal_owner *owner) {
    return fprintf(to, "%s\n", secret_head) > 0 && write_hex(to, owner->secret_key, sizeof owner->secret_key);
}

bool caucus_keys_write_public(FILE *to, const uint8_t key[32]) {
    return fprintf(to, "%s\n", public_head) > 0 && write_hex(to, key, 32);
}

bool caucus_keys_write_listed(FILE *to, uint16_t number, const uint8_t key[32]) {
    return fprintf(to, "%u ", number) > 0 && write_hex(to, key, 32);
}
