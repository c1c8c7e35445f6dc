// Two nodes, and every way in which a connection of theirs may end or a descriptor fail.
#pragma once
#include "tests/fcvi/failure_nodes.hpp"
#include "wire/fcvi/message_status.hpp"

namespace support {

class Failing : public FailureNodes {
 public:
  using FailureNodes::FailureNodes;

  // --- found by the server, in what comes in
  void no_receive() { post_send(100); }
  void receive_too_small() { post_receive(server->descriptor(0, {{server->data, 500}})), post_send(1000); }
  void receive_too_small_for_frames() { post_receive(server->descriptor(0, {{server->data, 500}})), post_send(length); }
  void receive_of_bad_format() {
    post_receive(server->descriptor(vi::control::op_rdma_write, {{server->data, slot}})), post_send(100);
  }
  void receive_memory_gone() {
    const auto own = register_own(*server, apart, slot);
    post_receive(own_descriptor(*server, apart, own, slot)), post_send(large);
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
    post_receive(), post_rdma(vi::control::op_rdma_write | vi::control::immediate, large, apart, own),
        take_away(*server, own);
  }
  void read_refused() { post_rdma(vi::control::op_rdma_read, 100, 1, server->handle); }
  void read_source_gone() {
    const auto own = register_own(*server, apart, slot);
    post_rdma(vi::control::op_rdma_read, large, apart, own), take_away(*server, own);
  }
  void send_frame_lost() { faults.on_frame = to_frame(1, lose), post_receive(), post_send(length); }
  void write_frame_lost() {
    faults.on_frame = to_frame(1, lose), post_rdma(vi::control::op_rdma_write, length, server->data, server->handle);
  }
  void write_immediate_frame_lost() {
    faults.on_frame = to_frame(1, lose), post_receive();
    post_rdma(vi::control::op_rdma_write | vi::control::immediate, length, server->data, server->handle);
  }
  void message_lost() { faults.on_frame = to_frame(0, lose), post_receive(), post_send(100), post_send(100); }
  void frame_of_another_length() {  // rule 6b: a Sequence error
    faults.on_frame = [](MessageFrame& frame) {
      if (frame.from_client && frame.number == 1) ++frame.header.tot_len_or_connection_id, frame.rewrite();
      return pass;
    };
    post_receive(), post_send(length);
  }
  void message_twice() {  // rule 5a
    faults.on_frame = to_frame(0, twice), post_receive(), post_send(100);
  }

  // --- found by the client, in its own
  void send_of_bad_format() { post(client->descriptor(0x8000, {{client->data, 100}})); }
  void send_of_others_memory() { post(own_descriptor(*client, client->data, wire::MemHandle{0x5A5A}, 100)); }
  void send_of_wrong_length() {
    const auto at = client->descriptor(0, {{client->data, 100}});
    auto control = client->control(at);
    control.length_bytes = 99;
    client->put(at, control), post(at);
  }
  void send_memory_gone() {
    const auto own = register_own(*client, apart, slot);
    post_receive(), post(own_descriptor(*client, apart, own, large)), take_away(*client, own);
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
  void overrun() { client->overrun(*client_vi); }
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
    answer_with({.resp_err = true, .prot_err = true}),
        post_rdma(vi::control::op_rdma_write, 100, server->data, server->handle);
  }
  void write_answered_descriptor() {
    answer_with({.resp_err = true, .desc_err = true}),
        post_rdma(vi::control::op_rdma_write, 100, server->data, server->handle);
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
      fabric.fabric.ingress_of(server->port)
          ->receive(fc2::make_link_control(fabric.pool, frame.fc, wire::RCtl::p_rjt, 0x01010000));
      return lose;
    };
  }
  void send_rejected() { reject(0), post_receive(), post_send(100); }
  void send_rejected_in_the_middle() { reject(8), post_receive(), post_send(large); }
  void write_rejected_in_the_middle() {
    reject(8), post_rdma(vi::control::op_rdma_write, large, server->data, server->handle);
  }
  void read_rejected() { reject(0), post_rdma(vi::control::op_rdma_read, 100, server->data, server->handle); }

  // --- the other end, or the way to it
  void peer_disconnects_in_the_middle() {
    post_receive(), post_send(large);
    fabric.run_for(200 * runtime::microsecond);
    server->provider.disconnect(*server_vi, ended);
  }
  void link_lost_in_the_middle() {
    post_receive(), post_send(large);
    fabric.run_for(200 * runtime::microsecond);
    fabric.detach(0);
    away = true;
  }
  ~Failing() override {
    if (away) fabric.attach(0);
  }
  Done ended;
  bool away = false;
};

// At which levels and in which classes a cause is.
namespace levels_and_classes {
enum Levels : unsigned { U = 1, D = 2, R = 4, reliable = D | R, every = U | D | R };
enum Classes : unsigned { class_2 = 1, class_3 = 2, both = class_2 | class_3 };
}  // namespace levels_and_classes

// What is told of the two causes that most tests meet.
inline constexpr const char* by_transport =
    "frames or answers of the peer did not come in time, or not as they should (transport error)";
inline constexpr const char* by_descriptor = "a descriptor of this VI failed before";

}  // namespace support
