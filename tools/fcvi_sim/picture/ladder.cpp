#include "tools/fcvi_sim/picture/ladder.hpp"

#include "tools/fcvi_sim/scenario/scenario.hpp"
#include "wire/describe.hpp"
#include "wire/fcvi/device_header.hpp"

namespace sim {
namespace {

std::string_view service_name(wire::FcId id) {
  if (id == wire::well_known::f_port) return "F_Port";
  if (id == wire::well_known::name_server) return "Name Server";
  if (id == wire::well_known::fabric_controller) return "Fabric Controller";
  if (id == wire::well_known::broadcast) return "all ports";
  return "unknown port";
}

/// Of which there may be many alike, one after the other.
bool is_control_kind(RowKind kind) {
  return kind == RowKind::Data || kind == RowKind::Response || kind == RowKind::Acknowledge;
}

/// A sequence while it is under way, as its frames name it.
std::uint64_t sequence_key(const wire::FcHeader& header) {
  const bool responder = header.has(wire::f_ctl::exchange_responder);
  const std::uint64_t exchange = responder ? header.rx_id.value : header.ox_id.value;
  return std::uint64_t{header.s_id.value} << 40 | exchange << 24 | std::uint64_t{header.seq_id.value} << 16 |
         (responder ? 1 : 0);
}

std::uint64_t request_key(std::size_t originator, wire::OxId ox_id) {
  return std::uint64_t{originator} << 16 | ox_id.value;
}

std::size_t message_bytes(const wire::FcHeader& header, wire::Bytes data_field) {
  const std::size_t around = header.device_header_size() + header.fill_bytes();
  return data_field.size() > around ? data_field.size() - around : 0;
}

/// Messages are alike when who, to whom, what and how long are the same.
std::string signature_of(const LadderRow& row, std::string_view name, const wire::FcHeader& header,
                         wire::Bytes data_field) {
  std::string signature = std::to_string(row.from) + ">" + std::to_string(row.to) + " ";
  signature.append(name);
  const auto device_header = wire::fcvi::DeviceHeader::parse(header.device_header_size(), data_field);
  if (!device_header) return signature;
  signature.append(" ")
      .append(to_string(device_header->handle))
      .append(" ")
      .append(std::to_string(device_header->flags));
  return signature.append(" ").append(std::to_string(device_header->tot_len_or_connection_id));
}

}  // namespace

Ladder::Ladder(const Scenario& scenario) : port_count_(scenario.ports.size()), with_faults_(!scenario.faults.empty()) {
  for (const PortSpec& port : scenario.ports) lanes_.push_back({port.name, to_string(port.addresses.front())});
}

std::size_t Ladder::lane_of(wire::FcId id) {
  if (const auto port = ports_.find(id.value); port != ports_.end()) return port->second;
  const auto [service, added] = services_.try_emplace(id.value, lanes_.size());
  if (added) lanes_.push_back({std::string(service_name(id)), to_string(id)});
  return service->second;
}

void Ladder::learn_address(std::size_t port, wire::FcId id) {
  if (id == wire::well_known::unidentified || !ports_.try_emplace(id.value, port).second) return;
  lanes_[port].subtitle += "  " + to_string(id);
}

LadderRow Ladder::arrow(const SeenFrame& seen, const wire::FcHeader& header, wire::Bytes data_field) {
  LadderRow row{.row_kind = kind_of(header, data_field), .at = seen.at};
  row.from = seen.outbound ? seen.port : lane_of(header.s_id);
  row.to = seen.outbound ? lane_of(header.d_id) : seen.port;
  return row;
}

// Answers do not say to what; their exchange does.
std::string Ladder::text_of(const LadderRow& row, const wire::FcHeader& header, wire::Bytes data_field) {
  const std::string_view name = wire::message_name(header, data_field);
  std::string text(name);
  const bool paired = header.type == wire::Type::els || header.type == wire::Type::ct;
  if (paired && !header.has(wire::f_ctl::exchange_responder)) {
    requests_[request_key(row.from, header.ox_id)] = name;
  } else if (paired) {
    const auto request = requests_.find(request_key(row.to, header.ox_id));
    if (request != requests_.end()) text.append(" to ").append(request->second);
    if (request != requests_.end()) requests_.erase(request);
  }
  if (header.r_ctl == wire::RCtl::abts) {
    const bool responder = header.has(wire::f_ctl::exchange_responder);
    const auto aborted = exchanges_.find(request_key(responder ? row.to : row.from, header.ox_id));
    return aborted == exchanges_.end() ? text : text + " of " + aborted->second;
  }
  const std::string fields = short_fields(header, data_field);
  return fields.empty() ? text : text.append(" ").append(fields);
}

// OX_IDs come again: the map has no more entries than there are.
void Ladder::learn_exchange(const LadderRow& row, const wire::FcHeader& header, wire::Bytes data_field) {
  if (header.type != wire::Type::fc_vi || header.has(wire::f_ctl::exchange_responder)) return;
  if (!header.has(wire::f_ctl::first_sequence) || wire::is_link_control(header.r_ctl)) return;
  const std::string fields = short_fields(header, data_field);
  exchanges_[request_key(row.from, header.ox_id)]
      .assign(wire::message_name(header, data_field))
      .append(" ")
      .append(fields, 0, fields.find(','));
}

bool Ladder::hides(const LadderRow& row, const std::string& signature) {
  ++row_count_;
  if (rows_.size() >= max_rows) return true;
  if (!is_control_kind(row.row_kind)) return false;
  if (runs_.size() > max_rows) runs_.clear();
  Run& run = runs_[signature];
  if (row_count_ - run.last_row > rows_apart) run.seen = 0;
  run.last_row = row_count_;
  return ++run.seen > (with_faults_ ? shown_of_run_with_faults : shown_of_run) || data_rows_ >= max_data_rows;
}

std::size_t Ladder::add(LadderRow row, std::string_view name) {
  if (row.shape == LadderRow::Shape::Gap) {
    if (!rows_.empty() && rows_.back().shape == LadderRow::Shape::Gap) {
      ++rows_.back().hidden[name];
      return rows_.size() - 1;
    }
    row.hidden[name] = 1;
  } else if (is_control_kind(row.row_kind)) {
    ++data_rows_;
  }
  rows_.push_back(std::move(row));
  return rows_.size() - 1;
}

void Ladder::frame(const SeenFrame& seen, const wire::FcHeader& header, wire::Bytes data_field) {
  if (seen.outbound) learn_address(seen.port, header.s_id);
  const std::uint64_t key = sequence_key(header);
  std::size_t index = 0;
  if (seen.first) {
    LadderRow row = arrow(seen, header, data_field);
    const std::string_view name = wire::message_name(header, data_field);
    if (with_faults_) learn_exchange(row, header, data_field);
    if (hides(row, signature_of(row, name, header, data_field))) {
      row.shape = LadderRow::Shape::Gap;
    } else {
      row.text = text_of(row, header, data_field);
    }
    index = add(std::move(row), name);
    if (!seen.last) open_[key] = index;
    if (with_faults_) recent_[key] = index;
  } else {
    const auto open = open_.find(key);
    if (open == open_.end()) return;  // its first frame was lost
    index = open->second;
    if (seen.last) open_.erase(open);
  }
  LadderRow& seen_in = rows_[index];
  if (seen_in.first_number == 0) seen_in.first_number = seen.number;
  seen_in.last_number = seen.number;
  ++rows_[index].frames;
  rows_[index].bytes += message_bytes(header, data_field);
}

void Ladder::message(runtime::TimeNs at, wire::FcId from, wire::FcId to, std::string text) {
  LadderRow row{.row_kind = RowKind::Login, .at = at};
  row.from = lane_of(from);
  row.to = lane_of(to);
  const std::string signature = std::to_string(row.from) + ">" + std::to_string(row.to) + " " + text;
  if (hides(row, signature)) row.shape = LadderRow::Shape::Gap;
  row.text = std::move(text);
  row.frames = 1;
  add(std::move(row), "FIP");
}

std::size_t Ladder::arrow(LadderRow row, const std::string& signature, std::string_view name) {
  if (hides(row, signature)) row.shape = LadderRow::Shape::Gap;
  const std::uint64_t frames = row.frames, bytes = row.bytes;
  row.frames = row.bytes = 0;
  const std::size_t index = add(std::move(row), name);
  rows_[index].frames += frames;
  rows_[index].bytes += bytes;
  return index;
}

void Ladder::note(std::size_t row, std::string_view note) {
  std::string& text = rows_[row].note;
  if (text.find(note) == std::string::npos) text.append(text.empty() ? "" : ", ").append(note);
}

void Ladder::fault(const wire::FcHeader& header, std::string_view note, bool lost) {
  const auto found = recent_.find(sequence_key(header));
  if (found == recent_.end()) return;
  LadderRow& row = rows_[found->second];
  if (lost) ++row.lost_frames;
  if (row.note.find(note) == std::string::npos) row.note.append(row.note.empty() ? "" : ", ").append(note);
}

void Ladder::state(runtime::TimeNs at, std::size_t port, std::string_view connection, std::string_view from,
                   std::string_view to) {
  if (rows_.size() >= max_rows) return;
  LadderRow row{.shape = LadderRow::Shape::State, .at = at, .from = port, .to = port};
  row.text.append(connection).append(": ").append(from).append(" → ").append(to);
  add(std::move(row), {});
}

}  // namespace sim
