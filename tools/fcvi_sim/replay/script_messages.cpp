#include <algorithm>

#include "tools/fcvi_sim/replay/script_builder.hpp"
#include "vi/descriptor.hpp"
#include "wire/fcvi/flags.hpp"

namespace sim::replay {
namespace {
using wire::fcvi::DeviceHeader;
using wire::fcvi::Opcode;
namespace flag = wire::fcvi::message_response_flag;

bool is_request(Opcode opcode) {
  return opcode == Opcode::send_rqst || opcode == Opcode::write_rqst || opcode == Opcode::read_rqst;
}

bool has_immediate(const DeviceHeader& fields) {
  return fields.opcode != Opcode::read_rqst && fields.has(wire::fcvi::message_request_flag::imm_data);
}

/// It takes a receive descriptor.
bool is_received(const DeviceHeader& fields) {
  return fields.opcode == Opcode::send_rqst || (fields.opcode == Opcode::write_rqst && has_immediate(fields));
}

std::uint16_t control_of(const DeviceHeader& fields) {
  const std::uint16_t operation = fields.opcode == Opcode::send_rqst    ? vi::control::op_send_receive
                                  : fields.opcode == Opcode::write_rqst ? vi::control::op_rdma_write
                                                                        : vi::control::op_rdma_read;
  return has_immediate(fields) ? operation | vi::control::immediate : operation;
}

}  // namespace

Script script_of(const Conversation& conversation) { return ScriptBuilder(conversation).build(); }

void ScriptBuilder::message_sent(std::size_t at, const DeviceHeader& fields) {
  const CapturedFrame& frame = frames_[at];
  const auto vi = vi_at(frame.header, fields.handle);
  if (!vi) return unknown_connection(at, fields);
  if (frame.sof && wire::class_of_service(*frame.sof) == 2) script_.vis[*vi].options.class_2 = true;
  if (!is_request(fields.opcode)) return response_sent(at, fields);
  const MessageKey key{*vi, fields.msg_id.value};
  if (!sent_.contains(key) && takes_too_much(at, fields.tot_len_or_connection_id)) return;
  const auto [message, is_new] = sent_.try_emplace(key);
  if (is_new) {
    message->second = {at, fields, *vi, {}};
    message->second.bytes.resize(fields.tot_len_or_connection_id);
  }
  if (fields.opcode != Opcode::read_rqst) add_data(message->second, at);
}

/// Memory for it would have to be made, whether it is what the port had or a damaged frame.
bool ScriptBuilder::takes_too_much(std::size_t at, std::uint64_t bytes) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  memory_bytes_ += std::min(bytes, most + 1);
  if (memory_bytes_ <= most) return false;
  fail(at,
       "needs " + std::to_string(bytes) + " bytes of memory; with those before that is more than a replay has (1 GiB)");
  return true;
}

/// The first that is wrong.
void ScriptBuilder::fail(std::size_t at, const std::string& why) {
  if (script_.error.empty()) script_.error = "frame " + std::to_string(frames_[at].number) + " " + why;
}

/// Of the first set-up on it is a stray, as captures of faults have them.
void ScriptBuilder::unknown_connection(std::size_t at, const DeviceHeader& fields) {
  const bool is_message = static_cast<unsigned>(fields.opcode) < static_cast<unsigned>(Opcode::connect_rqst);
  if (!is_message || !by_own_handle_.empty() || !incoming_.empty()) return;
  fail(at, "is of a connection (FCVI_HANDLE " + wire::to_string(fields.handle) +
               ") whose set-up was not captured: a replay needs the capture from before it on");
}

/// The data of a frame, where it belongs.
void ScriptBuilder::add_data(Message& message, std::size_t at) const {
  const CapturedFrame& frame = frames_[at];
  const wire::Bytes field = frame.data_field(), data = field.subspan(std::min(field.size(), message.fields.size()));
  const std::uint64_t offset = frame.header.parameter;
  if (offset > message.bytes.size()) return;
  std::copy_n(data.begin(), std::min(data.size(), message.bytes.size() - offset),
              message.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
}

void ScriptBuilder::response_sent(std::size_t at, const DeviceHeader& fields) {
  const auto vi = vi_at(frames_[at].header, fields.handle);
  if (fields.opcode != Opcode::read_resp) {
    const bool responds = fields.opcode == Opcode::send_resp || fields.opcode == Opcode::write_resp;
    if (responds && fields.has(flag::resp_err)) refuse_message(*vi, fields.msg_id.value, fields.flags);
    return;
  }
  if (fields.has(flag::resp_err)) refuse_message(*vi, fields.msg_id.value, fields.flags);
  const auto [data, is_new] = read_data_.try_emplace({*vi, fields.msg_id.value});
  const auto request = received_.find({*vi, fields.msg_id.value});
  if (is_new) {
    data->second = {at, fields, *vi, {}};
    if (request != received_.end()) data->second.bytes.resize(request->second.fields.tot_len_or_connection_id);
  }
  add_data(data->second, at);
}

void ScriptBuilder::refuse_message(std::size_t vi, std::uint32_t id, std::uint8_t causes) {
  if (causes != 0) refused_[{vi, id}] |= causes;
}

void ScriptBuilder::message_received(std::size_t at, const DeviceHeader& fields) {
  if (!is_request(fields.opcode)) return;
  const auto vi = by_own_handle_.find(fields.handle.value);
  if (vi == by_own_handle_.end()) return unknown_connection(at, fields);
  const MessageKey key{vi->second, fields.msg_id.value};
  if (!received_.contains(key) && takes_too_much(at, fields.tot_len_or_connection_id)) return;
  const auto message = received_.try_emplace(key, Arrived{at, fields}).first;
  if (fields.opcode == Opcode::write_rqst) data_received(message->second, at);
}

void ScriptBuilder::data_received(Arrived& message, std::size_t at) const {
  const CapturedFrame& frame = frames_[at];
  if (frame.crc_error || frame.header.parameter != message.written) return;
  const std::size_t field = frame.data_field().size();
  message.written += field - std::min(field, message.fields.size());
  message.last = at;
}

// --- when all is known -------------------------------------------------------------------------------------------

void ScriptBuilder::finish_messages() {
  for (auto& [key, message] : sent_) finish_sent(message);
  for (const auto& [key, message] : received_) {
    const auto refusal = refused_.find(key);
    finish_received(key.first, message, refusal == refused_.end() ? std::uint8_t{0} : refusal->second);
  }
  for (auto& [key, data] : read_data_) finish_read(key, data);
}

void ScriptBuilder::finish_sent(Message& message) {
  const DeviceHeader& fields = message.fields;
  call::Post post;
  post.vi = message.vi;
  post.control = control_of(fields);
  post.immediate_data = has_immediate(fields) ? fields.parameter : 0;
  post.remote_address = fields.rmt_va;
  post.remote_handle = fields.rmt_va_handle;
  post.bytes = std::move(message.bytes);
  put(message.at, std::move(post));
}

/// The descriptor of a message that was refused for it was too short.
void ScriptBuilder::finish_received(std::size_t vi, const Arrived& message, std::uint8_t causes) {
  const DeviceHeader& fields = message.fields;
  const std::uint32_t length = fields.tot_len_or_connection_id;
  if (is_received(fields)) {
    const bool data_in_it = fields.opcode == Opcode::send_rqst;
    const std::uint32_t needed = data_in_it ? length : 0;
    script_.vis[vi].receives.push_back((causes & flag::desc_err) != 0 && needed > 0 ? needed - 1 : needed);
  }
  if (fields.opcode != Opcode::send_rqst && (causes & flag::prot_err) == 0) reach(message.at, vi, fields);
}

void ScriptBuilder::reach(std::size_t at, std::size_t vi, const DeviceHeader& fields) {
  auto& memory = script_.vis[vi].memory;
  auto found = std::find_if(memory.begin(), memory.end(),
                            [&](const MemorySpec& one) { return one.handle == fields.rmt_va_handle; });
  const std::uint64_t end = fields.rmt_va + fields.tot_len_or_connection_id;
  if (end < fields.rmt_va) return fail(at, "reaches beyond the last address (FCVI_RMT_VA)");
  if (found == memory.end())
    found = memory.insert(memory.end(), {fields.rmt_va_handle, fields.rmt_va, end, false, false});
  const std::uint64_t first = std::min(found->begin, fields.rmt_va), last = std::max(found->end, end);
  const std::uint64_t more = found->end - found->begin;
  if (last - first > more && takes_too_much(at, last - first - more)) return;
  found->begin = first;
  found->end = last;
  (fields.opcode == Opcode::write_rqst ? found->write : found->read) = true;
}

/// Where whole RDMA Writes of the peer that the port took left data that the peer then reads, by address.
std::vector<ScriptBuilder::Range> ScriptBuilder::written_before(std::size_t vi, const Arrived& read) const {
  std::vector<Range> ranges;
  for (const auto& [key, message] : received_) {
    const DeviceHeader& fields = message.fields;
    const bool same = key.first == vi && fields.opcode == Opcode::write_rqst && message.last < read.at &&
                      fields.rmt_va_handle == read.fields.rmt_va_handle;
    if (same && message.written == fields.tot_len_or_connection_id && !refused_.contains(key))
      ranges.push_back({fields.rmt_va, fields.rmt_va + message.written});
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& one, const Range& other) { return one.begin < other.begin; });
  return ranges;
}

/// What the peer wrote there before is there by itself. All else is the user's, as it was read.
void ScriptBuilder::finish_read(MessageKey key, Message& data) {
  const auto request = received_.find(key);
  const auto refusal = refused_.find(key);
  const bool refused = refusal != refused_.end() && (refusal->second & flag::prot_err) != 0;
  if (request == received_.end() || refused || data.bytes.empty()) return;
  const DeviceHeader& fields = request->second.fields;
  std::uint64_t at = fields.rmt_va;
  const std::uint64_t end = at + data.bytes.size();
  const auto fill_until = [&](std::uint64_t until) {
    if (until <= at) return;
    const auto first = data.bytes.begin() + static_cast<std::ptrdiff_t>(at - fields.rmt_va);
    put(request->second.at,
        call::Fill{data.vi, fields.rmt_va_handle, at, {first, first + static_cast<std::ptrdiff_t>(until - at)}});
  };
  for (const Range& written : written_before(key.first, request->second)) {
    fill_until(std::min(written.begin, end));
    at = std::clamp(written.end, at, end);
  }
  fill_until(end);
}

}  // namespace sim::replay
