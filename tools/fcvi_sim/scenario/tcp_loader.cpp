// What a host on TCP is configured with: keys of the topology, and of each port.
#include <algorithm>

#include "settings/reader.hpp"
#include "settings/units.hpp"
#include "tools/fcvi_sim/scenario/keys.hpp"
#include "tools/fcvi_sim/scenario/parts_loader.hpp"

namespace sim {
using namespace settings;
namespace {

enum class Crc : std::uint8_t { Ask, Grant, Refuse };
constexpr Choice<Crc> crc_uses[] = {{"ask", Crc::Ask}, {"grant", Crc::Grant}, {"refuse", Crc::Refuse}};
enum class Urgent : std::uint8_t { Send, Take, Refuse };
constexpr Choice<Urgent> urgent_marks[] = {{"send", Urgent::Send}, {"take", Urgent::Take}, {"refuse", Urgent::Refuse}};
constexpr Choice<bool> cuts[] = {{"full", false}, {"drawn", true}};
// A VI segment waits in the send buffer until it is whole.
constexpr Range tcp_segments{1, 65'000}, send_buffers{65'536, 64u << 20}, receive_buffers{1, 64u << 20},
    tcp_ports{1, 65'535}, vi_segments{256, 65'535}, read_windows{0, 65'535};

/// Of `topology` and of ports: what only Fibre Channel has.
constexpr std::string_view fibre_channel_keys[] = {"switches",
                                                   "isls",
                                                   "loops",
                                                   "multipath",
                                                   "domain_conflict",
                                                   "reconfiguration_delay",
                                                   "directory_delay",
                                                   "in_order",
                                                   "bb_credit",
                                                   "processing_time",
                                                   "switch",
                                                   "loop",
                                                   "private",
                                                   "port_name",
                                                   "node_name",
                                                   "resolve",
                                                   "receive_data_field",
                                                   "first_ox_id",
                                                   "first_handle",
                                                   "first_connection_id",
                                                   "max_iu_bytes",
                                                   "pipeline_depth",
                                                   "reorder_pool",
                                                   "preference",
                                                   "class",
                                                   "end_to_end_credit",
                                                   "ack_0",
                                                   "ulp_timeout"};

}  // namespace

// clang-format off
const std::vector<Key>& tcp_keys() {
  static const std::vector<Key> keys{
    within({"tcp_segment", Form::Bytes, "kind tcp: octets of a TCP segment"}, tcp_segments),
    {"tcp_segments", Form::Choice, "kind tcp: all of that size, or sizes up to it drawn from the seed", false, InList::No, nullptr, {"tcp_segments", names_in<cuts>}},
    within({"send_buffer", Form::Bytes, "kind tcp: what was written and did not arrive"}, send_buffers),
    within({"receive_buffer", Form::Bytes, "kind tcp: what arrived and was not read: the window"}, receive_buffers),
    within({"tcp_port", Form::Number, "kind tcp: where the host listens, and which port it connects to"}, tcp_ports),
    within({"vi_segment", Form::Bytes, "kind tcp: octets of the longest VI segment"}, vi_segments),
    {"crc", Form::Choice, "kind tcp: the CRC option of connections", false, InList::No, nullptr, {"crc_option", names_in<crc_uses>}},
    {"descriptor_flow_control", Form::Flag, "kind tcp: a Send waits for a receive descriptor of the peer"},
    {"urgent", Form::Choice, "kind tcp: the Urgent Marker option", false, InList::No, nullptr, {"urgent_marker", names_in<urgent_marks>}},
    within({"rdma_read_window", Form::Number, "kind tcp: RDMA Read Requests that it holds"}, read_windows),
    {"request_timeout", Form::Time, "kind tcp: until the ConnectRequest of an accepted stream is whole"},
    {"close_timeout", Form::Time, "kind tcp: until what was sent is out, and the peer's end is read"}};
  return keys;
}
// clang-format on

void load_tcp(const MapReader& map, TcpSpec& tcp) {
  map.optional("tcp_segment", tcp.segment_bytes, read_bytes, tcp_segments);
  if (const Tree* tree = map.find("tcp_segments")) tcp.drawn_segments = read_choice(*tree, "tcp_segments", cuts);
  map.optional("send_buffer", tcp.send_buffer_bytes, read_bytes, send_buffers);
  map.optional("receive_buffer", tcp.receive_buffer_bytes, read_bytes, receive_buffers);
  map.optional("tcp_port", tcp.port, read_number, tcp_ports);
  map.optional("vi_segment", tcp.vi_segment_bytes, read_bytes, vi_segments);
  if (const Tree* tree = map.find("crc")) {
    const Crc crc = read_choice(*tree, "crc", crc_uses);
    tcp.asks_for_crc = crc == Crc::Ask;
    tcp.grants_crc = crc != Crc::Refuse;
  }
  map.optional("descriptor_flow_control", tcp.descriptor_flow_control, read_bool);
  if (const Tree* tree = map.find("urgent")) {
    const Urgent urgent = read_choice(*tree, "urgent", urgent_marks);
    tcp.sends_urgent_marks = urgent == Urgent::Send;
    tcp.takes_urgent_marks = urgent != Urgent::Refuse;
  }
  map.optional("rdma_read_window", tcp.rdma_read_window, read_number, read_windows);
  map.optional("request_timeout", tcp.request_timeout, read_duration, runtime::microsecond, max_time);
  map.optional("close_timeout", tcp.close_timeout, read_duration, runtime::microsecond, max_time);
}

std::vector<SegmentFieldRange> read_segment_fields(const Tree& tree, std::string_view key) {
  std::vector<SegmentFieldRange> ranges;
  for (const auto& [name, value] : MapReader(tree, std::string(key), segment_field_names()).tree().entries) {
    const SegmentField* field = find_segment_field(name);
    const Bound bound = read_bound(value, name);
    const bool open = bound.max == Bound{}.max;
    if (bound.min > field->max() || (!open && bound.max > field->max()))
      fail_expected(value, name, "at most " + format_count(field->max()));
    ranges.push_back({field, bound.min, bound.max});
  }
  return ranges;
}

std::vector<SegmentPatch> read_segment_patches(const Tree& tree, std::string_view key) {
  std::vector<SegmentPatch> patches;
  for (const auto& [name, value] : MapReader(tree, std::string(key), segment_field_names()).tree().entries) {
    const SegmentField* field = find_segment_field(name);
    patches.push_back({field, read_number(value, name, {0, field->max()})});
  }
  return patches;
}

void refuse_keys_of_frames(const MapReader& map, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys)
    if (const Tree* tree = map.find(key); tree != nullptr)
      throw BadInput{tree->where + ": " + std::string(key) + ": is of Fibre Channel, and topology.kind is tcp"};
}

void refuse_keys_of_others(const MapReader& map, TopologyKind topology) {
  if (topology == TopologyKind::Tcp) return refuse_keys_of_frames(map, fibre_channel_keys);
  for (const Key& key : tcp_keys())
    if (const Tree* tree = map.find(key.name); tree != nullptr)
      throw BadInput{tree->where + ": " + std::string(key.name) + ": expected with topology.kind tcp"};
}

}  // namespace sim
