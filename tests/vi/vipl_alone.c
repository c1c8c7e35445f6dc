/* vipl.h, and nothing before or after it. */
#include <vipl.h>

typedef int not_an_empty_file;
