// The tree of all fields of a frame.
#include <functional>

#include "tools/faults/iu_flags.hpp"
#include "tools/fcvi_sim/capture/places.hpp"
#include "tools/fcvi_sim/capture/words.hpp"
#include "settings/units.hpp"
#include "wire/describe.hpp"
#include "wire/text.hpp"

namespace sim::capture {
namespace {
namespace fcvi = wire::fcvi;
using List = std::vector<Field>;

void add(List& list, std::string name, std::string value) {
  if (!value.empty()) list.push_back({std::move(name), std::move(value), {}});
}

constexpr std::size_t vlan_tag_bytes = 4;

/// Where these bytes lie in the packet; none: elsewhere, as those of a message that came in several frames.
std::optional<std::size_t> offset_of(const Seen& seen, wire::Bytes bytes) {
  const std::vector<std::uint8_t>& all = seen.frame.untagged.empty() ? seen.packet.data : seen.frame.untagged;
  const std::less_equal<> before;
  if (!before(all.data(), bytes.data()) || !before(bytes.data() + bytes.size(), all.data() + all.size())) return {};
  return static_cast<std::size_t>(bytes.data() - all.data()) + seen.packet.data.size() - all.size();
}

Place place_of(const Seen& seen, wire::Bytes bytes) {
  const auto offset = offset_of(seen, bytes);
  return offset ? Place{*offset, bytes.size(), 0} : Place{};
}

void add_carriage(List& list, const Seen& seen) {
  const Frame& frame = seen.frame;
  if (frame.ethernet) {
    Field ethernet{"Ethernet", "", LayoutFields(*frame.ethernet, 0).list()};
    if (is_cooked(seen.packet.link_type))  // it stands there in another form
      for (Field& field : ethernet.fields) field.place = {};
    if (frame.vlan && !ethernet.fields.empty()) ethernet.fields.back().place.offset += vlan_tag_bytes;
    if (frame.vlan) {
      add(ethernet.fields, "vlan", std::to_string(frame.vlan->id));
      add(ethernet.fields, "priority", std::to_string(frame.vlan->priority));
    }
    list.push_back(std::move(ethernet));
  }
  Field link{"Link", "", {}};
  add(link.fields, "class", service_class(frame));
  if (frame.sof) add(link.fields, "sof", sof_words(*frame.sof));
  if (frame.eof) add(link.fields, "eof", eof_words(*frame.eof));
  if (frame.crc_ok) add(link.fields, "crc", *frame.crc_ok ? "good" : "bad");
  if (frame.vft) {
    add(link.fields, "vf_id", std::to_string(frame.vft->vf_id));
    add(link.fields, "hops", std::to_string(frame.vft->hops));
  }
  if (!link.fields.empty()) list.push_back(std::move(link));
}

void add_header(List& list, const Seen& seen) {
  const wire::FcHeader& header = *seen.frame.header;
  Field field{"FC", "", LayoutFields(header, offset_of(seen, seen.frame.fc)).list()};
  for (Field& item : field.fields) {
    if (item.name == "f_ctl") {
      const std::string words = f_ctl_words(header.f_ctl);
      item.value = wire::text::hex_h(header.f_ctl, 6) + (words.empty() ? "" : " " + words);
    } else if (item.name == "parameter" && header.has(wire::f_ctl::relative_offset_present)) {
      item.value += " offset " + std::to_string(header.parameter);
    }
  }
  list.push_back(std::move(field));
}

std::string flag_words(const IuFrame& iu) {
  std::string text = wire::text::hex_h(iu.flags, 2);
  for (const std::string& flag : faults::flags_set(iu.opcode(), iu.flags)) text += " " + flag;
  return text;
}

std::string parameter_words(const IuFrame& iu) {
  std::string text = wire::text::hex_h(iu.fields.parameter, 8);
  if (const auto reason = faults::reason_of(iu.opcode(), iu.flags, iu.fields.parameter))
    text += " " + std::string(is_vendor_unique(*reason) ? "Vendor Unique Error" : to_string(*reason));
  return text;
}

bool is_of_message(const fcvi::IuInfo& iu) {
  return iu.category == fcvi::Category::message_request || iu.category == fcvi::Category::message_response;
}

List device_header_fields(const Seen& seen, const IuFrame& iu) {
  List list = LayoutFields(iu.fields, offset_of(seen, seen.frame.data_field)).list();
  if (iu.iu->device_header_size < fcvi::DeviceHeader::layout.size()) list.resize(list.size() - 3);
  for (Field& field : list) {
    if (field.name == "flags") field.value = flag_words(iu);
    if (field.name == "parameter") field.value = parameter_words(iu);
    if (field.name != "tot_len_or_connection_id") continue;
    const bool of_message = is_of_message(*iu.iu);
    field.name = of_message ? "tot_len" : "connection_id";
    if (of_message) field.value = std::to_string(iu.last_word());
  }
  return list;
}

void add_connect_info(List& list, wire::Bytes payload, std::optional<std::size_t> base) {
  constexpr std::size_t at = fcvi::ConnectPayload::size_without_info, size = std::tuple_size_v<fcvi::ConnectInfo>;
  const Place place = base ? Place{*base + at, size, 0} : Place{};
  list.push_back({"connect_info", shown_text(payload.subspan(at, size)), {}, place});
}

void add_connect_payload(List& list, const Seen& seen, const IuFrame& iu) {
  const wire::Bytes data = seen.data_field();
  if (data.size() < iu.iu->device_header_size + fcvi::ConnectPayload::layout.size()) return;
  const wire::Bytes payload = data.subspan(iu.iu->device_header_size);
  const auto fields = wire::codec::read<fcvi::ConnectPayload>(payload.data());
  const auto base = offset_of(seen, payload);
  Field connect{"payload", "", LayoutFields(fields, base).list()};
  if (iu.conn_info() && payload.size() >= fcvi::ConnectPayload::size_with_info)
    add_connect_info(connect.fields, payload, base);
  list.push_back(std::move(connect));
}

void add_iu(List& list, const Seen& seen) {
  IuFrame iu = iu_of(seen.frame);
  read_device_header(iu);
  if (!iu.has_header) {
    list.push_back({"FC-VI", "truncated", {}});
    return;
  }
  Field field{std::string(iu.iu->name), "", device_header_fields(seen, iu)};
  if (iu.iu->payload == fcvi::Payload::connect_info && !seen.is_part)
    add_connect_payload(field.fields, seen, iu);
  else if (iu.payload > 0)
    field.fields.push_back({"data_bytes", std::to_string(iu.payload), {}, place_of(seen, iu.payload_data)});
  list.push_back(std::move(field));
}

void add_message(List& list, const Seen& seen) {
  if (seen.frame.is_fc_vi()) return add_iu(list, seen);
  std::string text = seen.is_part ? summary(seen) : wire::describe_message(seen.header, seen.data_field());
  if (seen.frame.is_cut) {
    const std::size_t blame = text.find(" malformed: truncated");
    if (blame != std::string::npos) text.resize(blame);
  }
  Field message = parse_description(text);
  if (const auto base = offset_of(seen, seen.data_field())) set_places(message, seen.data_field(), *base);
  list.push_back(std::move(message));
}

void add_connection(List& list, const Record& record) {
  const Connection* connection = record.connection_of();
  if (connection == nullptr) return;
  Field field{"Connection", std::to_string(connection->index), {}};
  const Endpoint* one = connection->originator;
  const Endpoint* other = connection->responder;
  if (one == nullptr && record.message) other = record.message->to, one = other->peer;
  if (other != nullptr) {
    add(field.fields, "originator", end_words(one));
    add(field.fields, "responder", end_words(other));
    if (other->address) add(field.fields, "discriminator", shown_text(other->address->discriminator));
  }
  add(field.fields, "level", level_words(*connection));
  if (connection->window) add(field.fields, "window", std::to_string(*connection->window));
  if (record.open > 0) add(field.fields, "open", std::to_string(record.open));
  list.push_back(std::move(field));
}

void add_belonging(List& list, const Seen& seen) {
  const Record& record = *seen.record;
  add_connection(list, record);
  if (seen.exchange) {
    Field exchange{"Exchange", std::to_string(seen.exchange->index), {}};
    add(exchange.fields, "began_with", seen.exchange->name);
    if (record.request != 0 && record.request != record.number) {
      add(exchange.fields, "request_in", std::to_string(record.request));
      if (record.time >= record.request_time)
        add(exchange.fields, "time_since_request", settings::format_duration(record.time - record.request_time));
    }
    if (record.retry_of != 0) add(exchange.fields, "retry_of", std::to_string(record.retry_of));
    if (record.aborts != 0) add(exchange.fields, "aborts_exchange_of", std::to_string(record.aborts));
    list.push_back(std::move(exchange));
  }
  if (record.message && record.flow) {
    Field message{"Message", std::to_string(record.message->index), {}};
    add(message.fields, "bytes_so_far",
        std::to_string(record.flow->bytes) + " of " + std::to_string(record.flow->total));
    add(message.fields, "frames_so_far", std::to_string(record.flow->frames));
    add(message.fields, "complete", record.flow->complete ? "yes" : "no");
    list.push_back(std::move(message));
  }
}

void add_tcp(List& list, const TcpPacket& packet) {
  Field tcp{"TCP", "", {}};
  add(tcp.fields, "connection", std::to_string(packet.connection));
  add(tcp.fields, "from", to_string(packet.from));
  add(tcp.fields, "to", to_string(packet.to));
  add(tcp.fields, "flags", flag_words(packet));
  add(tcp.fields, "octets", std::to_string(packet.octets));
  if (packet.again) add(tcp.fields, "again", "yes");
  list.push_back(std::move(tcp));
  for (const auto& [octets, segment] : packet.segments)
    list.push_back(segment ? parse_description(segment->to_string())
                           : Field{"VITCP malformed", to_string(segment.error()), {}});
}

}  // namespace

std::vector<Field> all_fields(const Seen& seen) {
  List list;
  add_carriage(list, seen);
  if (seen.frame.header) add_header(list, seen);
  if (seen.frame.fip) list.push_back(parse_description(seen.frame.fip->to_string()));
  if (seen.tcp)
    add_tcp(list, *seen.tcp);
  else if (!seen.frame.trouble.empty())
    list.push_back({"Trouble", seen.frame.trouble, {}});
  if (!seen.frame.header) return list;
  if (seen.frame.trouble.empty()) add_message(list, seen);
  add_belonging(list, seen);
  return list;
}

}  // namespace sim::capture
