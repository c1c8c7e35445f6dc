// The same program as C++.
#include "tests/vi/vipl_compile.c"
