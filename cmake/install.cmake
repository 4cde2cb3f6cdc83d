# SPDX-License-Identifier: Apache-2.0
# What `make install` puts where. The pkg-config files and the CMake package find their prefix from their own place, so
# a staged or moved copy works.
include(CMakePackageConfigHelpers)
install(TARGETS caucus RUNTIME)
if(MPI_FOUND)
    install(TARGETS caucus-mpi RUNTIME)
endif()
if(caucus_client)
    install(TARGETS caucus-client RUNTIME)
endif()
install(TARGETS caucus-static caucus-link-static caucus-sim-static ARCHIVE)
install(TARGETS caucus-shared caucus-link-shared caucus-sim-shared LIBRARY)
install(DIRECTORY include/caucus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
file(GLOB man_pages CONFIGURE_DEPENDS man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# README.md links to what stands beside it.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples experiments DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN Doxyfile EXCLUDE)
install(FILES python/examples/tour.ipynb DESTINATION ${CMAKE_INSTALL_DOCDIR}/python/examples)

# Completion, made by the program itself, where shells look for it: under the name of each program, since bash and fish
# look for a file of that name. A build under a sanitizer is not installed.
if(NOT caucus_instrumented)
    set(completions)
    foreach(shell bash zsh fish)
        set(script ${CMAKE_BINARY_DIR}/completion/${shell})
        add_custom_command(OUTPUT ${script} COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/completion
                           COMMAND caucus completion ${shell} > ${script} DEPENDS caucus VERBATIM)
        list(APPEND completions ${script})
    endforeach()
    add_custom_target(completions ALL DEPENDS ${completions})
    set(programs caucus)
    if(MPI_FOUND)
        list(APPEND programs caucus-mpi)
    endif()
    if(caucus_client)
        list(APPEND programs caucus-client)
    endif()
    foreach(program ${programs})
        install(FILES ${CMAKE_BINARY_DIR}/completion/bash RENAME ${program}
                DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
        install(FILES ${CMAKE_BINARY_DIR}/completion/zsh RENAME _${program}
                DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
        install(FILES ${CMAKE_BINARY_DIR}/completion/fish RENAME ${program}.fish
                DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
    endforeach()
endif()

# Units for systemd, with what they have in common.
file(READ dist/systemd/hardening.conf CAUCUS_HARDENING)
string(STRIP "${CAUCUS_HARDENING}" CAUCUS_HARDENING)
set(CAUCUS_BINARY ${CMAKE_INSTALL_FULL_BINDIR}/caucus)
function(caucus_unit unit template)
    set(CAUCUS_UNIT ${unit})
    configure_file(dist/systemd/${template}@.service.in ${unit}@.service @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${unit}@.service DESTINATION lib/systemd/system)
endfunction()
caucus_unit(caucus-serve caucus-serve)
if(LIBNATS_FOUND)
    caucus_unit(caucus-relay caucus-relay)
endif()
set(CAUCUS_JOIN "${CAUCUS_BINARY} join")
caucus_unit(caucus-join caucus-join)
if(caucus_client)
    set(CAUCUS_JOIN "${CMAKE_INSTALL_FULL_BINDIR}/caucus-client")
    caucus_unit(caucus-client caucus-join)
endif()

# caucus_up(RESULT FOLDER): the way from FOLDER, which is below the prefix, to the prefix.
function(caucus_up result folder)
    file(RELATIVE_PATH up "/prefix/${folder}" "/prefix")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(${result} ${up} PARENT_SCOPE)
endfunction()

# pkg-config: Requires.private and Libs.private are for static programs alone; a shared library brings what it needs.
caucus_up(caucus_pc_up ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
function(caucus_pkg_config name description modules libraries)
    configure_file(cmake/library.pc.in ${name}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
caucus_pkg_config(caucus "${PROJECT_DESCRIPTION}" "${core_modules}" "-lm")
caucus_pkg_config(caucus-link "The client of a live federation for your own event loop; holds libcaucus"
                  "${link_modules}" "-lm")
caucus_pkg_config(caucus-sim "Simulations of federations; holds libcaucus-link" "${sim_modules}" "-lm -pthread")

# CMake: find_package(caucus COMPONENTS link sim).
set(caucus_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/caucus)
caucus_up(caucus_cmake_up ${caucus_cmake_dir})
configure_file(cmake/caucus-config.cmake.in caucus-config.cmake @ONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/caucus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/caucus-config.cmake ${CMAKE_BINARY_DIR}/caucus-config-version.cmake
        DESTINATION ${caucus_cmake_dir})
