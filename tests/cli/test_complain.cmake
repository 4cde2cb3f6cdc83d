# SPDX-License-Identifier: Apache-2.0
# The program is no library: its files are compiled into the test.
target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/cli/complain.c ${PROJECT_SOURCE_DIR}/src/cli/exit_codes.c
               ${PROJECT_SOURCE_DIR}/src/cli/config.c ${PROJECT_SOURCE_DIR}/src/cli/options.c
               ${PROJECT_SOURCE_DIR}/src/cli/terminal/dress.c
               ${PROJECT_SOURCE_DIR}/src/cli/terminal/dress_streams.c
               ${PROJECT_SOURCE_DIR}/src/cli/terminal/screen.c)
