// The library's side of paths, a service and far ends that the test plays.
#pragma once
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <thread>

#include "fc2_fabric/drivers/crossbar.hpp"
#include "fc2_fabric/frame/frame_header.hpp"
#include "runtime/drivers/process.hpp"
#include "tests/local_fabric/raw_node.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/port_by_hand.hpp"
#include "wire/fc_header.hpp"

namespace fc2::drivers::crossbar_test {
using runtime::CoreSection;
using runtime::drivers::Doorbell;
using runtime::drivers::PeerDoorbell;
using runtime::drivers::SharedMemory;
using support::Machine;
using namespace std::chrono_literals;

inline constexpr std::uint32_t slots = 64;
inline constexpr wire::FcId own{0x010100};

/// What programs do while the core looks at what they posted.
class PostingGuard final : public runtime::CoreGuard {
 public:
  explicit PostingGuard(CoreGuard& core) : core_(core) {}
  void enter() override { core_.enter(); }
  void leave() override { core_.leave(); }
  void catch_up() override {
    ++looks;
    if (meanwhile) std::exchange(meanwhile, nullptr)();
  }
  void add_memory_input(runtime::Input& input) override { core_.add_memory_input(input); }
  void remove_memory_input(runtime::Input& input) override { core_.remove_memory_input(input); }
  int looks = 0;
  std::function<void()> meanwhile;

 private:
  CoreGuard& core_;
};

/// Passes what the service sends on, as LocalFabricLink does.
struct Link final : StreamUser {
  void frame_received(FramePtr frame) override { crossbar->frame_received(std::move(frame)); }
  void record_received(RecordKind kind, std::span<const std::uint8_t> body) override {
    if (kind == RecordKind::PathEnd) return crossbar->path_ended(*PathEnd::parse(body));
    const auto path = *PathRecord::parse(body);
    crossbar->path_received(path, path.slot_count != 0 ? stream->take_files() : OpenFiles());
  }
  void stream_closed(const std::string& why) override { reason = why; }
  void stream_has_room() override { crossbar->tell_service(); }
  std::shared_ptr<FrameStream> stream;
  std::shared_ptr<Crossbar> crossbar;
  std::string reason;
};

/// The service: keeps what comes.
struct Service final : StreamUser {
  void frame_received(FramePtr frame) override {
    const auto header = wire::FcHeader::parse(frame->content());
    if (header->r_ctl == Crossbar::way_mark)
      ++marks[header->d_id.value];
    else
      frames.push_back(header->parameter);
  }
  void record_received(RecordKind kind, std::span<const std::uint8_t> body) override {
    if (kind == RecordKind::PathEnd) ends.push_back(*PathEnd::parse(body));
    if (kind == RecordKind::PathRequest) ++requests;
  }
  void stream_closed(const std::string& why) override { reason = why; }
  std::map<std::uint32_t, int> marks;
  std::deque<std::uint32_t> frames;
  std::vector<PathEnd> ends;
  int requests = 0;
  std::string reason;
};

/// The far end of a path: its ring and its doorbell.
struct FarEnd {
  FarEnd(wire::FcId peer, std::uint32_t number_of_path)
      : id(peer), number(number_of_path), memory(SharedMemory::make(RingPair::size_bytes(slots))),
        descriptor(memory.descriptor().duplicate()), rings(std::move(memory), slots, 1), in(rings.inbound()),
        out(rings.outbound()) {}
  const wire::FcId id;
  const std::uint32_t number;
  SharedMemory memory;
  runtime::drivers::Descriptor descriptor;
  RingPair rings;
  RingReader in;
  RingWriter out;
  std::unique_ptr<Doorbell> doorbell = Doorbell::make();

  /// Takes and gives back what is there: the parameters of the frames.
  std::vector<std::uint32_t> read() {
    std::vector<std::uint32_t> parameters;
    while (in.ready()) {
      const auto slot = *in.next();
      const std::uint32_t first = wire::FcHeader::parse(slot.bytes)->parameter;
      for (std::uint32_t i = 0; i < std::max(slot.run_frames, 1U); ++i)
        parameters.push_back(first + i * static_cast<std::uint32_t>(slot.size_bytes - run_header_bytes));
    }
    static_cast<void>(in.release());
    return parameters;
  }
};

class CrossbarTest : public testing::Test {
 public:
  CrossbarTest() {
    port.set_data_user(support::fc4, data_user);
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const CoreSection section(machine.core);
    link.stream = make_stream(link, ends[0]);
    link.crossbar = std::make_shared<Crossbar>(port, guard, link.stream, *machine.doorbell);
    service_stream = make_stream(service, ends[1]);
  }
  ~CrossbarTest() override {
    const CoreSection section(machine.core);
    if (link.crossbar) link.crossbar->close();
    link.stream->close();
    service_stream->close();
  }
  std::shared_ptr<FrameStream> make_stream(StreamUser& user, int descriptor) {
    return FrameStream::make(machine.io, machine.core, machine.core.scheduler(), machine.core.pool(), user, descriptor);
  }
  FramePtr frame(wire::FcId to, std::uint32_t parameter, wire::RCtl r_ctl, wire::FcId from = own) {
    return support::made_frame(
        machine.core.pool(),
        {.r_ctl = r_ctl, .d_id = to, .s_id = from, .type = wire::Type::fc_vi, .parameter = parameter});
  }
  void send(wire::FcId to, std::uint32_t parameter) {
    const CoreSection section(machine.core);
    link.crossbar->send(frame(to, parameter, static_cast<wire::RCtl>(0x01)));
  }
  /// The service hands it to the library; the far end has mapped it.
  FarEnd& make_path(std::uint32_t peer, std::uint32_t process_id = 0) {
    far_ends.push_back(std::make_unique<FarEnd>(wire::FcId{peer}, ++paths_made));
    FarEnd& far = *far_ends.back();
    const PathRecord record{
        .peer = far.id, .side = 0, .slot_count = slots, .number = far.number, .process_id = process_id};
    auto bell = far.doorbell->descriptors();
    OpenFiles files;
    files.push_back(far.descriptor.duplicate());
    files.push_back(std::move(bell.attention));
    files.push_back(std::move(bell.rung));
    {
      const CoreSection section(machine.core);
      service_stream->send_record(RecordKind::Path, record.write(), std::move(files), record.write());
    }
    return far;
  }
  void send_mark_of(const FarEnd& far) {
    const CoreSection section(machine.core);
    service_stream->send(frame(own, far.number, Crossbar::way_mark, far.id));
  }
  /// Both directions are open.
  FarEnd& make_open_path(std::uint32_t peer, std::uint32_t process_id = 0) {
    FarEnd& far = make_path(peer, process_id);
    EXPECT_TRUE(machine.run_until([&] { return service.marks[peer] != 0; }));
    send_mark_of(far);
    far.in.open();
    EXPECT_TRUE(machine.run_until([&] { return far.out.reader_is_open(); }));
    return far;
  }
  /// A frame of no exchange, into the ring that the port reads.
  void write_unasked(FarEnd& far) {
    const FramePtr unasked = frame(own, 1, static_cast<wire::RCtl>(0x01), far.id);
    std::memcpy(far.out.place().data(), unasked->bytes.data(), frame_header_bytes);
    far.out.publish(frame_header_bytes, wire::Sof::i3, wire::Eof::t);
  }
  bool until_direct(std::size_t count) {
    return machine.run_until([&] { return link.crossbar->direct_count() == count; });
  }
  void end_path(const FarEnd& far, PathEnd::Cause cause) {
    const CoreSection section(machine.core);
    service_stream->send_record(RecordKind::PathEnd, PathEnd{far.id, cause, far.number}.write());
  }
  bool was_told(const FarEnd& far, PathEnd::Cause cause) {
    return std::any_of(service.ends.begin(), service.ends.end(),
                       [&](const PathEnd& end) { return end.number == far.number && end.cause == cause; });
  }

  Machine machine;
  PostingGuard guard{machine.core};
  support::RecordingDataUser data_user;
  NPort port{machine.core.scheduler(), machine.core.pool(), {}};
  Link link;
  Service service;
  std::shared_ptr<FrameStream> service_stream;
  std::vector<std::unique_ptr<FarEnd>> far_ends;
  std::uint32_t paths_made = 0;
};

}  // namespace fc2::drivers::crossbar_test
