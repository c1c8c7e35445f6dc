# Run by CPack on each component's staged tree: what Debian's policy asks beyond our install rules. Programs in /usr/bin
# need no search path, pages are compressed, and each package says its licence and its history.
file(GLOB trees LIST_DIRECTORIES true "${CPACK_TEMPORARY_DIRECTORY}/*")
if(CPACK_GENERATOR STREQUAL DEB)
  foreach(tree IN LISTS trees)
    get_filename_component(component "${tree}" NAME)
    string(TOUPPER "${component}" upper)
    set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
    set(doc "${tree}/usr/share/doc/${package}")
    file(MAKE_DIRECTORY "${doc}")
    # What our rules put into the project's own documentation folder belongs to the package's.
    if(EXISTS "${tree}/usr/share/doc/fcvi")
      file(COPY "${tree}/usr/share/doc/fcvi/" DESTINATION "${doc}")
      file(REMOVE_RECURSE "${tree}/usr/share/doc/fcvi")
    endif()
    # Others' code within our programs (third_party/README.md).
    set(third_party "")
    if(EXISTS "${tree}/usr/bin/fcvi-sim")
      file(READ "${CMAKE_CURRENT_LIST_DIR}/../third_party/uplot/LICENSE" licence)
      string(REGEX REPLACE "^.*(Permission is hereby)" "\\1" licence "${licence}")
      string(STRIP "${licence}" licence)
      string(REPLACE "\n\n" "\n.\n" licence "${licence}")
      string(REPLACE "\n" "\n " licence "${licence}")
      set(third_party "\nFiles: third_party/uplot/*\nCopyright: 2022 Leon Sorokin\nLicense: Expat\n ${licence}\n")
    endif()
    file(WRITE "${doc}/copyright" "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: fcvi

Files: *
Copyright: 2026 the fcvi project
License: Apache-2.0
 On Debian systems, the full text is in /usr/share/common-licenses/Apache-2.0.
${third_party}")
    file(WRITE "${doc}/changelog" "${package} (${CPACK_PACKAGE_VERSION}) stable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  Thu, 01 Jan 2026 00:00:00 +0000
")
    file(GLOB pages "${tree}/usr/share/man/man*/*")
    execute_process(COMMAND gzip -9nf ${pages} "${doc}/changelog" COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB programs "${tree}/usr/bin/*")
    foreach(program IN LISTS programs)
      file(RPATH_REMOVE FILE "${program}")
    endforeach()
  endforeach()
endif()
