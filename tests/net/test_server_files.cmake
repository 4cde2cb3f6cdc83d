# SPDX-License-Identifier: Apache-2.0
# The test answers for the kernel when there are no more files.
target_link_options(${target} PRIVATE -Wl,--wrap=accept4,--wrap=epoll_wait)
