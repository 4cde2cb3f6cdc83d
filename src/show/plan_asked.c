/* SPDX-License-Identifier: Apache-2.0 */
/* plan_asked.c: plans from words, and their looks (caucus/asked.h, plan_asked.h). */
#include "show/plan_asked.h"

#include "num/number_text.h"
#include "show/choice/losses_are.h"
#include "show/plan_print.h"

#include <stdlib.h>
#include <string.h>

static caucus_status read_convex(const char *text, caucus_settings *settings, caucus_error *ret_error) {
    char *end = NULL;
    const double lipschitz = strtod(text, &end);
    const bool good = end != text && *end == ',';
    const char *second = good ? end + 1 : text;
    const double smoothness = strtod(second, &end);
    if (!good || end == second || *end != '\0')
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "convex", "%.100s: must be two numbers, for example 1,0.5", text);
    settings->loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    settings->lipschitz = lipschitz;
    settings->smoothness = smoothness;
    return CAUCUS_OK;
}

static caucus_status read_grid(const char *text, caucus_settings *settings, caucus_error *ret_error) {
    uint64_t steps = 0;
    if (!caucus_whole_parse(text, 1, 1u << 20, &steps))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "grid", "%.100s: must be a whole number from 1 to 1048576", text);
    settings->grid = (uint32_t)steps;
    return CAUCUS_OK;
}

caucus_status caucus_plan_extra(const char *name, const char *text, caucus_settings *settings,
                                caucus_error *ret_error) {
    if (strcmp(name, "convex") == 0)
        return read_convex(text, settings, ret_error);
    if (strcmp(name, "grid") == 0)
        return read_grid(text, settings, ret_error);
    if (strcmp(name, "federation") != 0)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "", "'%.60s': no setting of a plan is called so", name);
    settings->federation = text;
    return CAUCUS_OK;
}

bool caucus_plan_extra_refused(caucus_error *error) {
    const bool convex = strcmp(error->field, "loss-shape") == 0 || strcmp(error->field, "lipschitz") == 0 ||
                        strcmp(error->field, "smoothness") == 0;
    if (!convex && strcmp(error->field, "grid") != 0 && strcmp(error->field, "federation") != 0)
        return false;
    char text[sizeof error->text + sizeof error->field + 4];
    (void)snprintf(text, sizeof text, ": %s%s%s", convex ? error->field : "", convex ? " " : "", error->text);
    (void)snprintf(error->text, sizeof error->text, "%.*s", (int)sizeof error->text - 1, text);
    if (convex)
        (void)snprintf(error->field, sizeof error->field, "convex");
    return true;
}

caucus_status caucus_asked_refuse(caucus_error *ret_error, caucus_status status, const caucus_complaint *complaint) {
    const char *line = complaint->line, *dash = NULL;
    const char *field = !complaint->in_file && complaint->field != NULL ? complaint->field : "";
    if (field[0] != '\0' && line[0] == ' ')
        line++;
    if (ret_error == NULL)
        return status;
    if (strlen(line) >= sizeof ret_error->text) /* what would help stands behind the last dash */
        for (const char *at = line; (at = strstr(at, " — ")) != NULL; at++)
            dash = at;
    (void)caucus_fail(ret_error, status, field, "%.*s", dash != NULL ? (int)(dash - line) : (int)strlen(line), line);
    return dash != NULL ? caucus_fail_hint(ret_error, status, dash + strlen(" — ")) : status;
}

bool caucus_asked_set(caucus_scenario *scenario, const caucus_named *setting, caucus_status *ret_status,
                      caucus_error *ret_error) {
    const caucus_scenario_field field = caucus_field_find(setting->name);
    caucus_complaint complaint;
    if (field == CAUCUS_FIELD_COUNT)
        return false;
    *ret_status = caucus_scenario_set(scenario, field, setting->value, &complaint);
    if (*ret_status != CAUCUS_OK)
        (void)caucus_asked_refuse(ret_error, *ret_status, &complaint);
    return true;
}

static bool is_knowledge(const char *name) {
    return strcmp(name, "losses-are") == 0;
}

static bool makes_a_plan(const char *name) {
    for (size_t i = 0; i < CAUCUS_PLAN_FIELDS; i++)
        if (strcmp(caucus_fields[caucus_plan_fields[i]].name, name) == 0)
            return true;
    return false;
}

/* The fields that were given, checked, and as settings. */
static caucus_status read_fields(caucus_scenario *scenario, const caucus_named *setting, size_t settings,
                                 caucus_settings *ret, caucus_error *ret_error) {
    caucus_complaint complaint;
    caucus_status status = CAUCUS_OK;
    const char *said = NULL;
    caucus_knowledge known = CAUCUS_KNOWLEDGE_COUNT;
    for (size_t i = 0; status == CAUCUS_OK && i < settings; i++)
        if (makes_a_plan(setting[i].name))
            (void)caucus_asked_set(scenario, &setting[i], &status, ret_error);
        else if (is_knowledge(setting[i].name) && said != NULL)
            status = caucus_fail(ret_error, CAUCUS_E_FORMAT, setting[i].name, ": given twice");
        else if (is_knowledge(setting[i].name))
            said = setting[i].value;
    if (status == CAUCUS_OK)
        status = caucus_losses_are_choose(scenario, said, &known, ret_error);
    if (status != CAUCUS_OK)
        return status;
    status = caucus_scenario_settings(scenario, ret, &complaint);
    if (status == CAUCUS_OK) {
        const caucus_run run = {.settings = *ret, .adversary = {.kind = CAUCUS_ADVERSARY_REALIZABLE}};
        status = caucus_scenario_check_used(scenario, &run, 1, &complaint);
    }
    return status == CAUCUS_OK ? status : caucus_asked_refuse(ret_error, status, &complaint);
}

/* What brought a longest phase that nobody gave. */
static void blame(const caucus_named *setting, size_t settings, const caucus_settings *asked, caucus_error *error) {
    const char *said = NULL;
    bool given = false;
    for (size_t i = 0; i < settings; i++) {
        said = is_knowledge(setting[i].name) ? setting[i].value : said;
        given = given || strcmp(setting[i].name, caucus_fields[CAUCUS_FIELD_LONGEST_PHASE].name) == 0;
    }
    caucus_losses_are_blame(said, given, asked, error);
}

static caucus_status refuse_plan(const caucus_scenario *scenario, caucus_status status, caucus_error *error) {
    caucus_complaint complaint;
    if (caucus_plan_extra_refused(error))
        return status;
    (void)caucus_scenario_complain(scenario, status, error, &complaint);
    return caucus_asked_refuse(error, status, &complaint);
}

caucus_status caucus_plan_ask(const caucus_named *setting, size_t settings, caucus_plan **ret,
                              caucus_error *ret_error) {
    caucus_scenario scenario;
    caucus_settings asked;
    caucus_error error = {0};
    caucus_scenario_init(&scenario);
    caucus_status status = read_fields(&scenario, setting, settings, &asked, &error);
    for (size_t i = 0; status == CAUCUS_OK && i < settings; i++)
        if (!makes_a_plan(setting[i].name) && !is_knowledge(setting[i].name))
            status = caucus_plan_extra(setting[i].name, setting[i].value, &asked, &error);
    if (status == CAUCUS_OK) {
        status = caucus_plan_new(&asked, ret, &error);
        if (status != CAUCUS_OK)
            blame(setting, settings, &asked, &error);
        if (status != CAUCUS_OK)
            status = refuse_plan(&scenario, status, &error);
    }
    caucus_scenario_free(&scenario);
    if (status != CAUCUS_OK && ret_error != NULL)
        *ret_error = error;
    return status;
}

caucus_status caucus_asked_print(void (*print)(FILE *out, const void *what), const void *what, char **ret,
                                 size_t *ret_size) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return CAUCUS_E_MEMORY;
    print(out, what);
    bool whole = !ferror(out);
    whole = fclose(out) == 0 && whole;
    if (!whole) {
        free(text);
        return CAUCUS_E_MEMORY;
    }
    *ret = text;
    *ret_size = size;
    return CAUCUS_OK;
}

static void print_text(FILE *out, const void *report) {
    caucus_plan_print(out, report);
}

static void print_json(FILE *out, const void *report) {
    caucus_plan_print_json(out, report);
}

static void print_explain(FILE *out, const void *plan) {
    caucus_plan_explain(out, plan);
}

caucus_status caucus_plan_show(const caucus_plan *plan, caucus_plan_view view, char **ret, size_t *ret_size,
                               caucus_error *ret_error) {
    caucus_plan_report report;
    caucus_status status = CAUCUS_OK;
    if (view == CAUCUS_PLAN_VIEW_EXPLAIN) {
        status = caucus_asked_print(print_explain, plan, ret, ret_size);
    } else {
        status = caucus_plan_report_make(plan, CAUCUS_KNOWLEDGE_COUNT, &report, ret_error);
        if (status != CAUCUS_OK)
            return status;
        status = caucus_asked_print(view == CAUCUS_PLAN_VIEW_JSON ? print_json : print_text, &report, ret, ret_size);
    }
    return status == CAUCUS_OK ? status : caucus_fail(ret_error, status, "", "%s", caucus_status_text(status));
}
