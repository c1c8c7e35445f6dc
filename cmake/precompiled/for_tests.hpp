// What most sources of the tests include of others' headers (cmake/Precompiled.cmake).
#pragma once

#include <gtest/gtest.h>

#include "cmake/precompiled/for_libraries.hpp"
