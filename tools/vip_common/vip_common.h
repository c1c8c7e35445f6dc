/* What vicp, viping and fcvi-perf share: messages, words of the command line, a host and a discriminator on a NIC. On
   vipl.h alone, for C and C++. */
#ifndef VIP_COMMON_H
#define VIP_COMMON_H
#include <stddef.h>
#include <stdint.h>

#include "vipl.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* The program's name for messages, "vicp". Set once in main(). */
extern const char* program_name;

/* One line on standard error, after the program's name. */
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* The same, then exit(EXIT_USAGE). */
void refuse(const char* format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Text that comes from elsewhere, a name or a path, so that it may be shown on a terminal: what is no printable
 * character of UTF-8 becomes \xHH, byte for byte. What does not fit into the room is left out. say() does this to its
 * line. */
void to_printable(const char* from, char* to, size_t room);

const char* result_text(VIP_RETURN result);
const char* error_text(VIP_ERROR_CODE error);
/* Of a descriptor's status, its error bits. */
const char* status_text(VIP_UINT32 status);

/* "unreliable", "delivery", "reception"; 0 for another word. */
VIP_RELIABILITY_LEVEL level_from_word(const char* word);
const char* level_text(VIP_RELIABILITY_LEVEL level);
/* A whole number of `least` to `most`; refuses anything else, naming the option. */
unsigned long number_from_word(const char* option, const char* word, unsigned long least, unsigned long most);
/* Seconds with a fraction, 0 to 1,000,000, in milliseconds. */
unsigned long milliseconds_from_word(const char* option, const char* word);

/* HOST:[DISCRIMINATOR], HOST, [HOST]:DISCRIMINATOR (addresses with colons). */
typedef struct {
  char host[256];
  char discriminator[128]; /* NUL-ended text; empty: the program's own */
} target;
/* 0: refused; `why` says so. A colon is needed if `colon_needed`. */
int target_from_word(const char* word, int colon_needed, target* to, const char** why);

/* Room for a net address of any length that VIPL programs meet. */
typedef union {
  VIP_NET_ADDRESS address;
  VIP_UINT8 room[sizeof(VIP_NET_ADDRESS) + 256 + 256];
} net_address;

/* The NIC's own address and this discriminator. */
void local_address(VIP_NIC_HANDLE nic, const char* discriminator, net_address* to);
/* The host's address by the name service, and the discriminator; what the name service says otherwise. */
VIP_RETURN remote_address(VIP_NIC_HANDLE nic, const char* host, const char* discriminator, net_address* to);
/* "10.0.0.1", "fdfc:7669::1". */
void address_to_text(const net_address* from, char* text, size_t room);
/* The name that goes with the address, or the address itself; printable. */
void host_name_of(VIP_NIC_HANDLE nic, const net_address* from, char* text, size_t room);

/* Calls VipConnectRequest until somebody waits there, at most for `timeout_ms`. */
VIP_RETURN connect_patiently(VIP_VI_HANDLE vi, net_address* local, net_address* remote, unsigned long timeout_ms,
                             VIP_VI_ATTRIBUTES* remote_attributes);

/* Takes back what is left in both queues. */
void drain_vi(VIP_VI_HANDLE vi);
/* Ends the connection and destroys the VI; waits for the other end's answer. 0: nobody answers, and the VI is still
 * there, in the Error state, with its queues empty (FC-VI 8.6.3 a). Another try may succeed: once the fabric knows that
 * the other end is gone it is not asked any more. */
int end_vi(VIP_VI_HANDLE vi);

uint64_t now_ns(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
