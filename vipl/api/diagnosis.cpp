#include "vipl/api/diagnosis.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "vi/descriptor.hpp"

namespace vipl {
namespace {
namespace status = vi::status;
namespace control = vi::control;

constexpr std::uint16_t most_segments = 4096;  // that are looked at

/// The program's memory as it is now; false where it is not mapped.
bool read(std::uint64_t address, void* to, std::size_t bytes) {
  const iovec local{to, bytes}, remote{reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

/// A descriptor of the program, copied.
struct Copy {
  vi::ControlSegment control;
  std::vector<vi::Segment> segments;

  static std::optional<Copy> of(std::uint64_t address) {
    Copy copy;
    if (!read(address, &copy.control, sizeof copy.control)) return std::nullopt;
    copy.segments.resize(std::min(copy.control.segment_count, most_segments));
    const std::size_t bytes = copy.segments.size() * sizeof(vi::Segment);
    if (bytes != 0 && !read(address + sizeof copy.control, copy.segments.data(), bytes)) return std::nullopt;
    return copy;
  }
  [[nodiscard]] std::uint16_t operation() const { return control.control & control::op_mask; }
};

/// The most bytes from there that lie in the region; the first one does.
std::uint64_t bytes_to_end(const vi::MemoryTable& memory, const vi::Segment& segment) {
  std::uint64_t inside = 0, outside = segment.length_or_reserved;
  while (outside - inside > 1) {
    const std::uint64_t middle = inside + (outside - inside) / 2;
    const bool fits =
        memory.translate(wire::MemHandle{segment.handle}, segment.address, middle, {}, vi::Access::Local) != nullptr;
    (fits ? inside : outside) = middle;
  }
  return inside;
}

/// Empty: the segment is all right.
std::string why_refused(const FailedDescriptor& failed, const vi::Segment& segment, vi::Access access) {
  const wire::MemHandle handle{segment.handle};
  const std::uint64_t length = segment.length_or_reserved;
  const auto passes = [&](std::uint64_t bytes, vi::Ptag tag, vi::Access wanted) {
    return failed.memory.translate(handle, segment.address, bytes, tag, wanted) != nullptr;
  };
  if (length == 0 || passes(length, failed.vi.attributes().ptag, access)) return {};
  if (!passes(0, {}, vi::Access::Local))
    return fmt::format("memory handle {:#x} is not registered, or its region does not hold that address",
                       segment.handle);
  if (!passes(length, {}, vi::Access::Local))
    return fmt::format("reaches {} bytes past the end of its region", length - bytes_to_end(failed.memory, segment));
  if (!passes(length, {}, access)) return "its memory must not be written to";
  return "its region has another protection tag than the VI";
}

std::string name(std::size_t number, const vi::Segment& segment) {
  return fmt::format("segment {} ({} bytes at {:#x}, handle {:#x})", number, segment.length_or_reserved,
                     segment.address, segment.handle);
}

std::size_t first_data_segment(const Copy& copy, bool receive_queue) {
  return receive_queue || copy.operation() == control::op_send_receive ? 0 : 1;
}

std::uint64_t data_bytes(const Copy& copy, bool receive_queue) {
  std::uint64_t sum = 0;
  for (std::size_t i = first_data_segment(copy, receive_queue); i < copy.segments.size(); ++i)
    sum += copy.segments[i].length_or_reserved;
  return sum;
}

std::string protection(const FailedDescriptor& failed, const Copy& copy) {
  const bool writes = failed.receive_queue || copy.operation() == control::op_rdma_read;
  for (std::size_t i = first_data_segment(copy, failed.receive_queue); i < copy.segments.size(); ++i) {
    const std::string why = why_refused(failed, copy.segments[i], writes ? vi::Access::LocalWrite : vi::Access::Local);
    if (!why.empty()) return name(i, copy.segments[i]) + ": " + why;
  }
  return "memory of the descriptor, or of a segment, was not registered when it was used";
}

std::string format(const FailedDescriptor& failed, const Copy& copy) {
  if ((copy.control.control & control::reserved) != 0 || copy.control.reserved != 0)
    return "a reserved field is not zero";
  const std::uint16_t operation = copy.operation();
  if (failed.receive_queue) return "a receive has the control bits of another operation";
  if (operation == control::op_mask) return "the control bits name no operation";
  if (operation == control::op_rdma_read && !vi::is_reliable(failed.vi.attributes().reliability))
    return "RDMA Read on a VI of Unreliable Delivery";
  if (operation != control::op_send_receive && copy.segments.empty()) return "RDMA without an address segment";
  return "the reserved field of the address segment is not zero";
}

std::string length(const FailedDescriptor& failed, const Copy& copy) {
  const std::uint32_t most = failed.vi.attributes().max_transfer_size_bytes;
  const std::uint64_t sum = data_bytes(copy, failed.receive_queue);
  if (copy.control.segment_count > failed.limits.max_segments_per_descriptor)
    return fmt::format("{} segments, {} are the most", copy.control.segment_count,
                       failed.limits.max_segments_per_descriptor);
  if (failed.receive_queue)
    return fmt::format("the message was longer than its segments, {} bytes, or than the VI's MaxTransferSize, {}", sum,
                       most);
  if (copy.control.length_bytes > most)
    return fmt::format("Length is {}, the VI's MaxTransferSize {}", copy.control.length_bytes, most);
  return fmt::format("Length is {}, its segments hold {} bytes", copy.control.length_bytes, sum);
}

std::string remote_target(const Copy& copy) {
  if (copy.segments.empty()) return {};
  const vi::Segment& target = copy.segments[0];
  return fmt::format(" ({} bytes at {:#x}, handle {:#x} there)", copy.control.length_bytes, target.address,
                     target.handle);
}

std::string flushed(const FailedDescriptor& failed) {
  if (!failed.end_cause.empty()) return std::string(failed.end_cause);
  switch (failed.vi.state()) {
    case vi::State::Error: return "the VI is in Error: an earlier descriptor failed, or the connection ended";
    case vi::State::Idle:
    case vi::State::ConnectPending: return "the VI is not connected, or no more";
    case vi::State::Connected: break;
  }
  return "an earlier descriptor of the VI failed, or VipDisconnect was called";
}

std::string_view operation_of(const FailedDescriptor& failed, const Copy& copy) {
  if (failed.receive_queue) return "receive";
  if (copy.operation() == control::op_rdma_write) return "RDMA Write";
  return copy.operation() == control::op_rdma_read ? "RDMA Read" : "send";
}

std::string causes(const FailedDescriptor& failed, const Copy& copy) {
  const std::uint32_t bits = copy.control.status;
  std::string text;
  const auto add = [&](std::uint32_t bit, std::string_view bit_name, auto why) {
    if ((bits & bit) != 0) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", bit_name, why());
  };
  add(status::format_error, "Local Format Error", [&] { return format(failed, copy); });
  add(status::protection_error, "Local Protection Error", [&] { return protection(failed, copy); });
  add(status::length_error, "Local Length Error", [&] { return length(failed, copy); });
  add(status::partial_error, "Partial Packet Error", [] { return "a part of the message went through"; });
  add(status::flushed, "Descriptor Flushed", [&] { return flushed(failed); });
  add(status::transport_error, "Transport Error", [&] {
    return failed.end_cause.empty() ? std::string("frames or an answer of the peer did not come")
                                    : std::string(failed.end_cause);
  });
  add(status::rdma_protection_error, "RDMA Protection Error", [&] {
    return "the peer refused it: the memory that it names there" + remote_target(copy) +
           " is not registered, has another tag, or does not allow it, or the peer's VI does not";
  });
  add(status::remote_descriptor_error, "Remote Descriptor Error", [&] {
    return fmt::format(
        "the peer refused it: no receive was posted there, or its segments hold less than {} bytes, or are not "
        "registered",
        copy.control.length_bytes);
  });
  return text;
}

}  // namespace

std::string explain(const FailedDescriptor& failed) {
  const auto copy = Copy::of(failed.address);
  if (!copy) return fmt::format("descriptor {:#x} failed, and its memory cannot be read any more", failed.address);
  return fmt::format("{} descriptor {:#x}: {}", operation_of(failed, *copy), failed.address, causes(failed, *copy));
}

std::string explain_post(const FailedDescriptor& failed, wire::MemHandle handle) {
  const std::string what = fmt::format(
      "{} descriptor {:#x} could not be posted: ", failed.receive_queue ? "receive" : "send", failed.address);
  if (failed.overrun)
    return what + fmt::format("{} descriptors are posted and not dequeued, the most (VI Overrun)",
                              failed.limits.max_descriptors_per_queue);
  if (failed.address % vi::descriptor_alignment_bytes != 0) return what + "it is not aligned to 64 bytes";
  const vi::Segment whole{failed.address, handle.value, sizeof(vi::ControlSegment)};
  if (const std::string why = why_refused(failed, whole, vi::Access::LocalWrite); !why.empty())
    return what + "its memory: " + why;
  const auto copy = Copy::of(failed.address);
  if (!copy) return what + "its memory cannot be read";
  const auto bytes =
      static_cast<std::uint32_t>(sizeof(vi::ControlSegment) + copy->segments.size() * sizeof(vi::Segment));
  const std::string why = why_refused(failed, {failed.address, handle.value, bytes}, vi::Access::LocalWrite);
  if (!why.empty()) return what + fmt::format("its {} segments: ", copy->segments.size()) + why;
  return what + "its memory can be read and not be written, and a status goes there (VI-DG 5.5)";
}

}  // namespace vipl
