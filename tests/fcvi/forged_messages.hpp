// Messages of the client that a test hands in to the server frame by frame, right or wrong, in any order: their sender
// knows nothing of them. A frame has 100 bytes of its message unless it is said otherwise.
#pragma once
#include "fcvi/epoch.hpp"
#include "tests/fcvi/class_2_nodes.hpp"

namespace support {

class ForgedMessages : public MessageNodes {
 public:
  using Opcode = wire::fcvi::Opcode;
  struct Options {
    bool in_order = false, class_2 = false;
    std::uint64_t pool_bytes = 64u << 20;
    runtime::TimeNs ulp_timeout = 0;
    std::uint16_t max_exchanges = 4096;
  };
  static constexpr std::uint32_t part = 100;
  static constexpr std::uint64_t target = Host::data + (8u << 20);  // of RDMA, at the server
  static constexpr std::size_t book = fcvi::OpenMessage::pool_bytes(), held = fcvi::OpenMessage::held_bytes;
  static constexpr std::uint32_t ends =
      wire::f_ctl::end_sequence | wire::f_ctl::last_sequence | wire::f_ctl::sequence_initiative;

  ForgedMessages() : ForgedMessages(Options{}) {}
  explicit ForgedMessages(const Options& options)
      : MessageNodes(
            {.address = {},
             .reorder_pool_bytes = options.pool_bytes,
             .class_2 = options.class_2,
             .ulp_timeout = options.ulp_timeout},
            [=](fc2::NPortConfig& config, std::size_t) {
              config.end_to_end_credit = options.class_2 ? 6 : 0;
              config.max_exchanges = options.max_exchanges;
            },
            fabric_order(options.in_order)),
        class_2_(options.class_2) {}
  void begin(Level level, std::string_view name = "service") {
    MessageNodes::begin(level, name);
    prepare(level);
  }
  /// The server accepts, the client is Connected; RESP2, RESP3 have these fates.
  void begin_setup(Level level, Fate resp2, Fate resp3) {
    faults.on_control = [=, this, resp1 = true](const wire::FcHeader& fc) mutable {
      if (fc.type != wire::Type::fc_vi || fc.r_ctl != wire::RCtl::solicited_control) return pass;
      if (fc.s_id == client->port.n_port_id()) return resp2;
      return std::exchange(resp1, false) ? pass : resp3;
    };
    client_vi = &client->make_vi(level), server_vi = &server->make_vi(level);
    connect_made();
  }
  /// The VIs are made.
  void connect_made() {
    const Level level = client_vi->attributes().reliability;
    server->provider.connect_wait(server->net("early"), runtime::second, wait);
    client->provider.connect_request(*client_vi, client->net("c"), server->net("early"), runtime::second, request);
    ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
    server->provider.connect_accept(wait.token, *server_vi, accept);
    ASSERT_TRUE(fabric.run_until([&] { return client_vi->can_transmit(); }));
    log.clear();
    prepare(level);
  }

  /// `bytes` at `offset` of a message of `total`, as its frame `number`.
  [[nodiscard]] ForgedFrame bytes_of(Opcode opcode, std::uint32_t id, std::uint32_t total, std::uint32_t offset,
                                     std::uint32_t bytes, std::uint32_t number) const {
    const bool read = opcode == Opcode::read_rqst;
    wire::fcvi::DeviceHeader device = header;
    device.opcode = opcode, device.msg_id = {id}, device.tot_len_or_connection_id = total;
    return forged_message(server->port.n_port_id(), client->port.n_port_id(), device,
                          {.offset = offset,
                           .bytes = bytes,
                           .number = number,
                           .last = read || offset + bytes == total,
                           .answered = read || level_ == Level::ReliableReception,
                           .content = letter(id),
                           .class_2 = class_2_});
  }
  [[nodiscard]] ForgedFrame frame(Opcode opcode, std::uint32_t id, std::uint32_t number, std::uint32_t frames) const {
    return bytes_of(opcode, id, frames * part, number * part, part, number);
  }
  void give(const ForgedFrame& frame) { server->port.receive(frame.build(fabric.pool)); }
  void give_send(std::uint32_t id, std::uint32_t number = 0, std::uint32_t frames = 1) {
    give(frame(Opcode::send_rqst, id, number, frames));
  }
  void give_write(std::uint32_t id, std::uint32_t number = 0, std::uint32_t frames = 1) {
    give(frame(Opcode::write_rqst, id, number, frames));
  }
  void give_empty_send(std::uint32_t id) { give(bytes_of(Opcode::send_rqst, id, 0, 0, 0, 0)); }
  void give_read(std::uint32_t id, std::uint32_t bytes = part) {
    give(bytes_of(Opcode::read_rqst, id, bytes, 0, 0, 0));
  }
  void give_abts(std::uint32_t id) { give(as_abts(frame(Opcode::send_rqst, id, 0, 1))); }
  /// The first frame of another IU on the exchange of that message.
  void give_control(std::uint32_t id) {
    ForgedFrame control = frame(Opcode::send_rqst, id, 0, 2);
    control.header.r_ctl = wire::RCtl::unsolicited_control;
    give(control);
  }
  /// Class 2: "ok", "abort" (8.4.2 h) or "busy"; "" for none.
  std::string answer_to(const ForgedFrame& frame) {
    log.clear();
    give(frame);
    fabric.run_for(20 * runtime::microsecond);
    std::string answer;
    for (const LoggedFrame& seen : log.frames()) {
      if (seen.outbound || seen.header.ox_id != frame.header.ox_id) continue;
      if (seen.is(wire::RCtl::ack_1)) answer += seen.header.has(wire::f_ctl::abort_perform_abts) ? "abort" : "ok";
      if (seen.is(wire::RCtl::p_bsy)) answer += "busy";
    }
    return answer;
  }

  /// Bytes of message `id` in the server's buffer `receive`, or at `at`.
  [[nodiscard]] std::ptrdiff_t placed(std::size_t receive, std::uint32_t id) {
    return placed_at(server->data + receive * slot, id);
  }
  [[nodiscard]] std::ptrdiff_t placed_at(std::uint64_t at, std::uint32_t id) {
    return std::count(server->bytes(at), server->bytes(at) + 4096, letter(id));
  }
  [[nodiscard]] std::uint64_t pool() const { return server->provider.reorder_bytes(); }
  [[nodiscard]] std::uint64_t refused_by_pool() const { return server->provider.counters().reorder_pool_full; }
  /// What the error handler of the server heard, in order.
  [[nodiscard]] std::string told() const {
    std::string all;
    for (const AsyncError& error : server->errors)
      all += (all.empty() ? "" : ", ") + std::string(to_string(error.error));
    return all;
  }
  /// FCVI_MSG_ID and FCVI_FLAGS of each response, in hex; a READ_RESP once.
  [[nodiscard]] std::string responses() const {
    std::string all, latest;
    for (const LoggedFrame& seen : log.frames()) {
      const bool read_data = seen.is(wire::RCtl::solicited_data) && seen.header.has(wire::f_ctl::exchange_responder);
      if (seen.outbound || !(read_data || seen.is(wire::RCtl::command_status))) continue;
      char one[16];
      std::snprintf(one, sizeof one, "%d:%02X", seen.data[11], static_cast<unsigned>(seen.data[5]));
      EXPECT_EQ(seen.header.ox_id.value, 0x5000u + seen.data[11]);
      if (latest != one) all += (all.empty() ? "" : " ") + std::string(one);
      latest = one;
    }
    return all;
  }
  /// The Reason Code of the server's DISCONNECT_RQST; 0 if there is none.
  [[nodiscard]] unsigned disconnect_reason() const {
    const auto* told =
        log.find([](const LoggedFrame& f) { return !f.outbound && f.is(wire::RCtl::unsolicited_control); });
    return told == nullptr ? 0 : wire::fcvi::DeviceHeader::parse(32, told->data)->parameter >> 16;
  }
  static constexpr std::uint32_t received_well = vi::status::done | vi::status::op_receive;

  wire::fcvi::DeviceHeader header;  // of what is handed in

 private:
  void prepare(Level level) {
    level_ = level;
    header.handle = {0x1000 + ++connections_};
    header.rmt_va = target, header.rmt_va_handle = server->handle;  // reserved in a Send
  }
  static std::uint8_t letter(std::uint32_t id) { return static_cast<std::uint8_t>('a' + id % 26); }
  bool class_2_;
  Level level_{};
  std::uint32_t connections_ = 0;
};

class ForgedAtLevel : public ForgedMessages, public ::testing::WithParamInterface<Level> {
 public:
  using ForgedMessages::ForgedMessages;
  [[nodiscard]] static bool unreliable() { return GetParam() == Level::UnreliableDelivery; }
  [[nodiscard]] static bool reception() { return GetParam() == Level::ReliableReception; }
  void begin(std::string_view name = "service") { ForgedMessages::begin(GetParam(), name); }
};

}  // namespace support
