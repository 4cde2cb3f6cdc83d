/* SPDX-License-Identifier: Apache-2.0 */
/* plain_link.h: a link in one line, for tests whose subject is not its settings. */
#ifndef CAUCUS_TESTS_PLAIN_LINK_H
#define CAUCUS_TESTS_PLAIN_LINK_H

#include <caucus/link.h>

static inline caucus_status plain_link(const caucus_plan *plan, const uint8_t *hash, uint32_t index,
                                       const caucus_key *key, const uint8_t *state, size_t bytes, caucus_link_save save,
                                       void *user, caucus_link **ret, caucus_error *ret_error) {
    caucus_link_settings settings;
    caucus_link_settings_init(&settings);
    settings.plan = plan;
    settings.plan_hash = hash;
    settings.index = index;
    settings.key = key;
    settings.state = state;
    settings.state_bytes = bytes;
    settings.save = save;
    settings.user = user;
    return caucus_link_new(&settings, ret, ret_error);
}

#endif
