/* VI-DG 3.9: names and addresses. "localhost" and the node's own name are what every node can resolve. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "far.h"
#include "options.h"

static char localhost[] = "localhost";
static char nobody[] = "no-node-has-this-name.invalid";
static char own_name[256];

static void init(void) {
  near_open();
  EXPECT(VIP_SUCCESS, VipNSInit, near.nic, NULL);
}

static Address room(void) {
  Address address;
  memset(&address, 0, sizeof address);
  address.net.HostAddressLen = near.attributes.NicAddressLen;
  return address;
}

static Address resolved(char* name, VIP_ULONG index) {
  Address address = room();
  EXPECT(VIP_SUCCESS, VipNSGetHostByName, near.nic, name, &address.net, index);
  CHECK(address.net.HostAddressLen == near.attributes.NicAddressLen, "%s has an address of %u bytes", name,
        address.net.HostAddressLen);
  return address;
}

static bool is_own(const Address* address) {
  return memcmp(address->net.HostAddress, near.attributes.LocalNicAddress, near.attributes.NicAddressLen) == 0;
}

/* ---- Init and shutdown ------------------------------------------------------------------------------- */

static void init_success(int unused) {
  (void)unused;
  near_open();
  EXPECT(VIP_SUCCESS, VipNSInit, near.nic, NULL);
  EXPECT(VIP_SUCCESS, VipNSShutdown, near.nic);
  EXPECT(VIP_SUCCESS, VipNSInit, near.nic, NULL); /* again after the shutdown */
  EXPECT(VIP_SUCCESS, VipNSShutdown, near.nic);
}

static void init_twice(int unused) {
  (void)unused;
  near_open();
  EXPECT(VIP_SUCCESS, VipNSInit, near.nic, NULL);
  EXPECT(VIP_ERROR_NAMESERVICE, VipNSInit, near.nic, NULL);
  resolved(localhost, 0); /* and works as before */
}

static void shutdown_twice(int unused) {
  (void)unused;
  near_open();
  EXPECT(VIP_ERROR_NAMESERVICE, VipNSShutdown, near.nic);
  EXPECT(VIP_SUCCESS, VipNSInit, near.nic, NULL);
  EXPECT(VIP_SUCCESS, VipNSShutdown, near.nic);
  EXPECT(VIP_ERROR_NAMESERVICE, VipNSShutdown, near.nic);
}

/* ---- By name ----------------------------------------------------------------------------------------- */

static void by_name_success(int unused) {
  Address address;
  (void)unused;
  init();
  address = resolved(localhost, 0);
  CHECK(is_own(&address), "localhost has another address than the NIC");
}

static void by_own_name(int unused) {
  Address address;
  bool found = false;
  (void)unused;
  init();
  if (gethostname(own_name, sizeof own_name - 1) != 0) skip("this node has no name");
  for (VIP_ULONG index = 0; !found; ++index) { /* until an error, as 3.9.2 says */
    address = room();
    EXPECT(VIP_SUCCESS, VipNSGetHostByName, near.nic, own_name, &address.net, index);
    found = is_own(&address);
  }
}

/* What is found can be connected to: a connection to the node itself, by name. */
static void connect_by_name(int unused) {
  VIP_VI_ATTRIBUTES attributes;
  (void)unused;
  init();
  const Address server = fresh_address(&near.attributes);
  Address remote = resolved(localhost, 0), local = fresh_address(&near.attributes);
  remote.net.DiscriminatorLen = server.net.DiscriminatorLen;
  memcpy(remote.net.HostAddress + remote.net.HostAddressLen, discriminator_of(&server), 16);
  VIP_VI_HANDLE vi = idle_vi();
  pthread_t thread = serve_one(idle_vi(), &server);
  const VIP_RETURN code = request_until_matched(vi, &local, &remote, VIP_INFINITE, &attributes);
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_SUCCESS, code);
  join_thread(thread);
}

/* The name that the own address has, in the other letter case. */
static void any_case(int unused) {
  static char local_host[] = "LOCALhost";
  char name[256] = "";
  VIP_ULONG length = sizeof name;
  (void)unused;
  init();
  Address own = address_of(&near.attributes, "", 0);
  resolved(local_host, 0);
  EXPECT(VIP_SUCCESS, VipNSGetHostByAddr, near.nic, &own.net, name, &length);
  for (char* letter = name; *letter != '\0'; ++letter)
    *letter =
        (char)(isupper((unsigned char)*letter) ? tolower((unsigned char)*letter) : toupper((unsigned char)*letter));
  own = resolved(name, 0);
  CHECK(is_own(&own), "a name in another letter case has another address");
}

static void refuses_name(VIP_NIC_HANDLE nic, char* name, VIP_ULONG index) {
  Address address = room();
  EXPECT(VIP_ERROR_NAMESERVICE, VipNSGetHostByName, nic, name, &address.net, index);
}

static void unknown_name(int unused) {
  (void)unused;
  init();
  refuses_name(near.nic, nobody, 0);
}

static void index_too_large(int unused) {
  (void)unused;
  init();
  refuses_name(near.nic, localhost, 100000);
}

static void by_name_without_init(int unused) {
  (void)unused;
  near_open();
  refuses_name(near.nic, localhost, 0);
}

/* Each open NIC has a context of its own. */
static void contexts(int unused) {
  VIP_NIC_HANDLE other;
  Address address;
  (void)unused;
  init();
  EXPECT(VIP_SUCCESS, VipOpenNic, options.nic, &other);
  refuses_name(other, localhost, 0);
  EXPECT(VIP_SUCCESS, VipNSInit, other, NULL);
  address = room();
  EXPECT(VIP_SUCCESS, VipNSShutdown, near.nic);
  EXPECT(VIP_SUCCESS, VipNSGetHostByName, other, localhost, &address.net, 0);
  EXPECT(VIP_SUCCESS, VipCloseNic, other);
}

/* Programs leave HostAddressLen at 0. */
static void length_of_programs(int unused) {
  Address address;
  (void)unused;
  init();
  memset(&address, 0, sizeof address);
  EXPECT(VIP_SUCCESS, VipNSGetHostByName, near.nic, localhost, &address.net, 0);
  CHECK(address.net.HostAddressLen == near.attributes.NicAddressLen, "the address has %u bytes",
        address.net.HostAddressLen);
}

/* ---- By address -------------------------------------------------------------------------------------- */

static Address own_address(void) { return address_of(&near.attributes, "", 0); }

/* A name of the own address leads back to it. */
static void by_address_success(int unused) {
  char name[256] = "";
  VIP_ULONG length = sizeof name;
  Address address;
  (void)unused;
  init();
  address = own_address();
  EXPECT(VIP_SUCCESS, VipNSGetHostByAddr, near.nic, &address.net, name, &length);
  CHECK(length > 0 && length == strlen(name), "the name %s has %zu characters, and NameLen is %lu", name, strlen(name),
        length);
  address = resolved(name, 0);
  CHECK(is_own(&address), "the name of the own address, %s, has another address", name);
}

static void small_buffer(int unused) {
  char name[256] = "", again[256] = "";
  VIP_ULONG length = sizeof name;
  Address address;
  (void)unused;
  init();
  address = own_address();
  EXPECT(VIP_SUCCESS, VipNSGetHostByAddr, near.nic, &address.net, name, &length);
  const VIP_ULONG needed = length + 1; /* the end counts */
  for (length = 0; length < needed; length = length == 0 ? needed - 1 : needed) {
    VIP_ULONG given = length;
    memset(again, 'x', sizeof again);
    EXPECT(VIP_INVALID_PARAMETER, VipNSGetHostByAddr, near.nic, &address.net, again, &given);
    CHECK(given == needed, "an array of %lu characters is too small, and NameLen says %lu are needed, not %lu", length,
          given, needed);
    CHECK(again[length] == 'x', "a character beyond the array was written");
  }
  length = needed;
  EXPECT(VIP_SUCCESS, VipNSGetHostByAddr, near.nic, &address.net, again, &length);
  CHECK(strcmp(name, again) == 0, "the second query found the name %s, the first one %s", again, name);
}

static void refuses_address(Address address) {
  char name[256];
  VIP_ULONG length = sizeof name;
  EXPECT(VIP_ERROR_NAMESERVICE, VipNSGetHostByAddr, near.nic, &address.net, name, &length);
}

static void unknown_address(int unused) {
  Address address;
  (void)unused;
  init();
  address = own_address();
  make_foreign(&address);
  refuses_address(address);
}

static void by_address_without_init(int unused) {
  (void)unused;
  near_open();
  refuses_address(own_address());
}

#define REFUSED PROVES(VIP_ERROR_NAMESERVICE)

const Test name_service_tests[] = {
    TEST(VipNSInit, "success", OK, init_success),
    TEST(VipNSInit, "twice", REFUSED, init_twice),
    TEST(VipNSShutdown, "success", OK, init_success),
    TEST(VipNSShutdown, "twice", REFUSED | OK, shutdown_twice),
    TEST(VipNSGetHostByName, "localhost", OK, by_name_success),
    TEST_BY("VI-DG 3.9.2", PRACTICE, VipNSGetHostByName, "own_name", OK, by_own_name, 0),
    TEST(VipNSGetHostByName, "connect", OK, connect_by_name),
    TEST(VipNSGetHostByName, "any_letter_case", OK, any_case),
    TEST(VipNSGetHostByName, "unknown_name", REFUSED, unknown_name),
    TEST(VipNSGetHostByName, "index_too_large", REFUSED, index_too_large),
    TEST(VipNSGetHostByName, "without_init", REFUSED, by_name_without_init),
    TEST(VipNSInit, "contexts", OK, contexts),
    TEST_BY("VI-DG 3.9.2", PRACTICE, VipNSGetHostByName, "length_of_programs", OK, length_of_programs, 0),
    TEST(VipNSGetHostByAddr, "success", OK, by_address_success),
    TEST(VipNSGetHostByAddr, "small_buffer", OK | PROVES(VIP_INVALID_PARAMETER), small_buffer),
    TEST(VipNSGetHostByAddr, "unknown_address", REFUSED, unknown_address),
    TEST(VipNSGetHostByAddr, "without_init", REFUSED, by_address_without_init),
    {NULL, 0, NULL, 0, 0, NULL, 0}};
