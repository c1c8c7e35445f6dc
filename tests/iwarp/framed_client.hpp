// A peer that sends DDP segments as a test wants them, over each framing, and keeps those that came.
#pragma once
#include "tests/iwarp/raw_client.hpp"
#include "wire/iwarp/ift/adaption_indication.hpp"
#include "wire/iwarp/ift/frame.hpp"
#include "wire/iwarp/sctp/session_control.hpp"

namespace iwarp::testing {

enum class Carrier : std::uint8_t { mpa, ift, sctp };
inline constexpr std::array<Carrier, 3> carriers{Carrier::mpa, Carrier::ift, Carrier::sctp};
inline std::string_view to_string(Carrier carrier) {
  switch (carrier) {
    case Carrier::mpa: return "mpa";
    case Carrier::ift: return "ift";
    case Carrier::sctp: return "sctp";
  }
  return "unknown";
}

/// Behind a start-up with the server of `ends`, which was made with settings_for() this carrier.
class FramedClient {
 public:
  virtual ~FramedClient() = default;
  virtual void send_ulpdu(const std::vector<std::uint8_t>& ulpdu) = 0;
  [[nodiscard]] virtual std::vector<std::vector<std::uint8_t>> ulpdus() const = 0;
  /// It ends its half, in order.
  virtual void finish() = 0;
  /// The server ended its half.
  [[nodiscard]] virtual bool server_ended() const = 0;
  /// Of the framing, too.
  [[nodiscard]] virtual std::size_t octets_received() const = 0;
  /// It takes nothing any more.
  virtual void stop_reading() = 0;
  /// What passes behind each segment: 100 ms, unless told otherwise.
  virtual void set_pause(runtime::TimeNs pause) { pause_ = pause; }

  void send(const Header& header, const std::vector<std::uint8_t>& payload) { send_ulpdu(ulpdu_of(header, payload)); }
  void send(const Header& header, std::size_t payload_octets) {
    send(header, std::vector<std::uint8_t>(payload_octets, 0x55));
  }
  /// After a segment that is right the server may send (RFC 5044 7.1.2 rule 4).
  void send_nothing() { send({.tagged = true, .last = true, .rsvd_ulp = control(Opcode::rdma_write)}, 0); }
  /// Terminate Messages that came, with their place among all.
  [[nodiscard]] std::vector<std::pair<std::size_t, wire::rdmap::Terminate>> terminates() const {
    std::vector<std::pair<std::size_t, wire::rdmap::Terminate>> found;
    const auto all = ulpdus();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Header header = *Header::parse(all[i]);
      if (Control::of(header.rsvd_ulp).opcode != Opcode::terminate) continue;
      EXPECT_EQ(header.queue_number, wire::rdmap::terminate_queue);
      EXPECT_EQ(header.msn.value, 1u);
      const auto parsed = wire::rdmap::Terminate::parse(wire::Bytes(all[i]).subspan(header.size()));
      EXPECT_TRUE(parsed.has_value());
      if (parsed) found.emplace_back(i, *parsed);
    }
    return found;
  }

 protected:
  runtime::TimeNs pause_ = 100 * runtime::millisecond;
};

class MpaClient final : public FramedClient {
 public:
  explicit MpaClient(TwoEnds& ends) : client_(ends) {}
  void send_ulpdu(const std::vector<std::uint8_t>& ulpdu) override { client_.write(client_.fpdu_of(ulpdu)); }
  /// As octets.
  void send_octets(const std::vector<std::uint8_t>& octets) { client_.write(octets); }
  [[nodiscard]] std::vector<std::uint8_t> fpdu_of(const std::vector<std::uint8_t>& ulpdu) const {
    return client_.fpdu_of(ulpdu);
  }
  [[nodiscard]] std::vector<std::vector<std::uint8_t>> ulpdus() const override { return client_.ulpdus(); }
  void finish() override { client_.shut_down(); }
  [[nodiscard]] bool server_ended() const override { return client_.ended; }
  [[nodiscard]] std::size_t octets_received() const override { return client_.octets_received(); }
  void stop_reading() override { client_.reads = false; }
  void set_pause(runtime::TimeNs pause) override { client_.pause = pause; }

 private:
  RawClient client_;
};

/// Node A, with both CRCs.
class IftClient final : public FramedClient, public streams::StreamUser {
 public:
  explicit IftClient(TwoEnds& ends) : ends_(ends) {
    ends.server = std::make_unique<End>(ends.server_core, StreamConfig{.domain = domain, .ird = 2});
    ends.node_b->end = ends.server.get();
    stream_ = ends.world.client.connect({streams::test::server_ip, 4421}, {}, *this);
    ends.run(runtime::second);
    EXPECT_EQ(ends.server->connects, 1);
  }
  ~IftClient() override {
    stream_.reset();
    ends_.settle();
  }
  void send_ulpdu(const std::vector<std::uint8_t>& ulpdu) override { send_octets(frame_of(ulpdu)); }
  void send_octets(const std::vector<std::uint8_t>& octets) {
    ASSERT_EQ(stream_->write(wire::Bytes(octets)), octets.size());
    ends_.run(pause_);
  }
  [[nodiscard]] static std::vector<std::uint8_t> frame_of(const std::vector<std::uint8_t>& ulpdu) {
    const Header header = *Header::parse(ulpdu);
    const wire::ift::Frame frame{header, wire::Bytes(ulpdu).subspan(header.size())};
    std::vector<std::uint8_t> octets(frame.size(to_server));
    frame.write(octets, to_server);
    return octets;
  }
  [[nodiscard]] std::vector<std::vector<std::uint8_t>> ulpdus() const override {
    std::vector<std::vector<std::uint8_t>> all;
    const wire::ift::Framing framing{.vtag = {0x1111}};
    for (wire::Bytes rest = wire::Bytes(octets_).subspan(AdaptionIndication::size()); !rest.empty();) {
      const auto frame = wire::ift::Frame::parse(rest, framing);
      EXPECT_TRUE(frame.has_value());
      if (!frame) break;
      all.push_back(ulpdu_of(frame->header, {frame->payload.begin(), frame->payload.end()}));
      rest = rest.subspan(frame->size(framing));
    }
    return all;
  }
  void finish() override { stream_->shut_down(); }
  [[nodiscard]] bool server_ended() const override { return ended_; }
  [[nodiscard]] std::size_t octets_received() const override { return octets_.size(); }
  void stop_reading() override { reads_ = false; }

 private:
  using AdaptionIndication = wire::ift::AdaptionIndication;
  static constexpr wire::ift::Framing to_server{.vtag = {0x2222}};
  void connected() override {
    const AdaptionIndication phase_0{.header_crc = true, .payload_crc = true, .vtag = {0x1111}};
    std::vector<std::uint8_t> octets(AdaptionIndication::size());
    phase_0.write(octets);
    stream_->write(wire::Bytes(octets));
    stream_->ask_readable();
  }
  void readable() override {
    if (!reads_) return;
    std::array<std::uint8_t, 4096> room;
    const streams::ReadResult result = stream_->read(wire::MutableBytes(room));
    octets_.insert(octets_.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(result.octets));
    ended_ = ended_ || result.end;
    if (!result.end) stream_->ask_readable();
  }
  void closed(streams::Reason) override { ended_ = true; }

  TwoEnds& ends_;
  std::unique_ptr<streams::Stream> stream_;
  std::vector<std::uint8_t> octets_;
  bool ended_ = false, reads_ = true;
};

/// One session, on SCTP stream 0.
class SctpClient final : public FramedClient, public AssociationUser {
 public:
  explicit SctpClient(TwoEnds& ends) : ends_(ends) {
    ends.server = std::make_unique<End>(ends.server_core, StreamConfig{.domain = domain, .ird = 2});
    association_ = ends.sctp->associations.connect(TwoSctpEnds::address, {}, *this);
    ends.run(runtime::millisecond);
    control(wire::sctp::FunctionCode::initiate);
    EXPECT_EQ(ends.server->connects, 1);
  }
  ~SctpClient() override {
    association_.reset();
    ends_.settle();
  }
  void send_ulpdu(const std::vector<std::uint8_t>& ulpdu) override { send_octets(ulpdu); }
  /// As the User Data behind the DDP-SSN.
  void send_octets(const std::vector<std::uint8_t>& octets, std::uint32_t protocol = wire::sctp::segment_chunk) {
    std::vector<std::uint8_t> chunk{static_cast<std::uint8_t>(ssn_ >> 8), static_cast<std::uint8_t>(ssn_)};
    ++ssn_;
    chunk.insert(chunk.end(), octets.begin(), octets.end());
    EXPECT_TRUE(association_->send(0, protocol, chunk));
    ends_.run(pause_);
  }
  [[nodiscard]] std::vector<std::vector<std::uint8_t>> ulpdus() const override { return ulpdus_; }
  void finish() override { control(wire::sctp::FunctionCode::terminate); }
  [[nodiscard]] bool server_ended() const override { return ended_; }
  [[nodiscard]] std::size_t octets_received() const override { return ulpdus_.size() * 1440; }
  void stop_reading() override { ends_.sctp->associations.to_connector.waits_until = runtime::TimeNs{1} << 60; }

 private:
  void control(wire::sctp::FunctionCode function) {
    const wire::sctp::SessionControl message{.ssn = ssn_, .function = function};
    std::vector<std::uint8_t> octets(message.size());
    message.write(octets);
    send_octets({octets.begin() + 2, octets.end()}, wire::sctp::session_control_chunk);
  }
  void message_received(std::uint16_t, std::uint32_t protocol, wire::Bytes octets) override {
    if (protocol == wire::sctp::segment_chunk) return ulpdus_.emplace_back(octets.begin() + 2, octets.end()), void();
    const auto message = wire::sctp::SessionControl::parse(octets);
    ASSERT_TRUE(message);
    ended_ = ended_ || message->function == wire::sctp::FunctionCode::terminate;
  }
  void room_again() override {}
  void acknowledged() override {}
  void association_lost(streams::Reason) override { ended_ = true; }

  TwoEnds& ends_;
  std::unique_ptr<Association> association_;
  std::uint16_t ssn_ = 0;
  std::vector<std::vector<std::uint8_t>> ulpdus_;
  bool ended_ = false;
};

inline Settings settings_for(Carrier carrier) {
  Settings settings;
  if (carrier == Carrier::ift) settings.ift = IftOptions{};
  if (carrier == Carrier::sctp) settings.sctp = AssociationRules{.messages_under_way = 50};
  return settings;
}
inline std::unique_ptr<FramedClient> client_over(Carrier carrier, TwoEnds& ends) {
  switch (carrier) {
    case Carrier::mpa: return std::make_unique<MpaClient>(ends);
    case Carrier::ift: return std::make_unique<IftClient>(ends);
    case Carrier::sctp: return std::make_unique<SctpClient>(ends);
  }
  return nullptr;
}

}  // namespace iwarp::testing
