#include "tools/fcvi_perf/job.hpp"

#include <algorithm>

namespace perf {

const char* to_string(Operation operation) {
  switch (operation) {
    case Operation::Send: return "send";
    case Operation::Write: return "write";
    case Operation::Read: return "read";
  }
  return "?";
}

const char* to_string(Measure measure) {
  switch (measure) {
    case Measure::Latency: return "lat";
    case Measure::Bandwidth: return "bw";
  }
  return "?";
}

const char* to_string(Completion completion) {
  switch (completion) {
    case Completion::Polling: return "polling";
    case Completion::Waiting: return "waiting";
  }
  return "?";
}

namespace {

std::string why_not_enums(const Job& job) {
  if (job.operation > Operation::Read || job.measure > Measure::Bandwidth || job.completion > Completion::Waiting)
    return "the test is unknown";
  if (job.level != VIP_SERVICE_UNRELIABLE && job.level != VIP_SERVICE_RELIABLE_DELIVERY &&
      job.level != VIP_SERVICE_RELIABLE_RECEPTION)
    return "--connection: unknown reliability level";
  if (job.operation == Operation::Read && job.level == VIP_SERVICE_UNRELIABLE)
    return "--connection: there is no RDMA Read at Unreliable Delivery";
  if (job.both_directions != 0 && job.measure == Measure::Latency)
    return "--bidirectional: only for bandwidth, latency goes both ways";
  if (job.immediate != 0 && job.operation != Operation::Write) return "--write_with_imm: only for RDMA Writes";
  return {};
}

bool within(std::uint64_t value, std::uint64_t most) { return value >= 1 && value <= most; }

}  // namespace

std::string why_not(const Job& job) {
  if (std::string why = why_not_enums(job); !why.empty()) return why;
  if (!within(job.max_bytes, max_message_bytes)) return "--size: 1 to 16777216 expected";
  if (!within(job.tx_depth, max_depth)) return "--tx-depth: 1 to 65536 expected";
  if (!within(job.rx_depth, max_depth)) return "--rx-depth: 1 to 65536 expected";
  if (!within(job.connections, max_connections)) return "--qp: 1 to 32768 expected";
  if (!within(job.buffers, 2 * max_depth)) return "--buffers: 1 to 131072 expected";
  if (!within(job.timeout_ms, 1'000'000'000)) return "--timeout: 0.001 to 1000000 expected";
  if (job.max_bytes * job.buffers > max_buffer_bytes || Layout(job).bytes() > max_buffer_bytes)
    return "--size, --qp and --buffers: more than 4 GiB of buffers are needed";
  return {};
}

Layout::Layout(const Job& job)
    : connections_(job.connections), buffers_(job.buffers),
      sends_((job.measure == Measure::Latency ? latency_depth : job.tx_depth) + notices),
      receives_((job.measure == Measure::Latency ? latency_depth : job.rx_depth) + notices),
      descriptor_bytes_((sends_ + receives_) * sizeof(VIP_DESCRIPTOR)), stride_((job.max_bytes + 63) / 64 * 64),
      connection_bytes_(descriptor_bytes_ + 2 * buffers_ * stride_) {
  if (connection_bytes_ >= 4096) {  // buffers begin at pages, where malloc() and other benchmarks have them
    const std::uint64_t page = 4096;
    descriptor_bytes_ = (descriptor_bytes_ + page - 1) / page * page;
    if (stride_ >= page) stride_ = (stride_ + page - 1) / page * page;
    connection_bytes_ = (descriptor_bytes_ + 2 * buffers_ * stride_ + 63) / 64 * 64;
  }
}

}  // namespace perf
