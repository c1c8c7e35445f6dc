// The initiator: a session of one or several connections, each over WARP or plain TCP (B.2).
#pragma once
#include <optional>

#include "tools/iscsi_warp/transport.hpp"

namespace iscsi {

/// A command did not do what was asked.
struct CommandFailed : std::runtime_error {
  using runtime_error::runtime_error;
};

class Session {
 public:
  /// Logs a connection in: the first begins the session, the others join it. Throws CommandFailed, ConnectionEnded.
  void add(std::unique_ptr<Transport> transport);
  [[nodiscard]] std::size_t connections() const { return connections_.size(); }
  void log_out();

  /// Blocks of the target, by READ CAPACITY(10).
  [[nodiscard]] std::uint32_t blocks();
  /// Commands of at most `command_octets`, over the connections in turn. Whole blocks.
  void read(std::uint32_t first_block, std::span<std::uint8_t> into);
  void write(std::uint32_t first_block, std::span<const std::uint8_t> from, std::size_t immediate_octets);
  /// From now on the tag of a command names other memory than is lent: the target cannot write there.
  void use_wrong_tags() { wrong_tags_ = true; }

 private:
  struct Connection {
    std::unique_ptr<Transport> transport;
    std::uint32_t expected_stat_sn = 0;
  };
  [[nodiscard]] Connection& next();
  [[nodiscard]] Pdu command(Connection& of, std::uint8_t flags, std::uint8_t operation, std::uint32_t first_block,
                            std::size_t octets);
  void take_status(Connection& of, const Pdu& pdu);
  void read_command(Connection& of, std::uint32_t first_block, std::span<std::uint8_t> into, const char* what,
                    std::uint8_t operation);
  void write_command(Connection& of, std::uint32_t first_block, std::span<const std::uint8_t> from,
                     std::size_t immediate_octets);
  void answer_r2t(Connection& of, const Pdu& r2t, std::span<const std::uint8_t> from);

  std::vector<Connection> connections_;
  std::size_t turn_ = 0;
  std::uint16_t tsih_ = 0;
  std::uint32_t command_sn_ = 1, next_tag_ = 1;
  bool wrong_tags_ = false;
};

}  // namespace iscsi
