#include "tests/vi/bench.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace vi::testing {

Bench::Bench(BenchOptions options)
    : nic(transport, listener, options.limits, options.guard),
      arena_(static_cast<std::byte*>(::operator new[](arena_bytes, std::align_val_t{64}))) {
  std::memset(arena_.get(), 0, arena_bytes);
  const auto address = reinterpret_cast<std::uint64_t>(arena_.get());
  EXPECT_EQ(nic.memory().register_region(address, arena_.get(), arena_bytes, {}, arena_handle), Return::Success);
  if (options.send_to_queue || options.receive_to_queue) {
    EXPECT_EQ(nic.create_completion_queue(options.queue_entries, completions), Return::Success);
  }
  const ViAttributes attributes{.reliability = options.level,
                                .max_transfer_size_bytes = options.max_transfer_size_bytes,
                                .ptag = {},
                                .enable_rdma_write = true,
                                .enable_rdma_read = true};
  EXPECT_EQ(nic.create_vi(attributes, options.send_to_queue ? completions : nullptr,
                          options.receive_to_queue ? completions : nullptr, vi),
            Return::Success);
  log.clear();
}

Piece Bench::allocate(std::size_t size, std::size_t alignment) {
  used_ = (used_ + alignment - 1) / alignment * alignment;
  EXPECT_LE(used_ + size, arena_bytes);
  const Piece piece{arena_.get() + used_, size};
  used_ += size;
  return piece;
}

Piece Bench::allocate(std::string_view text) {
  const Piece piece = allocate(text.size(), 1);
  std::copy(text.begin(), text.end(), piece.bytes().begin());
  return piece;
}

Posted Bench::descriptor(std::uint16_t control, std::uint32_t length_bytes, std::initializer_list<Segment> segments) {
  const Piece piece = allocate(sizeof(ControlSegment) + segments.size() * sizeof(Segment), 64);
  const Posted posted{piece.host};
  posted.control() = {.segment_count = static_cast<std::uint16_t>(segments.size()),
                      .control = control,
                      .length_bytes = length_bytes,
                      .status = 0xFFFFFFFF};
  std::copy(segments.begin(), segments.end(), &posted.segment(0));
  return posted;
}

Posted Bench::send(std::string_view text, std::uint16_t control) {
  return descriptor(control, static_cast<std::uint32_t>(text.size()), {segment(allocate(text))});
}

Posted Bench::rdma_write(std::string_view text, std::uint16_t control) {
  return descriptor(control | control::op_rdma_write, static_cast<std::uint32_t>(text.size()),
                    {Segment{remote_address, remote_handle.value, 0}, segment(allocate(text))});
}

Posted Bench::rdma_read(const Piece& target, std::uint16_t control) {
  return descriptor(control | control::op_rdma_read, static_cast<std::uint32_t>(target.size),
                    {Segment{remote_address, remote_handle.value, 0}, segment(target)});
}

Posted Bench::receive(const Piece& target) { return descriptor(0, 0, {segment(target)}); }

void Bench::connect() {
  vi->endpoint_event(endpoint::ConnectRequested{});
  vi->endpoint_event(endpoint::SetupSucceeded{});
}

void Bench::accept_early() {
  vi->endpoint_event(endpoint::AcceptRequested{});
  vi->receive_early();
}

void Bench::drive_to(std::string_view state) {
  if (state == "Idle") return;
  vi->endpoint_event(endpoint::ConnectRequested{});
  if (state == "PendingConnect") return;
  vi->endpoint_event(endpoint::SetupSucceeded{});
  if (state == "Error" || state == "Disconnecting") vi->endpoint_event(endpoint::ConnectionLost{});
  if (state == "Disconnecting") vi->endpoint_event(endpoint::DisconnectRequested{});
}

SendWork Bench::begin() {
  const auto work = vi->begin_send();
  EXPECT_TRUE(work.has_value());
  return work.value_or(SendWork{});
}

ReceiveWork Bench::claim(std::uint64_t message_bytes) {
  const auto work = vi->claim_receive(message_bytes);
  EXPECT_TRUE(work.has_value() && work->error_bits == 0);
  return work.value_or(ReceiveWork{});
}

void Bench::claim_bad(std::uint32_t op_code, std::uint64_t message_bytes) {
  const auto work = vi->claim_receive(message_bytes);
  ASSERT_TRUE(work.has_value());
  EXPECT_NE(work->error_bits, 0u);
  vi->complete_receive(*work, work->error_bits, op_code, 0, std::nullopt);
}

namespace {
template <class Done>
std::vector<std::uint32_t> dequeue(Done done) {
  std::vector<std::uint32_t> statuses;
  std::uint64_t address = 0;
  for (;;) {
    const Return result = done(address);
    if (address == 0) return statuses;
    const Posted posted{reinterpret_cast<std::byte*>(address)};
    const bool error = (posted.status() & status::error_mask) != 0;
    EXPECT_EQ(result, error ? Return::DescriptorError : Return::Success);
    statuses.push_back(posted.status());
  }
}
}  // namespace

std::vector<std::uint32_t> dequeue_sends(Bench& bench) {
  return dequeue([&](std::uint64_t& address) { return bench.vi->send_done(address); });
}

std::vector<std::uint32_t> dequeue_receives(Bench& bench) {
  return dequeue([&](std::uint64_t& address) { return bench.vi->receive_done(address); });
}

}  // namespace vi::testing
