// Writes the inputs of n_port and switch: each frame that an honest peer sends while a connection comes, serves and
// goes, all of them behind each other, and one of every ELS and CT request there is.
//
// usage: flood_corpus tests/fuzz/corpus
#include <filesystem>
#include <fstream>

#include "besieged_node.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/made_frame.hpp"
#include "wire/messages.hpp"

namespace {
using support::FloodStep;
using Input = std::vector<std::uint8_t>;

void add_step(Input& input, unsigned bits, const Input& frame) {
  input.push_back(static_cast<std::uint8_t>(bits));
  input.push_back(static_cast<std::uint8_t>(frame.size() >> 8));
  input.push_back(static_cast<std::uint8_t>(frame.size()));
  input.insert(input.end(), frame.begin(), frame.end());
}

Input bytes_of(const support::LoggedFrame& logged) { return support::bytes_of_frame(logged.header, logged.data); }

template <class Message>
Input request_of(wire::RCtl r_ctl, wire::Type type, wire::FcId d_id) {
  const Input payload = support::bytes_of(Message{});
  const std::size_t fill = wire::fill_bytes_for(payload.size());
  wire::FcHeader header = support::request_header(r_ctl, type, d_id, {}, {0x4001});
  header.f_ctl |= static_cast<std::uint32_t>(fill);
  Input bytes = support::bytes_of_frame(header, payload);
  bytes.resize(bytes.size() + fill);
  return bytes;
}

class Corpus {
 public:
  explicit Corpus(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }
  void write(const std::string& name, unsigned first, const Input& steps) {
    std::ofstream file(folder_ / name, std::ios::binary);
    file.put(static_cast<char>(first));
    for (const std::uint8_t byte : steps) file.put(static_cast<char>(byte));
  }

 private:
  const std::filesystem::path folder_;
};

/// A connection comes, a message goes each way, it ends. The log: what the client's port saw.
class Conversation : public support::TwoNodes {
 public:
  explicit Conversation(bool class_2)
      : TwoNodes({.address = {}, .class_2 = class_2}, {.latency_ns = runtime::microsecond, .bytes_per_second = 0},
                 [=](fc2::NPortConfig& config, std::size_t) { config.end_to_end_credit = class_2 ? 6 : 0; }) {
    fabric.detach(0);
    fabric.run_for(runtime::second);
    fabric.attach(0);
    fabric.fabric.tap(client->port, &log);
    fabric.run_for(runtime::second);
    connect(vi::ReliabilityLevel::ReliableDelivery);
    send(*client, *client_vi, *server, *server_vi);
    send(*server, *server_vi, *client, *client_vi);
    disconnect(*server, *server_vi);
    fabric.run_for(runtime::second);
    fabric.port(1).log_out_of_fabric();
    fabric.run_for(runtime::second);
    fabric.fabric.tap(client->port, nullptr);
  }
  void TestBody() override {}
  support::FrameLog log;

 private:
  void send(support::Host& from, vi::Vi& sender, support::Host& to, vi::Vi& receiver) {
    receiver.post_receive(to.descriptor(0, {{support::Host::data, 5000}}), to.handle);
    sender.post_send(from.descriptor(0, {{support::Host::data, 5000}}), from.handle);
    fabric.run_for(runtime::millisecond);
  }
};

void write_conversation(Corpus& corpus, const support::FrameLog& log, bool outbound, unsigned first, unsigned bits) {
  Input all;
  std::size_t number = 0;
  for (const support::LoggedFrame& logged : log.frames()) {
    if (logged.outbound != outbound) continue;
    Input one;
    add_step(one, bits, bytes_of(logged));
    corpus.write("heard_" + std::to_string(first) + "_" + std::to_string(number++), first, one);
    if (logged.data.size() < 1000) all.insert(all.end(), one.begin(), one.end());
  }
  corpus.write("heard_" + std::to_string(first) + "_all", first, all);
}

/// One of every request, in the given topologies; where the sender has no address yet, as such.
void write_requests(Corpus& corpus, const std::vector<unsigned>& firsts, unsigned bits) {
  const auto write = [&](const std::string& name, const Input& frame) {
    for (const unsigned first : firsts) {
      Input input;
      add_step(input, bits | FloodStep::Wait, frame);
      corpus.write(name + "_" + std::to_string(first), first, input);
    }
  };
  wire::for_each_message<wire::ElsRequests>([&]<class Message>(std::type_identity<Message>) {
    write("els_" + std::string(Message::name),
          request_of<Message>(wire::RCtl::els_request, wire::Type::els, wire::well_known::f_port));
  });
  wire::for_each_message<wire::CtRequests>([&]<class Message>(std::type_identity<Message>) {
    write("ct_" + std::string(Message::name),
          request_of<Message>(wire::RCtl::unsolicited_control, wire::Type::ct, wire::well_known::name_server));
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]), 2;
  const std::filesystem::path folder(argv[1]);
  const Conversation in_class_3(false), in_class_2(true);
  Corpus n_port(folder / "n_port"), fabric(folder / "switch");
  constexpr unsigned good = FloodStep::GoodDId | FloodStep::GoodSId;
  write_conversation(n_port, in_class_3.log, false, 0, good | FloodStep::GoodHandle);
  write_conversation(n_port, in_class_3.log, false, 1, 0);
  write_conversation(n_port, in_class_2.log, false, 2, good | FloodStep::GoodExchange | FloodStep::Class2);
  write_requests(n_port, {3, 4, 5}, good);
  write_conversation(fabric, in_class_3.log, true, 0, 0);
  write_conversation(fabric, in_class_3.log, true, 1, FloodStep::GoodSId);
  write_conversation(fabric, in_class_3.log, true, 2, FloodStep::GoodDId);
  write_requests(fabric, {1, 3}, FloodStep::GoodSId);
  for (unsigned first = 0; first < 6; ++first) {
    Input events;
    for (unsigned which = 0; which < 8; ++which) add_step(events, which | 0x80U, {});
    n_port.write("events_" + std::to_string(first), first, events);
    if (first < 4) fabric.write("events_" + std::to_string(first), first, events);
  }
  return 0;
}
