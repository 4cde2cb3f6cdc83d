/* SPDX-License-Identifier: Apache-2.0 */
/* up_page.c: who looks at the status page of `caucus up`, and how long it stays. See up.h.
 *
 * A run takes seconds, a browser may take as long to start. So where a page was opened the coordinator stays when the
 * run is over: at a terminal until somebody presses Enter, elsewhere until the page has been loaded once. */
#include "cli/browser.h"
#include "cli/options.h"
#include "cli/up/up.h"
#include "dial/address.h"
#include "store/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define LOAD_SECONDS 30.0 /* for a browser to begin; without a terminal nobody waits longer */
#define REST_SECONDS 1.0  /* after the page itself, for its style and script */

/* A person sits at all three streams, and this is not a job in the background. */
static bool at_terminal(void) {
    return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1 &&
           tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* A demonstration shows its page on this machine: it has no token to keep others away. */
static int check_place(const char *http) {
    caucus_address place;
    caucus_error error = {0};
    caucus_status status = caucus_address_resolve(http, "http", true, &place, &error);
    if (status != CAUCUS_OK) {
        caucus_usage("up", "--http %s", error.text);
        return caucus_exit_code(status);
    }
    if (!place.loopback)
        return caucus_usage("up", "--http %s: must be on this machine, 127.0.0.1:PORT or [::1]:PORT", http);
    return 0;
}

int caucus_up_page_wanted(caucus_up *u) {
    int code = u->http ? check_place(u->http) : 0;
    if (code != 0)
        return code;
    const char *when = u->open ? u->open : "auto";
    if (strcmp(when, "yes") != 0 && strcmp(when, "no") != 0 && strcmp(when, "auto") != 0)
        return caucus_usage("up", "--open %s: must be yes, no or auto", when);
    bool automatic = strcmp(when, "auto") == 0;
    u->opens = strcmp(when, "yes") == 0 || (automatic && at_terminal() && caucus_browser_there());
    return 0;
}

void caucus_up_page_open(caucus_up *u) {
    if (!u->page[0])
        return;
    caucus_usage("up", "status page %s", u->page);
    u->opened = u->opens && caucus_browser_open(u->page);
    if (u->opens && !u->opened)
        caucus_usage("up", "it could not be opened: %s — open it yourself, or set BROWSER to a command that can",
                     strerror(errno));
}

static void wait_for_enter(caucus_up *u) {
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    (void)tcflush(STDIN_FILENO, TCIFLUSH); /* keys pressed before this was said */
    caucus_usage("up", "the status page stays at %s — Enter or Ctrl-C ends it", u->page);
    while (!caucus_up_stop && caucus_up_listen(u, 0))
        if (poll(&keys, 1, 200) > 0) {
            char line[256]; /* not left for the shell to read */
            (void)!read(STDIN_FILENO, line, sizeof line);
            return;
        }
}

static void wait_for_browser(caucus_up *u) {
    double until = caucus_clock_seconds() + LOAD_SECONDS;
    while (!caucus_up_stop && !u->shown && caucus_clock_seconds() < until && caucus_up_listen(u, 100))
        continue;
    until = caucus_clock_seconds() + (u->shown ? REST_SECONDS : 0);
    while (!caucus_up_stop && caucus_clock_seconds() < until && caucus_up_listen(u, 100))
        continue;
}

void caucus_up_page_stay(caucus_up *u) {
    if (!u->opens)
        return;
    if (at_terminal())
        wait_for_enter(u);
    else if (u->opened)
        wait_for_browser(u);
}
