// Any frame at a switch: of an N_Port at its F_Port (F_Port Controller, Name Server, Fabric Controller, routing), of
// another switch at its E_Port, of NL_Ports at its FL_Port. The steps: frame_flood.hpp; the first byte: 0 as an N_Port
// without a login, 1 with one, 2 a switch, 3 an NL_Port; 4 more: the N_Port says that it can keep back frames for one
// address.
#include "farp/resolver.hpp"
#include "fc2_fabric/switch/f_port.hpp"
#include "fc2_fabric/switch/fabric_controller.hpp"
#include "fc2_fabric/switch/fabric_directory.hpp"
#include "fc2_fabric/node/loop_n_port.hpp"
#include "frame_flood.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/switched_fabric.hpp"

namespace {
using support::FloodStep;

[[noreturn]] void fail(const char* what) { wire::fuzz::fail(what, "switch"); }

/// The far end of a link to an N_Port elsewhere, which the input plays.
class Stranger final : public fc2::FrameOutput, private fc2::FrameFeeder {
 public:
  Stranger(support::SwitchedFabric& fabric, bool logged_in) : fabric_(fabric) {
    plug_in();
    if (logged_in) log_in();
  }
  ~Stranger() { unplug(); }
  void send(fc2::FramePtr frame) override {
    const auto header = wire::FcHeader::parse(frame->content());
    if (!header) fail("a frame without a header");
    last = *header;
    accepted = accepted || (header->r_ctl == wire::RCtl::els_reply &&
                            frame->data_field()[0] == static_cast<std::uint8_t>(wire::els::Command::ls_acc));
  }
  void give(fc2::FramePtr frame) { f_port_->receive(std::move(frame)); }
  /// FLOGI; its accept must come.
  void log_in() {
    wire::els::Login login{.command = wire::els::Command::flogi, .bb_credit = 4};
    login.receive_data_field_size = fc2::max_data_field_bytes;
    login.port_name = {0x2000'02FC'F0FF'0001};
    login.node_name = {0x1000'02FC'F0FF'0001};
    login.class_3 = {.service_options = wire::els::class_option::valid,
                     .receive_data_field_size = fc2::max_data_field_bytes};
    const auto header = support::els_request_header(wire::well_known::f_port, {}, {0x7FF0});
    const auto bytes = support::bytes_of_frame(header, support::bytes_of(login));
    accepted = false;
    give(support::flood_frame(fabric_.pool, {0, bytes}, {}));
    fabric_.run_for(runtime::millisecond);
    if (!accepted) fail("a good FLOGI is not accepted");
  }
  /// Slow, gone and back, reset.
  void event(std::uint8_t which) {
    if ((which & 3) == 0)
      pause();
    else if ((which & 3) == 1)
      resume();
    else if ((which & 3) == 2)
      f_port_->reset_link();
    else
      plug_in_anew();
  }
  void plug_in_anew() {
    unplug();
    plug_in();
  }
  [[nodiscard]] fc2::FPort& f_port() { return *f_port_; }
  wire::FcHeader last;
  bool accepted = false;
  bool by_destination = false;  // says that it keeps back what is for one address

 private:
  void plug_in() {
    resume();
    f_port_ = fabric_.at(0).attach(*this, *this);
    if (f_port_ == nullptr) fail("no F_Port is free");
  }
  void unplug() { fabric_.at(0).detach(*f_port_); }
  void hold() override {}  // it does not care
  void proceed() override {}
  [[nodiscard]] bool holds_by_destination() const override { return by_destination; }
  support::SwitchedFabric& fabric_;
  fc2::FPort* f_port_ = nullptr;
};

/// An honest port, which registers its address.
struct Citizen final : farp::ResolveListener {
  Citizen(support::SwitchedFabric& fabric, std::size_t at_switch, std::uint8_t number)
      : address(wire::IpAddress::v4(10, 0, 0, number)), port(fabric.port(fabric.add_port(at_switch))),
        resolver(port, {.own_addresses = {address}}) {}
  void resolved(const wire::IpAddress&, std::span<const wire::FcId> ids) override {
    found.assign(ids.begin(), ids.end());
  }
  void not_resolved(const wire::IpAddress&) override {}
  wire::IpAddress address;
  fc2::NPort& port;
  farp::Resolver resolver;
  std::vector<wire::FcId> found;
};

class World {
 public:
  World(unsigned choice, bool by_destination) : from_switch_(choice == 2), from_loop_(choice == 3), fabric_(2) {
    isl_ = &fabric_.join(0, 1);
    fabric_.run_for(runtime::second);
    citizens_.push_back(std::make_unique<Citizen>(fabric_, 0, std::uint8_t{1}));
    citizens_.push_back(std::make_unique<Citizen>(fabric_, 1, std::uint8_t{2}));
    fabric_.run_for(runtime::second);
    stranger_.emplace(fabric_, choice != 0);
    stranger_->by_destination = by_destination;
    if (!from_loop_) return;
    fl_port_ = fabric_.at(0).attach(loop_);
    attach(loop_, nl_port_);
    fabric_.run_for(runtime::second);
  }
  ~World() {
    if (fl_port_ != nullptr) leave_loop();
  }
  void take(const FloodStep& step) {
    if (step.bytes.empty()) return happen(step.bits);
    fc2::FPort& f_port = stranger_->f_port();
    // As a fabric hands it out; a service where the destination is to be made good and is none.
    support::FloodAim aim{wire::well_known::name_server, f_port.logged_in() ? f_port.address() : wire::FcId{},
                          stranger_->last.ox_id, stranger_->last.rx_id, 0};
    if (from_switch_) aim = {citizens_[0]->port.n_port_id(), citizens_[1]->port.n_port_id(), {}, {}, 0};
    if (from_loop_) aim.s_id = nl_port_.n_port_id();
    fc2::FramePtr frame = support::flood_frame(fabric_.pool, step, aim);
    if (from_switch_)
      give_to_e_port(std::move(frame));
    else if (from_loop_)
      fl_port_->receive(std::move(frame));
    else
      stranger_->give(std::move(frame));
    fabric_.run_for(step.has(FloodStep::Wait) ? 3 * runtime::second : runtime::microsecond);
    check_bounds();
  }
  void expect_unharmed(bool probed) {
    stranger_->resume();
    fabric_.run_for(60 * runtime::second);
    if (from_switch_) fabric_.fabric.plug(*isl_);
    fabric_.run_for(runtime::second);
    if (probed) expect_served();
    if (from_loop_ && (loop_.lip(nl_port_), fabric_.run_for(10 * runtime::second), !nl_port_.online()))
      fail("an honest NL_Port is not logged in");
    if (from_loop_) leave_loop();
    stranger_.reset();
    fabric_.run_for(200 * runtime::second);
    expect_nothing_left();
  }

 private:
  void leave_loop() {
    loop_.detach(nl_port_);
    fabric_.at(0).detach(*std::exchange(fl_port_, nullptr));
  }
  void give_to_e_port(fc2::FramePtr frame) {
    frame->path_age = ~std::uint32_t{0};
    frame->entered = fabric_.scheduler.now();
    isl_->a().receive(std::move(frame));
  }
  void happen(std::uint8_t which) {
    if (from_loop_)
      loop_.lip(nl_port_);
    else if (!from_switch_)
      stranger_->event(which);
    else if ((which & 1) != 0)
      fabric_.fabric.plug(*isl_);
    else
      fabric_.fabric.unplug(*isl_);
    fabric_.run_for((which & 0x80) != 0 ? runtime::second : 2 * runtime::microsecond);
  }
  void check_bounds() {
    if (stranger_->f_port().virtual_ports() > fabric_.at(0).config().max_virtual_ports)
      fail("too many logins of one link");
    if (fabric_.pool.outstanding() > 5000) fail("frames pile up");
  }
  /// Who was there and who comes now: logged in, and told of each other.
  void expect_served() {
    stranger_->plug_in_anew();
    stranger_->log_in();
    citizens_.push_back(std::make_unique<Citizen>(fabric_, 0, std::uint8_t{3}));
    fabric_.run_for(10 * runtime::second);
    for (auto& asking : citizens_)
      for (auto& asked : citizens_)
        if (asking != asked) expect_reaches(*asking, *asked);
  }
  void expect_reaches(Citizen& asking, Citizen& asked) {
    asking.found.clear();
    asking.resolver.invalidate_all();
    asking.resolver.resolve(asked.address, asking);
    fabric_.run_for(20 * runtime::second);
    if (asking.found != std::vector{asked.port.n_port_id()})
      fail("the Name Server does not tell an honest port's address");
    fc2::RemotePort& remote = asking.port.remote_port(asked.port.n_port_id());
    remote.log_in();
    fabric_.run_for(runtime::second);
    if (!remote.logged_in()) fail("honest ports do not log in with each other");
  }
  void expect_nothing_left() {
    const std::size_t citizens = citizens_.size();
    fc2::Switch& first = fabric_.at(0);
    if (first.logged_in_ports() != citizens || first.directory().names().size() != citizens)
      fail("logins of a link that is gone stay");
    if (first.fabric_controller().registered_count() + fabric_.at(1).fabric_controller().registered_count() != citizens)
      fail("registrations for changes stay");
    for (auto& citizen : citizens_) expect_quiet(citizen->port);
    for (std::size_t i = 0; i < 2; ++i)
      for (const wire::FcId service : {wire::well_known::name_server, wire::well_known::fabric_controller})
        expect_quiet(fabric_.at(i).service_port(service));
    if (fabric_.pool.outstanding() != 0) fail("a frame's buffer is not returned");
  }
  static void expect_quiet(fc2::NPort& port) {
    if (port.counters().unexpected_events != 0) fail("an event without a row");
    if (port.open_exchanges() != 0) fail("an exchange stays open");
    if (port.assembled_bytes() != 0) fail("an IU stays in assembly");
  }

  const bool from_switch_, from_loop_;
  support::SwitchedFabric fabric_;
  fc2::InterSwitchLink* isl_;
  fc2::NPort nl_port_{fabric_.scheduler, fabric_.pool, support::port_config(0x50)};
  fc2::Loop loop_{fabric_.scheduler, fabric_.pool, {}};
  fc2::FPort* fl_port_ = nullptr;
  std::vector<std::unique_ptr<Citizen>> citizens_;
  std::optional<Stranger> stranger_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  World world(data[0] % 4, (data[0] & 4) != 0);
  support::FloodSteps steps(wire::Bytes(data + 1, size - 1));
  while (const auto step = steps.next()) world.take(*step);
  world.expect_unharmed(wire::fuzz::is_probed({data, size}));
  return 0;
}
