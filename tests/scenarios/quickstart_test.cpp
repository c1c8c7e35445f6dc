// The quick start from end to end, and what an independent reader makes of its capture (issue "A first FC-VI
// connection" 2, 3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tests/scenarios/command.hpp"
#include "tests/support/source_dir.hpp"
#include "wire/fcvi/opcode.hpp"

namespace scenarios {
namespace {
using testing::HasSubstr;

const std::string folder_of_scenarios = support::source_dir() + "/tools/scenarios/";

/// Some hundred kilobytes that are not alike: captures of megabytes would only make the tests slow.
std::string test_data() {
  std::string data;
  std::uint32_t x = 1;
  for (int i = 0; i < 400'003; ++i) data.push_back(static_cast<char>((x = x * 1664525 + 1013904223) >> 24));
  return data;
}

class Quickstart : public testing::Test {
 protected:
  Finished run(const std::string& scenario, const std::string& capture, const std::string& seed = "") {
    std::vector<std::string> arguments{"run", folder_of_scenarios + scenario, "--capture", folder / capture, "--file",
                                       data};
    if (!seed.empty()) arguments.insert(arguments.end(), {"--seed", seed});
    return fcvi_sim(arguments);
  }
  /// Fields of the frames that match, a line each.
  std::string tshark(const std::string& capture, const std::string& filter, const std::vector<std::string>& fields) {
    std::vector<std::string> arguments{"tshark", "-o", "fc.reassemble:FALSE", "-r", folder / capture, "-Y", filter};
    if (!fields.empty()) arguments.insert(arguments.end(), {"-T", "fields"});
    for (const std::string& field : fields) arguments.insert(arguments.end(), {"-e", field});
    const Finished finished = scenarios::run(arguments);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    return finished.output;
  }
  static bool has_tshark() { return scenarios::run({"tshark", "--version"}).status == 0; }

  Folder folder;
  std::string data = folder.write("data.bin", test_data());
};

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// The README shows it.
TEST_F(Quickstart, first_connection_is_drawn_as_in_the_readme) {
  ASSERT_EQ(fcvi_sim({"run", folder_of_scenarios + "first_connection.yaml", "--ladder", folder / "l.svg"}).status, 0);
  const std::string shown = support::source_dir() + "/docs/first_connection.svg";
  EXPECT_TRUE(content_of(folder / "l.svg") == content_of(shown))
      << "tools/run tools/scenarios/first_connection.yaml --ladder docs/first_connection.svg";
}

TEST_F(Quickstart, as_it_stands_every_expectation_holds) {
  // With the machine's own file, some megabytes, as a user runs it.
  const Finished finished = fcvi_sim({"run", folder_of_scenarios + "quickstart.yaml", "--ladder", folder / "l.svg"});
  EXPECT_EQ(finished.status, 0) << finished.output << finished.errors;
  EXPECT_THAT(finished.output, HasSubstr("SHA-256 at the far side"));
  EXPECT_THAT(content_of(folder / "l.svg"), HasSubstr("</svg>"));
}

TEST_F(Quickstart, far_side_digest_is_the_files) {
  const Finished finished = run("quickstart.yaml", "c.pcapng");
  EXPECT_EQ(finished.status, 0) << finished.output << finished.errors;
  const Finished independent = scenarios::run({"sha256sum", data});
  ASSERT_EQ(independent.status, 0);
  EXPECT_THAT(finished.output, HasSubstr("SHA-256 at the far side " + independent.output.substr(0, 64)));
}

TEST_F(Quickstart, wireshark_finds_nothing_wrong_and_everything_there) {
  if (!has_tshark()) GTEST_SKIP() << "tshark is not installed (tools/setup --test installs it)";
  ASSERT_EQ(run("quickstart.yaml", "c.pcapng").status, 0);
  EXPECT_EQ(tshark("c.pcapng", "_ws.malformed || fcoe.crc.status==0", {}), "");
  EXPECT_EQ(lines_of(tshark("c.pcapng", "fcels.opcode == 0x04", {"frame.number"})),
            1u);                                                                            // FLOGI: alice's link only
  EXPECT_GE(lines_of(tshark("c.pcapng", "fcels.opcode == 0x03", {"frame.number"})), 2u);    // PLOGI
  EXPECT_GE(lines_of(tshark("c.pcapng", "fcels.opcode == 0x05", {"frame.number"})), 1u);    // LOGO
  EXPECT_EQ(lines_of(tshark("c.pcapng", "fcdns.opcode == 0x021b", {"frame.number"})), 1u);  // RIPP_ID
  EXPECT_GE(lines_of(tshark("c.pcapng", "fcdns.opcode == 0x01b1", {"frame.number"})), 1u);  // GID_IPP
}

TEST_F(Quickstart, all_twelve_ius_with_the_r_ctl_of_the_standard) {
  // FC-VI Table 1, read by tshark: TYPE 58h frames, FCVI_OPCODE is the fifth byte of the data field.
  if (!has_tshark()) GTEST_SKIP() << "tshark is not installed (tools/setup --test installs it)";
  ASSERT_EQ(run("quickstart.yaml", "c.pcapng").status, 0);
  std::map<std::pair<unsigned, unsigned>, int> seen;  // opcode, R_CTL
  std::istringstream lines(tshark("c.pcapng", "fc.type == 0x58", {"fc.r_ctl", "data.data"}));
  std::string r_ctl, bytes;
  while (lines >> r_ctl >> bytes)
    ++seen[{static_cast<unsigned>(std::stoul(bytes.substr(8, 2), nullptr, 16)),
            static_cast<unsigned>(std::stoul(r_ctl, nullptr, 0))}];
  EXPECT_EQ(seen.size(), wire::fcvi::iu_table.size());
  for (const auto& iu : wire::fcvi::iu_table) {
    const std::pair key{static_cast<unsigned>(iu.opcode), static_cast<unsigned>(iu.r_ctl)};
    EXPECT_TRUE(seen.contains(key)) << iu.name;
  }
}

TEST_F(Quickstart, same_seed_same_bytes_another_seed_others) {
  ASSERT_EQ(run("quickstart.yaml", "first.pcapng").status, 0);
  ASSERT_EQ(run("quickstart.yaml", "again.pcapng").status, 0);
  ASSERT_EQ(run("quickstart.yaml", "other.pcapng", "2").status, 0);
  const std::string first = content_of(folder / "first.pcapng");
  EXPECT_GT(first.size(), 4'000'000u);
  EXPECT_TRUE(first == content_of(folder / "again.pcapng"));
  EXPECT_FALSE(first == content_of(folder / "other.pcapng"));
}

TEST_F(Quickstart, farp_resolves_without_the_name_server) {
  const Finished finished = run("farp.yaml", "c.pcapng");
  EXPECT_EQ(finished.status, 0) << finished.output << finished.errors;
  if (!has_tshark()) GTEST_SKIP() << "tshark is not installed (tools/setup --test installs it)";
  EXPECT_EQ(tshark("c.pcapng", "_ws.malformed || fcoe.crc.status==0", {}), "");
  EXPECT_GE(lines_of(tshark("c.pcapng", "fcels.opcode == 0x54", {"frame.number"})), 1u);  // FARP-REQ
  EXPECT_GE(lines_of(tshark("c.pcapng", "fcels.opcode == 0x55", {"frame.number"})), 1u);  // FARP-REPLY
  EXPECT_EQ(lines_of(tshark("c.pcapng", "fcdns.opcode == 0x01b1", {"frame.number"})), 0u);
}

// FC-VI 5.3.3, 5.3.4: peers one after the other, at once, and not at all.
TEST_F(Quickstart, peers_find_each_other) {
  const Finished finished = run("peer_to_peer.yaml", "c.pcapng");
  EXPECT_EQ(finished.status, 0) << finished.output << finished.errors;
  if (!has_tshark()) GTEST_SKIP() << "tshark is not installed (tools/setup --test installs it)";
  EXPECT_EQ(tshark("c.pcapng", "_ws.malformed || fcoe.crc.status==0", {}), "");
}

}  // namespace
}  // namespace scenarios
