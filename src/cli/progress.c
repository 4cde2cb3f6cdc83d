/* progress.c: see progress.h. */
#include "cli/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 40 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void caucus_progress_begin(caucus_progress *ret, const char *label, int label_width) {
    *ret = (caucus_progress){
        .label = label, .label_width = label_width, .start = now(), .terminal = isatty(STDERR_FILENO) == 1};
}

void caucus_progress_update(void *user, uint32_t done, uint32_t total) {
    caucus_progress *p = user;
    if (!p->terminal || total == 0)
        return;
    double t = now();
    bool last = done == total;
    if (t - p->start < 0.5 || (p->shown && !last && t - p->drawn < 0.1))
        return;
    uint32_t full = (uint32_t)((uint64_t)done * BAR / total);
    fprintf(stderr, "\r  %-*s ", p->label_width, p->label);
    for (uint32_t i = 0; i < BAR; i++)
        fputs(i < full ? "━" : " ", stderr);
    fprintf(stderr, " %u/%u  %.1f s ", done, total, t - p->start);
    fflush(stderr);
    p->drawn = t;
    p->shown = true;
}

void caucus_progress_end(caucus_progress *progress) {
    if (progress->shown)
        fputc('\n', stderr);
    progress->shown = false;
}
