# SPDX-License-Identifier: Apache-2.0
# The test looks at the port each time the coordinator binds a listener to it, or closes one.
target_link_options(${target} PRIVATE -Wl,--wrap=bind -Wl,--wrap=close)
