// When a sequence with ACK_0 is whole (FC-FS).
#include "fc2_fabric/node/received_sequences.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace fc2 {
namespace {
namespace f_ctl = wire::f_ctl;
constexpr TimeNs r_a_tov = 10 * second;

class ReceivedSequencesTest : public testing::Test {
 public:
  /// Frame `number` of a sequence of `count` frames. True when the sequence is whole with it.
  bool add(std::uint32_t number, std::uint32_t count) {
    ReceivedFrame frame{
        .header = header, .data_field = {}, .first_of_sequence = number == 0, .last_of_sequence = number == count - 1};
    frame.header.seq_cnt.value = static_cast<std::uint16_t>(first + number);
    if (frame.last_of_sequence) frame.header.f_ctl |= f_ctl::end_sequence;
    const auto last = sequences.add(frame, now, r_a_tov);
    if (!last) return false;
    EXPECT_EQ(last->seq_cnt.value, static_cast<std::uint16_t>(first + count - 1));
    EXPECT_TRUE(last->has(f_ctl::end_sequence));
    return true;
  }
  bool add_all(const std::vector<std::uint32_t>& order) {
    const auto count = static_cast<std::uint32_t>(order.size());
    for (std::size_t i = 0; i + 1 < order.size(); ++i)
      EXPECT_FALSE(add(order[i], count)) << testing::PrintToString(order);
    return add(order.back(), count);
  }
  ReceivedSequences sequences;
  wire::FcHeader header{.s_id = {0x010203}, .seq_id = {5}, .ox_id = {0x77}};
  std::uint16_t first = 0;
  TimeNs now = second;
};

// FC-VI 5.5, FC-FS ACK_0: with the frame that was missing, in whatever order they came, also where SEQ_CNT wraps.
TEST_F(ReceivedSequencesTest, any_order_is_whole_with_the_last_missing) {
  for (const unsigned start : {0u, 1000u, 0xFFFDu}) {
    first = static_cast<std::uint16_t>(start);
    std::vector<std::uint32_t> order(6);
    std::iota(order.begin(), order.end(), 0u);
    do ASSERT_TRUE(add_all(order)) << testing::PrintToString(order);
    while (std::next_permutation(order.begin(), order.end()));
  }
  EXPECT_EQ(sequences.size(), 0u);
}

// FC-FS: a frame alone needs no memory.
TEST_F(ReceivedSequencesTest, single_frame_is_whole) {
  EXPECT_TRUE(add(0, 1));
  EXPECT_TRUE(add(0, 1));
  EXPECT_EQ(sequences.size(), 0u);
}

// ... and takes none: where others need all of it, they stay.
TEST_F(ReceivedSequencesTest, full_single_frame_displaces_nobody) {
  for (std::uint32_t i = 0; i < ReceivedSequences::limit; ++i) {
    header.s_id = {i};
    add(0, 3);
  }
  header.s_id = {0x010203};
  EXPECT_TRUE(add(0, 1));
  EXPECT_EQ(sequences.size(), ReceivedSequences::limit);
  header.s_id = {0};
  EXPECT_FALSE(add(1, 3));
  EXPECT_TRUE(add(2, 3));
}

// What comes twice does not stand for what is missing.
TEST_F(ReceivedSequencesTest, twice_counts_once) {
  for (const std::uint32_t number : {0u, 0u, 3u, 3u, 1u, 1u}) EXPECT_FALSE(add(number, 4));
  EXPECT_TRUE(add(2, 4));
}

// ... nor does the first frame that comes twice begin the sequence anew.
TEST_F(ReceivedSequencesTest, first_twice_loses_nothing) {
  for (const std::uint32_t number : {0u, 1u, 3u, 0u}) EXPECT_FALSE(add(number, 4));
  EXPECT_TRUE(add(2, 4));
}

// FC-FS: no frame of a sequence has a SEQ_CNT behind the one with End_Sequence. Where one came there is an error:
// nothing is acknowledged, also where frames behind the end make up for the number of those that are missing.
TEST_F(ReceivedSequencesTest, frame_behind_the_end_is_an_error) {
  for (const std::uint32_t number : {0u, 7u, 1u, 2u}) EXPECT_FALSE(add(number, 3)) << number;
  header.seq_id = {6};
  constexpr std::uint32_t count = 40'001, from = 30'000;
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_FALSE(add((from + i) % 65'536, count)) << i;
}

// FC-VI 5.6: as many frames as SEQ_CNT has values, from any of them on.
TEST_F(ReceivedSequencesTest, longest_sequence_is_whole) {
  for (const std::uint32_t shift : {0u, 40'000u}) {
    first = 123;
    bool whole = false;
    for (std::uint32_t i = 0; i < 65'536; ++i) {
      EXPECT_FALSE(whole);
      whole = add((i + shift) % 65'536, 65'536);
    }
    EXPECT_TRUE(whole);
  }
}

// FC-VI 5.5: a SEQ_ID is used anew by another exchange, by the other end's exchange of that OX_ID, in the same one, or
// after R_A_TOV: what is left of the former sequence does not count.
TEST_F(ReceivedSequencesTest, seq_id_used_anew_starts_anew) {
  const wire::FcHeader before = header;
  const auto expect_anew = [&] {
    EXPECT_FALSE(add(1, 3) || add(2, 3));
    EXPECT_TRUE(add(0, 3));
    header = before;
    EXPECT_EQ(sequences.size(), 0u);
  };
  add(0, 3), header.ox_id = {0x78};
  expect_anew();
  add(0, 3), header.f_ctl |= f_ctl::exchange_responder;
  expect_anew();
  add(0, 3), now += r_a_tov;
  expect_anew();
  add(0, 3), add(1, 3), first = 3;
  EXPECT_FALSE(add(0, 3) || add(2, 3));
  EXPECT_TRUE(add(1, 3));
}

// FC-FS: an ABTS, the demand for one, or a logout ends them; others go on.
TEST_F(ReceivedSequencesTest, aborted_or_logged_out_is_forgotten) {
  const wire::FcHeader before = header;
  const auto others = [&](auto change, int count) {
    for (int i = 0; i < count; ++i, header = before) change(header), add(0, 3);
  };
  add(0, 3);
  others([](wire::FcHeader& h) { h.s_id = {0x010204}; }, 1);
  others([](wire::FcHeader& h) { h.seq_id = {6}, h.ox_id = {0x78}; }, 1);
  others([](wire::FcHeader& h) { h.seq_id = {7}, h.f_ctl |= f_ctl::exchange_responder; }, 1);
  ASSERT_EQ(sequences.size(), 4u);
  sequences.aborted(header);
  EXPECT_EQ(sequences.size(), 3u);
  header.seq_id = {6};
  sequences.forget(header);
  EXPECT_EQ(sequences.size(), 2u);
  sequences.logged_out({0x010203});
  EXPECT_EQ(sequences.size(), 1u);
  sequences.logged_out({0x010204});
  EXPECT_EQ(sequences.size(), 0u);
}

// FC-FS Exchange Context: the ABTS of a responder ends what the responder sent.
TEST_F(ReceivedSequencesTest, aborted_by_the_responder_is_forgotten) {
  add(0, 3);
  header.seq_id = {6}, header.f_ctl |= f_ctl::exchange_responder;
  add(0, 3);
  header.f_ctl |= f_ctl::end_sequence | f_ctl::sequence_initiative;  // as an ABTS has them
  sequences.aborted(header);
  EXPECT_EQ(sequences.size(), 1u);
  header.seq_id = {5}, header.f_ctl = 0;
  EXPECT_FALSE(add(1, 3));
  EXPECT_TRUE(add(2, 3)) << "the originator's goes on";
}

// FC-FS: no frame is older than R_A_TOV: where there is no room, who is as old as that goes, all of them; where
// there is, nobody.
TEST_F(ReceivedSequencesTest, silent_for_r_a_tov_gives_way_where_it_has_to) {
  const auto open = [&](std::uint32_t number) {
    header.s_id = {number};
    add(0, 3);
  };
  open(0);
  now += r_a_tov;
  open(1);
  EXPECT_EQ(sequences.size(), 2u);
  now += r_a_tov;
  for (std::uint32_t i = 2; i < ReceivedSequences::limit; ++i) open(i);
  EXPECT_EQ(sequences.size(), ReceivedSequences::limit);
  open(5000);
  EXPECT_EQ(sequences.size(), ReceivedSequences::limit - 1) << "two went, one came";
}

// Bounded: what is over makes room, then what got no frame for longest.
TEST_F(ReceivedSequencesTest, full_longest_silent_gives_way) {
  const auto open = [&](std::uint32_t number) {
    header.s_id = {number >> 8}, header.seq_id = {static_cast<std::uint8_t>(number)};
    ++now;
    add(0, 3);
  };
  for (std::uint32_t i = 0; i < ReceivedSequences::limit; ++i) open(i);
  open(0);  // the first goes on: the second is the oldest
  open(100'000);
  EXPECT_EQ(sequences.size(), ReceivedSequences::limit);
  header.s_id = {0}, header.seq_id = {0};
  EXPECT_FALSE(add(1, 3));
  EXPECT_TRUE(add(2, 3));
  header.seq_id = {1};
  EXPECT_FALSE(add(1, 3) || add(2, 3)) << "its first frame is forgotten";
  now += r_a_tov;
  open(200'000);
  open(200'001);
  EXPECT_EQ(sequences.size(), 2u);
}

}  // namespace
}  // namespace fc2
