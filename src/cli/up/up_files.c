/* SPDX-License-Identifier: Apache-2.0 */
/* up_files.c: the directory of a live federation: made, and removed without trace. See up.h. */
#include "cli/options.h"
#include "cli/up/up.h"
#include "dial/certify.h"
#include "num/error_line.h"
#include "store/atomic_folder.h"
#include <caucus/plan_file.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void caucus_up_file(const caucus_up *u, caucus_up_path ret, const char *format, ...) {
    char name[64];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(name, sizeof name, format, args);
    va_end(args);
    (void)snprintf(ret, sizeof(caucus_up_path), "%s/%s", u->dir, name);
}

/* The directory, certificates and the plan. */
int caucus_up_make_files(caucus_up *u) {
    char path[sizeof(caucus_up_path)], line[CAUCUS_ERROR_LINE_BYTES];
    caucus_error error = {0};
    const char *temporary = getenv("TMPDIR");
    if (u->keep && strlen(u->keep) < CAUCUS_UP_PATH_BYTES && mkdir(u->keep, 0700) == 0)
        (void)snprintf(u->dir, sizeof u->dir, "%s", u->keep);
    else if (u->keep)
        return caucus_up_say("--keep %s: %s — give a directory that does not exist yet", u->keep, strerror(errno)),
               CAUCUS_EXIT_USAGE;
    else if (snprintf(u->dir, sizeof u->dir, "%s/caucus-up-XXXXXX", temporary && temporary[0] ? temporary : "/tmp") >=
                 (int)sizeof u->dir ||
             !mkdtemp(u->dir)) {
        caucus_up_say("%s: %s — set TMPDIR to a directory that can be written to", u->dir, strerror(errno));
        u->dir[0] = '\0';
        return CAUCUS_EXIT_FAILED;
    }
    caucus_up_file(u, path, "certs");
    caucus_certify_settings certify = {
        .dir = path, .clients = u->prepared.plan[0]->settings.clients, .days = 1, .stop = &caucus_up_stop};
    caucus_status status = caucus_certify(&certify, &error);
    if (status == CAUCUS_OK) {
        caucus_up_file(u, path, "plan.yaml");
        status = caucus_plan_file_write(u->prepared.plan[0], path, false, &error);
    }
    if (status == CAUCUS_OK || caucus_up_stop)
        return status == CAUCUS_OK ? 0 : CAUCUS_EXIT_FAILED;
    caucus_error_line(&error, status, line);
    caucus_up_say("%s%s%s", error.field, error.field[0] ? ": " : "", line);
    return CAUCUS_EXIT_FAILED;
}

void caucus_up_remove_files(const caucus_up *u) {
    if (u->dir[0] && u->keep)
        fprintf(stderr, "caucus up: kept in %s\n", u->dir);
    else if (u->dir[0])
        caucus_folder_remove(u->dir);
}
