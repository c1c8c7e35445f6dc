# Compiler settings and the two functions that every folder uses.
include_guard(GLOBAL)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)          # everything can end in libvipl.so
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Invariants stay on: no -DNDEBUG; see docs/architecture.md. Two members that were written one by one and are read at
# once, as a vector, make a processor wait for the writes: frames a second are 3 % more without.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -fno-tree-slp-vectorize")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g1")
option(FCVI_CHECKED "owners assert is_consistent() after each settle: always so in Debug and fuzz builds" OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR FCVI_FUZZ OR FCVI_CHECKED)
  add_compile_definitions(FCVI_CHECKED)           # owners assert is_consistent(); see state_machines/consistency.hpp
endif()

# Who compiles everything once is done sooner with many sources at a time, for most of a source's time are the headers that its
# neighbours include, too: together they take a third to a half of the time of each alone. Names of one source are seen by the
# next: a local name that two have gets another, or one of the sources SKIP_UNITY_BUILD_INCLUSION. Of the tests' programs only
# those that say so (JOINED), for their sources have the most such names. A change of one file costs more.
option(FCVI_JOINED "compile each folder's sources at a time: tools/test in a new folder" OFF)
# A first run needs one program, once: the same without debug information, and with no more optimization than costs nothing.
# What compiles so in tools/test compiles in tools/run.
option(FCVI_QUICK "the same for tools/run on a new machine" OFF)
if(FCVI_JOINED OR FCVI_QUICK)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 40)
endif()
if(FCVI_QUICK)
  set(CMAKE_CXX_FLAGS_RELEASE "-O1")
  set(CMAKE_C_FLAGS_RELEASE "-O1")
endif()

set(FCVI_SANITIZE "" CACHE STRING "address,undefined or thread")
if(FCVI_SANITIZE)
  add_compile_options(-fsanitize=${FCVI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FCVI_SANITIZE})
  if(FCVI_SANITIZE MATCHES thread)
    # ThreadSanitizer does not understand fences; those of Boost.Asio are for handlers without a lock, which ours are not.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()
option(FCVI_COVERAGE "instrument for gcov" OFF)
if(FCVI_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
option(FCVI_FUZZ "build the libFuzzer programs of tests/fuzz (clang)" OFF)
if(FCVI_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # everything below a target counts as reached or not
endif()
option(FCVI_MUTATION "tables of the state machines that a test can change at run time (tools/mutation)" OFF)
option(FCVI_OWNER_MUTATION "tests that serve tools/mutation --owners, in the copy of the tree that it makes" OFF)

# The way of a message leads through a hundred small functions in forty sources. The linker has those of libvipl.so compiled once
# more, together: who is called from one place alone is part of its caller, which saves a tenth of the instructions of a message.
# The objects are complete besides (-ffat-lto-objects): all else is linked as before, fcvi-sim too, which tests link many times.
option(FCVI_LINK_TIME "optimize libvipl.so when it is linked: 15 seconds of CPU time" ON)
set(fcvi_link_time OFF)
if(FCVI_LINK_TIME AND CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
   AND NOT FCVI_QUICK AND NOT FCVI_SANITIZE AND NOT FCVI_COVERAGE AND NOT FCVI_FUZZ AND NOT FCVI_MUTATION AND NOT FCVI_OWNER_MUTATION)
  set(fcvi_link_time ON)
  add_link_options(-fno-lto)  # else g++ would do it for each program in which it finds such objects
endif()
# optimize_when_linked(TARGET ...): libraries that take part in that.
function(optimize_when_linked)
  if(fcvi_link_time)
    foreach(target ${ARGN})
      target_compile_options(${target} PRIVATE -flto -ffat-lto-objects)
    endforeach()
  endif()
endfunction()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE}")
endif()

add_library(fcvi_options INTERFACE)
target_compile_options(fcvi_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Werror
  $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
  # One source's names are no others' in the same file, and with all of them in view g++ 12 at -O2 takes more for
  # uninitialized than is: who compiles them one by one is told what is.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-shadow -Wno-subobject-linkage
    -Wno-maybe-uninitialized -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread>)
target_include_directories(fcvi_options INTERFACE "${CMAKE_SOURCE_DIR}")

include(Precompiled)

# fcvi_library(NAME SOURCES a.cpp ... DEPENDS x y [PRECOMPILED h.hpp]): a static library of one folder. Without sources:
# headers only. PRECOMPILED: a header of its own that every source includes, instead of the libraries' common one.
function(fcvi_library name)
  cmake_parse_arguments(arg "" "PRECOMPILED" "SOURCES;DEPENDS" ${ARGN})
  if(arg_SOURCES)
    add_library(${name} STATIC ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC fcvi_options ${arg_DEPENDS})
    if(arg_PRECOMPILED)
      fcvi_precompile(${name} ${arg_PRECOMPILED})
    else()
      fcvi_use_precompiled(${name} precompiled_for_libraries)
    endif()
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE fcvi_options ${arg_DEPENDS})
  endif()
endfunction()

# Ends a test that hangs, no more. Under sanitizers the explorations of thousands of runs take ten times as long.
set(fcvi_test_timeout_s 300)
if(FCVI_SANITIZE)
  set(fcvi_test_timeout_s 1800)
endif()

# The tests' own code is compiled soon rather than well: their time goes into the libraries'. A crash is looked at in a Debug
# build. At -Og g++ 12 takes more for uninitialized and out of bounds than is; the sanitizers find what is.
set(fcvi_soon_options "")
set(fcvi_test_options "")
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(fcvi_soon_options -Og -Wno-maybe-uninitialized -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
    -Wno-stringop-overread)
  set(fcvi_test_options ${fcvi_soon_options} -g0)
endif()

# fcvi_command_line(TARGET): a program whose own sources read options and call libraries. CLI11 at -O2 takes the compiler as
# long as the library below it.
function(fcvi_command_line target)
  target_compile_options(${target} PRIVATE ${fcvi_soon_options})
endfunction()

# fcvi_precompiled_for_tests(NAME HEADER): for fcvi_test(... PRECOMPILED NAME).
function(fcvi_precompiled_for_tests name header)
  fcvi_precompiled(${name} ${header})
  if(TARGET ${name})
    target_compile_options(${name} PRIVATE ${fcvi_test_options} -fPIE)   # as a program's
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_link_libraries(${name} PRIVATE GTest::gmock GTest::gtest)
  endif()
endfunction()

# fcvi_test(NAME SOURCES a.cpp ... DEPENDS x y [ENVIRONMENT a=b] [PRECOMPILED name] [JOINED [ALONE b.cpp ...]]): a GoogleTest
# program whose cases CTest lists one by one. PRECOMPILED: a fcvi_precompiled_for_tests() of which nearly every source includes
# everything. JOINED: FCVI_JOINED joins its sources, which have no local names in common but for those that are ALONE.
function(fcvi_test name)
  cmake_parse_arguments(arg "JOINED" "ENVIRONMENT;PRECOMPILED" "SOURCES;DEPENDS;ALONE" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  if(arg_JOINED)
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)
    if(arg_ALONE)
      set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  else()
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  target_compile_options(${name} PRIVATE ${fcvi_test_options})
  if(NOT arg_PRECOMPILED)
    set(arg_PRECOMPILED precompiled_for_tests)
  endif()
  fcvi_use_precompiled(${name} ${arg_PRECOMPILED})
  target_link_libraries(${name} PRIVATE fcvi_options source_dir ${arg_DEPENDS} GTest::gmock GTest::gtest GTest::gtest_main)
  if(FCVI_OWNER_MUTATION)
    target_sources(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests/mutation/owner_main.cpp")
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${fcvi_test_timeout_s} ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()
