// Callers that do not do what they should: limited in number and time, and counted.
#include "tests/port_service/fixture.hpp"

#include <fstream>

namespace vitcp::port_service::test {
namespace {

class PortLimitsTest : public PortServiceTest {
 public:
  PortClientOptions limited() {
    auto options = this->options();
    options.half_open = 16;
    return options;
  }
  bool waits(std::size_t count) {
    return eventually([&] { return waiters() == count; });
  }
  std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& file :
         std::filesystem::directory_iterator("/proc/" + std::to_string(service()) + "/fd"))
      ++count;
    return count;
  }
  static std::vector<std::uint8_t> nop() {
    std::vector<std::uint8_t> octets(24);
    wire::vitcp::SegmentHeader{.type = SegmentType::nop}.write(octets);
    return octets;
  }
};

TEST_F(PortLimitsTest, octet_by_octet) {
  Server server(options(), "S", {"a"});
  ASSERT_TRUE(waits(1));
  Caller caller(listen);
  auto request = request_for("a");
  request.ce.options.end = true;
  request.ce.options.padding_bytes = 1000;
  Process process(options());  // it gets this one whole
  const WaitId id = process.wait("long");
  ASSERT_TRUE(process.joined());
  request.ce.called = named("long");
  const auto octets = octets_of(request);
  for (const std::uint8_t octet : octets) caller.send(wire::Bytes(&octet, 1));
  ASSERT_TRUE(process.run_until([&] { return !process.got.empty(); }));
  EXPECT_EQ(process.got[0].id, id);
  EXPECT_EQ(process.read(*process.got[0].stream, octets.size()), octets);
  Caller other(listen);
  for (const std::uint8_t octet : octets_for("a")) other.send(wire::Bytes(&octet, 1));
  EXPECT_EQ(other.read(1), "S");
}

// The longest that can be, in small pieces.
TEST_F(PortLimitsTest, request_of_65535_octets) {
  Process process(options());
  process.wait("a");
  ASSERT_TRUE(process.joined());
  auto request = request_for("a");
  request.ce.options.end = true;
  request.ce.options.padding_bytes = static_cast<std::uint16_t>(65'535 - request.size());
  const auto octets = octets_of(request);
  Caller caller(listen);
  for (std::size_t at = 0; at < octets.size(); at += 97)
    caller.send(wire::Bytes(octets).subspan(at, std::min<std::size_t>(97, octets.size() - at)));
  ASSERT_TRUE(process.run_until([&] { return !process.got.empty(); }));
  EXPECT_EQ(process.read(*process.got[0].stream, octets.size()), octets);
}

// Rulings V-8, V-16, V-23: answered or closed as they say, and counted by reason.
TEST_F(PortLimitsTest, bad_segments_are_answered_and_counted) {
  Server server(options(), "S", {"a"});
  ASSERT_TRUE(waits(1));
  const auto said = [&](const std::vector<std::uint8_t>& octets) {
    Caller caller(listen);
    caller.send(octets);
    return caller.answer();
  };
  auto other_version = octets_for("a"), bad_request = other_version, no_segment = other_version;
  other_version[0] = 2;
  bad_request[25] = 0;
  no_segment[1] = 0x89;
  EXPECT_EQ(said(other_version), "ConnectReject, end");
  EXPECT_EQ(said(bad_request), "ConnectReject, end");
  EXPECT_THAT(said(no_segment), AnyOf("end", "reset"));
  EXPECT_THAT(said(nop()), AnyOf("end", "reset"));
  Caller cut(listen);
  cut.send(wire::Bytes(octets_for("a")).first(100));
  cut.shut_down();
  EXPECT_THAT(cut.answer(), AnyOf("end", "reset"));
  ASSERT_TRUE(eventually([&] { return counter("cut") == 1; }));
  for (const char* name : {"other_version", "bad_request", "no_segment", "other_segment"})
    EXPECT_EQ(counter(name), 1U) << name;
  EXPECT_EQ(waiters(), 1U);
}

TEST_F(PortLimitsTest, slow_request_is_closed_when_its_time_is_over) {
  auto options = this->options();
  options.request_time = 300 * runtime::millisecond;
  Server server(options, "S", {"a"});
  ASSERT_TRUE(waits(1));
  Caller silent(listen), slow(listen);
  slow.send(wire::Bytes(octets_for("a")).first(100));
  EXPECT_THAT(silent.answer(), AnyOf("end", "reset"));
  EXPECT_THAT(slow.answer(), AnyOf("end", "reset"));
  EXPECT_EQ(counter("timed_out"), 2U);
}

// More than there is room for, from one host, all the time: those of another are served.
TEST_F(PortLimitsTest, flood_keeps_no_good_one_out) {
  Server server(limited(), "S", {"a"});
  ASSERT_TRUE(waits(1));
  const streams::Address flooder{wire::IpAddress::v4(127, 1, 2, 3), 0}, good{wire::IpAddress::v4(127, 1, 2, 4), 0};
  support::Child flood([&] {
    std::deque<Caller> open;
    for (;;) {
      open.emplace_back(listen, flooder);
      open.back().send(wire::Bytes(octets_for("a")).first(50));
      if (open.size() > 64) open.pop_front();
    }
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return counter("evicted") > 100; }));
  for (int i = 0; i < 50; ++i) {
    Caller caller(listen, good);
    caller.request("a");
    const std::string answer = caller.read(1);
    EXPECT_TRUE(answer == "S" || answer[0] == 1) << i << ": " << answer;  // or ConnectNoMatch: it was served just now
  }
  EXPECT_LE(status().at("half_open").as_array().size(), 16U);
  EXPECT_LT(open_files(), 64U);
}

// A good one of the same host has as long as it takes the others to come.
TEST_F(PortLimitsTest, full_of_silent_ones_a_good_one_is_served) {
  Server server(limited(), "S", {"a"});
  ASSERT_TRUE(waits(1));
  std::deque<Caller> silent;
  for (int i = 0; i < 40; ++i) silent.emplace_back(listen);
  Caller caller(listen);
  caller.request("a");
  EXPECT_EQ(caller.read(1), "S");
  ASSERT_TRUE(eventually([&] { return counter("evicted") >= 24; })) << output;
}

// Whatever becomes of a stream, its file is closed here.
TEST_F(PortLimitsTest, no_open_file_is_left) {
  Server server(options(), "S", {"a"});
  ASSERT_TRUE(waits(1));
  const std::size_t before = open_files();
  auto other_version = octets_for("a");
  other_version[0] = 2;
  for (int i = 0; i < 50; ++i) {
    Caller taken(listen), refused(listen), rejected(listen), closed(listen), silent(listen), reset(listen);
    taken.request("a");
    refused.request("b");
    rejected.send(other_version);
    closed.send(nop());
    taken.read(1);
    ASSERT_TRUE(waits(1));
  }
  EXPECT_TRUE(eventually([&] { return status().at("half_open").as_array().empty() && open_files() == before; }))
      << before << " before, " << open_files() << " after";
  EXPECT_LE(counter("handed_over"), 50U);  // the others it took itself
}

}  // namespace
}  // namespace vitcp::port_service::test
