/* SPDX-License-Identifier: Apache-2.0 */
/* screen.c: see screen.h. */
#include "cli/terminal/screen.h"

#include "num/number_text.h"

#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool caucus_screen_utf8(void) {
    return setlocale(LC_CTYPE, "") != NULL && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

int caucus_screen_width(int fd, int fallback) {
    enum { MOST = 10000 };
    struct winsize size;
    uint64_t columns = 0;
    const char *said = getenv("COLUMNS");
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;
    else if (said == NULL || !caucus_whole_parse(said, 1, MOST, &columns))
        return fallback;
    return columns < CAUCUS_SCREEN_LEAST ? CAUCUS_SCREEN_LEAST : (int)columns;
}

int caucus_screen_table_width(void) {
    return isatty(STDOUT_FILENO) == 1 ? caucus_screen_width(STDOUT_FILENO, 0) : 0;
}
