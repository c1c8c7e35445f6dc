// What two consumers do with one connection, from the set-up to its end, and all that they see of it, as a text. The
// same text whatever becomes of the octets below.
#pragma once
#include <sstream>

#include "tests/vitcp/two_hosts.hpp"

namespace vitcp::testing {

class Conversation {
 public:
  static constexpr std::size_t long_bytes = 700;

  Conversation(TwoHosts& hosts, vi::ReliabilityLevel level)
      : hosts_(hosts), level_(level), a_(*hosts.client, hosts.client->create(level)),
        b_(*hosts.server, hosts.server->create(level)) {
    a_.set_remote(hosts.server->handle);
    b_.set_remote(hosts.client->handle);
  }
  ~Conversation() {
    hosts_.client->close();
    hosts_.server->close();
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// Until nothing goes on any more: as much of it as the network lets come to be.
  void hold() {
    hosts_.server->provider.connect_wait(hosts_.server->at("x"), runtime::never, wait_);
    hosts_.client->provider.connect_request(a_.vi, hosts_.client->at("y"), hosts_.server->at("x"),
                                            500 * runtime::millisecond, request_);
    hosts_.run_until([&] { return wait_.result.has_value() || request_.result.has_value(); });
    if (wait_.result) hosts_.server->provider.connect_accept(wait_.token, b_.vi, accept_);
    if (!wait_.result) hosts_.server->provider.withdraw(wait_);
    hosts_.run_until([&] { return request_.result.has_value(); });
    hosts_.run(10 * runtime::millisecond);
    post();
    hosts_.run(runtime::second);
    hosts_.client->provider.disconnect(a_.vi, disconnect_a_);
    hosts_.run(3 * runtime::second);
    hosts_.server->provider.disconnect(b_.vi, disconnect_b_);
    hosts_.run(3 * runtime::second);
  }
  [[nodiscard]] bool calls_returned() const {
    return request_.result && disconnect_a_.result && disconnect_b_.result && (!wait_.result || accept_.result);
  }
  [[nodiscard]] bool connected() const { return request_.result == vi::Return::Success; }
  [[nodiscard]] vi::Vi& client_vi() { return a_.vi; }
  [[nodiscard]] vi::Vi& server_vi() { return b_.vi; }

  [[nodiscard]] std::string seen() const {
    std::ostringstream text;
    text << to_string(*request_.result) << " sends";
    for (std::size_t i = 0; i != sends_; ++i) text << ' ' << shown(a_.send_error(i));
    text << " receives";
    for (std::size_t i = 0; i != receives_; ++i)
      text << ' ' << shown(b_.receive_error(i)) << " '" << received(i) << "'";
    text << " written '" << text_at(written_) << "' read '" << (read_ == nullptr ? "" : text_at(read_)) << "' errors";
    for (const vi::ErrorCode error : hosts_.client->take_errors()) text << ' ' << to_string(error);
    text << " /";
    for (const vi::ErrorCode error : hosts_.server->take_errors()) text << ' ' << to_string(error);
    return text.str();
  }
  /// At Reliable Reception a Send that completed with success is there (VI-ARCH 2.5.3).
  [[nodiscard]] bool nothing_acknowledged_is_missing() const {
    std::size_t receive = 0;
    for (const std::size_t send : {0U, 1U, 2U}) {
      if (a_.send_error(send) == 0U && b_.receive_error(receive) != 0U) return false;
      ++receive;
    }
    return a_.send_error(3) != 0U || text_at(written_) == std::string(long_bytes, 'w');
  }

 private:
  void post() {
    for (int i = 0; i != 4; ++i) b_.receive(long_bytes);
    a_.receive(8);
    written_ = hosts_.server->allocate(long_bytes);
    std::byte* const source = hosts_.server->allocate(long_bytes);
    std::memset(source, 'r', long_bytes);
    a_.send("hello", vi::control::immediate);
    a_.send("");
    a_.send(std::string(long_bytes, 's'));
    a_.rdma_write(std::string(long_bytes, 'w'), written_, vi::control::immediate);
    sends_ = 4;
    receives_ = 4;
    if (!is_reliable(level_)) return;
    read_ = a_.rdma_read(source, long_bytes);
    ++sends_;
  }
  static std::string shown(std::optional<std::uint32_t> error) { return error ? std::to_string(*error) : "-"; }
  [[nodiscard]] std::string received(std::size_t i) const {
    return b_.receive_error(i) == 0U && i < 3 ? b_.received(i) : "";
  }
  static std::string text_at(const std::byte* memory) {
    return memory == nullptr ? "" : std::string(reinterpret_cast<const char*>(memory), long_bytes);
  }

  TwoHosts& hosts_;
  vi::ReliabilityLevel level_;
  WaitCall wait_;
  ConnectCall request_;
  PlainCall accept_, disconnect_a_, disconnect_b_;
  End a_, b_;
  std::byte* written_ = nullptr;
  const std::byte* read_ = nullptr;
  std::size_t sends_ = 0, receives_ = 0;
};

}  // namespace vitcp::testing
