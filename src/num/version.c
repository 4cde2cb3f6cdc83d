/* SPDX-License-Identifier: Apache-2.0 */
/* version.c: the version that was compiled in. */
#include <caucus/version.h>

const char *caucus_version(void) {
    return CAUCUS_VERSION;
}

uint32_t caucus_version_number(void) {
    return CAUCUS_VERSION_NUMBER;
}
