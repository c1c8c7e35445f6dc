// Paths and their ways, against honest, slow and hostile far ends.
#include "tests/local_fabric/crossbar_fixture.hpp"

namespace fc2::drivers {
namespace {
using namespace crossbar_test;

// --- the way

// FC-VI Table 1: who asks many ports of one address for a connection talks to the one that takes it, alone.
TEST_F(CrossbarTest, set_ups_ask_for_no_path) {
  constexpr wire::FcId peer{0x010200};
  {
    const CoreSection section(machine.core);
    for (const wire::RCtl r_ctl : {wire::RCtl::unsolicited_control, wire::RCtl::solicited_control})
      link.crossbar->send(frame(peer, 1, r_ctl));
  }
  EXPECT_TRUE(machine.run_until([&] { return service.frames.size() == 2; }));
  EXPECT_EQ(service.requests, 0);
  send(peer, 2);
  EXPECT_TRUE(machine.run_until([&] { return service.requests == 1; }));
}

// What is sent after the mark waits until the far end has opened the ring, and comes in order.
TEST_F(CrossbarTest, marked_frames_wait_until_the_ring_is_open) {
  FarEnd& far = make_path(0x020200);
  ASSERT_TRUE(machine.run_until([&] { return service.marks[far.id.value] == 1; }));
  for (std::uint32_t i = 1; i <= 5; ++i) send(far.id, i);
  EXPECT_TRUE(far.read().empty());
  EXPECT_EQ(link.crossbar->waiting_count(), 5U);
  EXPECT_TRUE(link.crossbar->keeps_back(far.id));
  far.in.open();
  ASSERT_TRUE(until_direct(1));
  EXPECT_FALSE(link.crossbar->keeps_back(far.id));
  EXPECT_EQ(far.read(), (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(service.frames.empty());
}

// A lost way mark: it is sent again, by the service, although frames wait behind it.
TEST_F(CrossbarTest, lost_mark_is_sent_again) {
  FarEnd& far = make_path(0x020200);
  ASSERT_TRUE(machine.run_until([&] { return service.marks[far.id.value] == 1; }));
  send(far.id, 1);
  ASSERT_TRUE(machine.run_until([&] { return service.marks[far.id.value] == 2; }));
  far.in.open();
  ASSERT_TRUE(until_direct(1));
  EXPECT_EQ(far.read(), std::vector<std::uint32_t>{1});
}

// The far end could not map the memory, and told the service: nothing ever comes by that ring, and it is let go.
TEST_F(CrossbarTest, path_that_the_far_end_refused_is_let_go) {
  FarEnd& far = make_path(0x020200);
  ASSERT_TRUE(machine.run_until([&] { return service.marks[far.id.value] == 1; }));
  send(far.id, 1);
  end_path(far, PathEnd::Cause::Service);
  EXPECT_TRUE(machine.run_until([&] { return was_told(far, PathEnd::Cause::Released); }));
  EXPECT_EQ(link.crossbar->path_count(), 0U);
  EXPECT_TRUE(machine.run_until([&] { return service.frames.size() == 1; }));
}

// A far end that cannot map the memory, and does not say so: after some marks its frames go by the service again, and
// the service is told.
TEST_F(CrossbarTest, far_end_that_never_opens_loses_the_path) {
  FarEnd& far = make_path(0x020200);
  ASSERT_TRUE(machine.run_until([&] { return service.marks[far.id.value] == 1; }));
  for (std::uint32_t i = 1; i <= 3; ++i) send(far.id, i);
  ASSERT_TRUE(machine.run_until([&] { return service.frames.size() == 3; }));
  EXPECT_EQ(service.frames, (std::deque<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(service.marks[far.id.value], static_cast<int>(Crossbar::max_marks));
  EXPECT_TRUE(machine.run_until([&] { return was_told(far, PathEnd::Cause::Refused); }));
}

// Memory that cannot be mapped, a number of slots that none has, no open files at all: the service hears at once, the
// link lives, and frames go by it.
TEST_F(CrossbarTest, path_that_cannot_be_used_is_refused) {
  const auto refused = [&](PathRecord record, OpenFiles files) {
    record.number = ++paths_made;
    {
      const CoreSection section(machine.core);
      if (files.empty())
        service_stream->send_record(RecordKind::Path, record.write());
      else
        service_stream->send_record(RecordKind::Path, record.write(), std::move(files), record.write());
    }
    return machine.run_until([&] {
      return service.ends.size() == 2 * paths_made && service.ends.back().cause == PathEnd::Cause::Released &&
             service.ends.back().number == paths_made;
    });
  };
  const auto files = [](std::size_t count) {
    OpenFiles made;
    for (std::size_t i = 0; i < count; ++i) made.emplace_back(::dup(0));
    return made;
  };
  EXPECT_TRUE(refused({.peer = {0x020200}, .slot_count = slots}, files(3)));
  EXPECT_TRUE(refused({.peer = {0x020200}, .slot_count = slots}, files(2)));
  EXPECT_TRUE(refused({.peer = {0x020200}, .slot_count = 5}, files(3)));
  EXPECT_TRUE(refused({.peer = {0x020200}, .slot_count = 0}, {}));
  EXPECT_EQ(link.reason, "");
  EXPECT_EQ(link.crossbar->path_count(), 0U);
  send({0x020200}, 7);
  EXPECT_TRUE(machine.run_until([&] { return service.frames == std::deque<std::uint32_t>{7}; }));
}

// PathEnd: the ring is ended, what follows goes by the service, and the memory is let go when both rings are at their
// end; then the service is told.
TEST_F(CrossbarTest, ended_path_is_released_when_both_ends_have_ended) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  send(far.id, 1);
  end_path(far, PathEnd::Cause::Service);
  ASSERT_TRUE(until_direct(0));
  send(far.id, 2);
  ASSERT_TRUE(machine.run_until([&] { return service.frames == std::deque<std::uint32_t>{2}; }));
  EXPECT_EQ(far.read(), std::vector<std::uint32_t>{1});
  EXPECT_TRUE(far.in.is_over());
  EXPECT_EQ(link.crossbar->path_count(), 1U);
  EXPECT_TRUE(service.ends.empty());
  far.out.end();
  ASSERT_TRUE(machine.run_until([&] { return was_told(far, PathEnd::Cause::Released); }));
  EXPECT_EQ(link.crossbar->path_count(), 0U);
  EXPECT_EQ(service.ends.size(), 1U);
}

// The far end goes while its path is being left: nothing of it stays.
TEST_F(CrossbarTest, leaving_path_goes_with_its_far_end) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  end_path(far, PathEnd::Cause::Service);
  ASSERT_TRUE(until_direct(0));
  end_path(far, PathEnd::Cause::PeerGone);
  EXPECT_TRUE(machine.run_until([&] { return link.crossbar->path_count() == 0; }));
  EXPECT_TRUE(service.ends.empty());
}

// The end of an earlier path says nothing of the one that the ports have now.
TEST_F(CrossbarTest, end_of_another_path_is_ignored) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  {
    const CoreSection section(machine.core);
    for (const auto cause : {PathEnd::Cause::Service, PathEnd::Cause::PeerGone})
      service_stream->send_record(RecordKind::PathEnd, PathEnd{far.id, cause, far.number + 1}.write());
    service_stream->send_record(RecordKind::PathEnd, PathEnd{{0x030300}, PathEnd::Cause::PeerGone, 9}.write());
  }
  machine.run_until([] { return false; }, 20ms);
  EXPECT_EQ(link.crossbar->direct_count(), 1U);
}

// --- far ends that take nothing

// Out of room: with few slots left message data are kept back, until a quarter of the slots are free.
TEST_F(CrossbarTest, message_data_are_kept_back_when_slots_are_few) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  for (std::uint32_t i = 0; i < slots - 16; ++i) send(far.id, i);
  EXPECT_FALSE(link.crossbar->keeps_back(far.id));
  send(far.id, 0);
  EXPECT_TRUE(link.crossbar->keeps_back(far.id));
  EXPECT_EQ(link.crossbar->waiting_count(), 0U);
  machine.run_until([] { return false; }, 20ms);
  EXPECT_TRUE(link.crossbar->keeps_back(far.id));
  EXPECT_TRUE(far.in.next());
  EXPECT_TRUE(far.in.release()) << "it waits for that";
  EXPECT_TRUE(machine.run_until([&] { return !link.crossbar->keeps_back(far.id); }));
}

// Out of room: what cannot be kept back waits, and goes on in order when slots are given back.
TEST_F(CrossbarTest, full_ring_goes_on_when_slots_are_given_back) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  constexpr std::uint32_t count = 3 * slots;
  for (std::uint32_t i = 0; i < count; ++i) send(far.id, i);
  EXPECT_EQ(link.crossbar->waiting_count(), count - slots);
  std::vector<std::uint32_t> all;
  ASSERT_TRUE(machine.run_until([&] {
    for (const std::uint32_t parameter : far.read()) all.push_back(parameter);
    return all.size() >= count;
  }));
  for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(all[i], i);
  EXPECT_TRUE(service.frames.empty());
  EXPECT_EQ(link.crossbar->waiting_count(), 0U);
}

// A far end that asks and takes no answer: it runs out of slots, since nobody reads its ring while many answers wait.
TEST_F(CrossbarTest, far_end_that_takes_nothing_is_read_no_more) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  for (std::size_t i = 0; i < slots + Crossbar::waiting_to_stop_reading; ++i) send(far.id, 1);
  ASSERT_EQ(link.crossbar->waiting_count(), Crossbar::waiting_to_stop_reading);
  write_unasked(far);
  machine.run_until([] { return false; }, 20ms);
  EXPECT_EQ(far.out.room(slots), slots - 1);
  far.read();
  EXPECT_TRUE(machine.run_until([&] { return far.out.room(slots) == slots; }));
}

// If it takes nothing for long it loses the path: the frames go by the service, which knows how to be rid of them.
TEST_F(CrossbarTest, far_end_that_takes_nothing_for_long_loses_the_path) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  for (std::size_t i = 0; i < slots + Crossbar::waiting_to_stop_reading; ++i) send(far.id, 1);
  ASSERT_TRUE(until_direct(0));
  EXPECT_TRUE(machine.run_until([&] { return service.frames.size() == Crossbar::waiting_to_stop_reading; }));
  EXPECT_TRUE(was_told(far, PathEnd::Cause::Refused));
}

// Answers to what it sends by the service do not stop: they are bounded all the same, at once.
TEST_F(CrossbarTest, too_many_waiting_frames_end_the_path) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  std::size_t most = 0;
  for (std::size_t i = 0; i < slots + Crossbar::max_waiting + 100; ++i) {
    send(far.id, 1);
    most = std::max(most, link.crossbar->waiting_count());
  }
  EXPECT_LE(most, Crossbar::max_waiting);
  EXPECT_EQ(link.crossbar->direct_count(), 0U);
  EXPECT_TRUE(machine.run_until([&] { return service.frames.size() == Crossbar::max_waiting + 100; }));
  EXPECT_TRUE(was_told(far, PathEnd::Cause::Refused));
}

// A count of slots that cannot be, seen wherever the library looks first: the path ends, and what waits goes by the
// service.
TEST_F(CrossbarTest, broken_ring_ends_the_path) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  for (std::uint32_t i = 0; i < slots + 3; ++i) send(far.id, i);
  far.rings.inbound().header->given_back.store(slots + 1000);
  ASSERT_TRUE(until_direct(0));
  EXPECT_TRUE(machine.run_until([&] {
    return service.frames == std::deque<std::uint32_t>({slots, slots + 1, slots + 2});
  }));
  EXPECT_TRUE(was_told(far, PathEnd::Cause::Refused));
  EXPECT_EQ(port.counters().discarded(Discard::BadHeader), 1U);
}
TEST_F(CrossbarTest, broken_ring_found_by_a_frame_ends_the_path) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  for (std::uint32_t i = 0; i < slots; ++i) send(far.id, i);
  far.rings.inbound().header->given_back.store(slots + 1000);
  send(far.id, slots);
  EXPECT_EQ(link.crossbar->direct_count(), 0U);
  EXPECT_TRUE(machine.run_until([&] { return service.frames == std::deque<std::uint32_t>({slots}); }));
}

// --- the end of the process

// A stopped process takes nothing until somebody lets it go on: what waits for it does not delay the end.
TEST_F(CrossbarTest, drain_leaves_out_stopped_processes) {
  support::Child stopped([] { return ::pause(); });
  stopped.kill(SIGSTOP);
  ASSERT_TRUE(
      support::eventually([&] { return runtime::drivers::is_stopped(static_cast<std::uint32_t>(stopped.pid())); }));
  FarEnd& far = make_open_path(0x020200, static_cast<std::uint32_t>(stopped.pid()));
  ASSERT_TRUE(until_direct(1));
  for (std::uint32_t i = 0; i < slots + 5; ++i) send(far.id, i);
  const auto begin = std::chrono::steady_clock::now();
  const CoreSection section(machine.core);
  link.crossbar->drain(begin + 10 * support::generous);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, support::generous);
  EXPECT_EQ(link.crossbar->waiting_count(), 5U);
}
// One that runs gets all.
TEST_F(CrossbarTest, drain_waits_for_a_process_that_reads) {
  FarEnd& far = make_open_path(0x020200, static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(until_direct(1));
  for (std::uint32_t i = 0; i < 3 * slots; ++i) send(far.id, i);
  std::size_t taken = 0;
  std::thread reader([&] {
    while (taken < 3 * slots) {
      taken += far.read().size();
      std::this_thread::yield();
    }
  });
  {
    const CoreSection section(machine.core);
    link.crossbar->drain(std::chrono::steady_clock::now() + support::generous);
  }
  EXPECT_EQ(link.crossbar->waiting_count(), 0U);
  reader.join();
}
// One that is gone, as the service has told already, although nobody has read that.
TEST_F(CrossbarTest, drain_hears_of_ends_that_are_gone) {
  FarEnd& far = make_open_path(0x020200, static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(until_direct(1));
  for (std::uint32_t i = 0; i < slots + 5; ++i) send(far.id, i);
  const auto begin = std::chrono::steady_clock::now();
  const CoreSection section(machine.core);
  const auto record = PathEnd{far.id, PathEnd::Cause::PeerGone, far.number}.write();
  service_stream->send_record(RecordKind::PathEnd, record);
  service_stream->drain(100ms);
  link.crossbar->drain(begin + 10 * support::generous);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, support::generous);
  EXPECT_EQ(link.crossbar->path_count(), 0U);
}

// --- classes and holds

// What the service holds back is what goes by it: a ring goes on, and its destination is held when the path has ended.
TEST_F(CrossbarTest, service_holds_what_goes_by_it_alone) {
  const auto hold = [&](wire::FcId peer, bool holds) {
    const CoreSection section(machine.core);
    link.crossbar->service_holds(peer, holds);
    return link.crossbar->keeps_back(peer);
  };
  EXPECT_TRUE(hold({0x030300}, true));
  EXPECT_FALSE(hold({0x030300}, false));
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  EXPECT_FALSE(hold(far.id, true));
  end_path(far, PathEnd::Cause::Service);
  ASSERT_TRUE(until_direct(0));
  EXPECT_TRUE(link.crossbar->keeps_back(far.id));
  EXPECT_FALSE(hold(far.id, false));
}

// Who writes learns on which core the far end looks, of the one that it wrote to last.
TEST_F(CrossbarTest, writer_learns_on_which_core_the_far_end_looks) {
  FarEnd& first = make_open_path(0x020200);
  FarEnd& second = make_open_path(0x020300);
  ASSERT_TRUE(until_direct(2));
  first.doorbell->look_from(3);
  second.doorbell->look_from(5);
  send(first.id, 1);
  EXPECT_EQ(machine.doorbell->peer_core(), 3);
  send(second.id, 1);
  EXPECT_EQ(machine.doorbell->peer_core(), 5);
}

// Class 2 (FC-FS): each frame is answered before others may follow, so that the far end is woken for each; class 3
// wakes it for a Sequence's last frame, and once in a number of frames.
TEST_F(CrossbarTest, far_end_is_woken_for_each_frame_of_class_2) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  const auto woken_by = [&](wire::Sof sof, wire::Eof eof) {
    const std::uint32_t before = far.doorbell->fall_asleep();
    {
      const CoreSection section(machine.core);
      FramePtr one = frame(far.id, 1, static_cast<wire::RCtl>(0x01));
      one->sof = sof;
      one->eof = eof;
      link.crossbar->send(std::move(one));
    }
    far.doorbell->awake();
    return far.doorbell->word().load() != before;
  };
  EXPECT_TRUE(woken_by(wire::Sof::n2, wire::Eof::n));
  EXPECT_TRUE(woken_by(wire::Sof::n2, wire::Eof::n));
  EXPECT_FALSE(woken_by(wire::Sof::n3, wire::Eof::n));
  EXPECT_TRUE(woken_by(wire::Sof::n3, wire::Eof::t));
  EXPECT_EQ(far.read().size(), 4U);
}

// --- the service's socket

// It is full, as nobody reads it: rings go on, what is for the service waits, and is bounded.
TEST_F(CrossbarTest, full_socket_does_not_stop_rings) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  {
    const CoreSection section(machine.core);
    service_stream->hold();
  }
  std::uint32_t sent = 0;
  while (link.crossbar->waiting_count() == 0 && sent < 1'000'000) send({0x030300}, sent++);
  ASSERT_EQ(link.crossbar->waiting_count(), 1U);
  EXPECT_FALSE(link.crossbar->paused());
  EXPECT_TRUE(link.crossbar->keeps_back({0x030300}));
  EXPECT_FALSE(link.crossbar->keeps_back(far.id));
  for (std::uint32_t i = 1; i <= 3; ++i) send(far.id, i);
  EXPECT_EQ(far.read(), (std::vector<std::uint32_t>{1, 2, 3}));
  while (!link.crossbar->paused()) send({0x030300}, sent++);
  EXPECT_EQ(link.crossbar->waiting_count(), Crossbar::max_by_service);
  {
    const CoreSection section(machine.core);
    service_stream->proceed();
  }
  ASSERT_TRUE(machine.run_until([&] { return service.frames.size() == sent; }));
  for (std::uint32_t i = 0; i < sent; ++i) ASSERT_EQ(service.frames[i], i);
  EXPECT_FALSE(link.crossbar->keeps_back({0x030300}));
  EXPECT_FALSE(link.crossbar->paused());
}

// --- wake-ups that somebody spoiled

// The far end sleeps on although it was rung (a third process took it off its word): it is told by the service.
TEST_F(CrossbarTest, sleeper_that_was_not_woken_is_told_by_the_service) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  const int before = service.marks[far.id.value];
  static_cast<void>(far.doorbell->fall_asleep());
  send(far.id, 1);
  EXPECT_TRUE(machine.run_until([&] { return service.marks[far.id.value] == before + 2; }));
  far.doorbell->awake();
}
// One that woke up is left alone, and so is one that was never rung.
TEST_F(CrossbarTest, sleeper_that_woke_up_is_told_nothing) {
  FarEnd &far = make_open_path(0x020200), &quiet = make_open_path(0x030300);
  ASSERT_TRUE(until_direct(2));
  static_cast<void>(far.doorbell->fall_asleep());
  static_cast<void>(quiet.doorbell->fall_asleep());
  const auto before = service.marks;
  send(far.id, 1);
  far.doorbell->awake();
  static_cast<void>(far.doorbell->fall_asleep());
  machine.run_until([] { return false; }, std::chrono::milliseconds(5 * Crossbar::tick / runtime::millisecond));
  EXPECT_EQ(service.marks, before);
}
// This side: what such a far end wrote is read when its mark comes, and slots that it gave back are used.
TEST_F(CrossbarTest, repeated_mark_has_the_ring_read) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  const CoreSection section(machine.core);
  write_unasked(far);
  const std::uint64_t before = port.counters().discarded();
  link.crossbar->frame_received(frame(own, far.number, Crossbar::way_mark, far.id));  // and nobody polls
  EXPECT_EQ(port.counters().discarded(), before + 1) << "of no exchange";
  machine.core.read_memory();
  EXPECT_EQ(far.out.room(slots), slots) << "given back when nothing else is there";
}

// A frame that is written while others are read may follow a post that came after the look at posts: it has its own.
TEST_F(CrossbarTest, each_frame_comes_after_what_was_posted_before_it) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  const auto write = [&] { write_unasked(far); };
  const CoreSection section(machine.core);
  write();
  const std::uint64_t before = port.counters().discarded();
  guard.looks = 0;
  guard.meanwhile = write;
  machine.core.read_memory();
  EXPECT_EQ(port.counters().discarded(), before + 2) << "both, of no exchange";
  EXPECT_EQ(guard.looks, 2);
}

// Those that are there when it looks were all written before.
TEST_F(CrossbarTest, frames_that_are_there_together_take_one_look_at_posts) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  const CoreSection section(machine.core);
  for (int i = 0; i != 10; ++i) write_unasked(far);
  const std::uint64_t before = port.counters().discarded();
  guard.looks = 0;
  machine.core.read_memory();
  EXPECT_EQ(port.counters().discarded(), before + 10) << "all, of no exchange";
  EXPECT_EQ(guard.looks, 1);
}

// What a program does then takes the link down: the crossbar is there until the call that reads returns, and no frame
// comes any more.
TEST_F(CrossbarTest, closed_while_it_reads_lasts_until_that_returns) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  const CoreSection section(machine.core);
  write_unasked(far);
  const std::uint64_t before = port.counters().discarded();
  const std::weak_ptr<Crossbar> watched = link.crossbar;
  guard.meanwhile = [&] {
    link.crossbar->close();
    link.crossbar = nullptr;
    EXPECT_FALSE(watched.expired());
  };
  machine.core.read_memory();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(port.counters().discarded(), before);
}

// --- many paths

class ManyPaths : public CrossbarTest {
 public:
  static constexpr std::uint32_t count = 100;
  void SetUp() override {
    for (std::uint32_t i = 1; i <= count; ++i) make_path(0x020000 + i * 0x100);
    ASSERT_TRUE(machine.run_until([&] { return service.marks.size() == count; }));
    for (const auto& far : far_ends) {
      send_mark_of(*far);
      far->in.open();
      bells.push_back(PeerDoorbell::map(machine.doorbell->descriptors()));
    }
    ASSERT_TRUE(until_direct(count));
  }
  void write(std::size_t number) {
    FarEnd& far = *far_ends[number];
    write_unasked(far);
  }
  bool is_read(std::size_t number) { return far_ends[number]->out.room(slots) == slots; }
  std::vector<PeerDoorbell> bells;
};

// More open files than one connection was once allowed to have on their way: each path gets its own.
TEST_F(ManyPaths, all_are_made_at_once) { EXPECT_EQ(link.crossbar->path_count(), count); }

// With many paths a poll looks where a note is, and not at all of them. One without a note is found by the turn.
TEST_F(ManyPaths, poll_looks_where_a_note_is) {
  write(70);
  write(71);
  bells[70].set_note(70);  // the first that asked has the first note
  bells[70].ring();
  const CoreSection section(machine.core);
  int polls = 1;
  const std::uint64_t before = port.counters().discarded();
  machine.core.read_memory();
  EXPECT_EQ(port.counters().discarded(), before + 1) << "of no exchange";
  machine.core.read_memory();
  EXPECT_TRUE(is_read(70));
  for (; !is_read(71) && polls < 1000; ++polls) machine.core.read_memory();
  EXPECT_TRUE(is_read(71));
  EXPECT_GT(polls, 1);
}

// Fewer again: all are looked at, and no notes are wanted.
TEST_F(ManyPaths, few_are_looked_at_without_notes) {
  for (std::size_t i = 10; i < count; ++i) end_path(*far_ends[i], PathEnd::Cause::PeerGone);
  ASSERT_TRUE(machine.run_until([&] { return link.crossbar->path_count() == 10; }));
  write(3);
  const CoreSection section(machine.core);
  const std::uint64_t before = port.counters().discarded();
  machine.core.read_memory();
  EXPECT_EQ(port.counters().discarded(), before + 1) << "of no exchange";
  machine.core.read_memory();
  EXPECT_TRUE(is_read(3));
}

}  // namespace
}  // namespace fc2::drivers
