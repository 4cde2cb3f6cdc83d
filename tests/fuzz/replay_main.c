/* SPDX-License-Identifier: Apache-2.0 */
/* replay_main.c: runs a fuzz target on every file of a directory, without a fuzzer.
 *
 * So every input that ever mattered is tried again by every test run, with any compiler. An empty or
 * missing directory fails: a test that checks nothing must not pass. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One file through the target. Returns 0, or -1 if it cannot be read. */
static int replay(const char *path) {
    int result = -1;
    uint8_t *data = NULL;
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (file == NULL || fstat(fileno(file), &info) != 0)
        goto out;
    size_t size = (size_t)info.st_size;
    data = malloc(size > 0 ? size : 1); /* exactly the input's size, so that a sanitizer sees an over-read */
    if (data == NULL || fread(data, 1, size, file) != size)
        goto out;
    LLVMFuzzerTestOneInput(data, size);
    result = 0;
out:
    free(data);
    if (file != NULL)
        fclose(file);
    return result;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    DIR *directory = opendir(argv[1]);
    if (directory == NULL) {
        perror(argv[1]);
        return 1;
    }
    unsigned count = 0;
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        if (length < 0 || (size_t)length >= sizeof path || replay(path) != 0) {
            perror(entry->d_name);
            failed = 1;
        }
        count++;
    }
    closedir(directory);
    printf("%u inputs replayed from %s\n", count, argv[1]);
    return failed || count == 0;
}
