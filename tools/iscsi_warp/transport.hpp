// What carries iSCSI PDUs between two ends: WARP, which here is RDMAP through the verbs API (ruling W-1), or plain TCP.
#pragma once
#include <memory>
#include <stdexcept>

#include "tools/iscsi_warp/pdu.hpp"

namespace iscsi {

/// The connection has ended, or could not be made. Its text says why.
struct ConnectionEnded : std::runtime_error {
  using runtime_error::runtime_error;
};

/// One connection. Calls wait; all of them throw ConnectionEnded.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Header and data segment: over WARP one Send (B.3). At most first_burst_octets of data.
  virtual void send(const Pdu& pdu) = 0;
  [[nodiscard]] virtual Pdu receive() = 0;

  /// Memory that Data PDUs of the other end fill, from offset 0; the tag by which they name it (B.4.1, B.4.2).
  [[nodiscard]] virtual std::uint32_t lend(std::span<std::uint8_t> memory) = 0;
  virtual void take_back(std::uint32_t tag) = 0;
  /// A Data PDU for what the other end has lent as `tag`: over WARP RDMA Writes from the PDU's Buffer Offset on, then a
  /// Send of the header (B.4).
  virtual void send_data(Pdu pdu, std::span<const std::uint8_t> data, std::uint32_t tag) = 0;
  /// A Data PDU came for lent memory: its octets are there when this returns.
  virtual void place(const Pdu& pdu, std::span<std::uint8_t> memory) = 0;

 protected:
  Transport() = default;
};

/// Memory is lent as long as this lives: no longer than the memory, also if the connection fails.
class Lent {
 public:
  Lent(Transport& by, std::span<std::uint8_t> memory) : by_(by), tag_(by.lend(memory)) {}
  ~Lent() { by_.take_back(tag_); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  [[nodiscard]] std::uint32_t tag() const { return tag_; }

 private:
  Transport& by_;
  const std::uint32_t tag_;
};

struct Address {
  std::string host;
  std::string port;
};

[[nodiscard]] std::unique_ptr<Transport> connect_warp(const Address& to);
[[nodiscard]] std::unique_ptr<Transport> connect_plain(const Address& to);

class Acceptor {
 public:
  virtual ~Acceptor() = default;
  [[nodiscard]] virtual std::unique_ptr<Transport> accept() = 0;
};
[[nodiscard]] std::unique_ptr<Acceptor> listen_warp(const Address& at);
[[nodiscard]] std::unique_ptr<Acceptor> listen_plain(const Address& at);

}  // namespace iscsi
