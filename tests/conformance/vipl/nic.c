/* VI-DG 3.1, 3.7.1, 4.5: opening, closing and querying NICs. */
#include <string.h>

#include "far.h"
#include "options.h"

static void open_success(int unused) {
  VIP_NIC_HANDLE nic = NULL;
  (void)unused;
  EXPECT(VIP_SUCCESS, VipOpenNic, options.nic, &nic);
  CHECK(nic != NULL, "expected a handle, came NULL");
}

static void open_twice(int unused) {
  VIP_NIC_HANDLE other = NULL;
  VIP_NIC_ATTRIBUTES attributes;
  (void)unused;
  near_open();
  EXPECT(VIP_SUCCESS, VipOpenNic, options.nic, &other);
  CHECK(other != near.nic, "two opens returned the same handle");
  EXPECT(VIP_SUCCESS, VipQueryNic, other, &attributes);
  CHECK(attributes.NicAddressLen == near.attributes.NicAddressLen &&
            memcmp(attributes.LocalNicAddress, near.attributes.LocalNicAddress, attributes.NicAddressLen) == 0,
        "two opens of one name reference NICs with different addresses");
}

static void open_unknown_name(int unused) {
  VIP_NIC_HANDLE nic = NULL;
  (void)unused;
  EXPECT(VIP_INVALID_PARAMETER, VipOpenNic, "no NIC has this name", &nic);
}

static void close_success(int unused) {
  (void)unused;
  near_open();
  EXPECT(VIP_SUCCESS, VipCloseNic, near.nic);
  near.nic = NULL;
}

/* A connected VI, posted descriptors and registered memory are left; the NIC can be used again. */
static void close_frees_everything(int unused) {
  VIP_VI_HANDLE vi;
  VIP_VI_STATE state;
  VIP_VI_ATTRIBUTES attributes;
  VIP_BOOLEAN send_empty, receive_empty;
  (void)unused;
  vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  post_receive(vi, message(0, 0, 64));
  node_close(&near); /* its memory goes too: nobody may use it any more */
  EXPECT(VIP_INVALID_PARAMETER, VipQueryVi, vi, &state, &attributes, &send_empty, &receive_empty);
  near_open();
  create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
}

static void close_leaves_other_opens(int unused) {
  VIP_NIC_HANDLE other = NULL;
  VIP_VI_HANDLE vi;
  (void)unused;
  near_open();
  EXPECT(VIP_SUCCESS, VipOpenNic, options.nic, &other);
  vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  EXPECT(VIP_SUCCESS, VipCloseNic, other);
  CHECK(vi_state(vi) == VIP_STATE_IDLE, "a VI of the open handle is not Idle any more");
}

static void query_success(int unused) {
  const VIP_NIC_ATTRIBUTES* nic = &near.attributes;
  (void)unused;
  near_open();
  proven(ID_VipQueryNic, VIP_SUCCESS);
  CHECK(memchr(nic->Name, '\0', sizeof nic->Name) != NULL, "Name is not ended by a NUL");
  CHECK(nic->NicAddressLen > 0 && nic->LocalNicAddress != NULL, "there is no local NIC address");
  CHECK(nic->NativeMTU > 0, "NativeMTU is 0");
  CHECK(nic->MaxVI > 0 && nic->MaxDescriptorsPerQueue > 0, "MaxVI or MaxDescriptorsPerQueue is 0");
  CHECK(nic->MaxRegisterBytes > 0 && nic->MaxRegisterRegions > 0 && nic->MaxRegisterBlockBytes > 0,
        "no memory can be registered");
}

static void query_twice(int unused) {
  VIP_NIC_ATTRIBUTES again;
  (void)unused;
  near_open();
  EXPECT(VIP_SUCCESS, VipQueryNic, near.nic, &again);
  CHECK(strcmp(again.Name, near.attributes.Name) == 0 && again.MaxVI == near.attributes.MaxVI &&
            again.MaxTransferSize == near.attributes.MaxTransferSize && again.NativeMTU == near.attributes.NativeMTU &&
            again.ReliabilityLevelSupport == near.attributes.ReliabilityLevelSupport,
        "the attributes of a NIC changed between two queries");
}

static void discriminator_limit(int unused) {
  (void)unused;
  near_open();
  CHECK(near.attributes.MaxDiscriminatorLen >= 16, "expected MaxDiscriminatorLen of at least 16, came %u",
        near.attributes.MaxDiscriminatorLen);
}

static void segment_limit(int unused) {
  (void)unused;
  near_open();
  CHECK(near.attributes.MaxSegmentsPerDesc >= 252, "expected MaxSegmentsPerDesc of at least 252, came %lu",
        near.attributes.MaxSegmentsPerDesc);
}

static void transfer_limit(int unused) {
  (void)unused;
  near_open();
  CHECK(near.attributes.MaxTransferSize >= 32768, "expected MaxTransferSize of at least 32768, came %lu",
        near.attributes.MaxTransferSize);
}

static void completion_queue_limit(int unused) {
  (void)unused;
  near_open();
  CHECK(near.attributes.MaxCQEntries >= 1024 && near.attributes.MaxCQ > 0,
        "expected completion queues of at least 1024 entries, came MaxCQEntries %lu, MaxCQ %lu",
        near.attributes.MaxCQEntries, near.attributes.MaxCQ);
}

static void tag_limit(int unused) {
  (void)unused;
  near_open();
  CHECK(near.attributes.MaxPtags >= near.attributes.MaxVI, "expected a tag for each VI, came MaxPtags %lu, MaxVI %lu",
        near.attributes.MaxPtags, near.attributes.MaxVI);
}

static void has_level(int level) {
  near_open();
  CHECK(supports_level(&near, (VIP_RELIABILITY_LEVEL)level), "%s is required and not supported",
        level_name((VIP_RELIABILITY_LEVEL)level));
}

static void levels_make_sense(int unused) {
  const unsigned all = VIP_SERVICE_UNRELIABLE | VIP_SERVICE_RELIABLE_DELIVERY | VIP_SERVICE_RELIABLE_RECEPTION;
  (void)unused;
  near_open();
  const unsigned levels = near.attributes.ReliabilityLevelSupport;
  CHECK((levels & ~all) == 0, "ReliabilityLevelSupport %X has unknown bits", levels);
  CHECK((near.attributes.RDMAReadSupport & ~near.attributes.ReliabilityLevelSupport) == 0,
        "RDMA Read is claimed for levels that are not supported");
  CHECK(!supports_read(&near, VIP_SERVICE_UNRELIABLE), "RDMA Read is claimed for Unreliable Delivery");
}

/* Limits that programs written for VIPL count on. */
static void limits_of_programs(int unused) {
  (void)unused;
  near_open();
  CHECK(near.attributes.NicAddressLen <= 28, "expected an address of at most 28 bytes, came %u",
        near.attributes.NicAddressLen);
  CHECK(near.attributes.MaxTransferSize >= 65472, "expected MaxTransferSize of at least 65472, came %lu",
        near.attributes.MaxTransferSize);
  CHECK(near.attributes.MaxDescriptorsPerQueue >= 300, "expected at least 300 descriptors on a queue, came %lu",
        near.attributes.MaxDescriptorsPerQueue);
}

const Test nic_tests[] = {
    {"VipOpenNic.success", ID_VipOpenNic, "VI-DG 3.1.1", EARLY, PROVES(VIP_SUCCESS), open_success, 0},
    {"VipOpenNic.twice", ID_VipOpenNic, "VI-DG 3.1.1", EARLY, PROVES(VIP_SUCCESS), open_twice, 0},
    {"VipOpenNic.unknown_name", ID_VipOpenNic, "VI-DG 3.1.1", EARLY, PROVES(VIP_INVALID_PARAMETER), open_unknown_name,
     0},
    {"VipCloseNic.success", ID_VipCloseNic, "VI-DG 3.1.2", EARLY, PROVES(VIP_SUCCESS), close_success, 0},
    {"VipCloseNic.frees_everything", ID_VipCloseNic, "VI-DG 3.1.2", EARLY, PROVES(VIP_SUCCESS), close_frees_everything,
     0},
    {"VipCloseNic.leaves_other_opens", ID_VipCloseNic, "VI-DG 3.1.1", EARLY, PROVES(VIP_SUCCESS),
     close_leaves_other_opens, 0},
    {"VipQueryNic.success", ID_VipQueryNic, "VI-DG 4.5", EARLY, PROVES(VIP_SUCCESS), query_success, 0},
    {"VipQueryNic.twice", ID_VipQueryNic, "VI-DG 4.5", EARLY, PROVES(VIP_SUCCESS), query_twice, 0},
    {"VipQueryNic.MaxDiscriminatorLen", ID_VipQueryNic, "VI-DG 4.5", EARLY, RULE, discriminator_limit, 0},
    {"VipQueryNic.MaxSegmentsPerDesc", ID_VipQueryNic, "VI-DG 5.4", EARLY, RULE, segment_limit, 0},
    {"VipQueryNic.MaxTransferSize", ID_VipQueryNic, "VI-ARCH 6.1.1.2", EARLY, RULE, transfer_limit, 0},
    {"VipQueryNic.MaxCQEntries", ID_VipQueryNic, "VI-ARCH 3.4", FUNCTIONAL, RULE, completion_queue_limit, 0},
    {"VipQueryNic.MaxPtags", ID_VipQueryNic, "VI-DG 4.5", FUNCTIONAL, RULE, tag_limit, 0},
    {"VipQueryNic.has_reliable_delivery", ID_VipQueryNic, "VI-DG 2.2.1", EARLY, RULE, has_level,
     VIP_SERVICE_RELIABLE_DELIVERY},
    {"VipQueryNic.has_unreliable_delivery", ID_VipQueryNic, "VI-DG 2.2.3", FULL, RULE, has_level,
     VIP_SERVICE_UNRELIABLE},
    {"VipQueryNic.levels_make_sense", ID_VipQueryNic, "VI-ARCH 2.5", EARLY, RULE, levels_make_sense, 0},
    {"VipQueryNic.limits_of_programs", ID_VipQueryNic, "programs", PRACTICE, RULE, limits_of_programs, 0},
    {NULL, 0, NULL, 0, 0, NULL, 0}};
