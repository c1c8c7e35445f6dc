/* VI-DG 3.3, 6.7: which discriminators match. */
#include <string.h>

#include "far.h"

/* Bytes of every kind, zeros and line ends among them, that no other process uses. */
static void make_discriminator(unsigned char* bytes, size_t length) {
  Address fresh = fresh_address(&near.attributes);
  const unsigned char* unique = discriminator_of(&fresh);
  for (size_t i = 0; i < length; ++i) bytes[i] = (unsigned char)(i * 85 + (i == 1 ? 0 : 3));
  if (length >= 16)
    memcpy(bytes + length - 11, unique + 5, 11);
  else
    for (size_t i = 5; i < 16; ++i) bytes[(i - 5) % length] ^= unique[i];
  if (length >= 4) bytes[length - 3] = 0;
}

static size_t length_of(int argument) {
  near_open();
  const size_t length = argument == 0 ? near.attributes.MaxDiscriminatorLen : (size_t)argument;
  if (length > 1024) skip("the suite uses discriminators of up to 1024 bytes, and this one has %zu", length);
  return length;
}

/* The far end requests `asked`; the near end waits for `waited` and gets it. */
static void expect_match(const Address* waited, const Address* asked) {
  Address local = *waited, client;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  Order order = far_order(ORDER_REQUEST, 0);
  order.address = *asked;
  order.local = fresh_address(&far.nic);
  order.persistent = true;
  far_start(order);
  EXPECT(VIP_SUCCESS, VipConnectWait, near.nic, &local.net, VIP_INFINITE, &client.net, &attributes, &connection);
  EXPECT(VIP_SUCCESS, VipConnectReject, connection);
  FAR_ANSWERS(VIP_REJECT);
}

static Address waiting_address;
static volatile bool waiting_ended;

/* Waits until somebody requests this very address. */
static void* wait_for_it(void* unused) {
  Address client;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  (void)unused;
  EXPECT(VIP_SUCCESS, VipConnectWait, near.nic, &waiting_address.net, VIP_INFINITE, &client.net, &attributes,
         &connection);
  waiting_ended = true;
  EXPECT(VIP_SUCCESS, VipConnectReject, connection);
  return NULL;
}

/* Requests of other discriminators do not disturb who waits, and are told so at once. */
static void expect_no_match(const Address* waited, const Address* asked) {
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  Address local = fresh_address(&near.attributes), remote = *asked;
  VIP_VI_ATTRIBUTES attributes;
  waiting_address = *waited;
  pthread_t thread = start_thread(wait_for_it, NULL);
  for (int i = 0; i < 20; ++i) {
    EXPECT(VIP_NO_MATCH, VipConnectRequest, vi, &local.net, &remote.net, VIP_INFINITE, &attributes);
    pause_ms(1);
  }
  CHECK(!waiting_ended, "VipConnectWait took a request for another discriminator");
  remote = *waited;
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_REJECT,
              request_until_matched(vi, &local, &remote, VIP_INFINITE, &attributes));
  join_thread(thread);
}

/* ---- Tests ------------------------------------------------------------------------------------------- */

static void same(int argument) {
  unsigned char bytes[1024];
  const size_t length = length_of(argument);
  far_create_vi(0, VIP_SERVICE_RELIABLE_DELIVERY);
  make_discriminator(bytes, length);
  const Address address = address_of(&near.attributes, bytes, length);
  expect_match(&address, &address);
  expect_match(&address, &address); /* and again */
}

/* One bit of the last byte. */
static void other(int argument) {
  unsigned char bytes[1024];
  const size_t length = length_of(argument);
  make_discriminator(bytes, length);
  const Address waited = address_of(&near.attributes, bytes, length);
  bytes[length - 1] ^= 0x01;
  const Address asked = address_of(&near.attributes, bytes, length);
  expect_no_match(&waited, &asked);
}

static void first_byte(int argument) {
  unsigned char bytes[1024];
  const size_t length = length_of(argument);
  make_discriminator(bytes, length);
  const Address waited = address_of(&near.attributes, bytes, length);
  bytes[0] ^= 0x80;
  const Address asked = address_of(&near.attributes, bytes, length);
  expect_no_match(&waited, &asked);
}

/* The beginning of a discriminator is another one. */
static void prefix(int argument) {
  unsigned char bytes[1024];
  const size_t length = length_of(argument);
  make_discriminator(bytes, length);
  bytes[length - 1] = 0x77;
  const Address waited = address_of(&near.attributes, bytes, length);
  const Address asked = address_of(&near.attributes, bytes, length - 1);
  expect_no_match(&waited, &asked);
}

static Address overlong(void) {
  unsigned char bytes[1025] = {0};
  const size_t length = length_of(0);
  memset(bytes, 7, sizeof bytes);
  return address_of(&near.attributes, bytes, length + 1);
}

static void overlong_wait(int unused) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  (void)unused;
  Address local = overlong(), remote = local;
  EXPECT(VIP_INVALID_PARAMETER, VipConnectWait, near.nic, &local.net, 0, &remote.net, &attributes, &connection);
}

static void overlong_request(int unused) {
  VIP_VI_ATTRIBUTES attributes;
  (void)unused;
  Address too_long = overlong(), right = fresh_address(&near.attributes);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  EXPECT(VIP_INVALID_PARAMETER, VipConnectRequest, vi, &right.net, &too_long.net, 1000, &attributes);
  EXPECT(VIP_INVALID_PARAMETER, VipConnectRequest, vi, &too_long.net, &right.net, 1000, &attributes);
  CHECK(vi_state(vi) == VIP_STATE_IDLE, "the VI is not Idle after a request with an invalid parameter");
}

static void overlong_peer_request(int unused) {
  (void)unused;
  Address too_long = overlong(), right = fresh_address(&near.attributes);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  EXPECT(VIP_INVALID_PARAMETER, VipConnectPeerRequest, vi, &right.net, &too_long.net, 1000);
  CHECK(vi_state(vi) == VIP_STATE_IDLE, "the VI is not Idle after a request with an invalid parameter");
}

/* The client's own discriminator comes through unchanged, whatever its length; receive_request looks. */
static void client_discriminator(int argument) {
  unsigned char bytes[1024];
  const size_t length = length_of(argument);
  Address server, client;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  Order order = far_order(ORDER_REQUEST, 0);
  far_create_vi(0, VIP_SERVICE_RELIABLE_DELIVERY);
  make_discriminator(bytes, length);
  order.local = address_of(&far.nic, bytes, length);
  server = order.address = fresh_address(&near.attributes);
  order.persistent = true;
  far_start(order);
  EXPECT(VIP_SUCCESS, VipConnectWait, near.nic, &server.net, VIP_INFINITE, &client.net, &attributes, &connection);
  CHECK(client.net.DiscriminatorLen == length, "expected a discriminator of %zu bytes, came %u", length,
        client.net.DiscriminatorLen);
  CHECK(same_address(&client, &order.local), "the client's address did not come through unchanged");
  EXPECT(VIP_SUCCESS, VipConnectReject, connection);
  FAR_ANSWERS(VIP_REJECT);
}

static Address equal_address;
static void* accept_one(void* vi) {
  Address client;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  Address local = equal_address;
  EXPECT(VIP_SUCCESS, VipConnectWait, near.nic, &local.net, VIP_INFINITE, &client.net, &attributes, &connection);
  EXPECT(VIP_SUCCESS, VipConnectAccept, connection, vi);
  return NULL;
}

/* Two servers wait for the same discriminator: each gets one of two clients. */
static void equal_waits(int unused) {
  pthread_t threads[2];
  Order order = far_order(ORDER_REQUEST, 0);
  (void)unused;
  far_create_vi(0, VIP_SERVICE_RELIABLE_DELIVERY);
  far_create_vi(1, VIP_SERVICE_RELIABLE_DELIVERY);
  equal_address = order.address = fresh_address(&near.attributes);
  order.local = fresh_address(&far.nic);
  order.persistent = true;
  for (int i = 0; i < 2; ++i)
    threads[i] = start_thread(accept_one, create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL));
  for (order.vi = 0; order.vi < 2; ++order.vi) FAR_EXPECT(VIP_SUCCESS, order);
  for (int i = 0; i < 2; ++i) join_thread(threads[i]);
}

#define EACH_LENGTH(name, phase, codes, run, call) \
  {name ".4_bytes", call, "VI-DG 6.7", phase, codes, run, 4}, \
      {name ".8_bytes", call, "VI-DG 6.7", phase, codes, run, 8}, \
      {name ".12_bytes", call, "VI-DG 6.7", phase, codes, run, 12}, \
      {name ".16_bytes", call, "VI-DG 3.3", phase, codes, run, 16}, { \
    name ".MaxDiscriminatorLen", call, "VI-DG 4.5", phase, codes, run, 0 \
  }

const Test match_tests[] = {
    EACH_LENGTH("match.same", EARLY, PROVES(VIP_SUCCESS), same, ID_VipConnectWait),
    EACH_LENGTH("match.last_byte_differs", EARLY, PROVES(VIP_NO_MATCH), other, ID_VipConnectRequest),
    EACH_LENGTH("match.first_byte_differs", EARLY, PROVES(VIP_NO_MATCH), first_byte, ID_VipConnectRequest),
    EACH_LENGTH("match.prefix", EARLY, PROVES(VIP_NO_MATCH), prefix, ID_VipConnectRequest),
    EACH_LENGTH("match.client_discriminator", EARLY, PROVES(VIP_SUCCESS), client_discriminator, ID_VipConnectWait),
    {"VipConnectWait.overlong_discriminator", ID_VipConnectWait, "VI-DG 4.5", EARLY, PROVES(VIP_INVALID_PARAMETER),
     overlong_wait, 0},
    {"VipConnectRequest.overlong_discriminator", ID_VipConnectRequest, "VI-DG 4.5", EARLY,
     PROVES(VIP_INVALID_PARAMETER), overlong_request, 0},
    {"VipConnectPeerRequest.overlong_discriminator", ID_VipConnectPeerRequest, "VI-DG 4.5", FUNCTIONAL,
     PROVES(VIP_INVALID_PARAMETER), overlong_peer_request, 0},
    {"match.equal_waits", ID_VipConnectWait, "programs", PRACTICE, PROVES(VIP_SUCCESS), equal_waits, 0},
    {NULL, 0, NULL, 0, 0, NULL, 0}};
