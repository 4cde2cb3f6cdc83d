# SPDX-License-Identifier: Apache-2.0
# The test counts what a step asks for and what it hashes.
target_link_options(${target} PRIVATE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free
                    -Wl,--wrap=crypto_hash_sha256,--wrap=crypto_hash_sha256_update)
