// fcvi-sim decode and ladder on captures: the texts as they are printed, what can be chosen, live input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/scenarios/command.hpp"
#include "tests/support/source_dir.hpp"

namespace scenarios {
namespace {
using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::HasSubstr;
using testing::IsSubsetOf;
using testing::Not;
using testing::SizeIs;

const std::string data_folder = support::source_dir() + "/tests/data/";
const std::string first_connection = support::source_dir() + "/tools/scenarios/first_connection.yaml";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// The texts of that class in a diagram, in order.
std::vector<std::string> texts_of(const std::string& svg, const std::string& kind) {
  std::vector<std::string> texts;
  const std::regex pattern("class=\"" + kind + "\"[^>]*>([^<]*)<");
  for (std::sregex_iterator at(svg.begin(), svg.end(), pattern), end; at != end; ++at) texts.push_back((*at)[1]);
  return texts;
}

class Captures : public testing::Test {
 protected:
  std::string decode(const std::string& capture, std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"decode", capture});
    const Finished finished = fcvi_sim(options);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    return finished.output;
  }
  std::string decode_ladder(const std::string& capture) {
    const Finished finished = fcvi_sim({"ladder", capture, "--text"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    for (const std::string& line : lines_of(finished.output)) EXPECT_LE(characters(line), 120U) << line;
    return finished.output;
  }
  std::string simulate(const std::string& scenario, const std::string& name = "c.pcapng") {
    const Finished finished =
        fcvi_sim({"run", scenario, "--capture", folder / name, "--ladder", folder / (name + ".svg")});
    EXPECT_EQ(finished.status, 0) << finished.output << finished.errors;
    return folder / name;
  }
  /// What a command prints is what golden/NAME says; FCVI_UPDATE_GOLDEN=1 writes it anew.
  static void expect_golden(const std::string& text, const std::string& name) {
    const std::string path = support::source_dir() + "/tests/scenarios/golden/" + name;
    if (std::getenv("FCVI_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    EXPECT_TRUE(text == content_of(path)) << name << " should be\n" << text;
  }

  Folder folder;
};

TEST_F(Captures, decode_of_a_linux_peer_is_as_the_golden_text) {
  for (const std::string name : {"linux-fabric-login", "linux-vn2vn"}) {
    const std::string text = decode(data_folder + name + ".pcap");
    expect_golden(text, name + ".txt");
    for (const std::string& line : lines_of(text)) EXPECT_LE(characters(line), 120U) << line;
  }
}

TEST_F(Captures, decode_of_a_first_connection_is_as_the_golden_text) {
  const std::string capture = simulate(first_connection);
  expect_golden(decode(capture, {"--once"}), "first_connection.txt");
  std::vector<std::string> first_of_each{"-v"};
  for (const char* name : {"FLOGI", "SCR", "FCVI_CONNECT_RQST", "FCVI_CONNECT_RESP1", "FCVI_SEND_RQST",
                           "FCVI_SEND_RESP", "FCVI_WRITE_RQST", "FCVI_READ_RESP", "FCVI_DISCONNECT_RESP"})
    first_of_each.insert(first_of_each.end(), {"--filter", "message: " + std::string(name) + ", nth: 1"});
  expect_golden(decode(capture, first_of_each), "first_connection_fields.txt");
  expect_golden(decode(capture, {"--follow", "connection", "which"}) + decode(capture, {"--follow", "message"}),
                "first_connection_which.txt");
}

TEST_F(Captures, ladders_as_text_are_as_the_golden_texts) {
  expect_golden(decode_ladder(simulate(first_connection)), "first_connection_ladder.txt");
  expect_golden(decode_ladder(data_folder + "linux-fabric-login.pcap"), "linux-fabric-login_ladder.txt");
  expect_golden(decode_ladder(data_folder + "linux-vn2vn.pcap"), "linux-vn2vn_ladder.txt");
}

// A capture is drawn as the run that made it: the same messages, at the same times, between the same ports.
TEST_F(Captures, ladder_of_a_capture_is_that_of_the_run) {
  for (const char* name :
       {"first_connection.yaml", "peer_to_peer.yaml", "fc-vi/figure-11-disconnect.yaml",
        "fc-vi/figure-C.3-retried.yaml", "fc-vi/figure-A.5-case-5.yaml", "fc-vi/figure-B.1-unreliable.yaml"}) {
    const std::string scenario = support::source_dir() + "/tools/scenarios/" + name;
    const std::string capture = simulate(scenario);
    ASSERT_EQ(fcvi_sim({"ladder", capture, "-o", folder / "l.svg"}).status, 0);
    const std::string drawn = content_of(folder / "l.svg"), of_run = content_of(capture + ".svg");
    EXPECT_THAT(texts_of(drawn, "label"), Not(SizeIs(0)));
    for (const char* kind : {"label", "amount", "name"})
      EXPECT_EQ(texts_of(drawn, kind), texts_of(of_run, kind)) << name;
    EXPECT_THAT(texts_of(drawn, "sub"), IsSubsetOf(texts_of(of_run, "sub")));
  }
}

// What a fault did stands in the capture as a comment.
TEST_F(Captures, faults_are_shown_where_they_happened) {
  const std::string capture = simulate(support::source_dir() + "/tools/scenarios/fc-vi/figure-C.3-retried.yaml");
  EXPECT_THAT(decode(capture), HasSubstr("FCVI_CONNECT_RQST"));
  EXPECT_THAT(decode(capture), HasSubstr(" | # fault: lost\n"));
  const std::string drawn = decode_ladder(capture);
  EXPECT_THAT(drawn, HasSubstr("x─────"));
  EXPECT_THAT(drawn, HasSubstr("  lost\n"));
  const std::string delayed = decode(simulate(support::source_dir() + "/tools/scenarios/fc-vi/figure-A.2-case-2.yaml"));
  EXPECT_THAT(delayed, ContainsRegex(" \\| same as [0-9]+ # fault: delayed by"));
}

// PLOGIs of both ports are on their way at once, and pass two trunks each: every record behind the first is a copy.
TEST_F(Captures, crossing_logins_have_copies_on_trunks) {
  std::ofstream(folder / "cross.yaml") << R"(name: crossing
topology:
  line_rate: 16GFC
  switches: [{name: west}, {name: middle}, {name: east}]
  isls:
    - {between: [west, middle], latency: 5us}
    - {between: [middle, east], latency: 5us}
ports:
  - {name: alice, switch: west}
  - {name: bob, switch: east}
workloads:
  - {name: both, model: peer_to_peer, client: alice, server: bob, transfers: [{operation: send, data: {random: 4KiB}}]}
)";
  const std::string capture = simulate(folder / "cross.yaml");
  for (const auto& [from, to] : {std::pair<std::string, std::string>("010100", "030100"), {"030100", "010100"}}) {
    std::vector<std::string> records;
    for (const std::string& line : lines_of(decode(capture)))
      if (line.find(" " + from + " > " + to + " PLOGI") != std::string::npos) records.push_back(line);
    ASSERT_THAT(records, SizeIs(4)) << from;
    EXPECT_THAT(records.front(), Not(HasSubstr("same as")));
    records.erase(records.begin());
    EXPECT_THAT(records, Each(HasSubstr(" | same as "))) << from;
  }
  EXPECT_THAT(decode(capture), Not(HasSubstr(" | ! ")));
}

TEST_F(Captures, follow_shows_one_connection_with_its_set_up) {
  const std::string capture = simulate(first_connection);
  const auto lines = lines_of(decode(capture, {"--follow", "connection", "1", "--once"}));
  ASSERT_GT(lines.size(), 8U);
  EXPECT_THAT(lines.front(), HasSubstr("FCVI_CONNECT_RQST"));
  EXPECT_THAT(lines.back(), HasSubstr("FCVI_DISCONNECT_RESP"));
  EXPECT_THAT(lines, Each(HasSubstr("FCVI_")));
  // The list counts what following shows, the frames before the answer with the connection's ids too.
  const std::size_t all = lines_of(decode(capture, {"--follow", "connection", "1"})).size();
  EXPECT_THAT(decode(capture, {"--follow", "connection", "which"}),
              HasSubstr(", " + std::to_string(all) + " frames, "));
  for (const auto& [what, has] : {std::pair("connection", "it has 1, which decode --follow connection which lists"),
                                  std::pair("exchange", "it has "), std::pair("message", "it has ")}) {
    const Finished none = fcvi_sim({"decode", capture, "--follow", what, "999999"});
    EXPECT_EQ(none.status, 2);
    EXPECT_EQ(none.output, "");
    EXPECT_THAT(none.errors, AllOf(HasSubstr("no " + std::string(what) + " 999999; "), HasSubstr(has)));
  }
  EXPECT_EQ(decode(capture, {"--follow", "connection"}), decode(capture, {"--follow", "connection", "which"}));
  EXPECT_THAT(lines_of(decode(capture, {"--follow", "message", "1", "--once"})), Each(HasSubstr("msg 1")));
  EXPECT_THAT(lines_of(decode(capture, {"--follow", "exchange", "1"})), Each(HasSubstr("FLOGI")));
}

TEST_F(Captures, filter_takes_the_keys_of_faults) {
  const std::string capture = simulate(first_connection);
  const auto with = [&](const std::string& filter) { return lines_of(decode(capture, {"--filter", filter})); };
  EXPECT_THAT(with("message: FCVI_CONNECT_RQST"), SizeIs(2));
  EXPECT_THAT(with("message: FCVI_CONNECT_RQST, port: alice"), SizeIs(1));
  EXPECT_THAT(with("{message: FCVI_CONNECT_RQST, port: alice, direction: received}"), SizeIs(0));
  EXPECT_THAT(with("message: FCVI_CONNECT_RQST, nth: 2"), AllOf(SizeIs(1), Each(HasSubstr("bob   <"))));
  EXPECT_THAT(with("fields: {type: 0x58}, until: 1ms"), AllOf(Not(SizeIs(0)), Each(HasSubstr("FCVI_"))));
  EXPECT_THAT(with("message: FCVI_DISCONNECT_RESP, reason: Disconnect Accept, direction: sent"), SizeIs(2));
  // The other end by its interface is the same as by its address.
  const auto to_bob = with("port: alice, peer: 010200");
  EXPECT_THAT(to_bob, Not(SizeIs(0)));
  EXPECT_EQ(with("port: alice, peer: bob"), to_bob);
  EXPECT_EQ(with("peer: 010200"), to_bob);  // of two ports
  EXPECT_THAT(lines_of(decode(capture, {"--filter", "message: PLOGI", "--filter", "message: LOGO"})),
              AllOf(Contains(HasSubstr("PLOGI")), Contains(HasSubstr("LOGO"))));
  // What only a capture has: the delimiters.
  EXPECT_THAT(with("class: 2"), SizeIs(0));
  EXPECT_THAT(with("class: 3, message: FCVI_CONNECT_RQST"), SizeIs(2));
  EXPECT_EQ(with("sof: SOFi3, eof: EOFt, message: FCVI_CONNECT_RQST, nth: 2"),
            with("message: FCVI_CONNECT_RQST, nth: 2"));
  EXPECT_THAT(with("eof: EOFa"), SizeIs(0));
  const Finished unknown = fcvi_sim({"decode", capture, "--filter", "message: PLOGI, port: nobody"});
  EXPECT_EQ(unknown.status, 0);
  EXPECT_THAT(unknown.errors, HasSubstr("--filter: no frame of nobody"));
}

// A frame is shown once where it was first chosen, and not left out because its first copy was not.
TEST_F(Captures, filter_of_one_side_keeps_both_directions) {
  const std::string capture = simulate(first_connection);
  for (const std::string port : {"alice", "bob"}) {
    const std::vector<std::string> choice{"--filter", "port: " + port};
    const std::string text = decode(capture, {"--once", choice[0], choice[1]});
    EXPECT_THAT(text, HasSubstr(" 010100 > 010200 "));
    EXPECT_THAT(text, HasSubstr(" 010200 > 010100 "));
    const Finished ladder = fcvi_sim({"ladder", capture, "--text", "--no-login", choice[0], choice[1]});
    EXPECT_EQ(ladder.status, 0) << ladder.errors;
    for (const char* iu : {"FCVI_CONNECT_RQST", "FCVI_CONNECT_RESP1", "FCVI_CONNECT_RESP2", "FCVI_CONNECT_RESP3"})
      EXPECT_THAT(ladder.output, HasSubstr(iu)) << port;
  }
}

// What was readable is drawn, and then what is wrong is told.
TEST_F(Captures, ladder_of_a_damaged_capture_ends_where_it_does) {
  const std::string bytes = content_of(simulate(first_connection));
  const std::string cut = folder / "cut.pcapng";
  std::ofstream(cut, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  const Finished ladder = fcvi_sim({"ladder", cut, "--text"});
  EXPECT_EQ(ladder.status, 2);
  EXPECT_THAT(ladder.errors, HasSubstr("truncated"));
  EXPECT_THAT(ladder.output, HasSubstr("FCVI_CONNECT_RQST"));
}

TEST_F(Captures, bad_choices_are_refused) {
  const std::string capture = data_folder + "linux-vn2vn.pcap";
  const std::pair<std::vector<std::string>, const char*> bad[] = {
      {{"--filter", "mesage: PLOGI"}, "message"},
      {{"--filter", "message: PLOGY"}, "PLOGI"},
      {{"--filter", "message: SEND_RQTS"}, "FCVI_SEND_RQST"},
      {{"--filter", "message=PLOGI"}, "did you mean \"message: PLOGI\"?"},
      {{"--filter", "port : 7, message:PLOGI"}, "did you mean \"message: PLOGI\"?"},
      {{"--filter", "ox_id: 0x1A2B"}, "unknown key \"ox_id\" in filter; did you mean \"fields: {ox_id: ...}\"?"},
      {{"--filter", "handel: 7"}, "did you mean \"fields: {fcvi_handle: ...}\"?"},
      {{"--filter", "fields: {handel: 7}"}, "did you mean \"fcvi_handle\"?"},
      {{"--filter", "sof: SOFi5"}, "did you mean \"SOFi"},
      {{"--filter", "class: 1"}, "class"},
      {{"--filter", "connection: 3"}, "did you mean --follow connection N?"},
      {{"--filter", "fields: {ox_id: 0x10000}"}, "ox_id"},
      {{"--filter", "fields: {d_id: 010200}"}, "in hexadecimal 0x010200"},
      {{"--filter", "fields: {f_ctl: 380000h}"}, "in hexadecimal 0x380000"},
      {{"--filter", "{message"}, "--filter"},
      {{"--follow", "stream", "1"}, "expected connection, exchange or message"},
      {{"--follow", "exchange", "x"}, "expected a number from 1"},
      {{"--json", "-v"}, "--json"}};
  for (const auto& [options, words] : bad) {
    std::vector<std::string> arguments{"decode", capture};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Finished finished = fcvi_sim(arguments);
    EXPECT_EQ(finished.status, 2) << options.back();
    EXPECT_EQ(finished.output, "") << options.back();
    EXPECT_THAT(finished.errors, HasSubstr(words));
  }
  EXPECT_THAT(fcvi_sim({"ladder", capture, "--follow", "connection", "which"}).errors, HasSubstr("decode --follow"));
  EXPECT_THAT(fcvi_sim({"ladder", capture, "--follow", "connection", "7"}).errors,
              HasSubstr("--follow: no connection 7; it has none\n"));
}

// As from `tcpdump -U -w - | fcvi-sim decode -`: each frame is printed before the next one comes.
TEST_F(Captures, live_input_is_printed_frame_by_frame) {
  const std::string capture = simulate(first_connection), fifo = folder / "output";
  const std::string script = "mkfifo " + fifo + " && { (head -c 1000 " + capture + "; read answer < " + fifo +
                             "; tail -c +1001 " + capture + ") | \"$0\" decode - | { read first; echo go > " + fifo +
                             "; echo \"$first\"; cat; }; }";
  const Finished live = run({"sh", "-c", script, FCVI_SIM});
  EXPECT_EQ(live.status, 0) << live.errors;
  // `read` takes the blanks at the beginning of the first line.
  const std::string whole = decode(capture);
  EXPECT_EQ(live.output, whole.substr(whole.find_first_not_of(' ')));
  const Finished packed = run({"sh", "-c", "gzip -c " + capture + " | \"$0\" decode -", FCVI_SIM});
  EXPECT_EQ(packed.output, whole);
  const Finished ladder = run({"sh", "-c", "\"$0\" ladder --text - < " + capture, FCVI_SIM});
  EXPECT_THAT(ladder.output, HasSubstr("FCVI_CONNECT_RQST"));
}

}  // namespace
}  // namespace scenarios
