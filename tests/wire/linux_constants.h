/* Constants of the Linux Fibre Channel headers, as numbers: fc_els.h is not C++. */
#ifndef FCVI_TESTS_WIRE_LINUX_CONSTANTS_H
#define FCVI_TESTS_WIRE_LINUX_CONSTANTS_H
#ifdef __cplusplus
extern "C" {
#endif

/* The value of a constant by its Linux name; -1 if linux_constants.c does not list it. */
long linux_constant(const char* name);

#ifdef __cplusplus
}
#endif
#endif
