/* VI-DG 3.4.1, 3.4.2, VI-ARCH 3.2.2.1: protection tags. */
#include <string.h>

#include "far.h"

static unsigned char tagged[4096]; /* memory with a tag of its own */
static VIP_MEM_HANDLE tagged_handle;

static VIP_PROTECTION_HANDLE make_tag(void) {
  VIP_PROTECTION_HANDLE tag = NULL;
  EXPECT(VIP_SUCCESS, VipCreatePtag, near.nic, &tag);
  return tag;
}

static void register_tagged(VIP_PROTECTION_HANDLE tag) {
  VIP_MEM_ATTRIBUTES attributes = memory_attributes(&near);
  attributes.Ptag = tag;
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, tagged, sizeof tagged, &attributes, &tagged_handle);
}

/* A descriptor whose data segment is in the tagged memory. */
static VIP_DESCRIPTOR* describe_tagged(unsigned slot) {
  Message wanted = message(slot, 0, 64);
  VIP_DESCRIPTOR* descriptor = describe(&near, &wanted);
  descriptor->DS[0].Local.Data.Address = tagged;
  descriptor->DS[0].Local.Handle = tagged_handle;
  return descriptor;
}

/* ---- Creating and destroying ------------------------------------------------------------------------- */

static void create_success(int unused) {
  VIP_PROTECTION_HANDLE tags[100];
  (void)unused;
  near_open();
  for (size_t i = 0; i < 100; ++i) {
    tags[i] = make_tag();
    for (size_t j = 0; j < i; ++j) CHECK(tags[i] != tags[j], "two tags are the same");
  }
  for (size_t i = 0; i < 100; ++i) EXPECT(VIP_SUCCESS, VipDestroyPtag, near.nic, tags[i]);
  proven(ID_VipCreatePtag, VIP_SUCCESS);
}

static void destroy_used_by_vi(int unused) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_VI_HANDLE vi;
  (void)unused;
  near_open();
  attributes = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  attributes.Ptag = make_tag();
  EXPECT(VIP_SUCCESS, VipCreateVi, near.nic, &attributes, NULL, NULL, &vi);
  EXPECT(VIP_ERROR_RESOURCE, VipDestroyPtag, near.nic, attributes.Ptag);
  EXPECT(VIP_SUCCESS, VipDestroyVi, vi);
  EXPECT(VIP_SUCCESS, VipDestroyPtag, near.nic, attributes.Ptag);
}

static void destroy_used_by_memory(int unused) {
  VIP_PROTECTION_HANDLE tag;
  (void)unused;
  near_open();
  tag = make_tag();
  register_tagged(tag);
  EXPECT(VIP_ERROR_RESOURCE, VipDestroyPtag, near.nic, tag);
  EXPECT(VIP_SUCCESS, VipDeregisterMem, near.nic, tagged, tagged_handle);
  EXPECT(VIP_SUCCESS, VipDestroyPtag, near.nic, tag);
}

/* Who changes to another tag uses the old one no more. */
static void destroy_after_change(int unused) {
  VIP_MEM_ATTRIBUTES memory;
  VIP_VI_ATTRIBUTES attributes;
  VIP_PROTECTION_HANDLE old;
  VIP_VI_HANDLE vi;
  (void)unused;
  near_open();
  old = make_tag();
  register_tagged(old);
  attributes = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  attributes.Ptag = old;
  EXPECT(VIP_SUCCESS, VipCreateVi, near.nic, &attributes, NULL, NULL, &vi);
  memory = memory_attributes(&near);
  EXPECT(VIP_SUCCESS, VipSetMemAttributes, near.nic, tagged, tagged_handle, &memory);
  EXPECT(VIP_ERROR_RESOURCE, VipDestroyPtag, near.nic, old);
  attributes.Ptag = near.tag;
  EXPECT(VIP_SUCCESS, VipSetViAttributes, vi, &attributes);
  EXPECT(VIP_SUCCESS, VipDestroyPtag, near.nic, old);
}

/* ---- Protection -------------------------------------------------------------------------------------- */

/* The data of a send has another tag than the VI: it is not sent. */
static void send_mismatch(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  register_tagged(make_tag());
  far_post_receive(0, message(0, 0, 64));
  EXPECT(VIP_SUCCESS, VipPostSend, vi, describe_tagged(0), near.handle);
  reap_send(vi, 0, VIP_STATUS_PROTECTION_ERROR, VIP_STATUS_OP_SEND);
}

/* The buffer of a receive has: the message is not placed. */
static void receive_mismatch(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  VIP_DESCRIPTOR* descriptor = NULL;
  VIP_RETURN code = VIP_TIMEOUT;
  register_tagged(make_tag());
  EXPECT(VIP_SUCCESS, VipPostRecv, vi, describe_tagged(0), near.handle);
  far_fill(0, 64, 1);
  far_post_send(0, message(0, 0, 64));
  for (unsigned slot = 1; slot < 20 && code == VIP_TIMEOUT; ++slot) {
    code = CALL(VipRecvWait, vi, level == VIP_SERVICE_UNRELIABLE ? 1000 : VIP_INFINITE, &descriptor);
    if (code == VIP_TIMEOUT) far_post_send(0, message(slot, 0, 64));
  }
  expect_code(__FILE__, __LINE__, ID_VipRecvWait, VIP_DESCRIPTOR_ERROR, code);
  check_status(descriptor, VIP_STATUS_PROTECTION_ERROR, VIP_STATUS_OP_RECEIVE);
  for (size_t i = 0; i < 64; ++i) CHECK(tagged[i] == 0, "data was placed in memory with another tag");
}

/* The target of an incoming RDMA Write has. */
static void write_mismatch(int unused) {
  (void)unused;
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  register_tagged(make_tag());
  Message write = message(0, 0, 64);
  write.control = VIP_CONTROL_OP_RDMAWRITE;
  write.remote_address = (VIP_UINT64)(uintptr_t)tagged;
  write.remote_handle = tagged_handle;
  far_fill(0, 64, 1);
  far_post_send(0, write);
  wait_for_error(&near, vi, VIP_ERROR_RDMAW_PROT);
  for (size_t i = 0; i < 64; ++i) CHECK(tagged[i] == 0, "data was written to memory with another tag");
}

/* A descriptor itself is in memory with another tag. */
static void descriptor_mismatch(int unused) {
  static unsigned char descriptors[4096] __attribute__((aligned(VIP_DESCRIPTOR_ALIGNMENT)));
  VIP_MEM_ATTRIBUTES attributes;
  VIP_MEM_HANDLE handle;
  (void)unused;
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  attributes = memory_attributes(&near);
  attributes.Ptag = make_tag();
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, descriptors, sizeof descriptors, &attributes, &handle);
  VIP_DESCRIPTOR* descriptor = (VIP_DESCRIPTOR*)(void*)descriptors;
  EXPECT(VIP_SUCCESS, VipPostSend, vi, descriptor, handle);
  wait_for_error(&near, vi, VIP_ERROR_POST_DESC);
}

/* The tag of a VI that is changed is the one that counts. */
static void changed_tag(int unused) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_MEM_ATTRIBUTES memory;
  (void)unused;
  far_create_vi(0, VIP_SERVICE_RELIABLE_DELIVERY);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  attributes = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  attributes.Ptag = make_tag();
  register_tagged(attributes.Ptag);
  memory = memory_attributes(&near);
  memory.Ptag = attributes.Ptag;
  EXPECT(VIP_SUCCESS, VipSetMemAttributes, near.nic, near.memory, near.handle, &memory);
  EXPECT(VIP_SUCCESS, VipSetViAttributes, vi, &attributes);
  connect_pair(vi, 0);
  fill(tagged, 64, 8);
  far_post_receive(0, message(0, 0, 64));
  EXPECT(VIP_SUCCESS, VipPostSend, vi, describe_tagged(0), near.handle);
  reap_send(vi, 0, 0, VIP_STATUS_OP_SEND);
  far_reap_receive(0, 0, 0);
  CHECK(far_matches(0, 64, 8), "the data did not arrive");
}

/* Programs give their VI no tag while their memory has one. */
static void null_tag_of_vi(int unused) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_VI_HANDLE vi;
  (void)unused;
  far_create_vi(0, VIP_SERVICE_RELIABLE_DELIVERY);
  attributes = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  attributes.Ptag = NULL;
  EXPECT(VIP_SUCCESS, VipCreateVi, near.nic, &attributes, NULL, NULL, &vi);
  connect_pair(vi, 0);
  register_tagged(make_tag());
  fill(tagged, 64, 8);
  far_post_receive(0, message(0, 0, 64));
  EXPECT(VIP_SUCCESS, VipPostSend, vi, describe_tagged(0), near.handle);
  reap_send(vi, 0, 0, VIP_STATUS_OP_SEND);
  far_reap_receive(0, 0, 0);
}

const Test tag_tests[] = {
    {"VipCreatePtag.success", ID_VipCreatePtag, "VI-DG 3.4.1", FUNCTIONAL, PROVES(VIP_SUCCESS), create_success, 0},
    {"VipDestroyPtag.used_by_vi", ID_VipDestroyPtag, "VI-DG 3.4.2", FUNCTIONAL,
     PROVES(VIP_ERROR_RESOURCE) | PROVES(VIP_SUCCESS), destroy_used_by_vi, 0},
    {"VipDestroyPtag.used_by_memory", ID_VipDestroyPtag, "VI-DG 3.4.2", FUNCTIONAL,
     PROVES(VIP_ERROR_RESOURCE) | PROVES(VIP_SUCCESS), destroy_used_by_memory, 0},
    {"VipDestroyPtag.after_change", ID_VipDestroyPtag, "VI-DG 3.4.1", FULL,
     PROVES(VIP_ERROR_RESOURCE) | PROVES(VIP_SUCCESS), destroy_after_change, 0},
    AT_EACH_LEVEL("tag.send_mismatch", ID_VipPostSend, "VI-ARCH 3.2.2.1", FUNCTIONAL, RULE, send_mismatch),
    AT_EACH_LEVEL("tag.receive_mismatch", ID_VipRecvWait, "VI-ARCH 3.2.2.1", FUNCTIONAL, PROVES(VIP_DESCRIPTOR_ERROR),
                  receive_mismatch),
    {"tag.rdma_write_mismatch", ID_VipErrorCallback, "VI-ARCH 3.2.2.1", FUNCTIONAL, RULE, write_mismatch, 0},
    {"tag.descriptor_mismatch", ID_VipErrorCallback, "VI-ARCH 3.2.2.1", FUNCTIONAL, RULE, descriptor_mismatch, 0},
    {"tag.changed", ID_VipSetViAttributes, "VI-DG 3.4.1", FULL, RULE, changed_tag, 0},
    {"tag.null_tag_of_vi", ID_VipCreateVi, "programs", PRACTICE, RULE, null_tag_of_vi, 0},
    {NULL, 0, NULL, 0, 0, NULL, 0}};
