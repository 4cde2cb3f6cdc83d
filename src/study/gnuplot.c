/* SPDX-License-Identifier: Apache-2.0 */
/* gnuplot.c: runs gnuplot and makes its SVG fit to stand in an HTML page. See parts.h.
 * layer: study
 *
 * No shell: gnuplot is spawned with its script, output and complaints in unnamed temporary files, so that nothing can
 * block. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study/parts.h"

extern char **environ;

static caucus_status read_all(FILE *file, caucus_text *ret, caucus_error *ret_error) {
    char buffer[16384];
    rewind(file);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        caucus_text_put(ret, buffer, n);
    if (ferror(file))
        return caucus_fail_os(ret_error, CAUCUS_E_IO, errno, "gnuplot", "its output cannot be read");
    return ret->failed ? caucus_fail(ret_error, CAUCUS_E_MEMORY, "gnuplot", "no memory for a figure") : CAUCUS_OK;
}

/* Run `gnuplot argument` with the three files as its standard streams; *ret_code as of waitpid. */
static caucus_status spawn(const char *argument, FILE *in, FILE *out, FILE *complaints, int *ret_code,
                           caucus_error *ret_error) {
    char program[] = "gnuplot", option[32];
    (void)snprintf(option, sizeof option, "%s", argument);
    char *argv[] = {program, option, NULL};
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, fileno(complaints), STDERR_FILENO);
    pid_t child = -1;
    if (error == 0)
        error = posix_spawnp(&child, program, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (error == ENOENT)
        return caucus_fail(ret_error, CAUCUS_E_PROGRAM, "gnuplot",
                           "not found; it draws the figures: apt-get install gnuplot-nox");
    if (error != 0)
        return caucus_fail_os(ret_error, CAUCUS_E_PROGRAM, error, "gnuplot", "cannot be started");
    while (waitpid(child, ret_code, 0) < 0)
        if (errno != EINTR)
            return caucus_fail_os(ret_error, CAUCUS_E_PROGRAM, errno, "gnuplot", "lost");
    return CAUCUS_OK;
}

static caucus_status run(const char *argument, const caucus_text *script, caucus_text *ret, caucus_error *ret_error) {
    FILE *in = tmpfile(), *out = tmpfile(), *complaints = tmpfile();
    caucus_text said = {0};
    int code = 0;
    caucus_status status = CAUCUS_OK;
    if (!in || !out || !complaints) {
        status = caucus_fail_os(ret_error, CAUCUS_E_IO, errno, "gnuplot", "no temporary file");
        goto out;
    }
    if (script && (fwrite(script->data, 1, script->length, in) != script->length || fflush(in) != 0)) {
        status = caucus_fail_os(ret_error, CAUCUS_E_IO, errno, "gnuplot", "its script cannot be written");
        goto out;
    }
    rewind(in);
    status = spawn(argument, in, out, complaints, &code, ret_error);
    if (status == CAUCUS_OK)
        status = read_all(out, ret, ret_error);
    if (status == CAUCUS_OK && (!WIFEXITED(code) || WEXITSTATUS(code) != 0)) {
        (void)read_all(complaints, &said, NULL);
        status = caucus_fail(ret_error, CAUCUS_E_PROGRAM, "gnuplot", "failed: %.150s",
                             said.data ? said.data : "without a word");
    }
out:
    caucus_text_free(&said);
    if (in)
        (void)fclose(in);
    if (out)
        (void)fclose(out);
    if (complaints)
        (void)fclose(complaints);
    return status;
}

caucus_status caucus_gnuplot_check(caucus_error *ret_error) {
    caucus_text version = {0};
    caucus_status status = run("--version", NULL, &version, ret_error);
    caucus_text_free(&version);
    return status;
}

caucus_status caucus_gnuplot_draw(const caucus_text *script, caucus_text *ret, caucus_error *ret_error) {
    caucus_status status = script->failed ? caucus_fail(ret_error, CAUCUS_E_MEMORY, "gnuplot", "no memory for a figure")
                                          : run("--default-settings", script, ret, ret_error);
    if (status == CAUCUS_OK && ret->length == 0)
        status = caucus_fail(ret_error, CAUCUS_E_PROGRAM, "gnuplot", "drew nothing");
    return status;
}

/* Copy, with `id-` put before every id and every reference to one. */
static void own_ids(const char *svg, const char *id, caucus_text *ret) {
    static const char *const marks[] = {"id=\"", "id='", "url(#", "href='#", "href=\"#"};
    while (*svg) {
        const char *next = NULL;
        size_t length = 0;
        for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
            const char *found = strstr(svg, marks[i]);
            if (found && (!next || found < next)) {
                next = found;
                length = strlen(marks[i]);
            }
        }
        if (!next)
            break;
        caucus_text_put(ret, svg, (size_t)(next - svg) + length);
        caucus_text_add(ret, "%s-", id);
        svg = next + length;
    }
    caucus_text_put(ret, svg, strlen(svg));
}

caucus_status caucus_gnuplot_svg(const caucus_text *script, const char *id, const char *title, const char *description,
                                 caucus_text *ret, caucus_error *ret_error) {
    caucus_text raw = {0};
    caucus_status status = caucus_gnuplot_draw(script, &raw, ret_error);
    if (status != CAUCUS_OK)
        goto out;
    /* Of the document only the element stays, and of its title only ours. */
    const char *open = raw.data ? strstr(raw.data, "<svg") : NULL;
    const char *title_end = open ? strstr(open, "</title>") : NULL;
    const char *end = open ? strchr(open, '>') : NULL;
    const char *view = open ? strstr(open, "viewBox=\"") : NULL;
    const char *view_end = view ? strchr(view + 9, '"') : NULL;
    if (!title_end || !end || !view_end || view_end > end) {
        status = caucus_fail(ret_error, CAUCUS_E_PROGRAM, "gnuplot", "wrote no SVG");
        goto out;
    }
    caucus_text_add(
        ret,
        "<svg role=\"img\" aria-labelledby=\"%s-title %s-about\" %.*s\" xmlns=\"http://www.w3.org/2000/svg\" "
        "xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n<title id=\"%s-title\">",
        id, id, (int)(view_end - view), view, id);
    caucus_text_html(ret, title, strlen(title));
    caucus_text_add(ret, "</title>\n<desc id=\"%s-about\">", id);
    caucus_text_html(ret, description, strlen(description));
    caucus_text_add(ret, "</desc>\n");
    const char *rest = title_end + strlen("</title>");
    const char *about = strstr(rest, "<desc>");
    const char *about_end = about ? strstr(about, "</desc>") : NULL;
    own_ids(about_end ? about_end + strlen("</desc>") : rest, id, ret);
out:
    caucus_text_free(&raw);
    return status;
}
