/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c: see ranks.h. */
#include "cli/ranks.h"

#include "cli/options.h"
#include "data/movielens.h"

#include <dirent.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HASH_BYTES 32u
#define PIECE_BYTES (1u << 20)

int caucus_cli_agree_code(const caucus_ranks *ranks, int code) {
    if (!caucus_ranks_any(ranks, code != 0))
        return 0;
    return code != 0 ? code : CAUCUS_RANKS_EXIT_ELSEWHERE;
}

int caucus_cli_share_code(const caucus_ranks *ranks, int code) {
    return caucus_cli_agree_code(ranks, caucus_ranks_first(ranks) ? code : 0);
}

/* The bytes of a file, read rather than mapped: what is hashed takes no memory. What cannot be read counts as empty:
 * the verb itself says what is wrong with it. */
static void hash_file(crypto_generichash_state *state, const char *path) {
    uint8_t *piece = malloc(PIECE_BYTES);
    FILE *in = piece != NULL ? fopen(path, "rbe") : NULL;
    size_t count;
    while (in != NULL && (count = fread(piece, 1, PIECE_BYTES, in)) > 0)
        crypto_generichash_update(state, piece, count);
    if (in != NULL)
        (void)fclose(in);
    free(piece);
}

/* Neither the folder itself nor what is hidden in it. */
static int listed(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void hash_folder(crypto_generichash_state *state, const char *path) {
    struct dirent **entry = NULL;
    const int count = scandir(path, &entry, listed, alphasort);
    for (int i = 0; i < count; i++) {
        char name[4096];
        struct stat info;
        (void)snprintf(name, sizeof name, "%s/%s", path, entry[i]->d_name);
        if (stat(name, &info) == 0 && S_ISREG(info.st_mode)) {
            crypto_generichash_update(state, (const uint8_t *)entry[i]->d_name, strlen(entry[i]->d_name) + 1);
            hash_file(state, name);
        }
        free(entry[i]);
    }
    free(entry);
}

int caucus_cli_same_input(const caucus_ranks *ranks, const char *verb, const char *path) {
    uint8_t here[HASH_BYTES], first[HASH_BYTES];
    crypto_generichash_state state;
    struct stat info;
    int code = 0;
    if (ranks == NULL || path == NULL)
        return 0;
    crypto_generichash_init(&state, NULL, 0, sizeof here);
    if (stat(path, &info) != 0)
        crypto_generichash_update(&state, (const uint8_t *)"absent", 6);
    else if (S_ISDIR(info.st_mode))
        hash_folder(&state, path);
    else
        hash_file(&state, path);
    crypto_generichash_final(&state, here, sizeof here);
    memcpy(first, here, sizeof first);
    if (ranks->share(first, sizeof first) == CAUCUS_OK && memcmp(first, here, sizeof here) != 0)
        code = caucus_usage(verb, "%s: rank %u reads something else there than rank 0 — give all machines the same",
                            path, ranks->rank);
    return caucus_cli_agree_code(ranks, code);
}

int caucus_cli_same_movielens(const caucus_ranks *ranks, const char *verb, const char *data) {
    if (data != NULL)
        return caucus_cli_same_input(ranks, verb, data);
    int code = caucus_cli_same_input(ranks, verb, CAUCUS_MOVIELENS_HERE);
    return code != 0 ? code : caucus_cli_same_input(ranks, verb, CAUCUS_MOVIELENS_SHARED);
}

const char *caucus_cli_gone(const caucus_ranks *ranks) {
    static char text[40];
    int64_t rank = ranks != NULL ? ranks->gone() : -1;
    if (rank < 0)
        return "";
    (void)snprintf(text, sizeof text, "rank %lld is gone, ", (long long)rank);
    return text;
}
