# What `make install` puts where. The pkg-config file finds its prefix from its own place, so a staged
# or moved copy works.
install(TARGETS caucus RUNTIME)
install(TARGETS caucus-static caucus-net ARCHIVE)
install(TARGETS caucus-shared LIBRARY)
install(DIRECTORY include/caucus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
file(GLOB man_pages CONFIGURE_DEPENDS man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

file(RELATIVE_PATH caucus_pc_up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" caucus_pc_up "${caucus_pc_up}")
foreach(name caucus caucus-net)
    configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
