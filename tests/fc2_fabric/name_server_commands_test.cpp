// Every command of the Name Server (FC-GS): what it finds, what it says where there is nothing, and when it
// is cut short.
#include <gtest/gtest.h>

#include <map>

#include "fc2_fabric/switch/f_port.hpp"
#include "fc2_fabric/switch/name_server.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/switched_fabric.hpp"
#include "wire/messages.hpp"

namespace fc2 {
namespace {

namespace ct = wire::ct;
using Bytes = std::vector<std::uint8_t>;
using Reason = ct::RejectReason;
using Why = ct::RejectExplanation;

// Port 0 has registered everything and shares its node with port 1, which has registered nothing. 2 is of a node
// of its own.
constexpr wire::FcId id_0{0x010100}, id_1{0x010200}, id_2{0x010300}, nobody{0x01EE00};
constexpr wire::Wwn port_name_0{0x2000'02FC'F000'0001}, node_name_0{0x1000'02FC'F000'0001},
    node_name_2{0x1000'02FC'F000'0003}, no_name{0x2000'0000'0000'0099};
const wire::IpAddress port_ip = wire::IpAddress::v4(10, 0, 0, 1), node_ip = wire::IpAddress::v4(10, 0, 1, 1),
                      no_ip = wire::IpAddress::v4(9, 9, 9, 9);
constexpr auto fc_vi = wire::Type::fc_vi;

template <class Message>
Bytes bytes_of(const Message& message) {
  Bytes bytes(message.size());
  message.write(bytes);
  return bytes;
}

class NameServerCommandsTest : public testing::Test {
 protected:
  NameServerCommandsTest()
      : fabric(3, {}, [](NPortConfig& config, std::size_t index) {
          if (index == 1) config.node_name = node_name_0;
        }) {
    fabric.bring_up();
    for (std::size_t i = 0; i < 3; ++i) fabric.port(i).remote_port(wire::well_known::name_server).log_in();
    fabric.run_for(millisecond);
    register_all();
  }
  Bytes ask(const Bytes& iu, wire::FcId source = id_0) { return fabric.fabric.name_server().answer(source, iu); }
  template <class Request>
  Bytes ask(const Request& request) {
    return ask(bytes_of(request));
  }
  template <class Request>
  void expect_accept(const Request& request) {
    EXPECT_EQ(ask(request), bytes_of(ct::CtAccept{})) << Request::name;
  }
  void register_all() {
    expect_accept(ct::RippId{.port_id = id_0, .ip_address = port_ip});
    expect_accept(ct::RipNn{.node_name = node_name_0, .ip_address = node_ip});
    expect_accept(ct::RspnId{.port_id = id_0, .symbolic_name = "a port"});
    expect_accept(ct::RsnnNn{.node_name = node_name_0, .symbolic_name = "a node"});
    ct::RftId rft_id{.port_id = id_0};
    rft_id.types.add(fc_vi);
    expect_accept(rft_id);
    expect_accept(ct::RffId{.port_id = id_0, .features = 3, .type = fc_vi});
    expect_accept(ct::RptId{.port_id = id_0, .port_type = ct::PortType::n_port});
    expect_accept(ct::RnnId{.port_id = id_0, .node_name = node_name_0});
    expect_accept(ct::RpnId{.port_id = id_0, .port_name = port_name_0});
  }
  void expect_reject(const Bytes& iu, Reason reason, Why why) {
    const auto reject = ct::CtReject::parse(ask(iu));
    ASSERT_TRUE(reject);
    EXPECT_EQ(reject->preamble.reason, reason) << to_string(reject->preamble.reason);
    EXPECT_EQ(reject->preamble.explanation, why) << to_string(reject->preamble.explanation);
  }

  support::TestFabric fabric;
};

struct Row {
  ct::Command command;
  Bytes found, missing;  // requests: one that succeeds, one that finds nothing or may not be
  Bytes answer;          // to the first
  Why why;               // to the second
};

template <class Request>
Row row(const Request& found, const Request& missing, Why why, Bytes answer) {
  return {Request::command, bytes_of(found), bytes_of(missing), std::move(answer), why};
}
template <class Request>
Row registration(const Request& allowed, const Request& denied, Why why) {
  return row(allowed, denied, why, bytes_of(ct::CtAccept{}));
}

Bytes ids(std::vector<wire::FcId> list) { return bytes_of(ct::PortIdListAccept{.port_ids = std::move(list)}); }
Bytes name(wire::Wwn name) { return bytes_of(ct::NameAccept{.world_wide_name = name}); }
Bytes ip(const wire::IpAddress& address) { return bytes_of(ct::IpAddressListAccept{.ip_addresses = {address}}); }
Bytes text(const char* text) { return bytes_of(ct::SymbolicNameAccept{.symbolic_name = text}); }
Bytes entry(wire::FcId id, wire::Wwn name) {
  return bytes_of(ct::GpnFtAccept{.entries = {{.port_id = id, .world_wide_name = name}}});
}

ct::Fc4Types fc_vi_types() {
  ct::Fc4Types types;
  types.add(fc_vi);
  return types;
}
ct::Fc4Features fc_vi_features() {
  ct::Fc4Features features;
  features.set(fc_vi, 3);
  return features;
}
Bytes all_of_port_0(wire::Wwn fabric_port_name) {
  return bytes_of(ct::NextPortAccept{.port_type = ct::PortType::n_port,
                                     .port_id = id_0,
                                     .port_name = port_name_0,
                                     .symbolic_port_name = ct::SymbolicNameField::of("a port"),
                                     .node_name = node_name_0,
                                     .symbolic_node_name = ct::SymbolicNameField::of("a node"),
                                     .node_ip_address = node_ip,
                                     .classes_of_service = 1U << 3,
                                     .types = fc_vi_types(),
                                     .port_ip_address = port_ip,
                                     .fabric_port_name = fabric_port_name});
}

std::vector<Row> queries() {
  return {
      row(ct::GpnId{.port_id = id_0}, {.port_id = nobody}, Why::n_port_id_not_registered, name(port_name_0)),
      row(ct::GnnId{.port_id = id_0}, {.port_id = nobody}, Why::n_port_id_not_registered, name(node_name_0)),
      row(ct::GftId{.port_id = id_0}, {.port_id = id_1}, Why::fc4_types_not_registered,
          bytes_of(ct::Fc4TypesAccept{.types = fc_vi_types()})),
      row(ct::GspnId{.port_id = id_0}, {.port_id = id_1}, Why::symbolic_port_name_not_registered, text("a port")),
      row(ct::GptId{.port_id = id_0}, {.port_id = nobody}, Why::n_port_id_not_registered,
          bytes_of(ct::PortTypeAccept{.port_type = ct::PortType::n_port})),
      row(ct::GcsId{.port_id = id_0}, {.port_id = nobody}, Why::n_port_id_not_registered,
          bytes_of(ct::ClassesOfServiceAccept{.classes_of_service = 1U << 3})),
      row(ct::GippId{.port_id = id_0}, {.port_id = id_1}, Why::ip_address_port_not_registered, ip(port_ip)),
      row(ct::GffId{.port_id = id_0}, {.port_id = id_1}, Why::fc4_features_not_registered,
          bytes_of(ct::Fc4FeaturesAccept{.features = fc_vi_features()})),
      row(ct::GidPn{.port_name = port_name_0}, {.port_name = no_name}, Why::port_name_not_registered,
          bytes_of(ct::PortIdAccept{.port_id = id_0})),
      row(ct::GippPn{.port_name = port_name_0}, {.port_name = no_name}, Why::port_name_not_registered, ip(port_ip)),
      row(ct::GidNn{.node_name = node_name_0}, {.node_name = no_name}, Why::node_name_not_registered,
          ids({id_0, id_1})),
      row(ct::GipNn{.node_name = node_name_0}, {.node_name = node_name_2}, Why::ip_address_node_not_registered,
          ip(node_ip)),
      row(ct::GsnnNn{.node_name = node_name_0}, {.node_name = node_name_2}, Why::symbolic_node_name_not_registered,
          text("a node")),
      row(ct::GnnIp{.ip_address = node_ip}, {.ip_address = port_ip}, Why::ip_address_node_not_registered,
          name(node_name_0)),
      row(ct::GidFt{.type = fc_vi}, {.type = wire::Type::fcp}, Why::fc4_types_not_registered, ids({id_0})),
      row(ct::GpnFt{.type = fc_vi}, {.type = wire::Type::fcp}, Why::fc4_types_not_registered, entry(id_0, port_name_0)),
      row(ct::GnnFt{.type = fc_vi}, {.type = wire::Type::fcp}, Why::fc4_types_not_registered, entry(id_0, node_name_0)),
      row(ct::GidPt{.port_type = ct::PortType::nx_port}, {.port_type = ct::PortType::nl_port},
          Why::port_type_not_registered, ids({id_0, id_1, id_2})),
      row(ct::GidIpp{.ip_address = port_ip}, {.ip_address = no_ip}, Why::ip_address_port_not_registered, ids({id_0})),
      row(ct::GpnIpp{.ip_address = port_ip}, {.ip_address = no_ip}, Why::ip_address_port_not_registered,
          entry(id_0, port_name_0)),
      row(ct::GidFf{.features = 2, .type = fc_vi}, {.features = 4, .type = fc_vi}, Why::fc4_features_not_registered,
          ids({id_0})),
  };
}

std::vector<Row> registrations() {
  return {
      registration(ct::RpnId{.port_id = id_0, .port_name = port_name_0}, {.port_id = id_0, .port_name = no_name},
                   Why::access_denied),
      registration(ct::RnnId{.port_id = id_0, .node_name = node_name_0}, {.port_id = id_1, .node_name = no_name},
                   Why::access_denied),
      registration(ct::RftId{.port_id = id_0}, {.port_id = id_1}, Why::access_denied),
      registration(ct::RspnId{.port_id = id_0, .symbolic_name = "x"}, {.port_id = id_1, .symbolic_name = "x"},
                   Why::access_denied),
      registration(ct::RptId{.port_id = id_0}, {.port_id = id_1}, Why::access_denied),
      registration(ct::RippId{.port_id = id_0, .ip_address = no_ip}, {.port_id = id_1, .ip_address = no_ip},
                   Why::access_denied),
      registration(ct::RffId{.port_id = id_0}, {.port_id = id_1}, Why::access_denied),
      registration(ct::RipNn{.node_name = node_name_0, .ip_address = no_ip}, {.node_name = node_name_2},
                   Why::access_denied),
      registration(ct::RsnnNn{.node_name = node_name_0, .symbolic_name = "x"},
                   {.node_name = no_name, .symbolic_name = "x"}, Why::node_name_not_registered),
      registration(ct::DaId{.port_id = id_0}, {.port_id = id_1}, Why::access_denied),
  };
}

// Every command finds what there is, and says what is missing where there is nothing.
TEST_F(NameServerCommandsTest, registered_every_query_is_answered) {
  for (const Row& row : queries()) {
    SCOPED_TRACE(to_string(row.command));
    EXPECT_EQ(ask(row.found), row.answer);
    expect_reject(row.missing, Reason::unable_to_perform, row.why);
  }
}

// Every registration is for oneself and one's node; nothing else is.
TEST_F(NameServerCommandsTest, registered_every_registration_is_answered) {
  for (const Row& row : registrations()) {
    SCOPED_TRACE(to_string(row.command));
    expect_reject(row.missing, Reason::unable_to_perform, row.why);
    EXPECT_EQ(ask(row.found), row.answer);
  }
}

// Cut short by a byte, or down to the preamble: invalid size.
TEST_F(NameServerCommandsTest, cut_short_every_request_is_rejected) {
  auto rows = queries();
  for (Row& row : registrations()) rows.push_back(std::move(row));
  for (const Row& row : rows) {
    SCOPED_TRACE(to_string(row.command));
    expect_reject({row.found.begin(), row.found.end() - 1}, Reason::invalid_size, Why::none);
    expect_reject({row.found.begin(), row.found.begin() + 16}, Reason::invalid_size, Why::none);
  }
}

// The tables above leave no command out but GA_NXT, GIPA_NN and GFPN_ID, which have tests of their own.
TEST_F(NameServerCommandsTest, tables_have_every_command) {
  std::map<ct::Command, int> count;
  for (const Row& row : queries()) ++count[row.command];
  for (const Row& row : registrations()) ++count[row.command];
  wire::for_each_message<wire::CtRequests>([&]<class Request>(std::type_identity<Request>) {
    const bool own_test = Request::command == ct::Command::ga_nxt || Request::command == ct::Command::gipa_nn ||
                          Request::command == ct::Command::gfpn_id;
    EXPECT_EQ(count[Request::command], own_test ? 0 : 1) << Request::name;
  });
}

// GA_NXT goes through all ports in the order of their N_Port_IDs, and begins again.
TEST_F(NameServerCommandsTest, registered_ga_nxt_goes_round) {
  const auto* f_port = dynamic_cast<FPort*>(fabric.fabric.ingress_of(fabric.port(0)));
  ASSERT_NE(f_port, nullptr);
  EXPECT_EQ(ask(ct::GaNxt{}), all_of_port_0(f_port->name()));
  EXPECT_EQ(ask(ct::GaNxt{.port_id = id_2}), all_of_port_0(f_port->name()));
  EXPECT_EQ(ask(ct::GfpnId{.port_id = id_0}), name(f_port->name()));
  expect_reject(bytes_of(ct::GfpnId{.port_id = nobody}), Reason::unable_to_perform, Why::n_port_id_not_registered);
  const auto after = [&](wire::FcId id) { return ct::NextPortAccept::parse(ask(ct::GaNxt{.port_id = id}))->port_id; };
  EXPECT_EQ(after(id_0), id_1);
  EXPECT_EQ(after({id_1.value + 1}), id_2);
  for (const Bytes& whole : {bytes_of(ct::GaNxt{}), bytes_of(ct::GfpnId{.port_id = id_0})})
    expect_reject({whole.begin(), whole.end() - 1}, Reason::invalid_size, Why::none);
}

// A server that nobody registered with is empty.
TEST_F(NameServerCommandsTest, empty_ga_nxt_is_rejected) {
  for (std::size_t i = 1; i < 3; ++i) fabric.detach(i);
  ask(ct::DaId{.port_id = id_0});
  expect_reject(bytes_of(ct::GaNxt{}), Reason::unable_to_perform, Why::database_empty);
}

// No request registers an initial process associator.
TEST_F(NameServerCommandsTest, registered_node_has_no_ipa) {
  expect_reject(bytes_of(ct::GipaNn{.node_name = node_name_0}), Reason::unable_to_perform, Why::ipa_not_registered);
  expect_reject(bytes_of(ct::GipaNn{.node_name = no_name}), Reason::unable_to_perform, Why::node_name_not_registered);
}

// Commands of FC-GS that this server does not have are not supported; a code outside of its ranges is no command.
TEST_F(NameServerCommandsTest, unknown_commands_are_rejected) {
  for (const auto& [code, reason] : {std::pair{0x011D, Reason::not_supported},
                                     {0x0214, Reason::not_supported},
                                     {0x03FF, Reason::not_supported},
                                     {0x0400, Reason::invalid_command},
                                     {0x00FF, Reason::invalid_command},
                                     {0x8002, Reason::invalid_command}}) {
    ct::CtHeader header;
    header.command = static_cast<ct::Command>(code);
    SCOPED_TRACE(code);
    expect_reject(bytes_of(header), reason, Why::none);
  }
}

// FC-VI 4.2: several IP addresses on one port, and one IP address on several ports, each found by the other.
TEST_F(NameServerCommandsTest, registered_addresses_are_many_to_many) {
  const auto second_ip = wire::IpAddress::v4(10, 0, 0, 2);
  expect_accept(ct::RippId{.port_id = id_0, .ip_address = second_ip});
  EXPECT_EQ(ask(bytes_of(ct::RippId{.port_id = id_2, .ip_address = port_ip}), id_2), bytes_of(ct::CtAccept{}));
  EXPECT_EQ(ask(ct::GidIpp{.ip_address = port_ip}), ids({id_0, id_2}));
  EXPECT_EQ(ask(ct::GidIpp{.ip_address = second_ip}), ids({id_0}));
  EXPECT_EQ(ask(ct::GippId{.port_id = id_0}), bytes_of(ct::IpAddressListAccept{.ip_addresses = {port_ip, second_ip}}));
  EXPECT_EQ(ct::GpnFtAccept::parse(ask(ct::GpnIpp{.ip_address = port_ip}))->entries.size(), 2U);
}

// Ports that share a node: the node's names and addresses stay until its last port goes.
TEST_F(NameServerCommandsTest, shared_node_lives_as_long_as_a_port) {
  fabric.detach(0);
  EXPECT_EQ(ask(bytes_of(ct::GsnnNn{.node_name = node_name_0}), id_2), text("a node"));
  EXPECT_EQ(ask(bytes_of(ct::GidIpp{.ip_address = node_ip}), id_2), ids({id_1}));
  fabric.detach(1);
  EXPECT_NE(ask(bytes_of(ct::GsnnNn{.node_name = node_name_0}), id_2), text("a node"));
}

// --- long lists --------------------------------------------------------------------------------------------------

class LongListTest : public testing::Test {
 protected:
  static constexpr std::size_t ports = 5000;
  LongListTest() {
    for (std::size_t i = 0; i < 4; ++i) {
      f.add_switch();
      if (i != 0) f.join(0, i);
    }
    for (std::size_t i = 0; i < ports; ++i) f.add_port(i % 4);
    f.run_for(second);
    for (std::size_t i = 0; i < ports; ++i) {
      f.port(i).remote_port(wire::well_known::name_server).log_in();
      f.run_for(10 * microsecond);
      EXPECT_EQ(f.switch_of(i)
                    .name_server()
                    .answer(f.id(i), bytes_of(ct::RftId{.port_id = f.id(i), .types = fc_vi_types()}))
                    .size(),
                16U);
    }
  }
  Bytes ask(const Bytes& iu) {
    support::RecordingUser user;
    f.port(0).request(wire::well_known::name_server, wire::RCtl::unsolicited_control, wire::Type::ct, iu, user, second);
    f.run_for(2 * second);
    return user.ius.empty() ? Bytes{} : user.ius.at(0).bytes;
  }
  support::SwitchedFabric f;
};

// A list of 80,000 bytes, of the ports of all switches, comes as one IU of many frames, in the order of N_Port_IDs.
TEST_F(LongListTest, registered_ports_come_in_many_frames) {
  const auto list = ct::GpnFtAccept::parse(ask(bytes_of(ct::GpnFt{.type = fc_vi})));
  ASSERT_TRUE(list);
  ASSERT_EQ(list->entries.size(), ports);
  EXPECT_EQ(list->preamble.max_residual_size, 0);
  EXPECT_TRUE(std::is_sorted(list->entries.begin(), list->entries.end(),
                             [](const auto& a, const auto& b) { return a.port_id < b.port_id; }));
  EXPECT_EQ(ct::PortIdListAccept::parse(ask(bytes_of(ct::GidPt{.port_type = ct::PortType::nx_port})))->port_ids.size(),
            ports);
}

// FC-GS 4.3: no more than the requester wants, and how many words are left; a domain's scope asks for less.
TEST_F(LongListTest, registered_ports_above_the_maximum_size_are_residual) {
  ct::GpnFt request{.type = fc_vi};
  request.preamble.max_residual_size = 4 * 1000;
  const auto part = ct::GpnFtAccept::parse(ask(bytes_of(request)));
  ASSERT_TRUE(part);
  EXPECT_EQ(part->entries.size(), 1000U);
  EXPECT_EQ(part->preamble.max_residual_size, 4 * (ports - 1000));
  request.preamble.max_residual_size = 0;
  request.domain_scope = 3;
  const auto domain = ct::GpnFtAccept::parse(ask(bytes_of(request)));
  EXPECT_EQ(domain->entries.size(), ports / 4);
  request.area_scope = 7;
  EXPECT_EQ(ct::GpnFtAccept::parse(ask(bytes_of(request)))->entries.size(), 5U);
}

}  // namespace
}  // namespace fc2
