// Each field of each segment wrong, one at a time, in each state of an established connection, with the CRC and
// without (VI-TCP 3.2 to 3.6; rulings V-4, V-19, V-21, V-25, V-26, V-30, V-36, V-38): what the draft and the rulings
// say becomes of it, told by the Remote Error Code and counted by its reason; memory stays bounded, and another
// connection goes on.
//
// For each state: the segments that may come next, which the connection takes; then each of them with one field
// changed, its CRC right again; then those that may not come. What is expected is derived from state and field alone.
#include "tests/support/counted_new.hpp"
#include "tests/vitcp/stages.hpp"

namespace vitcp::testing {
namespace {
using vt::SegmentType;
using wire::ParseCode, wire::ParseError;
using Reason = std::variant<Refusal, ParseError>;

/// How the connection ends, by Provider::cause_of_end.
enum class Ends : std::uint8_t { not_at_all, protocol, stalled, transport, remote, local };
std::string_view text_of(Ends ends) {
  switch (ends) {
    case Ends::not_at_all: return "";
    case Ends::protocol: return "the peer broke a rule of VI/TCP";
    case Ends::stalled: return "the peer stopped inside a segment, and nothing more came of it (timeouts: segment)";
    case Ends::transport: return "a segment of the peer was damaged, or had not all its data (transport error)";
    case Ends::remote: return "the peer refused a message or an RDMA of ours";
    case Ends::local: return "a descriptor of this VI failed, or a message had none here that fitted";
  }
  return "?";
}

struct Outcome {
  Ends ends = Ends::not_at_all;
  std::vector<Reason> counted;  // each once, and no other
  vt::RemoteErrorCode told{};   // to the peer, by whatever goes out before the end
};
struct Case {
  std::string name;
  std::vector<std::uint8_t> octets;
  Outcome outcome;
};

constexpr ParseError bad_version{ParseCode::bad_value, "version"}, bad_type{ParseCode::bad_value, "type"},
    bad_length{ParseCode::bad_length, "segment_length"}, bad_offset{ParseCode::bad_value, "data_offset"},
    bad_end{ParseCode::bad_value, "end_of_message"}, bad_extent{ParseCode::bad_length, "rdma_length"},
    bad_crc{ParseCode::bad_crc, "crc"};

/// All cases of one state.
class Cases {
 public:
  explicit Cases(const Stage& stage) : stage_(stage) {
    for (const vt::TypeInfo& info : vt::segment_types) {
      if (const auto right = stage.next(info.type))
        fields_of(info, *right);
      else
        misplaced(info.type);
    }
  }
  std::vector<Case> all;

 private:
  using Change = std::function<void(vt::Segment&)>;
  using ChangeOctets = std::function<void(std::vector<std::uint8_t>&)>;

  // --- what becomes of it ------------------------------------------------------------------------------------------
  [[nodiscard]] bool reliable() const { return is_reliable(stage_.kind.level); }
  [[nodiscard]] bool acknowledges() const { return stage_.kind.level == reception; }
  [[nodiscard]] static Outcome taken() { return {}; }
  [[nodiscard]] static Outcome broken(Refusal refusal) { return {Ends::protocol, {refusal}, {}}; }
  /// Ruling V-21: behind a damaged segment the length of that one was what was hit.
  [[nodiscard]] Outcome broken(const ParseError& error) const {
    return {stage_.damaged ? Ends::transport : Ends::protocol, {error}, {}};
  }
  /// VI-TCP 3.2, 3.6, VI-ARCH 2.5: the message is in error. Only at Reliable Reception the peer is told.
  [[nodiscard]] Outcome in_error(Ends ends, const vt::RemoteErrorCode& told, std::vector<Reason> counted = {}) const {
    return {reliable() ? ends : Ends::not_at_all, std::move(counted), acknowledges() ? told : vt::RemoteErrorCode{}};
  }
  [[nodiscard]] Outcome damaged(std::vector<Reason> counted) const {
    return in_error(Ends::transport, {.unrecoverable_transport_error = true}, std::move(counted));
  }
  /// Ruling V-38.
  [[nodiscard]] Outcome stalled() const {
    if (!stage_.kind.crc) return {Ends::stalled, {Refusal::segment_stalled}, {}};
    Outcome outcome = damaged({Refusal::segment_stalled});
    outcome.ends = Ends::transport;
    return outcome;
  }

  // --- the changes -------------------------------------------------------------------------------------------------
  void add(const std::string& name, std::vector<std::uint8_t> octets, Outcome outcome) {
    all.push_back({type_ + ": " + name, std::move(octets), std::move(outcome)});
  }
  void change(const std::string& name, const vt::Segment& right, const Change& how, Outcome outcome) {
    vt::Segment wrong = right;
    how(wrong);
    add(name, stage_.peer.octets_of(wrong), std::move(outcome));
  }
  void rewrite(const std::string& name, const vt::Segment& right, const ChangeOctets& how, Outcome outcome) {
    auto octets = stage_.peer.octets_of(right);
    how(octets);
    stage_.peer.mend(octets);
    add(name, std::move(octets), std::move(outcome));
  }

  void fields_of(const vt::TypeInfo& info, const vt::Segment& right) {
    type_ = info.name;
    add("right", stage_.peer.octets_of(right), taken());
    version_and_type(right);
    length(info, right);
    data_offset(info, right);
    flags(info, right);
    message_number(info, right);
    told_fields(right);
    if (info.following == vt::FollowingHeader::rdma) rdma_header(info, right);
    if (!stage_.kind.crc) return;
    auto octets = stage_.peer.octets_of(right);
    octets.back() ^= 0x10;
    add("CRC", std::move(octets), damaged({bad_crc}));
  }

  void version_and_type(const vt::Segment& right) {
    for (const std::uint8_t version : std::vector<std::uint8_t>{0, 2, 255})
      rewrite(
          "version", right, [=](auto& octets) { octets[0] = version; }, broken(bad_version));
    for (const int type : {9, 15, 16, 23, 31})
      rewrite(
          "type", right, [=](auto& octets) { octets[1] = static_cast<std::uint8_t>((octets[1] & 0xE0) | type); },
          broken(bad_type));
  }

  static void set_length(std::vector<std::uint8_t>& octets, std::size_t length) {
    octets[2] = static_cast<std::uint8_t>(length >> 8);
    octets[3] = static_cast<std::uint8_t>(length);
  }
  void length(const vt::TypeInfo& info, const vt::Segment& right) {
    for (const std::size_t too_short : {0U, 1U, 23U})
      rewrite(
          "length too short", right, [=](auto& octets) { set_length(octets, too_short); }, broken(bad_length));
    for (const int by : {-1, 1}) {
      auto octets = stage_.peer.octets_of(right);
      set_length(octets, octets.size() + static_cast<std::size_t>(by));
      add(by < 0 ? "length one less" : "length one more", octets, length_off_by(by, info));
    }
    if (info.has_payload) return;
    vt::Segment other = right;  // a CRC where none was agreed, or none where it was
    other.trailer = !stage_.kind.crc;
    other.header.message_ack = {1};
    std::vector<std::uint8_t> octets(other.size());
    other.write(octets);
    const bool shortest = octets.size() < vt::segment_header_bytes + vt::trailer_bytes;
    const bool believed = !stage_.kind.crc || shortest || stage_.damaged;
    add("trailer", octets, believed ? broken(bad_length) : damaged({bad_crc}));
  }
  /// Nothing comes behind it.
  [[nodiscard]] Outcome length_off_by(int by, const vt::TypeInfo& info) const {
    if (!stage_.kind.crc) {
      if (!info.has_payload) return broken(bad_length);
      if (info.type == SegmentType::rdma_write) return broken(bad_extent);
      if (info.type == SegmentType::rdma_read_response) return broken(Refusal::read_response);
      return stalled();
    }
    if (!info.has_payload && (stage_.damaged || (by < 0 && info.type == SegmentType::nop))) return broken(bad_length);
    if (by > 0) return stalled();
    Outcome outcome = damaged({bad_crc});
    if (reliable()) return outcome;
    return {Ends::transport, {bad_crc, Refusal::segment_stalled}, {}};  // the octet that is left is no header
  }

  void data_offset(const vt::TypeInfo& info, const vt::Segment& right) {
    const std::uint32_t at = right.header.data_offset;
    for (const std::uint32_t offset : {at + 1, at - 1, 0xFFFFFFF0U}) {
      const bool beyond = std::uint64_t{offset} + right.payload.size() > 0xFFFFFFFF;
      change(
          "data offset", right, [=](auto& wrong) { wrong.header.data_offset = offset; },
          info.type == SegmentType::nop ? taken()
          : beyond || !info.has_payload ? broken(bad_offset)
                                        : wrong_offset(info.type));
    }
  }
  [[nodiscard]] Outcome wrong_offset(SegmentType type) const {
    if (type == SegmentType::rdma_write) return broken(bad_extent);
    if (type == SegmentType::rdma_read_response) return broken(Refusal::read_response);
    return stage_.damaged ? taken() : broken(Refusal::segment_order);  // V-36: it flags its message
  }

  void flags(const vt::TypeInfo& info, const vt::Segment& right) {
    change(
        "End of Message", right, [](auto& wrong) { wrong.header.end_of_message = false; }, without_end(info.type));
    const bool differs = stage_.open && info.has_immediate_data;
    change(
        "Immediate Data Valid", right, [](auto& wrong) { wrong.header.immediate_data_valid = true; },
        differs ? broken(Refusal::segment_differs) : taken());
    // Without its flag it is of no message (ruling V-26), and where it does not apply it must be ignored.
    rewrite(
        "Immediate Data", right, [](auto& octets) { octets[8] = 0xCA; }, taken());
    change(
        "Transmit Error", right, [](auto& wrong) { wrong.header.transmit_error = true; },
        with_transmit_error(info.type));
  }
  [[nodiscard]] Outcome without_end(SegmentType type) const {
    if (type == SegmentType::rdma_write) return broken(bad_extent);
    if (type == SegmentType::rdma_read_request) return broken(bad_end);
    if (type == SegmentType::rdma_read_response) return broken(Refusal::read_response);
    return taken();  // a Send may go on; of a NOP it is ignored (V-25)
  }
  [[nodiscard]] Outcome with_transmit_error(SegmentType type) const {
    if (type == SegmentType::nop) return taken();
    if (type == SegmentType::rdma_read_response) return {Ends::remote, {}, {}};
    return damaged({});
  }

  void message_number(const vt::TypeInfo& info, const vt::Segment& right) {
    for (const std::uint32_t by : {1U, 0xFFFFFFFFU, 0x80000010U}) {
      Outcome outcome = broken(Refusal::message_number);
      if (info.has_payload && stage_.open) outcome = broken(Refusal::message_mixed);
      if (info.type == SegmentType::rdma_read_response) outcome = broken(Refusal::read_response);
      if (stage_.damaged && by == 1) outcome = taken();  // V-36: those before it are lost
      change(
          "message number", right, [=](auto& wrong) { wrong.header.message_number.value += by; }, outcome);
    }
  }

  /// VI-TCP 3.2: Message ACK and VI Error Type must be ignored but at Reliable Reception.
  void told_fields(const vt::Segment& right) {
    for (const std::uint32_t by : {77U, 0xFFFFFFFFU})
      change(
          "Message ACK", right, [=, this](auto& wrong) { wrong.header.message_ack.value = acknowledged() + by; },
          acknowledges() ? broken(Refusal::message_ack) : taken());
    for (const std::uint16_t posted : {std::uint16_t{1}, std::uint16_t{0xFFFF}})
      change(
          "Rx Descriptors Posted", right, [=](auto& wrong) { wrong.header.rx_descriptors_posted = posted; }, taken());
    for (std::uint8_t bit = 0; bit != 3; ++bit)
      rewrite(
          "VI Error Type", right, [=](auto& octets) { octets[23] = static_cast<std::uint8_t>(1 << bit); },
          acknowledges() ? Outcome{Ends::remote, {}, {}} : taken());
    rewrite(
        "Remote Error Code, reserved", right, [](auto& octets) { octets[23] = 0xF8; }, taken());
    rewrite(
        "IS Error Code", right, [](auto& octets) { octets[22] = 0xFF; }, taken());
  }
  [[nodiscard]] std::uint32_t acknowledged() const {
    return vt::SegmentHeader::parse(stage_.peer.octets_of(RawPeer::message(SegmentType::nop, 0)))->message_ack.value;
  }

  void rdma_header(const vt::TypeInfo& info, const vt::Segment& right) {
    const bool write = info.type == SegmentType::rdma_write;
    const Outcome refused = write && stage_.open ? broken(Refusal::segment_differs)
                            : write              ? in_error(Ends::local, {.rdma_memory_protection_error = true})
                                                 : in_error(Ends::local, {});
    for (const std::uint64_t address :
         std::vector<std::uint64_t>{8, right.rdma.address ^ (1ULL << 62), ~std::uint64_t{3}})
      change(
          "RDMA address", right, [=](auto& wrong) { wrong.rdma.address = address; }, refused);
    for (const std::uint32_t handle : {0U, right.rdma.memory_handle.value ^ 0x5A5A00, 0xFFFFFFFFU})
      change(
          "memory handle", right, [=](auto& wrong) { wrong.rdma.memory_handle = {handle}; }, refused);
    const std::uint32_t length = right.rdma.length_bytes;
    const std::vector<std::uint32_t> lengths =
        write ? std::vector{length + 1, length - 1, 0U, 0xFFFFFFFFU} : std::vector{(1U << 20) + 1, 0xFFFFFFFFU};
    for (const std::uint32_t wrong_length : lengths)
      change(
          "RDMA length", right, [=](auto& wrong) { wrong.rdma.length_bytes = wrong_length; },
          write ? broken(bad_extent) : broken(Refusal::transfer_size));
  }

  /// A segment that would be right elsewhere.
  void misplaced(SegmentType type) {
    type_ = vt::info_of(type).name;
    static const std::vector<std::uint8_t> payload(20, 'p');
    const vt::TypeInfo& info = vt::info_of(type);
    vt::Segment segment =
        RawPeer::message(type, stage_.last + 1, info.has_payload ? wire::Bytes(payload) : wire::Bytes{});
    segment.ce = RawPeer::request(stage_.kind.level, stage_.kind.crc).ce;
    if (info.is_connection) segment.trailer = stage_.kind.crc;
    const Outcome connection = stage_.damaged ? broken(bad_type) : broken(Refusal::connection_segment);
    add("not now", stage_.peer.octets_of(segment),
        info.is_connection                        ? connection
        : type == SegmentType::rdma_read_response ? broken(Refusal::read_response)
                                                  : broken(Refusal::message_mixed));
  }

  const Stage& stage_;
  std::string type_;
};

std::uint64_t count_of(const ProviderCounters& counters, const Reason& reason) {
  return std::visit([&](const auto& what) { return counters.refused(what); }, reason);
}

/// Two providers with a connection that must not be disturbed, and a peer by hand brought to the state.
struct Trial {
  Trial(const StageOfConnection& state, Kind kind) {
    ends.emplace(hosts.connect(kind.level));
    stage.emplace(hosts, kind);
    state.reach(*stage);
  }
  static Settings settings() {
    Settings settings;
    settings.server.segment_timeout = runtime::second;
    return settings;
  }
  TwoHosts hosts{settings()};
  std::optional<std::pair<End, End>> ends;
  std::optional<Stage> stage;
};

void judge(Trial& trial, const Case& one) {
  TwoHosts& hosts = trial.hosts;
  Stage& stage = *trial.stage;
  const Provider& provider = hosts.server->provider;
  ASSERT_EQ(stage.end->vi.state(), vi::State::Connected);
  const std::uint64_t before = provider.counters().refused();
  std::vector<std::uint64_t> counted;
  for (const Reason& reason : one.outcome.counted) counted.push_back(count_of(provider.counters(), reason));
  const auto memory = static_cast<long>(support::live_bytes);
  stage.peer.send(one.octets, runtime::millisecond);
  EXPECT_LT(static_cast<long>(support::live_bytes) - memory, 140'000);
  stage.peer.read_again();
  hosts.run(4 * runtime::second);
  const bool ends = one.outcome.ends != Ends::not_at_all;
  EXPECT_EQ(stage.end->vi.state(), ends ? vi::State::Error : vi::State::Connected);
  EXPECT_EQ(stage.peer.is_closed(), ends);
  if (ends) {
    EXPECT_EQ(provider.cause_of_end(stage.end->vi).text, text_of(one.outcome.ends));
  }
  for (std::size_t i = 0; i != counted.size(); ++i)
    EXPECT_EQ(count_of(provider.counters(), one.outcome.counted[i]), counted[i] + 1) << i;
  EXPECT_EQ(provider.counters().refused(), before + counted.size());
  vt::RemoteErrorCode told;
  while (!stage.peer.nothing_came() && !::testing::Test::HasFailure())
    if (const vt::RemoteErrorCode code = stage.peer.take().header.remote_error; code != vt::RemoteErrorCode{})
      told = code;
  EXPECT_EQ(told, one.outcome.told) << told.to_string();
  auto& [c, d] = *trial.ends;
  d.receive(8);
  c.send("fine");
  hosts.settle();
  EXPECT_EQ(d.received(), "fine");
}

class VitcpEveryField : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(State, VitcpEveryField, ::testing::Range(std::size_t{0}, stages_of_connection.size()),
                         [](const auto& state) { return stages_of_connection[state.param].name; });

TEST_P(VitcpEveryField, wrong_isAnsweredAsDraftAndRulingsSay) {
  const StageOfConnection& state = stages_of_connection[GetParam()];
  std::size_t tried = 0;
  for (const vi::ReliabilityLevel level : every_level)
    for (const bool crc : {false, true}) {
      const Kind kind{level, crc};
      if (!state.is_of(kind)) continue;
      const std::size_t count = Cases(*Trial(state, kind).stage).all.size();
      for (std::size_t i = 0; i != count; ++i) {
        Trial trial(state, kind);
        const Case one = Cases(*trial.stage).all[i];
        SCOPED_TRACE(name_of({kind, 0}) + ", " + one.name + " " + std::to_string(i));
        judge(trial, one);
        ++tried;
        if (::testing::Test::HasFailure()) return;
      }
    }
  RecordProperty("cases", static_cast<int>(tried));
  EXPECT_GT(tried, 100U);
}

}  // namespace
}  // namespace vitcp::testing
