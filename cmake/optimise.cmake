# SPDX-License-Identifier: Apache-2.0
# The program and the benchmarks are optimised across files: a round of the simulator is a dozen small functions in
# nearly as many files, and a tenth of its time goes into the calls. They get the core and the simulator as objects of
# their own, which stand before the libraries; tests and other people's programs link the plain libraries, without
# waiting for it.
set(caucus_across_files OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT caucus_instrumented)
    set(caucus_across_files ON)
    add_library(caucus-across-files OBJECT ${core_sources} ${sim_sources})
    caucus_target(caucus-across-files)
    target_compile_options(caucus-across-files PRIVATE -flto)
    target_include_directories(caucus-across-files PRIVATE include src)
    target_link_libraries(caucus-across-files PRIVATE ${sim_needs})
endif()

function(caucus_optimise target)
    if(caucus_across_files)
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:caucus-across-files>)
        target_link_options(${target} PRIVATE -flto=auto)
    endif()
endfunction()
