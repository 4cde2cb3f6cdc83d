/* SPDX-License-Identifier: Apache-2.0 */
/* serve_print.c: see serve_print.h. */
#include "cli/serve/serve_print.h"
#include "plan/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dial/address.h"
#include "show/plan_words.h"
#include "store/json.h"
#include "store/look_json.h"

void caucus_serve_listening(bool json, const char *listen, uint16_t port, const char *hash, uint16_t http_port,
                            bool seeded) {
    caucus_address where;
    caucus_error error;
    char host[CAUCUS_HOST_BYTES + 2] = "?";
    if (caucus_address_split(listen, "listen", &where, &error) == CAUCUS_OK)
        snprintf(host, sizeof host, strchr(where.host, ':') ? "[%s]" : "%s", where.host);
    if (json) {
        char place[sizeof host + 8];
        caucus_json j;
        snprintf(place, sizeof place, "%s:%u", host, (unsigned)port);
        caucus_json_begin(&j, stdout, true);
        caucus_json_text(&j, "listening", place);
        caucus_json_text(&j, "plan", hash);
        if (http_port > 0)
            caucus_json_whole(&j, "http_port", http_port);
        caucus_json_truth(&j, "seeded", seeded);
        caucus_json_end(&j);
    } else {
        printf("listening on %s:%u\nplan %s\n", host, (unsigned)port, hash);
        if (http_port > 0)
            printf("status page on port %u\n", (unsigned)http_port);
    }
    fflush(stdout);
}

static void print_summary_json(const caucus_server_status *now, const caucus_plan *plan, const char *name) {
    caucus_json j;
    caucus_json_begin(&j, stdout, true);
    caucus_json_truth(&j, "finished", now->finished);
    caucus_json_whole(&j, "expert", now->now.expert);
    caucus_json_text(&j, "expert_name", caucus_plan_expert_name(plan, now->now.expert));
    caucus_json_whole(&j, "selections", now->selections);
    caucus_json_whole(&j, "selections_allowed", now->selections_allowed);
    caucus_json_whole(&j, "checks", now->checks);
    caucus_json_whole(&j, "steps_decided", now->steps_decided);
    caucus_json_real(&j, "epsilon_spent", now->epsilon_spent);
    caucus_json_real(&j, "epsilon_reserved", now->epsilon_reserved);
    caucus_json_real(&j, "budget_epsilon", now->budget_epsilon);
    caucus_json_real(&j, "left_epsilon", now->left_epsilon);
    caucus_json_real(&j, "epsilon_choices", now->epsilon_choices);
    caucus_json_real(&j, "epsilon_messages", now->epsilon_messages);
    caucus_json_real(&j, "epsilon_device", now->epsilon_device);
    caucus_json_real(&j, "delta", now->delta);
    caucus_json_whole(&j, "bytes_in", now->bytes_in);
    caucus_json_whole(&j, "bytes_out", now->bytes_out);
    caucus_json_whole(&j, "scalars_up", now->scalars_up);
    caucus_json_whole(&j, "scalars_paper", now->scalars_paper);
    caucus_json_whole(&j, "reports", now->reports);
    caucus_json_whole(&j, "refused", now->refused);
    caucus_json_whole(&j, "commits", now->commits);
    caucus_look_json(&j, "look", now->looks > 0 ? &now->look[0] : NULL, plan);
    caucus_json_truth(&j, "seeded", now->seeded);
    caucus_json_text(&j, "name", name);
    caucus_json_end(&j);
}

void caucus_serve_summary(bool json, const caucus_server_status *now, const caucus_plan *plan, const char *name,
                          const char *state_dir) {
    if (json) {
        print_summary_json(now, plan, name);
        return;
    }
    const char *const how = !now->finished                         ? "stopped"
                            : caucus_announcement_stops(&now->now) ? "ended for good"
                                                                   : "done";
    printf("%s: expert %s in force, %" PRIu64 " ", how, caucus_plan_expert_words(plan, now->now.expert).text,
           now->selections);
    if (!caucus_plan_is_endless(plan))
        printf("of at most %" PRIu64 " ", now->selections_allowed);
    printf("selections, %" PRIu64 " steps\n", now->steps_decided);
    if (now->looks > 0) {
        char look[CAUCUS_LOOK_WORDS_BYTES];
        caucus_look_words(&now->look[0], look);
        printf("loss shown last: %s, of expert %s in phase %" PRIu64 "\n", look,
               caucus_plan_expert_words(plan, now->look[0].expert).text, now->look[0].phase);
    }
    char words[CAUCUS_BUDGET_WORDS_BYTES];
    caucus_budget_words(now->epsilon_reserved, now->epsilon_spent, now->budget_epsilon, now->left_epsilon,
                        now->finished, NULL, words);
    printf("epsilon: %s%s\n", words, now->seeded ? "   NOT PRIVATE (seeded)" : "");
    if (isfinite(now->epsilon_choices) && now->epsilon_choices > 0)
        printf(isfinite(now->epsilon_device) ? "everything one client contributed: epsilon %.6g at most%s\n"
                                             : "everything one client contributed: no bound\n",
               now->epsilon_device, caucus_words_delta(now->delta).text);
    printf("received %" PRIu64 " numbers (the paper's protocol: %" PRIu64 "); %" PRIu64 " bytes in, %" PRIu64
           " bytes out\n",
           now->scalars_up, now->scalars_paper, now->bytes_in, now->bytes_out);
    if (!now->finished)
        printf("to go on: the same command with --state %s\n", state_dir);
}

void caucus_serve_page_shown(void) {
    caucus_json j;
    caucus_json_begin(&j, stdout, true);
    caucus_json_text(&j, "page", "shown");
    caucus_json_end(&j);
    fflush(stdout);
}
