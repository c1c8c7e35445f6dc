// One message of the client, or a descriptor or VI of either end, fails in a way of its own. Written down as words:
// what the descriptors say, what the error handlers of both ends hear, and which code every DISCONNECT_RQST of
// either end tells.
#pragma once
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/own_memory.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace support {

class FailureNodes : public MessageNodes {
 public:
  static constexpr std::uint32_t large = 60'000;  // 29 frames, 600 us
  static constexpr std::uint64_t apart = Host::data + (8u << 20);

  explicit FailureNodes(bool class_2, bool in_order = true)
      : MessageNodes(
            {.address = {}, .class_2 = class_2},
            [=](fc2::NPortConfig& config, std::size_t) { config.end_to_end_credit = class_2 ? 6 : 0; },
            fabric_order(in_order)) {}

  // --- what the client asks for; its status is `client_word`
  void post(std::uint64_t descriptor) { client_vi->post_send(asked = descriptor, client->handle); }
  void post_send(std::uint32_t bytes) { post(client->descriptor(0, {{client->data, bytes}})); }
  void post_rdma(std::uint16_t operation, std::uint32_t bytes, std::uint64_t remote, wire::MemHandle handle) {
    post(client->descriptor(operation, {{client->data, bytes}}, remote, handle));
  }
  // --- what the server posts; its status is `server_word`
  void post_receive(std::uint64_t descriptor) { server_vi->post_receive(posted = descriptor, server->handle); }
  void post_receive() { post_receive(server->descriptor(0, {{server->data, slot}})); }
  /// 200 us pass, then this memory is not registered any more.
  void take_away(Host& host, wire::MemHandle handle, std::uint64_t at = apart) {
    fabric.run_for(200 * runtime::microsecond);
    ASSERT_EQ(host.nic.memory().deregister(at, handle), vi::Return::Success);
  }

  // --- what came of it
  [[nodiscard]] std::string client_word() const { return asked == 0 ? "" : word(client->status(asked)); }
  [[nodiscard]] std::string server_word() const { return posted == 0 ? "" : word(server->status(posted)); }
  [[nodiscard]] static std::string told(const Host& host, const vi::Vi& vi) {
    std::string all;
    for (const AsyncError& error : host.errors)
      if (error.vi == &vi) all += (all.empty() ? "" : ", ") + std::string(to_string(error.error));
    return all;
  }
  /// As known when Connection Lost was told: Provider::end_cause().
  [[nodiscard]] static std::string cause_told(const Host& host, const vi::Vi& vi) {
    for (const AsyncError& error : host.errors)
      if (error.vi == &vi && error.error == vi::ErrorCode::ConnLost) return error.cause;
    return "nothing told";
  }
  [[nodiscard]] static std::string cause_known(const vi::Vi& vi) {
    return std::string(fcvi::Provider::end_cause(vi).text);
  }
  /// Of all DISCONNECT_RQSTs of one end: its code in hex, or "none"; several differing ones joined.
  [[nodiscard]] std::string code(bool of_client) const {
    std::vector<std::string> codes;
    for (const LoggedFrame& frame : log.frames()) {
      if (!is_disconnect_rqst(frame) || frame.outbound != of_client) continue;
      const auto status = wire::fcvi::DisconnectRqst::parse(frame.data)->status;
      char code[8] = "none";
      if (status) std::snprintf(code, sizeof code, "%02X", static_cast<unsigned>(status->reason));
      if (std::find(codes.begin(), codes.end(), code) == codes.end()) codes.emplace_back(code);
    }
    std::string all;
    for (const std::string& one : codes) all += (all.empty() ? "" : " and ") + one;
    return all;
  }
  [[nodiscard]] static bool is_disconnect_rqst(const LoggedFrame& frame) {
    return frame.is(wire::RCtl::unsolicited_control) && frame.data.size() >= 32 &&
           frame.data[4] == static_cast<std::uint8_t>(wire::fcvi::Opcode::disconnect_rqst);
  }
  static std::string word(std::uint32_t status) {
    if ((status & vi::status::done) == 0) return "open";
    static constexpr std::pair<std::uint32_t, const char*> names[] = {
        {vi::status::format_error, "format"},
        {vi::status::protection_error, "protection"},
        {vi::status::length_error, "length"},
        {vi::status::partial_error, "partial"},
        {vi::status::flushed, "flushed"},
        {vi::status::transport_error, "transport"},
        {vi::status::rdma_protection_error, "rdma protection"},
        {vi::status::remote_descriptor_error, "remote descriptor"}};
    std::string all;
    for (const auto& [bit, name] : names)
      if ((status & bit) != 0) all += (all.empty() ? "" : ", ") + std::string(name);
    return all.empty() ? "well" : all;
  }

  std::uint64_t asked = 0, posted = 0;
};

}  // namespace support
