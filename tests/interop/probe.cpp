// Asks another N_Port, that nobody here wrote, the questions that link services have: PLOGI, ECHO, ADISC, RNID; prints
// what it answers, a line each, and checks it against its login. Exit status: 0 all was answered and is sound, 1 not, 2
// usage.
//
//   interop_probe fabric N_PORT_ID      as a port of the local fabric ($FCVI_RUNTIME_DIR); the ID in hexadecimal
//   interop_probe vn2vn INTERFACE       as a VN2VN port; whoever shows itself first is asked. Stays until its input
//   ends
#include <poll.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>

#include "fc2_fabric/drivers/ethernet_name.hpp"
#include "fc2_fabric/drivers/local_fabric_link.hpp"
#include "fc2_fabric/drivers/fabric_core.hpp"
#include "fc2_fabric/fcoe/vn2vn_node.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "wire/els/adisc.hpp"
#include "wire/els/echo.hpp"

namespace {
using runtime::CoreSection;
using namespace std::chrono_literals;
using Payload = std::vector<std::uint8_t>;

constexpr auto patience = 60s;  // ends a probe that hears nothing, no more
constexpr runtime::TimeNs answer_time = 20 * runtime::second;

struct Answer final : fc2::ExchangeUser {
  explicit Answer(fc2::NPort& its_port) : port(its_port) {}
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t> iu) override {
    payload.emplace(iu.begin(), iu.end());
    port.release(exchange);
  }
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure why) override { failure = to_string(why); }
  [[nodiscard]] bool ended() const { return payload || !failure.empty(); }

  fc2::NPort& port;
  std::optional<Payload> payload;
  std::string failure;
};

bool say(bool good, const char* question, const std::string& text) {
  std::printf("%s %s: %s\n", question, good ? "good" : "BAD", text.c_str());
  std::fflush(stdout);
  return good;
}

class Probe final : private fc2::fcoe::Vn2vnListener {
 public:
  explicit Probe(std::uint16_t data_field_bytes)
      : port_(core_.scheduler(), core_.pool(), port_config(data_field_bytes)) {}

  void join_local_fabric() {
    const CoreSection section(core_);
    fc2::drivers::LocalFabricOptions options;
    options.process_name = "interop_probe";
    options.start_service = false;
    link_.emplace(port_, io_, core_, options);
  }
  bool join_vn2vn(const fc2::drivers::EthernetName& name) {
    const CoreSection section(core_);
    auto opened = fc2::drivers::open_ethernet({io_, core_, core_.scheduler(), core_.pool()}, name, {});
    if (opened.port == nullptr) return say(false, "ETHERNET", opened.error);
    ethernet_ = std::move(opened.port);
    fc2::fcoe::Vn2vnListener* const listener = this;
    node_.emplace(core_.scheduler(), core_.pool(), *ethernet_, port_, fc2::fcoe::Vn2vnConfig{}, listener);
    return true;
  }
  ~Probe() {
    const CoreSection section(core_);
    node_.reset();
    link_.reset();
    ethernet_.reset();
  }

  bool online() {
    const bool online = run_until([&] { return port_.online(); });
    return say(online, "ONLINE", to_string(port_.n_port_id()));
  }
  std::optional<wire::FcId> neighbour() {
    if (!run_until([&] { return neighbour_.has_value(); })) return {};
    say(true, "NEIGHBOUR", to_string(neighbour_->id) + " " + to_string(neighbour_->port_name));
    return neighbour_->id;
  }
  bool ask_all(wire::FcId peer) { return log_in(peer) && echo(peer) && adisc(peer) && rnid(peer); }
  /// Goes on answering until standard input ends.
  void stay() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    char byte = 0;
    while (::poll(&input, 1, 0) == 0 || ::read(STDIN_FILENO, &byte, 1) > 0) io_.run_one_for(20ms);
  }

 private:
  static fc2::NPortConfig port_config(std::uint16_t data_field_bytes) {
    fc2::NPortConfig config;
    config.name = "interop_probe";
    config.port_name = {0x3000'0000'0070'0BE1};
    config.node_name = {0x3000'0000'0070'0BE0};
    config.receive_data_field_bytes = data_field_bytes;
    return config;
  }
  void neighbour_appeared(const fc2::fcoe::Vn2vnNeighbour& neighbour) override { neighbour_ = neighbour; }
  void neighbour_gone(const fc2::fcoe::Vn2vnNeighbour&) override {}

  bool run_until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!done() && std::chrono::steady_clock::now() < end) io_.run_one_for(20ms);
    return done();
  }
  /// Empty: no answer, which is said.
  Payload ask(wire::FcId peer, const char* question, const Payload& request) {
    Answer answer(port_);
    {
      const CoreSection section(core_);
      port_.request(peer, wire::RCtl::els_request, wire::Type::els, request, answer, answer_time);
    }
    run_until([&] { return answer.ended(); });
    if (answer.payload) return *answer.payload;
    say(false, question, "no answer: " + answer.failure);
    return {};
  }
  template <class Message>
  Payload ask(wire::FcId peer, const Message& message) {
    Payload request(message.size());
    message.write(request);
    return ask(peer, Message::name.data(), request);
  }

  bool log_in(wire::FcId peer) {
    fc2::RemotePort* remote = nullptr;
    {
      const CoreSection section(core_);
      remote = &port_.remote_port(peer);
      if (!remote->logged_in()) remote->log_in();
    }
    const bool logged_in = run_until([&] { return remote->logged_in(); });
    login_ = remote->peer_parameters();
    return say(logged_in, "PLOGI",
               to_string(login_.port_name) + " " + to_string(login_.node_name) + " " +
                   std::to_string(login_.receive_data_field_size));
  }
  bool echo(wire::FcId peer) {
    wire::els::Echo request;
    for (int i = 0; i < 200; ++i) request.data.push_back(static_cast<std::uint8_t>(i * 7));
    const auto answer = wire::els::Echo::parse(ask(peer, request));
    const bool same = answer && answer->command == wire::els::Command::ls_acc && answer->data == request.data;
    return say(same, "ECHO", same ? "200 bytes as they were sent" : "not what was sent");
  }
  bool adisc(wire::FcId peer) {
    wire::els::Adisc request;
    request.port_name = port_.config().port_name;
    request.node_name = port_.config().node_name;
    request.n_port_id = port_.n_port_id();
    const auto answer = wire::els::Adisc::parse(ask(peer, request));
    const bool good = answer && answer->command == wire::els::Command::ls_acc &&
                      answer->port_name == login_.port_name && answer->node_name == login_.node_name &&
                      answer->n_port_id == peer;
    return say(good, "ADISC", answer ? answer->to_string() : "not understood");
  }
  // FC-LS: RNID with the general topology format asked for; the answer has a common part of 16 bytes at
  // least: the names.
  bool rnid(wire::FcId peer) {
    constexpr std::size_t names_at = 8, common_bytes = 16;
    const Payload answer = ask(peer, "RNID", {0x78, 0, 0, 0, 0xDF, 0, 0, 0});
    if (answer.size() < names_at + common_bytes) return say(false, "RNID", std::to_string(answer.size()) + " bytes");
    const wire::Wwn port_name{wire::load_big<8>(answer.data() + names_at)},
        node_name{wire::load_big<8>(answer.data() + names_at + 8)};
    const bool good = answer[0] == static_cast<std::uint8_t>(wire::els::Command::ls_acc) && answer[5] == common_bytes &&
                      port_name == login_.port_name && node_name == login_.node_name;
    return say(good, "RNID", to_string(port_name) + " " + to_string(node_name));
  }

  boost::asio::io_context io_{1};
  fc2::drivers::FabricCore core_{io_};
  std::unique_ptr<fc2::fcoe::EthernetPort> ethernet_;
  fc2::NPort port_;
  std::optional<fc2::drivers::LocalFabricLink> link_;
  std::optional<fc2::fcoe::Vn2vnNode> node_;
  std::optional<fc2::fcoe::Vn2vnNeighbour> neighbour_;
  wire::els::Login login_;
};

bool probe_fabric(wire::FcId peer) {
  Probe probe(fc2::max_data_field_bytes);
  probe.join_local_fabric();
  return probe.online() && probe.ask_all(peer);
}

bool probe_vn2vn(const fc2::drivers::EthernetName& name) {
  Probe probe(fc2::fcoe::data_field_bytes(fc2::drivers::udp_mtu));
  if (!probe.join_vn2vn(name) || !probe.online()) return false;
  const auto peer = probe.neighbour();
  if (!peer) return say(false, "NEIGHBOUR", "none");
  const bool good = probe.ask_all(*peer);
  probe.stay();
  return good;
}

int usage() {
  std::fputs("usage: interop_probe fabric N_PORT_ID | vn2vn INTERFACE\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return usage();
  const std::string_view how = argv[1], what = argv[2];
  if (how == "vn2vn") {
    const auto name = fc2::drivers::EthernetName::parse(what);
    return name ? (probe_vn2vn(*name) ? 0 : 1) : usage();
  }
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(what.data(), what.data() + what.size(), id, 16);
  if (how != "fabric" || error != std::errc{} || end != what.data() + what.size()) return usage();
  return probe_fabric(wire::FcId{id}) ? 0 : 1;
}
