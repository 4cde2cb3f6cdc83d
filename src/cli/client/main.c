/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: the program `caucus-client`: `caucus join` and nothing else, in one file without shared libraries.
 *
 * For a device that has no room for the coordinator, the simulator and what they need, or no package manager. The code
 * is that of the verb; cmake/client.cmake says what it is linked with. */
#include "cli/clean_stderr.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/terminal/dress.h"
#include "cli/verbs.h"

#include <caucus/version.h>
#include <stdio.h>
#include <string.h>

static int run(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("caucus-client " CAUCUS_VERSION);
        return CAUCUS_EXIT_DONE;
    }
    return caucus_cli_join(argc, argv);
}

int main(int argc, char **argv) {
    caucus_keep_standard_files();
    caucus_clean_stderr();
    caucus_program_is("caucus-client");
    caucus_color color = CAUCUS_COLOR_AUTO;
    int code = caucus_color_take(&argc, argv, &color);
    caucus_dress_streams(true, color);
    if (code == 0)
        code = run(argc, argv);
    code = caucus_exit_finish("caucus-client", code);
    caucus_dress_end();
    return code;
}
