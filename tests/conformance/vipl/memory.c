/* VI-DG 3.4.3, 3.4.4, 3.7.4, 3.7.5, 4.7: registered memory. */
#define _DEFAULT_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "far.h"

static VIP_MEM_HANDLE register_memory(void* address, VIP_ULONG length) {
  VIP_MEM_ATTRIBUTES attributes = memory_attributes(&near);
  VIP_MEM_HANDLE handle = 0;
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, address, length, &attributes, &handle);
  return handle;
}

/* A refused registration returns no handle (3.4.3). */
static void expect_refused(VIP_RETURN code, void* address, VIP_ULONG length, VIP_MEM_ATTRIBUTES attributes) {
  VIP_MEM_HANDLE handle = 12345;
  EXPECT(code, VipRegisterMem, near.nic, address, length, &attributes, &handle);
  CHECK(handle == 0, "a refused registration returned the memory handle %u, not NULL", handle);
}

static unsigned char* map_pages(size_t count, int protection) {
  void* pages = mmap(NULL, count * (size_t)sysconf(_SC_PAGESIZE), protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) FAIL("the suite has no memory");
  return pages;
}

static VIP_MEM_ATTRIBUTES queried(void* address, VIP_MEM_HANDLE handle) {
  VIP_MEM_ATTRIBUTES attributes;
  memset(&attributes, 0, sizeof attributes);
  EXPECT(VIP_SUCCESS, VipQueryMem, near.nic, address, handle, &attributes);
  return attributes;
}

static bool equal(VIP_MEM_ATTRIBUTES one, VIP_MEM_ATTRIBUTES other) {
  return one.Ptag == other.Ptag && one.EnableRdmaWrite == other.EnableRdmaWrite &&
         one.EnableRdmaRead == other.EnableRdmaRead;
}

/* ---- Registering ------------------------------------------------------------------------------------- */

/* Any length and alignment; the content stays. */
static void register_success(int unused) {
  static const size_t lengths[] = {1, 3, 63, 4096, 4097, 100001};
  static unsigned char bytes[200000];
  (void)unused;
  near_open();
  fill(bytes, sizeof bytes, 9);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) register_memory(bytes + i * 7 + 1, lengths[i]);
  CHECK(is_filled(bytes, sizeof bytes, 9), "registering memory changed its content");
  proven(ID_VipRegisterMem, VIP_SUCCESS);
}

/* The same bytes with different attributes: each handle has its own. */
static void register_twice(int unused) {
  static unsigned char bytes[8192];
  VIP_MEM_ATTRIBUTES attributes;
  VIP_MEM_HANDLE plain, writable;
  (void)unused;
  near_open();
  attributes = memory_attributes(&near);
  attributes.EnableRdmaRead = VIP_FALSE;
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, bytes, sizeof bytes, &attributes, &writable);
  attributes.EnableRdmaWrite = VIP_FALSE;
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, bytes, sizeof bytes, &attributes, &plain);
  CHECK(plain != writable, "two registrations have the same handle");
  CHECK(queried(bytes, writable).EnableRdmaWrite && !queried(bytes, plain).EnableRdmaWrite,
        "the attributes of two registrations of one region are mixed up");
  EXPECT(VIP_SUCCESS, VipDeregisterMem, near.nic, bytes, plain);
  queried(bytes, writable);
}

static void register_nothing(int unused) {
  (void)unused;
  near_open();
  expect_refused(VIP_INVALID_PARAMETER, near.memory, 0, memory_attributes(&near));
}

/* Memory must have been allocated before. */
static void register_unmapped(int unused) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char* pages = map_pages(3, PROT_READ | PROT_WRITE);
  (void)unused;
  near_open();
  munmap(pages + page, page);
  expect_refused(VIP_INVALID_PARAMETER, pages + page, page, memory_attributes(&near));
  expect_refused(VIP_INVALID_PARAMETER, pages, 2 * page, memory_attributes(&near));
  expect_refused(VIP_INVALID_PARAMETER, pages + 100, 3 * page - 100, memory_attributes(&near));
  register_memory(pages, page);
}

static void register_inaccessible(int unused) {
  (void)unused;
  near_open();
  expect_refused(VIP_INVALID_PARAMETER, map_pages(1, PROT_NONE), 64, memory_attributes(&near));
}

static void register_beyond_the_end(int unused) {
  unsigned char* last = (unsigned char*)UINTPTR_MAX - 100;
  (void)unused;
  near_open();
  expect_refused(VIP_INVALID_PARAMETER, last, 4096, memory_attributes(&near));
  expect_refused(VIP_INVALID_PARAMETER, near.memory, (VIP_ULONG)-1, memory_attributes(&near));
}

/* "should always check for read-only pages of memory and not allow modification to those pages": what is refused is to
 * modify them, not to register them. A receive fails and leaves them as they are. */
static void register_read_only(int unused) {
  unsigned char* page = map_pages(1, PROT_READ);
  VIP_MEM_ATTRIBUTES attributes;
  VIP_MEM_HANDLE handle = 0;
  (void)unused;
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  attributes = memory_attributes(&near);
  attributes.EnableRdmaWrite = VIP_FALSE;
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, page, 64, &attributes, &handle);
  Message receive = message(0, 0, 64);
  VIP_DESCRIPTOR* descriptor = describe(&near, &receive);
  descriptor->DS[0].Local.Data.Address = page;
  descriptor->DS[0].Local.Handle = handle;
  EXPECT(VIP_SUCCESS, VipPostRecv, vi, descriptor, near.handle);
  far_fill(0, 64, 1);
  far_post_send(0, message(0, 0, 64));
  reap_receive(vi, 0, VIP_STATUS_PROTECTION_ERROR, VIP_STATUS_OP_RECEIVE);
  CHECK(page[0] == 0, "a receive modified a read-only page");
}

/* Constant data can be sent. */
static void send_read_only(int unused) {
  unsigned char* page = map_pages(1, PROT_READ | PROT_WRITE);
  VIP_MEM_ATTRIBUTES attributes;
  VIP_MEM_HANDLE handle = 0;
  (void)unused;
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  fill(page, 64, 3);
  mprotect(page, (size_t)sysconf(_SC_PAGESIZE), PROT_READ);
  attributes = memory_attributes(&near);
  attributes.EnableRdmaWrite = VIP_FALSE;
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, page, 64, &attributes, &handle);
  far_post_receive(0, message(0, 0, 64));
  Message send = message(0, 0, 64);
  VIP_DESCRIPTOR* descriptor = describe(&near, &send);
  descriptor->DS[0].Local.Data.Address = page;
  descriptor->DS[0].Local.Handle = handle;
  EXPECT(VIP_SUCCESS, VipPostSend, vi, descriptor, near.handle);
  reap_send(vi, 0, 0, VIP_STATUS_OP_SEND);
  far_reap_receive(0, 0, 0);
  CHECK(far_matches(0, 64, 3), "the data did not arrive");
}

static void invalid_tag(int unused) {
  static unsigned char nothing[256];
  VIP_MEM_ATTRIBUTES attributes;
  VIP_PROTECTION_HANDLE stale;
  (void)unused;
  near_open();
  attributes = memory_attributes(&near);
  EXPECT(VIP_SUCCESS, VipCreatePtag, near.nic, &stale);
  EXPECT(VIP_SUCCESS, VipDestroyPtag, near.nic, stale);
  attributes.Ptag = stale;
  expect_refused(VIP_INVALID_PTAG, near.memory, 64, attributes);
  attributes.Ptag = nothing + 64;
  expect_refused(VIP_INVALID_PTAG, near.memory, 64, attributes);
}

static void need_no_read(void) {
  near_open();
  if (near.attributes.RDMAReadSupport != 0) skip("the NIC supports RDMA Read");
}

static void invalid_read(int unused) {
  VIP_MEM_ATTRIBUTES attributes;
  (void)unused;
  need_no_read();
  attributes = memory_attributes(&near);
  attributes.EnableRdmaRead = VIP_TRUE;
  expect_refused(VIP_INVALID_RDMAREAD, near.memory, 64, attributes);
}

/* Programs take 0 and all ones for "none", and add handles up as ints. */
static void handles_of_programs(int unused) {
  (void)unused;
  near_open();
  for (int i = 0; i < 100; ++i) {
    const VIP_MEM_HANDLE handle = register_memory(near.memory, 64);
    CHECK(handle != 0 && handle <= INT32_MAX, "a memory handle is %08X", handle);
  }
}

static void null_attributes(int unused) {
  VIP_MEM_HANDLE handle;
  VIP_MEM_ATTRIBUTES attributes;
  (void)unused;
  near_open();
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, near.memory, 64, NULL, &handle);
  attributes = queried(near.memory, handle);
  CHECK(attributes.Ptag == NULL && !attributes.EnableRdmaWrite && !attributes.EnableRdmaRead,
        "memory registered without attributes has some");
}

/* ---- Deregistering ----------------------------------------------------------------------------------- */

static void deregister_success(int unused) {
  static unsigned char bytes[4096];
  VIP_MEM_ATTRIBUTES attributes;
  VIP_MEM_HANDLE handle;
  (void)unused;
  near_open();
  fill(bytes, sizeof bytes, 4);
  handle = register_memory(bytes, sizeof bytes);
  EXPECT(VIP_SUCCESS, VipDeregisterMem, near.nic, bytes, handle);
  EXPECT(VIP_INVALID_PARAMETER, VipDeregisterMem, near.nic, bytes, handle);
  EXPECT(VIP_INVALID_PARAMETER, VipQueryMem, near.nic, bytes, handle, &attributes);
  CHECK(is_filled(bytes, sizeof bytes, 4), "deregistering memory changed its content");
}

static void deregister_wrong(int unused) {
  static unsigned char bytes[4096];
  static unsigned char others[3 * 65536];
  VIP_MEM_HANDLE handle;
  (void)unused;
  near_open();
  handle = register_memory(bytes, sizeof bytes);
  EXPECT(VIP_INVALID_PARAMETER, VipDeregisterMem, near.nic, others + 65536, handle);
  EXPECT(VIP_INVALID_PARAMETER, VipDeregisterMem, near.nic, bytes, handle ^ 0x5A5A5A5A);
  EXPECT(VIP_SUCCESS, VipDeregisterMem, near.nic, bytes, handle);
}

/* ---- Attributes -------------------------------------------------------------------------------------- */

static void query_success(int unused) {
  (void)unused;
  near_open();
  CHECK(equal(queried(near.memory, near.handle), memory_attributes(&near)), "VipQueryMem tells other attributes");
  proven(ID_VipQueryMem, VIP_SUCCESS);
}

static void query_wrong(int unused) {
  static unsigned char others[3 * 65536];
  VIP_MEM_ATTRIBUTES attributes;
  (void)unused;
  near_open();
  EXPECT(VIP_INVALID_PARAMETER, VipQueryMem, near.nic, others + 65536, near.handle, &attributes);
  EXPECT(VIP_INVALID_PARAMETER, VipQueryMem, near.nic, near.memory, near.handle ^ 0x5A5A5A5A, &attributes);
}

/* "Address: The base address of the memory region." */
static void query_inner(int unused) {
  VIP_MEM_ATTRIBUTES attributes;
  (void)unused;
  near_open();
  EXPECT(VIP_INVALID_PARAMETER, VipQueryMem, near.nic, near.memory + 1, near.handle, &attributes);
}

static void set_inner(int unused) {
  VIP_MEM_ATTRIBUTES attributes;
  (void)unused;
  near_open();
  attributes = memory_attributes(&near);
  attributes.EnableRdmaWrite = VIP_FALSE;
  EXPECT(VIP_INVALID_PARAMETER, VipSetMemAttributes, near.nic, near.memory + 1, near.handle, &attributes);
  CHECK(equal(queried(near.memory, near.handle), memory_attributes(&near)),
        "a refused VipSetMemAttributes changed attributes");
}

static void set_success(int unused) {
  VIP_MEM_ATTRIBUTES attributes;
  (void)unused;
  near_open();
  attributes = memory_attributes(&near);
  attributes.EnableRdmaWrite = VIP_FALSE;
  EXPECT(VIP_SUCCESS, VipCreatePtag, near.nic, &attributes.Ptag);
  EXPECT(VIP_SUCCESS, VipSetMemAttributes, near.nic, near.memory, near.handle, &attributes);
  CHECK(equal(queried(near.memory, near.handle), attributes), "the attributes that were set are not there");
}

static void set_wrong(int unused) {
  static unsigned char others[3 * 65536];
  VIP_MEM_ATTRIBUTES attributes;
  (void)unused;
  near_open();
  attributes = memory_attributes(&near);
  EXPECT(VIP_INVALID_PARAMETER, VipSetMemAttributes, near.nic, others + 65536, near.handle, &attributes);
  EXPECT(VIP_INVALID_PARAMETER, VipSetMemAttributes, near.nic, near.memory, near.handle ^ 0x5A5A5A5A, &attributes);
}

/* One attribute is refused: the others stay. */
static void set_is_all_or_nothing(int unused) {
  static unsigned char nothing[256];
  VIP_MEM_ATTRIBUTES attributes;
  (void)unused;
  near_open();
  attributes = memory_attributes(&near);
  attributes.EnableRdmaWrite = VIP_FALSE;
  attributes.Ptag = nothing + 64;
  EXPECT(VIP_INVALID_PTAG, VipSetMemAttributes, near.nic, near.memory, near.handle, &attributes);
  CHECK(equal(queried(near.memory, near.handle), memory_attributes(&near)),
        "a refused VipSetMemAttributes changed attributes");
}

static void set_read(int unused) {
  VIP_MEM_ATTRIBUTES attributes;
  (void)unused;
  need_no_read();
  attributes = memory_attributes(&near);
  attributes.EnableRdmaRead = VIP_TRUE;
  EXPECT(VIP_INVALID_RDMAREAD, VipSetMemAttributes, near.nic, near.memory, near.handle, &attributes);
  CHECK(equal(queried(near.memory, near.handle), memory_attributes(&near)),
        "a refused VipSetMemAttributes changed attributes");
}

#define BAD PROVES(VIP_INVALID_PARAMETER)

const Test memory_tests[] = {
    TEST(VipRegisterMem, "success", OK, register_success),
    TEST_BY("VI-ARCH 3.2.1", EARLY, VipRegisterMem, "twice", OK, register_twice, 0),
    TEST(VipRegisterMem, "zero_length", BAD, register_nothing),
    TEST(VipRegisterMem, "unmapped", BAD, register_unmapped),
    TEST(VipRegisterMem, "inaccessible", BAD, register_inaccessible),
    TEST(VipRegisterMem, "beyond_the_end", BAD, register_beyond_the_end),
    TEST(VipRegisterMem, "read_only", RULE, register_read_only),
    TEST_BY("VI-DG 3.4.3", PRACTICE, VipRegisterMem, "send_read_only", RULE, send_read_only, 0),
    TEST_BY("VI-DG 3.4.3", FUNCTIONAL, VipRegisterMem, "invalid_ptag", PROVES(VIP_INVALID_PTAG), invalid_tag, 0),
    TEST(VipRegisterMem, "invalid_rdmaread", PROVES(VIP_INVALID_RDMAREAD), invalid_read),
    TEST_BY("programs", PRACTICE, VipRegisterMem, "handles_of_programs", RULE, handles_of_programs, 0),
    TEST_BY("programs", PRACTICE, VipRegisterMem, "null_attributes", OK, null_attributes, 0),
    TEST(VipDeregisterMem, "success", OK | BAD, deregister_success),
    TEST(VipDeregisterMem, "wrong_region", BAD, deregister_wrong),
    TEST(VipQueryMem, "success", OK, query_success),
    TEST(VipQueryMem, "wrong_region", BAD, query_wrong),
    TEST(VipQueryMem, "inner_address", BAD, query_inner),
    TEST(VipSetMemAttributes, "success", OK, set_success),
    TEST(VipSetMemAttributes, "wrong_region", BAD, set_wrong),
    TEST(VipSetMemAttributes, "inner_address", BAD, set_inner),
    TEST(VipSetMemAttributes, "all_or_nothing", PROVES(VIP_INVALID_PTAG), set_is_all_or_nothing),
    TEST(VipSetMemAttributes, "invalid_rdmaread", PROVES(VIP_INVALID_RDMAREAD), set_read),
    {NULL, 0, NULL, 0, 0, NULL, 0}};
