/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c: see progress.h. */
#include "cli/progress.h"

#include "cli/clean_stderr.h"
#include "cli/terminal/screen.h"
#include "store/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Seconds between two lines where there is no bar: few in a log, enough for somebody who looks. */
#define LINE_SECONDS 10.0

bool caucus_progress_by_lines;

enum { BAR = 40, BAR_LEAST = 4, COLUMNS = 80 };

void caucus_progress_begin(caucus_progress_bar *ret, const char *label, int label_width) {
    *ret = (caucus_progress_bar){.label = label,
                                 .label_width = label_width,
                                 .start = caucus_clock_seconds(),
                                 .terminal = isatty(STDERR_FILENO) == 1,
                                 .ascii = !caucus_screen_utf8()};
    ret->lines = caucus_progress_by_lines && !ret->terminal;
    ret->drawn = ret->start;
}

/* Asked each time: windows change. The last column stays free, where some terminals would wrap. */
static int columns(void) {
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col - 1 : COLUMNS - 1;
}

/* "38 s left", from how long what is done has taken; nothing before there is anything to go by. */
static int time_left(char *ret, size_t ret_bytes, uint64_t done, uint64_t total, double seconds) {
    const double left = done > 0 ? seconds * (double)(total - done) / (double)done : 0;
    if (done == 0 || done >= total)
        return snprintf(ret, ret_bytes, "%s", "");
    if (left < 99.5)
        return snprintf(ret, ret_bytes, ", %.0f s left", left);
    if (left < 99.5 * 60)
        return snprintf(ret, ret_bytes, ", %.0f min left", left / 60);
    if (left < 99.5 * 3600)
        return snprintf(ret, ret_bytes, ", %.0f h left", left / 3600);
    return snprintf(ret, ret_bytes, ", days left");
}

/* "  label ━━━━   3/100  1.2 s, 38 s left": the bar takes what is left. Where that is little, the time left goes first,
 * then the space that makes bars stand under each other, then the bar, then the label's end. */
static void draw(const caucus_progress_bar *p, uint64_t done, uint64_t total, double seconds) {
    char counts[64], left[32];
    int after = snprintf(counts, sizeof counts, " %" PRIu64 "/%" PRIu64 "  %.1f s", done, total, seconds);
    int room = columns(), label = (int)strlen(p->label);
    int more = time_left(left, sizeof left, done, total, seconds);
    if (2 + label + 1 + BAR_LEAST + after + more <= room && after + more < (int)sizeof counts) {
        memcpy(counts + after, left, (size_t)more + 1); /* the first to go where room is short */
        after += more;
    }
    if (label < p->label_width && 2 + p->label_width + 1 + BAR_LEAST + after <= room)
        label = p->label_width;
    int bar = room - 2 - label - 1 - after;
    bar = bar > BAR ? BAR : bar < BAR_LEAST ? 0 : bar;
    if (2 + label + after > room)
        label = room - 2 - after > 0 ? room - 2 - after : 0;
    FILE *to = caucus_terminal();
    fprintf(to, "\r\033[K  %-*.*s%s", label, label, p->label, bar > 0 ? " " : "");
    int full = (int)((uint64_t)done * (uint64_t)bar / total);
    for (int i = 0; i < bar; i++)
        fputs(i >= full ? " " : p->ascii ? "#" : "━", to);
    fprintf(to, "%.*s", room > 2 + label ? room - 2 - label : 0, counts);
    fflush(to);
}

void caucus_progress_update(void *user, uint64_t done, uint64_t total) {
    caucus_progress_bar *p = user;
    if ((!p->terminal && !p->lines) || total == 0)
        return;
    double t = caucus_clock_seconds();
    if (p->lines) {
        if (t - p->drawn >= LINE_SECONDS && done < total) {
            char left[32];
            (void)time_left(left, sizeof left, done, total, t - p->start);
            fprintf(stderr, "  %s %" PRIu64 "/%" PRIu64 "  %.0f s%s\n", p->label, done, total, t - p->start, left);
            p->drawn = t;
        }
        return;
    }
    bool last = done == total;
    if (t - p->start < 0.5 || (p->shown && !last && t - p->drawn < 0.1))
        return;
    draw(p, done, total, t - p->start);
    p->drawn = t;
    p->shown = true;
}

void caucus_progress_end(caucus_progress_bar *progress) {
    if (progress->shown)
        fputc('\n', caucus_terminal());
    progress->shown = false;
}
