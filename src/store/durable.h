/* durable.h: what every file that must survive a crash needs.
 * layer: store */
#ifndef CAUCUS_STORE_DURABLE_H
#define CAUCUS_STORE_DURABLE_H

#include <stdbool.h>
#include <stddef.h>

/** All bytes, however often write() stops half-way. False: errno says why. */
bool caucus_write_all(int fd, const void *bytes, size_t size);

/** Sync the directory a file is in: a new name must survive a crash, not only the bytes. False: errno says why. */
bool caucus_sync_parent(const char *path);

#endif
