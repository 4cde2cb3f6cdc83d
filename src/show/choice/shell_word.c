/* SPDX-License-Identifier: Apache-2.0 */
/* shell_word.c: see shell_word.h. */
#include "show/choice/shell_word.h"

#include <string.h>

void caucus_shell_word(FILE *out, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word += strcspn(word, "'")) { /* stretches, so that no character is cut in two */
        while (*word == '\'') {
            fputs("'\\''", out);
            word++;
        }
        fprintf(out, "%.*s", (int)strcspn(word, "'"), word);
    }
    fputc('\'', out);
}
