# `cpack -G DEB` in the build folder: libvipl1, libvipl-dev, fcvi-tools, fcvi-tools-mpi, libfcvi-sim0, python3-fcvi and iwarp-run, one for each component of Install.cmake.
include_guard(GLOBAL)

set(CPACK_PACKAGE_NAME fcvi)
set(CPACK_PACKAGE_VENDOR "fcvi project")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_SOURCE_GENERATOR "")
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime development tools simulation)
if(TARGET fcvi_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
if(TARGET fcvi_sim_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
if(TARGET iwarp-run)
  list(APPEND CPACK_COMPONENTS_ALL verbs)
endif()
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/DebianTree.cmake")

set(CPACK_DEBIAN_PACKAGE_MAINTAINER "fcvi project <fcvi@fcvi.invalid>" CACHE STRING "who answers for the packages")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib" "${PROJECT_BINARY_DIR}/lib/iwarp")

# fcvi_debian_package(COMPONENT NAME SECTION DEPENDS SUMMARY TEXT)
function(fcvi_debian_package component name section depends summary text)
  string(TOUPPER "${component}" upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME "${name}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION "${section}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${FCVI_ABOUT}\n.\n${text}" PARENT_SCOPE)
endfunction()

# The module is for one version of Python.
if(TARGET fcvi_python)
  execute_process(COMMAND "${FCVI_PYTHON_EXECUTABLE}" -c "import sys; print('%d.%d %d.%d' % (*sys.version_info[:2], 3, sys.version_info[1] + 1))"
    OUTPUT_VARIABLE FCVI_PYTHON_VERSIONS OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(FCVI_PYTHON_VERSIONS)
  list(GET FCVI_PYTHON_VERSIONS 0 FCVI_THIS_PYTHON)
  list(GET FCVI_PYTHON_VERSIONS 1 FCVI_NEXT_PYTHON)
endif()

set(FCVI_ABOUT "The Virtual Interface Architecture lets programs send, receive and do
remote direct memory access without the kernel in between. This provider
carries it over Fibre Channel FC-VI (ISO/IEC 14165-331) on an emulated
fabric.")
set(FCVI_SAME_LIBRARY "libvipl1 (= ${PROJECT_VERSION})")   # the versions of one build belong together
fcvi_debian_package(runtime libvipl1 libs "" "Virtual Interface Provider Library"
  "This package has the library and the service of the local fabric, which is
started on demand.")
fcvi_debian_package(development libvipl-dev libdevel "${FCVI_SAME_LIBRARY}, libfcvi-sim0 (= ${PROJECT_VERSION})"
  "Virtual Interface Provider Library, development files"
  "This package has the header, the link names, manual pages of the calls and
example programs.")
fcvi_debian_package(tools fcvi-tools net "${FCVI_SAME_LIBRARY}"
  "Virtual Interface Provider Library, programs"
  "This package has the fabric simulator and the programs that copy files,
test the connection between nodes and measure its speed, and the Wireshark
plugins for FC-VI and for VI over TCP.")
fcvi_debian_package(mpi fcvi-tools-mpi net "fcvi-tools (= ${PROJECT_VERSION})" "Fabric simulator on many machines"
  "This package has what fcvi-sim loads under mpirun and srun: with it the
simulator shares its work over the machines of a cluster.")
fcvi_debian_package(simulation libfcvi-sim0 libs "" "Simulated Fibre Channel fabrics for tests"
  "This package has the library that tests in C++ build fabrics, ports and
faults with, in virtual time.")
fcvi_debian_package(python python3-fcvi python "python3 (>= ${FCVI_THIS_PYTHON}), python3 (<< ${FCVI_NEXT_PYTHON})"
  "Simulated Fibre Channel fabrics for tests, Python module"
  "This package has the module with which tests in Python build fabrics, ports
and faults, in virtual time, and a plugin for pytest.")
fcvi_debian_package(verbs iwarp-run net "" "Verbs programs without an RDMA adapter"
  "This package has iwarp-run, which runs programs that were written for the
verbs of rdma-core over TCP, as iWARP adapters do, or over SCTP. It needs
neither an adapter nor a kernel module.")
set(CPACK_DEBIAN_VERBS_PACKAGE_SUGGESTS "ibverbs-utils, rdmacm-utils, perftest")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "wireshark | tshark (>= 4.0), fcvi-tools-mpi")
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "openmpi-bin")

set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pytest")

# fcvi_library_package(COMPONENT PACKAGE LIBRARY SOVERSION): a new library is found without a reboot, and other packages learn
# what to depend on. CPack would tell the same of libraries that are nobody else's (iwarp-run's).
function(fcvi_library_package component package library soversion)
  string(TOUPPER "${component}" upper)
  set(folder "${PROJECT_BINARY_DIR}/debian/${package}")
  file(WRITE "${folder}/triggers" "activate-noawait ldconfig\n")
  file(WRITE "${folder}/shlibs" "${library} ${soversion} ${package} (>= ${PROJECT_VERSION})\n")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${folder}/triggers;${folder}/shlibs" PARENT_SCOPE)
endfunction()
fcvi_library_package(runtime libvipl1 libvipl 1)
fcvi_library_package(simulation libfcvi-sim0 libfcvi-sim 0)

include(CPack)
