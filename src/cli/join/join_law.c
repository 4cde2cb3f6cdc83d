/* SPDX-License-Identifier: Apache-2.0 */
/* join_law.c: see join_law.h. */
#include "cli/join/join_law.h"

#include "cli/complain.h"
#include "cli/config.h"
#include "cli/options.h"
#include "scenario/scenario_pace.h"
#include "sim/slot/activity.h"

static int refuse(const char *option, const char *why) {
    return caucus_config_refuse("join", option, NULL, "%s", why);
}

int caucus_join_law(const caucus_law_texts *t, const caucus_plan *plan, uint64_t play, caucus_adversary_settings *ret) {
    const struct {
        const char *text;
        caucus_scenario_field field;
    } law[] = {{t->segments, CAUCUS_FIELD_SEGMENTS},
               {t->means, CAUCUS_FIELD_MEANS},
               {t->spread, CAUCUS_FIELD_SPREAD},
               {t->drift, CAUCUS_FIELD_DRIFT},
               {t->activity, CAUCUS_FIELD_ACTIVITY}};
    const size_t first[CAUCUS_FIELD_COUNT] = {0};
    const bool own = plan->settings.pace == CAUCUS_PACE_OWN;
    if ((t->means || t->spread) && !caucus_adversary_kind_has_means(ret->kind))
        return refuse(t->means ? "means" : "spread", "goes with --adversary bernoulli, shifting or drifting");
    if (t->drift && ret->kind != CAUCUS_ADVERSARY_DRIFTING)
        return refuse("drift", "goes with --adversary drifting");
    if (t->activity && !own)
        return refuse("activity", "goes with a plan whose devices have their own pace");
    caucus_scenario scenario;
    caucus_complaint complaint;
    caucus_status status = CAUCUS_OK;
    caucus_scenario_init(&scenario);
    for (size_t i = 0; status == CAUCUS_OK && i < sizeof law / sizeof law[0]; i++)
        if (law[i].text)
            status = caucus_scenario_set(&scenario, law[i].field, law[i].text, &complaint);
    if (status == CAUCUS_OK)
        status = caucus_scenario_law(&scenario, first, ret, &complaint);
    ret->rounds = (caucus_plan_is_endless(plan) ? play : plan->settings.rounds) * CAUCUS_SLOT_ROWS;
    if (status == CAUCUS_OK && own)
        status = caucus_scenario_activity(&scenario, first, ret, &complaint);
    caucus_scenario_free(&scenario);
    return status == CAUCUS_OK ? 0 : caucus_complain_scenario("join", status, &complaint);
}
