# SPDX-License-Identifier: Apache-2.0
# The test sees every block that the machines and the link take and give back.
target_link_options(${target} PRIVATE -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=strdup
                    -Wl,--wrap=aligned_alloc -Wl,--wrap=free)
