#include "tools/fcvi_sim/scenario/pace_loader.hpp"

#include "settings/units.hpp"

namespace sim {
using namespace settings;
namespace {

constexpr Choice<bool> arrivals[] = {{"fixed", false}, {"poisson", true}};
constexpr Range bursts{1, 1'000'000};

std::uint64_t gap_of(runtime::TimeNs time) { return static_cast<std::uint64_t>(time) * PaceSpec::gap_units; }

/// So many nanoseconds, in the units of a gap; in doubles, whose operations are the same on all machines.
std::uint64_t gap_of_rate(const Tree& tree, double amount, std::uint64_t per_second) {
  const double gap = amount * 1e9 * static_cast<double>(PaceSpec::gap_units) / static_cast<double>(per_second);
  if (!(gap >= 1) || gap > static_cast<double>(gap_of(max_gap)))
    fail_expected(tree, "rate", "one that leaves up to 1000 s between messages");
  return static_cast<std::uint64_t>(gap);
}

/// "5000/s": messages; "400MB/s": bytes.
std::uint64_t read_rate(const Tree& tree, std::uint64_t message_bytes, std::uint32_t burst) {
  constexpr std::string_view what = "a rate: messages such as 5000/s, or bytes such as 400MB/s";
  if (tree.kind != Tree::Kind::Scalar) fail_expected(tree, "rate", what);
  const std::string_view text = tree.scalar;
  const auto messages = text.ends_with("/s") ? parse_number(text.substr(0, text.size() - 2)) : std::nullopt;
  const auto bytes = messages || !text.ends_with("B/s") ? std::nullopt : parse_line_rate(text);
  const std::uint64_t per_second = messages.value_or(bytes.value_or(0));
  if (per_second == 0) fail_expected(tree, "rate", what);
  return gap_of_rate(tree, static_cast<double>(messages ? 1 : message_bytes) * burst, per_second);
}

/// Which of the three says it; nullptr: none.
const Tree* given_of(const MapReader& map) {
  const Tree* given = nullptr;
  for (const std::string_view key : {"interval", "rate", "think_time"}) {
    const Tree* const tree = map.find(key);
    if (tree == nullptr) continue;
    if (given != nullptr)
      throw BadInput{tree->where + ": " + std::string(key) + ": expected one of interval, rate and think_time"};
    given = tree;
  }
  return given;
}

}  // namespace

const std::vector<Key>& pace_keys() {
  static const std::vector<Key> keys{
      {"interval", Form::Interval, "open loop: from one message (or burst) to the next"},
      {"rate", Form::Rate, "open loop: messages or bytes a second"},
      {"arrivals",
       Form::Choice,
       "whether all gaps are equal, or exponentially distributed and drawn from the seed",
       false,
       InList::No,
       nullptr,
       {"arrivals", names_in<arrivals>}},
      within({"burst", Form::Count, "so many messages are due at the same time"}, bursts)};
  return keys;
}

void load_pace(const MapReader& map, std::uint64_t message_bytes, PaceSpec& pace) {
  const Tree* const given = given_of(map);
  map.optional("burst", pace.burst, read_number, bursts);
  if (const Tree* tree = map.find("arrivals")) pace.poisson = read_choice(*tree, "arrivals", arrivals);
  if (given == nullptr) {
    if (const Tree* tree = map.find("arrivals"))
      throw BadInput{tree->where + ": arrivals: expected with interval, rate or think_time"};
    if (const Tree* tree = map.find("burst"); tree != nullptr && map.find("reply") == nullptr)
      throw BadInput{tree->where + ": burst: expected with interval, rate, think_time or reply"};
    return;
  }
  pace.loop = given == map.find("think_time") ? PaceSpec::Loop::Closed : PaceSpec::Loop::Open;
  if (given == map.find("rate"))
    pace.gap = read_rate(*given, std::max<std::uint64_t>(message_bytes, 1), pace.burst);
  else if (pace.loop == PaceSpec::Loop::Open)
    pace.gap = gap_of(read_duration(*given, "interval", 1, max_gap));
  else
    pace.gap = gap_of(read_duration(*given, "think_time", 0, max_gap));
}

void load_answer(const MapReader& map, std::uint64_t longest, TransferSpec& transfer) {
  const Tree* const tree = map.find("reply");
  if (tree == nullptr) return;
  const bool noticed = transfer.operation == Operation::Send ||
                       (transfer.operation == Operation::RdmaWrite && transfer.immediate.has_value());
  if (!noticed) fail_expected(*tree, "reply", "operation send, or rdma_write with immediate: what a program notices");
  transfer.reply_bytes =
      static_cast<std::uint32_t>(read_bytes(*tree, "reply", {1, std::min<std::uint64_t>(max_reply_bytes, longest)}));
  if (transfer.pace.loop == PaceSpec::Loop::None) transfer.pace.loop = PaceSpec::Loop::Closed;
}

}  // namespace sim
