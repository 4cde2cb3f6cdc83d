# SPDX-License-Identifier: Apache-2.0
# The program without its main(), with the two calls that are counted wrapped.
file(GLOB program CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/*.c ${PROJECT_SOURCE_DIR}/src/cli/*/*.c)
list(FILTER program EXCLUDE REGEX "/main\\.c$")
target_sources(${target} PRIVATE ${program} ${PROJECT_SOURCE_DIR}/src/mpi/alone.c)
target_link_options(${target} PRIVATE -Wl,--wrap=caucus_plan_new -Wl,--wrap=caucus_trial_play)
