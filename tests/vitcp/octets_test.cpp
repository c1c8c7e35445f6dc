// The stream below a connection: cut into segments of any size, ended and reset at every octet (VI-TCP 2.2.2.2.3,
// 2.2.2.2.2).
#include "tests/vitcp/conversation.hpp"

namespace vitcp::testing {
namespace {

/// The octets of both directions, as a capture has them.
struct Captured final : streams::SegmentTap {
  std::array<std::vector<std::uint8_t>, 2> ways;
  void segment_sent(runtime::TimeNs, const streams::SegmentSeen& segment) override {
    std::vector<std::uint8_t>& way = ways[segment.to.ip == streams::test::server_ip ? 0 : 1];
    const std::size_t at = static_cast<std::size_t>(segment.at), first = segment.first.size();
    way.resize(std::max(way.size(), at + first + segment.rest.size()));
    std::copy(segment.first.begin(), segment.first.end(), way.begin() + static_cast<std::ptrdiff_t>(at));
    std::copy(segment.rest.begin(), segment.rest.end(), way.begin() + static_cast<std::ptrdiff_t>(at + first));
  }
  /// All VI segments in order, but what tells how far the other direction was: NOPs, Message ACK, Rx Descriptors Posted
  /// (and Remote Error Code beside it, which is 0 here) and what the CRC makes of them; and RDMA addresses, which are
  /// this process's.
  [[nodiscard]] std::string segments(bool crc) const {
    std::string text;
    for (const wire::Bytes way : ways) {
      text += " | ";
      for (wire::Bytes rest = way; !rest.empty();) {
        const auto header = wire::vitcp::SegmentHeader::parse(rest);
        if (!header || header->segment_length > rest.size()) return text + "no segment";
        const bool trailer = crc && !wire::vitcp::info_of(header->type).is_connection;
        const std::string octets(rest.begin(), rest.begin() + header->segment_length - (trailer ? 4 : 0));
        const bool rdma = wire::vitcp::info_of(header->type).following == wire::vitcp::FollowingHeader::rdma;
        if (header->type != wire::vitcp::SegmentType::nop)
          text += octets.substr(0, 16) + octets.substr(rdma ? 32 : 24) + ';';
        rest = rest.subspan(header->segment_length);
      }
    }
    return text;
  }
};

class VitcpOctets : public ::testing::TestWithParam<Kind> {
 protected:
  static Settings settings() {
    Settings settings;
    settings.client.ask_for_crc = GetParam().crc;
    settings.client.segment_bytes = settings.server.segment_bytes = 400;
    return settings;
  }
  /// What is seen of a conversation, and captured, over streams of which each obeys these rules.
  static std::string seen(const streams::StreamRules& rules) {
    TwoHosts hosts(settings());
    hosts.world.network.set_rules([&](const auto&, const auto&) { return rules; });
    Captured captured;
    hosts.world.network.set_tap(&captured);
    Conversation conversation(hosts, GetParam().level);
    conversation.hold();
    hosts.world.network.set_tap(nullptr);
    EXPECT_TRUE(conversation.calls_returned());
    EXPECT_EQ(hosts.client->provider.counters().refused() + hosts.server->provider.counters().refused(), 0U);
    return conversation.seen() + captured.segments(GetParam().crc);
  }
  static const std::string& undisturbed() {
    static std::map<std::string, std::string> known;
    std::string& text = known[name_of({GetParam(), 0})];
    if (text.empty()) text = seen({});
    return text;
  }
  /// Octets of the conversation in each direction.
  struct Lengths final : streams::SegmentTap {
    std::uint64_t to_server = 0, to_client = 0;
    void segment_sent(runtime::TimeNs, const streams::SegmentSeen& segment) override {
      const std::uint64_t end = segment.at + segment.first.size() + segment.rest.size();
      std::uint64_t& longest = segment.to.ip == streams::test::server_ip ? to_server : to_client;
      longest = std::max(longest, end);
    }
  };
  static Lengths lengths() {
    TwoHosts hosts(settings());
    Lengths lengths;
    hosts.world.network.set_tap(&lengths);
    Conversation conversation(hosts, GetParam().level);
    conversation.hold();
    hosts.world.network.set_tap(nullptr);
    return lengths;
  }
  /// Each direction cut so after each number of octets: the set-up fails or the connection is lost, at both ends, every
  /// call returns, and nothing that was acknowledged is missing.
  static void cut_everywhere(streams::Cut cut) {
    const Lengths whole = lengths();
    for (const bool to_server : {true, false})
      for (std::uint64_t at = 0; at <= (to_server ? whole.to_server : whole.to_client); ++at) {
        SCOPED_TRACE(std::string(to_server ? "to the server" : "to the client") + ", octet " + std::to_string(at));
        TwoHosts hosts(settings());
        int streams = 0;
        hosts.world.network.set_rules([&](const auto&, const auto&) {
          streams::StreamRules rules;
          streams::Way& way = to_server ? rules.to_acceptor : rules.to_connector;
          way.segmentation = [](std::uint64_t, std::size_t) { return std::size_t{1}; };
          if (++streams > 1) return rules;  // ruling V-15: the next one is whole
          way.cut = cut;
          way.cut_after = at;
          return rules;
        });
        Conversation conversation(hosts, GetParam().level);
        conversation.hold();
        EXPECT_TRUE(conversation.calls_returned());
        if (GetParam().level == reception && conversation.connected()) {
          EXPECT_TRUE(conversation.nothing_acknowledged_is_missing());
        }
        EXPECT_EQ(conversation.client_vi().state(), vi::State::Idle);
        EXPECT_EQ(conversation.server_vi().state(), vi::State::Idle);
        if (HasFailure()) return;
      }
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, VitcpOctets,
                         ::testing::Values(Kind{unreliable}, Kind{delivery}, Kind{reception}, Kind{unreliable, true},
                                           Kind{delivery, true}, Kind{reception, true}),
                         name_of);

// The text that all others are compared with says what it should.
TEST_P(VitcpOctets, stream_undisturbed) {
  const std::string& text = undisturbed();
  EXPECT_EQ(text.find("Success sends 0 0 0 0"), 0U) << text;
  EXPECT_NE(text.find("receives 0 'hello' 0 '' 0 'sss"), std::string::npos) << text;
  EXPECT_NE(text.find(" written 'www"), std::string::npos) << text;
  EXPECT_NE(text.find(is_reliable(GetParam().level) ? "read 'rrr" : "read ''"), std::string::npos) << text;
  EXPECT_EQ(text.find("no segment"), std::string::npos) << text;
  const std::string_view wire = std::string_view(text).substr(text.find(" | "));
  EXPECT_GT(wire.size(), 1500U);
  EXPECT_NE(wire.find("hello"), std::string::npos);
}

// VI-TCP 2.2.2.2.3: VI segments need not be TCP segments. One octet at a time, both ways.
TEST_P(VitcpOctets, stream_octetByOctet) {
  const auto one = [](std::uint64_t, std::size_t) { return std::size_t{1}; };
  EXPECT_EQ(seen({.to_acceptor = {.segmentation = one}, .to_connector = {.segmentation = one}}), undisturbed());
}

// The same through windows of one octet: each write takes as little.
TEST_P(VitcpOctets, stream_ofOneOctetWindows) {
  streams::Way narrow;
  narrow.delay = runtime::microsecond;
  narrow.send_buffer_bytes = narrow.receive_buffer_bytes = 1;
  EXPECT_EQ(seen({.to_acceptor = narrow, .to_connector = narrow}), undisturbed());
}

// Two TCP segments that meet behind each octet, in each direction.
TEST_P(VitcpOctets, stream_cutBehindEachOctet) {
  const Lengths whole = lengths();
  ASSERT_GT(whole.to_server, 1700U);
  ASSERT_GT(whole.to_client, 168U);
  for (std::uint64_t cut = 1; cut < std::max(whole.to_server, whole.to_client); ++cut) {
    const auto there = [cut](std::uint64_t at, std::size_t available) {
      return at < cut ? std::min(available, static_cast<std::size_t>(cut - at)) : available;
    };
    streams::StreamRules rules{.to_acceptor = {.segmentation = there}, .to_connector = {.segmentation = there}};
    ASSERT_EQ(seen(rules), undisturbed()) << "behind octet " << cut;
  }
}

// Segments of drawn sizes, and buffers that hold little.
TEST_P(VitcpOctets, stream_ofDrawnSegments) {
  for (std::uint64_t seed = 1; seed != 50; ++seed) {
    const streams::Way way{.send_buffer_bytes = 1 + seed * 7,
                           .receive_buffer_bytes = 1 + seed * 3,
                           .segmentation = streams::drawn_segments(seed, 1 + seed * 5)};
    ASSERT_EQ(seen({.to_acceptor = way, .to_connector = way}), undisturbed()) << "seed " << seed;
  }
}

// VI-TCP 2.2.2.2.2, rulings V-15, V-17: the TCP connection is reset, in each direction behind each octet.
TEST_P(VitcpOctets, stream_resetBehindEachOctet) { cut_everywhere(streams::Cut::reset); }

// The same: it ends.
TEST_P(VitcpOctets, stream_endedBehindEachOctet) { cut_everywhere(streams::Cut::end); }

}  // namespace
}  // namespace vitcp::testing
