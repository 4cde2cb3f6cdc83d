/* SPDX-License-Identifier: Apache-2.0 */
/* make_vectors.c: writes docs/vectors:   build/tests/make_vectors docs/vectors
 *
 * To be run when the protocol has grown. What is there already must not change within a version of the protocol:
 * tests/vectors/same.sh compares the committed files with what this program writes. */
#include <string.h>

#include "vectors.h"

static const struct {
    const char *name;
    void (*write)(caucus_json *json);
} files[] = {{"grid.json", write_grid},         {"streams.json", write_streams}, {"samplers.json", write_samplers},
             {"messages.json", write_messages}, {"runs.json", write_runs},       {"relays.json", write_relays}};

int main(int argc, char **argv) {
    need(argc == 2, "usage: make_vectors DIRECTORY");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[512];
        caucus_json json;
        need((size_t)snprintf(path, sizeof path, "%s/%s", argv[1], files[i].name) < sizeof path,
             "the path is too long");
        FILE *out = fopen(path, "w");
        need(out != NULL, path);
        caucus_json_begin(&json, out, false);
        caucus_json_whole(&json, "protocol", CAUCUS_WIRE_VERSION);
        files[i].write(&json);
        caucus_json_end(&json);
        need(ferror(out) == 0, path);
        need(fclose(out) == 0, path);
    }
    return 0;
}
