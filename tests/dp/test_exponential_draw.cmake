# SPDX-License-Identifier: Apache-2.0
# The test writes the further digits of a stream itself (scripted_digits.h).
target_link_options(${target} PRIVATE -Wl,--wrap=caucus_stream_digit -Wl,--wrap=caucus_stream_digits)
