/* SPDX-License-Identifier: Apache-2.0 */
/* test_machine.c: the tables of families have every operation that has no default; one that is missing is named here
 * rather than by a fault in the middle of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "algo/machine.h"

static const char *const names[] = {
#define NAME(NAME, name) #name,
    CAUCUS_FAMILY_LIST(NAME)
#undef NAME
};

static const caucus_machine_ops *machine_of(unsigned family) {
    caucus_plan plan = {.settings.algorithm = caucus_family_ops((caucus_family)family)->variant[0].algorithm};
    return caucus_machine_ops_of(&plan);
}

#define NEEDS(table, operation)                                                                                        \
    if (!(table)->operation)                                                                                           \
    fail_msg("caucus_machine_%s: %s has no %s", names[f], #table, #operation)

static void tables_are_complete(void **state) {
    (void)state;
    for (unsigned f = 0; f < CAUCUS_FAMILY_COUNT; f++) {
        const caucus_machine_ops *coordinator = machine_of(f);
        NEEDS(coordinator, new);
        NEEDS(coordinator, check);
        NEEDS(coordinator, count);
        NEEDS(coordinator, decide);
        NEEDS(coordinator, asks);
        NEEDS(coordinator, sound);
        NEEDS(coordinator, record);
        NEEDS(coordinator, client);
        const caucus_client_ops *client = coordinator->client;
        NEEDS(client, may_ask);
        NEEDS(client, observe);
        NEEDS(client, report);
        NEEDS(client, hear);
        NEEDS(client, sound);
        /* A state of its own that is not saved would be lost with the process. */
        assert_true(!coordinator->own_bytes || coordinator->pack);
        assert_true(!client->own_bytes || client->pack);
        assert_true(!coordinator->spent == !coordinator->releases);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_are_complete)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
