/* SPDX-License-Identifier: Apache-2.0 */
/* study.c: draws the figures and writes the folder. See study.h.
 * layer: study */
#include <stdio.h>

#include "study/parts.h"

caucus_status caucus_study_check(const char *folder, caucus_error *ret_error) {
    caucus_status status = caucus_gnuplot_check(ret_error);
    return status == CAUCUS_OK ? caucus_folder_check(folder, ret_error) : status;
}

static caucus_status draw(const caucus_study *study, caucus_section section, const caucus_text *script, const char *id,
                          caucus_text *ret, caucus_error *ret_error) {
    caucus_text title = {0}, about = {0};
    caucus_study_title(study, section, &title);
    caucus_study_alternative(study, section, &about);
    caucus_status status = title.failed || about.failed
                               ? caucus_fail(ret_error, CAUCUS_E_MEMORY, "out", "no memory for a figure")
                               : caucus_gnuplot_svg(script, id, title.data, about.data, ret, ret_error);
    caucus_text_free(&title);
    caucus_text_free(&about);
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
    for (unsigned s = 0; status == CAUCUS_OK && s < CAUCUS_SECTION_COUNT; s++) {
        const caucus_figure *figure = &study->figure[s];
        caucus_text script = {0};
        if (s == CAUCUS_SECTION_SCALING && study->scaling.count) {
            caucus_study_draw_scaling(&study->scaling, &script);
            status = draw(study, CAUCUS_SECTION_SCALING, &script, "scaling", &pictures->figure[s], ret_error);
        } else if (figure->spec && !figure->missing[0]) {
            caucus_study_draw_figure(figure, &script);
            status = draw(study, (caucus_section)s, &script, figure->spec->file, &pictures->figure[s], ret_error);
            for (uint32_t k = 0; status == CAUCUS_OK && k < figure->seeds; k++)
                status = draw_small(figure, k, &pictures->small[s], ret_error);
        }
        caucus_text_free(&script);
    }
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
    caucus_status status = caucus_folder_add(folder, name, &text, ret_error);
    caucus_text_free(&text);
    return status;
}

static caucus_status add_svg(const caucus_atomic_folder *folder, const char *stem, const caucus_text *svg,
                             caucus_error *ret_error) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s.svg", stem);
    return caucus_folder_add(folder, name, svg, ret_error);
}

static caucus_status add_figure(const caucus_atomic_folder *folder, const caucus_figure *figure, const caucus_text *svg,
                                caucus_error *ret_error) {
    const char *stem = figure->spec->file;
    caucus_status status = add_file(folder, stem, ".csv", caucus_study_csv_curves, figure, ret_error);
    if (status == CAUCUS_OK)
        status = add_file(folder, stem, "-trials.csv", caucus_study_csv_trials, figure, ret_error);
    if (status == CAUCUS_OK && figure->seeds)
        status = add_file(folder, stem, "-seeds.csv", caucus_study_csv_seeds, figure, ret_error);
    return status == CAUCUS_OK ? add_svg(folder, stem, svg, ret_error) : status;
}

static caucus_status add_all(const caucus_study *study, const caucus_atomic_folder *folder,
                             const caucus_pictures *pictures, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    for (unsigned s = 0; status == CAUCUS_OK && s < CAUCUS_SECTION_SCALING; s++)
        if (study->figure[s].spec && !study->figure[s].missing[0])
            status = add_figure(folder, &study->figure[s], &pictures->figure[s], ret_error);
    caucus_text text = {0};
    if (status == CAUCUS_OK && study->scaling.count) {
        caucus_study_csv_scaling(&study->scaling, &text);
        status = caucus_folder_add(folder, "scaling.csv", &text, ret_error);
        if (status == CAUCUS_OK)
            status = add_svg(folder, "scaling", &pictures->figure[CAUCUS_SECTION_SCALING], ret_error);
        caucus_text_free(&text);
    }
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
    for (unsigned s = 0; s < CAUCUS_SECTION_COUNT; s++) {
        caucus_text_free(&pictures.figure[s]);
        caucus_text_free(&pictures.small[s]);
    }
    return status;
}
