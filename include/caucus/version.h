/* SPDX-License-Identifier: Apache-2.0 */
/* version.h: which version of the library these headers belong to, and which one is running.
 * layer: num
 *
 * The file VERSION says the same as the macros; the build stops if the two differ. A program that was compiled with one
 * version and runs with another can compare CAUCUS_VERSION_NUMBER with caucus_version_number(). */
#ifndef CAUCUS_VERSION_H
#define CAUCUS_VERSION_H

#include <caucus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of these headers, as text and in its parts. */
#define CAUCUS_VERSION "0.2.0"
#define CAUCUS_VERSION_MAJOR 0
#define CAUCUS_VERSION_MINOR 2
#define CAUCUS_VERSION_PATCH 0
/** One number that grows with every version: two digits each for minor version and patch. */
#define CAUCUS_VERSION_NUMBER (CAUCUS_VERSION_MAJOR * 10000 + CAUCUS_VERSION_MINOR * 100 + CAUCUS_VERSION_PATCH)

/** The version of the library that is running, as text ("0.2.0") and as a number (200). */
CAUCUS_API const char *caucus_version(void);
CAUCUS_API uint32_t caucus_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
