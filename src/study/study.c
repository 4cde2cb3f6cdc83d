/* SPDX-License-Identifier: Apache-2.0 */
/* study.c: draws the figures and writes the folder. See study.h.
 * layer: study */
#include <stdio.h>

#include "study/parts.h"

caucus_status caucus_study_check(const char *folder, caucus_error *ret_error) {
    caucus_status status = caucus_gnuplot_check(ret_error);
    return status == CAUCUS_OK ? caucus_folder_check(folder, ret_error) : status;
}

/* Draw a script with a title and a text alternative, which are taken over. */
static caucus_status draw(const caucus_text *script, const char *id, caucus_text *title, caucus_text *about,
                          caucus_text *ret, caucus_error *ret_error) {
    caucus_status status = title->failed || about->failed
                               ? caucus_fail(ret_error, CAUCUS_E_MEMORY, "out", "no memory for a figure")
                               : caucus_gnuplot_svg(script, id, title->data, about->data, ret, ret_error);
    caucus_text_free(title);
    caucus_text_free(about);
    return status;
}

static caucus_status draw_panel(const caucus_study *study, const caucus_panel *panel, caucus_text *ret,
                                caucus_error *ret_error) {
    caucus_text script = {0}, title = {0}, about = {0};
    caucus_study_draw_panel(study, panel, &script);
    panel->title(study, &title);
    caucus_panel_alternative(study, panel, &about);
    const caucus_status status = draw(&script, panel->file, &title, &about, ret, ret_error);
    caucus_text_free(&script);
    return status;
}

static caucus_status draw_fleet(const caucus_study *study, caucus_fleet_panel panel, caucus_text *ret,
                                caucus_error *ret_error) {
    caucus_text script = {0}, title = {0}, about = {0};
    caucus_study_draw_fleet(&study->fleet, panel, &script);
    caucus_fleet_title(study, panel, &title);
    caucus_fleet_alternative(study, panel, &about);
    const caucus_status status = draw(&script, caucus_fleet_file(panel), &title, &about, ret, ret_error);
    caucus_text_free(&script);
    return status;
}

static caucus_status draw_scaling(const caucus_study *study, caucus_text *ret, caucus_error *ret_error) {
    caucus_text script = {0}, title = {0}, about = {0};
    caucus_study_draw_scaling(&study->scaling, &script);
    caucus_scaling_title(study, &title);
    caucus_scaling_alternative(study, &about);
    const caucus_status status = draw(&script, "scaling", &title, &about, ret, ret_error);
    caucus_text_free(&script);
    return status;
}

static caucus_status draw_small(const caucus_figure *figure, uint32_t seed, caucus_text *ret, caucus_error *ret_error) {
    caucus_text script = {0}, about = {0};
    const caucus_series *series = figure->small + (size_t)seed * figure->small_count;
    char id[48], title[48];
    (void)snprintf(id, sizeof id, "%s-%u", figure->spec->file, seed + 1);
    (void)snprintf(title, sizeof title, "Seed %llu", (unsigned long long)series[0].seed);
    caucus_text_add(&about, "Regret per client at the end:");
    for (uint32_t i = 0; i < figure->small_count; i++) {
        caucus_summary s = caucus_run_regret(&series[i].run);
        caucus_text_add(&about, "%s %s ", i ? ";" : "", series[i].spec->label);
        caucus_text_spread(&about, s.mean, s.std);
    }
    caucus_study_draw_small(figure, seed, &script);
    caucus_status status =
        about.failed ? CAUCUS_E_MEMORY : caucus_gnuplot_svg(&script, id, title, about.data, ret, ret_error);
    caucus_text_free(&script);
    caucus_text_free(&about);
    return status;
}

static caucus_status draw_all(const caucus_study *study, caucus_pictures *pictures, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    for (unsigned p = 0; status == CAUCUS_OK && p < CAUCUS_PANELS; p++)
        if (caucus_panel_has(study, &caucus_panels[p]))
            status = draw_panel(study, &caucus_panels[p], &pictures->panel[p], ret_error);
    for (unsigned e = 0; e < CAUCUS_EXPERIMENT_COUNT; e++) {
        const caucus_figure *figure = &study->figure[e];
        for (uint32_t k = 0; status == CAUCUS_OK && figure->spec && !figure->missing[0] && k < figure->seeds; k++)
            status = draw_small(figure, k, &pictures->small[e], ret_error);
    }
    if (status == CAUCUS_OK && study->scaling.count)
        status = draw_scaling(study, &pictures->scaling, ret_error);
    for (unsigned p = 0; status == CAUCUS_OK && study->fleet.count && p < CAUCUS_FLEET_PANELS; p++)
        status = draw_fleet(study, (caucus_fleet_panel)p, &pictures->fleet[p], ret_error);
    return status;
}

/* Add a file, and free its text. */
static caucus_status add_text(const caucus_atomic_folder *folder, const char *name, caucus_text *text,
                              caucus_error *ret_error) {
    const caucus_status status = caucus_folder_add(folder, name, text, ret_error);
    caucus_text_free(text);
    return status;
}

/* Make one file's text, write it, forget it. */
static caucus_status add_file(const caucus_atomic_folder *folder, const char *stem, const char *ending,
                              void (*make)(const caucus_figure *, caucus_text *), const caucus_figure *figure,
                              caucus_error *ret_error) {
    caucus_text text = {0};
    char name[64];
    (void)snprintf(name, sizeof name, "%s%s", stem, ending);
    make(figure, &text);
    return add_text(folder, name, &text, ret_error);
}

static caucus_status add_svg(const caucus_atomic_folder *folder, const char *stem, const caucus_text *svg,
                             caucus_error *ret_error) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s.svg", stem);
    return caucus_folder_add(folder, name, svg, ret_error);
}

static caucus_status add_figure(const caucus_atomic_folder *folder, const caucus_figure *figure,
                                caucus_error *ret_error) {
    const char *stem = figure->spec->file;
    caucus_status status = add_file(folder, stem, ".csv", caucus_study_csv_curves, figure, ret_error);
    if (status == CAUCUS_OK)
        status = add_file(folder, stem, "-trials.csv", caucus_study_csv_trials, figure, ret_error);
    if (status == CAUCUS_OK && figure->seeds)
        status = add_file(folder, stem, "-seeds.csv", caucus_study_csv_seeds, figure, ret_error);
    return status;
}

static caucus_status add_scaling(const caucus_study *study, const caucus_atomic_folder *folder,
                                 const caucus_pictures *pictures, caucus_error *ret_error) {
    caucus_text text = {0};
    caucus_study_csv_scaling(&study->scaling, &text);
    const caucus_status status = add_text(folder, "scaling.csv", &text, ret_error);
    return status == CAUCUS_OK ? add_svg(folder, "scaling", &pictures->scaling, ret_error) : status;
}

static caucus_status add_fleet(const caucus_study *study, const caucus_atomic_folder *folder,
                               const caucus_pictures *pictures, caucus_error *ret_error) {
    caucus_text text = {0};
    caucus_study_csv_fleet(&study->fleet, &text);
    caucus_status status = add_text(folder, "fleet.csv", &text, ret_error);
    for (unsigned p = 0; status == CAUCUS_OK && p < CAUCUS_FLEET_PANELS; p++)
        status = add_svg(folder, caucus_fleet_file((caucus_fleet_panel)p), &pictures->fleet[p], ret_error);
    return status;
}

static caucus_status add_all(const caucus_study *study, const caucus_atomic_folder *folder,
                             const caucus_pictures *pictures, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    for (unsigned e = 0; status == CAUCUS_OK && e < CAUCUS_EXPERIMENT_COUNT; e++)
        if (study->figure[e].spec && !study->figure[e].missing[0])
            status = add_figure(folder, &study->figure[e], ret_error);
    for (unsigned p = 0; status == CAUCUS_OK && p < CAUCUS_PANELS; p++)
        if (caucus_panel_has(study, &caucus_panels[p]))
            status = add_svg(folder, caucus_panels[p].file, &pictures->panel[p], ret_error);
    if (status == CAUCUS_OK && study->scaling.count)
        status = add_scaling(study, folder, pictures, ret_error);
    if (status == CAUCUS_OK && study->fleet.count)
        status = add_fleet(study, folder, pictures, ret_error);
    caucus_text text = {0};
    if (status == CAUCUS_OK) {
        caucus_study_page(study, pictures, &text);
        status = caucus_folder_add(folder, "index.html", &text, ret_error);
    }
    caucus_text_free(&text);
    return status;
}

caucus_status caucus_study_write(const caucus_study *study, const char *folder_path, caucus_error *ret_error) {
    caucus_pictures pictures = {0};
    caucus_atomic_folder folder;
    caucus_status status = draw_all(study, &pictures, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_folder_begin(folder_path, &folder, ret_error);
    if (status == CAUCUS_OK) {
        status = add_all(study, &folder, &pictures, ret_error);
        if (status == CAUCUS_OK)
            status = caucus_folder_finish(&folder, ret_error);
        if (status != CAUCUS_OK)
            caucus_atomic_folder_drop(&folder);
    }
    for (unsigned p = 0; p < CAUCUS_PANELS; p++)
        caucus_text_free(&pictures.panel[p]);
    for (unsigned e = 0; e < CAUCUS_EXPERIMENT_COUNT; e++)
        caucus_text_free(&pictures.small[e]);
    for (unsigned p = 0; p < CAUCUS_FLEET_PANELS; p++)
        caucus_text_free(&pictures.fleet[p]);
    caucus_text_free(&pictures.scaling);
    return status;
}

const char *caucus_study_not_run(const caucus_study *study, caucus_section section) {
    for (unsigned e = 0; e < CAUCUS_EXPERIMENT_COUNT; e++) {
        const caucus_figure *figure = &study->figure[e];
        if (figure->spec && figure->spec->section == section && figure->missing[0])
            return figure->missing;
    }
    return NULL;
}
