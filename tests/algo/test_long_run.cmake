# SPDX-License-Identifier: Apache-2.0
# Every stream that is opened is looked at by the test.
target_link_options(${target} PRIVATE -Wl,--wrap=caucus_stream_init)
