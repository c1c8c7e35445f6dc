#include "state_machines/address_resolution.hpp"

#include "fsm_test.hpp"

namespace machines::address_resolution {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { NameServerAvailableKnob, RetriesLeftKnob };
  void query_name_server() override { note("query_name_server"); }
  void broadcast_farp() override { note("broadcast_farp"); }
  void start_query_timer() override { note("start_query_timer"); }
  void start_farp_timer() override { note("start_farp_timer"); }
  void stop_timer() override { note("stop_timer"); }
  void reset_retries() override { note("reset_retries"); }
  void store_addresses() override { note("store_addresses"); }
  void add_address() override { note("add_address"); }
  void forget_addresses() override { note("forget_addresses"); }
  void forget_query() override { note("forget_query"); }
  void report_resolved() override { note("report_resolved"); }
  void report_failed() override { note("report_failed"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool name_server_available() const override { return knob(NameServerAvailableKnob); }
  [[nodiscard]] bool retries_left() const override { return knob(RetriesLeftKnob); }
};

struct Input {
  using Def = address_resolution::Def;
  using Recorded = address_resolution::Recorded;
  static constexpr unsigned knob_count = 2;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<NameServerAccepted> samples(std::type_identity<NameServerAccepted>) {
    return {{"none", NameServerAccepted{0}}, {"one", NameServerAccepted{1}}, {"three", NameServerAccepted{3}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(AddressResolution, Input);

// FC-VI 7.4, 7.6: the Name Server answers.
TEST(AddressResolution, QueryingNameServer_accepted) {
  Rig rig;
  rig.set(Recorded::NameServerAvailableKnob);
  EXPECT_EQ(rig.after(ResolveRequested{}), "QueryingNameServer: reset_retries, query_name_server, start_query_timer");
  EXPECT_EQ(rig.after(ResolveRequested{}), "QueryingNameServer:");
  EXPECT_EQ(rig.after(NameServerAccepted{2}), "Resolved: stop_timer, store_addresses, report_resolved");
  EXPECT_EQ(rig.after(ResolveRequested{}), "Resolved: report_resolved");
}

// FC-VI 7.5: no Name Server; several ports may answer (7.6 leaves the choice to us).
TEST(AddressResolution, AwaitFarpReply_replies) {
  Rig rig;
  EXPECT_EQ(rig.after(ResolveRequested{}), "AwaitFarpReply: reset_retries, broadcast_farp, start_farp_timer");
  EXPECT_EQ(rig.after(FarpReplyReceived{}), "Resolved: stop_timer, add_address, report_resolved");
  EXPECT_EQ(rig.after(FarpReplyReceived{}), "Resolved: add_address");
}

TEST(AddressResolution, QueryingNameServer_unknown_there) {
  Rig rig;
  rig.set(Recorded::NameServerAvailableKnob);
  rig.given(ResolveRequested{});
  EXPECT_EQ(rig.after(NameServerAccepted{0}), "AwaitFarpReply: reset_retries, broadcast_farp, start_farp_timer");
}

TEST(AddressResolution, QueryingNameServer_timeout) {
  Rig rig;
  rig.set(Recorded::NameServerAvailableKnob);
  rig.given(ResolveRequested{});
  rig.set(Recorded::RetriesLeftKnob);
  EXPECT_EQ(rig.after(NameServerTimeout{}), "QueryingNameServer: query_name_server, start_query_timer");
  rig.set(Recorded::RetriesLeftKnob, false);
  EXPECT_EQ(rig.after(NameServerTimeout{}), "AwaitFarpReply: reset_retries, broadcast_farp, start_farp_timer");
}

TEST(AddressResolution, AwaitFarpReply_timeout) {
  Rig rig;
  rig.given(ResolveRequested{});
  rig.set(Recorded::RetriesLeftKnob);
  EXPECT_EQ(rig.after(FarpTimeout{}), "AwaitFarpReply: broadcast_farp, start_farp_timer");
  rig.set(Recorded::RetriesLeftKnob, false);
  EXPECT_EQ(rig.after(FarpTimeout{}), "Failed: report_failed");
  EXPECT_EQ(rig.after(ResolveRequested{}), "AwaitFarpReply: reset_retries, broadcast_farp, start_farp_timer");
}

// FC-VI 7.7.1: the mapping shall be valid before use.
TEST(AddressResolution, Resolved_invalidated) {
  Rig rig;
  rig.given(ResolveRequested{}, FarpReplyReceived{});
  EXPECT_EQ(rig.after(Invalidated{}), "Unresolved: forget_addresses");
  EXPECT_EQ(rig.after(FarpReplyReceived{}), "Unresolved: count_stale");
}

TEST(AddressResolution, QueryingNameServer_invalidated) {
  Rig rig;
  rig.set(Recorded::NameServerAvailableKnob);
  rig.given(ResolveRequested{});
  EXPECT_EQ(rig.after(Invalidated{}),
            "QueryingNameServer: forget_query, reset_retries, query_name_server, start_query_timer");
  rig.set(Recorded::NameServerAvailableKnob, false);
  EXPECT_EQ(rig.after(Invalidated{}), "AwaitFarpReply: forget_query, reset_retries, broadcast_farp, start_farp_timer");
}

// FC-VI 7.4: the Name Server rejects the query: all ports support FARP.
TEST(AddressResolution, QueryingNameServer_rejected) {
  Rig rig;
  rig.set(Recorded::NameServerAvailableKnob);
  rig.given(ResolveRequested{});
  EXPECT_EQ(rig.after(FarpReplyReceived{}), "QueryingNameServer: count_stale");
  EXPECT_EQ(rig.after(NameServerRejected{}), "AwaitFarpReply: reset_retries, broadcast_farp, start_farp_timer");
}

// Several Connection Setups need the address: one broadcast.
TEST(AddressResolution, AwaitFarpReply_resolve_requested) {
  Rig rig;
  rig.given(ResolveRequested{});
  EXPECT_EQ(rig.after(ResolveRequested{}), "AwaitFarpReply:");
}

// FC-VI 7.7.1: what may have changed is asked again, by the way that there is now.
TEST(AddressResolution, AwaitFarpReply_invalidated) {
  Rig rig;
  rig.given(ResolveRequested{});
  EXPECT_EQ(rig.after(Invalidated{}), "AwaitFarpReply: reset_retries, broadcast_farp, start_farp_timer");
  rig.set(Recorded::NameServerAvailableKnob);
  EXPECT_EQ(rig.after(Invalidated{}), "QueryingNameServer: reset_retries, query_name_server, start_query_timer");
}

// FC-VI 7.7.1: no mapping, nothing to forget.
TEST(AddressResolution, Unresolved_invalidated) {
  Rig rig;
  EXPECT_EQ(rig.after(Invalidated{}), "Unresolved:");
}

// Nobody had the address: a late reply counts, a new request asks again, with the Name Server if it is there now.
TEST(AddressResolution, Failed_late_reply_or_again) {
  const auto failed = [] {
    Rig rig;
    rig.given(ResolveRequested{}, FarpTimeout{});
    return rig;
  };
  Rig late = failed();
  EXPECT_EQ(late.after(FarpReplyReceived{}), "Resolved: add_address");
  EXPECT_EQ(late.after(ResolveRequested{}), "Resolved: report_resolved");
  Rig again = failed();
  again.set(Recorded::NameServerAvailableKnob);
  EXPECT_EQ(again.after(ResolveRequested{}), "QueryingNameServer: reset_retries, query_name_server, start_query_timer");
  Rig invalidated = failed();
  EXPECT_EQ(invalidated.after(Invalidated{}), "Unresolved:");
}

}  // namespace
}  // namespace machines::address_resolution
