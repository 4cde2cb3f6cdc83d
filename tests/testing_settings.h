/* SPDX-License-Identifier: Apache-2.0 */
/* testing_settings.h: the settings that nearly every test chooses, in one line; all others are the defaults. */
#ifndef CAUCUS_TESTS_TESTING_SETTINGS_H
#define CAUCUS_TESTS_TESTING_SETTINGS_H

#include <caucus/settings.h>

static inline caucus_settings testing_settings(caucus_algorithm algorithm, caucus_trust trust, uint32_t clients,
                                               uint32_t experts, uint64_t rounds, double epsilon) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = algorithm;
    s.trust = trust;
    s.clients = clients;
    s.experts = experts;
    s.rounds = rounds;
    s.epsilon = epsilon;
    return s;
}

#endif
