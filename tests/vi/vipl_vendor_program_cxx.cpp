// The same program as C++.
#include "tests/vi/vipl_vendor_program.c"
