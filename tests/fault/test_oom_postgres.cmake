# SPDX-License-Identifier: Apache-2.0
target_compile_definitions(${target} PRIVATE CLUSTER="${CMAKE_CURRENT_SOURCE_DIR}/store/postgres.bash")
