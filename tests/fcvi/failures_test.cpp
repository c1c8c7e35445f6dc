// Every cause that ends a connection or fails a descriptor, at each level, in classes 2 and 3: the status of the descriptors (VI-DG 5.2), the
// calls of the error handlers of both ends (VI-ARCH 7.1 to 7.3, VI-DG 3.8.1, 6.2), and the Reason Code of every DISCONNECT_RQST (FC-VI 5.9.7.3,
// Table 12; D.1 rule 1 a).
#include "tests/fcvi/failure_nodes.hpp"
#include "wire/fcvi/message_status.hpp"

namespace {
using support::Host;
using support::Level;
using support::lose;
using support::MessageFrame;
using support::pass;
using support::register_own;
using wire::RCtl;
using wire::fcvi::Opcode;

class Failing : public support::FailureNodes {
 public:
  using FailureNodes::FailureNodes;

  // --- found by the server, in what comes in
  void no_receive() { post_send(100); }
  void receive_too_small() { post_receive(server->descriptor(0, {{server->data, 500}})), post_send(1000); }
  void receive_too_small_for_frames() { post_receive(server->descriptor(0, {{server->data, 500}})), post_send(length); }
  void receive_of_bad_format() { post_receive(server->descriptor(vi::control::op_rdma_write, {{server->data, slot}})), post_send(100); }
  void receive_memory_gone() {
    const auto own = register_own(*server, apart, slot);
    post_receive(support::own_descriptor(*server, apart, own, slot)), post_send(large);
    take_away(*server, own);
  }
  void write_refused() { post_rdma(vi::control::op_rdma_write, 100, 1, server->handle); }
  void write_immediate_without_receive() {
    post_rdma(vi::control::op_rdma_write | vi::control::immediate, 100, server->data, server->handle);
  }
  void write_immediate_refused() {
    post_receive(), post_rdma(vi::control::op_rdma_write | vi::control::immediate, 100, 1, server->handle);
  }
  void write_target_gone() {
    const auto own = register_own(*server, apart, slot);
    post_rdma(vi::control::op_rdma_write, large, apart, own), take_away(*server, own);
  }
  void write_immediate_target_gone() {
    const auto own = register_own(*server, apart, slot);
    post_receive(), post_rdma(vi::control::op_rdma_write | vi::control::immediate, large, apart, own), take_away(*server, own);
  }
  void read_refused() { post_rdma(vi::control::op_rdma_read, 100, 1, server->handle); }
  void read_source_gone() {
    const auto own = register_own(*server, apart, slot);
    post_rdma(vi::control::op_rdma_read, large, apart, own), take_away(*server, own);
  }
  void send_frame_lost() { faults.on_frame = support::to_frame(1, lose), post_receive(), post_send(length); }
  void write_frame_lost() { faults.on_frame = support::to_frame(1, lose), post_rdma(vi::control::op_rdma_write, length, server->data, server->handle); }
  void write_immediate_frame_lost() {
    faults.on_frame = support::to_frame(1, lose), post_receive();
    post_rdma(vi::control::op_rdma_write | vi::control::immediate, length, server->data, server->handle);
  }
  void message_lost() {
    faults.on_frame = support::to_frame(0, lose), post_receive(), post_send(100), post_send(100);
  }
  void frame_of_another_length() {  // rule 6b: a Sequence error
    faults.on_frame = [](MessageFrame& frame) {
      if (frame.from_client && frame.number == 1) ++frame.header.tot_len_or_connection_id, frame.rewrite();
      return pass;
    };
    post_receive(), post_send(length);
  }
  void message_twice() {  // rule 5a
    faults.on_frame = support::to_frame(0, support::twice), post_receive(), post_send(100);
  }

  // --- found by the client, in its own
  void send_of_bad_format() { post(client->descriptor(0x8000, {{client->data, 100}})); }
  void send_of_others_memory() { post(support::own_descriptor(*client, client->data, wire::MemHandle{0x5A5A}, 100)); }
  void send_of_wrong_length() {
    const auto at = client->descriptor(0, {{client->data, 100}});
    auto control = client->control(at);
    control.length_bytes = 99;
    client->put(at, control), post(at);
  }
  void send_memory_gone() {
    const auto own = register_own(*client, apart, slot);
    post_receive(), post(support::own_descriptor(*client, apart, own, large)), take_away(*client, own);
  }
  void read_target_gone() {
    const auto own = register_own(*client, apart, slot);
    const auto at = client->descriptor(vi::control::op_rdma_read, {{apart, large}}, server->data, server->handle);
    client->put(at + sizeof(vi::ControlSegment) + sizeof(vi::Segment), vi::Segment{apart, own.value, large});
    post(at), take_away(*client, own);
  }
  void descriptor_gone() {
    const auto own = register_own(*client, apart, 4096);
    const auto at = client->descriptor(0, {{client->data, large}});
    std::memcpy(client->bytes(apart), client->bytes(at), 64);
    post_receive(), client_vi->post_send(apart, own), take_away(*client, own);
  }
  void post_refused() { client_vi->post_send(1, client->handle); }
  void overrun() { client_vi->refuse_overrun(true, client->data); }
  void hardware_failed() { client_vi->fail_catastrophically(); }

  // --- found by the client, in what comes back, or does not
  void answer_with(wire::fcvi::MessageStatus status) {
    faults.on_frame = [status](MessageFrame& frame) {
      if (!frame.from_client) frame.header.flags = status.to_flags(), frame.rewrite();
      return pass;
    };
  }
  void send_answered_transport() { answer_with({.resp_err = true, .trans_err = true}), post_receive(), post_send(100); }
  void send_answered_protection() { answer_with({.resp_err = true, .prot_err = true}), post_receive(), post_send(100); }
  void send_answered_descriptor() { answer_with({.resp_err = true, .desc_err = true}), post_receive(), post_send(100); }
  void send_answered_nothing_said() { answer_with({.resp_err = true}), post_receive(), post_send(100); }
  void write_answered_protection() {
    answer_with({.resp_err = true, .prot_err = true}), post_rdma(vi::control::op_rdma_write, 100, server->data, server->handle);
  }
  void write_answered_descriptor() {
    answer_with({.resp_err = true, .desc_err = true}), post_rdma(vi::control::op_rdma_write, 100, server->data, server->handle);
  }
  void write_immediate_answered_descriptor() {
    answer_with({.resp_err = true, .desc_err = true}), post_receive();
    post_rdma(vi::control::op_rdma_write | vi::control::immediate, 100, server->data, server->handle);
  }
  void read_answered(wire::fcvi::MessageStatus status) {
    faults.on_frame = [status](MessageFrame& frame) {
      if (frame.from_client) return pass;
      frame.header.flags = status.to_flags();
      frame.frame.size_bytes = 24 + 32;
      frame.rewrite();
      return pass;
    };
    post_rdma(vi::control::op_rdma_read, 100, server->data, server->handle);
  }
  void read_answered_descriptor() { read_answered({.resp_err = true, .desc_err = true}); }
  void read_answered_transport() { read_answered({.resp_err = true, .trans_err = true}); }
  void no_answer_to_send() {
    faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : lose; };
    post_receive(), post_send(100);
  }
  void no_answer_to_read() {
    faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : lose; };
    post_rdma(vi::control::op_rdma_read, 100, server->data, server->handle);
  }

  // --- class 2 alone: what the fabric or the port says of a frame
  void reject(int number) {
    faults.on_frame = [this, number](MessageFrame& frame) {
      if (!frame.from_client || frame.number != number) return pass;
      fabric.fabric.ingress_of(server->port)->receive(fc2::make_link_control(fabric.pool, frame.fc, RCtl::p_rjt, 0x01010000));
      return lose;
    };
  }
  void send_rejected() { reject(0), post_receive(), post_send(100); }
  void send_rejected_in_the_middle() { reject(8), post_receive(), post_send(large); }
  void write_rejected_in_the_middle() { reject(8), post_rdma(vi::control::op_rdma_write, large, server->data, server->handle); }
  void read_rejected() { reject(0), post_rdma(vi::control::op_rdma_read, 100, server->data, server->handle); }

  // --- the other end, or the way to it
  void peer_disconnects_in_the_middle() {
    post_receive(), post_send(large);
    fabric.run_for(200 * fc2::microsecond);
    server->provider.disconnect(*server_vi, ended);
  }
  void link_lost_in_the_middle() {
    post_receive(), post_send(large);
    fabric.run_for(200 * fc2::microsecond);
    fabric.detach(0);
    away = true;
  }
  ~Failing() override { if (away) fabric.attach(0); }
  support::Done ended;
  bool away = false;
};

enum Levels : unsigned { U = 1, D = 2, R = 4, reliable = D | R, every = U | D | R };
enum Classes : unsigned { class_2 = 1, class_3 = 2, both = class_2 | class_3 };
struct Cause {
  const char* name;
  void (Failing::*provoke)();
  unsigned levels;
  unsigned classes;
  const char* asked;        // the client's descriptor
  const char* posted;       // the server's
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
    for (const auto& [bit, level] : {std::pair{U, Level::UnreliableDelivery}, {D, Level::ReliableDelivery}, {R, Level::ReliableReception}})
      for (const bool in_class_2 : {false, true})
        if ((cause.levels & bit) != 0 && (cause.classes & (in_class_2 ? class_2 : class_3)) != 0) all.push_back({cause, level, in_class_2});
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

constexpr const char* by_transport = "frames or answers of the peer did not come in time, or not as they should (transport error)";
constexpr const char* by_descriptor = "a descriptor of this VI failed before";

// VI-ARCH 7.2 ("the error code associated with the error handler"), VI-DG 3.8.1: who asks in the error handler why the connection was lost
// hears what stays known, not what was true before. What the model finds by itself it says by the descriptor.
TEST_P(Failures, connected_fails_causeIsKnownWithTheError) {
  begin(GetParam().level);
  (this->*GetParam().cause.provoke)();
  fabric.run_for(25 * fc2::second);
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

// What Provider::end_cause() says at both ends (its header; FC-VI 5.9.7.3, Table 12, ruling 41): who found the error says what it was, the
// other end what it was told by the answer or by the DISCONNECT_RQST.
constexpr const char* by_us = "VipDisconnect was called here";
constexpr const char* by_no_receive = "the peer sent a message for which no receive was posted here";
constexpr const char* by_length = "the peer sent a message that was longer than its receive here, or the receive was not valid";
constexpr const char* by_protection = "the peer's message met memory here that is not registered for it";
constexpr const char* peer_left = "the peer disconnected";
constexpr const char* peer_gone = "the peer's port left the fabric: its process ended, or its link";
constexpr const char* link_lost = "the link of this NIC to its fabric was lost";
constexpr const char* peer_transport = "the peer ended the connection: it missed frames or answers of ours (Transport Error, 40h)";
constexpr const char* peer_protection =
    "the peer ended the connection: an RDMA of ours named memory that it does not allow (RDMA Protection Error)";
constexpr const char* peer_descriptor =
    "the peer ended the connection: it had no receive for a message of ours, or one that did not fit (Remote Descriptor Error, 42h)";
constexpr const char* peer_protocol = "the peer ended the connection: another error of it or of the protocol";

struct KnownCause {
  void (Failing::*provoke)();
  unsigned levels;
  unsigned classes;
  const char *at_client, *at_server;
};
constexpr KnownCause known_causes[] = {
    {&Failing::no_receive, reliable, class_3, peer_descriptor, by_no_receive},
    {&Failing::receive_too_small, reliable, class_3, peer_descriptor, by_length},
    {&Failing::receive_memory_gone, reliable, class_3, peer_descriptor, by_protection},
    {&Failing::write_refused, reliable, class_3, peer_protection, by_protection},
    {&Failing::write_immediate_refused, reliable, class_3, peer_protection, by_protection},
    {&Failing::read_refused, reliable, class_3, peer_protection, by_protection},
    {&Failing::read_source_gone, reliable, class_3, peer_protection, by_protection},
    {&Failing::send_frame_lost, reliable, class_3, peer_transport, by_transport},
    {&Failing::write_frame_lost, reliable, class_3, peer_protocol, by_transport},
    {&Failing::frame_of_another_length, reliable, class_3, peer_protocol, by_transport},
    {&Failing::send_of_bad_format, reliable, class_3, by_descriptor, peer_descriptor},
    {&Failing::send_memory_gone, reliable, class_3, by_descriptor, by_transport},
    {&Failing::read_target_gone, reliable, class_3, by_descriptor, by_transport},
    {&Failing::post_refused, every, class_3, by_descriptor, peer_descriptor},
    {&Failing::overrun, every, class_3, by_descriptor, peer_left},
    {&Failing::send_answered_transport, R, class_3, by_transport, ""},
    {&Failing::send_answered_descriptor, R, class_3, peer_descriptor, ""},
    {&Failing::write_answered_protection, R, class_3, peer_protection, ""},
    {&Failing::no_answer_to_send, R, class_3, by_transport, peer_transport},
    {&Failing::no_answer_to_read, reliable, class_3, by_transport, peer_transport},
    {&Failing::send_rejected, R, class_2, by_transport, peer_transport},
    {&Failing::peer_disconnects_in_the_middle, every, class_3, peer_left, ""},
    {&Failing::link_lost_in_the_middle, every, class_3, link_lost, peer_gone},
};
struct KnownInstance {
  KnownCause cause;
  Level level;
  friend std::ostream& operator<<(std::ostream& out, const KnownInstance& instance) { return out << instance.cause.at_client; }
};
std::vector<KnownInstance> known_instances() {
  std::vector<KnownInstance> all;
  for (const KnownCause& cause : known_causes)
    for (const auto& [bit, level] : {std::pair{U, Level::UnreliableDelivery}, {D, Level::ReliableDelivery}, {R, Level::ReliableReception}})
      if ((cause.levels & bit) != 0) all.push_back({cause, level});
  return all;
}
class KnownCauses : public Failing, public ::testing::WithParamInterface<KnownInstance> {
 public:
  KnownCauses() : Failing(GetParam().cause.classes == class_2) {}
};
INSTANTIATE_TEST_SUITE_P(Row, KnownCauses, ::testing::ValuesIn(known_instances()));

TEST_P(KnownCauses, connected_fails_bothEndsSayWhy) {
  begin(GetParam().level);
  EXPECT_EQ(cause_known(*client_vi), "");
  EXPECT_EQ(cause_known(*server_vi), "");
  (this->*GetParam().cause.provoke)();
  fabric.run_for(25 * fc2::second);
  EXPECT_EQ(cause_known(*client_vi), GetParam().cause.at_client);
  EXPECT_EQ(cause_known(*server_vi), GetParam().cause.at_server);
  const bool nobodys_error = GetParam().cause.at_client == peer_left;
  EXPECT_EQ(fcvi::Provider::end_cause(*client_vi).peer_left, nobodys_error);
  const std::string at_server = GetParam().cause.at_server;
  EXPECT_EQ(fcvi::Provider::end_cause(*server_vi).peer_left, at_server == peer_left || at_server == peer_gone);
}

/// A DISCONNECT_RQST of the server's with these flags and this code.
class ToldCause : public Failing, public ::testing::WithParamInterface<Level> {
 public:
  ToldCause() : Failing(false) {}
  void disconnect_with(unsigned flags, unsigned code) {
    support::ForgedFrame frame;
    frame.header = {.r_ctl = RCtl::unsolicited_control, .d_id = client->port.n_port_id(), .s_id = server->port.n_port_id(),
                    .type = wire::Type::fc_vi,
                    .f_ctl = wire::f_ctl::first_sequence | wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative,
                    .ox_id = {0x5001}, .rx_id = wire::RxId::unassigned};
    const wire::fcvi::DisconnectRqst rqst{.handle = wire::FcviHandle{handle++}, .status = {}};
    frame.set(rqst.to_device_header());
    frame.data[5] = static_cast<std::uint8_t>(flags);
    frame.data[13] = static_cast<std::uint8_t>(code);
    fabric.fabric.ingress_of(server->port)->receive(frame.build(fabric.pool));
    fabric.run_for(fc2::millisecond);
  }
  static const char* by_code(unsigned code) {
    switch (code) {
      case 0x40: case 0x46: return peer_transport;
      case 0x42: return peer_descriptor;
      case 0x41: case 0x43: case 0x47: return peer_protection;
      default: return peer_protocol;
    }
  }
  std::uint32_t handle = 1;
};
INSTANTIATE_TEST_SUITE_P(Level, ToldCause, support::all_levels, support::level_name);

// FC-VI Table 12, 5.9.7.3, 5.9.4.6: the code says what the peer met; where its application disconnects, or no code is there, it left.
TEST_P(ToldCause, connected_disconnected_codeSaysWhy) {
  constexpr unsigned conn_sts = 1, vi_app_discon = 2;
  for (unsigned code = 0x3F; code < 0x4D; ++code) {
    SCOPED_TRACE(code);
    begin(GetParam(), std::to_string(code));
    disconnect_with(conn_sts, code);
    EXPECT_EQ(cause_known(*client_vi), by_code(code));
    EXPECT_FALSE(fcvi::Provider::end_cause(*client_vi).peer_left);
  }
  for (const auto& [flags, code] : {std::pair{0u, 0u}, {0u, 0x42u}, {conn_sts | vi_app_discon, 0x42u}, {vi_app_discon, 0u}}) {
    SCOPED_TRACE(flags);
    begin(GetParam(), std::to_string(flags) + " and " + std::to_string(code));
    disconnect_with(flags, code);
    EXPECT_EQ(cause_known(*client_vi), peer_left);
    EXPECT_TRUE(fcvi::Provider::end_cause(*client_vi).peer_left);
  }
}

// VI-DG 3.3.5, FC-VI 8.6.3 a): nobody answers VipDisconnect: the VI stays in Error, by its own doing.
TEST_P(ToldCause, connected_disconnectUnanswered_wasOurs) {
  begin(GetParam());
  faults.on_control = [](const wire::FcHeader&) { return lose; };
  EXPECT_EQ(disconnect(*client, *client_vi), vi::Return::NotReachable);
  EXPECT_EQ(cause_known(*client_vi), by_us);
}

// The first cause stays, whatever follows: a descriptor here, then the peer's DISCONNECT_RQST, then VipDisconnect.
TEST_P(ToldCause, ended_endsAgain_firstCauseStays) {
  begin(GetParam());
  post_refused();
  fabric.run_for(fc2::millisecond);
  disconnect_with(1, 0x40);
  faults.on_control = [](const wire::FcHeader&) { return lose; };
  disconnect(*client, *client_vi);
  EXPECT_EQ(cause_known(*client_vi), by_descriptor);
}

// VI-DG 5.2, 6.2, 3.8.1, VI-ARCH 7.1 to 7.3, FC-VI 5.9.7.3.1, 5.9.7.3.2, Table 12; D.1 rule 1 a): each row of the table above.
TEST_P(Failures, connected_fails) {
  const Cause& cause = GetParam().cause;
  begin(GetParam().level);
  (this->*cause.provoke)();
  fabric.run_for(25 * fc2::second);
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
  if (ends) disconnect(*client, *client_vi);
  else fabric.run_for(fc2::second), disconnect(*client, *client_vi);
  EXPECT_EQ(code(true), cause.client_code);
  EXPECT_EQ(code(false), cause.server_code);
  EXPECT_EQ(told(*server, *server_vi), cause.server_told) << "told again by the disconnects";
  EXPECT_EQ(told(*client, *client_vi), ends ? cause.client_told : lost) << "told again by the disconnects";
  fabric.run_for(25 * fc2::second);  // 8.4.2 f): R_A_TOV after both ended, nothing is left of the connection
  EXPECT_EQ(client->provider.handles_in_use(), 0u);
  EXPECT_EQ(server->provider.handles_in_use(), 0u);
}

class WrongSeqCnt : public Failing, public ::testing::WithParamInterface<std::tuple<bool, bool, int>> {
 public:
  WrongSeqCnt() : Failing(false, std::get<0>(GetParam())) {}
};
INSTANTIATE_TEST_SUITE_P(InOrderEpochFrame, WrongSeqCnt,
                         ::testing::Combine(::testing::Bool(), ::testing::Bool(), ::testing::Values(0, 2, 3)));

// FC-VI 5.8.6, B.2.5 rules 6b to 6e, 5.9.7.3 (ruling 290): in order a SEQ_CNT that is not SCexp says that frames are missing (6d): 40h. Out of
// order nothing says that (6e): where the offset goes on and SEQ_CNT does not, the frame contradicts its message (6b, "this is a Protocol
// Error"): 48h, whether something else is missing at that moment or not.
TEST_P(WrongSeqCnt, receiving_offsetRight_oneAnswer) {
  const auto [in_order, epoch, number] = GetParam();
  begin(Level::ReliableDelivery);
  faults.on_frame = [=, epoch = epoch && !in_order, number = number](MessageFrame& frame) {
    if (!frame.from_client) return pass;
    if (epoch && frame.header.msg_id.value == 1) return support::late(fc2::second);
    if (frame.header.tot_len_or_connection_id == length && frame.header.msg_id.value == 2 && frame.fc.seq_cnt.value == number)
      frame.fc.seq_cnt.value += 7, frame.rewrite();
    return pass;
  };
  post_receive(), post_receive(), post_send(8), post_send(length);
  fabric.run_for(5 * fc2::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  disconnect(*server, *server_vi);
  EXPECT_EQ(code(false), in_order ? "40" : "48");
}

}  // namespace
