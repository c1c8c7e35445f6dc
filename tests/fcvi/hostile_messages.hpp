// A connected VI of ours in the midst of messages, either way, and a peer whose further frames are forged
// (FC-VI 5.2, 8.4).
//
// The peer's messages have one part of `part` bytes each in a frame of its own, or four: the third ends an IU, the
// fourth is the second IU. Our own are longer, or what the peer reads.
#pragma once
#include "fc2_fabric/node/class_2.hpp"
#include "tests/fcvi/hostile_situations.hpp"

namespace support {

/// What the forged frames are compared with: level, order and class.
struct MessageWorld {
  Besieged::Level level = Besieged::Level::UnreliableDelivery;
  bool in_order = true, class_2 = false;
};

class BesiegedMessages : public Besieged {
 public:
  explicit BesiegedMessages(const MessageWorld& world)
      : Besieged(
            world.level, {.address = {}, .class_2 = world.class_2},
            {.latency_ns = runtime::microsecond, .bytes_per_second = 50'000'000},
            [=](fc2::NPortConfig& config, std::size_t) {
              config.end_to_end_credit = world.class_2 ? std::uint16_t{8} : std::uint16_t{0};
            },
            order_of(world)),
        class_2_(world.class_2) {}

  // --- situations: the peer's messages ---------------------------------------------------------------------------
  void expecting() { connected_responder(), post_receives(); }
  void expecting_long() { expecting(), begin(Opcode::send_rqst); }
  void receiving_send() { expecting_long(), take(1); }
  void receiving_iu_end() { expecting_long(), take(2); }
  void receiving_last() { expecting_long(), take(3); }
  void receiving_write() { expecting(), begin(Opcode::write_rqst), take(1); }
  void receiving_write_iu_end() { expecting(), begin(Opcode::write_rqst), take(2); }
  void receiving_write_last() { expecting(), begin(Opcode::write_rqst), take(3); }
  /// No receive is posted: a message of several frames is refused at its end.
  void refusing() { connected_responder(), begin(Opcode::send_rqst), take(1); }
  void refusing_last() { connected_responder(), begin(Opcode::send_rqst), take(3); }
  /// The second part of message 1 was lost.
  void merr() {
    receiving_send();
    ++parts_;
    take(1);
    finish();
  }
  /// As before, where that is the end of the connection.
  void herr() { merr(); }
  /// The last part came, the third did not: it waits.
  void early() {
    receiving_iu_end();
    ++parts_;
    inject(request(message_));
    --parts_;
  }
  void answering_read() {
    expecting();
    std::uint8_t* from = victim().bytes(read_source);
    for (std::uint32_t at = 0; at < read_bytes; ++at) from[at] = content(source_message, at);
    ForgedFrame frame = request(Opcode::read_rqst);
    frame.set_word(7, read_bytes);
    reads_of_ = message_id_;
    inject(frame);
    finish();
  }
  void await_resp2_of_setup() { await_resp2(), post_receives(); }
  void await_resp3_of_setup() { await_resp3(), post_receives(); }
  void await_resp3_sent() { await_resp3_of_setup(), post_send(part), settle(); }

  // --- situations: our messages ----------------------------------------------------------------------------------
  void await_send_resp() { expecting(), post_send(part), ask(Opcode::send_resp, 1); }
  void await_write_resp() { expecting(), post_write(), ask(Opcode::write_resp, 1); }
  void await_read_data() { expecting(), post_read(), ask(Opcode::read_resp, 4); }
  void reading() { await_read_data(), take_answer(1); }
  void reading_iu_end() { await_read_data(), take_answer(2); }
  void reading_last() { await_read_data(), take_answer(3); }
  void sending() { expecting(), post_send(read_bytes), ask(Opcode::send_resp, 1), answer_due_ = false; }

  // --- frames ----------------------------------------------------------------------------------------------------
  /// What the peer would send now: the next of the open message, or a new one behind it; the answer that we wait for,
  /// or to nothing.
  [[nodiscard]] ForgedFrame right(Opcode opcode) { return is_request(opcode) ? request(opcode) : response(opcode); }
  /// What follows it, as it should be: with `replaces` the one before was sent instead of the right one. Then
  /// one message more.
  void go_on(Opcode opcode, bool replaces) {
    const bool behind = is_request(opcode) && opens_other(opcode);
    if (replaces && is_request(opcode) && !behind) message_ = opcode, ++parts_;
    if (replaces && opcode == answer_) ++answered_;
    fabric.run_for(2 * runtime::millisecond);  // what we send is out
    answer_due_ = true;
    if (class_2_ && answer_ == Opcode::send_resp && of_answers_ == 0) acknowledge();
    if (message_ == Opcode::read_rqst) of_ = 1;
    while (of_ > 1 && parts_ < of_) take(1);
    while (answered_ < of_answers_) take_answer(1);
    if (parts_ != 0) finish();
    if (replaces && behind) finish();
    take(1);
  }
  void inject(const ForgedFrame& forged) {
    put(forged);
    fabric.run_for(200 * runtime::microsecond);  // four long frames of ours
  }
  [[nodiscard]] static bool is_request(Opcode opcode) {
    return wire::fcvi::find_iu(opcode)->category == wire::fcvi::Category::message_request;
  }
  /// It begins another message while one is open.
  [[nodiscard]] bool opens_other(Opcode opcode) const { return parts_ != 0 && opcode != message_; }
  /// It is the answer that is awaited.
  [[nodiscard]] bool answers(Opcode opcode) const {
    return answer_due_ && opcode == answer_ && answered_ < of_answers_;
  }
  /// The FCVI_MSG_ID of the peer's RDMA Read that we answer.
  [[nodiscard]] std::uint32_t reads_of() const { return reads_of_; }
  [[nodiscard]] bool is_class_2() const { return class_2_; }

  static std::uint8_t content(std::uint32_t message, std::uint32_t at) {
    return static_cast<std::uint8_t>(1 + (message * 37 + at * 11 + (at >> 8) * 5) % 255);
  }
  static constexpr std::uint32_t part = 200, parts = 4, slot = 4096, read_bytes = 40'000, receive_count = 4,
                                 source_message = 77;
  static constexpr std::uint32_t immediate = 0xC0FFEE;
  static constexpr std::uint64_t receive_at = Host::data, write_target = Host::data + (8u << 20),
                                 read_source = Host::data + (9u << 20), read_target = Host::data + (10u << 20),
                                 send_source = Host::data + (11u << 20);
  std::vector<std::uint64_t> receives, sends;  // descriptors of the victim

 private:
  static fc2::SwitchConfig order_of(const MessageWorld& world) {
    fc2::SwitchConfig config;
    config.in_order = world.in_order;
    return config;
  }
  void settle() { fabric.run_for(60 * runtime::microsecond); }

  void post_receives() {
    for (std::uint32_t i = 0; i < receive_count; ++i) {
      receives.push_back(victim().descriptor(0, {{receive_at + i * slot, slot}}));
      besieged().post_receive(receives.back(), victim().handle);
    }
  }
  void post(std::uint64_t descriptor) {
    sends.push_back(descriptor);
    besieged().post_send(descriptor, victim().handle);
  }
  void post_send(std::uint32_t bytes) { post(victim().descriptor(0, {{send_source, bytes}})); }
  void post_write() {
    post(victim().descriptor(vi::control::op_rdma_write, {{send_source, part}}, peer_memory, peer().handle));
  }
  void post_read() {
    post(victim().descriptor(vi::control::op_rdma_read, {{read_target, parts * part}}, peer_memory, peer().handle));
  }
  /// What was posted goes, and an answer to it is due, of that many frames.
  void ask(Opcode answer, unsigned frames) {
    log.clear();
    settle();
    ASSERT_FALSE(log.frames().empty());
    asked_ = log.frames().front().header;
    const bool answered = answer == Opcode::read_resp || level() == Level::ReliableReception;
    answer_ = answer;
    of_answers_ = answered ? frames : 0;
  }
  /// Class 2: the first frame that we sent.
  void acknowledge() {
    victim().port.receive(fc2::make_link_control(fabric.pool, asked_, wire::RCtl::ack_1, 1, 0));
    settle();
  }

  void begin(Opcode message) { message_ = message, of_ = parts; }
  void finish() { ++message_id_, parts_ = 0, of_ = 1, message_ = Opcode::send_rqst; }
  void take(unsigned count) {
    for (; count != 0; --count) inject(request(message_)), ++parts_;
  }
  void take_answer(unsigned count) {
    for (; count != 0; --count) inject(response(answer_)), ++answered_;
  }

  [[nodiscard]] ForgedFrame request(Opcode opcode) {
    const bool read = opcode == Opcode::read_rqst, other = opens_other(opcode);
    const unsigned number = other ? 0 : parts_, of = other || read ? 1 : of_;
    const std::uint32_t id = message_id_ + (other ? 1 : 0);
    wire::fcvi::DeviceHeader header{
        .handle = victims_handle(), .opcode = opcode, .msg_id = {id}, .tot_len_or_connection_id = of * part};
    if (opcode == Opcode::send_rqst) header.flags = 1, header.parameter = immediate + id;
    if (!(opcode == Opcode::send_rqst)) {
      header.rmt_va = read ? read_source : write_target;
      header.rmt_va_handle = victim().handle;
    }
    ForgedFrame frame = made(header, number, of, read ? 0 : id);
    frame.header.ox_id = {static_cast<std::uint16_t>(0x4000 + id)};
    const bool wants_answer = read || level() == Level::ReliableReception;
    if (number < 3) frame.header.f_ctl |= wire::f_ctl::first_sequence;
    if (number + 1 == of)
      frame.header.f_ctl |= wants_answer ? wire::f_ctl::sequence_initiative : wire::f_ctl::last_sequence;
    return frame;
  }
  [[nodiscard]] ForgedFrame response(Opcode opcode) {
    const bool read = opcode == Opcode::read_resp;
    wire::fcvi::DeviceHeader header{.handle = victims_handle(), .opcode = opcode, .msg_id = wire::MsgId::first};
    if (read)
      header.rmt_va = peer_memory, header.rmt_va_handle = peer().handle, header.tot_len_or_connection_id = parts * part;
    const unsigned number = answers(opcode) ? answered_ : 0, of = answers(opcode) ? of_answers_ : 1;
    ForgedFrame frame = made(header, number, of, read ? source_message : 0);
    frame.header.f_ctl |= wire::f_ctl::exchange_responder;
    frame.header.ox_id = asked_.ox_id;
    if (number + 1 == of) frame.header.f_ctl |= wire::f_ctl::last_sequence;
    return frame;
  }
  /// Part `number` of `of`, with the contents of that message; 0: without payload.
  [[nodiscard]] ForgedFrame made(const wire::fcvi::DeviceHeader& header, unsigned number, unsigned of,
                                 std::uint32_t message) {
    const bool starts = number == 0 || number == 3, ends = number + 1 == of || number == 2;
    const std::uint32_t bytes = message == 0 ? 0 : part;
    ForgedFrame frame;
    frame.header = {.r_ctl = wire::fcvi::find_iu(header.opcode)->r_ctl,
                    .d_id = victim().port.n_port_id(),
                    .s_id = peer().port.n_port_id(),
                    .type = wire::Type::fc_vi};
    frame.header.df_ctl = wire::df_ctl::with_device_header(header.size());
    frame.header.f_ctl = wire::f_ctl::relative_offset_present | (ends ? wire::f_ctl::end_sequence : 0);
    if (class_2_) frame.header.f_ctl |= wire::f_ctl::ack_form_ack_1;
    frame.header.seq_id = {static_cast<std::uint8_t>(2 * header.msg_id.value + number / 3)};
    frame.header.seq_cnt = {static_cast<std::uint16_t>(number)};
    frame.header.parameter = number * bytes;
    frame.sof = class_2_ ? (starts ? wire::Sof::i2 : wire::Sof::n2) : starts ? wire::Sof::i3 : wire::Sof::n3;
    frame.eof = ends && !class_2_ ? wire::Eof::t : wire::Eof::n;
    frame.data.resize(header.size() + bytes);
    header.write(frame.data);
    for (std::uint32_t at = 0; at < bytes; ++at) frame.data[header.size() + at] = content(message, number * part + at);
    return frame;
  }

  static constexpr std::uint64_t peer_memory = Host::data;
  const bool class_2_;
  Opcode message_ = Opcode::send_rqst;  // that the peer sends
  std::uint32_t message_id_ = 1, reads_of_ = 0;
  unsigned parts_ = 0, of_ = 1;             // that came of it, and that it has
  Opcode answer_ = Opcode::connect_rqst;    // that is awaited; this: none
  unsigned answered_ = 0, of_answers_ = 0;  // its frames
  bool answer_due_ = true;
  wire::FcHeader asked_;  // what it answers
};

}  // namespace support
