// iscsi-warp: an iSCSI initiator, and a target over a file, whose connections are WARP's or plain TCP (Appendix B of
// draft-jpink-warp-summary-00).
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "tools/iscsi_warp/initiator.hpp"
#include "tools/iscsi_warp/target.hpp"

namespace {
using namespace iscsi;

constexpr const char* usage = R"(usage: iscsi-warp target --file FILE [OPTION]...
       iscsi-warp read|write --file FILE [OPTION]...

The target serves FILE as a disk with blocks of 512 octets. read writes blocks of the disk into FILE, write writes FILE
to the disk. Run it under iwarp-run, where there is no RDMA adapter.

  --address A         of the target (default 127.0.0.1; the target's own: all)
  --warp-port P       where it takes WARP (3261); --no-warp: it does not
  --tcp-port P        where it takes plain iSCSI (3260); --no-plain: it does not
of read and write:
  --connections LIST  of the session, in the order of LIST: warp, plain, and auto, which tries WARP first and falls
                      back to plain TCP (default auto; at most 2). Commands go over them in turn
  --block N           the first block (0)
  --blocks N          how many are read (to the end of the disk)
  --immediate N       octets that go with a WRITE (4096, at most 8192)
  --wrong-tag         names memory that is not lent: the connection must end
)";

[[noreturn]] void leave(int status, const std::string& why) {
  std::cerr << "iscsi-warp: " << why << '\n';
  std::exit(status);
}

struct Options {
  std::string what, file, address, warp_port = "3261", tcp_port = "3260", connections = "auto";
  bool warp = true, plain = true, wrong_tag = false;
  std::uint32_t block = 0, blocks = 0;
  std::size_t immediate = 4096;
};

Options read_options(const std::vector<std::string>& words) {
  Options options;
  const auto value = [&](std::size_t& i) {
    if (i + 1 == words.size()) leave(2, words[i] + ": its value is missing");
    return words[++i];
  };
  const auto number = [&](std::size_t& i) {
    const std::string& name = words[i];
    const std::string text = value(i);
    std::size_t used = 0;
    unsigned long found = 0;
    try {
      found = std::stoul(text, &used);
    } catch (const std::exception&) {}
    if (used != text.size() || text.empty() || found > 0xFFFF'FFFF) leave(2, name + ": not a number: " + text);
    return static_cast<std::uint32_t>(found);
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--help") std::exit((std::fputs(usage, stdout), 0));
    if (word == "--file")
      options.file = value(i);
    else if (word == "--address")
      options.address = value(i);
    else if (word == "--warp-port")
      options.warp_port = value(i);
    else if (word == "--tcp-port")
      options.tcp_port = value(i);
    else if (word == "--connections")
      options.connections = value(i);
    else if (word == "--no-warp")
      options.warp = false;
    else if (word == "--no-plain")
      options.plain = false;
    else if (word == "--wrong-tag")
      options.wrong_tag = true;
    else if (word == "--block")
      options.block = number(i);
    else if (word == "--blocks")
      options.blocks = number(i);
    else if (word == "--immediate")
      options.immediate = number(i);
    else if (options.what.empty() && word[0] != '-')
      options.what = word;
    else
      leave(2, "what is " + word + "? See --help");
  }
  if (options.what != "target" && options.what != "read" && options.what != "write") leave(2, "see --help");
  if (options.file.empty()) leave(2, "--file is missing");
  return options;
}

// --- target --------------------------------------------------------------------------------------------------------

void serve_one(Disk& disk, Sessions& sessions, std::unique_ptr<Transport> transport) {
  const std::string name(transport->name());
  try {
    TargetConnection(disk, sessions, std::move(transport)).serve();
    std::printf("a connection over %s: logged out\n", name.c_str());
  } catch (const std::exception& why) {
    std::printf("a connection over %s: %s\n", name.c_str(), why.what());
  }
  std::fflush(stdout);
}

/// Until the process ends.
void serve_all(Disk& disk, Sessions& sessions, Acceptor& acceptor) {
  for (;;) {
    try {
      std::thread(serve_one, std::ref(disk), std::ref(sessions), acceptor.accept()).detach();
    } catch (const std::exception& why) {  // no descriptor, thread or memory for it just now; the others go on
      std::cerr << "iscsi-warp: " << why.what() << '\n';
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

int serve(const Options& options) {
  Disk disk(options.file);
  Sessions sessions;
  std::vector<std::unique_ptr<Acceptor>> acceptors;
  if (options.warp) acceptors.push_back(listen_warp({options.address, options.warp_port}));
  if (options.plain) acceptors.push_back(listen_plain({options.address, options.tcp_port}));
  if (acceptors.empty()) leave(2, "--no-warp and --no-plain: nothing is left");
  std::printf("%u blocks\n", disk.blocks());
  std::fflush(stdout);
  std::vector<std::thread> threads;
  for (const auto& acceptor : acceptors)
    threads.emplace_back(serve_all, std::ref(disk), std::ref(sessions), std::ref(*acceptor));
  for (std::thread& thread : threads) thread.join();
  return 0;
}

// --- initiator -----------------------------------------------------------------------------------------------------

std::unique_ptr<Transport> connect(const std::string& how, const Options& options) {
  const std::string host = options.address.empty() ? "127.0.0.1" : options.address;
  if (how == "plain") return connect_plain({host, options.tcp_port});
  if (how != "warp" && how != "auto") leave(2, "--connections: what is " + how + "?");
  try {
    return connect_warp({host, options.warp_port});
  } catch (const ConnectionEnded& why) {
    if (how == "warp") throw;
    std::printf("no WARP (%s): plain TCP\n", why.what());  // B.2: MAY fall back
  }
  return connect_plain({host, options.tcp_port});
}

void open_session(Session& session, const Options& options) {
  std::string list = options.connections + ",";
  for (std::size_t comma = list.find(','); comma != std::string::npos; comma = list.find(',')) {
    auto transport = connect(list.substr(0, comma), options);
    const std::string name(transport->name());
    session.add(std::move(transport));
    std::printf("connection %zu: %s\n", session.connections(), name.c_str());
    list.erase(0, comma + 1);
  }
}

void read_blocks(Session& session, const Options& options) {
  const std::uint32_t all = session.blocks();
  if (options.block > all) leave(1, "the disk has " + std::to_string(all) + " blocks");
  const std::uint32_t count = options.blocks == 0 ? all - options.block : options.blocks;
  if (options.wrong_tag) session.use_wrong_tags();
  std::vector<std::uint8_t> data(std::size_t{count} * block_octets);
  session.read(options.block, data);
  std::ofstream file(options.file, std::ios::binary);
  if (!file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size())))
    leave(1, options.file + ": cannot be written");
  std::printf("%u blocks read\n", count);
}

void write_blocks(Session& session, const Options& options) {
  std::ifstream file(options.file, std::ios::binary);
  if (!file) leave(1, options.file + ": cannot be read");
  std::vector<std::uint8_t> data((std::istreambuf_iterator<char>(file)), {});
  data.resize((data.size() + block_octets - 1) / block_octets * block_octets);
  if (options.wrong_tag) session.use_wrong_tags();
  session.write(options.block, data, options.immediate);
  std::printf("%zu blocks written\n", data.size() / block_octets);
}

int initiate(const Options& options) {
  Session session;
  open_session(session, options);
  options.what == "read" ? read_blocks(session, options) : write_blocks(session, options);
  session.log_out();
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const Options options = read_options({words + 1, words + count});
  try {
    return options.what == "target" ? serve(options) : initiate(options);
  } catch (const std::exception& why) {
    leave(1, why.what());
  }
}
