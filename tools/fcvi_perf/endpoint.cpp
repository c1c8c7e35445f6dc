#include "tools/fcvi_perf/endpoint.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace perf {

void fail(const std::string& what) {
  static std::atomic_flag failing = ATOMIC_FLAG_INIT;
  while (failing.test_and_set()) ::pause();
  say("%s", what.c_str());
  std::exit(EXIT_FAILED);
}

void Patience::look_at_clock() {
  const std::uint64_t now = now_ns();
  if (begun_ns_ == 0) begun_ns_ = now;
  if (now - begun_ns_ > timeout_ns_)
    fail("nothing came for " + std::to_string(timeout_ns_ / 1'000'000) + " ms (--timeout); at Unreliable Delivery a " +
         "message may be lost");
}

/* ---- beginning and end ----------------------------------------------------------------------------------- */

namespace {
/// A lost connection and a missing receive show in descriptors too, or in that nothing comes.
void on_error(VIP_PVOID, VIP_ERROR_DESCRIPTOR* error) {
  if (error->ErrorCode != VIP_ERROR_CONN_LOST) say("%s", error_text(error->ErrorCode));
}
}  // namespace

Endpoint::Endpoint(const std::string& device) {
  const VIP_RETURN opened = VipOpenNic(device.c_str(), &nic_);
  if (opened == VIP_INVALID_PARAMETER) refuse("--ib-dev: there is no VI NIC %s", device.c_str());  // VI-DG 3.1.1
  check(opened, device);
  check(VipQueryNic(nic_, &attributes_), "VipQueryNic");
  check(VipErrorCallback(nic_, nullptr, on_error), "VipErrorCallback");
  if (const VIP_RETURN result = VipNSInit(nic_, nullptr); result != VIP_ERROR_NAMESERVICE) check(result, "VipNSInit");
}

Endpoint::~Endpoint() {
  release();
  VipCloseNic(nic_);
}

std::string Endpoint::why_not(const Job& job) const {
  const Layout layout(job);
  if (layout.sends() > attributes_.MaxDescriptorsPerQueue)
    return "--tx-depth: the NIC has room for " + std::to_string(attributes_.MaxDescriptorsPerQueue - notices);
  if (layout.receives() > attributes_.MaxDescriptorsPerQueue)
    return "--rx-depth: the NIC has room for " + std::to_string(attributes_.MaxDescriptorsPerQueue - notices);
  if (job.max_bytes > attributes_.MaxTransferSize)
    return "--size: the NIC takes " + std::to_string(attributes_.MaxTransferSize) + " bytes at most";
  if (job.connections >= attributes_.MaxVI)
    return "--qp: the NIC has " + std::to_string(attributes_.MaxVI - 1) + " VIs beside that of the control connection";
  if ((attributes_.ReliabilityLevelSupport & job.level) == 0) return "--connection: the NIC has no such level";
  if (job.operation == Operation::Read && (attributes_.RDMAReadSupport & job.level) == 0)
    return "--connection: the NIC has no RDMA Read at this level";
  return {};
}

void Endpoint::create_vi(Connection& connection) {
  VIP_VI_ATTRIBUTES wanted{};
  wanted.ReliabilityLevel = static_cast<VIP_RELIABILITY_LEVEL>(job_.level);
  wanted.MaxTransferSize = job_.max_bytes;
  wanted.EnableRdmaWrite = VIP_TRUE;
  wanted.EnableRdmaRead = job_.level == VIP_SERVICE_UNRELIABLE ? VIP_FALSE : VIP_TRUE;
  check(VipCreateVi(nic_, &wanted, queue_, queue_, &connection.vi), "VipCreateVi");
}

void Endpoint::prepare(const Job& job, bool is_passive) {
  job_ = job;
  layout_.emplace(job);
  if (is_passive) job_.timeout_ms = VIP_INFINITE;  // it is told when the client is gone
  patience_ = Patience(job_.timeout_ms);
  waits_ = job.completion == Completion::Waiting || (is_passive && job.passive_waits != 0);
  void* room = nullptr;
  if (::posix_memalign(&room, 4096, layout_->bytes()) != 0) fail("no memory for the buffers");
  std::memset(room, 0, layout_->bytes());
  room_ = static_cast<std::uint8_t*>(room);
  VIP_MEM_ATTRIBUTES rdma{nullptr, VIP_TRUE, job.level == VIP_SERVICE_UNRELIABLE ? VIP_FALSE : VIP_TRUE};
  check(VipRegisterMem(nic_, room_, layout_->bytes(), &rdma, &handle_), "VipRegisterMem");
  // A thread can wait for one work queue only.
  if (job.completion_queue != 0 || (waits_ && (job.connections > 1 || job.both_directions != 0))) {
    const std::uint64_t entries = job.connections * (layout_->sends() + layout_->receives());
    check(VipCreateCQ(nic_, std::min<std::uint64_t>(entries, attributes_.MaxCQEntries), &queue_), "VipCreateCQ");
  }
  connections_.assign(job.connections, {});
  for (std::uint64_t i = 0; i < job.connections; ++i) {
    create_vi(connections_[i]);
    for (std::uint64_t number = 0; number < layout_->receives(); ++number)
      post_receive(i, descriptor_at(layout_->receive_descriptor(i, number)), number);
  }
}

void Endpoint::release() {
  bool all_ended = true;
  for (Connection& connection : connections_)
    if (connection.vi != nullptr && end_vi(connection.vi) == 0) all_ended = false;
  connections_.clear();
  if (room_ == nullptr || !all_ended) return;
  if (queue_ != nullptr) VipDestroyCQ(queue_);
  queue_ = nullptr;
  VipDeregisterMem(nic_, room_, handle_);
  std::free(room_);
  room_ = nullptr;
}

/* ---- posting --------------------------------------------------------------------------------------------- */

namespace {
void begin(VIP_DESCRIPTOR* descriptor, std::uint64_t segments, std::uint32_t control, std::uint64_t bytes) {
  std::memset(descriptor, 0, sizeof *descriptor);
  descriptor->CS.SegCount = static_cast<VIP_UINT16>(segments);
  descriptor->CS.Control = static_cast<VIP_UINT16>(control);
  descriptor->CS.Length = static_cast<VIP_UINT32>(bytes);
}
}  // namespace

void Endpoint::post_receive(std::uint64_t connection, VIP_DESCRIPTOR* descriptor, std::uint64_t number) {
  begin(descriptor, 1, VIP_CONTROL_OP_SENDRECV, job_.max_bytes);
  VIP_DATA_SEGMENT& into = descriptor->DS[0].Local;
  into.Data.Address = room_ + layout_->target(connection, number);
  into.Handle = handle_;
  into.Length = static_cast<VIP_UINT32>(job_.max_bytes);
  check(VipPostRecv(connections_[connection].vi, descriptor, handle_), "VipPostRecv");
}

void Endpoint::repost(const Event& received) {
  post_receive(received.connection, received.descriptor, receive_number(received));
}

void Endpoint::post_data(std::uint64_t connection, std::uint64_t number, std::uint64_t bytes) {
  Connection& of = connections_[connection];
  const std::uint64_t slots = layout_->sends() - notices;
  VIP_DESCRIPTOR* descriptor = descriptor_at(layout_->send_descriptor(connection, of.next_data));
  ++of.data_posted;
  if (++of.next_data == slots) of.next_data = 0;
  const bool rdma = job_.operation != Operation::Send;
  const bool reads = job_.operation == Operation::Read;
  std::uint32_t control = reads ? VIP_CONTROL_OP_RDMAREAD : rdma ? VIP_CONTROL_OP_RDMAWRITE : VIP_CONTROL_OP_SENDRECV;
  if (job_.immediate != 0) control |= VIP_CONTROL_IMMEDIATE;
  begin(descriptor, rdma ? 2 : 1, control, bytes);
  descriptor->CS.ImmediateData = to_immediate(Notice::Data, number);
  if (rdma) {
    VIP_ADDRESS_SEGMENT& there = descriptor->DS[0].Remote;
    const std::uint64_t offset = reads ? layout_->source(connection, number) : layout_->target(connection, number);
    there.Data.AddressBits = peer_.address + offset;
    there.Handle = static_cast<VIP_MEM_HANDLE>(peer_.handle);
  }
  VIP_DATA_SEGMENT& here = descriptor->DS[rdma ? 1 : 0].Local;
  here.Data.Address = room_ + (reads ? layout_->target(connection, number) : layout_->source(connection, number));
  here.Handle = handle_;
  here.Length = static_cast<VIP_UINT32>(bytes);
  check(VipPostSend(of.vi, descriptor, handle_), "VipPostSend");
}

bool Endpoint::post_notice(std::uint64_t connection, Notice notice, std::uint64_t count) {
  Connection& of = connections_[connection];
  if (of.notices_posted - of.notices_done >= notices) return false;
  const std::uint64_t slot = layout_->sends() - notices + of.notices_posted++ % notices;
  VIP_DESCRIPTOR* descriptor = descriptor_at(layout_->send_descriptor(connection, slot));
  begin(descriptor, 0, VIP_CONTROL_OP_SENDRECV | VIP_CONTROL_IMMEDIATE, 0);
  descriptor->CS.ImmediateData = to_immediate(notice, count);
  check(VipPostSend(of.vi, descriptor, handle_), "VipPostSend");
  return true;
}

/* ---- completions ----------------------------------------------------------------------------------------- */

void Endpoint::judge(VIP_RETURN result, const VIP_DESCRIPTOR* descriptor) {
  if (result == VIP_SUCCESS) return;
  if (descriptor == nullptr) fail(std::string("a completion: ") + result_text(result));
  fail(std::string("a descriptor failed: ") + status_text(descriptor->CS.Status));
}

void Endpoint::count(const Event& sent) {
  Connection& of = connections_[sent.connection];
  ++(is_data(sent) ? of.data_done : of.notices_done);
}

bool Endpoint::take_receive(std::uint64_t connection, Event& event) {
  event = {connection, true, nullptr};
  const VIP_RETURN result = VipRecvDone(connections_[connection].vi, &event.descriptor);
  if (result == VIP_NOT_DONE) return false;
  judge(result, event.descriptor);
  return true;
}

bool Endpoint::take_send(std::uint64_t connection, Event& event) {
  event = {connection, false, nullptr};
  if (!connections_[connection].sends()) return false;
  const VIP_RETURN result = VipSendDone(connections_[connection].vi, &event.descriptor);
  if (result == VIP_NOT_DONE) return false;
  judge(result, event.descriptor);
  count(event);
  return true;
}

bool Endpoint::from_queue(Event& event, VIP_VI_HANDLE vi, bool received) {
  event = {0, received, nullptr};
  const VIP_RETURN result = received ? VipRecvDone(vi, &event.descriptor) : VipSendDone(vi, &event.descriptor);
  if (result == VIP_NOT_DONE) return false;
  judge(result, event.descriptor);
  event.connection = layout_->connection_of(offset_of(event.descriptor));
  if (!received) count(event);
  return true;
}

bool Endpoint::any_of_queue(Event& event) {
  VIP_VI_HANDLE vi = nullptr;
  VIP_BOOLEAN received = VIP_FALSE;
  const VIP_RETURN result = VipCQDone(queue_, &vi, &received);
  if (result == VIP_NOT_DONE) return false;
  check(result, "VipCQDone");
  return from_queue(event, vi, received != VIP_FALSE);
}

/// A look for a receive that finds none reads what other processes have written. So who sends looks for its sends
/// first, which most often are complete, and only now and then for receives although there were sends.
bool Endpoint::any_of_connections(Event& event) {
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    const std::uint64_t connection = turn_;
    const bool sends_first = ++looks_ % sends_first_times != 0;
    if (sends_first && take_send(connection, event)) return true;
    if (take_receive(connection, event) || (!sends_first && take_send(connection, event))) return true;
    turn_ = turn_ + 1 == connections_.size() ? 0 : turn_ + 1;
  }
  return false;
}

bool Endpoint::any(Event& event) { return queue_ != nullptr ? any_of_queue(event) : any_of_connections(event); }

Event Endpoint::wait_at_queue() {
  Event event{};
  for (;;) {
    VIP_VI_HANDLE vi = nullptr;
    VIP_BOOLEAN received = VIP_FALSE;
    const VIP_RETURN result = VipCQWait(queue_, job_.timeout_ms, &vi, &received);
    check(result, "VipCQWait (--timeout)");
    if (from_queue(event, vi, received != VIP_FALSE)) return event;
  }
}

Event Endpoint::wait_at_vi(std::uint64_t connection, bool receive) {
  Event event{connection, receive, nullptr};
  const VIP_VI_HANDLE vi = connections_[connection].vi;
  const VIP_RETURN result = receive ? VipRecvWait(vi, job_.timeout_ms, &event.descriptor)
                                    : VipSendWait(vi, job_.timeout_ms, &event.descriptor);
  if (result == VIP_TIMEOUT) check(result, receive ? "VipRecvWait (--timeout)" : "VipSendWait (--timeout)");
  judge(result, event.descriptor);
  if (!receive) count(event);
  return event;
}

Event Endpoint::next(bool receive) {
  Event event{};
  if (waits_) {
    if (queue_ == nullptr) return any_of_connections(event) ? event : wait_at_vi(0, receive);
    return wait_at_queue();
  }
  while (!any(event)) patience_.idle();
  patience_.progress();
  return event;
}

Event Endpoint::next_receive(std::uint64_t connection) {
  Event event{};
  if (queue_ != nullptr) {
    do event = next(true);
    while (!event.received);
    return event;
  }
  if (waits_) return wait_at_vi(connection, true);
  while (!take_receive(connection, event)) patience_.idle();
  patience_.progress();
  return event;
}

void Endpoint::next_send(std::uint64_t connection) {
  Event event{};
  if (queue_ != nullptr) {
    do {
      event = next(false);
      if (event.received) fail("a message came that the test does not have");
    } while (event.connection != connection);
  } else if (waits_) {
    wait_at_vi(connection, false);
  } else {
    while (!take_send(connection, event)) patience_.idle();
    patience_.progress();
  }
}

void Endpoint::collect_sends(std::uint64_t connection) {
  Event event{};
  if (queue_ == nullptr)
    while (take_send(connection, event)) {}
}

}  // namespace perf
