/*
 * What tests are written with: calls that are watched, expectations, two nodes and a connection between them.
 * The near node is this thread's; the far one belongs to the partner, a thread or a process, which does what
 * it is ordered (far.h). A test that fails, or has nothing to test, ends its process there and then.
 */
#ifndef CONFORMANCE_VIPL_SUITE_H
#define CONFORMANCE_VIPL_SUITE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "registry.h"

/* For what looks into memory that RDMA reads and writes: a program orders the two by Messages, or polls, as beside an
   adapter; ThreadSanitizer knows of neither. */
#define NO_ORDER __attribute__((no_sanitize("thread")))

/* ---- Calls and expectations -------------------------------------------------------------------------- */

/* Notes the call, so that a hang or a crash in it can be told, and makes it. */
#define CALL(name, ...) (entering(__FILE__, __LINE__, ID_##name, #__VA_ARGS__), returned(name(__VA_ARGS__)))

/* Makes the call; the test fails unless it returns this code. */
#define EXPECT(code, name, ...) expect_code(__FILE__, __LINE__, ID_##name, (code), CALL(name, __VA_ARGS__))

/* The text says what was expected and what came. */
#define CHECK(condition, ...) ((condition) ? (void)0 : fail(__FILE__, __LINE__, __VA_ARGS__))
#define FAIL(...) fail(__FILE__, __LINE__, __VA_ARGS__)

void entering(const char* file, int line, CallId call, const char* arguments);
VIP_RETURN returned(VIP_RETURN code);
void expect_code(const char* file, int line, CallId call, VIP_RETURN expected, VIP_RETURN came);
/* The call returned this code, where the test decided itself that this is right. */
void proven(CallId call, VIP_RETURN code);
_Noreturn void fail(const char* file, int line, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* There is nothing to test here, and this is why. */
_Noreturn void skip(const char* format, ...) __attribute__((format(printf, 1, 2)));
bool has_failed(void);
/* A wait of the suite itself, shown when it never ends. Text NULL: it ended. */
void waiting_for(const char* file, int line, const char* text);
#define UNTIL(condition) \
  do { \
    waiting_for(__FILE__, __LINE__, "waits until " #condition); \
    while (!(condition)) pause_ms(1); \
    waiting_for(NULL, 0, NULL); \
  } while (0)

/* ---- Time and threads -------------------------------------------------------------------------------- */

void pause_ms(unsigned milliseconds);
uint64_t now_ns(void); /* monotonic */
/* Starts a thread; join_thread waits for it. */
pthread_t start_thread(void* (*body)(void*), void* argument);
void join_thread(pthread_t thread);

/* ---- Nodes ------------------------------------------------------------------------------------------- */

enum {
  SLOTS = 64,             /* descriptors of a node's memory */
  SLOT_BYTES = 1024,      /* a control segment and up to 62 others */
  DATA_BYTES = 1 << 20,   /* data of a node's memory */
  TRANSFER_BYTES = 32768, /* MaxTransferSize of the suite's VIs: any NIC has it (VI-ARCH 6.1.1.2) */
  MAX_ERRORS = 256
};

/* An open NIC with registered memory for descriptors and data, and the asynchronous errors that came. */
typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_NIC_ATTRIBUTES attributes;
  VIP_PROTECTION_HANDLE tag; /* of the memory and of every VI; NULL if the library knows no tags yet */
  VIP_MEM_HANDLE handle;     /* of the memory: RDMA Write enabled, RDMA Read if some level supports it */
  unsigned char* memory;
  pthread_mutex_t mutex;
  VIP_ERROR_DESCRIPTOR errors[MAX_ERRORS];
  size_t error_count;
} Node;

extern Node near;

#define RELIABLE VIP_SERVICE_RELIABLE_DELIVERY /* what most tests need no other level than */

void node_open(Node* node, const char* device_name);
void node_close(Node* node); /* VipCloseNic frees what is left */
/* Opens the near node; does nothing the second time. */
void near_open(void);

/* Attributes of a VI of this node: its tag, TRANSFER_BYTES, RDMA enabled as far as the level supports it. */
VIP_VI_ATTRIBUTES vi_attributes(const Node* node, VIP_RELIABILITY_LEVEL level);
VIP_VI_HANDLE create_vi(const Node* node, VIP_RELIABILITY_LEVEL level, VIP_CQ_HANDLE send_queue,
                        VIP_CQ_HANDLE receive_queue);
/* A new one of the near node at RELIABLE. */
VIP_VI_HANDLE idle_vi(void);
VIP_VI_STATE vi_state(VIP_VI_HANDLE vi);
void check_idle(VIP_VI_HANDLE vi);
/* A completion queue of the near node. */
VIP_CQ_HANDLE make_queue(VIP_ULONG entries);
VIP_MEM_ATTRIBUTES memory_attributes(const Node* node);
bool supports_level(const Node* node, VIP_RELIABILITY_LEVEL level);
bool supports_read(const Node* node, VIP_RELIABILITY_LEVEL level);
const char* level_name(VIP_RELIABILITY_LEVEL level);
/* Skips the test unless the near NIC has the level, or RDMA Read at it. */
void need_level(int level);
void need_read(int level);

unsigned char* data_at(const Node* node, size_t offset);
/* A content that depends on the seed and on the place. */
void fill(unsigned char* bytes, size_t length, unsigned seed);
bool is_filled(const unsigned char* bytes, size_t length, unsigned seed);

/* ---- Asynchronous errors ----------------------------------------------------------------------------- */

/* Errors of this code so far; vi NULL counts those of all VIs. */
size_t count_errors(Node* node, VIP_VI_HANDLE vi, VIP_ERROR_CODE code);
/* Waits for the first error of this code about the VI, and returns it. */
VIP_ERROR_DESCRIPTOR wait_for_error(Node* node, VIP_VI_HANDLE vi, VIP_ERROR_CODE code);

/* ---- Descriptors ------------------------------------------------------------------------------------- */

/* One operation, as a slot of the node's memory describes it. */
typedef struct {
  unsigned slot;
  VIP_UINT16 control; /* VIP_CONTROL_... */
  unsigned segments;  /* data segments of equal length; the last one has what remains */
  size_t offset;      /* in the node's data */
  VIP_UINT32 length;
  VIP_UINT32 immediate;
  VIP_UINT64 remote_address; /* RDMA only */
  VIP_MEM_HANDLE remote_handle;
} Message;

/* A Send or Receive with one segment. */
Message message(unsigned slot, size_t offset, VIP_UINT32 length);
VIP_DESCRIPTOR* slot_at(const Node* node, unsigned slot);
/* The slot of a descriptor that a call returned; SLOTS if it is none. */
unsigned slot_of(const Node* node, const VIP_DESCRIPTOR* descriptor);
VIP_DESCRIPTOR* describe(const Node* node, const Message* wanted);
void post_send(VIP_VI_HANDLE vi, Message wanted); /* on the near node */
void post_receive(VIP_VI_HANDLE vi, Message wanted);
/* Wait for the next descriptor of the queue, which must be this slot, with these error bits (0: success) and
 * this operation code, VIP_STATUS_OP_... The status as it came is returned. */
VIP_UINT32 reap_send(VIP_VI_HANDLE vi, unsigned slot, VIP_UINT32 error_bits, VIP_UINT32 operation);
VIP_UINT32 reap_receive(VIP_VI_HANDLE vi, unsigned slot, VIP_UINT32 error_bits, VIP_UINT32 operation);
void check_status(const VIP_DESCRIPTOR* descriptor, VIP_UINT32 error_bits, VIP_UINT32 operation);
/* Success or VIP_DESCRIPTOR_ERROR, as Done and Wait tell a completion with these error bits. */
VIP_RETURN completion_code(VIP_UINT32 error_bits);

/* ---- Addresses --------------------------------------------------------------------------------------- */

/* A network address with room for the longest that the suite uses. */
typedef union {
  VIP_NET_ADDRESS net;
  unsigned char bytes[4 + 64 + 1024 + 2];
} Address;

/* The NIC's address with this discriminator. */
Address address_of(const VIP_NIC_ATTRIBUTES* nic, const void* discriminator, size_t length);
/* The same with a discriminator of 16 bytes that no other test or process uses. */
Address fresh_address(const VIP_NIC_ATTRIBUTES* nic);
/* No node has its host address any more. */
void make_foreign(Address* address);
bool same_address(const Address* one, const Address* other);
const unsigned char* discriminator_of(const Address* address);

#endif
