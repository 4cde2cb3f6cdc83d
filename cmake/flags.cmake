# SPDX-License-Identifier: Apache-2.0
# Compiler flags. Results must not depend on the compiler or its options: strict floating point
# everywhere, and no instruction set beyond the platform's baseline.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF) # src/num/int128.h and the __builtin functions are what we use beyond C11
add_compile_definitions(_DEFAULT_SOURCE) # POSIX.1-2008, which strict C11 hides; a file that needs more of Linux says so
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_SKIP_BUILD_RPATH OFF)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()
# Assertions stay on in a release: a parameter out of range must stop a mechanism, not weaken it.
set(CMAKE_C_FLAGS_RELEASE "-O3")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g3")

set(caucus_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Wundef)
if(CAUCUS_WERROR)
    list(APPEND caucus_warnings -Werror)
endif()

add_compile_options(-ffp-contract=off)
# Nobody replaces our functions one by one at load time; without this gcc may not inline a public one, even in its own
# file.
add_compile_options(-fno-semantic-interposition)
set(caucus_instrumented OFF)
if(CAUCUS_SANITIZE)
    set(caucus_instrumented ON)
    add_compile_options(-fsanitize=${CAUCUS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${CAUCUS_SANITIZE})
endif()
if(CAUCUS_FUZZ)
    set(caucus_instrumented ON)
    if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "CAUCUS_FUZZ needs clang: cmake --preset fuzz")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(CAUCUS_COVERAGE)
    set(caucus_instrumented ON)
    # Parallel tests run the same objects: counters must be added atomically. -Og keeps the branches of the source (the
    # counts of -O0 within some percent) and makes what computes a lot several times faster.
    add_compile_options(-Og --coverage -fprofile-update=atomic)
    add_link_options(--coverage)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT caucus_instrumented)
    add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
    add_link_options(-Wl,-z,relro,-z,now)
endif()

# Our own code: every warning. (Not for a whole directory, so that generated code could be exempt.)
function(caucus_target target)
    target_compile_options(${target} PRIVATE ${caucus_warnings})
endfunction()
