#include "tools/fcvi_sim/share/messages.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "tools/fcvi_sim/share/packing.hpp"

namespace sim::share {
namespace {

void pack(Packer& to, const Place& place) { to << place.host << place.machine << place.pid; }
Place place_of(Unpacker& from) {
  Place place{.host = from.text(), .machine = from.text()};
  place.pid = from.number();
  return place;
}

void pack(Packer& to, const Hello& hello) {
  pack(to, hello.place);
  to << hello.jobs << hello.identity << hello.wrong;
}
void pack(Packer& to, const Results& results) {
  for (const Result& result : results.all) to << result.piece << result.text << result.death << result.note;
}
void pack(Packer&, const Alive&) {}
void pack(Packer& to, const Welcome& welcome) { pack(to, welcome.place); }
void pack(Packer& to, const Pieces& pieces) { to << pieces.first << pieces.count; }
void pack(Packer& to, const End& end) { to << std::uint64_t{end.somebody_died}; }
void pack(Packer&, const Bye&) {}

Said hello_of(Unpacker& from) {
  Hello hello{.place = place_of(from)};
  hello.jobs = from.number();
  hello.identity = from.text();
  hello.wrong = from.text();
  return hello;
}
Said results_of(Unpacker& from) {
  Results results;
  while (from.is_good() && !from.at_end()) {
    Result result{.piece = from.number()};
    result.text = from.text();
    result.death = from.text();
    result.note = from.text();
    results.all.push_back(std::move(result));
  }
  return results;
}
Said pieces_of(Unpacker& from) {
  Pieces pieces{.first = from.number()};
  pieces.count = from.number();
  return pieces;
}

/// By its position in the variant.
Said said_of(std::uint64_t kind, Unpacker& from) {
  switch (kind) {
    case 0: return hello_of(from);
    case 1: return results_of(from);
    case 3: return Welcome{place_of(from)};
    case 4: return pieces_of(from);
    case 5: return End{from.number() != 0};
    case 6: return Bye{};
    default: return Alive{};
  }
}

}  // namespace

Place own_place() {
  Place place{.pid = static_cast<std::uint64_t>(::getpid())};
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) == 0) place.host = name;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, place.machine);
  struct stat name_space {};
  if (::stat("/proc/self/ns/pid", &name_space) == 0) place.machine += " " + std::to_string(name_space.st_ino);
  return place;
}

void say(ranks::Ranks& ranks, int to, const Said& said) {
  Packer packer;
  packer << std::uint64_t{said.index()};
  std::visit([&](const auto& one) { pack(packer, one); }, said);
  const std::string& text = packer.text();
  ranks.send(to, ranks::Channel::Share, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

std::optional<Heard> hear(ranks::Ranks& ranks) {
  const auto message = ranks.take(ranks::Channel::Share);
  if (!message) return std::nullopt;
  Unpacker unpacker({reinterpret_cast<const char*>(message->bytes.data()), message->bytes.size()});
  const std::uint64_t kind = unpacker.number();
  Said said = said_of(kind, unpacker);
  if (!unpacker.is_good()) said = Alive{};
  return Heard{message->from, std::move(said)};
}

}  // namespace sim::share
