// What a retried CONNECT_RQST must repeat (FC-VI C.4 rules 8, 9), as it is kept beside a connection.
#include "fcvi/request_terms.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace {
using fcvi::RequestTerms;
using wire::fcvi::ConnectRqst;
using wire::fcvi::NetAddress;

NetAddress address_of(std::uint8_t host, std::initializer_list<std::uint8_t> discriminator) {
  return NetAddress::of(wire::IpAddress::v4(10, 0, 0, host), std::vector<std::uint8_t>(discriminator));
}

ConnectRqst usual_request() {
  ConnectRqst request;
  request.connection_id = {7};
  request.payload.handle = {0x7000};
  request.payload.local_address = address_of(1, {'c', 'l', 'i', 'e', 'n', 't'});
  request.payload.remote_address = address_of(2, {'s'});
  request.payload.local_attributes = {.reliability_level = wire::fcvi::ReliabilityLevel::reliable_delivery,
                                      .max_transfer_size = 0xFFFFFFFF,
                                      .qos = {.pipeline_depth = 31}};
  return request;
}

using Change = std::function<void(ConnectRqst&)>;

// C.4 rules 8, 9: whatever differs of mode, addresses and attributes, to the last byte.
TEST(RequestTerms, change_ofAnyTerm_isAnotherRequest) {
  const Change changes[] = {
      [](ConnectRqst& r) { r.mode = wire::fcvi::ConnectMode::peer_to_peer; },
      [](ConnectRqst& r) { r.payload.local_address.host = wire::IpAddress::v4(10, 0, 0, 9); },
      [](ConnectRqst& r) { r.payload.local_address.host_length = 0; },
      [](ConnectRqst& r) { r.payload.local_address.discriminator_length = 17; },
      [](ConnectRqst& r) { r.payload.local_address.discriminator[0] = 0; },
      [](ConnectRqst& r) { r.payload.local_address.discriminator[127] = 1; },
      [](ConnectRqst& r) { r.payload.remote_address.host = wire::IpAddress::v4(10, 0, 0, 9); },
      [](ConnectRqst& r) { r.payload.remote_address.discriminator[1] = 's'; },
      [](ConnectRqst& r) { r.payload.remote_address.discriminator[127] = 1; },
      [](ConnectRqst& r) { std::swap(r.payload.local_address, r.payload.remote_address); },
      [](ConnectRqst& r) {
        r.payload.local_attributes.reliability_level = wire::fcvi::ReliabilityLevel::reliable_reception;
      },
      [](ConnectRqst& r) { r.payload.local_attributes.rdma_write_enabled = true; },
      [](ConnectRqst& r) { r.payload.local_attributes.rdma_read_enabled = true; },
      [](ConnectRqst& r) { r.payload.local_attributes.max_transfer_size = 0; },
      [](ConnectRqst& r) { r.payload.local_attributes.qos.pref = wire::fcvi::Qos::preference; },
      [](ConnectRqst& r) { r.payload.local_attributes.qos.max_delay_us = 1; },
      [](ConnectRqst& r) { r.payload.local_attributes.qos.pipeline_depth = 30; },
  };
  const RequestTerms terms(usual_request());
  for (const Change& change : changes) {
    ConnectRqst request = usual_request();
    change(request);
    EXPECT_FALSE(terms.are_of(request)) << &change - changes;
    EXPECT_TRUE(RequestTerms(request).are_of(request)) << &change - changes;
    EXPECT_FALSE(RequestTerms(request).are_of(usual_request())) << &change - changes;
  }
}

// C.4 rules 8 a), 9 a): a retry has an FCVI_CONNECTION_ID of its own and RETRY; what a provider adds is no term.
TEST(RequestTerms, retry_isTheSameRequest) {
  ConnectRqst retry = usual_request();
  retry.connection_id = {8};
  retry.retry = true;
  retry.payload.connect_info.emplace().fill(0xAA);
  EXPECT_TRUE(RequestTerms(usual_request()).are_of(retry));
}

// All that a connection keeps of it is small; whatever a peer sends, it is bounded.
TEST(RequestTerms, bytes_areFew) {
  EXPECT_LE(RequestTerms(usual_request()).heap_bytes(), 72u);
  ConnectRqst full = usual_request(), every_second = usual_request();
  for (NetAddress* address : {&full.payload.local_address, &full.payload.remote_address})
    address->discriminator.fill(0xFF);
  for (NetAddress* address : {&every_second.payload.local_address, &every_second.payload.remote_address})
    for (std::size_t i = 0; i < address->discriminator.size(); i += 2) address->discriminator[i] = 0xFF;
  for (const ConnectRqst& request : {full, every_second}) {
    EXPECT_TRUE(RequestTerms(request).are_of(request));
    EXPECT_LE(RequestTerms(request).heap_bytes(), 500u);
  }
}

}  // namespace
