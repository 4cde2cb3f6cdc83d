# SPDX-License-Identifier: Apache-2.0
# The test looks at what the server gives back.
target_link_options(${target} PRIVATE -Wl,--wrap=free)
