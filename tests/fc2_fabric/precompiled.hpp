// What nearly all sources of the tests of fc2_fabric and farp include (cmake/Precompiled.cmake). A change of a
// header in here compiles all of them: none that only a part includes.
#pragma once

#include "cmake/precompiled/for_tests.hpp"
#include "tests/support/test_fabric.hpp"
