// The configuration of verbs programs: the example has the defaults, rules choose terms, what is wrong is told.
#include "verbs/configuration.hpp"

#include <gtest/gtest.h>

#include "settings/file.hpp"
#include "tests/support/source_dir.hpp"

namespace verbs {
namespace {

TEST(Configuration, of_the_example_is_the_default) {
  const std::string path = support::source_dir() + "/verbs/verbs.example.yaml";
  const auto read = parse_configuration(*settings::read_file(path, 1 << 20), path);
  ASSERT_TRUE(read) << read.error().message;
  const Configuration defaults;
  EXPECT_EQ(read->terms.framing, defaults.terms.framing);
  EXPECT_EQ(read->terms.crc, defaults.terms.crc);
  EXPECT_EQ(read->terms.markers, defaults.terms.markers);
  EXPECT_EQ(read->terms.revision, defaults.terms.revision);
  EXPECT_EQ(read->terms.immediate_data, defaults.terms.immediate_data);
  EXPECT_EQ(read->terms.peer_to_peer, defaults.terms.peer_to_peer);
  EXPECT_EQ(read->terms.first_fpdu_delay, defaults.terms.first_fpdu_delay);
  EXPECT_EQ(read->terms.await_first_fpdu, defaults.terms.await_first_fpdu);
  EXPECT_EQ(read->terms.refused_retry, defaults.terms.refused_retry);
  EXPECT_EQ(read->startup.startup_timeout, defaults.startup.startup_timeout);
  EXPECT_EQ(read->startup.close_timeout, defaults.startup.close_timeout);
  EXPECT_EQ(read->startup.half_open, defaults.startup.half_open);
  EXPECT_EQ(read->depth, defaults.depth);
  EXPECT_EQ(read->reads, defaults.reads);
  EXPECT_TRUE(read->has_interface("eth7"));
}

TEST(Configuration, has_rules_of_which_the_first_that_fits_counts) {
  const auto read = parse_configuration(
      "crc: false\nrules:\n  - {peer: 10.0.0.7, port: 5, revision: 1}\n  - {port: 5, crc: true}\n", "x");
  ASSERT_TRUE(read) << read.error().message;
  const auto seven = wire::IpAddress::v4(10, 0, 0, 7), eight = wire::IpAddress::v4(10, 0, 0, 8);
  EXPECT_EQ(read->terms_for(seven, 5).revision, 1);
  EXPECT_FALSE(read->terms_for(seven, 5).crc);
  EXPECT_TRUE(read->terms_for(eight, 5).crc);
  EXPECT_FALSE(read->terms_for(eight, 6).crc);
}

// IFT 4, ruling W-8: the port says which framing, at either end.
TEST(Configuration, chooses_the_framing_by_port) {
  const auto read = parse_configuration("rules:\n  - {port: 5, framing: ift, crc: false}\n", "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->terms_for({}, 5).framing, Framing::ift);
  EXPECT_FALSE(read->terms_for({}, 5).crc);
  EXPECT_EQ(read->terms_for({}, 6).framing, Framing::mpa);
  const auto sctp = parse_configuration("framing: sctp\nrules:\n  - {port: 5, framing: mpa}\n", "x");
  ASSERT_TRUE(sctp) << sctp.error().message;
  EXPECT_EQ(sctp->terms_for({}, 6).framing, Framing::sctp);
  EXPECT_EQ(sctp->terms_for({}, 5).framing, Framing::mpa);
}

TEST(Configuration, tells_what_is_wrong_and_where) {
  for (const std::string text :
       {"revision: 3\n", "crc: maybe\n", "unknown: 1\n", "rules: [{port: 0}]\n", "reads: 256\n", "framing: tcp\n",
        "{framing: ift, markers: true}\n", "{framing: sctp, markers: true}\n",
        "{markers: true, rules: [{port: 5, framing: ift}]}\n"}) {
    const auto read = parse_configuration(text, "file.yaml");
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find("file.yaml:1"), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace verbs
