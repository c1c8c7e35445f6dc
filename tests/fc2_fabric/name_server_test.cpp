#include "fc2_fabric/switch/name_server.hpp"

#include <gtest/gtest.h>

#include "fc2_fabric/switch/switch.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/messages.hpp"

namespace fc2 {
namespace {

namespace ct = wire::ct;
using Reason = ct::RejectReason;
using Why = ct::RejectExplanation;
using Ids = std::vector<wire::FcId>;
constexpr wire::Wwn unknown_name{0x2000'0000'0000'0099};
constexpr wire::FcId unknown_id{0x01EE00};
const wire::IpAddress ip_1 = wire::IpAddress::v4(10, 0, 0, 1), ip_2 = wire::IpAddress::v4(10, 0, 0, 2);

class NameServerTest : public testing::Test {
 protected:
  NameServerTest() {
    fabric.bring_up();
    for (std::size_t i = 0; i < 3; ++i) log_in(i);
  }
  ~NameServerTest() override { EXPECT_EQ(server_port().counters().unexpected_events, 0U); }
  void log_in(std::size_t index) {
    fabric.port(index).remote_port(wire::well_known::name_server).log_in();
    fabric.run_for(millisecond);
  }
  NPort& server_port() { return fabric.fabric.service_port(wire::well_known::name_server); }
  /// Asks over the fabric; the CT_IU that came back.
  std::vector<std::uint8_t> ask_bytes(std::size_t index, const std::vector<std::uint8_t>& iu) {
    support::RecordingUser user;
    fabric.port(index).request(wire::well_known::name_server, wire::RCtl::unsolicited_control, wire::Type::ct, iu, user,
                               second);
    fabric.run_for(2 * second);
    return user.ius.empty() ? std::vector<std::uint8_t>{} : user.ius.at(0).bytes;
  }
  template <class Request>
  std::vector<std::uint8_t> ask(std::size_t index, const Request& request) {
    std::vector<std::uint8_t> iu(request.size());
    request.write(iu);
    return ask_bytes(index, iu);
  }
  template <class Answer, class Request>
  Answer expect(std::size_t index, const Request& request) {
    const auto answer = Answer::parse(ask(index, request));
    EXPECT_TRUE(answer);
    return answer ? *answer : Answer{};
  }
  template <class Request>
  void expect_accept(std::size_t index, const Request& request) {
    expect<ct::CtAccept>(index, request);
  }
  template <class Request>
  void expect_reject(std::size_t index, const Request& request, Why why, Reason reason = Reason::unable_to_perform) {
    const auto reject = expect<ct::CtReject>(index, request);
    EXPECT_EQ(reject.preamble.reason, reason);
    EXPECT_EQ(reject.preamble.explanation, why);
  }
  [[nodiscard]] wire::FcId id(std::size_t index) { return fabric.port(index).n_port_id(); }
  wire::Wwn port_name(std::size_t index) { return fabric.port(index).config().port_name; }
  wire::Wwn node_name(std::size_t index) { return fabric.port(index).config().node_name; }
  static ct::Fc4Types types(std::initializer_list<wire::Type> list) {
    ct::Fc4Types result;
    for (const wire::Type type : list) result.add(type);
    return result;
  }
  template <class Request>
  static Request by_id(wire::FcId port_id) {
    Request request;
    request.port_id = port_id;
    return request;
  }
  static ct::RippId ripp_id(wire::FcId port_id, const wire::IpAddress& address) {
    auto request = by_id<ct::RippId>(port_id);
    request.ip_address = address;
    return request;
  }
  static ct::GidIpp gid_ipp(const wire::IpAddress& address) {
    ct::GidIpp request;
    request.ip_address = address;
    return request;
  }
  Ids ids_of(const wire::IpAddress& address) { return expect<ct::GidIppAccept>(2, gid_ipp(address)).port_ids; }

  support::TestFabric fabric{3};
};

// FC-VI 7.6: RIPP_ID, then GID_IPP finds the port; an address that nobody registered is rejected 09h/0Bh.
TEST_F(NameServerTest, registered_address_is_found) {
  expect_accept(0, ripp_id(id(0), ip_1));
  EXPECT_EQ(ids_of(ip_1), Ids{id(0)});
  expect_reject(2, gid_ipp(ip_2), Why::ip_address_port_not_registered);
}

// FC-VI 7.6: several ports with one address come as a list.
TEST_F(NameServerTest, registered_address_of_several_ports_is_a_list) {
  expect_accept(1, ripp_id(id(1), ip_1));
  expect_accept(0, ripp_id(id(0), ip_1));
  EXPECT_EQ(ids_of(ip_1), (Ids{id(0), id(1)}));
}

// A port with several addresses registers each; registering twice counts once; zeros take all away.
TEST_F(NameServerTest, registered_addresses_add_up) {
  expect_accept(0, ripp_id(id(0), ip_1));
  expect_accept(0, ripp_id(id(0), ip_2));
  expect_accept(0, ripp_id(id(0), ip_2));
  EXPECT_EQ(ids_of(ip_1), Ids{id(0)});
  EXPECT_EQ(ids_of(ip_2), Ids{id(0)});
  expect_accept(0, ripp_id(id(0), {}));
  expect_reject(2, gid_ipp(ip_1), Why::ip_address_port_not_registered);
  expect_reject(2, gid_ipp(ip_2), Why::ip_address_port_not_registered);
}

// A limit has a name: 16 addresses for one port.
TEST_F(NameServerTest, registered_addresses_are_limited) {
  for (std::uint8_t i = 0; i < NameDatabase::max_addresses; ++i)
    expect_accept(0, ripp_id(id(0), wire::IpAddress::v4(10, 1, 0, i)));
  expect_reject(0, ripp_id(id(0), ip_1), Why::none);
}

// GIPP_ID: the addresses of a port, in the order of their registration.
TEST_F(NameServerTest, registered_addresses_of_a_port_are_listed) {
  expect_reject(1, by_id<ct::GippId>(id(0)), Why::ip_address_port_not_registered);
  expect_accept(0, ripp_id(id(0), ip_2));
  EXPECT_EQ(expect<ct::IpAddressListAccept>(1, by_id<ct::GippId>(id(0))).ip_addresses, std::vector{ip_2});
  expect_accept(0, ripp_id(id(0), ip_1));
  EXPECT_EQ(expect<ct::IpAddressListAccept>(1, by_id<ct::GippId>(id(0))).ip_addresses, (std::vector{ip_2, ip_1}));
  expect_reject(1, by_id<ct::GippId>(unknown_id), Why::n_port_id_not_registered);
}

// An IPv4 address is the same right-justified and IPv4-mapped.
TEST_F(NameServerTest, registered_right_justified_address_is_found) {
  wire::IpAddress right_justified;
  right_justified.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1};
  expect_accept(0, ripp_id(id(0), right_justified));
  EXPECT_EQ(ids_of(ip_1), Ids{id(0)});
  EXPECT_EQ(ids_of(right_justified), Ids{id(0)});
}

// RIP_NN: the address of a node stands for its ports, where no port has it itself.
TEST_F(NameServerTest, registered_node_address_finds_its_ports) {
  ct::RipNn request;
  request.node_name = node_name(0);
  request.ip_address = ip_1;
  expect_accept(0, request);
  EXPECT_EQ(ids_of(ip_1), Ids{id(0)});
  expect_accept(1, ripp_id(id(1), ip_1));
  EXPECT_EQ(ids_of(ip_1), Ids{id(1)});
  expect_reject(1, request, Why::access_denied);
  request.node_name = unknown_name;
  expect_reject(0, request, Why::node_name_not_registered);
}

// A port registers for itself only.
TEST_F(NameServerTest, registration_for_another_port_is_rejected) {
  expect_reject(0, ripp_id(id(1), ip_1), Why::access_denied);
  expect_reject(0, by_id<ct::RnnId>(id(1)), Why::access_denied);
  expect_reject(0, by_id<ct::RftId>(id(1)), Why::access_denied);
  expect_reject(0, by_id<ct::RffId>(id(1)), Why::access_denied);
  expect_reject(0, by_id<ct::RspnId>(id(1)), Why::access_denied);
  expect_reject(0, by_id<ct::DaId>(id(1)), Why::access_denied);
}

// The fabric login registers Port_Name and Node_Name: GPN_ID, GNN_ID, GID_PN, GID_NN.
TEST_F(NameServerTest, logged_in_names_are_found) {
  EXPECT_EQ(expect<ct::NameAccept>(0, by_id<ct::GpnId>(id(1))).world_wide_name, port_name(1));
  EXPECT_EQ(expect<ct::NameAccept>(0, by_id<ct::GnnId>(id(1))).world_wide_name, node_name(1));
  ct::GidPn gid_pn;
  gid_pn.port_name = port_name(1);
  EXPECT_EQ(expect<ct::PortIdAccept>(0, gid_pn).port_id, id(1));
  ct::GidNn gid_nn;
  gid_nn.node_name = node_name(1);
  EXPECT_EQ(expect<ct::GidNnAccept>(0, gid_nn).port_ids, Ids{id(1)});
}

// What is not there is rejected with what is missing.
TEST_F(NameServerTest, unknown_names_are_rejected) {
  expect_reject(0, by_id<ct::GpnId>(unknown_id), Why::n_port_id_not_registered);
  expect_reject(0, by_id<ct::GnnId>(unknown_id), Why::n_port_id_not_registered);
  expect_reject(0, by_id<ct::GspnId>(unknown_id), Why::n_port_id_not_registered);
  ct::GidPn gid_pn;
  gid_pn.port_name = unknown_name;
  expect_reject(0, gid_pn, Why::port_name_not_registered);
  ct::GidNn gid_nn;
  gid_nn.node_name = unknown_name;
  expect_reject(0, gid_nn, Why::node_name_not_registered);
  ct::GsnnNn gsnn_nn;
  gsnn_nn.node_name = unknown_name;
  expect_reject(0, gsnn_nn, Why::node_name_not_registered);
}

// RNN_ID moves a port to another node; RPN_ID confirms a Port_Name, and cannot change it.
TEST_F(NameServerTest, registered_node_name_changes) {
  auto rnn_id = by_id<ct::RnnId>(id(0));
  rnn_id.node_name = node_name(1);
  expect_accept(0, rnn_id);
  ct::GidNn gid_nn;
  gid_nn.node_name = node_name(1);
  EXPECT_EQ(expect<ct::GidNnAccept>(0, gid_nn).port_ids, (Ids{id(0), id(1)}));
  gid_nn.node_name = node_name(0);
  expect_reject(0, gid_nn, Why::node_name_not_registered);
  auto rpn_id = by_id<ct::RpnId>(id(0));
  rpn_id.port_name = port_name(0);
  expect_accept(0, rpn_id);
  rpn_id.port_name = unknown_name;
  expect_reject(0, rpn_id, Why::access_denied);
}

// RSPN_ID and RSNN_NN, read back by GSPN_ID and GSNN_NN.
TEST_F(NameServerTest, registered_symbolic_names_are_found) {
  expect_reject(1, by_id<ct::GspnId>(id(0)), Why::symbolic_port_name_not_registered);
  auto rspn_id = by_id<ct::RspnId>(id(0));
  rspn_id.symbolic_name = "port zero";
  expect_accept(0, rspn_id);
  EXPECT_EQ(expect<ct::SymbolicNameAccept>(1, by_id<ct::GspnId>(id(0))).symbolic_name, "port zero");
  ct::GsnnNn gsnn_nn;
  gsnn_nn.node_name = node_name(0);
  expect_reject(1, gsnn_nn, Why::symbolic_node_name_not_registered);
  ct::RsnnNn rsnn_nn;
  rsnn_nn.node_name = node_name(0);
  rsnn_nn.symbolic_name = "node zero";
  expect_accept(0, rsnn_nn);
  EXPECT_EQ(expect<ct::SymbolicNameAccept>(1, gsnn_nn).symbolic_name, "node zero");
}

// RFT_ID, then GID_FT and GPN_FT list the ports of a TYPE, in order, within the scope asked for; 09h/07h for none.
TEST_F(NameServerTest, registered_types_are_listed) {
  for (const std::size_t index : {1, 0}) {
    auto rft_id = by_id<ct::RftId>(id(index));
    rft_id.types = types({wire::Type::fc_vi});
    expect_accept(index, rft_id);
  }
  ct::GidFt gid_ft;
  gid_ft.type = wire::Type::fc_vi;
  EXPECT_EQ(expect<ct::GidFtAccept>(2, gid_ft).port_ids, (Ids{id(0), id(1)}));
  gid_ft.domain_scope = 1;
  gid_ft.area_scope = 2;
  EXPECT_EQ(expect<ct::GidFtAccept>(2, gid_ft).port_ids, Ids{id(1)});
  gid_ft.domain_scope = 2;
  expect_reject(2, gid_ft, Why::fc4_types_not_registered);
  ct::GpnFt gpn_ft;
  gpn_ft.type = wire::Type::fc_vi;
  const auto list = expect<ct::GpnFtAccept>(2, gpn_ft);
  ASSERT_EQ(list.entries.size(), 2U);
  EXPECT_EQ(list.entries[1].port_id, id(1));
  EXPECT_EQ(list.entries[1].world_wide_name, port_name(1));
  gpn_ft.type = wire::Type::fcp;
  expect_reject(2, gpn_ft, Why::fc4_types_not_registered);
}

// RFF_ID is kept.
TEST_F(NameServerTest, registered_features_are_kept) {
  auto rff_id = by_id<ct::RffId>(id(0));
  rff_id.type = wire::Type::fcp;
  rff_id.features = 2;
  expect_accept(0, rff_id);
  EXPECT_EQ(fabric.fabric.name_server().database().find(id(0))->features.at(wire::Type::fcp), 2);
}

// DA_ID removes every entry of the port.
TEST_F(NameServerTest, registered_da_id_removes_all) {
  expect_accept(0, ripp_id(id(0), ip_1));
  expect_accept(0, by_id<ct::DaId>(id(0)));
  expect_reject(1, by_id<ct::GpnId>(id(0)), Why::n_port_id_not_registered);
  expect_reject(1, gid_ipp(ip_1), Why::ip_address_port_not_registered);
  expect_reject(0, ripp_id(id(0), ip_1), Why::n_port_id_not_registered);
}

// Logout and link loss take the port out; another login brings the names back, not the registrations.
TEST_F(NameServerTest, registered_link_down_removes_all) {
  expect_accept(0, ripp_id(id(0), ip_1));
  const wire::FcId old = id(0);
  fabric.detach(0);
  expect_reject(2, gid_ipp(ip_1), Why::ip_address_port_not_registered);
  expect_reject(2, by_id<ct::GpnId>(old), Why::n_port_id_not_registered);
  fabric.attach(0);
  fabric.run_for(second);
  EXPECT_EQ(expect<ct::NameAccept>(2, by_id<ct::GpnId>(id(0))).world_wide_name, port_name(0));
  expect_reject(2, gid_ipp(ip_1), Why::ip_address_port_not_registered);
}

// A port that is not logged in with the name server is refused, also after a fabric logout took its login.
TEST_F(NameServerTest, not_logged_in_is_rejected) {
  fabric.detach(0);
  fabric.attach(0);
  fabric.run_for(second);
  expect_reject(0, gid_ipp(ip_1), Why::access_denied);
  log_in(0);
  expect_reject(0, gid_ipp(ip_1), Why::ip_address_port_not_registered);
}

// Commands that nobody knows, that we do not have, other services, versions and short requests have their reasons.
TEST_F(NameServerTest, bad_requests_are_rejected_with_the_reason) {
  const auto reason_of = [&](const std::vector<std::uint8_t>& iu) {
    const auto reject = ct::CtReject::parse(ask_bytes(0, iu));
    EXPECT_TRUE(reject);
    return reject ? reject->preamble.reason : Reason::none;
  };
  std::vector<std::uint8_t> iu(36);
  ct::CtHeader::of(static_cast<ct::Command>(0x7777)).write(iu);
  EXPECT_EQ(reason_of(iu), Reason::invalid_command);
  ct::CtHeader::of(static_cast<ct::Command>(0x0214)).write(iu);  // RCS_ID
  EXPECT_EQ(reason_of(iu), Reason::not_supported);
  auto header = ct::CtHeader::of(ct::Command::gid_ipp);
  header.revision = 0;
  header.write(iu);
  EXPECT_EQ(reason_of(iu), Reason::invalid_version);
  header = ct::CtHeader::of(ct::Command::gid_ipp);
  header.gs_subtype = 0x55;
  header.write(iu);
  EXPECT_EQ(reason_of(iu), Reason::server_not_available);
  ct::CtHeader::of(ct::Command::gid_ipp).write(iu);
  iu.resize(20);
  EXPECT_EQ(reason_of(iu), Reason::invalid_size);
  iu.resize(8);
  EXPECT_EQ(reason_of(iu), Reason::invalid_size);
}

// Every request of wire/ct cut short at every length is answered with a reject, never with silence.
TEST_F(NameServerTest, every_request_cut_short_is_rejected) {
  wire::for_each_message<wire::CtRequests>([&]<class Request>(std::type_identity<Request>) {
    Request request;
    std::vector<std::uint8_t> iu(request.size());
    request.write(iu);
    for (std::size_t length = 0; length < iu.size(); ++length) {
      const auto answer = fabric.fabric.name_server().answer(id(0), std::span(iu).first(length));
      const auto reject = ct::CtReject::parse(answer);
      ASSERT_TRUE(reject) << Request::name << " " << length;
    }
  });
}

// FC-GS 4.3: the requester's maximum size cuts a list; the rest is told as residual words.
TEST_F(NameServerTest, list_above_the_requested_size_is_cut) {
  for (std::size_t index = 0; index < 3; ++index) expect_accept(index, ripp_id(id(index), ip_1));
  auto request = gid_ipp(ip_1);
  request.preamble.max_residual_size = 1;
  const auto answer = ask(2, request);
  EXPECT_EQ(answer.size(), 20U);
  EXPECT_EQ(ct::CtHeader::parse(answer)->max_residual_size, 2);
}

// A list of more than one frame comes whole.
TEST_F(NameServerTest, list_of_several_frames_comes_whole) {
  for (std::size_t i = 3; i < 700; ++i) {
    fabric.add_port();
    fabric.attach(i);
  }
  fabric.run_for(second);
  auto& server = fabric.fabric.name_server();
  for (std::size_t i = 0; i < 700; ++i) {
    fabric.port(i).remote_port(wire::well_known::name_server).log_in();
    fabric.run_for(10 * microsecond);
    auto rft_id = by_id<ct::RftId>(id(i));
    rft_id.types = types({wire::Type::fc_vi});
    std::vector<std::uint8_t> iu(rft_id.size());
    rft_id.write(iu);
    ASSERT_TRUE(ct::CtAccept::parse(server.answer(id(i), iu)));
  }
  ct::GpnFt gpn_ft;
  gpn_ft.type = wire::Type::fc_vi;
  const auto list = expect<ct::GpnFtAccept>(0, gpn_ft);
  ASSERT_EQ(list.entries.size(), 700U);
  EXPECT_EQ(list.entries[254].port_id, id(594));  // 85th area, third port: in the order of the addresses
}

// What is no request on TYPE 20h is counted.
TEST_F(NameServerTest, solicited_ct_unasked_is_discarded) {
  support::RecordingUser user;
  Exchange* exchange = fabric.port(0).originate(wire::well_known::name_server, wire::Type::ct, user);
  fabric.port(0).send(*exchange, wire::RCtl::solicited_control, {}, std::vector<std::uint8_t>(16),
                      {.last_of_exchange = true});
  fabric.run_for(millisecond);
  EXPECT_EQ(server_port().counters().discarded(Discard::UnexpectedIu), 1U);
  EXPECT_EQ(server_port().open_exchanges(), 0U);
}

}  // namespace
}  // namespace fc2
