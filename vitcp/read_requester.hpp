// The RDMA Reads of one connection that wait for their data (VI-TCP 2.2.2.2.3, 2.2.2.2.6, 3.2).
#pragma once
#include <boost/circular_buffer.hpp>

#include "state_machines/vitcp_read_requester.hpp"
#include "vitcp/channel.hpp"

namespace vitcp {

/// Who waits for a place in the peer's window.
class ReadWindowUser {
 public:
  virtual void read_completed() = 0;

 protected:
  ~ReadWindowUser() = default;
};

class ReadRequester final : private machines::vitcp_read_requester::Context {
 public:
  explicit ReadRequester(Channel& channel) : channel_(channel) {}
  void set_user(ReadWindowUser& user) { user_ = &user; }

  /// Its request is sent.
  void add(const vi::SendWork& work, wire::vitcp::MessageNumber number);
  [[nodiscard]] bool has_room() const { return reads_.size() < channel_.terms.peer_read_window; }

  // A segment of RdmaReadResponse, as SegmentSink gives it.
  /// False: it is none of the read that is due, or not as it was asked.
  [[nodiscard]] bool response_begun(const wire::vitcp::SegmentHeader& header, std::size_t payload_octets);
  [[nodiscard]] std::size_t response_room(std::size_t octets, std::span<wire::MutableBytes> pieces) const;
  void response_placed(std::size_t octets);
  void response_received(wire::Bytes octets);
  void response_ended(const wire::vitcp::SegmentHeader& header);
  /// Its CRC is wrong. False: no read waits for one.
  [[nodiscard]] bool response_damaged(const wire::vitcp::SegmentHeader& header, std::size_t payload_octets);

  void connection_ended();
  [[nodiscard]] bool is_consistent() const;

 private:
  using Verdict = machines::vitcp_read_requester::Verdict;
  struct Read {
    vi::SendWork work;
    wire::vitcp::MessageNumber number;
    std::uint32_t octets = 0;  // that came
    Verdict verdict = Verdict::Good;
    void note(Verdict found) { verdict = std::min(verdict, found); }
  };
  void process(const machines::vitcp_read_requester::ResponseReceived& event);

  // machines::vitcp_read_requester
  void complete_read(Verdict verdict) override;
  void release_window() override;
  void report_error() override;
  void fail_connection(Failure failure) override { channel_.listener.failed(failure); }
  [[nodiscard]] bool reliable() const override { return channel_.is_reliable(); }
  [[nodiscard]] bool acknowledged() const override { return channel_.acknowledges(); }
  void on_row(const fsm::Row& row) override { fsm::tell(channel_.services.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  Channel& channel_;
  ReadWindowUser* user_ = nullptr;
  machines::vitcp_read_requester::Machine machine_;
  boost::circular_buffer<Read> reads_;  // in order: the first is answered next (VI-ARCH 6.3.1.1)
};

}  // namespace vitcp
