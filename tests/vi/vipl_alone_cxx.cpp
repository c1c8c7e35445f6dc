// vipl.h, and nothing before or after it.
#include <vipl.h>
