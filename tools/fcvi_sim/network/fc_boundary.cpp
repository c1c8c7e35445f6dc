#include "tools/fcvi_sim/network/fc_boundary.hpp"

#include <algorithm>

namespace sim {
namespace {

/// Of a frame, beside its bytes.
struct FrameNote {
  fc2::TimeNs sent, arrival, entered;
  std::uint32_t path_age;
  std::uint16_t size_bytes, fault;
  wire::Sof sof;
  wire::Eof eof;
  bool crc_error;
};

void put_record(ByteWriter& to, const fc2::NameDatabase::Port& port) {
  to.put(port.type);
  to.put(port.port_name);
  to.put(port.node_name);
  to.put_text(port.symbolic_name);
  to.put(port.types);
  to.put(port.features.size());
  for (const auto& [type, features] : port.features) {
    to.put(type);
    to.put(features);
  }
  to.put_list(port.addresses);
  to.put(port.classes_of_service);
  to.put(port.fabric_port_name);
}

fc2::NameDatabase::Port record_of(ByteReader& from) {
  fc2::NameDatabase::Port port;
  port.type = from.get<wire::ct::PortType>();
  port.port_name = from.get<wire::Wwn>();
  port.node_name = from.get<wire::Wwn>();
  port.symbolic_name = from.get_text();
  port.types = from.get<wire::ct::Fc4Types>();
  for (auto left = from.get<std::size_t>(); left != 0; --left) {
    const auto type = from.get<wire::Type>();
    port.features[type] = from.get<std::uint8_t>();
  }
  port.addresses = from.get_list<wire::IpAddress>();
  port.classes_of_service = from.get<std::uint32_t>();
  port.fabric_port_name = from.get<wire::Wwn>();
  return port;
}

}  // namespace

FcBoundary::FcBoundary(runtime::Scheduler& clock, fc2::Fabric& fabric, fc2::FramePool& pool, const Scenario& scenario,
                       const Share& share)
    : clock_(clock), fabric_(fabric), pool_(pool), part_(share.part) {
  for (std::size_t i = 0; i < scenario.switch_links.size(); ++i) {
    const SwitchLinkSpec& spec = scenario.switch_links[i];
    const bool at_a = share.has_switch(spec.from);
    if (at_a == share.has_switch(spec.to)) continue;
    const std::size_t far_part = share.part_of_switch[at_a ? spec.to : spec.from];
    CutEnd& end = ends_.emplace_back(*this, static_cast<std::uint32_t>(i), at_a, far_part);
    end_of_isl_[static_cast<std::uint32_t>(i)] = &end;
    end.take_place();
  }
  fabric_.directory_feed().set_export(this);
}

FcBoundary::~FcBoundary() {
  fabric_.directory_feed().set_export(nullptr);
  for (const auto& isl : fabric_.links())
    for (fc2::LinkEnd* end : {&isl->link().a, &isl->link().b}) {
      end->output().set_fault(nullptr);
      end->set_primitive_fault(nullptr);
    }
}

// --- out of here -------------------------------------------------------------------------------------------------

void FcBoundary::CutEnd::take_place() {
  fc2::LinkEnd& own = at_a_ ? link().a : link().b;
  own.output().set_fault(this);
  own.set_primitive_fault(this);
  far_end().set_primitive_fault(&far_);
}

ByteWriter& FcBoundary::CutEnd::begin(MessageKind kind, fc2::TimeNs arrival) {
  ByteWriter& message = boundary_.outbox_->begin(far_part_, kind, arrival);
  message.put(isl_);
  return message;
}

void FcBoundary::CutEnd::carry(fc2::Channel& /*channel*/, fc2::FramePtr frame) {
  if (boundary_.outbox_ == nullptr) return;
  ByteWriter& message = begin(MessageKind::Frame, frame->arrival);
  message.put(FrameNote{boundary_.clock_.now(), frame->arrival, frame->entered, frame->path_age, frame->size_bytes,
                        frame->fault, frame->sof, frame->eof, frame->crc_error});
  message.put_bytes(frame->content());
  if (!boundary_.counts_in_flight_) return;
  arrivals_.push_back(frame->arrival);
  if (!pending()) boundary_.clock_.schedule(*this, arrivals_.front());
}

void FcBoundary::CutEnd::link_broke() {
  broke_at_ = boundary_.clock_.now();
  arrivals_.clear();
  boundary_.clock_.cancel(*this);
}

void FcBoundary::CutEnd::fire(fc2::TimeNs now) {
  while (!arrivals_.empty() && arrivals_.front() <= now) arrivals_.pop_front();
  if (!arrivals_.empty()) boundary_.clock_.schedule(*this, arrivals_.front());
}

std::size_t FcBoundary::in_flight(std::size_t isl) {
  counts_in_flight_ = true;
  const auto found = end_of_isl_.find(static_cast<std::uint32_t>(isl));
  return found == end_of_isl_.end() ? 0 : found->second->in_flight();
}

bool FcBoundary::CutEnd::loses(fc2::Primitive primitive, fc2::TimeNs now) {
  if (is_local(primitive)) return false;
  if (boundary_.outbox_ == nullptr) return true;
  ByteWriter& message = begin(MessageKind::Primitive, now + link().config().latency_ns);
  message.put(primitive);
  message.put(now);
  return true;
}

void FcBoundary::exported(fc2::TimeNs due, std::size_t origin, const fc2::DirectoryChange& change) {
  if (outbox_ == nullptr) return;
  for (std::size_t part = 0; part < outbox_->parts(); ++part) {
    if (part == part_) continue;
    ByteWriter& message = outbox_->begin(part, MessageKind::Directory, due);
    message.put(due);
    message.put(origin);
    message.put(change.kind);
    message.put(change.id);
    message.put(change.port_name);
    message.put(change.record.has_value());
    if (change.record) put_record(message, *change.record);
    message.put_text(change.node_symbolic_name);
    message.put_list(change.node_addresses);
  }
}

// --- into here ---------------------------------------------------------------------------------------------------

void FcBoundary::deliver(MessageKind kind, ByteReader& message) {
  switch (kind) {
    case MessageKind::Frame: return frame_came(message);
    case MessageKind::Primitive: return primitive_came(message);
    case MessageKind::Directory: return directory_came(message);
    case MessageKind::Workload: return;
  }
}

const FcBoundary::CutEnd& FcBoundary::end_of(ByteReader& message) const {
  return *end_of_isl_.at(message.get<std::uint32_t>());
}

void FcBoundary::primitive_came(ByteReader& message) {
  const CutEnd& end = end_of(message);
  const auto primitive = message.get<fc2::Primitive>();
  const auto sent = message.get<fc2::TimeNs>();
  if (!end.lost(sent)) end.far_end().carry(primitive, sent + end.link().config().latency_ns);
}

void FcBoundary::frame_came(ByteReader& message) {
  const CutEnd& end = end_of(message);
  const auto note = message.get<FrameNote>();
  const auto bytes = message.get_bytes(note.size_bytes);
  if (end.lost(note.sent)) return;
  fc2::FramePtr frame = pool_.take();
  frame->arrival = note.arrival;
  frame->entered = note.entered;
  frame->path_age = note.path_age;
  frame->size_bytes = note.size_bytes;
  frame->fault = note.fault;
  frame->sof = note.sof;
  frame->eof = note.eof;
  frame->crc_error = note.crc_error;
  std::ranges::copy(bytes, frame->bytes.begin());
  end.far_end().output().deliver(std::move(frame));
}

void FcBoundary::directory_came(ByteReader& message) {
  const auto due = message.get<fc2::TimeNs>();
  const auto origin = message.get<std::size_t>();
  fc2::DirectoryChange change{.kind = message.get<fc2::DirectoryChange::Kind>(),
                              .id = message.get<wire::FcId>(),
                              .port_name = message.get<wire::Wwn>()};
  if (message.get<bool>()) change.record = record_of(message);
  change.node_symbolic_name = message.get_text();
  change.node_addresses = message.get_list<wire::IpAddress>();
  fabric_.directory_feed().import(due, origin, std::move(change));
}

}  // namespace sim
