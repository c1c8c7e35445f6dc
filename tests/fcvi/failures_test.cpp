// Every cause that ends a connection or fails a descriptor, at each level, in classes 2 and 3: the status of the
// descriptors (VI-DG 5.2), the calls of the error handlers of both ends (VI-ARCH 7.1 to 7.3, VI-DG 3.8.1, 6.2), and the
// Reason Code of every DISCONNECT_RQST (FC-VI 5.9.7.3, Table 12; D.1 rule 1 a).
#include "tests/fcvi/failing_nodes.hpp"

namespace {
using support::by_descriptor;
using support::by_transport;
using support::Failing;
using support::Level;
using support::MessageFrame;
using support::pass;

using namespace support::levels_and_classes;

struct Cause {
  const char* name;
  void (Failing::*provoke)();
  unsigned levels;
  unsigned classes;
  const char* asked;   // the client's descriptor
  const char* posted;  // the server's
  const char* client_told;
  const char* server_told;
  const char* client_code;  // of its DISCONNECT_RQSTs
  const char* server_code;
};
constexpr const char *lost = "Connection Lost", *none = "none";
#define TOLD(error) error ", Connection Lost"

// clang-format off
constexpr Cause causes[] = {
    // found by the server: what has no descriptor of the server's is told under its own name, and has a code of its own (5.9.7.3.2)
    {"no receive descriptor",          &Failing::no_receive,                          U,        both,    "well",              "",                    "",    "Receive Queue Empty",        none, none},
    {"no receive descriptor",          &Failing::no_receive,                          D,        class_3, "well",              "",                    lost,  TOLD("Receive Queue Empty"),  none, "42"},
    {"no receive descriptor",          &Failing::no_receive,                          D,        class_2, "flushed",           "",                    lost,  TOLD("Receive Queue Empty"),  "40", "42"},
    {"no receive descriptor",          &Failing::no_receive,                          R,        both,    "remote descriptor", "",                    lost,  TOLD("Receive Queue Empty"),  "42", "42"},
    {"receive too small",              &Failing::receive_too_small,                   U,        both,    "well",              "length",              "",    "",                           none, none},
    {"receive too small",              &Failing::receive_too_small,                   D,        class_3, "well",              "length",              lost,  lost,                         none, "42"},
    {"receive too small",              &Failing::receive_too_small,                   D,        class_2, "flushed",           "length",              lost,  lost,                         "40", "42"},
    {"receive too small",              &Failing::receive_too_small,                   R,        both,    "remote descriptor", "length",              lost,  lost,                         "42", "42"},
    {"receive too small, four frames", &Failing::receive_too_small_for_frames,        R,        both,    "remote descriptor", "length",              lost,  lost,                         "42", "42"},
    {"receive of bad format",          &Failing::receive_of_bad_format,               U,        both,    "well",              "format",              "",    "",                           none, none},
    {"receive of bad format",          &Failing::receive_of_bad_format,               D,        class_3, "well",              "format",              lost,  lost,                         none, "42"},
    {"receive of bad format",          &Failing::receive_of_bad_format,               R,        both,    "remote descriptor", "format",              lost,  lost,                         "42", "42"},
    {"receive memory gone",            &Failing::receive_memory_gone,                 U,        class_3, "well",              "protection",          "",    "",                           none, none},
    {"receive memory gone",            &Failing::receive_memory_gone,                 D,        class_3, "partial, flushed",  "protection",          lost,  lost,                         none, "42"},
    {"receive memory gone",            &Failing::receive_memory_gone,                 R,        both,    "remote descriptor", "protection",          lost,  lost,                         "42", "42"},
    {"write refused",                  &Failing::write_refused,                       U,        both,    "well",              "",                    "",    "RDMA Write Protection Error", none, none},
    {"write refused",                  &Failing::write_refused,                       D,        class_3, "well",              "",                    lost,  TOLD("RDMA Write Protection Error"), none, "43"},
    {"write refused",                  &Failing::write_refused,                       R,        both,    "rdma protection",   "",                    lost,  TOLD("RDMA Write Protection Error"), "41", "43"},
    {"write immediate, no receive",    &Failing::write_immediate_without_receive,     D,        class_3, "well",              "",                    lost,  TOLD("Receive Queue Empty"),  none, "42"},
    {"write immediate, no receive",    &Failing::write_immediate_without_receive,     R,        both,    "remote descriptor", "",                    lost,  TOLD("Receive Queue Empty"),  "42", "42"},
    {"write immediate refused",        &Failing::write_immediate_refused,             D,        class_3, "well",              "protection",          lost,  lost,                         none, "41"},
    {"write immediate refused",        &Failing::write_immediate_refused,             R,        both,    "rdma protection",   "protection",          lost,  lost,                         "41", "41"},
    {"write target gone",              &Failing::write_target_gone,                   U,        class_3, "well",              "",                    "",    "RDMA Write Protection Error", none, none},
    {"write target gone",              &Failing::write_target_gone,                   D,        class_3, "partial, flushed",  "",                    lost,  TOLD("RDMA Write Protection Error"), none, "43"},
    {"write target gone",              &Failing::write_target_gone,                   R,        both,    "rdma protection",   "",                    lost,  TOLD("RDMA Write Protection Error"), "41", "43"},
    {"write immediate, target gone",   &Failing::write_immediate_target_gone,         D,        class_3, "partial, flushed",  "protection",          lost,  lost,                         none, "41"},
    {"write immediate, target gone",   &Failing::write_immediate_target_gone,         R,        both,    "rdma protection",   "protection",          lost,  lost,                         "41", "41"},
    {"read refused",                   &Failing::read_refused,                        reliable, both,    "rdma protection",   "",                    lost,  TOLD("RDMA Read Protection Error"), "41", "47"},
    {"read source gone",               &Failing::read_source_gone,                    reliable, both,    "rdma protection",   "",                    lost,  TOLD("RDMA Read Protection Error"), "41", "47"},
    {"frame of a Send lost",           &Failing::send_frame_lost,                     U,        both,    "well",              "partial, transport",  "",    "",                           none, none},
    {"frame of a Send lost",           &Failing::send_frame_lost,                     D,        class_3, "well",              "partial, transport",  lost,  lost,                         none, "40"},
    {"frame of a Send lost",           &Failing::send_frame_lost,                     D,        class_2, "flushed",           "partial, transport",  lost,  lost,                         "40", "40"},
    {"frame of a Send lost",           &Failing::send_frame_lost,                     R,        class_3, "flushed",           "partial, transport",  lost,  lost,                         none, "40"},
    {"frame of a Send lost",           &Failing::send_frame_lost,                     R,        class_2, "transport",         "partial, transport",  lost,  lost,                         "40", "40"},
    {"frame of a Write lost",          &Failing::write_frame_lost,                    U,        class_3, "well",              "",                    "",    "RDMA Write Packet Abort",       none, none},
    {"frame of a Write lost",          &Failing::write_frame_lost,                    D,        class_3, "well",              "",                    lost,  TOLD("RDMA Write Packet Abort"), none, "45"},
    {"frame of a Write lost",          &Failing::write_frame_lost,                    R,        class_3, "flushed",           "",                    lost,  TOLD("RDMA Write Packet Abort"), none, "45"},
    {"frame of a Write lost",          &Failing::write_frame_lost,                    D,        class_2, "flushed",           "",                    lost,  TOLD("RDMA Write Packet Abort"), "40", "45"},
    {"frame of Write immediate lost",  &Failing::write_immediate_frame_lost,          D,        class_3, "well",              "partial, transport",  lost,  lost,                         none, "40"},
    {"frame of Write immediate lost",  &Failing::write_immediate_frame_lost,          R,        class_3, "flushed",           "partial, transport",  lost,  lost,                         none, "40"},
    {"message lost",                   &Failing::message_lost,                        U,        class_3, "well",              "well",                "",    "",                           none, none},
    {"message lost",                   &Failing::message_lost,                        D,        class_3, "well",              "flushed",             lost,  lost,                         none, "40"},
    {"message lost",                   &Failing::message_lost,                        R,        class_3, "flushed",           "flushed",             lost,  lost,                         none, "40"},
    {"frame of another length",        &Failing::frame_of_another_length,             U,        both,    "well",              "partial, transport",  "",    "",                           none, none},
    {"frame of another length",        &Failing::frame_of_another_length,             D,        class_3, "well",              "partial, transport",  lost,  lost,                         none, "48"},
    {"frame of another length",        &Failing::frame_of_another_length,             R,        class_3, "flushed",           "partial, transport",  lost,  lost,                         none, "48"},
    {"frame of another length",        &Failing::frame_of_another_length,             R,        class_2, "transport",         "partial, transport",  lost,  lost,                         "40", "48"},
    {"message twice",                  &Failing::message_twice,                       D,        class_3, "well",              "well",                lost,  lost,                         none, "48"},
    {"message twice",                  &Failing::message_twice,                       R,        class_3, "well",              "well",                lost,  lost,                         none, "48"},
    // found by the client in its own descriptors: 5.9.7.3.1, "length, format or protection error on Descriptor access"
    {"send of bad format",             &Failing::send_of_bad_format,                  U,        both,    "format",            "",                    "",    "",                           none, none},
    {"send of bad format",             &Failing::send_of_bad_format,                  reliable, both,    "format",            "",                    lost,  lost,                         "42", none},
    {"send of others' memory",         &Failing::send_of_others_memory,               U,        both,    "protection",        "",                    "",    "",                           none, none},
    {"send of others' memory",         &Failing::send_of_others_memory,               reliable, both,    "protection",        "",                    lost,  lost,                         "42", none},
    {"send of wrong length",           &Failing::send_of_wrong_length,                U,        both,    "length",            "",                    "",    "",                           none, none},
    {"send of wrong length",           &Failing::send_of_wrong_length,                reliable, both,    "length",            "",                    lost,  lost,                         "42", none},
    {"send memory gone",               &Failing::send_memory_gone,                    U,        both,    "protection, partial", "partial, transport", "",   "",                           none, none},
    {"send memory gone",               &Failing::send_memory_gone,                    reliable, both,    "protection, partial", "partial, transport", lost, lost,                         "42", "40"},
    {"read target gone",               &Failing::read_target_gone,                    reliable, both,    "protection",        "",                    lost,  TOLD("RDMA Transport Error"), "42", "46"},
    {"descriptor gone",                &Failing::descriptor_gone,                     U,        class_3, "",                  "well",                TOLD("Completion Protection Error"), lost, "42", none},
    {"descriptor gone",                &Failing::descriptor_gone,                     reliable, class_3, "",                  "well",                TOLD("Completion Protection Error"), lost, "42", none},
    {"post refused",                   &Failing::post_refused,                        every,    both,    "",                  "",                    TOLD("Post Descriptor Error"), lost, "42", none},
    {"overrun",                        &Failing::overrun,                             every,    both,    "",                  "",                    TOLD("VI Overrun"), lost,    none, none},
    {"hardware failed",                &Failing::hardware_failed,                     every,    both,    "",                  "",                    TOLD("Catastrophic Error"), lost, none, none},
    // found by the client in an answer: Table 6 and 5.9.7.3.1 share their definitions. The server gave another one: it hears of nothing
    {"send answered TRANS_ERR",        &Failing::send_answered_transport,             R,        both,    "transport",         "well",                lost,  "",                           "40", none},
    {"send answered PROT_ERR",         &Failing::send_answered_protection,            R,        both,    "remote descriptor", "well",                lost,  "",                           "41", none},
    {"send answered DESC_ERR",         &Failing::send_answered_descriptor,            R,        both,    "remote descriptor", "well",                lost,  "",                           "42", none},
    {"send answered RESP_ERR alone",   &Failing::send_answered_nothing_said,          R,        both,    "transport",         "well",                lost,  "",                           "40", none},
    {"write answered PROT_ERR",        &Failing::write_answered_protection,           R,        both,    "rdma protection",   "",                    lost,  "",                           "41", none},
    {"write answered DESC_ERR",        &Failing::write_answered_descriptor,           R,        both,    "transport",         "",                    lost,  "",                           "42", none},
    {"write imm. answered DESC_ERR",   &Failing::write_immediate_answered_descriptor, R,        both,    "remote descriptor", "well",                lost,  "",                           "42", none},
    {"read answered DESC_ERR",         &Failing::read_answered_descriptor,            reliable, both,    "transport",         "",                    lost,  "",                           "42", none},
    {"read answered TRANS_ERR",        &Failing::read_answered_transport,             reliable, both,    "transport",         "",                    lost,  "",                           "40", none},
    {"no answer to a Send",            &Failing::no_answer_to_send,                   R,        both,    "transport",         "well",                lost,  lost,                         "40", none},
    {"no answer to a Read",            &Failing::no_answer_to_read,                   reliable, class_3, "transport",         "",                    lost,  lost,                         "40", none},
    // class 2: rules 8a, 8c to 8e
    {"send rejected",                  &Failing::send_rejected,                       U,        class_2, "well",              "open",                "",    "",                           none, none},
    {"send rejected",                  &Failing::send_rejected,                       D,        class_2, "flushed",           "flushed",             lost,  lost,                         "40", none},
    {"send rejected",                  &Failing::send_rejected,                       R,        class_2, "transport",         "flushed",             lost,  lost,                         "40", none},
    {"send rejected in the middle",    &Failing::send_rejected_in_the_middle,         U,        class_2, "well",              "partial, transport",  "",    "",                           none, none},
    {"send rejected in the middle",    &Failing::send_rejected_in_the_middle,         D,        class_2, "partial, flushed",  "partial, transport",  lost,  lost,                         "40", "40"},
    {"send rejected in the middle",    &Failing::send_rejected_in_the_middle,         R,        class_2, "partial, transport", "partial, transport", lost,  lost,                         "40", "40"},
    {"write rejected in the middle",   &Failing::write_rejected_in_the_middle,        D,        class_2, "partial, flushed",  "",                    lost,  TOLD("RDMA Write Packet Abort"), "40", "45"},
    {"write rejected in the middle",   &Failing::write_rejected_in_the_middle,        R,        class_2, "partial, transport", "",                   lost,  TOLD("RDMA Write Packet Abort"), "40", "45"},
    {"read rejected",                  &Failing::read_rejected,                       reliable, class_2, "transport",         "",                    lost,  lost,                         "40", none},
    // no error of either: what the other end, or the loss of it, does to a message under way
    {"peer disconnects",               &Failing::peer_disconnects_in_the_middle,      every,    both,    "partial, flushed",  "partial, flushed",    lost,  "",                           none, none},
    {"link lost",                      &Failing::link_lost_in_the_middle,             every,    both,    "partial, flushed",  "partial, flushed",    lost,  lost,                         "",   ""},
};
// clang-format on

struct Instance {
  Cause cause;
  Level level;
  bool class_2;
  friend std::ostream& operator<<(std::ostream& out, const Instance& instance) { return out << instance.cause.name; }
};
std::vector<Instance> instances() {
  std::vector<Instance> all;
  for (const Cause& cause : causes)
    for (const auto& [bit, level] :
         {std::pair{U, Level::UnreliableDelivery}, {D, Level::ReliableDelivery}, {R, Level::ReliableReception}})
      for (const bool in_class_2 : {false, true})
        if ((cause.levels & bit) != 0 && (cause.classes & (in_class_2 ? class_2 : class_3)) != 0)
          all.push_back({cause, level, in_class_2});
  return all;
}
std::string name_of(const ::testing::TestParamInfo<Instance>& info) {
  std::string name = info.param.cause.name;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name + "_" + support::level_name({info.param.level, 0}) + (info.param.class_2 ? "_class_2" : "_class_3");
}

class Failures : public Failing, public ::testing::WithParamInterface<Instance> {
 public:
  Failures() : Failing(GetParam().class_2) {}
};
INSTANTIATE_TEST_SUITE_P(Cause, Failures, ::testing::ValuesIn(instances()), name_of);

// VI-ARCH 7.2 ("the error code associated with the error handler"), VI-DG 3.8.1: who asks in the error handler why
// the connection was lost hears what stays known, not what was true before. What the model finds by itself it says
// by the descriptor.
TEST_P(Failures, connected_fails_causeIsKnownWithTheError) {
  begin(GetParam().level);
  (this->*GetParam().cause.provoke)();
  fabric.run_for(25 * runtime::second);
  for (const auto& [host, vi] : {std::pair{client.get(), client_vi}, {server.get(), server_vi}}) {
    const std::string told = cause_told(*host, *vi), known = cause_known(*vi);
    if (told == "nothing told") {
      EXPECT_EQ(host->count(vi::ErrorCode::ConnLost), 0);
      continue;
    }
    EXPECT_NE(known, "") << (host == client.get() ? "client" : "server");
    if (!(told.empty() && known == by_descriptor)) {
      EXPECT_EQ(told, known) << (host == client.get() ? "client" : "server");
    }
    if (GetParam().cause.provoke == &Failing::no_answer_to_send && host == client.get()) {
      EXPECT_EQ(told, by_transport);
    }
  }
}

// VI-DG 5.2, 6.2, 3.8.1, VI-ARCH 7.1 to 7.3, FC-VI 5.9.7.3.1, 5.9.7.3.2, Table 12; D.1 rule 1 a): each row of
// the table above.
TEST_P(Failures, connected_fails) {
  const Cause& cause = GetParam().cause;
  begin(GetParam().level);
  (this->*cause.provoke)();
  fabric.run_for(25 * runtime::second);
  EXPECT_EQ(client_word(), cause.asked);
  EXPECT_EQ(server_word(), cause.posted);
  EXPECT_EQ(told(*client, *client_vi), cause.client_told);
  EXPECT_EQ(told(*server, *server_vi), cause.server_told);
  const bool ends = *cause.client_told != 0;
  EXPECT_EQ(client_vi->state(), ends ? vi::State::Error : vi::State::Connected);
  // Each descriptor keeps to what VI-DG 5.2 allows on it, whatever was found: bits 15:9 and 31:20 are zero.
  EXPECT_EQ((asked == 0 ? 0u : client->status(asked)) & 0xFFF0FE00, 0u);
  EXPECT_EQ((posted == 0 ? 0u : server->status(posted)) & 0xFFF0FE00, 0u);
  if (*cause.client_code == 0) return;  // there is no link
  faults.on_frame = {};
  if (!ended.result) disconnect(*server, *server_vi);
  if (ends)
    disconnect(*client, *client_vi);
  else
    fabric.run_for(runtime::second), disconnect(*client, *client_vi);
  EXPECT_EQ(code(true), cause.client_code);
  EXPECT_EQ(code(false), cause.server_code);
  EXPECT_EQ(told(*server, *server_vi), cause.server_told) << "told again by the disconnects";
  EXPECT_EQ(told(*client, *client_vi), ends ? cause.client_told : lost) << "told again by the disconnects";
  fabric.run_for(25 * runtime::second);  // 8.4.2 f): R_A_TOV after both ended, nothing is left of the connection
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  EXPECT_EQ(server->provider.handles_in_use(), 0u);
}

class WrongSeqCnt : public Failing, public ::testing::WithParamInterface<std::tuple<bool, bool, int>> {
 public:
  WrongSeqCnt() : Failing(false, std::get<0>(GetParam())) {}
};
INSTANTIATE_TEST_SUITE_P(InOrderEpochFrame, WrongSeqCnt,
                         ::testing::Combine(::testing::Bool(), ::testing::Bool(), ::testing::Values(0, 2, 3)));

// FC-VI 5.8.6, B.2.5 rules 6b to 6e, 5.9.7.3 (ruling 290): in order a SEQ_CNT that is not SCexp says that frames
// are missing (6d): 40h. Out of order nothing says that (6e): where the offset goes on and SEQ_CNT does not, the
// frame contradicts its message (6b, "this is a Protocol Error"): 48h, whether something else is missing at that
// moment or not.
TEST_P(WrongSeqCnt, receiving_offsetRight_oneAnswer) {
  const auto [in_order, epoch, number] = GetParam();
  begin(Level::ReliableDelivery);
  faults.on_frame = [=, epoch = epoch && !in_order, number = number](MessageFrame& frame) {
    if (!frame.from_client) return pass;
    if (epoch && frame.header.msg_id.value == 1) return support::late(runtime::second);
    if (frame.header.tot_len_or_connection_id == length && frame.header.msg_id.value == 2 &&
        frame.fc.seq_cnt.value == number)
      frame.fc.seq_cnt.value += 7, frame.rewrite();
    return pass;
  };
  post_receive(), post_receive(), post_send(8), post_send(length);
  fabric.run_for(5 * runtime::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  disconnect(*server, *server_vi);
  EXPECT_EQ(code(false), in_order ? "40" : "48");
}

}  // namespace
