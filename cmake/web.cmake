# SPDX-License-Identifier: Apache-2.0
# The status page's files (web/), held in the program: caucus_web_NAME_EXT and caucus_web_NAME_EXT_length.
foreach(file index.html style.css app.js icon.svg)
    string(REPLACE "." "_" symbol caucus_web_${file})
    set(input ${PROJECT_SOURCE_DIR}/web/${file})
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
    add_custom_command(OUTPUT ${output} DEPENDS ${input} cmake/embed.cmake VERBATIM
        COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output} -DNAME=${symbol}
                -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
    target_sources(caucus-coordinator PRIVATE ${output})
endforeach()
