// What an exchange makes of the frames that come: which is the next, which a duplicate, which of another sequence;
// what room IUs take that are not whole; what opens an exchange where frames overtake each other (FC-FS; FC-VI 5.5,
// 5.6, 8.1, 8.4.1).
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/fc4.hpp"
#include "tests/support/played_peer.hpp"

namespace fc2 {
namespace {
using wire::RCtl;
using Failures = std::vector<ExchangeFailure>;
namespace f_ctl = wire::f_ctl;

class ExchangeFrames : public support::PlayedPeer {
 public:
  explicit ExchangeFrames(const std::function<void(NPortConfig&)>& adjust = {}) : PlayedPeer(adjust) {
    port.set_user(support::fc4, user);
  }
  struct Part {
    std::uint16_t seq_cnt;
    bool first, last;
    std::uint8_t seq_id = 1;
    std::size_t bytes = 0;  // a multiple of 4
    std::uint16_t ox_id = 7;
    wire::Type of = type;
    std::uint32_t more_f_ctl = 0;
  };
  /// Of an exchange of the peer's; SEQ_ID 1 is its first sequence.
  void put_part(const Part& part, bool class_2 = false) {
    const std::uint32_t place = (part.seq_id == 1 ? f_ctl::first_sequence : 0) | (part.last ? f_ctl::end_sequence : 0);
    const wire::FcHeader header{.r_ctl = RCtl::unsolicited_control,
                                .d_id = own,
                                .s_id = peer,
                                .type = part.of,
                                .f_ctl = place | part.more_f_ctl,
                                .seq_id = {part.seq_id},
                                .seq_cnt = {part.seq_cnt},
                                .ox_id = {part.ox_id}};
    put(header, part.first ? (class_2 ? wire::Sof::i2 : wire::Sof::i3) : (class_2 ? wire::Sof::n2 : wire::Sof::n3),
        std::vector<std::uint8_t>(part.bytes, static_cast<std::uint8_t>(part.seq_cnt)));
  }
  void abts(std::uint16_t ox_id = 7) {
    put({.r_ctl = RCtl::abts,
         .d_id = own,
         .s_id = peer,
         .type = wire::Type::bls,
         .f_ctl = f_ctl::end_sequence | f_ctl::sequence_initiative,
         .ox_id = {ox_id}});
  }
  /// An answer of the peer's in an exchange of ours.
  void reply(const Exchange& exchange, const Part& part) {
    put({.r_ctl = RCtl::solicited_control,
         .d_id = own,
         .s_id = peer,
         .type = type,
         .f_ctl = f_ctl::exchange_responder | (part.last ? f_ctl::end_sequence : 0) | part.more_f_ctl,
         .seq_id = {part.seq_id},
         .seq_cnt = {part.seq_cnt},
         .ox_id = exchange.ox_id(),
         .rx_id = {5}},
        part.first ? wire::Sof::i3 : wire::Sof::n3, std::vector<std::uint8_t>(part.bytes));
  }
  Exchange& request(TimeNs reply_timeout = 0) {
    return *port.request(peer, RCtl::unsolicited_control, type, std::array<std::uint8_t, 8>{}, user, reply_timeout);
  }
};
class ExchangeFramesOutOfOrder : public ExchangeFrames {
 public:
  explicit ExchangeFramesOutOfOrder(std::size_t room = 16 << 20)
      : ExchangeFrames([room](NPortConfig& config) {
          config.in_order_without_fabric = false;
          config.max_assembled_bytes = room;
        }) {}
};

// --- order -------------------------------------------------------------------------------------------------------

// FC-VI 5.6: SEQ_CNT goes on from one sequence to the next. FC-FS lets it begin at 0 again, where the FC-4
// does not ask for more.
TEST_F(ExchangeFrames, open_second_sequence_begins_where_it_may) {
  struct Case {
    wire::Type of;
    std::uint16_t seq_cnt;
    bool good;
  };
  std::uint16_t ox_id = 0;
  for (const Case& one : {Case{type, 0, true},
                          {type, 1, true},
                          {type, 2, false},
                          {type, 0xFFFF, false},
                          {wire::Type::fc_vi, 0, false},
                          {wire::Type::fc_vi, 1, true},
                          {wire::Type::fc_vi, 2, false}}) {
    log_in(), user = {};
    put_part({.seq_cnt = 0, .first = true, .last = true, .ox_id = ++ox_id, .of = one.of});
    put_part({.seq_cnt = one.seq_cnt, .first = true, .last = true, .seq_id = 2, .ox_id = ox_id, .of = one.of});
    EXPECT_EQ(user.ius.size(), one.good ? 2u : 1u) << ox_id;
    EXPECT_EQ(user.failures, one.good ? Failures{} : Failures{ExchangeFailure::SequenceError}) << ox_id;
  }
}

// FC-VI 8.4.1 c): the next SEQ_CNT is not enough: it must be of the same sequence, and one that has not ended
// admits no other.
TEST_F(ExchangeFrames, receiving_next_frame_of_another_sequence_is_an_error) {
  std::uint16_t ox_id = 0;
  for (const bool begins : {false, true})
    for (const bool ends : {false, true}) {
      user = {};
      put_part({.seq_cnt = 0, .first = true, .last = false, .bytes = 8, .ox_id = ++ox_id});
      put_part({.seq_cnt = 1, .first = begins, .last = ends, .seq_id = 2, .bytes = 8, .ox_id = ox_id});
      EXPECT_EQ(user.failures, Failures{ExchangeFailure::SequenceError}) << begins << ends;
      EXPECT_TRUE(user.ius.empty());
    }
}

// FC-VI 8.4.1 c): before anything came there is nothing that a frame could be a duplicate of: the first one that is out
// of order is an error.
TEST_F(ExchangeFrames, waiting_answer_begins_out_of_order) {
  for (const std::uint16_t seq_cnt : std::initializer_list<std::uint16_t>{0xFFFF, 0x8001}) {
    user = {};
    reply(request(), {.seq_cnt = seq_cnt, .first = true, .last = true, .seq_id = 0});
    EXPECT_EQ(user.failures, Failures{ExchangeFailure::SequenceError});
    EXPECT_TRUE(user.ius.empty());
  }
  EXPECT_EQ(sent(RCtl::abts), 2u);
}

// FC-FS: the Sequence Initiative is passed by its bit alone, whatever fill bytes the frame has.
TEST_F(ExchangeFrames, receiving_fill_bytes_pass_no_initiative) {
  put_part({.seq_cnt = 0, .first = true, .last = true, .bytes = 4, .more_f_ctl = 3});
  ASSERT_EQ(user.ius.size(), 1u);
  EXPECT_EQ(user.ius[0].bytes.size(), 1u);
  EXPECT_FALSE(user.ius[0].exchange->has_initiative());
}

// NPort::send: an answer came in time: the user goes on with the exchange when it likes.
TEST_F(ExchangeFrames, open_answered_its_time_is_over) {
  Exchange& exchange = request(second);
  reply(exchange, {.seq_cnt = 0, .first = true, .last = true, .more_f_ctl = f_ctl::sequence_initiative});
  EXPECT_TRUE(scheduler.idle()) << "nothing is waited for";
  run_for(100 * second);
  EXPECT_TRUE(user.failures.empty());
  EXPECT_TRUE(exchange.has_initiative());
}

// FC-FS: E_D_TOV without a frame is a Sequence error, told once; R_A_TOV later the exchange is forgotten, whatever
// still came of it.
TEST_F(ExchangeFrames, receiving_timed_out_late_frames_change_nothing) {
  put_part({.seq_cnt = 0, .first = true, .last = false, .bytes = 8});
  run_for(port.e_d_tov() - 1);
  EXPECT_TRUE(user.failures.empty());
  run_for(1);
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::SequenceError});
  run_for(port.r_a_tov() / 2);
  put_part({.seq_cnt = 1, .first = false, .last = true, .bytes = 8});
  run_for(port.r_a_tov() / 2 - 1);
  EXPECT_EQ(port.open_exchanges(), 1u);
  run_for(1);
  EXPECT_EQ(port.open_exchanges(), 0u);
  EXPECT_EQ(user.failures.size(), 1u);
  EXPECT_TRUE(user.ius.empty());
}

// --- frames that overtake others: FC-VI 8.1, 8.4.1 d) --------------------------------------------------------------

// FC-FS 23.6.1.1, Recovery_Qualifier: the exchange is open with whichever frame of it comes first: its ABTS ends it,
// and what comes later counts no more.
TEST_F(ExchangeFramesOutOfOrder, receiving_any_frame_first_then_abts) {
  const std::array<Part, 3> parts{Part{.seq_cnt = 0, .first = true, .last = false, .bytes = 8},
                                  {.seq_cnt = 1, .first = false, .last = false, .bytes = 8},
                                  {.seq_cnt = 2, .first = false, .last = true, .bytes = 8}};
  for (std::uint16_t early = 0; early < 3; ++early) {
    SCOPED_TRACE(early);
    user = {}, log.clear();
    const auto put_one = [&](std::size_t number) {
      Part part = parts[number];
      part.ox_id = early;
      put_part(part);
    };
    put_one(early);
    abts(early);
    EXPECT_EQ(sent(RCtl::ba_acc), 1u);
    EXPECT_EQ(user.failures, Failures{ExchangeFailure::AbortedByPeer});
    for (std::size_t number = 0; number < 3; ++number)
      if (number != early) put_one(number);
    EXPECT_TRUE(user.ius.empty());
  }
  run_for(port.r_a_tov());
  EXPECT_EQ(port.open_exchanges(), 0u);
  EXPECT_EQ(port.assembled_bytes(), 0u);
}

// FC-VI 7.7.1: so does a logout.
TEST_F(ExchangeFramesOutOfOrder, receiving_any_frame_first_then_logout) {
  for (std::uint16_t early = 0; early < 3; ++early) {
    log_in(), user = {};
    put_part({.seq_cnt = early, .first = early == 0, .last = early == 2, .bytes = 8, .ox_id = early});
    EXPECT_EQ(port.open_exchanges(), 1u);
    port.remote_port(peer).implicit_logout();
    EXPECT_EQ(user.failures, Failures{ExchangeFailure::PortLoggedOut}) << early;
    EXPECT_EQ(port.open_exchanges(), 0u);
  }
}

// FC-VI 5.2.1: sequences of an exchange do not overlap: a frame of another one is discarded, and the one that is
// open becomes whole.
TEST_F(ExchangeFramesOutOfOrder, receiving_frame_of_another_sequence_is_discarded) {
  put_part({.seq_cnt = 1, .first = false, .last = true, .bytes = 8});
  put_part({.seq_cnt = 2, .first = true, .last = true, .seq_id = 2, .bytes = 8});
  EXPECT_EQ(discarded(Discard::WrongSequence), 1u);
  put_part({.seq_cnt = 0, .first = true, .last = false, .bytes = 8});
  ASSERT_EQ(user.ius.size(), 1u);
  EXPECT_EQ(user.ius[0].bytes.size(), 16u);
  EXPECT_EQ(discarded(Discard::WrongSequence), 1u);
}

// FC-FS: only a frame with SOFi begins a sequence. One that says it is the next, and is none, does not take the place
// of the first.
TEST_F(ExchangeFramesOutOfOrder, open_next_frame_without_its_first_begins_nothing) {
  put_part({.seq_cnt = 0, .first = true, .last = true, .bytes = 8});
  put_part({.seq_cnt = 1, .first = false, .last = false, .bytes = 8});
  put_part({.seq_cnt = 1, .first = true, .last = true, .bytes = 12, .more_f_ctl = f_ctl::sequence_initiative});
  ASSERT_EQ(user.ius.size(), 2u);
  EXPECT_EQ(user.ius[1].bytes.size(), 12u);
}

// NPortConfig::max_assembled_iu_bytes: what came early of an exchange that is over does not count for the next one,
// which may be kept in the same place.
TEST_F(ExchangeFramesOutOfOrder, receiving_early_frames_of_an_aborted_exchange_are_forgotten) {
  const std::size_t most = port.config().max_assembled_iu_bytes;
  for (std::uint16_t ox_id = 1; ox_id <= 100; ++ox_id) {  // ids rest before their places are used again
    user = {};
    auto seq_cnt = static_cast<std::uint16_t>(most / 2048);
    for (std::size_t bytes = 2048 + most % 2048; seq_cnt > 0; --seq_cnt, bytes = 2048)
      put_part({.seq_cnt = seq_cnt, .first = false, .last = false, .bytes = bytes, .ox_id = ox_id});
    EXPECT_EQ(port.open_exchanges(), 1u);
    abts(ox_id);
    run_for(2 * port.r_a_tov());
    EXPECT_EQ(port.open_exchanges(), 0u);
    EXPECT_EQ(discarded(Discard::TooLong), 0u) << ox_id;
  }
}

class LittleRoomOutOfOrder : public ExchangeFramesOutOfOrder {
 public:
  LittleRoomOutOfOrder() : ExchangeFramesOutOfOrder(100) {}
};

// impl: a frame that came early, and found no room, has opened the exchange all the same: the first frame belongs to
// it, and does not open another. The failure is told once.
TEST_F(LittleRoomOutOfOrder, receiving_early_frame_without_room) {
  put_part({.seq_cnt = 1, .first = false, .last = true, .bytes = 104});
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::SequenceError});
  EXPECT_EQ(discarded(Discard::NoResources), 1u);
  put_part({.seq_cnt = 0, .first = true, .last = false, .bytes = 8});
  run_for(2 * port.r_a_tov());
  EXPECT_EQ(user.failures.size(), 1u);
  EXPECT_EQ(port.open_exchanges(), 0u);
  EXPECT_EQ(port.assembled_bytes(), 0u);
}

// FC-FS: a frame with SOFi begins a sequence, also where the one before was not ended and this one goes on with its
// numbers: what was there is over, and its room is free.
TEST_F(LittleRoomOutOfOrder, receiving_second_first_frame_begins_anew) {
  put_part({.seq_cnt = 3, .first = false, .last = true, .bytes = 8});
  put_part({.seq_cnt = 0, .first = true, .last = false, .bytes = 80});
  put_part({.seq_cnt = 1, .first = true, .last = false, .bytes = 60});
  EXPECT_EQ(port.assembled_bytes(), 68u);
  put_part({.seq_cnt = 2, .first = false, .last = false, .bytes = 8});
  ASSERT_EQ(user.ius.size(), 1u);
  EXPECT_EQ(user.ius[0].bytes.size(), 76u);
  EXPECT_EQ(port.assembled_bytes(), 0u);
}

// --- room: NPortConfig::max_assembled_bytes ------------------------------------------------------------------------

class LittleRoom : public ExchangeFrames {
 public:
  LittleRoom()
      : ExchangeFrames([](NPortConfig& config) {
          config.max_assembled_bytes = 4000;
          config.max_assembled_iu_bytes = 3800;
          config.end_to_end_credit = 2;
        }) {}
  void expect(std::size_t assembled, std::uint64_t without_room) {
    EXPECT_EQ(port.assembled_bytes(), assembled);
    EXPECT_EQ(discarded(Discard::NoResources), without_room);
  }
};

// What takes room is what peers' exchanges have assembled: IUs of several frames, until they are whole or it is over.
TEST_F(LittleRoom, receiving_room_is_what_was_assembled) {
  put_part({.seq_cnt = 0, .first = true, .last = true, .bytes = 2000});
  expect(0, 0);  // whole where it stands
  put_part({.seq_cnt = 1, .first = true, .last = false, .seq_id = 2, .bytes = 2000});
  expect(2000, 0);
  put_part({.seq_cnt = 2, .first = false, .last = true, .seq_id = 2, .bytes = 1000});
  expect(0, 0);
  put_part({.seq_cnt = 3, .first = true, .last = false, .seq_id = 3, .bytes = 2000});
  put_part({.seq_cnt = 4, .first = false, .last = false, .seq_id = 3, .bytes = 1000});
  expect(3000, 0);
  put_part({.seq_cnt = 0, .first = true, .last = false, .bytes = 1000, .ox_id = 8});
  expect(4000, 0);  // to the last byte
  put_part({.seq_cnt = 1, .first = false, .last = false, .bytes = 4, .ox_id = 8});
  expect(3000, 1);
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::SequenceError});
  put_part({.seq_cnt = 0, .first = true, .last = false, .bytes = 600, .ox_id = 9});
  put_part({.seq_cnt = 5, .first = false, .last = true, .seq_id = 3, .bytes = 0});
  expect(600, 1);
  abts(7), abts(8), abts(9);
  run_for(port.r_a_tov());
  expect(0, 1);
}

// A frame that found no room leaves nothing: neither itself, nor what was assembled before, nor what still comes of its
// exchange. What is counted is what is there.
TEST_F(LittleRoom, receiving_without_room_is_counted_right) {
  const auto other = [&](std::uint16_t ox_id, std::size_t bytes) {  // an exchange that takes room, and ends
    put_part({.seq_cnt = 0, .first = true, .last = false, .bytes = bytes / 2, .ox_id = ox_id});
    put_part({.seq_cnt = 1, .first = false, .last = false, .bytes = bytes / 2, .ox_id = ox_id});
  };
  const auto end = [&](std::uint16_t ox_id) {
    put_part({.seq_cnt = 2, .first = false, .last = true, .ox_id = ox_id, .more_f_ctl = f_ctl::last_sequence});
  };
  put_part({.seq_cnt = 0, .first = true, .last = false, .bytes = 1000});
  put_part({.seq_cnt = 1, .first = false, .last = true, .bytes = 1000});
  expect(0, 0);
  other(8, 1960);
  put_part({.seq_cnt = 2, .first = true, .last = false, .seq_id = 2, .bytes = 2100});  // no room
  expect(1960, 1);
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::SequenceError});
  end(8);
  expect(0, 1);
  put_part({.seq_cnt = 3, .first = false, .last = true, .seq_id = 2, .bytes = 500});
  put_part({.seq_cnt = 4, .first = true, .last = false, .seq_id = 3, .bytes = 300});
  expect(0, 1);
  put_part({.seq_cnt = 0, .first = true, .last = false, .bytes = 300, .ox_id = 10});
  other(9, 3600);
  expect(3900, 1);
  put_part({.seq_cnt = 1, .first = false, .last = false, .bytes = 200, .ox_id = 10});  // no room
  expect(3600, 2);
  end(9);
  put_part({.seq_cnt = 2, .first = false, .last = true, .bytes = 100, .ox_id = 10});
  expect(0, 2);
}

// max_assembled_iu_bytes: what is too much of one IU takes no room.
TEST_F(LittleRoom, receiving_too_long_takes_no_room) {
  put_part({.seq_cnt = 0, .first = true, .last = false, .bytes = 2000});
  put_part({.seq_cnt = 1, .first = false, .last = false, .bytes = 1804});
  expect(0, 0);
  EXPECT_EQ(discarded(Discard::TooLong), 1u);
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::SequenceError});
}

// Class 2 counts as class 3 does.
TEST_F(LittleRoom, receiving_class_2_takes_room) {
  log_in();
  put_part({.seq_cnt = 0, .first = true, .last = false, .bytes = 1000}, true);
  expect(1000, 0);
  put_part({.seq_cnt = 1, .first = false, .last = true, .bytes = 1000}, true);
  expect(0, 0);
  put_part({.seq_cnt = 2, .first = true, .last = false, .seq_id = 2, .bytes = 300}, true);
  expect(300, 0);
}

// The answers that we asked for are not what peers began.
TEST_F(LittleRoom, waiting_answers_take_no_room) {
  Exchange& exchange = request();
  for (const std::uint16_t seq_cnt : std::initializer_list<std::uint16_t>{0, 3}) {
    const auto seq_id = static_cast<std::uint8_t>(seq_cnt + 1);
    reply(exchange, {.seq_cnt = seq_cnt, .first = true, .last = false, .seq_id = seq_id, .bytes = 2000});
    reply(exchange, {.seq_cnt = static_cast<std::uint16_t>(seq_cnt + 1),
                     .first = false,
                     .last = false,
                     .seq_id = seq_id,
                     .bytes = 1000});
    expect(0, 0);
    reply(exchange, {.seq_cnt = static_cast<std::uint16_t>(seq_cnt + 2),
                     .first = false,
                     .last = true,
                     .seq_id = seq_id,
                     .bytes = 500});
  }
  expect(0, 0);
  ASSERT_EQ(user.ius.size(), 2u);
  EXPECT_EQ(user.ius[1].bytes.size(), 3500u);
}

}  // namespace
}  // namespace fc2
