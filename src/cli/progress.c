/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c: see progress.h. */
#include "cli/progress.h"

#include "cli/clean_stderr.h"
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

void caucus_progress_begin(caucus_progress *ret, const char *label, int label_width) {
    *ret = (caucus_progress){.label = label,
                             .label_width = label_width,
                             .start = caucus_clock_seconds(),
                             .terminal = isatty(STDERR_FILENO) == 1};
    ret->lines = caucus_progress_by_lines && !ret->terminal;
    ret->drawn = ret->start;
}

/* Asked each time: windows change. The last column stays free, where some terminals would wrap. */
static int columns(void) {
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col - 1 : COLUMNS - 1;
}

/* "  label ━━━━   3/100  1.2 s": the bar takes what is left. Where that is little, the space that makes bars stand
 * under each other goes first, then the bar, then the label's end. */
static void draw(const caucus_progress *p, uint64_t done, uint64_t total, double seconds) {
    char counts[64];
    int after = snprintf(counts, sizeof counts, " %" PRIu64 "/%" PRIu64 "  %.1f s", done, total, seconds);
    int room = columns(), label = (int)strlen(p->label);
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
        fputs(i < full ? "━" : " ", to);
    fprintf(to, "%.*s", room > 2 + label ? room - 2 - label : 0, counts);
    fflush(to);
}

void caucus_progress_update(void *user, uint64_t done, uint64_t total) {
    caucus_progress *p = user;
    if ((!p->terminal && !p->lines) || total == 0)
        return;
    double t = caucus_clock_seconds();
    if (p->lines) {
        if (t - p->drawn >= LINE_SECONDS && done < total) {
            fprintf(stderr, "  %s %" PRIu64 "/%" PRIu64 "  %.0f s\n", p->label, done, total, t - p->start);
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

void caucus_progress_end(caucus_progress *progress) {
    if (progress->shown)
        fputc('\n', caucus_terminal());
    progress->shown = false;
}
