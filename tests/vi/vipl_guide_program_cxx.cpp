// The same program as C++.
#include "tests/vi/vipl_guide_program.c"
