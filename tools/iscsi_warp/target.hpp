// The target: a file as the blocks of a disk, for sessions of several connections.
#pragma once
#include <mutex>

#include "tools/iscsi_warp/transport.hpp"

namespace iscsi {

/// The blocks; from several threads.
class Disk {
 public:
  /// Throws std::system_error.
  explicit Disk(const std::string& file);
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  [[nodiscard]] std::uint32_t blocks() const { return blocks_; }
  /// False: beyond the end, or the file cannot be read.
  [[nodiscard]] bool read(std::uint32_t first_block, std::span<std::uint8_t> into) const;
  [[nodiscard]] bool write(std::uint32_t first_block, std::span<const std::uint8_t> from) const;

 private:
  [[nodiscard]] bool has(std::uint32_t first_block, std::size_t octets) const;
  int file_;
  std::uint32_t blocks_ = 0;
};

/// Sessions by their TSIH; from several threads.
class Sessions {
 public:
  enum class Answer : std::uint16_t { success = 0, too_many_connections = 0x0206, no_session = 0x020A };
  /// `tsih` 0: a new session, whose TSIH it has afterwards.
  [[nodiscard]] Answer log_in(std::uint16_t& tsih);
  void leave(std::uint16_t tsih);

 private:
  std::mutex mutex_;
  std::map<std::uint16_t, std::uint16_t> connections_;  // of each session
  std::uint16_t last_ = 0;
};

/// One connection, from its login to its end.
class TargetConnection {
 public:
  TargetConnection(Disk& disk, Sessions& sessions, std::unique_ptr<Transport> transport)
      : disk_(disk), sessions_(sessions), transport_(std::move(transport)) {}
  ~TargetConnection();
  /// Returns after a logout. Throws ConnectionEnded.
  void serve();

 private:
  [[nodiscard]] bool log_in();
  [[nodiscard]] Pdu answer(Opcode opcode, const Pdu& to, std::uint8_t flags = final_bit);
  void carry_out(const Pdu& command);
  void read(const Pdu& command, std::span<const std::uint8_t> data);
  void write(const Pdu& command);
  [[nodiscard]] bool fetch(const Pdu& command, std::span<std::uint8_t> memory);
  void respond(const Pdu& command, Status status);

  Disk& disk_;
  Sessions& sessions_;
  std::unique_ptr<Transport> transport_;
  std::uint16_t tsih_ = 0;
  std::uint32_t stat_sn_ = 1, expected_command_sn_ = 1;
};

}  // namespace iscsi
