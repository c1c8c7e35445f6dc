/*
 * What every example needs and none is about: texts, options, registered buffers, and connections by name.
 *
 * A service is named HOST[:NAME]. HOST is looked up with VipNSGetHostByName; NAME is the connection discriminator that
 * the server waits for. What fails here ends the program with a message and status 1.
 */
#ifndef VIPL_UTIL_H
#define VIPL_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <vipl.h>

/* WAIT_MS: more than any answer takes; who waits longer has lost its peer. */
enum {
  EXIT_WRONG_USE = 2,
  CONNECT_TIMEOUT_MS = 10000,
  WAIT_MS = 20000,
  BURIALS_MS = 2000,
  LONGEST_PAUSE_NS = 50000000
};

/* ---- texts */
extern const char* const program_name; /* the program defines it: what messages begin with */
const char* result_text(VIP_RETURN result);
const char* error_text(VIP_ERROR_CODE code);
_Noreturn void die(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* Ends the program unless it is VIP_SUCCESS. */
void check(VIP_RETURN result, const char* call);
double now_seconds(void);

/* ---- options that all examples have */
typedef struct {
  const char* device; /* --nic */
  VIP_RELIABILITY_LEVEL level;
} common_options;
#define COMMON_OPTIONS_TEXT \
  "  --nic NAME      NIC to use (default VINIC)\n" \
  "  --level LEVEL   unreliable, delivery (default) or reception\n" \
  "  --help          this text\n"
/* For getopt_long: the long options that common_option() takes. */
enum { OPTION_NIC = 1000, OPTION_LEVEL, OPTION_HELP };
#define COMMON_LONG_OPTIONS \
  {"nic", required_argument, NULL, OPTION_NIC}, {"level", required_argument, NULL, OPTION_LEVEL}, { \
    "help", no_argument, NULL, OPTION_HELP \
  }
/* Takes the option if it is one of these; anything else is wrong use. */
void common_option(int option, const char* value, common_options* options, const char* usage);
/* A whole number within the limits, else wrong use. */
unsigned long number_option(const char* value, const char* what, unsigned long least, unsigned long most);
_Noreturn void wrong_use(const char* usage, const char* why);

/* ---- NIC and memory */
/* Opens the NIC, starts its name service, and has asynchronous errors other than lost connections printed. */
VIP_NIC_HANDLE open_nic(const char* device);
/* Zeroed memory on a 64-byte boundary, registered. rdma: remote ends may read and write it. */
void* alloc_registered(VIP_NIC_HANDLE nic, size_t bytes, VIP_BOOLEAN rdma, VIP_MEM_HANDLE* handle);
void free_registered(VIP_NIC_HANDLE nic, void* memory, VIP_MEM_HANDLE handle);
VIP_VI_HANDLE create_vi(VIP_NIC_HANDLE nic, VIP_RELIABILITY_LEVEL level, VIP_BOOLEAN rdma, VIP_CQ_HANDLE queue);
/* Disconnects, takes all descriptors back, and destroys it; waits for the peer's answer. 0: there was none, and the VI
 * is still there, in the Error state; another try may succeed. */
int destroy_vi(VIP_VI_HANDLE vi);
/* For servers. A thread destroys the VI and frees its registered memory, then calls done(context); the server serves
 * others meanwhile. A client that left without a word is asked again until the fabric knows that it is gone. */
void bury(VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, void* memory, VIP_MEM_HANDLE handle, void (*done)(void*),
          void* context);
/* Until all are buried, or BURIALS_MS are over: closing the NIC ends what is left. */
void wait_for_burials(void);

/* ---- descriptors with one data segment */
void describe(VIP_DESCRIPTOR* descriptor, void* data, VIP_MEM_HANDLE handle, VIP_UINT32 length);
void describe_rdma(VIP_DESCRIPTOR* descriptor, VIP_UINT16 operation, VIP_UINT64 remote, VIP_MEM_HANDLE remote_handle,
                   void* data, VIP_MEM_HANDLE handle, VIP_UINT32 length);

/* ---- connections. Addresses are freed by the caller. */
VIP_NET_ADDRESS* local_address(VIP_NIC_HANDLE nic, const char* name);
/* HOST[:NAME]; default_name if there is no NAME. */
VIP_NET_ADDRESS* remote_address(VIP_NIC_HANDLE nic, const char* service, const char* default_name);
/* Waits for a client; VipConnectAccept or VipConnectReject must follow. */
VIP_RETURN wait_for_client(VIP_NIC_HANDLE nic, const char* name, VIP_ULONG timeout_ms, VIP_CONN_HANDLE* request);
/* Both: waits for a client and accepts it with the VI, or rejects it. */
VIP_RETURN accept_client(VIP_NIC_HANDLE nic, const char* name, VIP_ULONG timeout_ms, VIP_VI_HANDLE vi);
/* Connects; as long as the server does not wait yet (VIP_NO_MATCH), tries again until `patience_ms` are over. */
VIP_RETURN connect_to(VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, const char* service, const char* default_name,
                      VIP_ULONG patience_ms);

#endif
