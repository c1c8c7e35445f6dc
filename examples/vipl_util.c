/* See vipl_util.h. */
#define _POSIX_C_SOURCE 200809L
#include "vipl_util.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- texts ---------------------------------------------------------------------------------------------- */

const char* result_text(VIP_RETURN result) {
  static const char* const texts[] = {"success",
                                      "not done",
                                      "invalid parameter",
                                      "insufficient resources",
                                      "timed out",
                                      "rejected",
                                      "reliability levels differ",
                                      "maximum transfer sizes differ",
                                      "qualities of service differ",
                                      "invalid protection tag",
                                      "RDMA Read is not supported",
                                      "a descriptor ended in error",
                                      "invalid state of the VI",
                                      "unknown to the name service",
                                      "nobody waits there",
                                      "not reachable",
                                      "not supported"};
  return (unsigned)result < sizeof texts / sizeof *texts ? texts[result] : "unknown result";
}

const char* error_text(VIP_ERROR_CODE code) {
  static const char* const texts[] = {
      "descriptor could not be posted", "connection lost",    "no receive was posted",
      "too many descriptors",           "RDMA Write refused", "RDMA Write corrupted",
      "RDMA Write ended early",         "RDMA Read refused",  "descriptor's memory is gone",
      "RDMA transport error",           "catastrophic error"};
  return (unsigned)code < sizeof texts / sizeof *texts ? texts[code] : "unknown error";
}

void die(const char* format, ...) {
  va_list arguments;
  fprintf(stderr, "%s: ", program_name);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(EXIT_FAILURE);
}

void check(VIP_RETURN result, const char* call) {
  if (result != VIP_SUCCESS) die("%s: %s", call, result_text(result));
}

double now_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- options -------------------------------------------------------------------------------------------- */

void wrong_use(const char* usage, const char* why) {
  if (why != NULL) fprintf(stderr, "%s: %s\n", program_name, why);
  fputs(usage, stderr);
  exit(EXIT_WRONG_USE);
}

static VIP_RELIABILITY_LEVEL level_option(const char* word, const char* usage) {
  if (strcmp(word, "unreliable") == 0) return VIP_SERVICE_UNRELIABLE;
  if (strcmp(word, "delivery") == 0) return VIP_SERVICE_RELIABLE_DELIVERY;
  if (strcmp(word, "reception") == 0) return VIP_SERVICE_RELIABLE_RECEPTION;
  wrong_use(usage, "--level: unreliable, delivery or reception expected");
}

void common_option(int option, const char* value, common_options* options, const char* usage) {
  switch (option) {
    case OPTION_NIC: options->device = value; break;
    case OPTION_LEVEL: options->level = level_option(value, usage); break;
    case OPTION_HELP: fputs(usage, stdout); exit(EXIT_SUCCESS);
    default: wrong_use(usage, NULL); /* getopt_long has said why */
  }
}

unsigned long number_option(const char* value, const char* what, unsigned long least, unsigned long most) {
  char* end;
  unsigned long number;
  errno = 0;
  number = strtoul(value, &end, 10);
  if (errno != 0 || end == value || *end != '\0' || *value == '-' || number < least || number > most) {
    fprintf(stderr, "%s: %s: a number from %lu to %lu expected, not '%s'\n", program_name, what, least, most, value);
    exit(EXIT_WRONG_USE);
  }
  return number;
}

/* ---- NIC and memory ------------------------------------------------------------------------------------- */

/* A lost connection shows in its descriptors too. */
static void print_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)context;
  if (error->ErrorCode != VIP_ERROR_CONN_LOST)
    fprintf(stderr, "%s: asynchronous error: %s\n", program_name, error_text(error->ErrorCode));
}

VIP_NIC_HANDLE open_nic(const char* device) {
  VIP_NIC_HANDLE nic;
  VIP_RETURN result = VipOpenNic(device, &nic);
  if (result != VIP_SUCCESS) die("NIC %s: %s", device, result_text(result));
  check(VipErrorCallback(nic, NULL, print_error), "VipErrorCallback");
  check(VipNSInit(nic, NULL), "VipNSInit");
  return nic;
}

void* alloc_registered(VIP_NIC_HANDLE nic, size_t bytes, VIP_BOOLEAN rdma, VIP_MEM_HANDLE* handle) {
  VIP_MEM_ATTRIBUTES attributes = {NULL, VIP_FALSE, VIP_FALSE};
  void* memory = NULL;
  if (posix_memalign(&memory, VIP_DESCRIPTOR_ALIGNMENT, bytes) != 0)
    die("no memory for %lu bytes", (unsigned long)bytes);
  memset(memory, 0, bytes);
  attributes.EnableRdmaWrite = attributes.EnableRdmaRead = rdma;
  check(VipRegisterMem(nic, memory, bytes, &attributes, handle), "VipRegisterMem");
  return memory;
}

void free_registered(VIP_NIC_HANDLE nic, void* memory, VIP_MEM_HANDLE handle) {
  check(VipDeregisterMem(nic, memory, handle), "VipDeregisterMem");
  free(memory);
}

VIP_VI_HANDLE create_vi(VIP_NIC_HANDLE nic, VIP_RELIABILITY_LEVEL level, VIP_BOOLEAN rdma, VIP_CQ_HANDLE queue) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_VI_HANDLE vi;
  memset(&attributes, 0, sizeof attributes);
  attributes.ReliabilityLevel = level;
  attributes.EnableRdmaWrite = rdma;
  attributes.EnableRdmaRead = level == VIP_SERVICE_UNRELIABLE ? VIP_FALSE : rdma;
  check(VipCreateVi(nic, &attributes, queue, queue, &vi), "VipCreateVi");
  return vi;
}

static VIP_RETURN try_to_destroy(VIP_VI_HANDLE vi) {
  VIP_DESCRIPTOR* left;
  VipDisconnect(vi); /* what it says shows in the VI's state */
  do VipSendDone(vi, &left);
  while (left != NULL);
  do VipRecvDone(vi, &left);
  while (left != NULL);
  return VipDestroyVi(vi);
}

int destroy_vi(VIP_VI_HANDLE vi) {
  const VIP_RETURN result = try_to_destroy(vi);
  if (result != VIP_INVALID_STATE) check(result, "VipDestroyVi");
  return result == VIP_SUCCESS;
}

typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  void* memory;
  VIP_MEM_HANDLE handle;
  void (*done)(void*);
  void* context;
} burial;

static pthread_mutex_t burial_mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long burials;

static unsigned long change_burials(int by) {
  unsigned long now;
  pthread_mutex_lock(&burial_mutex);
  now = burials += (unsigned long)by;
  pthread_mutex_unlock(&burial_mutex);
  return now;
}

static void* carry_out(void* argument) {
  const burial job = *(burial*)argument;
  const struct timespec pause = {1, 0};
  VIP_RETURN result;
  free(argument);
  while ((result = try_to_destroy(job.vi)) == VIP_INVALID_STATE) nanosleep(&pause, NULL);
  if (result == VIP_SUCCESS) { /* else the NIC was closed meanwhile */
    free_registered(job.nic, job.memory, job.handle);
    if (job.done != NULL) job.done(job.context);
  }
  change_burials(-1);
  return NULL;
}

void bury(VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, void* memory, VIP_MEM_HANDLE handle, void (*done)(void*),
          void* context) {
  burial* job = malloc(sizeof *job);
  pthread_t thread;
  if (job == NULL) die("no memory");
  *job = (burial){nic, vi, memory, handle, done, context};
  change_burials(+1);
  if (pthread_create(&thread, NULL, carry_out, job) != 0) die("no thread");
  pthread_detach(thread);
}

void wait_for_burials(void) {
  const double deadline = now_seconds() + BURIALS_MS / 1000.0;
  const struct timespec pause = {0, 1000000};
  while (change_burials(0) != 0 && now_seconds() < deadline) nanosleep(&pause, NULL);
}

/* ---- descriptors ---------------------------------------------------------------------------------------- */

void describe(VIP_DESCRIPTOR* descriptor, void* data, VIP_MEM_HANDLE handle, VIP_UINT32 length) {
  memset(descriptor, 0, sizeof *descriptor);
  descriptor->CS.SegCount = 1;
  descriptor->CS.Length = length;
  descriptor->DS[0].Local.Data.Address = data;
  descriptor->DS[0].Local.Handle = handle;
  descriptor->DS[0].Local.Length = length;
}

void describe_rdma(VIP_DESCRIPTOR* descriptor, VIP_UINT16 operation, VIP_UINT64 remote, VIP_MEM_HANDLE remote_handle,
                   void* data, VIP_MEM_HANDLE handle, VIP_UINT32 length) {
  memset(descriptor, 0, sizeof *descriptor);
  descriptor->CS.SegCount = 2;
  descriptor->CS.Control = operation;
  descriptor->CS.Length = length;
  descriptor->DS[0].Remote.Data.AddressBits = remote;
  descriptor->DS[0].Remote.Handle = remote_handle;
  descriptor->DS[1].Local.Data.Address = data;
  descriptor->DS[1].Local.Handle = handle;
  descriptor->DS[1].Local.Length = length;
}

/* ---- connections ---------------------------------------------------------------------------------------- */

/* Room for any address of this NIC: its host address, and the longest discriminator behind it. */
static VIP_NET_ADDRESS* new_address(const VIP_NIC_ATTRIBUTES* nic) {
  VIP_NET_ADDRESS* address = calloc(1, sizeof *address + nic->NicAddressLen + nic->MaxDiscriminatorLen);
  if (address == NULL) die("no memory");
  address->HostAddressLen = nic->NicAddressLen;
  return address;
}

static void set_discriminator(VIP_NET_ADDRESS* address, const char* name, VIP_UINT16 most) {
  const size_t length = strlen(name);
  if (length > most) die("'%s': a name has at most %u characters", name, (unsigned)most);
  address->DiscriminatorLen = (VIP_UINT16)length;
  memcpy((VIP_UINT8*)address + offsetof(VIP_NET_ADDRESS, HostAddress) + address->HostAddressLen, name, length);
}

VIP_NET_ADDRESS* local_address(VIP_NIC_HANDLE nic, const char* name) {
  VIP_NIC_ATTRIBUTES attributes;
  VIP_NET_ADDRESS* address;
  check(VipQueryNic(nic, &attributes), "VipQueryNic");
  address = new_address(&attributes);
  memcpy((VIP_UINT8*)address + offsetof(VIP_NET_ADDRESS, HostAddress), attributes.LocalNicAddress,
         attributes.NicAddressLen);
  set_discriminator(address, name, attributes.MaxDiscriminatorLen);
  return address;
}

VIP_NET_ADDRESS* remote_address(VIP_NIC_HANDLE nic, const char* service, const char* default_name) {
  const char* colon = strrchr(service, ':');
  const size_t host_length = colon == NULL ? strlen(service) : (size_t)(colon - service);
  char host[256];
  VIP_NIC_ATTRIBUTES attributes;
  VIP_NET_ADDRESS* address;
  VIP_RETURN result;
  if (host_length == 0 || host_length >= sizeof host) die("'%s': HOST[:NAME] expected", service);
  memcpy(host, service, host_length);
  host[host_length] = '\0';
  check(VipQueryNic(nic, &attributes), "VipQueryNic");
  address = new_address(&attributes);
  result = VipNSGetHostByName(nic, host, address, 0);
  if (result != VIP_SUCCESS) die("host %s: %s", host, result_text(result));
  set_discriminator(address, colon == NULL ? default_name : colon + 1, attributes.MaxDiscriminatorLen);
  return address;
}

VIP_RETURN wait_for_client(VIP_NIC_HANDLE nic, const char* name, VIP_ULONG timeout_ms, VIP_CONN_HANDLE* request) {
  VIP_NET_ADDRESS *local = local_address(nic, name), *remote = local_address(nic, "");
  VIP_VI_ATTRIBUTES attributes;
  const VIP_RETURN result = VipConnectWait(nic, local, timeout_ms, remote, &attributes, request);
  free(local);
  free(remote);
  return result;
}

VIP_RETURN accept_client(VIP_NIC_HANDLE nic, const char* name, VIP_ULONG timeout_ms, VIP_VI_HANDLE vi) {
  VIP_CONN_HANDLE request;
  VIP_RETURN result = wait_for_client(nic, name, timeout_ms, &request);
  if (result != VIP_SUCCESS) return result;
  result = VipConnectAccept(request, vi);
  if (result != VIP_SUCCESS) VipConnectReject(request);
  return result;
}

VIP_RETURN connect_to(VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, const char* service, const char* default_name,
                      VIP_ULONG patience_ms) {
  VIP_NET_ADDRESS *local = local_address(nic, default_name), *remote = remote_address(nic, service, default_name);
  const double deadline = now_seconds() + patience_ms / 1000.0;
  struct timespec pause = {0, 2000000};
  VIP_VI_ATTRIBUTES attributes;
  VIP_RETURN result;
  for (;;) {
    result = VipConnectRequest(vi, local, remote, patience_ms, &attributes);
    if (result != VIP_NO_MATCH || now_seconds() > deadline) break;
    nanosleep(&pause, NULL);
    if (pause.tv_nsec < LONGEST_PAUSE_NS) pause.tv_nsec *= 2; /* many that ask often keep the server from its work */
  }
  free(local);
  free(remote);
  return result;
}
