/* version.h: which version of the library these headers belong to.
 * layer: num
 *
 * The file VERSION says the same; the build stops if the two differ. */
#ifndef CAUCUS_VERSION_H
#define CAUCUS_VERSION_H

#define CAUCUS_VERSION "0.1.0"
#define CAUCUS_VERSION_MAJOR 0
#define CAUCUS_VERSION_MINOR 1
#define CAUCUS_VERSION_PATCH 0

#endif
