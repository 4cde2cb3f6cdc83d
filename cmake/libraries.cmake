# SPDX-License-Identifier: Apache-2.0
# Three libraries, each with everything the one before it has, so that a program links exactly one of them:
#   libcaucus       layers num rng dp plan algo                 the machines, for any transport of your own
#   libcaucus-link  + wire, the files of store, link            what a device needs: no socket, no SQLite, no OpenSSL
#   libcaucus-sim   + data sim scenario show audit              what researchers and bindings need
# and, for the program alone, the coordinator (coordinator.cmake).
# A library that needed another one's internal functions would have to export them; holding the earlier layers itself,
# it exports the installed headers and nothing else.
#
# The ABI's version, apart from the package's: raised with every break of the ABI.
set(caucus_soversion 0)

# caucus_sources(RESULT LAYER...): the C files of some layers.
function(caucus_sources result)
    set(all)
    foreach(layer ${ARGN})
        file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*.c)
        if(NOT found)
            message(FATAL_ERROR "no sources in src/${layer}")
        endif()
        list(APPEND all ${found})
    endforeach()
    set(${result} ${all} PARENT_SCOPE)
endfunction()

caucus_sources(core_sources num rng dp plan plan/text plan/pace plan/stoch
                algo algo/slot algo/look algo/progress algo/relayed)
caucus_sources(link_sources wire store link)
caucus_sources(sim_sources data sim sim/slot scenario show show/signing show/choice audit)
list(APPEND link_sources ${caucus_pb_source})

# What each needs at run time: as CMake targets here, as pkg-config modules for those who link a static one.
set(core_needs PkgConfig::SODIUM m)
set(link_needs ${core_needs} PkgConfig::YAML PkgConfig::PROTOBUF_C)
set(sim_needs ${link_needs} Threads::Threads)
set(core_modules "libsodium")
set(link_modules "${core_modules} yaml-0.1 libprotobuf-c")
set(sim_modules "${link_modules}")

# Compiled once, packed twice. The objects of a group see all of src; the test `layers` holds who may use what.
function(caucus_library name group)
    add_library(${name}-objects OBJECT ${${group}_sources})
    caucus_target(${name}-objects)
    target_include_directories(${name}-objects PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_include_directories(${name}-objects SYSTEM PRIVATE ${caucus_pb_dir})
    target_link_libraries(${name}-objects PUBLIC ${${group}_needs})
    add_library(${name}-static STATIC)
    add_library(${name}-shared SHARED)
    foreach(library ${name}-static ${name}-shared)
        target_sources(${library} PRIVATE $<TARGET_OBJECTS:${name}-objects>)
        foreach(earlier ${ARGN})
            target_sources(${library} PRIVATE $<TARGET_OBJECTS:${earlier}-objects>)
        endforeach()
        target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
        set_target_properties(${library} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C)
    endforeach()
    target_include_directories(${name}-static SYSTEM INTERFACE $<BUILD_INTERFACE:${caucus_pb_dir}>)
    target_link_libraries(${name}-static PUBLIC ${${group}_needs})
    target_link_libraries(${name}-shared PRIVATE ${${group}_needs})
    set_target_properties(${name}-shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${caucus_soversion})
    if(NOT caucus_instrumented) # a sanitizer's functions come with the program
        target_link_options(${name}-shared PRIVATE -Wl,--no-undefined)
    endif()
endfunction()

caucus_library(caucus core)
caucus_library(caucus-link link caucus)
caucus_library(caucus-sim sim caucus caucus-link)
