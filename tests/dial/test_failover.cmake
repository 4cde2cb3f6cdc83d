# SPDX-License-Identifier: Apache-2.0
# The test answers for the resolver.
target_link_options(${target} PRIVATE -Wl,--wrap=getaddrinfo)
