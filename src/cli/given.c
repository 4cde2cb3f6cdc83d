/* SPDX-License-Identifier: Apache-2.0 */
/* given.c: the values of a verb's options. See given.h. */
#include "cli/given.h"
#include "cli/config.h"
#include "num/nearest.h"
#include "num/number_text.h"

#include <inttypes.h>
#include <string.h>

int caucus_given_take(const caucus_given *given, size_t index, const char *value) {
    if (index == SIZE_MAX)
        return caucus_usage(given->verb, "'%s': unexpected word — options begin with --", value);
    const caucus_option *option = &given->options[index];
    if (option->argument == NULL && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return caucus_config_refuse(given->verb, option->name, value, "must be true or false");
    if (given->value[index])
        return caucus_usage(given->verb, "--%s %s: given twice", option->name, value);
    given->value[index] = value;
    return 0;
}

bool caucus_given_on(const caucus_given *given, size_t option) {
    return given->value[option] && strcmp(given->value[option], "true") == 0;
}

bool caucus_given_number(const caucus_given *given, size_t option, uint64_t least, uint64_t most, uint64_t *ret) {
    const char *text = given->value[option], *name = given->options[option].name;
    if (!text || caucus_whole_parse(text, least, most, ret))
        return true;
    if (least == 0)
        (void)caucus_config_refuse(given->verb, name, text, "a whole number up to %" PRIu64 " is expected", most);
    else
        (void)caucus_config_refuse(given->verb, name, text,
                                   "a whole number from %" PRIu64 " to %" PRIu64 " is expected", least, most);
    return false;
}

bool caucus_given_word(const caucus_given *given, size_t option, const char *const *words, const char *all,
                       size_t *ret) {
    const char *text = given->value[option];
    for (size_t i = 0; text && words[i]; i++)
        if (strcmp(text, words[i]) == 0) {
            *ret = i;
            return true;
        }
    if (text)
        (void)caucus_config_refuse(given->verb, given->options[option].name, text, "%s%s", all,
                                   caucus_meant_of(text, words).text);
    return !text;
}

bool caucus_given_json(const caucus_given *given, size_t option, bool *ret) {
    static const char *const formats[] = {"text", "json", NULL};
    size_t format = 0;
    const bool read = caucus_given_word(given, option, formats, "text or json", &format);
    *ret = format == 1;
    return read;
}

bool caucus_given_log_level(const caucus_given *given, size_t option, size_t *ret) {
    static const char *const levels[] = {"error", "notice", "detail", NULL};
    return caucus_given_word(given, option, levels, "error, notice or detail", ret);
}

bool caucus_given_certificates(const caucus_given *given, const caucus_given_listener *listener) {
    const char *const *value = given->value;
    const bool all = value[listener->cert] && value[listener->key] && value[listener->client_ca];
    const bool any = value[listener->cert] || value[listener->key] || value[listener->client_ca];
    const bool insecure = caucus_given_on(given, listener->insecure);
    if (insecure && any)
        (void)caucus_usage(given->verb, "--insecure: not together with certificates — leave one of them out");
    else if (!insecure && !all)
        (void)caucus_usage(given->verb,
                           "--cert, --key and --client-ca are needed — %s makes some to try; --insecure works without, "
                           "on this machine",
                           listener->maker);
    return insecure ? !any : all;
}
