// Which bytes of a late RDMA Write are still to be written, where later ones were already (VI-ARCH 6.3.1.1: RDMA Writes
// do not pass RDMA Writes): the result is as if all had come in order.
#include "fcvi/epoch.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {
using fcvi::Epoch;
using fcvi::OpenMessage;
using Kind = fcvi::ReceivedMessage::Kind;
using Parts = std::vector<std::pair<std::size_t, std::size_t>>;

/// Memory begins at 10,000. Message 1 is late; those behind it are open.
class Overwritten : public ::testing::Test {
 public:
  static constexpr std::uintptr_t memory = 10'000;
  OpenMessage& write(std::uint32_t id, std::uintptr_t at, std::uint32_t length) {
    OpenMessage& open = epoch.open[wire::MsgId{id}];
    open.message.kind = Kind::Write;
    open.message.header.msg_id = {id};
    open.message.header.tot_len_or_connection_id = length;
    open.target = memory + at;
    return open;
  }
  static void came(OpenMessage& open, std::uint32_t begin, std::uint32_t end) {
    open.arrivals.add({begin, end, 0, 0, 1});
  }
  /// Of message 1's bytes at memory + [begin, end).
  [[nodiscard]] Parts left(std::uintptr_t begin, std::uintptr_t end) const {
    Parts parts;
    for (const Epoch::Part& part : epoch.not_overwritten({1}, memory + begin, end - begin))
      parts.emplace_back(part.begin, part.end);
    return parts;
  }
  Epoch epoch;
};

// Nothing behind it, or nothing at its place: all of it.
TEST_F(Overwritten, nothingThere_isWrittenWhole) {
  EXPECT_EQ(left(100, 200), (Parts{{0, 100}}));
  came(write(2, 0, 100), 0, 100);
  came(write(3, 200, 100), 0, 100);
  EXPECT_EQ(left(100, 200), (Parts{{0, 100}})) << "they end and begin beside it";
  came(write(0xFFFFFFFF, 100, 100), 0, 100);
  EXPECT_EQ(left(100, 200), (Parts{{0, 100}})) << "an earlier one";
}

// A later one over its begin, its end, its middle, and all of it; by a byte, too.
TEST_F(Overwritten, laterWriteThere_itsBytesStay) {
  OpenMessage& later = write(2, 50, 100);
  came(later, 0, 100);  // [50, 150)
  EXPECT_EQ(left(100, 200), (Parts{{50, 100}}));
  EXPECT_EQ(left(0, 100), (Parts{{0, 50}}));
  EXPECT_EQ(left(0, 200), (Parts{{0, 50}, {150, 200}}));
  EXPECT_EQ(left(60, 140), Parts{});
  EXPECT_EQ(left(50, 150), Parts{});
  EXPECT_EQ(left(49, 151), (Parts{{0, 1}, {101, 102}}));
  EXPECT_EQ(left(149, 160), (Parts{{1, 11}}));
  EXPECT_EQ(left(40, 51), (Parts{{0, 10}}));
  EXPECT_EQ(left(150, 160), (Parts{{0, 10}}));
  EXPECT_EQ(left(40, 50), (Parts{{0, 10}}));
}

// Only what of it came: a gap in the later one is still ours until it comes.
TEST_F(Overwritten, laterWriteHasAGap_onlyWhatCameStays) {
  OpenMessage& later = write(2, 100, 100);
  came(later, 20, 40);
  came(later, 60, 80);
  EXPECT_EQ(left(100, 200), (Parts{{0, 20}, {40, 60}, {80, 100}}));
  EXPECT_EQ(left(0, 300), (Parts{{0, 120}, {140, 160}, {180, 300}}));
}

// Two later ones, one over the other.
TEST_F(Overwritten, twoLaterWrites_bothStay) {
  came(write(2, 100, 50), 0, 50);
  came(write(3, 140, 50), 0, 50);
  EXPECT_EQ(left(100, 200), (Parts{{90, 100}}));
  EXPECT_EQ(left(80, 200), (Parts{{0, 20}, {110, 120}}));
}

// The end of a later one that waits for its turn is not written yet.
TEST_F(Overwritten, laterWritesEndWaits_isNotThereYet) {
  OpenMessage& later = write(2, 100, 100);
  came(later, 0, 100);
  later.held.push_back({nullptr, 60, {}});
  EXPECT_EQ(left(100, 200), (Parts{{60, 100}}));
}

// A later message without a target - a Send, or one that is not granted - writes nothing there, wherever that is.
TEST_F(Overwritten, laterMessageWithoutTarget_writesNothing) {
  OpenMessage& send = write(2, 0, 100'000);
  send.target = 0;
  came(send, 0, 100'000);
  EXPECT_EQ(left(100, 200), (Parts{{0, 100}}));
}

// A later one of many pieces: those that lie there are taken out, a byte at its begin, too, and one far behind its
// begin; nothing else is split.
TEST_F(Overwritten, laterWriteOfPieces_onlyThoseThere) {
  OpenMessage& later = write(2, 100, 400);
  came(later, 0, 1);
  came(later, 150, 180);
  came(later, 350, 400);
  EXPECT_EQ(left(100, 200), (Parts{{1, 100}}));
  EXPECT_EQ(left(240, 260), (Parts{{0, 10}}));
  EXPECT_EQ(left(440, 460), (Parts{{0, 10}}));
  later.held.push_back({nullptr, 350, {}});
  EXPECT_EQ(left(400, 600), (Parts{{0, 200}})) << "its end waits";
}

// ... nor does a later one that was refused write anything there.
TEST_F(Overwritten, laterWriteRefused_writesNothing) {
  OpenMessage& later = write(2, 100, 100);
  came(later, 0, 100);
  later.refused = machines::message_responder::ReceiveError::TooSmall;
  EXPECT_EQ(left(100, 200), (Parts{{0, 100}}));
}
}  // namespace
