# SPDX-License-Identifier: Apache-2.0
# proto/caucus.proto to C: ${caucus_pb_dir}/wire/caucus.pb-c.{c,h}, included as "wire/caucus.pb-c.h". Generated code is
# not ours to clean: it is compiled without our warnings.
find_program(PROTOC_C protoc-c REQUIRED)
set(caucus_pb_dir ${CMAKE_CURRENT_BINARY_DIR}/generated)
set(caucus_pb_source ${caucus_pb_dir}/wire/caucus.pb-c.c)
set(caucus_pb_header ${caucus_pb_dir}/wire/caucus.pb-c.h)
file(MAKE_DIRECTORY ${caucus_pb_dir}/wire)
add_custom_command(OUTPUT ${caucus_pb_source} ${caucus_pb_header} DEPENDS proto/caucus.proto VERBATIM
    COMMAND ${PROTOC_C} --proto_path=${PROJECT_SOURCE_DIR}/proto --c_out=${caucus_pb_dir}/wire
            ${PROJECT_SOURCE_DIR}/proto/caucus.proto)
set_source_files_properties(${caucus_pb_source} PROPERTIES COMPILE_OPTIONS -w)
