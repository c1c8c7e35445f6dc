// Frames by the names of their fields: those of faults (tools/faults), and those of the decoder, which knows the place
// of each (tools/fcvi_sim/capture).
#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "settings/tree.hpp"
#include "tools/faults/frame_fields.hpp"
#include "tools/fcvi_sim/capture/words.hpp"
#include "tools/sim_api/include/fcvi/sim.hpp"
#include "wire/describe.hpp"
#include "wire/fcvi/connect_resp1.hpp"

namespace fcvi::sim {
namespace {
namespace capture = ::sim::capture;
namespace f_ctl = wire::f_ctl;

constexpr std::size_t header_bytes = wire::FcHeader::size(), most_bytes = header_bytes + wire::max_data_field_size;

wire::FcHeader header_of(const Bytes& bytes) { return *wire::FcHeader::parse(bytes); }
wire::Bytes data_field_of(const Bytes& bytes) { return wire::Bytes(bytes).subspan(header_bytes); }

std::vector<capture::Field> tree_of(const Bytes& bytes) {
  capture::Seen seen;
  seen.packet.number = 1;
  seen.packet.link_type = capture::LinkType::fc;
  seen.packet.data = bytes;
  seen.packet.original_bytes = bytes.size();
  seen.frame = capture::take_apart(seen.packet);
  seen.record = std::make_shared<capture::Record>();
  if (seen.frame.header) seen.header = *seen.frame.header;
  return capture::all_fields(seen);
}

/// Leaves in order, each with its whole name. False ends the walk.
using Visit = std::function<bool(const std::string& name, const capture::Field& field)>;
bool walk(const std::vector<capture::Field>& fields, const std::string& before, const Visit& visit) {
  for (const capture::Field& field : fields) {
    const std::string name = before + field.name;
    if (!visit(name, field) || !walk(field.fields, name + ".", visit)) return false;
  }
  return true;
}

bool is_called(const std::string& whole, std::string_view name) {
  if (whole == name) return true;
  return whole.size() > name.size() && whole.ends_with(name) && whole[whole.size() - name.size() - 1] == '.';
}

std::size_t depth_of(const std::string& name) {
  return static_cast<std::size_t>(std::count(name.begin(), name.end(), '.'));
}

/// Where a field lies, and its text.
struct Found {
  capture::Place place;
  std::string text;
};

std::optional<Found> decoded(const Bytes& bytes, std::string_view name) {
  std::optional<Found> found;
  std::size_t depth = 0;
  walk(tree_of(bytes), "", [&](const std::string& whole, const capture::Field& field) {
    const bool better = is_called(whole, name) && (!found || depth_of(whole) < depth);
    if (better) {
      found = Found{field.place, field.value};
      depth = depth_of(whole);
    }
    return true;
  });
  return found;
}

std::optional<Found> found_in(const Bytes& bytes, std::string_view name) {
  const faults::FrameField* const field = faults::find_field(name);
  if (field == nullptr) return decoded(bytes, name);
  if (!field->read(bytes)) return std::nullopt;
  return Found{{field->offset, field->size, 0}, {}};
}

/// Of all frames that there are: the names of faults, and those of this one.
[[noreturn]] void no_such_field(const Bytes& bytes, std::string_view name, std::string_view message) {
  if (faults::find_field(name) != nullptr)
    throw Error(std::string(message) + " has no field \"" + std::string(name) + "\"");
  std::vector<std::string> names;
  for (const std::string_view known : faults::field_names()) names.emplace_back(known);
  walk(tree_of(bytes), "", [&](const std::string& whole, const capture::Field&) {
    names.push_back(whole);
    names.push_back(whole.substr(whole.rfind('.') + 1));
    if (const std::size_t dot = whole.find('.'); dot != std::string::npos) names.push_back(whole.substr(dot + 1));
    return true;
  });
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view near = settings::nearest(name, known);
  throw Error(std::string(message) + " has no field \"" + std::string(name) + "\"" +
              (near.empty() ? "; fields() lists them" : "; did you mean \"" + std::string(near) + "\"?"));
}

/// In this frame, with a fixed place.
capture::Place place_of(const Frame& frame, std::string_view name) {
  const auto found = found_in(frame.bytes(), name);
  if (!found) no_such_field(frame.bytes(), name, frame.message());
  const capture::Place place = found->place;
  if (place.bytes == 0 || place.offset + place.bytes > frame.bytes().size())
    throw Error("field \"" + std::string(name) + "\" of " + frame.message() + " has no fixed place; text() tells it");
  return place;
}

/// ... of at most 8 bytes.
capture::Place number_place(const Frame& frame, std::string_view name) {
  const capture::Place place = place_of(frame, name);
  if (place.bytes > 8)
    throw Error("field \"" + std::string(name) + "\" of " + frame.message() + " has " + std::to_string(place.bytes) +
                " bytes and is no number");
  return place;
}

std::uint64_t word_at(const Bytes& bytes, const capture::Place& place) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < place.bytes; ++i) word = word << 8 | bytes[place.offset + i];
  return word;
}

std::uint64_t mask_of(const capture::Place& place) {
  if (place.mask != 0) return place.mask;
  return place.bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * place.bytes) - 1;
}

const wire::fcvi::IuInfo* find_iu(std::string_view name) {
  for (const wire::fcvi::IuInfo& iu : wire::fcvi::iu_table)
    if (iu.name == name) return &iu;
  return nullptr;
}

constexpr std::array<std::string_view, 3> basic_services{"ABTS", "BA_ACC", "BA_RJT"};

[[noreturn]] void no_such_message(std::string_view name) {
  std::vector<std::string_view> known(basic_services.begin(), basic_services.end());
  for (const wire::fcvi::IuInfo& iu : wire::fcvi::iu_table) known.push_back(iu.name);
  const std::string_view near = settings::nearest(name, known);
  throw Error("no frame \"" + std::string(name) + "\" can be made" +
              (near.empty() ? "; an IU of FC-VI, ABTS, BA_ACC or BA_RJT was expected"
                            : "; did you mean \"" + std::string(near) + "\"?"));
}

/// Of the last frame of an IU: what it does to its Exchange.
std::uint32_t f_ctl_of(const wire::fcvi::IuInfo& iu) {
  using wire::fcvi::Category;
  using wire::fcvi::Opcode;
  const std::uint32_t one_frame = f_ctl::end_sequence | f_ctl::relative_offset_present;
  switch (iu.category) {
    case Category::message_request:
    case Category::connect_request: return one_frame | f_ctl::first_sequence | f_ctl::sequence_initiative;
    case Category::message_response: return one_frame | f_ctl::exchange_responder | f_ctl::last_sequence;
    case Category::connect_response: break;
  }
  if (iu.opcode == Opcode::connect_resp2) return one_frame | f_ctl::sequence_initiative;
  if (iu.opcode == Opcode::connect_resp1) return one_frame | f_ctl::exchange_responder | f_ctl::sequence_initiative;
  return one_frame | f_ctl::exchange_responder | f_ctl::last_sequence;
}

Bytes made_iu(const wire::fcvi::IuInfo& iu) {
  const wire::FcHeader header{.r_ctl = iu.r_ctl,
                              .type = wire::Type::fc_vi,
                              .f_ctl = f_ctl_of(iu),
                              .df_ctl = wire::df_ctl::with_device_header(iu.device_header_size),
                              .ox_id = wire::OxId{0xFFFF}};
  const bool connects = iu.payload == wire::fcvi::Payload::connect_info;
  const std::size_t payload_bytes = connects ? wire::fcvi::ConnectPayload::size_without_info : 0;
  Bytes bytes(header_bytes + iu.device_header_size + payload_bytes);
  header.write(bytes);
  const wire::MutableBytes data = wire::MutableBytes(bytes).subspan(header_bytes);
  wire::fcvi::DeviceHeader device;
  device.opcode = iu.opcode;
  device.write(data);
  if (connects) wire::fcvi::ConnectPayload{}.write(data.subspan(iu.device_header_size));
  return bytes;
}

Bytes made_basic(std::string_view name) {
  const bool abts = name == "ABTS";
  wire::FcHeader header{.r_ctl = abts               ? wire::RCtl::abts
                                 : name == "BA_ACC" ? wire::RCtl::ba_acc
                                                    : wire::RCtl::ba_rjt,
                        .type = wire::Type::bls,
                        .f_ctl = abts ? f_ctl::end_sequence | f_ctl::sequence_initiative : f_ctl::single_frame_reply,
                        .ox_id = wire::OxId{0xFFFF}};
  constexpr std::size_t ba_acc_bytes = 12, ba_rjt_bytes = 4;
  Bytes bytes(header_bytes + (abts ? 0 : name == "BA_ACC" ? ba_acc_bytes : ba_rjt_bytes));
  header.write(bytes);
  return bytes;
}

std::size_t device_header_bytes(const Bytes& bytes) {
  return std::min(header_of(bytes).device_header_size(), bytes.size() - header_bytes);
}

/// RESP1 accepts what the request asks for: its attributes, and addresses the other way round (FC-VI 6.9).
Bytes accepting(const Bytes& request, std::uint32_t handle) {
  const wire::Bytes data = data_field_of(request);
  const auto device = wire::fcvi::DeviceHeader::parse(header_of(request).device_header_size(), data);
  if (!device) throw Error("FCVI_CONNECT_RESP1 answers an FCVI_CONNECT_RQST");
  const auto asked = wire::fcvi::ConnectPayload::parse(data.subspan(device->size()), false);
  if (!asked || device->opcode != wire::fcvi::Opcode::connect_rqst)
    throw Error("FCVI_CONNECT_RESP1 answers an FCVI_CONNECT_RQST");
  wire::fcvi::ConnectResp1 answer;
  answer.connection_id = wire::ConnectionId{device->tot_len_or_connection_id};
  answer.payload = *asked;
  answer.payload.handle = wire::FcviHandle{handle};
  std::swap(answer.payload.local_address, answer.payload.remote_address);
  Bytes bytes = made_iu(*wire::fcvi::find_iu(wire::fcvi::Opcode::connect_resp1));
  answer.write(wire::MutableBytes(bytes).subspan(header_bytes));
  return bytes;
}

}  // namespace

Frame Frame::make(std::string_view message, std::initializer_list<std::pair<std::string_view, std::uint64_t>> fields) {
  Frame frame;
  if (const wire::fcvi::IuInfo* const iu = find_iu(message))
    frame.bytes_ = made_iu(*iu);
  else if (std::find(basic_services.begin(), basic_services.end(), message) != basic_services.end())
    frame.bytes_ = made_basic(message);
  else
    no_such_message(message);
  for (const auto& [name, value] : fields) frame.set(name, value);
  return frame;
}

Frame Frame::from_bytes(Bytes bytes) {
  if (bytes.size() < header_bytes || bytes.size() > most_bytes)
    throw Error("a frame has " + std::to_string(header_bytes) + " to " + std::to_string(most_bytes) + " bytes, not " +
                std::to_string(bytes.size()));
  Frame frame;
  frame.bytes_ = std::move(bytes);
  return frame;
}

std::string Frame::message() const { return std::string(wire::message_name(header_of(bytes_), data_field_of(bytes_))); }

bool Frame::has(std::string_view field) const { return found_in(bytes_, field).has_value(); }

std::uint64_t Frame::get(std::string_view field) const {
  const capture::Place place = number_place(*this, field);
  const std::uint64_t mask = mask_of(place);
  return (word_at(bytes_, place) & mask) >> std::countr_zero(mask);
}

Bytes Frame::get_bytes(std::string_view field) const {
  const capture::Place place = place_of(*this, field);
  const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(place.offset);
  return Bytes(begin, begin + static_cast<std::ptrdiff_t>(place.bytes));
}

std::string Frame::text(std::string_view field) const {
  const auto found = decoded(bytes_, field);
  if (found) return found->text;
  return std::to_string(get(field));
}

Frame& Frame::set(std::string_view field, std::uint64_t value) {
  const capture::Place place = number_place(*this, field);
  const std::uint64_t mask = mask_of(place), most = mask >> std::countr_zero(mask);
  if (value > most)
    throw Error("field \"" + std::string(field) + "\" of " + message() + " takes 0 to " + std::to_string(most) +
                ", not " + std::to_string(value));
  std::uint64_t word = (word_at(bytes_, place) & ~mask) | value << std::countr_zero(mask);
  for (std::size_t i = place.bytes; i-- > 0; word >>= 8)
    bytes_[place.offset + i] = static_cast<std::uint8_t>(word & 0xFF);
  return *this;
}

Frame& Frame::set_bytes(std::string_view field, const Bytes& value) {
  const capture::Place place = place_of(*this, field);
  if (value.size() > place.bytes)
    throw Error("field \"" + std::string(field) + "\" of " + message() + " has " + std::to_string(place.bytes) +
                " bytes, not " + std::to_string(value.size()));
  const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(place.offset);
  std::fill_n(std::copy(value.begin(), value.end(), begin), place.bytes - value.size(), std::uint8_t{0});
  return *this;
}

std::vector<Field> Frame::fields() const {
  std::vector<Field> all;
  walk(tree_of(bytes_), "", [&](const std::string& name, const capture::Field& field) {
    if (field.fields.empty()) all.push_back({name, field.value});
    return true;
  });
  return all;
}

Bytes Frame::payload() const {
  const std::size_t before = header_bytes + device_header_bytes(bytes_);
  const std::size_t fill = header_of(bytes_).f_ctl & f_ctl::fill_bytes_mask;
  const std::size_t end = std::max(before, bytes_.size() - std::min(bytes_.size(), fill));
  return Bytes(bytes_.begin() + static_cast<std::ptrdiff_t>(before), bytes_.begin() + static_cast<std::ptrdiff_t>(end));
}

Frame& Frame::set_payload(const Bytes& payload) {
  wire::FcHeader header = header_of(bytes_);
  const std::size_t before = header_bytes + device_header_bytes(bytes_);
  const std::size_t fill = wire::fill_bytes_for(payload.size());
  if (before + payload.size() + fill > most_bytes)
    throw Error("a payload of " + std::to_string(payload.size()) + " bytes is too long for one frame: at most " +
                std::to_string(most_bytes - before));
  bytes_.resize(before);
  bytes_.insert(bytes_.end(), payload.begin(), payload.end());
  bytes_.resize(bytes_.size() + fill);
  header.f_ctl = (header.f_ctl & ~f_ctl::fill_bytes_mask) | static_cast<std::uint32_t>(fill);
  header.write(bytes_);
  if (const wire::fcvi::IuInfo* const iu = find_iu(message());
      iu != nullptr && iu->payload == wire::fcvi::Payload::message_data)
    set("fcvi_tot_len", payload.size());
  return *this;
}

void Frame::append(const Frame& next) {
  const Bytes before = payload(), more = next.payload();
  wire::FcHeader header = header_of(bytes_);
  header.f_ctl = header_of(next.bytes_).f_ctl & ~f_ctl::fill_bytes_mask;
  bytes_.resize(header_bytes + device_header_bytes(bytes_) + before.size());
  bytes_.insert(bytes_.end(), more.begin(), more.end());
  header.write(bytes_);
  if (fault.empty()) fault = next.fault;
}

std::string Frame::to_string() const { return wire::describe(bytes_); }

Frame Frame::reply(std::string_view name, std::uint32_t handle) const {
  Frame answer = make(name);
  const wire::FcHeader asked = header_of(bytes_);
  if (name == "FCVI_CONNECT_RESP1") answer.bytes_ = accepting(bytes_, handle);
  wire::FcHeader header = header_of(answer.bytes_);
  header.d_id = asked.s_id;
  header.s_id = asked.d_id;
  header.ox_id = asked.ox_id;
  header.rx_id = asked.rx_id;
  // FC-VI 5.6: SEQ_CNT goes on over an Exchange; its responder sends FCVI_CONNECT_RESP3 as its second frame.
  if (name == "FCVI_CONNECT_RESP3") {
    header.seq_cnt = wire::SeqCnt{1};
    header.seq_id = wire::SeqId{1};
  }
  header.write(answer.bytes_);
  if (name == "BA_ACC") {
    answer.set("BA_ACC.ox_id", asked.ox_id.value).set("BA_ACC.rx_id", asked.rx_id.value);
    answer.set("high_seq_cnt", 0xFFFF);
  }
  if (asked.type != wire::Type::fc_vi || !has("fcvi_msg_id") || !answer.has("fcvi_msg_id")) return answer;
  answer.set("fcvi_msg_id", get("fcvi_msg_id"));
  const bool connects = header.r_ctl == wire::RCtl::solicited_control;
  if (connects) answer.set("fcvi_connection_id", get("fcvi_connection_id"));
  if (name != "FCVI_CONNECT_RESP1") answer.set("fcvi_handle", handle);
  return answer;
}

}  // namespace fcvi::sim
