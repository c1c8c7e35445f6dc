// The other end of a VI/TCP connection by hand: octets in, segments out.
#pragma once
#include <variant>

#include "tests/vitcp/two_hosts.hpp"

namespace vitcp::testing {

namespace vt = wire::vitcp;

/// At a host of its own, which the NICs of TwoHosts can reach.
class RawPeer final : private streams::StreamUser, private streams::ListenerUser {
 public:
  explicit RawPeer(TwoHosts& hosts, const wire::IpAddress& its_address = wire::IpAddress::v4(10, 0, 0, 3))
      : hosts_(hosts), address(its_address), streams_(hosts.world.network.add_host({address})) {}

  // --- as a client -------------------------------------------------------------------------------------------------
  void connect() {
    stream_ = streams_.connect({hosts_.server->address, wire::vitcp::default_port}, {}, *this);
    hosts_.settle();
  }
  /// Connected to a VI of the server, which is returned; `flow_control`: the peer waits for receive descriptors.
  End connect_to(vi::ReliabilityLevel level, bool crc = false, bool flow_control = false) {
    End end(*hosts_.server, hosts_.server->create(level));
    connect_to(end.vi, crc, flow_control);
    return end;
  }
  /// To this one, which is Idle.
  void connect_to(vi::Vi& vi, bool crc = false, bool flow_control = false) {
    WaitCall wait;
    PlainCall accept;
    hosts_.server->provider.connect_wait(hosts_.server->at("x"), runtime::never, wait);
    connect();
    vt::Segment asked = request(vi.attributes().reliability, crc);
    asked.ce.descriptor_flow_control = flow_control;
    change_request(asked);
    send(asked);
    hosts_.settle();
    EXPECT_EQ(wait.result, vi::Return::Success);
    hosts_.server->provider.connect_accept(wait.token, vi, accept);
    hosts_.settle();
    const vt::Segment accept_segment = take();
    EXPECT_EQ(accept_segment.header.type, vt::SegmentType::connect_accept);
    acknowledged_ = accept_segment.header.message_number;
    crc_ = crc;
  }
  std::function<void(vt::Segment&)> change_request = [](vt::Segment&) {};  // before connect_to() sends it
  [[nodiscard]] static vt::Segment request(vi::ReliabilityLevel level, bool crc = false) {
    vt::Segment segment;
    segment.header.type = vt::SegmentType::connect_request;
    segment.header.message_number = {first_number};
    segment.header.rx_descriptors_posted = 100;
    segment.ce.level = to_wire(level);
    segment.ce.rdma_write_enable = true;
    segment.ce.mtu_size_bytes = 1u << 20;
    segment.ce.rdma_read_window = 4;
    segment.ce.called = vt::Discriminator::of(std::array<std::uint8_t, 1>{'x'});
    segment.ce.options.crc = segment.ce.options.end = crc;
    return segment;
  }

  // --- as a server -------------------------------------------------------------------------------------------------
  void listen() { listener_ = std::move(*streams_.listen({address, wire::vitcp::default_port}, *this)); }

  // --- both --------------------------------------------------------------------------------------------------------
  static constexpr std::uint32_t first_number = 0xFFFFFFFE;  // it wraps at once
  [[nodiscard]] static vt::Segment message(vt::SegmentType type, std::uint32_t number, wire::Bytes payload = {}) {
    vt::Segment segment;
    segment.header.type = type;
    segment.header.message_number = {first_number + number};
    segment.rdma.length_bytes = static_cast<std::uint32_t>(payload.size());
    segment.payload = payload;
    return segment;
  }
  [[nodiscard]] std::vector<std::uint8_t> octets_of(vt::Segment segment) const {
    if (!vt::info_of(segment.header.type).is_connection) segment.trailer = crc_;
    if (segment.header.message_ack == vt::MessageNumber{}) segment.header.message_ack = acknowledged_;
    std::vector<std::uint8_t> octets(segment.size());
    segment.write(octets);
    return octets;
  }
  /// Its CRC, if it has one, is right again.
  void mend(std::vector<std::uint8_t>& octets) const {
    if (!crc_) return;
    const std::size_t covered = octets.size() - vt::trailer_bytes;
    vt::store_crc(octets.data() + covered, vt::crc(wire::Bytes(octets).first(covered)));
  }
  void send(wire::Bytes octets) { send(octets, 100 * runtime::millisecond); }
  /// And then so much time passes.
  void send(wire::Bytes octets, runtime::TimeNs time) {
    ASSERT_FALSE(is_closed());
    EXPECT_EQ(stream_->write(octets), octets.size());
    hosts_.run(time);
  }
  /// As many as the stream takes; no time passes.
  void push(wire::Bytes octets) { static_cast<void>(stream_ == nullptr ? 0 : stream_->write(octets)); }
  void send(const vt::Segment& segment) { send(octets_of(segment)); }
  /// The next segment that came; its payload stays until the next one.
  vt::Segment take() {
    present_.clear();
    const auto header = vt::SegmentHeader::parse(received_);
    if (!header || received_.size() < header->segment_length) {
      ADD_FAILURE() << "no segment came";
      return {};
    }
    const auto end = received_.begin() + header->segment_length;
    present_.assign(received_.begin(), end);
    received_.erase(received_.begin(), end);
    const auto segment = vt::Segment::parse(present_, crc_);
    EXPECT_TRUE(segment) << to_string(segment.error());
    return *segment;
  }
  [[nodiscard]] bool nothing_came() const { return received_.empty(); }
  /// The provider closed or reset the stream.
  [[nodiscard]] bool is_closed() const { return ended_ || broken_; }
  void close() { stream_.reset(); }
  void reset() { stream_->reset(); }
  void stop_reading() { reads_ = false; }
  void read_again() {
    reads_ = true;
    if (stream_ != nullptr && !ended_) stream_->ask_readable();
  }
  /// For another stream.
  void forget() { received_.clear(), ended_ = broken_ = crc_ = false; }

 private:
  void connected() override { stream_->ask_readable(); }
  void readable() override {
    if (!reads_) return;
    std::array<std::uint8_t, 4096> room;
    const streams::ReadResult result = stream_->read(room);
    received_.insert(received_.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(result.octets));
    ended_ = result.end;
    if (!ended_) return stream_->ask_readable();
    stream_->shut_down();
  }
  void closed(streams::Reason) override { broken_ = true; }
  void accepted(std::unique_ptr<streams::Stream> stream) override {
    stream_ = std::move(stream);
    stream_->set_user(*this);
    stream_->ask_readable();
  }

  TwoHosts& hosts_;

 public:
  const wire::IpAddress address;

 private:
  streams::Streams& streams_;
  std::unique_ptr<streams::Listener> listener_;
  std::unique_ptr<streams::Stream> stream_;
  std::vector<std::uint8_t> received_, present_;
  bool ended_ = false, broken_ = false, crc_ = false, reads_ = true;
  vt::MessageNumber acknowledged_{};  // nothing but the provider's connection segment (ruling V-5)
};

}  // namespace vitcp::testing
