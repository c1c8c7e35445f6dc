// Any frame at every entry of FCoE and FIP, with logins standing: an ENode, an FCF, a VN2VN node, an ENode that asks.
//
// The first byte chooses: bits 1:0 the receiver, bit 2 whether the MAC addresses are made good, bit 3 whether FCoE's
// trailer is. What follows is an Ethernet frame; several stand behind each other, each after its length (2 bytes).
#include "fc2_fabric/fcoe/encapsulation.hpp"
#include "property.hpp"
#include "tests/fc2_fabric/fcoe/ethernet_world.hpp"
#include "wire/crc.hpp"

namespace {
using fc2::fcoe::EthernetFrame;
using support::EthernetWorld;
constexpr wire::FcId vn_id{0x0E01}, neighbour_id{0x0E02};

[[noreturn]] void fail(const char* what) { wire::fuzz::fail(what, "FCOE"); }

struct Worlds {
  Worlds() {
    fabric.start_fcf();
    e_node = &fabric.add_e_node();
    vn_node = &vn2vn.add_vn2vn({.first_id = vn_id});
    neighbour = &vn2vn.add_vn2vn({.first_id = neighbour_id});
    asking = &alone.add_e_node({.discover_vlans = true});
    fabric.run_for(runtime::second);
    vn2vn.run_for(2 * runtime::second);
    alone.run_for(runtime::millisecond);
    if (!e_node->port.online() || !vn_node->port.online() || vn_node->node->neighbours().size() != 1)
      fail("the logins do not stand");
  }
  void run_for(runtime::TimeNs duration) {
    for (EthernetWorld* world : {&fabric, &vn2vn, &alone}) world->run_for(duration);
  }
  EthernetWorld fabric, vn2vn, alone;
  support::EStation* e_node;
  support::VnStation* vn_node;
  support::VnStation* neighbour;
  support::EStation* asking;
};

struct Target {
  EthernetWorld& world;
  fc2::fcoe::SegmentPort& port;
  wire::MacAddress fip_to{}, fip_from{}, fcoe_to{}, fcoe_from{};
  bool d_id_in_mac = true, s_id_in_mac = true;  // an FCF's MAC has no N_Port_ID
};

Target target_of(Worlds& worlds, unsigned choice) {
  const wire::MacAddress vn_port = wire::mac_of({0x010100}), e_node = support::station_mac(1);
  const auto vn = [](wire::FcId id) { return wire::mac_of(id, wire::vn2vn_fc_map); };
  switch (choice) {
    case 0:
      return {worlds.fabric, worlds.e_node->ethernet, e_node, support::fcf_mac, vn_port, support::fcf_mac, true, false};
    case 1:
      return {worlds.fabric, worlds.fabric.fcf_port, support::fcf_mac, e_node, support::fcf_mac, vn_port, false, true};
    case 2:
      return {worlds.vn2vn, worlds.vn_node->ethernet, e_node, support::station_mac(2), vn(vn_id), vn(neighbour_id)};
    default: return {worlds.alone, worlds.asking->ethernet, e_node, support::fcf_mac, vn_port, support::fcf_mac};
  }
}

void make_addresses_good(const Target& target, std::vector<std::uint8_t>& frame) {
  if (frame.size() < wire::EthernetHeader::size()) return;
  const bool fcoe = frame[13] == 0x06;
  std::copy_n((fcoe ? target.fcoe_to : target.fip_to).bytes.begin(), 6, frame.begin());
  std::copy_n((fcoe ? target.fcoe_from : target.fip_from).bytes.begin(), 6, frame.begin() + 6);
  if (!fcoe || frame.size() < wire::fcoe::frame_size(fc2::frame_header_bytes)) return;
  if (target.d_id_in_mac) std::copy_n(target.fcoe_to.bytes.begin() + 3, 3, frame.begin() + 29);
  if (target.s_id_in_mac) std::copy_n(target.fcoe_from.bytes.begin() + 3, 3, frame.begin() + 33);
}

void make_trailer_good(std::vector<std::uint8_t>& frame) {
  frame.resize(frame.size() - frame.size() % 4);
  if (frame.size() < wire::fcoe::frame_size(fc2::frame_header_bytes) || frame.size() > EthernetFrame::max_bytes ||
      frame[13] != 0x06)
    return;
  const std::size_t end = frame.size() - wire::fcoe::trailer_size;
  const auto fc_frame = wire::Bytes(frame).subspan(EthernetFrame::head_bytes, end - EthernetFrame::head_bytes);
  frame[14] = 0;
  frame[27] = static_cast<std::uint8_t>(wire::Sof::i3);
  wire::fcoe::write_trailer(wire::crc32(fc_frame), wire::Eof::t, wire::MutableBytes(frame).subspan(end));
}

void check_bounds(const Worlds& worlds) {
  if (worlds.e_node->node->counters().unexpected_events + worlds.asking->node->counters().unexpected_events +
          worlds.vn_node->node->counters().unexpected_events !=
      0)
    fail("an event without a row");
  if (worlds.e_node->node->known_fcfs().size() > fc2::fcoe::FcfTable::max_fcfs) fail("too many FCFs");
  for (const EthernetWorld* world : {&worlds.fabric, &worlds.vn2vn, &worlds.alone})
    if (world->pool.outstanding() > 1000) fail("frames are kept");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  Worlds worlds;
  wire::Bytes rest(data + 1, size - 1);
  const Target target = target_of(worlds, data[0] & 3);
  while (rest.size() >= 2) {
    const std::size_t length = std::min<std::size_t>(wire::load_big<2>(rest.data()), rest.size() - 2);
    std::vector<std::uint8_t> frame(rest.begin() + 2, rest.begin() + 2 + static_cast<std::ptrdiff_t>(length));
    rest = rest.subspan(2 + length);
    if ((data[0] & 8) != 0) make_trailer_good(frame);
    if ((data[0] & 4) != 0) make_addresses_good(target, frame);
    if ((data[0] & 8) != 0) make_trailer_good(frame);
    target.world.segment.inject(target.port, frame);
    target.world.run_for(runtime::microsecond);
  }
  worlds.run_for(3 * runtime::second);
  check_bounds(worlds);
  return 0;
}
