// What an FCF and an ENode take from others, refuse, and reject (FC-BB-5, FC-FS, FC-LS; rulings 220, 222 to 226).
#include <gtest/gtest.h>

#include "farp/resolver.hpp"
#include "tests/fc2_fabric/fcoe/hostile.hpp"
#include "wire/els/ls_rjt.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::EStation;
using support::EthernetWorld;
using support::fcf_mac;
using support::login_request;
using support::station_mac;
using wire::els::RejectExplanation;
using wire::els::RejectReason;

constexpr auto clear_links = fip::subcode::clear_virtual_links;

class FcfRulesTest : public testing::Test {
 protected:
  FcfRulesTest() {
    world.start_fcf();
    world.fcf_port.tap(&log);
  }
  ~FcfRulesTest() override {
    EXPECT_EQ(world.interface().counters().unexpected_events, 0U);
    world.fcf_port.tap(nullptr);
  }
  void inject(const fip::FipMessage& message, const wire::MacAddress& source = station_mac(66)) {
    world.inject(world.fcf_port, message, fcf_mac, source);
    world.run_for(millisecond);
  }
  static fip::FipMessage solicitation(std::size_t station = 66) {
    fip::FipMessage message{fip::Operation::discovery, fip::subcode::discovery_solicitation, fip::flag::fpma, {}, {}};
    message.descriptors = {fip::Mac{station_mac(station)}, fip::NameId{{1}}, fip::MaxFcoeSize{2158}};
    return message;
  }
  static fip::FipMessage keep_alive(std::size_t station = 66) {
    return {fip::Operation::control, fip::subcode::keep_alive, fip::flag::fpma, {fip::Mac{station_mac(station)}}, {}};
  }
  static fip::FipMessage flogi() { return login_request(fip::DescriptorType::flogi, {0x1000}); }
  std::size_t cleared() const { return log.sent(fip::Operation::control, clear_links).size(); }
  std::size_t solicited() const {
    const auto sent = log.sent(fip::Operation::discovery, fip::subcode::discovery_advertisement);
    return static_cast<std::size_t>(
        std::count_if(sent.begin(), sent.end(), [](const auto* one) { return one->fip->has(fip::flag::solicited); }));
  }
  std::size_t replies() const {
    return log.sent(fip::Operation::link_service, fip::subcode::link_service_reply).size();
  }
  wire::Bytes latest_reply() {
    const auto* entry = log.sent(fip::Operation::link_service, fip::subcode::link_service_reply).back();
    return wire::Bytes(entry->fip->find<fip::EncapsulatedFrame>()->fc_frame).subspan(frame_header_bytes);
  }
  bool accepted() { return latest_reply()[0] == static_cast<std::uint8_t>(wire::els::Command::ls_acc); }
  std::uint64_t count(FcoeDiscard reason) { return world.interface().counters().discarded(reason); }
  EthernetWorld world;
  support::EthernetLog log;
};

// --- ruling 220: keep-alives

// As Linux and iPXE do it: solicitation, keep-alive, FLOGI. Nothing is cleared, and the first FLOGI stands.
TEST_F(FcfRulesTest, keep_alive_before_flogi_clears_nothing) {
  inject(solicitation());
  inject(keep_alive());
  inject(flogi());
  inject(keep_alive());
  EXPECT_TRUE(accepted());
  EXPECT_EQ(cleared(), 0U);
  EXPECT_EQ(world.interface().vn_port_count(), 1U);
}

// The carrier was away for longer than its login: what it sends before its next FLOGI clears nothing either.
TEST_F(FcfRulesTest, keep_alive_before_flogi_after_the_link_flapped_clears_nothing) {
  inject(flogi());
  world.run_for(6 * second);
  EXPECT_EQ(cleared(), 1U);  // its silence
  EXPECT_EQ(world.interface().enode_count(), 0U);
  inject(solicitation());
  inject(keep_alive());
  inject(flogi());
  EXPECT_TRUE(accepted());
  EXPECT_EQ(cleared(), 1U);
}

// Its keep-alives did not come through, nor our Clear Virtual Links: it believes in its login still, and is
// told once more.
TEST_F(FcfRulesTest, keep_alive_of_who_believes_in_a_login_clears_it) {
  inject(flogi());
  inject(solicitation());  // one that is logged in may look for others
  inject(keep_alive());
  world.run_for(6 * second);
  EXPECT_EQ(cleared(), 1U);
  inject(keep_alive());
  EXPECT_EQ(cleared(), 2U);
}

// The carrier was away for less than its login: it looks for an FCF, and is silent before it logs in. What clears its
// links then would make it begin once more. The login ends all the same, and others hear of it.
TEST_F(FcfRulesTest, silence_behind_a_solicitation_clears_nothing) {
  EStation& other = world.add_e_node();
  farp::Resolver resolver(other.port, {.own_addresses = {wire::IpAddress::v4(10, 0, 0, 1)}});  // registers for RSCNs
  ASSERT_TRUE(world.run_until([&] { return resolver.ready(); }));
  inject(flogi());
  inject(keep_alive());
  world.run_for(second);
  inject(solicitation());
  const auto logged_in = [&] { return world.interface().links().contains(station_mac(66)); };
  world.run_for(4 * second - 10 * millisecond);
  EXPECT_TRUE(logged_in());
  support::FrameLog frames;
  other.node->tap(other.port, &frames);
  world.run_for(second);
  EXPECT_FALSE(logged_in());
  EXPECT_EQ(frames.received(wire::els::Command::rscn), 1U);
  other.node->tap(other.port, nullptr);
  inject(keep_alive());
  inject(flogi());
  EXPECT_TRUE(accepted());
  EXPECT_TRUE(logged_in());
  EXPECT_EQ(cleared(), 0U);
}

// The reverse: it looked for others, and its keep-alives were lost meanwhile. It believes in its login, as its
// keep-alives without FLOGI show that go on.
TEST_F(FcfRulesTest, keep_alives_that_go_on_behind_a_missed_login_clear_it) {
  inject(flogi());
  world.run_for(millisecond);
  inject(solicitation());
  world.run_for(6 * second);
  EXPECT_EQ(world.interface().enode_count(), 0U);
  for (int i = 0; i < 3; ++i) {
    inject(keep_alive());
    EXPECT_EQ(cleared(), 0U) << i;
    world.run_for(2 * second);
  }
  inject(keep_alive());  // the first was more than 2.5 periods ago
  EXPECT_EQ(cleared(), 1U);
  inject(keep_alive());  // that may have been lost
  EXPECT_EQ(cleared(), 2U);
  inject(flogi());
  inject(keep_alive());
  EXPECT_TRUE(accepted());
  EXPECT_EQ(cleared(), 2U);
}

// Keep-alives that do not go on claim no login, nor do those between FLOGIs.
TEST_F(FcfRulesTest, keep_alives_that_do_not_go_on_clear_nothing) {
  inject(flogi());
  world.run_for(millisecond);
  inject(solicitation());
  world.run_for(6 * second);
  for (int i = 0; i < 4; ++i) {
    inject(keep_alive());
    world.run_for(5 * second);  // 2.5 periods of silence
  }
  world.interface().set_available(false);
  for (int i = 0; i < 8; ++i) {
    inject(keep_alive());
    world.run_for(2 * second);
    if (i % 2 == 1)
      inject(flogi());  // is rejected
    else
      world.run_for(millisecond);
  }
  EXPECT_FALSE(accepted());
  EXPECT_EQ(cleared(), 0U);
}

// Who logged out knows it.
TEST_F(FcfRulesTest, keep_alive_after_logout_clears_nothing) {
  inject(flogi());
  const wire::FcId id = world.interface().links().begin()->second->vn_ports().front().id;
  inject(login_request(fip::DescriptorType::logo, {0x1000}, id));
  EXPECT_EQ(world.interface().enode_count(), 0U);
  inject(keep_alive());
  EXPECT_EQ(cleared(), 0U);
}

// A VN_Port's keep-alive claims a login in any case.
TEST_F(FcfRulesTest, keep_alive_of_a_vn_port_without_login_clears_it) {
  auto message = keep_alive();
  message.descriptors.push_back(fip::VnPort{wire::mac_of({0x010900}), {0x010900}, {7}});
  inject(message, wire::mac_of({0x010900}));
  EXPECT_EQ(cleared(), 1U);
  EXPECT_EQ(log.sent(fip::Operation::control, clear_links).front()->destination, station_mac(66));
}

// --- ruling 222: descriptors and flags

// FC-BB-5: a critical descriptor that the receiver does not know, or that does not belong there, spoils the message;
// others do not.
TEST_F(FcfRulesTest, critical_descriptors_spoil_messages) {
  for (const fip::Descriptor& extra :
       {fip::Descriptor(fip::UnknownDescriptor{100, {0, 0}}), fip::Descriptor(fip::UnknownDescriptor{2, {0, 0}}),
        fip::Descriptor(fip::Priority{1}), fip::Descriptor(fip::Mac{station_mac(66)})}) {
    auto message = solicitation();
    message.descriptors.push_back(extra);
    inject(message);
    message = flogi();
    message.descriptors.push_back(extra);
    inject(message);
  }
  EXPECT_EQ(count(FcoeDiscard::BadFip), 8U);
  EXPECT_EQ(solicited() + replies(), 0U);
  for (const fip::Descriptor& extra :
       {fip::Descriptor(fip::UnknownDescriptor{128, {0, 0}}), fip::Descriptor(fip::VendorId{})}) {
    auto message = solicitation();
    message.descriptors.push_back(extra);
    inject(message);
    message = flogi();
    message.descriptors.push_back(extra);
    inject(message);
  }
  EXPECT_EQ(solicited(), 2U);
  EXPECT_EQ(replies(), 2U);
}

// ... and one that is missing. The MAC address that a FLOGI proposes does not matter: FCFs that grant addresses
// do not look.
TEST_F(FcfRulesTest, missing_descriptors_spoil_messages) {
  for (std::size_t i = 0; i < 3; ++i) {
    auto message = solicitation();
    message.descriptors.erase(message.descriptors.begin() + static_cast<std::ptrdiff_t>(i));
    inject(message);
  }
  EXPECT_EQ(count(FcoeDiscard::BadFip), 3U);
  EXPECT_EQ(solicited(), 0U);
  auto message = flogi();
  message.descriptors.pop_back();
  inject(message);
  EXPECT_TRUE(accepted());
}

// FC-BB-5, F: the sender is an FCF, which looks for others. There are no VE_Ports here, and no F_Port logs in.
TEST_F(FcfRulesTest, messages_of_fcfs_are_not_answered) {
  for (auto message : {solicitation(), flogi(), keep_alive()}) {
    message.flags |= fip::flag::f_port;
    inject(message);
  }
  EXPECT_EQ(count(FcoeDiscard::UnexpectedFip), 3U);
  EXPECT_EQ(solicited() + replies() + cleared(), 0U);
}

// FC-BB-5: an ENode that takes only addresses of its own is told that it gets none. Who takes both (iPXE)
// gets the fabric's.
TEST_F(FcfRulesTest, flogi_with_sp_alone_is_rejected) {
  for (const std::uint16_t flags : std::initializer_list<std::uint16_t>{fip::flag::spma, 0}) {
    auto message = flogi();
    message.flags = flags;
    inject(message);
    const auto reject = wire::els::LsRjt::parse(latest_reply());
    ASSERT_TRUE(reject);
    EXPECT_EQ(reject->reason, RejectReason::fip_error);
    EXPECT_EQ(reject->explanation, RejectExplanation::mac_addressing_mode_not_supported);
  }
  EXPECT_EQ(world.interface().enode_count(), 0U);
  auto message = flogi();
  message.flags = fip::flag::spma | fip::flag::fpma;
  inject(message);
  EXPECT_TRUE(accepted());
}

// --- ruling 223: service parameters

// FC-FS: a Receive Data_Field Size is 256 to 2112.
TEST_F(FcfRulesTest, flogi_with_small_data_field_is_rejected) {
  const auto with = [&](std::uint16_t size) {
    auto message = flogi();
    auto& frame = std::get<fip::EncapsulatedFrame>(message.descriptors[0]).fc_frame;
    const wire::MutableBytes payload = wire::MutableBytes(frame).subspan(frame_header_bytes);
    auto login = *wire::els::Login::parse(payload);
    login.receive_data_field_size = size;
    login.class_3.receive_data_field_size = 0;  // has no meaning in a FLOGI, and Linux leaves it 0
    login.write(payload);
    inject(message);
    return accepted();
  };
  EXPECT_FALSE(with(100));
  const auto reject = wire::els::LsRjt::parse(latest_reply());
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->reason, RejectReason::logical_error);
  EXPECT_EQ(reject->explanation, RejectExplanation::service_parameter_receive_data_field_size);
  EXPECT_FALSE(with(255));
  EXPECT_TRUE(with(256));
}

// --- ruling 225: interfaces and VLANs

// FC-BB-5: frames of a VN_Port come from its MAC address, by the interface of its login. One that comes by
// another is nobody's.
TEST_F(FcfRulesTest, frames_by_another_interface_do_not_count) {
  EStation& station = world.add_e_node();
  EStation& other = world.add_e_node();
  ASSERT_TRUE(world.run_until([&] { return station.port.online() && other.port.online(); }));
  ASSERT_TRUE(world.log_in(station.port, other.port));
  EthernetSegment second_segment(world.scheduler, world.pool);
  SegmentPort& second_port = second_segment.add_port({"fcf2", fcf_mac, 2500});
  FcfInterface& second_interface = world.fcf.add_interface(second_port);
  const wire::FcId id = station.port.n_port_id();
  const auto received = other.port.counters().frames_received;
  second_segment.inject(second_port,
                        support::fcoe_frame(world.pool, fcf_mac, wire::mac_of(id), other.port.n_port_id(), id));
  auto logo = login_request(fip::DescriptorType::logo, station.port.config().port_name, id);
  second_segment.inject(second_port, logo.to_ethernet(fcf_mac, station.ethernet.interface().mac));
  auto last_words = keep_alive(1);
  last_words.descriptors.push_back(fip::VnPort{wire::mac_of(id), id, station.port.config().port_name});
  second_segment.inject(second_port, last_words.to_ethernet(fcf_mac, wire::mac_of(id)));
  world.run_for(10 * millisecond);
  EXPECT_EQ(second_interface.counters().discarded(FcoeDiscard::WrongSource), 1U);
  EXPECT_EQ(second_interface.counters().discarded(FcoeDiscard::ForgedSId), 1U);
  EXPECT_EQ(second_interface.counters().discarded(FcoeDiscard::UnexpectedFip), 1U);
  EXPECT_EQ(other.port.counters().frames_received, received);
  EXPECT_TRUE(station.port.remote_port(other.port.n_port_id()).logged_in());
  EXPECT_TRUE(station.node->logged_in());
  world.fcf.remove_interface(second_interface);
}

// --- the ENode

class ENodeRulesTest : public testing::Test {
 protected:
  /// Of the answer to FLOGI, or of another reply, something is changed.
  struct Change final : EthernetFault {
    void befall(EthernetSegment& segment, SegmentPort& from, EthernetFrame frame) override {
      auto bytes = frame.to_bytes();
      const auto message = fip::FipMessage::parse(wire::Bytes(bytes).subspan(wire::EthernetHeader::size()));
      const bool reply = message && message->operation == fip::Operation::link_service &&
                         message->subcode == fip::subcode::link_service_reply;
      if (!reply || !change) return segment.carry(from, std::move(frame));
      fip::FipMessage changed = *message;
      change(changed);
      segment.carry(from, EthernetFrame::of(segment.pool(), changed.to_ethernet(frame.destination(), frame.source())));
    }
    std::function<void(fip::FipMessage&)> change;
  };
  static void change_accept(fip::FipMessage& message, const std::function<void(wire::els::Login&)>& change) {
    auto& frame = std::get<fip::EncapsulatedFrame>(message.descriptors[0]).fc_frame;
    const wire::MutableBytes payload = wire::MutableBytes(frame).subspan(frame_header_bytes);
    auto login = *wire::els::Login::parse(payload);
    change(login);
    login.write(payload);
  }
  ENodeRulesTest() : station(world.add_e_node()) {
    world.segment.set_fault(&fault);
    world.start_fcf();
  }
  ~ENodeRulesTest() override {
    EXPECT_EQ(station.node->counters().unexpected_events + station.port.counters().unexpected_events, 0U);
    world.segment.set_fault(nullptr);
  }
  bool online() {
    return world.run_until([&] { return station.port.online() && station.node->logged_in(); }, 3 * second);
  }
  EthernetWorld world;
  EStation& station;
  Change fault;
};

// Linux too: a descriptor that stands twice spoils the reply.
TEST_F(ENodeRulesTest, reply_with_a_descriptor_twice_does_not_count) {
  fault.change = [](fip::FipMessage& message) { message.descriptors.push_back(message.descriptors.back()); };
  EXPECT_FALSE(online());
  EXPECT_GT(station.node->counters().discarded(FcoeDiscard::BadFip), 0U);
  fault.change = nullptr;
  EXPECT_TRUE(world.run_until([&] { return station.port.online(); }, 10 * second));
}

// A fabric without class 3 cannot be used; when it offers it, it is.
TEST_F(ENodeRulesTest, accept_without_class_3_is_no_login) {
  fault.change = [](fip::FipMessage& message) {
    change_accept(message, [](wire::els::Login& login) { login.class_3.service_options = 0; });
  };
  EXPECT_FALSE(online());
  EXPECT_FALSE(station.port.online());
  fault.change = nullptr;
  EXPECT_TRUE(world.run_until([&] { return station.port.online(); }, 10 * second));
}

// FC-FS: 256 to 2112.
TEST_F(ENodeRulesTest, accept_with_small_data_field_is_no_login) {
  fault.change = [](fip::FipMessage& message) {
    change_accept(message, [](wire::els::Login& login) { login.receive_data_field_size = 100; });
  };
  EXPECT_FALSE(online());
  EXPECT_FALSE(station.port.online());
  fault.change = nullptr;
  EXPECT_TRUE(world.run_until([&] { return station.port.online(); }, 10 * second));
}

// A fabric that says no E_D_TOV leaves ours, as Linux has it.
TEST_F(ENodeRulesTest, accept_without_e_d_tov_leaves_ours) {
  fault.change = [](fip::FipMessage& message) {
    change_accept(message, [](wire::els::Login& login) { login.e_d_tov = 0; });
  };
  EXPECT_TRUE(online());
  EXPECT_EQ(station.port.e_d_tov(), station.port.config().e_d_tov);
}

// ... and one that says no R_A_TOV (ruling 223).
TEST_F(ENodeRulesTest, accept_without_r_a_tov_leaves_ours) {
  fault.change = [](fip::FipMessage& message) {
    change_accept(message, [](wire::els::Login& login) { login.set_r_a_tov_ms(0); });
  };
  EXPECT_TRUE(online());
  EXPECT_EQ(station.port.r_a_tov(), station.port.config().r_a_tov);
}

// FC-GS: services that this fabric does not have say so, at once.
TEST_F(ENodeRulesTest, plogi_to_an_absent_service_is_rejected) {
  ASSERT_TRUE(online());
  support::FrameLog log;
  station.node->tap(station.port, &log);
  for (const std::uint32_t service : std::initializer_list<std::uint32_t>{0xFFFFFA, 0xFFFFF8, 0xFFFC01}) {
    RemotePort& remote = station.port.remote_port({service});
    log.clear();
    remote.log_in();
    world.run_for(10 * millisecond);
    EXPECT_FALSE(remote.logging_in()) << service;
    ASSERT_EQ(log.received(wire::els::Command::ls_rjt), 1U) << service;
    const auto* answer = log.find(wire::els::Command::ls_rjt);
    EXPECT_EQ(answer->header.s_id.value, service);
    EXPECT_EQ(wire::els::LsRjt::parse(wire::Bytes(answer->data).first(wire::els::LsRjt::size()))->reason,
              RejectReason::not_supported);
  }
  RemotePort& nobody =
      station.port.remote_port({0x010900});  // that of a port which is not there is lost, as FC-FS has it
  nobody.log_in();
  world.run_for(10 * millisecond);
  EXPECT_TRUE(nobody.logging_in());
  station.node->tap(station.port, nullptr);
}

}  // namespace
}  // namespace fc2::fcoe
