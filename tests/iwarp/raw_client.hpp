// A peer of octets against a server of MPA: FPDUs as a test wants them, and those that came.
#pragma once
#include "tests/iwarp/two_ends.hpp"

namespace iwarp::testing {
using wire::ddp::Header;
using wire::ddp::TaggedError;
using wire::ddp::UntaggedError;
using wire::mpa::StartupFrame;
using wire::rdmap::Cause;
using wire::rdmap::Control;
using wire::rdmap::Opcode;
using wire::rdmap::OperationError;
using wire::rdmap::ProtectionError;
using wire::rdmap::ReadRequest;

inline std::uint8_t control(Opcode opcode, std::uint8_t version = 1) { return Control{version, opcode}.to_rsvd_ulp(); }
inline Header send_header(std::uint32_t msn = 1, std::uint32_t offset = 0) {
  return {.last = true, .rsvd_ulp = control(Opcode::send), .msn = {msn}, .message_offset = offset};
}
inline Header read_header(std::uint32_t msn = 1) {
  return {.last = true, .rsvd_ulp = control(Opcode::rdma_read_request), .queue_number = 1, .msn = {msn}};
}
inline std::vector<std::uint8_t> request_octets(const ReadRequest& request) {
  std::vector<std::uint8_t> octets(ReadRequest::size());
  request.write(octets);
  return octets;
}
inline std::vector<std::uint8_t> ulpdu_of(const Header& header, const std::vector<std::uint8_t>& payload) {
  std::vector<std::uint8_t> ulpdu(header.size());
  header.write(ulpdu);
  ulpdu.insert(ulpdu.end(), payload.begin(), payload.end());
  return ulpdu;
}

/// Behind a start-up of revision 1, without markers.
class RawClient final : public streams::StreamUser {
 public:
  explicit RawClient(TwoEnds& of, bool crc = true, const StreamConfig& server = {.domain = domain, .ird = 2})
      : ends_(of), crc_(crc) {
    ends_.server = std::make_unique<End>(ends_.server_core, server);
    stream_ = ends_.world.client.connect({streams::test::server_ip, 4420}, {}, *this);
    ends_.run(runtime::second);
    EXPECT_EQ(ends_.server->connects, 1);
    reply_octets_ = StartupFrame::header_bytes;
  }
  ~RawClient() {
    stream_.reset();
    ends_.settle();
  }
  void send(const Header& header, std::size_t payload_octets = 10) {
    send(header, std::vector<std::uint8_t>(payload_octets, 0x55));
  }
  void send(const Header& header, const std::vector<std::uint8_t>& payload) {
    write(fpdu_of(ulpdu_of(header, payload)));
  }
  /// As octets of the stream.
  [[nodiscard]] std::vector<std::uint8_t> fpdu_of(const std::vector<std::uint8_t>& ulpdu) const {
    const wire::mpa::Fpdu fpdu{ulpdu};
    std::vector<std::uint8_t> octets(fpdu.size(in(), 0));
    fpdu.write(octets, in(), 0);
    return octets;
  }
  /// A valid FPDU, after which the other end may send (RFC 5044 7.1.2 rule 4).
  void send_nothing() { send({.tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_write)}, 0); }
  void write(const std::vector<std::uint8_t>& octets) {
    ASSERT_EQ(stream_->write(wire::Bytes(octets)), octets.size());
    ends_.run(pause);
  }
  /// ULPDUs that came.
  [[nodiscard]] std::vector<std::vector<std::uint8_t>> ulpdus() const {
    std::vector<std::vector<std::uint8_t>> all;
    for (wire::Bytes rest = wire::Bytes(octets_).subspan(reply_octets_); !rest.empty();) {
      const auto fpdu = wire::mpa::Fpdu::parse(rest, in(), 0);
      EXPECT_TRUE(fpdu.has_value());
      if (!fpdu) break;
      all.push_back(fpdu->ulpdu);
      rest = rest.subspan(fpdu->size(in(), 0));
    }
    return all;
  }
  /// Their DDP headers.
  [[nodiscard]] std::vector<Header> headers() const {
    std::vector<Header> all;
    for (const auto& ulpdu : ulpdus()) all.push_back(*Header::parse(ulpdu));
    return all;
  }
  /// The last thing that came is a Terminate Message, and then the end.
  [[nodiscard]] wire::rdmap::Terminate terminate() const {
    EXPECT_TRUE(ended);
    const auto all = ulpdus();
    EXPECT_FALSE(all.empty());
    if (all.empty()) return {};
    const Header header = *Header::parse(all.back());
    EXPECT_EQ(Control::of(header.rsvd_ulp).opcode, Opcode::terminate);
    EXPECT_EQ(header.queue_number, wire::rdmap::terminate_queue);
    EXPECT_EQ(header.msn.value, 1u);
    EXPECT_TRUE(header.last);
    const auto parsed = wire::rdmap::Terminate::parse(wire::Bytes(all.back()).subspan(header.size()));
    EXPECT_TRUE(parsed.has_value());
    return parsed ? *parsed : wire::rdmap::Terminate{};
  }
  void shut_down() { stream_->shut_down(); }
  [[nodiscard]] std::size_t octets_received() const { return octets_.size(); }
  bool ended = false;
  runtime::TimeNs pause = 100 * runtime::millisecond;  // behind each write
  bool reads = true;                                   // else nothing is taken from the stream any more

 private:
  [[nodiscard]] wire::mpa::Framing in() const { return {.markers = false, .crc = crc_}; }
  void connected() override {
    const StartupFrame request{.kind = wire::mpa::FrameKind::request, .crc = crc_, .revision = 1};
    std::vector<std::uint8_t> octets(request.size());
    request.write(octets);
    stream_->write(wire::Bytes(octets));
    stream_->ask_readable();
  }
  void readable() override {
    if (!reads) return;
    std::array<std::uint8_t, 4096> room;
    const streams::ReadResult result = stream_->read(wire::MutableBytes(room));
    octets_.insert(octets_.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(result.octets));
    ended = ended || result.end;
    if (!result.end) stream_->ask_readable();
  }
  void closed(streams::Reason) override { ended = true; }

  TwoEnds& ends_;
  const bool crc_;
  std::unique_ptr<streams::Stream> stream_;
  std::vector<std::uint8_t> octets_;
  std::size_t reply_octets_ = 0;
};

}  // namespace iwarp::testing
