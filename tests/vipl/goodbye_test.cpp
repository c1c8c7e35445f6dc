// A process on Ethernet ends: those that it was logged in with hear a LOGO.
#include <gtest/gtest.h>
#include <poll.h>

#include <fstream>

#include "fc2_fabric/drivers/udp_ethernet.hpp"
#include "fc2_fabric/fcoe/vn2vn_node.hpp"
#include "tests/local_fabric/raw_node.hpp"
#include "vipl/vipl.h"
#include "wire/els/logo.hpp"
#include "wire/fc_header.hpp"

namespace support {
namespace {

constexpr wire::Wwn our_name{0x3000'0000'0000'0BE1}, our_node{0x3100'0000'0000'0BE1};

/// The other end of the program's cable: a VN2VN port that nobody else is at.
class Neighbour final : private fc2::fcoe::Vn2vnListener, private fc2::FrameTap {
 public:
  explicit Neighbour(Machine& machine)
      : machine_(machine), port_(machine.core.scheduler(), machine.core.pool(),
                                 {.name = "neighbour", .port_name = our_name, .node_name = our_node}) {
    const CoreSection section(machine_.core);
    const fc2::drivers::CoreAccess access{machine_.io, machine_.core, machine_.core.scheduler(), machine_.core.pool()};
    ethernet_ = fc2::drivers::UdpEthernet::open(access, {.name = "cable", .mac = {{2, 0, 0, 0, 0, 0xB}}}).port;
  }
  ~Neighbour() {
    const CoreSection section(machine_.core);
    node_.reset();
    ethernet_.reset();
  }
  [[nodiscard]] std::uint16_t udp_port() const { return ethernet_->local_port(); }
  void plug_in(std::uint16_t remote_port) {
    const CoreSection section(machine_.core);
    ethernet_->set_remote_port(remote_port);
    fc2::fcoe::Vn2vnListener* const listener = this;
    node_.emplace(machine_.core.scheduler(), machine_.core.pool(), *ethernet_, port_, fc2::fcoe::Vn2vnConfig{},
                  listener);
    node_->tap(this);
  }
  /// As soon as `ready` can be read: a VN_Port that is still claiming its address hears no PLOGI.
  bool log_in(int ready) {
    const auto can_be_read = [&] {
      pollfd input{ready, POLLIN, 0};
      return ::poll(&input, 1, 0) == 1;
    };
    if (!machine_.run_until([&] { return port_.online() && peer_ != wire::FcId{} && can_be_read(); })) return false;
    {
      const CoreSection section(machine_.core);
      port_.remote_port(peer_).log_in();
    }
    return machine_.run_until([&] { return logged_in(); });
  }
  [[nodiscard]] bool logged_in() { return port_.remote_port(peer_).logged_in(); }
  [[nodiscard]] bool heard_logo() const { return heard_logo_; }

 private:
  void neighbour_appeared(const fc2::fcoe::Vn2vnNeighbour& neighbour) override { peer_ = neighbour.id; }
  void neighbour_gone(const fc2::fcoe::Vn2vnNeighbour&) override {}
  void frame_passed(runtime::TimeNs, const fc2::Frame& frame, bool outbound) override {
    const auto header = wire::FcHeader::parse(frame.content());
    const bool request = header && !outbound && header->r_ctl == wire::RCtl::els_request && header->s_id == peer_;
    heard_logo_ |= request && wire::els::Logo::parse(frame.content().subspan(fc2::frame_header_bytes)).has_value();
  }

  Machine& machine_;
  fc2::NPort port_;
  wire::FcId peer_{};
  bool heard_logo_ = false;
  std::unique_ptr<fc2::drivers::UdpEthernet> ethernet_;
  std::optional<fc2::fcoe::Vn2vnNode> node_;
};

/// A UDP port of 127.0.0.1 that nobody had just now.
std::uint16_t free_udp_port() {
  Machine machine;
  const CoreSection section(machine.core);
  const auto port = fc2::drivers::UdpEthernet::open(
                        {machine.io, machine.core, machine.core.scheduler(), machine.core.pool()}, {.name = "any"})
                        .port;
  return port->local_port();
}

// FC-LS LOGO. Without it the neighbour would believe in the login until beacons are missed (20 s), and ask nobody.
TEST(GoodbyeTest, vn2vn_the_program_exits_its_neighbours_are_logged_out) {
  std::string configuration = (std::filesystem::temp_directory_path() / "fcvi-test-XXXXXX").string();
  const int file = ::mkstemp(configuration.data());
  ASSERT_GE(file, 0);
  ::close(file);
  Machine machine;
  Neighbour neighbour(machine);
  const std::uint16_t its_port = free_udp_port();
  std::ofstream(configuration) << "nics:\n- name: VINIC\n  transport: fcoe\n  mode: vn2vn\n  interface: \"udp:"
                               << its_port << ":" << neighbour.udp_port() << "\"\n  timeouts: {open: 60s}\n";
  int begin[2], end[2];
  ASSERT_TRUE(::pipe(begin) == 0 && ::pipe(end) == 0);
  Child program([&] {
    ::close(end[1]);
    ::setenv("FCVI_CONFIG", configuration.c_str(), 1);
    VIP_NIC_HANDLE nic = nullptr;
    char byte = 0;
    const bool open = VipOpenNic("VINIC", &nic) == VIP_SUCCESS;
    if (!open || ::write(begin[1], &byte, 1) != 1 || ::read(end[0], &byte, 1) != 0) return 1;
    std::exit(0);  // as a program that returns from main()
  });
  ::close(begin[1]);
  ::close(end[0]);
  neighbour.plug_in(its_port);
  EXPECT_TRUE(neighbour.log_in(begin[0]));
  ::close(begin[0]);
  ::close(end[1]);
  EXPECT_EQ(program.wait(), 0);
  EXPECT_TRUE(machine.run_until([&] { return !neighbour.logged_in(); }));
  EXPECT_TRUE(neighbour.heard_logo());
  std::filesystem::remove(configuration);
}

}  // namespace
}  // namespace support
