// One end of a socket of the local fabric: records in, records out, nothing blocks. A stream socket, and not one that
// keeps records apart: many frames pass with one system call, which measured five times the frames per second of
// SEQPACKET.
#pragma once
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "runtime/core_guard.hpp"
#include "runtime/drivers/descriptor.hpp"
#include "fc2_fabric/drivers/held_destinations.hpp"
#include "runtime/drivers/link_descriptor.hpp"
#include "fc2_fabric/drivers/record_buffer.hpp"
#include "fc2_fabric/frame/frame_output.hpp"
#include "fc2_fabric/frame/time.hpp"

namespace fc2::drivers {

using OpenFiles = std::vector<runtime::drivers::Descriptor>;

/// Hears what a stream brings; inside the core. May close the stream from any of these.
class StreamUser {
 public:
  virtual void frame_received(FramePtr frame) = 0;
  virtual void record_received(RecordKind kind, std::span<const std::uint8_t> body) = 0;
  /// The other end closed, broke, or sent what it may not (`reason`). Everything that came before was told.
  virtual void stream_closed(const std::string& reason) = 0;
  /// There is room for records again, after send_record() had found none.
  virtual void stream_has_room() {}

 protected:
  ~StreamUser() = default;
};

/// What is sent goes into one buffer and, when the core settles or the buffer is full, from there to the kernel, in
/// whatever thread has the core. While the kernel takes no more and the buffer is full, the output pauses. Every call
/// is made inside the core. When the other end has closed, what is sent goes nowhere, and the user hears of the end
/// when all that came before it was delivered. Shared with its handlers: close() it before letting go.
class FrameStream final : public FrameOutput,
                          public FrameFeeder,
                          private runtime::Input,
                          public std::enable_shared_from_this<FrameStream> {
 public:
  /// Takes over the descriptor: a connected stream socket.
  static std::shared_ptr<FrameStream> make(boost::asio::io_context& io, runtime::CoreGuard& guard, Scheduler& scheduler,
                                           FramePool& pool, StreamUser& user, int descriptor);
  ~FrameStream() = default;
  FrameStream(const FrameStream&) = delete;
  FrameStream& operator=(const FrameStream&) = delete;

  /// Somebody else hears from here on.
  void set_user(StreamUser& user) { user_ = &user; }
  /// Its bytes lie in the buffer that is sent from.
  [[nodiscard]] FramePtr make_frame(FramePool& pool, wire::FcId destination) override;
  void send(FramePtr frame) override;
  /// False: no room for it now; stream_has_room() will tell. Never so for the first few of a connection.
  bool send_record(RecordKind kind, std::span<const std::uint8_t> body);
  bool send_record(RecordKind kind, std::string_view text);
  /// There is room for one; if not, stream_has_room() will tell.
  [[nodiscard]] bool has_room_for_records();
  /// With open files for the other end (SCM_RIGHTS): they are there when the record is. Where the system carries no
  /// more of them the record goes alone, with the body `without`, of the same size.
  bool send_record(RecordKind kind, std::span<const std::uint8_t> body, OpenFiles files,
                   std::span<const std::uint8_t> without);
  /// Records with open files that are not in the socket yet.
  [[nodiscard]] std::size_t files_waiting() const { return files_out_.size(); }
  /// The open files of the record that is being told. Fewer than were sent: this process can have no more.
  [[nodiscard]] OpenFiles take_files();
  /// No record of the other end has any from now on: such files end the link.
  void expect_no_files();
  /// No more is taken from the socket, nor from what was read already, until proceed().
  void hold() override { held_ = true; }
  void proceed() override;
  /// The other end is told by a record, as soon as there is room for it.
  [[nodiscard]] bool holds_by_destination() const override { return true; }
  void hold_for(wire::FcId id) override;
  void proceed_for(wire::FcId id) override;
  /// Nothing more will be sent: the other end is told when it has all that was, and closes; then the user hears so.
  void finish();
  /// For the end of the process: returns when all that was sent is in the socket, or after `limit`.
  void drain(std::chrono::milliseconds limit);
  /// Sends what there is as far as the kernel takes it at once. The user hears nothing more.
  void close();

  /// For the end of the process, and tests: as a poll does.
  bool read_now() override;
  [[nodiscard]] bool holds_cancellation_itself() const override { return true; }

  static constexpr std::size_t buffer_bytes = 128 * 1024;  // each way
  /// Records whose open files came and that nobody took: more end the link.
  static constexpr std::size_t max_untaken = 4;

 private:
  FrameStream(boost::asio::io_context& io, runtime::CoreGuard& guard, Scheduler& scheduler, FramePool& pool,
              StreamUser& user, int descriptor);
  // in
  void arm_read();
  void readable();
  bool fill();
  ssize_t receive(std::span<std::uint8_t> room);
  void deliver();
  void deliver_record(const RecordReader::Record& record);
  void deliver_held();
  // out
  [[nodiscard]] bool goes_nowhere() const { return user_ == nullptr || failed_ || deaf_; }
  void tell_held();
  void sent_something();
  void flush();
  ssize_t transmit(std::span<std::uint8_t> bytes);
  ssize_t transmit_with_files(std::span<std::uint8_t> bytes);
  void clear_out();
  void nobody_hears();
  void arm_write();
  void writable();
  void check_files();
  void fail(std::string reason);  // later: it may be noticed where nobody may be told
  void tell_failure();

  runtime::CoreGuard& guard_;
  Scheduler& scheduler_;
  FramePool& pool_;
  StreamUser* user_;  // nullptr: closed
  boost::asio::posix::stream_descriptor descriptor_;
  std::optional<runtime::drivers::LinkDescriptor> known_;  // while that is open
  RecordReader in_{buffer_bytes};
  RecordWriter out_{buffer_bytes};
  HeldDestinations held_destinations_;
  struct Attachment {
    std::uint64_t at;  // where its record begins, in bytes since the beginning of the connection
    OpenFiles files;
    std::vector<std::uint8_t> without;
  };
  std::deque<OpenFiles> files_in_;  // a record's each
  std::size_t may_be_untaken_ = max_untaken;
  std::deque<Attachment> files_out_;
  std::uint64_t sent_bytes_ = 0;
  bool held_ = false, reading_ = false, writing_ = false, wants_room_ = false, failed_ = false, finishing_ = false;
  bool deaf_ = false;  // the other end reads no more; what it sent before still comes
  std::string failure_;
  Timer<FrameStream, &FrameStream::flush> flush_{*this};
  Timer<FrameStream, &FrameStream::deliver_held> delivery_{*this};
  Timer<FrameStream, &FrameStream::tell_failure> failure_event_{*this};
};

}  // namespace fc2::drivers
