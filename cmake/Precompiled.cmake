# Headers that are parsed once per build and not once per source: half of a source's time goes into them. The common ones
# hold headers of others alone (C++, Boost, GoogleTest), so that a change of the project's compiles what it compiled before.
# In Release alone: the other builds find an #include that is missing, and clang-tidy a command that it understands.
include_guard(GLOBAL)

set(precompiled OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT FCVI_FUZZ
   AND NOT FCVI_OWNER_MUTATION)
  set(precompiled ON)
endif()
option(FCVI_PRECOMPILED_HEADERS "precompile the headers of C++, Boost and GoogleTest" ${precompiled})

# ccache takes sources with a precompiled header only if it may trust that none uses __TIME__.
if(FCVI_PRECOMPILED_HEADERS AND CCACHE AND CMAKE_CXX_COMPILER_LAUNCHER STREQUAL CCACHE)
  execute_process(COMMAND "${CCACHE}" --get-config sloppiness OUTPUT_VARIABLE sloppiness OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT sloppiness MATCHES "pch_defines" OR NOT sloppiness MATCHES "time_macros")
    string(REPLACE ", " "," sloppiness "${sloppiness},pch_defines,time_macros")
    string(REGEX REPLACE "^," "" sloppiness "${sloppiness}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_SLOPPINESS=${sloppiness}" "${CCACHE}")
  endif()
endif()

# fcvi_precompile(TARGET HEADER): the target's C++ sources begin with the header. Its name is that of an #include <...>: an
# absolute one would differ in every copy of the tree, and ccache would not know it again.
function(fcvi_precompile target header)
  if(FCVI_PRECOMPILED_HEADERS OR FCVI_QUICK)
    target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
  endif()
endfunction()

# fcvi_precompiled(NAME HEADER): to be used by others; a target of its own, for which none of them has to wait.
function(fcvi_precompiled name header)
  if(FCVI_PRECOMPILED_HEADERS)
    add_library(${name} OBJECT "${PROJECT_SOURCE_DIR}/cmake/precompiled/nothing.cpp")
    target_link_libraries(${name} PRIVATE fcvi_options)
    fcvi_precompile(${name} ${header})
  endif()
endfunction()

# fcvi_use_precompiled(TARGET NAME): TARGET has the same -f and -O options.
function(fcvi_use_precompiled target name)
  if(FCVI_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

fcvi_precompiled(precompiled_for_libraries cmake/precompiled/for_libraries.hpp)
