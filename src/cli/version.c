/* SPDX-License-Identifier: Apache-2.0 */
/* version.c: `caucus version`: which one this is, and what it was built with. */
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "mpi/here.h"
#include "relay/line.h"
#include "store/coordinator/store.h"

#include <caucus/version.h>
#include <microhttpd.h>
#include <openssl/crypto.h>
#include <protobuf-c/protobuf-c.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <yaml.h>

static const caucus_option options[] = {{NULL, NULL, NULL, NULL}};

static int take(void *user, size_t index, const char *value) {
    (void)user, (void)index;
    fprintf(stderr, "caucus version: '%s': takes nothing\n", value);
    return CAUCUS_EXIT_USAGE;
}

int caucus_cli_version(int argc, char **argv) {
    int code = caucus_options_parse("version", options, argc, argv, take, NULL);
    if (code == CAUCUS_OPTIONS_HELP) {
        puts("caucus version: which program this is, and what is built in");
        return CAUCUS_EXIT_DONE;
    }
    if (code != 0)
        return code;
    const char *mpi = caucus_ranks_library(), *postgres = caucus_store_postgres_version(),
               *nats = caucus_line_version();
    puts("caucus " CAUCUS_VERSION);
    printf("  libsodium      %s\n", sodium_version_string());
    printf("  libyaml        %s\n", yaml_get_version_string());
    printf("  protobuf-c     %s\n", protobuf_c_version());
    printf("  SQLite         %s\n", sqlite3_libversion());
    printf("  PostgreSQL     %s\n", postgres != NULL ? postgres : "none: built without libpq, a state is a directory");
    printf("  OpenSSL        %s\n", OpenSSL_version(OPENSSL_VERSION_STRING));
    printf("  libmicrohttpd  %s\n", MHD_get_version());
    printf("  NATS           %s\n", nats != NULL ? nats : "none: built without libnats, there are no relays");
    printf("  MPI            %s\n",
           mpi != NULL ? mpi : "none: simulate, reproduce and audit over ranks are caucus-mpi's");
    return CAUCUS_EXIT_DONE;
}
