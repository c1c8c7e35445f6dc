# What `cmake --install` puts where, as seven components that are also the Debian packages:
#   runtime      libvipl.so.1, fcvi-fabricd, vitcp-portd, what is read   libvipl1
#   development  vipl.h, link names, pkg-config, CMake package, man 3    libvipl-dev
#   tools        the other programs and their pages                      fcvi-tools
#   mpi          what fcvi-sim loads under mpirun                        fcvi-tools-mpi
#   simulation   libfcvi-sim.so.0 (its header and link name: development) libfcvi-sim0
#   python       the module fcvi, for Debian's python3                   python3-fcvi
#   verbs        iwarp-run, its libraries and its page                   iwarp-run
# The tree may be moved after it was installed: programs find the library, pkg-config and CMake the prefix, from where
# they are themselves. Targets and pages that are not there yet are left out.
include_guard(GLOBAL)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(FCVI_DAEMONS fcvi-fabricd vitcp-portd)
set(FCVI_TOOLS fcvi-ctl fcvi-sim fcvi-perf vicp viping)
set(FCVI_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/fcvi")

# ---- programs
file(RELATIVE_PATH FCVI_BIN_TO_LIB "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
function(fcvi_install_program target component)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${FCVI_BIN_TO_LIB}")
    install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT ${component})
  endif()
endfunction()
foreach(daemon IN LISTS FCVI_DAEMONS)
  fcvi_install_program(${daemon} runtime)
endforeach()
foreach(tool IN LISTS FCVI_TOOLS)
  fcvi_install_program(${tool} tools)
endforeach()

# ---- verbs: libraries with rdma-core's names, where nobody but iwarp-run looks (tools/iwarp_run)
if(TARGET iwarp-run)
  fcvi_install_program(iwarp-run verbs)
  install(TARGETS verbs_engine ibverbs rdmacm
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/fcvi/iwarp" COMPONENT verbs NAMELINK_SKIP)
  install(FILES "${PROJECT_SOURCE_DIR}/verbs/verbs.example.yaml" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT verbs)
endif()

# ---- the module with MPI: where open.cpp of tools/fcvi_sim/ranks looks
if(TARGET fcvi_sim_mpi)
  install(TARGETS fcvi_sim_mpi LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/fcvi" COMPONENT mpi)
endif()

# ---- library: libvipl.so.1 is the name that programs carry (the ABI), 1.MAJOR.MINOR the file.
set_target_properties(vipl PROPERTIES VERSION 1.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} EXPORT_NAME vipl)
add_library(fcvi::vipl ALIAS vipl)
install(TARGETS vipl EXPORT fcvi-targets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/vipl/vipl.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)

# ---- simulated fabrics for tests: fcvi/sim.hpp
if(TARGET fcvi_sim_shared)
  add_library(fcvi::sim ALIAS fcvi_sim_shared)
  install(TARGETS fcvi_sim_shared EXPORT fcvi-targets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT simulation NAMELINK_COMPONENT development
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(FILES "${PROJECT_SOURCE_DIR}/tools/sim_api/include/fcvi/sim.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/fcvi"
    COMPONENT development)
endif()

# ---- Python: where Debian's python3 looks, with the entry point of the pytest plugin
if(TARGET fcvi_python)
  set(FCVI_DIST_PACKAGES "lib/python3/dist-packages")
  file(GLOB FCVI_PYTHON_FILES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/sim_api/python/fcvi/*.py"
    "${PROJECT_SOURCE_DIR}/tools/sim_api/python/fcvi/*.pyi" "${PROJECT_SOURCE_DIR}/tools/sim_api/python/fcvi/py.typed")
  install(TARGETS fcvi_python LIBRARY DESTINATION "${FCVI_DIST_PACKAGES}/fcvi" COMPONENT python)
  install(FILES ${FCVI_PYTHON_FILES} DESTINATION "${FCVI_DIST_PACKAGES}/fcvi" COMPONENT python)
  set(FCVI_DIST_INFO "${PROJECT_BINARY_DIR}/python/fcvi-${PROJECT_VERSION}.dist-info")
  file(WRITE "${FCVI_DIST_INFO}/METADATA" "Metadata-Version: 2.1\nName: fcvi\nVersion: ${PROJECT_VERSION}\n")
  file(WRITE "${FCVI_DIST_INFO}/entry_points.txt" "[pytest11]\nfcvi.pytest_plugin = fcvi.pytest_plugin\n")
  install(DIRECTORY "${FCVI_DIST_INFO}" DESTINATION "${FCVI_DIST_PACKAGES}" COMPONENT python)
endif()

# Makefiles written for another vendor's library say -lgnivipl (shared list of variants); it is the same library.
set(FCVI_ALIAS "${PROJECT_BINARY_DIR}/lib/libgnivipl.so")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
file(CREATE_LINK libvipl.so "${FCVI_ALIAS}" SYMBOLIC)
install(FILES "${FCVI_ALIAS}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)

# ---- pkg-config: the prefix is where the file lies, less its own folder
file(RELATIVE_PATH FCVI_PC_TO_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" FCVI_PC_TO_PREFIX "${FCVI_PC_TO_PREFIX}")
configure_file("${PROJECT_SOURCE_DIR}/vipl/vipl.pc.in" "${PROJECT_BINARY_DIR}/vipl.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/vipl.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

# ---- CMake: find_package(fcvi) gives fcvi::vipl
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/fcvi-config.cmake.in" "${PROJECT_BINARY_DIR}/fcvi-config.cmake"
  INSTALL_DESTINATION "${FCVI_PACKAGE_DIR}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/fcvi-config-version.cmake" COMPATIBILITY SameMajorVersion)
install(EXPORT fcvi-targets NAMESPACE fcvi:: DESTINATION "${FCVI_PACKAGE_DIR}" COMPONENT development)
install(FILES "${PROJECT_BINARY_DIR}/fcvi-config.cmake" "${PROJECT_BINARY_DIR}/fcvi-config-version.cmake"
  DESTINATION "${FCVI_PACKAGE_DIR}" COMPONENT development)

# ---- what people read
foreach(example vipl.example.yaml hosts.example)
  install(FILES "${PROJECT_SOURCE_DIR}/vipl/${example}" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime OPTIONAL)
endforeach()

# ---- Editors: the JSON Schema of scenarios.
if(TARGET fcvi-sim)
  get_target_property(FCVI_SCHEMA fcvi-sim FCVI_SCHEMA)
  install(FILES "${FCVI_SCHEMA}" DESTINATION "${CMAKE_INSTALL_DATADIR}/fcvi" COMPONENT tools OPTIONAL)
endif()

# ---- Wireshark: the folder of Lua plugins and of profiles of all users, which a Wireshark in the same prefix reads.
if(TARGET wireshark_plugin)
  get_target_property(FCVI_PLUGIN wireshark_plugin FCVI_PLUGIN)
  get_target_property(VITCP_PLUGIN wireshark_plugin VITCP_PLUGIN)
  get_target_property(IFT_PLUGIN wireshark_plugin IFT_PLUGIN)
  set(FCVI_WIRESHARK_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
  if(CMAKE_LIBRARY_ARCHITECTURE)
    set(FCVI_WIRESHARK_LIBDIR "lib/${CMAKE_LIBRARY_ARCHITECTURE}")
  endif()
  install(FILES "${FCVI_PLUGIN}" "${VITCP_PLUGIN}" "${IFT_PLUGIN}" DESTINATION "${FCVI_WIRESHARK_LIBDIR}/wireshark/plugins" COMPONENT tools OPTIONAL)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/tools/wireshark/profile/" DESTINATION "${CMAKE_INSTALL_DATADIR}/wireshark/profiles/FC-VI"
    COMPONENT tools)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/tools/wireshark/vitcp/profile/" DESTINATION "${CMAKE_INSTALL_DATADIR}/wireshark/profiles/VI-TCP"
    COMPONENT tools)
endif()
