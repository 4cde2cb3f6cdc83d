# SPDX-License-Identifier: Apache-2.0
# The coordinator, for the program and the tests; not installed: its store (SQLite, PostgreSQL), dial, relay, net,
# study.
caucus_sources(coordinator_sources dial relay net net/pace net/page net/hub net/relay net/waits study
               store/coordinator)
if(LIBPQ_FOUND)
    caucus_sources(postgres_sources store/postgres)
endif()

# The report quotes docs/PAPER.md.
set(paper_md ${PROJECT_SOURCE_DIR}/docs/PAPER.md)
add_custom_command(OUTPUT paper_md.c DEPENDS ${paper_md} cmake/embed.cmake VERBATIM
    COMMAND ${CMAKE_COMMAND} -DINPUT=${paper_md} -DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/paper_md.c -DNAME=caucus_paper_md
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
add_library(caucus-coordinator STATIC ${coordinator_sources} ${postgres_sources} ${CMAKE_CURRENT_BINARY_DIR}/paper_md.c)
caucus_target(caucus-coordinator)
target_include_directories(caucus-coordinator PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(caucus-coordinator PUBLIC caucus-sim-static PkgConfig::SQLITE PkgConfig::OPENSSL
                      PkgConfig::MICROHTTPD Threads::Threads)
if(LIBPQ_FOUND)
    target_compile_definitions(caucus-coordinator PUBLIC CAUCUS_POSTGRES)
    target_link_libraries(caucus-coordinator PUBLIC PkgConfig::LIBPQ)
endif()
if(LIBNATS_FOUND)
    target_compile_definitions(caucus-coordinator PRIVATE CAUCUS_NATS)
    target_link_libraries(caucus-coordinator PUBLIC PkgConfig::LIBNATS)
endif()
