/* SPDX-License-Identifier: Apache-2.0 */
/* look_json.c: see look_json.h. */
#include "store/look_json.h"

#include <math.h>
#include <string.h>

void caucus_look_json(caucus_json *j, const char *key, const caucus_look *look, const caucus_plan *plan) {
    if (look == NULL) {
        caucus_json_null(j, key);
        return;
    }
    caucus_json_object_row(j, key);
    caucus_json_whole(j, "phase", look->phase);
    caucus_json_whole(j, "expert", look->expert);
    caucus_json_text(j, "name", caucus_plan_expert_name(plan, look->expert));
    caucus_json_whole(j, "clients", look->clients);
    caucus_json_real(j, "loss", look->loss);
    caucus_json_real(j, "low", look->low);
    caucus_json_real(j, "high", look->high);
    caucus_json_close(j);
}

/* A document of one list with one object, of which the object is cut out. */
void caucus_look_text(const caucus_look *look, const caucus_plan *plan, char ret[CAUCUS_LOOK_BYTES]) {
    char whole[2 * CAUCUS_LOOK_BYTES] = "";
    ret[0] = '\0';
    FILE *to = fmemopen(whole, sizeof whole, "w");
    if (to == NULL)
        return;
    caucus_json j;
    caucus_json_begin(&j, to, true);
    caucus_look_json(&j, "look", look, plan);
    caucus_json_end(&j);
    (void)fclose(to);
    const char *from = strstr(whole, "{\"phase\"");
    char *end = strrchr(whole, '}'); /* of the document; a name may hold one as well */
    if (end != NULL) {
        *end = '\0';
        end = strrchr(whole, '}');
    }
    if (from == NULL || end == NULL || end + 1 - from >= CAUCUS_LOOK_BYTES)
        return;
    memcpy(ret, from, (size_t)(end + 1 - from));
    ret[end + 1 - from] = '\0';
}

/* One digit more than the interval's width begins with. */
void caucus_look_words(const caucus_look *look, char ret[CAUCUS_LOOK_WORDS_BYTES]) {
    const double width = look->high - look->low;
    int digits = width > 0 && isfinite(width) ? 1 - (int)floor(log10(width)) : 3;
    digits = digits < 0 ? 0 : digits > 9 ? 9 : digits;
    (void)snprintf(ret, CAUCUS_LOOK_WORDS_BYTES, "%.*f (%.*f to %.*f)", digits, look->loss, digits, look->low, digits,
                   look->high);
}
