/* VI-DG 4.5: what the NIC attributes claim can be had, and what is beyond is refused. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "far.h"

enum { AFFORDABLE = 1200000 }; /* objects that a test may create */

static void need_affordable(const char* name, VIP_ULONG limit) {
  if (limit > AFFORDABLE) skip("%s is %lu: the test creates at most %d", name, limit, AFFORDABLE);
}

/* Until the first error, which must be this one and not come before `limit`. */
#define EXHAUST(limit, name, ...) \
  do { \
    VIP_ULONG count = 0; \
    VIP_RETURN code; \
    while ((code = CALL(name, __VA_ARGS__)) == VIP_SUCCESS && count <= AFFORDABLE) ++count; \
    if (code == VIP_SUCCESS) skip("%lu succeeded, more than the limit of %lu", count, (VIP_ULONG)(limit)); \
    CHECK(count >= (limit), #name ": the limit is %lu, and %s came after %lu", (VIP_ULONG)(limit), code_name(code), \
          count); \
    expect_code(__FILE__, __LINE__, ID_##name, VIP_ERROR_RESOURCE, code); \
  } while (0)

static void vis(int unused) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_VI_HANDLE vi;
  (void)unused;
  near_open();
  need_affordable("MaxVI", near.attributes.MaxVI);
  attributes = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  EXHAUST(near.attributes.MaxVI, VipCreateVi, near.nic, &attributes, NULL, NULL, &vi);
}

static void tags(int unused) {
  VIP_PROTECTION_HANDLE tag;
  (void)unused;
  near_open();
  need_affordable("MaxPtags", near.attributes.MaxPtags);
  EXHAUST(near.attributes.MaxPtags - 1, VipCreatePtag, near.nic, &tag); /* the node has one already */
}

static void queues(int unused) {
  VIP_CQ_HANDLE queue;
  (void)unused;
  near_open();
  need_affordable("MaxCQ", near.attributes.MaxCQ);
  EXHAUST(near.attributes.MaxCQ, VipCreateCQ, near.nic, 1, &queue);
}

static void regions(int unused) {
  VIP_MEM_ATTRIBUTES attributes;
  VIP_MEM_HANDLE handle;
  (void)unused;
  near_open();
  need_affordable("MaxRegisterRegions", near.attributes.MaxRegisterRegions);
  attributes = memory_attributes(&near);
  EXHAUST(near.attributes.MaxRegisterRegions - 1, VipRegisterMem, near.nic, near.memory, 64, &attributes, &handle);
}

/* Address space without memory behind it; a library that pins pages could not be asked this way. */
static void block_too_large(int unused) {
  VIP_MEM_ATTRIBUTES attributes;
  VIP_MEM_HANDLE handle;
  (void)unused;
  near_open();
  const VIP_ULONG limit = near.attributes.MaxRegisterBlockBytes;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (limit > (VIP_ULONG)-1 - page) skip("MaxRegisterBlockBytes is as large as a number can be");
  void* block = mmap(NULL, limit + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) skip("MaxRegisterBlockBytes is %lu: there is no such block of address space", limit);
  attributes = memory_attributes(&near);
  const VIP_RETURN code = CALL(VipRegisterMem, near.nic, block, limit + 1, &attributes, &handle);
  munmap(block, limit + page);
  expect_code(__FILE__, __LINE__, ID_VipRegisterMem, VIP_ERROR_RESOURCE, code);
}

/* ---- Descriptors ------------------------------------------------------------------------------------- */

/* A descriptor with `count` data segments of one byte each. */
static VIP_DESCRIPTOR* describe_many(void* memory, size_t count) {
  VIP_DESCRIPTOR* descriptor = memory;
  VIP_DATA_SEGMENT* segments = (VIP_DATA_SEGMENT*)(void*)((unsigned char*)memory + sizeof(VIP_CONTROL_SEGMENT));
  descriptor->CS.SegCount = (VIP_UINT16)count;
  descriptor->CS.Length = (VIP_UINT32)count;
  for (size_t i = 0; i < count; ++i) {
    segments[i].Data.Address = data_at(&near, 2 * i); /* every second byte */
    segments[i].Handle = near.handle;
    segments[i].Length = 1;
  }
  return descriptor;
}

static void most_segments(int level) {
  VIP_MEM_ATTRIBUTES attributes;
  VIP_MEM_HANDLE handle;
  VIP_DESCRIPTOR* done = NULL;
  unsigned char plain[65536];
  VIP_VI_HANDLE vi = make_pair(level);
  size_t count = near.attributes.MaxSegmentsPerDesc < 65535 ? near.attributes.MaxSegmentsPerDesc : 65535;
  if (count > TRANSFER_BYTES) count = TRANSFER_BYTES;
  const size_t bytes = (sizeof(VIP_CONTROL_SEGMENT) + count * sizeof(VIP_DATA_SEGMENT) + 4095) / 4096 * 4096;
  void* memory = aligned_alloc(4096, bytes);
  if (memory == NULL) skip("there is no memory for a descriptor of %zu segments", count);
  memset(memory, 0, bytes);
  attributes = memory_attributes(&near);
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, memory, bytes, &attributes, &handle);
  fill(plain, count, 3);
  for (size_t i = 0; i < count; ++i) *data_at(&near, 2 * i) = plain[i];
  far_post_receive(0, message(0, 0, (VIP_UINT32)count));
  EXPECT(VIP_SUCCESS, VipPostSend, vi, describe_many(memory, count), handle);
  EXPECT(VIP_SUCCESS, VipSendWait, vi, VIP_INFINITE, &done);
  far_reap_receive(0, 0, 0);
  CHECK(far_matches(0, (VIP_UINT32)count, 3), "%zu segments arrived changed", count);
}

/* As many descriptors on a queue as it claims to hold. */
static void most_descriptors(int unused) {
  VIP_MEM_ATTRIBUTES attributes;
  VIP_MEM_HANDLE handle;
  (void)unused;
  near_open();
  const VIP_ULONG count = near.attributes.MaxDescriptorsPerQueue;
  need_affordable("MaxDescriptorsPerQueue", count);
  unsigned char* memory = aligned_alloc(4096, (count * 64 + 4095) / 4096 * 4096);
  if (memory == NULL) skip("there is no memory for %lu descriptors", count);
  memset(memory, 0, count * 64);
  attributes = memory_attributes(&near);
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, memory, count * 64, &attributes, &handle);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  for (VIP_ULONG i = 0; i < count; ++i)
    EXPECT(VIP_SUCCESS, VipPostRecv, vi, (VIP_DESCRIPTOR*)(void*)(memory + i * 64), handle);
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  for (VIP_ULONG i = 0; i < count; ++i) {
    VIP_DESCRIPTOR* done = NULL;
    EXPECT(VIP_DESCRIPTOR_ERROR, VipRecvDone, vi, &done);
    CHECK((unsigned char*)done == memory + i * 64, "descriptor %lu of %lu did not come back", i, count);
  }
}

/* A VI's own transfer size, to the byte, and the NIC's as far as the suite has memory for it. */
static void largest_transfer(int level) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_VI_HANDLE vi;
  Order order = far_order(ORDER_CREATE_VI, 0);
  need_level(level);
  far_open();
  const VIP_ULONG limit = near.attributes.MaxTransferSize < DATA_BYTES ? near.attributes.MaxTransferSize : DATA_BYTES;
  attributes = vi_attributes(&near, (VIP_RELIABILITY_LEVEL)level);
  attributes.MaxTransferSize = limit;
  order.attributes = attributes;
  FAR_EXPECT(VIP_SUCCESS, order);
  EXPECT(VIP_SUCCESS, VipCreateVi, near.nic, &attributes, NULL, NULL, &vi);
  connect_pair(vi, 0);
  fill(data_at(&near, 0), limit, 6);
  deliver(vi, level, message(0, 0, (VIP_UINT32)limit), message(0, 0, (VIP_UINT32)limit));
  CHECK(far_matches(0, (VIP_UINT32)limit, 6), "%lu bytes arrived changed", limit);
}

#define FULL_UP PROVES(VIP_ERROR_RESOURCE)

const Test limit_tests[] = {
    {"VipCreateVi.MaxVI", ID_VipCreateVi, "VI-DG 4.5", EARLY, FULL_UP, vis, 0},
    {"VipCreatePtag.MaxPtags", ID_VipCreatePtag, "VI-DG 4.5", FUNCTIONAL, FULL_UP, tags, 0},
    {"VipCreateCQ.MaxCQ", ID_VipCreateCQ, "VI-DG 4.5", FUNCTIONAL, FULL_UP, queues, 0},
    {"VipRegisterMem.MaxRegisterRegions", ID_VipRegisterMem, "VI-DG 4.5", EARLY, FULL_UP, regions, 0},
    {"VipRegisterMem.MaxRegisterBlockBytes", ID_VipRegisterMem, "VI-DG 4.5", EARLY, FULL_UP, block_too_large, 0},
    AT_RELIABLE_LEVELS("limit.MaxSegmentsPerDesc", ID_VipPostSend, "VI-DG 4.5", EARLY, PROVES(VIP_SUCCESS),
                       most_segments),
    {"limit.MaxDescriptorsPerQueue", ID_VipPostRecv, "VI-DG 4.5", EARLY, PROVES(VIP_SUCCESS), most_descriptors, 0},
    AT_EACH_LEVEL("limit.MaxTransferSize", ID_VipPostSend, "VI-DG 4.5", EARLY, PROVES(VIP_SUCCESS), largest_transfer),
    {NULL, 0, NULL, 0, 0, NULL, 0}};
