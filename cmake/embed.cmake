# SPDX-License-Identifier: Apache-2.0
# Make a C file that holds a text file: cmake -DINPUT=docs/PAPER.md -DOUTPUT=paper_md.c -DNAME=caucus_paper_md -P
# embed.cmake gives `const char NAME[]` (ending in 0) and `const unsigned long NAME_length`.
file(READ "${INPUT}" hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR length "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," hex "${hex}")
get_filename_component(source "${INPUT}" NAME)
file(WRITE "${OUTPUT}" "/* Made from ${source} by cmake/embed.cmake. */
extern const char ${NAME}[];
extern const unsigned long ${NAME}_length;
const char ${NAME}[] = {
${hex}0};
const unsigned long ${NAME}_length = ${length};
")
