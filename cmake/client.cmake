# SPDX-License-Identifier: Apache-2.0
# caucus-client: `caucus join` alone, as one static file (static-pie). It is linked with the archives by name, so that
# the linker takes from them what join uses and nothing else: SQLite and libmicrohttpd are not on its line, and a use of
# them would not link. A static glibc asks getaddrinfo's modules of the same version for names; docs/OPERATIONS.md says
# what follows, and the linker's warning about it is not repeated in every build.
include(CheckLinkerFlag)
check_linker_flag(C -Wl,--no-warnings CAUCUS_LINKS_QUIETLY) # binutils 2.40
set(caucus_client OFF)
set(client_archives)
foreach(name ssl crypto sodium yaml protobuf-c)
    find_library(CAUCUS_ARCHIVE_${name} lib${name}.a)
    mark_as_advanced(CAUCUS_ARCHIVE_${name})
    list(APPEND client_archives ${CAUCUS_ARCHIVE_${name}})
endforeach()
if(caucus_instrumented)
    message(STATUS "no caucus-client: the build is instrumented")
elseif("${client_archives}" MATCHES "NOTFOUND")
    message(STATUS "no caucus-client: not every library is here as an archive: ${client_archives}")
else()
    set(caucus_client ON)
    add_library(caucus-cli-archive STATIC $<TARGET_OBJECTS:caucus-cli>)
    set_target_properties(caucus-cli-archive PROPERTIES LINKER_LANGUAGE C
                          ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/client) # it is no library of ours
    add_executable(caucus-client src/cli/client/main.c)
    caucus_target(caucus-client)
    target_include_directories(caucus-client PRIVATE include src)
    set(client_parts)
    foreach(part caucus-cli-archive caucus-coordinator caucus-sim-static)
        add_dependencies(caucus-client ${part})
        list(APPEND client_parts $<TARGET_FILE:${part}>)
    endforeach()
    target_link_options(caucus-client PRIVATE -static-pie -Wl,--gc-sections -s
                        $<$<BOOL:${CAUCUS_LINKS_QUIETLY}>:-Wl,--no-warnings>)
    target_link_libraries(caucus-client PRIVATE ${client_parts} ${client_archives} m)
    set_target_properties(caucus-client PROPERTIES LINK_DEPENDS "${client_parts}")
endif()
