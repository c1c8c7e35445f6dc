// Answers RDMA Read Requests: registered memory into RdmaReadResponse segments (VI-TCP 2.2.2.2.3, 2.2.2.2.6).
#pragma once
#include <boost/circular_buffer.hpp>

#include "state_machines/vitcp_read_responder.hpp"
#include "vitcp/segment_writer.hpp"

namespace vitcp {

class ReadResponder final : private machines::vitcp_read_responder::Context {
 public:
  explicit ReadResponder(Channel& channel) : channel_(channel) {}

  /// Requests that wait, and the one that is being answered, are fewer than the window that the peer was told (ruling
  /// V-11).
  [[nodiscard]] bool has_room() const { return requests_.size() < channel_.terms.read_window; }
  /// In order (VI-ARCH 6.3.1.1). Pre: has_room().
  void add(wire::vitcp::MessageNumber number, const wire::vitcp::RdmaHeader& rdma);
  [[nodiscard]] bool has_work() const { return !requests_.empty(); }
  /// The next segment of the first answer. False: the batch is full, or there is none.
  [[nodiscard]] bool add_segment(SegmentWriter& writer);

  void connection_ended();
  [[nodiscard]] bool is_consistent() const;

 private:
  struct Request {
    wire::vitcp::MessageNumber number;
    wire::vitcp::RdmaHeader rdma;
    std::uint32_t octets_sent = 0;
    [[nodiscard]] std::uint32_t octets_left() const { return rdma.length_bytes - octets_sent; }
  };
  enum class Due : std::uint8_t { nothing, segment, padding };

  template <class Event>
  void process(const Event& event);
  void begin();
  [[nodiscard]] std::byte* memory_of(const Request& request) const;
  void add_data(SegmentWriter& writer, std::size_t room);
  [[nodiscard]] bool copy(SegmentWriter& writer, const std::byte* memory, std::size_t octets) const;
  void add_padding(SegmentWriter& writer, std::size_t room);
  void begin_segment(SegmentWriter& writer, std::size_t octets, bool last);
  void segment_added(std::size_t octets, bool last);

  // machines::vitcp_read_responder
  void send_segment() override { due_ = Due::segment; }
  void send_padding() override { due_ = Due::padding; }
  void finish_response() override;
  void report_refusal() override;
  void fail_connection(Failure failure) override { channel_.listener.failed(failure); }
  [[nodiscard]] bool reliable() const override { return channel_.is_reliable(); }
  void on_row(const fsm::Row& row) override { fsm::tell(channel_.services.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  Channel& channel_;
  machines::vitcp_read_responder::Machine machine_;
  Due due_ = Due::nothing;
  boost::circular_buffer<Request> requests_;  // the first is being answered; grows up to the window
};

}  // namespace vitcp
