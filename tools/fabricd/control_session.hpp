// A request to the service (control_words.hpp). Also the queue by which every answer is sent.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tools/fabricd/history_writer.hpp"
#include "tools/fabricd/session.hpp"

namespace fabricd {

/// An answer of any length: waits here while the socket is full.
class AnswerQueue {
 public:
  explicit AnswerQueue(FrameStream& stream) : stream_(stream) {}
  void add(std::span<const std::uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  /// Sends as much as there is room for. True: all is sent.
  bool pump();
  [[nodiscard]] std::size_t size() const { return bytes_.size() - sent_; }

 private:
  FrameStream& stream_;
  std::vector<std::uint8_t> bytes_;
  std::size_t sent_ = 0;
};

/// One request, for which there is a limited time, and as much to close the connection after the answer.
class ControlSession final : public Session {
 public:
  static constexpr runtime::TimeNs time_to_ask = 5 * runtime::second;
  ControlSession(SessionHost& service, std::shared_ptr<FrameStream> stream);

 private:
  void frame_received(fc2::FramePtr frame) override;
  void record_received(RecordKind kind, std::span<const std::uint8_t> body) override;
  void stream_closed(const std::string& reason) override;
  void stream_has_room() override { pump(); }
  void carry_out(std::string_view request);
  void capture(std::string_view request);
  void find_ports(const CaptureChoice& choice);
  void add_faults(std::string_view request);
  void await_direct_paths();
  void clear_faults(std::string_view lines);
  void set_link(std::string_view lines);
  void answer(std::string_view text);
  void pump();
  void refuse(const std::string& reason);
  void out_of_time();

  AnswerQueue answer_;
  std::string request_;
  bool answering_ = false, done_ = false;
  std::vector<unsigned> added_;  // rules
  runtime::TimeNs began_ = 0;    // when they were
  runtime::Timer<ControlSession, &ControlSession::await_direct_paths> look_{*this};
  runtime::Timer<ControlSession, &ControlSession::out_of_time> out_of_time_{*this};
};

}  // namespace fabricd
