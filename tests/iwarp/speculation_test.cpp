// IFT over TCP segments in any order: what is placed before its turn, and that memory and completions are those of the
// order in which they were sent (IFT 6, 8).
#include <algorithm>
#include <numeric>
#include <random>

#include "iwarp/ift_framing.hpp"
#include "iwarp/receiver.hpp"
#include "streams/segment_order.hpp"
#include "tests/iwarp/scripted_stream.hpp"
#include "tests/iwarp/two_ends.hpp"

namespace iwarp::testing {
namespace {
using wire::ddp::Header;
using wire::ift::CrcUse;
using wire::rdmap::Cause;
using wire::rdmap::Control;
using wire::rdmap::Opcode;
using Octets = std::vector<std::uint8_t>;

/// What a receiving TCP has of `sent`, segment by segment. It forgets what was let go.
class SegmentStream final : public streams::Stream, public streams::EarlyOctets {
 public:
  explicit SegmentStream(Octets sent) : sent_(std::move(sent)), has_(sent_.size()) {}

  void arrive(std::uint64_t at, std::uint64_t end) {
    std::copy(sent_.begin() + static_cast<std::ptrdiff_t>(at), sent_.begin() + static_cast<std::ptrdiff_t>(end),
              has_.begin() + static_cast<std::ptrdiff_t>(at));
    order_.arrive(at, end);
  }
  /// What TCP acknowledges.
  [[nodiscard]] std::uint64_t acknowledged() const { return order_.front(); }
  [[nodiscard]] std::uint64_t size() const { return sent_.size(); }

  // streams::EarlyOctets
  [[nodiscard]] std::uint64_t position() const override { return read_; }
  [[nodiscard]] std::optional<std::uint64_t> next_segment() override { return order_.take_early_segment(); }
  [[nodiscard]] std::size_t peek(std::uint64_t at, wire::MutableBytes room) override {
    const std::size_t there = std::min(room.size(), static_cast<std::size_t>(order_.end_of_run(at) - at));
    std::copy_n(has_.begin() + static_cast<std::ptrdiff_t>(at), there, room.begin());
    return there;
  }
  void let_go(std::uint64_t at, std::size_t octets) override {
    order_.let_go(at, at + octets);
    std::fill_n(has_.begin() + static_cast<std::ptrdiff_t>(at), octets, 0xDD);
  }
  void pass_over(std::size_t octets) override {
    order_.pass_over(read_, read_ + octets);
    read_ += octets;
  }
  void call_back(std::uint64_t at, std::size_t octets) override { order_.call_back(at, at + octets); }

  // streams::Stream
  void set_user(streams::StreamUser&) override {}
  [[nodiscard]] streams::Address local() const override { return {}; }
  [[nodiscard]] streams::Address remote() const override { return {}; }
  std::size_t write(std::span<const wire::Bytes>) override { return 0; }
  streams::ReadResult read(std::span<const wire::MutableBytes> pieces) override {
    streams::ReadResult result;
    for (const wire::MutableBytes piece : pieces) {
      const std::size_t here = std::min(piece.size(), static_cast<std::size_t>(order_.front() - read_));
      std::copy_n(has_.begin() + static_cast<std::ptrdiff_t>(read_), here, piece.begin());
      read_ += here;
      result.octets += here;
    }
    return result;
  }
  [[nodiscard]] streams::EarlyOctets* early_octets() override { return order_.watch(), this; }
  void ask_readable() override {}
  void ask_writable() override {}
  bool mark_urgent() override { return false; }
  void shut_down() override {}
  void reset() override {}

 private:
  const Octets sent_;
  Octets has_;  // what came of it
  streams::SegmentOrder order_;
  std::uint64_t read_ = 0;
};

struct Crcs {
  CrcUse header, payload;
};
constexpr wire::ift::VTag vtag{0x1234};

/// A stream of frames, and where each begins.
class Frames {
 public:
  explicit Frames(const Crcs& crcs) : framing_{.vtag = vtag, .header_crc = crcs.header, .payload_crc = crcs.payload} {}
  Frames& add(const Header& header, const Octets& payload) {
    begins.push_back(octets.size());
    const Octets frame = octets_of(header, payload);
    octets.insert(octets.end(), frame.begin(), frame.end());
    return *this;
  }
  [[nodiscard]] Octets octets_of(const Header& header, const Octets& payload) const {
    const wire::ift::Frame frame{header, payload};
    Octets all(frame.size(framing_));
    frame.write(all, framing_);
    return all;
  }
  [[nodiscard]] std::uint64_t end_of(std::size_t index) const {
    return index + 1 < begins.size() ? begins[index + 1] : octets.size();
  }
  [[nodiscard]] const wire::ift::Framing& framing() const { return framing_; }
  Octets octets;
  std::vector<std::uint64_t> begins;

 private:
  wire::ift::Framing framing_;
};

std::uint8_t control_of(Opcode opcode) { return Control{.opcode = opcode}.to_rsvd_ulp(); }
Header write_header(STag stag, std::uint64_t at, bool last = true) {
  return {.tagged = true, .last = last, .rsvd_ulp = control_of(Opcode::rdma_write), .stag = stag, .tagged_offset = at};
}
Header send_header(std::uint32_t msn, std::uint32_t offset, bool last) {
  return {.last = last, .rsvd_ulp = control_of(Opcode::send), .msn = {msn}, .message_offset = offset};
}

/// One that receives: memory of which a part is registered, and two buffers for Sends.
class Target final : public ReceiverUser {
 public:
  static constexpr std::size_t margin = 64, region_octets = 4096, buffer_octets = 600;
  explicit Target(bool speculates = true) : receiver_(memory_, *this, {.who = Accessor(domain)}) {
    if (speculates) memory_.track_writes();
    region =
        *memory_.add(domain, wire::MutableBytes(octets).subspan(margin, region_octets), 0, {true, true, true, true});
    buffers = *memory_.add(domain, inbox, 0, {.local_write = true});
    speculates_ = speculates;
  }
  void post(std::uint64_t id, std::uint64_t at) {
    // In two pieces, which do not follow each other.
    const std::uint32_t half = buffer_octets / 2;
    receiver_.post({id, {{buffers, at, half}, {buffers, at + 2 * buffer_octets, half}}});
  }
  void begin(const Frames& frames) {
    stream = std::make_unique<SegmentStream>(frames.octets);
    framing_ = std::make_unique<IftFraming>(*workspace_, receiver_, IftTerms{frames.framing(), frames.framing(), 1460});
    if (speculates_) framing_->place_speculatively(*memory_.written(), counts);
    read();
  }
  void arrive(std::uint64_t at, std::uint64_t end) {
    stream->arrive(at, end);
    read();
  }
  void read() {
    while (framing_->read(*stream).more) {}
    EXPECT_TRUE(framing_->is_consistent());
    EXPECT_TRUE(receiver_.is_consistent());
  }
  /// TCP's other end sends what is not acknowledged, until all is.
  void resend() {
    while (stream->acknowledged() < stream->size()) {
      const std::uint64_t before = stream->acknowledged();
      arrive(before, stream->size());
      ASSERT_GT(stream->acknowledged(), before);
    }
  }
  /// What counts: memory that was written for sure, and what was told.
  [[nodiscard]] bool margins_are_untouched() const {
    const auto is_new = [](std::uint8_t octet) { return octet == 0xEE; };
    return std::all_of(octets.begin(), octets.begin() + margin, is_new) &&
           std::all_of(octets.end() - margin, octets.end(), is_new);
  }
  [[nodiscard]] wire::Bytes written(std::uint64_t at, std::size_t count) const {
    return wire::Bytes(octets).subspan(margin + at, count);
  }
  [[nodiscard]] std::uint64_t received() const { return framing_->counts().received; }
  MemoryTable& memory() { return memory_; }
  Receiver& receiver() { return receiver_; }

  Octets octets = Octets(region_octets + 2 * margin, 0xEE), inbox = Octets(4 * buffer_octets, 0xEE);
  STag region{}, buffers{};
  std::unique_ptr<SegmentStream> stream;
  SpeculationCounts counts;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sends;  // which, and their octets
  std::vector<Cause> refused;
  std::vector<wire::mpa::ErrorCode> errors;

 private:
  void send_received(const Completion& completion) override { sends.emplace_back(completion.id, completion.octets); }
  void read_request_received(const wire::rdmap::ReadRequest&, const CapturedError&) override {}
  void read_response_received() override {}
  void terminate_received(wire::Bytes, bool) override {}
  bool first_ulpdu_received() override { return false; }
  void segment_refused(const CapturedError& error) override { refused.push_back(error.cause), receiver_.stop(); }
  void framing_refused(wire::mpa::ErrorCode error) override { errors.push_back(error); }

  std::unique_ptr<Workspace> workspace_ = std::make_unique<Workspace>();
  MemoryTable memory_;
  Receiver receiver_;
  std::unique_ptr<IftFraming> framing_;
  bool speculates_ = true;
};

class SpeculationTest : public ::testing::TestWithParam<Crcs> {
 protected:
  /// A Send and an RDMA Write of three segments each, in turns.
  [[nodiscard]] Frames six(const Target& target) const {
    Frames frames(GetParam());
    for (std::uint32_t i = 0; i < 3; ++i) {
      frames.add(send_header(1, i * 200, i == 2), octets_of_seed(200, static_cast<std::uint8_t>(i)));
      frames.add(write_header(target.region, 1000 - i * 300, i == 2),
                 octets_of_seed(300, static_cast<std::uint8_t>(40 + i)));
    }
    return frames;
  }
  /// Those octets of the inbox and of the region that the six write are as they should be.
  static void check_six(const Target& target) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      const Octets written = octets_of_seed(300, static_cast<std::uint8_t>(40 + i));
      EXPECT_TRUE(std::equal(written.begin(), written.end(), target.written(1000 - i * 300, 300).begin())) << i;
      const Octets sent = octets_of_seed(200, static_cast<std::uint8_t>(i));
      for (std::uint32_t at = 0; at < 200; ++at) {
        const std::size_t place = i * 200 + at;
        const std::size_t half = Target::buffer_octets / 2;
        const std::size_t in_box = place < half ? place : 2 * Target::buffer_octets + place - half;
        EXPECT_EQ(target.inbox[in_box], sent[at]) << place;
      }
    }
    EXPECT_TRUE(target.margins_are_untouched());
  }
};

// Every order of six segments: all that can be placed early is, nothing is told before its turn, nothing is wrong.
// IFT 6, 8; WARP 3, WARP 4, WARP 7.
TEST_P(SpeculationTest, every_order_of_six_segments) {
  std::array<std::size_t, 6> order{};
  std::iota(order.begin(), order.end(), 0);
  do {
    Target target;
    const Frames frames = six(target);
    target.post(7, 0);
    target.begin(frames);
    std::set<std::size_t> there;
    for (const std::size_t index : order) {
      target.arrive(frames.begins[index], frames.end_of(index));
      there.insert(index);
      std::size_t in_order = 0;
      while (there.contains(in_order)) ++in_order;
      ASSERT_EQ(target.received(), in_order);
      ASSERT_EQ(target.sends.size(), in_order >= 5 ? 1u : 0u);
      ASSERT_EQ(target.counts.placed - target.counts.right, there.size() - in_order) << "all the others are in place";
    }
    check_six(target);
    ASSERT_EQ(target.sends, (std::vector<std::pair<std::uint64_t, std::uint32_t>>{{7, 600}}));
    ASSERT_EQ(target.counts.placed, target.counts.right);
    ASSERT_EQ(target.stream->acknowledged(), frames.octets.size());
    ASSERT_TRUE(target.refused.empty());
  } while (std::next_permutation(order.begin(), order.end()));
}

// All but the first of six come: their octets are in place, and nothing is told or acknowledged. IFT 8; WARP 3, WARP 4.
TEST_P(SpeculationTest, in_place_before_its_turn) {
  Target target;
  const Frames frames = six(target);
  target.post(7, 0);
  target.begin(frames);
  for (std::size_t index = 5; index > 0; --index) target.arrive(frames.begins[index], frames.end_of(index));
  EXPECT_EQ(target.inbox[0], 0xEE);
  EXPECT_EQ(target.received(), 0u);
  EXPECT_TRUE(target.sends.empty());
  EXPECT_EQ(target.stream->acknowledged(), 0u);
  const Octets first = octets_of_seed(200, 0);
  std::copy(first.begin(), first.end(), target.inbox.begin());
  check_six(target);
}

// Each of the six is lost once, and the rest comes in order; what follows a lost one is sent again though it is there.
// IFT 8; WARP 7.
TEST_P(SpeculationTest, every_single_loss) {
  for (std::size_t lost = 0; lost < 6; ++lost) {
    Target target;
    const Frames frames = six(target);
    target.post(7, 0);
    target.begin(frames);
    for (std::size_t index = 0; index < 6; ++index)
      if (index != lost) target.arrive(frames.begins[index], frames.end_of(index));
    EXPECT_EQ(target.stream->acknowledged(), frames.begins[lost]);
    target.resend();
    check_six(target);
    EXPECT_EQ(target.sends.size(), 1u);
    EXPECT_EQ(target.counts.placed, 5 - lost);
    EXPECT_EQ(target.counts.right, 5 - lost);
  }
}

// Without SP nothing is placed before its turn. IFT 4.2, 8; WARP 19.
TEST_P(SpeculationTest, not_permitted) {
  Target target(false);
  const Frames frames = six(target);
  target.post(7, 0);
  target.begin(frames);
  for (std::size_t index = 5; index > 0; --index) target.arrive(frames.begins[index], frames.end_of(index));
  const auto is_new = [](std::uint8_t octet) { return octet == 0xEE; };
  EXPECT_TRUE(std::all_of(target.inbox.begin(), target.inbox.end(), is_new));
  EXPECT_TRUE(std::all_of(target.octets.begin(), target.octets.end(), is_new));
  target.arrive(0, frames.end_of(0));
  check_six(target);
  EXPECT_EQ(target.counts.placed, 0u);
}

// Payload that looks like a frame in all, CRCs and VTag too: it is placed, and found to be none in its turn. It was
// let go, so it is not acknowledged, and comes again. Nothing of it is told. IFT 8.
TEST_P(SpeculationTest, payload_that_looks_like_a_frame) {
  Target target;
  Frames frames(GetParam());
  const Octets planted = frames.octets_of(write_header(target.region, 3000), Octets(100, 0xAA));
  Octets payload = octets_of_seed(50, 3);
  payload.insert(payload.end(), planted.begin(), planted.end());
  payload.resize(400, 0x77);
  frames.add(write_header(target.region, 0), payload);
  frames.add(write_header(target.region, 1000), octets_of_seed(100, 9));
  target.begin(frames);
  const std::uint64_t false_begin = frames.end_of(0) - 350 - (GetParam().payload == CrcUse::absent ? 0 : 4);
  target.arrive(false_begin, frames.octets.size());
  EXPECT_EQ(target.counts.placed, 1u);
  EXPECT_EQ(target.written(3000, 1)[0], 0xAA) << "unpredictable (8.3)";
  target.arrive(0, false_begin);
  EXPECT_EQ(target.counts.misaligned, 1u);
  EXPECT_EQ(target.received(), 0u);
  EXPECT_EQ(target.stream->acknowledged(), false_begin);
  target.resend();
  EXPECT_TRUE(std::equal(payload.begin(), payload.end(), target.written(0, 400).begin()));
  EXPECT_EQ(target.received(), 2u);
  EXPECT_TRUE(target.refused.empty());
  EXPECT_TRUE(target.errors.empty());
  EXPECT_TRUE(target.margins_are_untouched());
}

// Each field of the headers that is wrong keeps a frame from being placed early, and nothing is told of it before its
// turn; then it is. IFT 8, 8.1.
TEST_P(SpeculationTest, any_wrong_field_disqualifies) {
  struct Wrong {
    const char* what;
    Header header;
    std::size_t octets = 100;
  };
  const Target model;  // of the same seed, the same STags
  Header other_dv = write_header(model.region, 0), reserved_opcode = other_dv, untagged_opcode = other_dv;
  other_dv.version = 3;
  reserved_opcode.rsvd_ulp = 0x4F;
  untagged_opcode.rsvd_ulp = control_of(Opcode::send);
  Header other_rv = other_dv;
  other_rv.version = 1;
  other_rv.rsvd_ulp = static_cast<std::uint8_t>(Control{.version = 3}.to_rsvd_ulp());
  Header other_queue = send_header(1, 0, true), far_queue = other_queue;
  other_queue.queue_number = 1;
  far_queue.queue_number = 77;
  Header no_response = write_header(model.region, 0);
  no_response.rsvd_ulp = control_of(Opcode::rdma_read_response);
  const std::array<Wrong, 13> all{{{"STag", write_header({0xBAD}, 0)},
                                   {"right", write_header(model.buffers, 0)},
                                   {"TO", write_header(model.region, Target::region_octets - 99)},
                                   {"TO wrap", write_header(model.region, ~0ULL - 50)},
                                   {"DV", other_dv},
                                   {"RV", other_rv},
                                   {"opcode", reserved_opcode},
                                   {"opcode and T", untagged_opcode},
                                   {"no RDMA Read", no_response},
                                   {"QN", other_queue},
                                   {"QN of nobody", far_queue},
                                   {"MSN", send_header(2, 0, true)},
                                   {"MO", send_header(1, Target::buffer_octets - 99, true)}}};
  for (const Wrong& wrong : all) {
    SCOPED_TRACE(wrong.what);
    Target target;
    target.post(7, 0);
    Frames frames(GetParam());
    frames.add(write_header(target.region, 2000), octets_of_seed(10, 1)).add(wrong.header, Octets(wrong.octets, 0xAA));
    target.begin(frames);
    const Octets before = target.octets, inbox = target.inbox;
    target.arrive(frames.begins[1], frames.octets.size());
    EXPECT_EQ(target.octets, before);
    EXPECT_EQ(target.inbox, inbox);
    EXPECT_EQ(target.counts.refused, 1u);
    EXPECT_TRUE(target.refused.empty());
    target.arrive(0, frames.begins[1]);
    EXPECT_EQ(target.refused.size(), 1u);
  }
}

// Damaged sizes, VTag and CRCs: the same. IFT 8, 8.1.
TEST_P(SpeculationTest, damaged_frame_is_not_placed) {
  const bool checks_header = GetParam().header == CrcUse::checked,
             checks_payload = GetParam().payload == CrcUse::checked;
  for (const std::uint64_t at : {0U, 1U, 2U, 4U, 5U, 7U, 12U, 23U, 60U, 127U}) {
    if ((at > 5 && at < 20 && !checks_header) || (at > 23 && !checks_payload)) continue;
    if (at == 23 && !checks_header && !checks_payload) continue;
    SCOPED_TRACE(at);
    Target target;
    Frames frames(GetParam());
    frames.add(write_header(target.region, 2000), octets_of_seed(10, 1));
    frames.add(write_header(target.region, 0), Octets(120, 0xAA));
    frames.octets[frames.begins[1] + at] ^= 0x40;
    target.begin(frames);
    target.arrive(frames.begins[1], frames.octets.size());
    EXPECT_EQ(target.counts.placed, 0u);
    EXPECT_EQ(target.written(0, 1)[0], 0xEE);
    EXPECT_TRUE(target.errors.empty());
  }
}

// Nothing that was placed is written over early: neither what came in order nor what came early. IFT 8.2.
TEST_P(SpeculationTest, never_over_what_was_placed) {
  Target target;
  Frames frames(GetParam());
  frames.add(write_header(target.region, 100), Octets(50, 1));
  frames.add(write_header(target.region, 400), Octets(10, 2));
  frames.add(write_header(target.region, 140), Octets(20, 3));  // over the first
  frames.add(write_header(target.region, 300), Octets(50, 4));
  frames.add(write_header(target.region, 349), Octets(5, 5));  // over the fourth
  target.begin(frames);
  target.arrive(0, frames.end_of(0));
  for (const std::size_t index : {2U, 3U, 4U}) target.arrive(frames.begins[index], frames.end_of(index));
  EXPECT_EQ(target.written(140, 1)[0], 1);
  EXPECT_EQ(target.written(349, 1)[0], 4);
  EXPECT_EQ(target.counts.written, 2u);
  EXPECT_EQ(target.counts.placed, 1u);
  target.arrive(frames.begins[1], frames.end_of(1));
  EXPECT_EQ(target.written(140, 1)[0], 3);
  EXPECT_EQ(target.written(349, 1)[0], 5);
  EXPECT_EQ(target.counts.right, 1u);
  EXPECT_EQ(target.received(), 5u);
}

// What is placed in order over an early one voids it: that one is placed again. IFT 8.2.
TEST_P(SpeculationTest, in_order_goes_over_early) {
  Target target;
  Frames frames(GetParam());
  frames.add(write_header(target.region, 0), Octets(10, 1));
  frames.add(write_header(target.region, 110), Octets(50, 2));  // over a part of the next one
  frames.add(write_header(target.region, 100), Octets(30, 3));
  target.begin(frames);
  target.arrive(frames.begins[2], frames.end_of(2));
  EXPECT_EQ(target.written(100, 1)[0], 3);
  target.arrive(0, frames.begins[2]);
  EXPECT_EQ(target.counts.overwritten, 1u);
  EXPECT_EQ(target.received(), 2u);
  EXPECT_EQ(target.stream->acknowledged(), frames.begins[2]);
  target.resend();
  EXPECT_EQ(target.received(), 3u);
  for (std::uint64_t at = 100; at < 130; ++at) ASSERT_EQ(target.written(at, 1)[0], 3) << at;
  for (std::uint64_t at = 130; at < 160; ++at) ASSERT_EQ(target.written(at, 1)[0], 2) << at;
}

// A region that goes before the turn of what was placed there: refused then, and not before. IFT 8.
TEST_P(SpeculationTest, region_is_gone_in_its_turn) {
  Target target;
  Frames frames(GetParam());
  const STag region = target.region;
  frames.add(write_header(region, 0, false), Octets(10, 1)).add(write_header(region, 10), Octets(30, 3));
  target.begin(frames);
  target.arrive(frames.begins[1], frames.end_of(1));
  target.arrive(0, 20);
  EXPECT_EQ(target.counts.placed, 1u);
  target.arrive(20, frames.begins[1] - 1);
  target.memory().remove(region);
  target.arrive(frames.begins[1] - 1, frames.begins[1]);
  EXPECT_EQ(target.counts.right, 0u);
  target.resend();
  EXPECT_EQ(target.refused.size(), 1u);
}

// Its STag goes, and the memory stays another region's: what was placed there belongs nowhere in its turn. IFT 8.
TEST_P(SpeculationTest, stag_is_gone_in_its_turn) {
  Target target;
  const STag stag = *target.memory().add(domain, wire::MutableBytes(target.octets).subspan(Target::margin, 100), 0,
                                         {true, true, true, true});
  Frames frames(GetParam());
  frames.add(write_header(target.region, 200), Octets(10, 1)).add(write_header(stag, 10), Octets(30, 3));
  target.begin(frames);
  target.arrive(frames.begins[1], frames.end_of(1));
  EXPECT_EQ(target.counts.placed, 1u);
  target.memory().remove(stag);
  target.arrive(0, frames.begins[1]);
  EXPECT_EQ(target.counts.elsewhere, 1u);
  EXPECT_TRUE(target.refused.empty());
  target.resend();
  EXPECT_EQ(target.refused.size(), 1u);
}

// A region that its owner had between placement and turn: what was placed early is void, and placed again. IFT 6, 8.2.
TEST_P(SpeculationTest, region_is_valid_again_in_its_turn) {
  Target target;
  Frames frames(GetParam());
  frames.add(write_header(target.region, 200), Octets(10, 1)).add(write_header(target.region, 10), Octets(30, 3));
  target.begin(frames);
  target.arrive(frames.begins[1], frames.end_of(1));
  EXPECT_EQ(target.counts.placed, 1u);
  ASSERT_FALSE(target.memory().invalidate(target.region, domain, Right::remote_write));
  target.octets[Target::margin + 20] = 0x55;
  ASSERT_TRUE(target.memory().revalidate(target.region, static_cast<std::uint8_t>(target.region.value)));
  target.arrive(0, frames.begins[1]);
  EXPECT_EQ(target.counts.overwritten, 1u);
  target.resend();
  EXPECT_EQ(target.received(), 2u);
  for (std::uint64_t at = 10; at < 40; ++at) ASSERT_EQ(target.written(at, 1)[0], 3) << at;
}

// A buffer is written anew once it is posted again, and only then. IFT 8.2, 8.3.
TEST_P(SpeculationTest, posted_buffer_is_new) {
  Target target;
  Frames frames(GetParam());
  frames.add(send_header(1, 0, true), Octets(100, 1)).add(write_header(target.region, 0), Octets(10, 1));
  frames.add(send_header(2, 0, true), Octets(100, 2)).add(send_header(3, 0, true), Octets(100, 3));
  target.post(1, 0);
  target.begin(frames);
  target.arrive(0, frames.begins[1]);
  target.post(2, 0);
  target.arrive(frames.begins[2], frames.end_of(2));
  EXPECT_EQ(target.counts.placed, 1u);
  EXPECT_EQ(target.inbox[0], 2);
  target.post(3, 0);  // the same buffer: one of the two is in vain
  target.arrive(frames.begins[3], frames.end_of(3));
  target.arrive(frames.begins[1], frames.end_of(1));
  target.resend();
  EXPECT_EQ(target.sends.size(), 3u);
  EXPECT_EQ(target.inbox[0], 3);
}

/// Random messages, cut anywhere, in any order, more than once, with payload that looks like frames: the same memory
/// and completions as in order. Octets that nobody wrote may differ (8.3).
class RandomSegments {
 public:
  RandomSegments(unsigned seed, const Crcs& crcs) : random_(seed), frames_(crcs) {}
  void run() {
    for (int i = 0; i < 2; ++i)
      early_.post(static_cast<std::uint64_t>(i), i * Target::buffer_octets),
          in_order_.post(static_cast<std::uint64_t>(i), i * Target::buffer_octets);
    for (int i = 0; i < 12; ++i) add_message();
    early_.begin(frames_);
    in_order_.begin(frames_);
    in_order_.arrive(0, frames_.octets.size());
    for (int i = 0; i < 60; ++i) arrive_anywhere();
    for (int i = 0; i < 200 && early_.stream->acknowledged() < early_.stream->size(); ++i)
      arrive_at_front(), arrive_anywhere();
    early_.resend();
    compare();
  }
  [[nodiscard]] const SpeculationCounts& counts() const { return early_.counts; }

 private:
  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  void add_message() {
    if (draw(3) == 0 && msn_ <= 2) return add_send();
    const std::uint32_t octets = 1 + draw(400), at = draw(Target::region_octets - octets);
    std::fill_n(written_.begin() + at, octets, true);
    frames_.add(write_header(early_.region, at), payload(octets));
  }
  void add_send() {
    const std::uint32_t segments = 1 + draw(3);
    for (std::uint32_t i = 0; i < segments; ++i)
      frames_.add(send_header(msn_, i * 150, i + 1 == segments), payload(150));
    ++msn_;
  }
  Octets payload(std::uint32_t octets) {
    Octets all(octets);
    for (std::uint8_t& octet : all) octet = static_cast<std::uint8_t>(random_());
    const Octets planted = frames_.octets_of(write_header(early_.region, draw(4000)), Octets(20, 0xAB));
    if (octets > planted.size() + 1 && draw(2) == 0) {
      const std::uint32_t at = draw(octets - static_cast<std::uint32_t>(planted.size()));
      std::copy(planted.begin(), planted.end(), all.begin() + at);
      likely_.push_back(frames_.octets.size() + 20 + (frames_.framing().header_crc == CrcUse::absent ? 0 : 4) + at);
    }
    return all;
  }
  /// Often where a frame begins, or seems to.
  std::uint64_t begin() {
    const std::uint32_t kind = draw(4);
    if (kind == 0 && !likely_.empty()) return likely_[draw(static_cast<std::uint32_t>(likely_.size()))];
    if (kind == 1) return draw(static_cast<std::uint32_t>(frames_.octets.size()));
    return frames_.begins[draw(static_cast<std::uint32_t>(frames_.begins.size()))];
  }
  void arrive_from(std::uint64_t at) {
    early_.arrive(at, std::min<std::uint64_t>(frames_.octets.size(), at + 1 + draw(700)));
  }
  void arrive_anywhere() { arrive_from(begin()); }
  void arrive_at_front() { arrive_from(early_.stream->acknowledged()); }
  void compare() {
    ASSERT_EQ(early_.received(), in_order_.received());
    ASSERT_EQ(early_.sends, in_order_.sends);
    ASSERT_EQ(early_.refused, in_order_.refused);
    ASSERT_TRUE(early_.errors.empty());
    ASSERT_TRUE(early_.margins_are_untouched());
    for (std::size_t at = 0; at < Target::region_octets; ++at)
      ASSERT_TRUE(!written_[at] || early_.written(at, 1)[0] == in_order_.written(at, 1)[0]) << at;
    const std::size_t buffers = msn_ - 1;
    for (std::size_t i = 0; i < buffers; ++i) {
      const std::size_t at = i * Target::buffer_octets, octets = std::min<std::size_t>(in_order_.sends[i].second, 300);
      ASSERT_TRUE(std::equal(early_.inbox.begin() + static_cast<std::ptrdiff_t>(at),
                             early_.inbox.begin() + static_cast<std::ptrdiff_t>(at + octets),
                             in_order_.inbox.begin() + static_cast<std::ptrdiff_t>(at)));
      const auto second = static_cast<std::ptrdiff_t>(at + 2 * Target::buffer_octets);
      const auto more = static_cast<std::ptrdiff_t>(in_order_.sends[i].second - octets);
      ASSERT_TRUE(std::equal(early_.inbox.begin() + second, early_.inbox.begin() + second + more,
                             in_order_.inbox.begin() + second));
    }
    const SpeculationCounts& counts = early_.counts;
    ASSERT_EQ(counts.placed, counts.right + counts.misaligned + counts.overwritten + counts.elsewhere);
    ASSERT_EQ(early_.memory().written()->early_count(), 0u);
  }

  std::mt19937 random_;
  Frames frames_;
  Target early_, in_order_{false};
  std::vector<bool> written_ = std::vector<bool>(Target::region_octets);
  std::vector<std::uint64_t> likely_;
  std::uint32_t msn_ = 1;
};

// IFT 6, IFT 8, IFT 8.2; WARP 7.
TEST_P(SpeculationTest, random_segments) {
  SpeculationCounts all;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    RandomSegments one(seed, GetParam());
    one.run();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    all.right += one.counts().right;
    all.misaligned += one.counts().misaligned;
    all.overwritten += one.counts().overwritten;
    all.written += one.counts().written;
  }
  EXPECT_GT(all.right, 100u);
  EXPECT_GT(all.misaligned, 10u);
  EXPECT_GT(all.overwritten, 5u);
  EXPECT_GT(all.written, 50u);
}

INSTANTIATE_TEST_SUITE_P(Ift, SpeculationTest,
                         ::testing::Values(Crcs{CrcUse::checked, CrcUse::checked},
                                           Crcs{CrcUse::checked, CrcUse::absent}, Crcs{CrcUse::absent, CrcUse::checked},
                                           Crcs{CrcUse::absent, CrcUse::absent}));

}  // namespace
}  // namespace iwarp::testing
