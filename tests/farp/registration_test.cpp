// Registration with the Name Server where it is silent, logs us out, or is not to be used (FC-VI 7.4, 7.6).
#include <array>

#include "fc2_fabric/switch/name_server.hpp"
#include "tests/farp/resolver_fixture.hpp"
#include "wire/ct/accept.hpp"
#include "wire/ct/preamble.hpp"
#include "wire/ct/ripp_id.hpp"

namespace farp_test {
namespace {
using wire::ct::Command;
using wire::els::Command::plogi;
using wire::els::Command::scr;
const auto farp_only = [](farp::ResolverConfig& config, std::size_t) { config.use_name_server = false; };
const auto no_state_changes = [](farp::ResolverConfig& config, std::size_t) { config.register_state_changes = false; };

struct Asked {
  Command command;
  runtime::TimeNs at;
  std::vector<std::uint8_t> iu;
};

/// Stands in the Name Server's place: accepts the first so many requests, and is silent then.
class FewAnswers final : public fc2::ExchangeUser {
 public:
  FewAnswers(fc2::NPort& port, std::size_t answers) : port_(port), left_(answers) {
    port.set_user(wire::Type::ct, *this);
  }
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t> iu) override {
    asked.push_back({wire::ct::CtHeader::parse(iu)->command, port_.scheduler().now(), {iu.begin(), iu.end()}});
    if (left_ == 0) return port_.release(exchange);
    --left_;
    std::vector<std::uint8_t> accept(wire::ct::CtAccept::size());
    wire::ct::CtAccept{}.write(accept);
    port_.send(exchange, wire::RCtl::solicited_control, {}, accept,
               {.last_of_exchange = ends, .transfer_initiative = true});
  }
  bool ends = true;  // the exchange, with the answer
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
  std::vector<Asked> asked;

 private:
  fc2::NPort& port_;
  std::size_t left_;
};

class RegistrationTest : public ResolverTest {
 protected:
  ~RegistrationTest() override {
    EXPECT_EQ(unexpected_events(), 0U);
    if (lossy && fabric.fabric.ingress_of(fabric.port(0)) != nullptr) fabric.fabric.set_fault(fabric.port(0), nullptr);
  }
  fc2::NPort& server() { return fabric.fabric.service_port(wire::well_known::name_server); }
  void attach_tapped() {
    fabric.attach(0);
    fabric.fabric.tap(fabric.port(0), &log);
  }
  std::size_t requests_to_server() const {
    return log.count(
        [](const support::LoggedFrame& frame) { return frame.outbound && frame.is(wire::RCtl::unsolicited_control); });
  }
  /// On both directions of port 0's link, until that goes.
  void lose(std::function<bool(const wire::FcHeader&)> which) {
    losing.lost = std::move(which);
    fabric.fabric.set_fault(fabric.port(0), &losing);
    lossy = true;
  }
  fc2::RemotePort& name_server() { return fabric.port(0).remote_port(wire::well_known::name_server); }
  static std::vector<Command> commands(const FewAnswers& few) {
    std::vector<Command> list;
    for (const Asked& asked : few.asked) list.push_back(asked.command);
    return list;
  }
  support::FrameLog log;
  Losing losing;
  bool lossy = false;  // then it is to be taken from the link before it goes
};

// A server that accepts the login and answers nothing else: each step is asked for again after 2 * E_D_TOV, then after
// twice as long, `retries` times; the last try has 2 * R_A_TOV (ruling 221). Then the next one. After the last the port
// is ready, and registers for state changes.
TEST_F(RegistrationTest, silent_server_each_step_is_tried_again) {
  build(1);
  FewAnswers silent(server(), 0);
  attach_tapped();
  fabric.run_for(runtime::second);
  const runtime::TimeNs first = 2 * fabric.port(0).e_d_tov(), second = 2 * first, last = 2 * fabric.port(0).r_a_tov();
  const runtime::TimeNs step = first + second + last;
  const std::array asked_at{runtime::TimeNs{0}, first, first + second, step, step + first, step + first + second};
  fabric.run_for(2 * step - 2 * runtime::second);
  EXPECT_FALSE(resolvers[0]->ready());
  EXPECT_EQ(log.sent(scr), 0U);
  fabric.run_for(10 * runtime::second);
  EXPECT_EQ(ready[0].count, 1);
  EXPECT_EQ(log.sent(scr), 1U);
  ASSERT_EQ(silent.asked.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(silent.asked[i].command, i < 3 ? Command::ripp_id : Command::rft_id) << i;
    EXPECT_NEAR(static_cast<double>(silent.asked[i].at - silent.asked[0].at), static_cast<double>(asked_at[i]), 1e6)
        << i;
  }
}

// The tries are counted for each step by itself: one that was answered late leaves the next all of its own.
TEST_F(RegistrationTest, silent_after_first_answer_next_step_has_all_tries) {
  build(1, [](farp::ResolverConfig& config, std::size_t) { config.own_addresses = {ip(0), ip(7)}; });
  FewAnswers server_of_one(server(), 1);
  attach_tapped();
  fabric.run_for(200 * runtime::second);
  EXPECT_EQ(commands(server_of_one),
            (std::vector{Command::ripp_id, Command::ripp_id, Command::ripp_id, Command::ripp_id, Command::rft_id,
                         Command::rft_id, Command::rft_id}));
  EXPECT_EQ(ready[0].count, 1);
}

// Between any two events, whatever the server does: it is silent, answers, logs the port out, and the link goes.
TEST_F(RegistrationTest, owner_is_consistent_between_events) {
  build(1);
  FewAnswers server_of_one(server(), 1);
  const auto run = [this](runtime::TimeNs duration) {
    const runtime::TimeNs end = fabric.scheduler.now() + duration;
    while (fabric.scheduler.run_next(end)) ASSERT_TRUE(resolvers[0]->is_consistent());
  };
  attach_tapped();
  run(3 * runtime::second);
  server().remote_port(id(0)).log_out();
  run(200 * runtime::second);
  EXPECT_TRUE(resolvers[0]->ready());
  fabric.detach(0);
  EXPECT_TRUE(resolvers[0]->is_consistent());
  run(runtime::second);
}

// Logged out by the server in the midst of it: begins again with the first address after the next login,
// and not before.
TEST_F(RegistrationTest, logged_out_meanwhile_begins_anew) {
  build(1, [](farp::ResolverConfig& config, std::size_t) { config.own_addresses = {ip(0), ip(7)}; });
  FewAnswers server_of_one(server(), 1);
  attach_tapped();
  fabric.run_for(runtime::second);
  ASSERT_EQ(server_of_one.asked.size(), 2U);
  server().remote_port(id(0)).log_out();
  fabric.run_for(runtime::second);
  ASSERT_EQ(server_of_one.asked.size(), 3U);
  const auto again = wire::ct::RippId::parse(server_of_one.asked[2].iu);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->ip_address, ip(0));
  EXPECT_FALSE(resolvers[0]->ready());
  EXPECT_EQ(log.sent(plogi), 2U);
}

// FC-FS: an answer that leaves its exchange open is as good; the exchange is given back.
TEST_F(RegistrationTest, answers_leave_exchanges_open_none_is_kept) {
  build(1);
  FewAnswers open(server(), 2);
  open.ends = false;
  attach_tapped();
  fabric.run_for(runtime::second);
  EXPECT_EQ(ready[0].count, 1);
  EXPECT_EQ(fabric.port(0).open_exchanges(), 0U);
  fabric.detach(0);  // those of the server end while it is there
}

// Without the Name Server: no login with it, nothing registered there; state changes all the same.
TEST_F(RegistrationTest, not_to_be_used_is_not_used) {
  build(1, farp_only);
  attach_tapped();
  fabric.run_for(runtime::second);
  EXPECT_EQ(ready[0].count, 1);
  EXPECT_EQ(log.sent(plogi), 0U);
  EXPECT_EQ(requests_to_server(), 0U);
  EXPECT_EQ(log.sent(scr), 1U);
}

// ... nor asked for addresses, even where somebody else logged in with it.
TEST_F(RegistrationTest, not_to_be_used_is_not_asked) {
  bring_up(2, farp_only);
  fabric.port(0).remote_port(wire::well_known::name_server).log_in();
  fabric.run_for(runtime::second);
  ASSERT_TRUE(fabric.port(0).remote_port(wire::well_known::name_server).logged_in());
  fabric.fabric.tap(fabric.port(0), &log);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  EXPECT_EQ(log.sent(wire::els::Command::farp_req), 1U);
  EXPECT_EQ(requests_to_server(), 0U);
}

// ... and neither its refusal nor its logout concerns us then.
TEST_F(RegistrationTest, not_to_be_used_its_end_does_not_concern) {
  bring_up(1, farp_only);
  fc2::RemotePort& name_server = fabric.port(0).remote_port(wire::well_known::name_server);
  name_server.log_in();
  fabric.run_for(runtime::second);
  const int before = ready[0].count;
  fabric.fabric.tap(fabric.port(0), &log);
  server().remote_port(id(0)).log_out();
  fabric.run_for(runtime::second);
  EXPECT_EQ(log.sent(plogi), 0U);
  server().link_down();
  name_server.log_in();
  fabric.run_for(200 * runtime::second);
  EXPECT_FALSE(name_server.logged_in());
  EXPECT_EQ(ready[0].count, before);
}

// A server that is silent to the last, without SCR: ready by FARP.
TEST_F(RegistrationTest, without_state_changes_silent_server_is_ready_all_the_same) {
  build(1, no_state_changes);
  FewAnswers silent(server(), 0);
  attach_tapped();
  fabric.run_for(200 * runtime::second);
  EXPECT_EQ(silent.asked.size(), 6U);
  EXPECT_EQ(ready[0].count, 1);
  EXPECT_EQ(log.sent(scr), 0U);
}

// The login with the server, which stands, is asked for while it is silent: registration begins anew, and what was
// asked before is asked no more.
TEST_F(RegistrationTest, registering_told_of_the_login_again_begins_anew) {
  build(1);
  FewAnswers server_of_one(server(), 1);
  attach_tapped();
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(commands(server_of_one), (std::vector{Command::ripp_id, Command::rft_id}));
  name_server().log_in();
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(commands(server_of_one), (std::vector{Command::ripp_id, Command::rft_id, Command::ripp_id}));
  EXPECT_EQ(log.count(wire::RCtl::abts), 1U);
}

// Without SCR (FC-VI 7.7.5 is optional): no SCR, and all the rest.
TEST_F(RegistrationTest, without_state_changes_registers_all_the_same) {
  build(1, no_state_changes);
  attach_tapped();
  fabric.run_for(runtime::second);
  EXPECT_EQ(requests_to_server(), 2U);
  server().remote_port(id(0)).log_out();
  fabric.run_for(runtime::second);
  EXPECT_EQ(ready[0].count, 2);
  EXPECT_EQ(requests_to_server(), 4U);
  EXPECT_EQ(log.sent(scr), 0U);
}

// ... and a server that cannot be reached does not keep it from being found by FARP.
TEST_F(RegistrationTest, without_state_changes_server_silent_ready_by_farp) {
  build(1, no_state_changes);
  server().link_down();
  attach_tapped();
  fabric.run_for(200 * runtime::second);
  EXPECT_EQ(ready[0].count, 1);
  EXPECT_EQ(log.sent(scr), 0U);
}

// The login with some other port fails: that says nothing of the Name Server.
TEST_F(RegistrationTest, other_login_failed_is_no_concern) {
  bring_up(1);
  fabric.port(0).remote_port(wire::FcId{0x010203}).log_in();
  fabric.run_for(200 * runtime::second);
  EXPECT_EQ(ready[0].count, 1);
}

// FC-GS, in this order: the node before its name, the TYPE last. What is not configured is left out, an address too.
TEST_F(RegistrationTest, names_and_addresses_are_registered_in_order) {
  struct Case {
    std::size_t addresses;
    std::string node, port;
    std::vector<Command> expected;
  };
  const Case cases[] = {
      {0, "node", "", {Command::rnn_id, Command::rsnn_nn, Command::rft_id}},
      {0, "", "port", {Command::rspn_id, Command::rft_id}},
      {0, "", "", {Command::rft_id}},
      {2,
       "node",
       "port",
       {Command::ripp_id, Command::ripp_id, Command::rnn_id, Command::rsnn_nn, Command::rspn_id, Command::rft_id}},
  };
  build(std::size(cases), [&](farp::ResolverConfig& config, std::size_t index) {
    config.own_addresses.resize(cases[index].addresses, ip(index));
    config.symbolic_node_name = cases[index].node;
    config.symbolic_port_name = cases[index].port;
  });
  for (std::size_t index = 0; index < std::size(cases); ++index) {
    FewAnswers server_of_all(server(), 1000);
    fabric.attach(index);
    fabric.run_for(runtime::second);
    EXPECT_EQ(commands(server_of_all), cases[index].expected) << index;
    EXPECT_TRUE(resolvers[index]->ready());
  }
}

// FC-VI 7.4: where the Name Server is not to be used, no address is registered there, however many there are.
TEST_F(RegistrationTest, not_to_be_used_addresses_are_not_registered) {
  build(1, [](farp::ResolverConfig& config, std::size_t) {
    config.use_name_server = false;
    config.own_addresses = {ip(0), ip(7), ip(8)};
  });
  attach_tapped();
  fabric.run_for(runtime::second);
  EXPECT_EQ(requests_to_server(), 0U);
  EXPECT_EQ(log.sent(scr), 1U);
}

// SCR is not answered yet, and the link bounces: it is sent again at once, for the fabric has forgotten it.
TEST_F(RegistrationTest, awaiting_state_changes_link_bounces_registers_again) {
  build(1, farp_only);
  fabric.fabric.service_port(wire::well_known::fabric_controller).link_down();
  attach_tapped();
  fabric.run_for(runtime::second);
  EXPECT_EQ(log.sent(scr), 1U);
  fabric.detach(0);
  attach_tapped();
  fabric.run_for(runtime::second);
  EXPECT_EQ(log.sent(scr), 2U);
  EXPECT_EQ(ready[0].count, 2);
}

// FC-VI 7.7.5 is optional: SCR is asked for as often as any other request, and no more; the port is ready meanwhile.
TEST_F(RegistrationTest, awaiting_state_changes_silence_is_ready_without) {
  build(1, farp_only);
  fabric.fabric.service_port(wire::well_known::fabric_controller).link_down();
  attach_tapped();
  fabric.run_for(200 * runtime::second);
  EXPECT_EQ(log.sent(scr), 3U);
  EXPECT_EQ(ready[0].count, 1);
  EXPECT_TRUE(resolvers[0]->ready());
  fabric.run_for(200 * runtime::second);
  EXPECT_EQ(log.sent(scr), 3U);
}

// Neither Name Server nor state changes: ready with each fabric login.
TEST_F(RegistrationTest, nothing_to_register_is_ready_with_each_login) {
  build(1, [](farp::ResolverConfig& config, std::size_t) {
    config.use_name_server = false;
    config.register_state_changes = false;
  });
  for (const int logins : {1, 2}) {
    attach_tapped();
    fabric.run_for(runtime::second);
    EXPECT_EQ(ready[0].count, logins);
    fabric.detach(0);
  }
  EXPECT_EQ(requests_to_server() + log.sent(scr), 0U);
}

// ... and the Name Server logs us out: registration begins anew at once, and so does SCR.
TEST_F(RegistrationTest, awaiting_state_changes_logged_out_registers_again) {
  build(1);
  fabric.fabric.service_port(wire::well_known::fabric_controller).link_down();
  FewAnswers server_of_all(server(), 1000);
  attach_tapped();
  fabric.run_for(runtime::second);
  ASSERT_EQ(log.sent(scr), 1U);
  server().remote_port(id(0)).log_out();
  fabric.run_for(runtime::second);
  EXPECT_EQ(commands(server_of_all),
            (std::vector{Command::ripp_id, Command::rft_id, Command::ripp_id, Command::rft_id}));
  EXPECT_EQ(log.sent(scr), 2U);
}

// FC-VI 7.6: logged out by the Name Server, others do not find us there: not ready, until all is registered anew.
TEST_F(RegistrationTest, ready_logged_out_is_not_ready) {
  bring_up(1);
  ASSERT_TRUE(resolvers[0]->ready());
  lose([](const wire::FcHeader& header) { return header.d_id == wire::well_known::name_server; });
  server().remote_port(id(0)).log_out();
  fabric.run_for(runtime::second);
  ASSERT_FALSE(name_server().logged_in());
  EXPECT_FALSE(resolvers[0]->ready());
  FewAnswers silent(server(), 0);
  losing.lost = {};
  ASSERT_TRUE(fabric.run_until([&] { return name_server().logged_in(); }));
  EXPECT_FALSE(resolvers[0]->ready());
}

// FC-VI 7.4: ready by FARP alone; then somebody logs in with the Name Server after all: it is registered with, and
// ready again with that.
TEST_F(RegistrationTest, ready_by_farp_server_logs_in_registers) {
  build(1);
  attach_tapped();
  lose([](const wire::FcHeader& header) { return header.s_id == wire::well_known::name_server; });
  fabric.run_for(200 * runtime::second);
  EXPECT_EQ(ready[0].count, 1);
  EXPECT_TRUE(resolvers[0]->ready());
  losing.lost = {};
  FewAnswers server_of_one(server(), 1);
  name_server().log_in();
  fabric.run_for(runtime::second);
  EXPECT_EQ(commands(server_of_one), (std::vector{Command::ripp_id, Command::rft_id}));
  EXPECT_FALSE(resolvers[0]->ready());
}

/// Does something when the port is ready the first time.
struct Busy final : farp::ReadyListener {
  void address_ready() override {
    if (++count == 1) then();
  }
  std::function<void()> then;
  int count = 0;
};

// Who hears that the port is ready takes its link down: nothing more is asked of the fabric.
TEST_F(RegistrationTest, ready_listener_takes_the_link_down_ends_it) {
  build(1);
  Busy listener;
  listener.then = [this] { fabric.port(0).link_down(); };
  resolvers[0]->set_ready_listener(listener);
  attach_tapped();
  fabric.run_for(runtime::second);
  EXPECT_EQ(listener.count, 1);
  EXPECT_FALSE(resolvers[0]->ready());
  EXPECT_EQ(fabric.port(0).open_exchanges(), 0U);
}

// ... asks for the login with the Name Server, which stands, and so is told again: registration begins anew, one
// request at a time.
TEST_F(RegistrationTest, ready_listener_logs_in_again_registers_again) {
  build(1);
  Busy listener;
  listener.then = [this] { name_server().log_in(); };
  resolvers[0]->set_ready_listener(listener);
  FewAnswers server_of_all(server(), 1000);
  attach_tapped();
  fabric.run_for(runtime::second);
  EXPECT_EQ(commands(server_of_all),
            (std::vector{Command::ripp_id, Command::rft_id, Command::ripp_id, Command::rft_id}));
  EXPECT_EQ(listener.count, 2);
  EXPECT_EQ(log.sent(scr), 1U);
}

// No exchange is free: nothing can be registered, and the port is ready all the same: by FARP, once there is one.
TEST_F(RegistrationTest, no_exchange_free_is_ready_unregistered) {
  struct Hog final : fc2::PortListener, fc2::ExchangeUser {
    explicit Hog(fc2::NPort& its_port) : port(its_port) { port.add_listener(*this); }
    void fabric_logged_in() override {}
    void fabric_login_failed() override {}
    void remote_port_logged_in(fc2::RemotePort&) override {
      while (fc2::Exchange* exchange = port.originate({0x010200}, wire::Type::ct, *this)) taken.push_back(exchange);
    }
    void remote_port_login_failed(fc2::RemotePort&) override {}
    void remote_port_logged_out(fc2::RemotePort&) override {}
    void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
    void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
    fc2::NPort& port;
    std::vector<fc2::Exchange*> taken;
  };
  fabric.add_port();
  Hog hog(fabric.port(0));  // hears of the login first
  resolvers.push_back(std::make_unique<farp::Resolver>(fabric.port(0), farp::ResolverConfig{.own_addresses = {ip(0)}}));
  Ready listener;
  resolvers[0]->set_ready_listener(listener);
  attach_tapped();
  fabric.run_for(runtime::second);
  EXPECT_FALSE(hog.taken.empty());
  EXPECT_EQ(listener.count, 1);
  EXPECT_EQ(requests_to_server(), 0U);
  EXPECT_EQ(log.sent(scr), 0U);
  for (fc2::Exchange* exchange : hog.taken) fabric.port(0).release(*exchange);
  fabric.port(0).remove_listener(hog);
}

// The link goes while the login with the server is under way: not ready without a link.
TEST_F(RegistrationTest, link_down_during_login_is_not_ready) {
  build(1);
  server().link_down();
  attach_tapped();
  fabric.run_for(runtime::second);
  fabric.detach(0);
  fabric.run_for(200 * runtime::second);
  EXPECT_EQ(ready[0].count, 0);
}

}  // namespace
}  // namespace farp_test
