// The stream of an established connection into segments, wherever it is cut.
//
// Without the CRC a segment's headers are judged as soon as they are whole, and its payload goes where the sink says as
// it comes, from the stream straight into memory if the piece is large. With the CRC a segment is collected, judged,
// and given to the sink whole: nothing is done by octets that may be wrong.
#pragma once
#include <array>
#include <vector>

#include "vitcp/channel.hpp"
#include "wire/vitcp/segment.hpp"

namespace vitcp {

/// Who takes the segments. Any of these may stop the channel (Channel::stopped): then no other is called.
class SegmentSink {
 public:
  /// Nothing may be done yet for the segment that has this header, nor for what is behind it.
  [[nodiscard]] virtual bool has_to_wait(const wire::vitcp::SegmentHeader& header) const = 0;
  /// The headers of a segment with so much payload are whole and right. ConnectRequest and ConnectAccept too.
  virtual void segment_begun(const wire::vitcp::SegmentHeader& header, const wire::vitcp::RdmaHeader& rdma,
                             std::size_t payload_octets) = 0;
  /// Where the next octets of the payload belong, at most so many: pieces that are there now. 0 pieces: give them to
  /// payload_received().
  [[nodiscard]] virtual std::size_t payload_room(std::size_t octets, std::span<wire::MutableBytes> pieces) = 0;
  /// So many octets were put there.
  virtual void payload_placed(std::size_t octets) = 0;
  virtual void payload_received(wire::Bytes octets) = 0;
  virtual void segment_ended() = 0;
  /// The segment's CRC is wrong. What its header says may be wrong, too, and was not judged: its type may be none.
  virtual void segment_damaged(const wire::vitcp::SegmentHeader& header) = 0;
  /// The next octets are no segment: nothing after them can be read.
  virtual void refused(const wire::ParseError& error) = 0;

 protected:
  ~SegmentSink() = default;
};

class SegmentReader {
 public:
  SegmentReader(Channel& channel, SegmentSink& sink);

  /// One call of Stream::read, and all that follows of what it gave. `more`: another call may give more.
  struct Progress {
    bool more = false;
    bool end = false;
    bool came = false;  // an octet at least
  };
  Progress read(streams::Stream& stream);
  /// What was read last has to wait: nothing is to be read until go_on().
  [[nodiscard]] bool waits() const { return waits_; }
  /// It need not wait any more: goes on with it. It may have to wait again afterwards.
  void go_on();
  /// Between two segments.
  [[nodiscard]] bool is_at_boundary() const { return stage_ == Stage::header && collected_ == 0; }
  /// A segment has begun, and the rest of it is to come.
  [[nodiscard]] bool awaits_rest() const;
  /// That rest does not come: nothing can be read any more. With the CRC a segment whose header is there counts as
  /// damaged (ruling V-38). Pre: awaits_rest().
  void give_up_rest();
  [[nodiscard]] bool is_consistent() const;

 private:
  enum class Stage : std::uint8_t { header, rdma, payload };
  static constexpr std::size_t direct_octets = 4096;  // less is read with what follows it, and copied
  /// Read behind a large payload: the headers of the next segment, or a short segment and those. More would be payload
  /// of the next large one, and copied.
  static constexpr std::size_t ahead_octets = 512;
  /// So many short segments in a row are no ends of large messages: now more are read at once.
  static constexpr std::uint8_t short_run = 4;

  std::size_t read_payload(streams::Stream& stream, streams::ReadResult& result);
  [[nodiscard]] wire::MutableBytes room_behind(std::size_t direct) const;
  void take(wire::Bytes octets);
  std::size_t take_some(wire::Bytes octets);
  [[nodiscard]] bool collect(wire::Bytes& octets, std::size_t needed);
  void header_collected();
  void begin_headers();
  void headers_collected(const wire::vitcp::RdmaHeader& rdma);
  void note_size(std::size_t octets);
  void payload_taken(std::size_t octets);
  void end_segment();
  void refuse(const wire::ParseError& error);

  Progress read_whole(streams::Stream& stream);
  [[nodiscard]] wire::MutableBytes room_for_whole();
  void take_collected();
  [[nodiscard]] static std::optional<wire::ParseError> implausible(wire::Bytes octets);
  [[nodiscard]] std::size_t take_whole(wire::Bytes octets);
  void judge(const wire::vitcp::SegmentHeader& header, wire::Bytes octets);
  void give(const wire::vitcp::Segment& segment);

  Channel& channel_;
  SegmentSink& sink_;
  Stage stage_ = Stage::header;
  std::array<std::uint8_t, wire::vitcp::segment_header_bytes> headers_{};  // the present one, as far as it came
  std::size_t collected_ = 0;                                              // octets of it
  wire::vitcp::SegmentHeader header_{};
  std::size_t payload_left_ = 0;
  bool faulted_ = false;             // memory that it goes to cannot be written by the stream: it is copied
  std::uint8_t large_lately_ = 0;    // counts down with each short segment behind a large one
  std::vector<std::uint8_t> whole_;  // with the CRC: segments as they come
  bool damaged_ = false;             // the last one was
  bool waits_ = false;
  std::vector<std::uint8_t> held_;  // without it: what was read behind the header that waits
};

}  // namespace vitcp
