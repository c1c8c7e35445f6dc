// Vi, and what its calls give: Call, Work, Memory.
#include <algorithm>

#include "tools/fcvi_sim/scenario/status_text.hpp"
#include "tools/sim_api/state.hpp"

namespace fcvi::sim {
namespace {

constexpr unsigned most_depth = 4096;

detail::ViState& usable(detail::ViState& vi) {
  vi.port.fabric.must_be_usable();
  return vi;
}

vi::ReliabilityLevel level_of(Reliability reliability) {
  switch (reliability) {
    case Reliability::unreliable_delivery: return vi::ReliabilityLevel::UnreliableDelivery;
    case Reliability::reliable_delivery: return vi::ReliabilityLevel::ReliableDelivery;
    case Reliability::reliable_reception: return vi::ReliabilityLevel::ReliableReception;
  }
  return vi::ReliabilityLevel::UnreliableDelivery;
}

vi::NetAddress address_of(const std::string& host, std::string_view discriminator) {
  if (discriminator.empty() || discriminator.size() > vi::NetAddress::max_discriminator_bytes)
    throw Error("a discriminator has 1 to 128 bytes, not " + std::to_string(discriminator.size()));
  return vi::NetAddress::make(
      *wire::IpAddress::from_string(host),
      std::span(reinterpret_cast<const std::uint8_t*>(discriminator.data()), discriminator.size()));
}

/// Name of a port, or any IP address.
std::string host_of(const detail::FabricState& fabric, std::string_view host) {
  if (const auto address = wire::IpAddress::from_string(host)) return to_string(*address);
  return fabric.name_or_address(host);
}

/// Registers a place for the data, and puts it there.
std::shared_ptr<detail::WorkState> make_work(detail::ViState& vi, std::size_t size, const Bytes& data = {}) {
  auto work = std::make_shared<detail::WorkState>();
  work->region = vi.endpoint->allocate(size);
  std::copy(data.begin(), data.end(), work->region.bytes().begin());
  return work;
}

void must_have_room(const detail::ViState& vi, std::size_t posted) {
  if (posted >= vi.depth) throw Error("the queue is full: " + std::to_string(vi.depth) + " descriptors are posted");
}

void check_settled(detail::FabricState& fabric) {
  if (fabric.within == detail::Within::nothing) fabric.settle();
}

/// Posts a send, RDMA Write or RDMA Read. `posting` has all but the local data.
std::shared_ptr<detail::WorkState> post_send(detail::ViState& vi, ::sim::Posting posting, std::size_t size,
                                             const Bytes& data, std::optional<std::uint32_t> immediate) {
  usable(vi);
  must_have_room(vi, vi.sends.size());
  auto work = make_work(vi, size, data);
  const ::sim::Piece piece{0, static_cast<std::uint32_t>(size)};
  posting.pieces = std::span(&piece, size == 0 ? 0u : 1u);
  posting.base = work->region.address();
  posting.handle = work->region.handle();
  if (immediate) posting.control |= vi::control::immediate;
  posting.immediate_data = immediate.value_or(0);
  vi.sends.push_back(work);
  vi.endpoint->post_send(posting);
  check_settled(vi.port.fabric);
  return work;
}

std::uint64_t place_in(const Memory& memory, std::size_t offset, std::size_t size) {
  if (offset > memory.size() || size > memory.size() - offset)
    throw Error("bytes " + std::to_string(offset) + " to " + std::to_string(offset + size) + " of a memory of " +
                std::to_string(memory.size()));
  return memory.address() + offset;
}

const ::sim::Region& region_of(const detail::MemoryState& memory) {
  if (memory.fabric.is_closed) throw Error("the fabric is closed");
  return memory.region;
}

}  // namespace

Vi Port::vi(const ViOptions& options) {
  state_->fabric.must_be_usable();
  if (options.depth == 0 || options.depth > most_depth) throw Error("depth: 1 to 4096 was expected");
  const bool reads = options.rdma_read && options.reliability != Reliability::unreliable_delivery;
  auto made = std::make_unique<detail::ViState>(*state_);
  made->depth = options.depth;
  const vi::ViAttributes attributes{
      .reliability = level_of(options.reliability), .enable_rdma_write = options.rdma_write, .enable_rdma_read = reads};
  made->endpoint = std::make_unique<::sim::Endpoint>(*state_->node, attributes, options.depth, 1);
  state_->vis.push_back(std::move(made));
  return Vi(std::shared_ptr<detail::ViState>(state_, state_->vis.back().get()));
}

// --- connections -------------------------------------------------------------------------------------------------

Call Vi::listen(std::string_view discriminator) {
  detail::ViState& vi = usable(*state_);
  if (vi.wait != nullptr) throw Error("the VI listens already");
  const vi::NetAddress local = address_of(vi.port.address, discriminator);
  vi.listening = std::make_shared<detail::CallState>();
  const Call call(vi.listening);
  vi.wait = &vi.port.operations.waits.emplace_back(std::weak_ptr<detail::CallState>());
  vi.port.host->transport().connect_wait(local, runtime::never, *vi.wait);
  check_settled(vi.port.fabric);
  return call;
}

Call Vi::begin_connect(std::string_view host, std::string_view discriminator, Duration timeout) {
  detail::ViState& vi = usable(*state_);
  if (timeout.count() <= 0) throw Error("a timeout is above 0");
  const vi::NetAddress local = address_of(vi.port.address, discriminator);
  const vi::NetAddress remote = address_of(host_of(vi.port.fabric, host), discriminator);
  const auto call = std::make_shared<detail::CallState>();
  auto& operation = vi.port.operations.connects.emplace_back(call);
  vi.port.host->transport().connect_request(vi.endpoint->vi(), local, remote, timeout.count(), operation);
  check_settled(vi.port.fabric);
  return Call(call);
}

void Vi::connect(std::string_view host, std::string_view discriminator, Duration timeout) {
  const auto keep = state_;
  const Call call = begin_connect(host, discriminator, timeout);
  constexpr Duration behind_timeout = std::chrono::seconds(1);
  detail::FabricState& fabric = state_->port.fabric;
  fabric.run_until([&] { return call.done(); }, timeout + behind_timeout);
  const bool found_nobody = call.result() == to_string(vi::Return::NoMatch);
  const std::string hint = found_nobody ? ": nobody listens for \"" + std::string(discriminator) + "\" there" : "";
  if (call.result() != to_string(vi::Return::Success))
    throw CallFailed("connect to \"" + std::string(host) + "\": " + call.result() + hint + fabric.latest_frames(),
                     call.result());
}

Call Vi::disconnect() {
  detail::ViState& vi = usable(*state_);
  const auto call = std::make_shared<detail::CallState>();
  vi.port.host->transport().disconnect(vi.endpoint->vi(), vi.port.operations.plain.emplace_back(call));
  check_settled(vi.port.fabric);
  return Call(call);
}

std::string Vi::state() const {
  if (state_->port.fabric.is_closed) throw Error("the fabric is closed");
  return std::string(state_->endpoint->vi().endpoint_state_name());
}

bool Call::done() const { return state_->result != vi::Return::NotDone; }
std::string Call::result() const { return std::string(to_string(state_->result)); }

// --- data --------------------------------------------------------------------------------------------------------

Work Vi::post_receive(std::uint32_t size) {
  detail::ViState& vi = usable(*state_);
  must_have_room(vi, vi.receives.size());
  auto work = make_work(vi, size);
  const ::sim::Piece piece{0, size};
  vi.receives.push_back(work);
  vi.endpoint->post_receive({.pieces = std::span(&piece, size == 0 ? 0u : 1u),
                             .base = work->region.address(),
                             .handle = work->region.handle()});
  check_settled(vi.port.fabric);
  return Work(work);
}

Work Vi::send(const Bytes& data, std::optional<std::uint32_t> immediate) {
  return Work(post_send(*state_, {}, data.size(), data, immediate));
}

Work Vi::rdma_write(const Bytes& data, std::uint64_t address, std::uint32_t handle,
                    std::optional<std::uint32_t> immediate) {
  return Work(post_send(*state_,
                        {.control = vi::control::op_rdma_write,
                         .pieces = {},
                         .remote_address = address,
                         .remote_handle = wire::MemHandle{handle}},
                        data.size(), data, immediate));
}

Work Vi::rdma_write(const Bytes& data, const Memory& remote, std::size_t offset,
                    std::optional<std::uint32_t> immediate) {
  return rdma_write(data, place_in(remote, offset, data.size()), remote.handle(), immediate);
}

Work Vi::rdma_read(std::uint32_t size, const Memory& remote, std::size_t offset) {
  return Work(post_send(*state_,
                        {.control = vi::control::op_rdma_read,
                         .pieces = {},
                         .remote_address = place_in(remote, offset, size),
                         .remote_handle = wire::MemHandle{remote.handle()}},
                        size, {}, {}));
}

Memory Vi::allocate(std::size_t size) {
  detail::ViState& vi = usable(*state_);
  if (size == 0) throw Error("a memory has 1 byte at least");
  auto& memories = vi.port.fabric.memories;
  const bool reads = vi.endpoint->vi().attributes().enable_rdma_read;
  const bool writes = vi.endpoint->vi().attributes().enable_rdma_write;
  memories.emplace_back(new detail::MemoryState{vi.port.fabric, vi.endpoint->allocate(size, writes, reads)});
  const auto bytes = memories.back()->region.bytes();
  std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
  return Memory(std::shared_ptr<detail::MemoryState>(state_, memories.back().get()));
}

bool Work::done() const { return state_->completion.has_value(); }
bool Work::ok() const { return done() && state_->completion->error() == 0; }
std::string Work::error() const { return !done() || ok() ? "" : ::sim::status_text(state_->completion->error()); }
Bytes Work::data() const { return state_->data; }

std::optional<std::uint32_t> Work::immediate() const {
  if (!done() || (state_->completion->status & vi::status::immediate) == 0) return std::nullopt;
  return state_->completion->immediate_data;
}

std::uint64_t Memory::address() const { return region_of(*state_).address(); }
std::uint32_t Memory::handle() const { return region_of(*state_).handle().value; }
std::size_t Memory::size() const { return region_of(*state_).bytes().size(); }

Bytes Memory::read(std::size_t offset, std::optional<std::size_t> size) const {
  const auto bytes = region_of(*state_).bytes();
  const std::size_t count = size.value_or(bytes.size() - std::min(offset, bytes.size()));
  place_in(*this, offset, count);
  const auto part = bytes.subspan(offset, count);
  return Bytes(part.begin(), part.end());
}

void Memory::write(const Bytes& data, std::size_t offset) {
  state_->fabric.must_be_usable();
  place_in(*this, offset, data.size());
  std::copy(data.begin(), data.end(), state_->region.bytes().begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace fcvi::sim
