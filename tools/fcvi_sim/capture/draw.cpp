#include "tools/fcvi_sim/capture/draw.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <tuple>

#include "tools/fcvi_sim/capture/comment.hpp"
#include "tools/fcvi_sim/capture/copies.hpp"
#include "tools/fcvi_sim/capture/filters.hpp"
#include "tools/fcvi_sim/capture/lanes.hpp"
#include "tools/fcvi_sim/capture/packet_rows.hpp"
#include "tools/fcvi_sim/capture/printer.hpp"
#include "tools/fcvi_sim/capture/twice.hpp"
#include "tools/fcvi_sim/capture/words.hpp"

namespace sim::capture {
namespace {

/// One pass over a capture.
class Pass {
 public:
  using Visit = std::function<void(const Seen&)>;
  explicit Pass(const DrawOptions& options) : options_(options) {}
  /// `each` hears of all frames, `chosen` of those that are drawn, after `each` did. Returns what is wrong.
  std::string run(const std::string& path, const Visit& each, const Visit& chosen);
  [[nodiscard]] std::string warning() const { return filters_.warning(); }
  [[nodiscard]] const std::vector<Interface>& interfaces() const { return reading_.interfaces(); }

 private:
  [[nodiscard]] bool is_chosen(const Seen& seen);
  const DrawOptions& options_;
  Filters filters_;
  Reading reading_;
};

bool Pass::is_chosen(const Seen& seen) {
  if (!filters_.take(seen, reading_.interfaces())) return false;
  if (!options_.without_login) return true;
  if (seen.tcp) return !seen.tcp->syn;
  return seen.frame.header && (seen.frame.is_fc_vi() || seen.frame.header->r_ctl >= wire::RCtl::nop);
}

std::string Pass::run(const std::string& path, const Visit& each, const Visit& chosen) {
  FollowOption follow;
  if (std::string error = parse_follow(options_.follow, follow); !error.empty()) return error;
  if (follow.what != Follow::everything && follow.index == 0)
    return "--follow: expected a number; fcvi-sim decode --follow " + options_.follow.front() + " which lists them";
  if (std::string error = filters_.set(options_.filters); !error.empty()) return error;
  if (std::string error = reading_.open(path); !error.empty()) return error;
  Follower follower(follow, chosen);
  for (Seen seen; reading_.next(seen);) {
    each(seen);
    if (is_chosen(seen)) follower.offer(seen);
  }
  return reading_.error().empty() ? unknown_number(follow, reading_) : reading_.error();
}

/// Puts frames into the diagram, each once.
class Drawer {
 public:
  Drawer(Ladder& ladder, const Lanes& lanes) : ladder_(ladder), lanes_(lanes) {}
  void frame(const Seen& seen);

 private:
  void packet(const Seen& seen, const TcpPacket& packet);
  [[nodiscard]] bool begins_sequence(const Seen& seen);
  void note_faults(const Seen& seen);
  Ladder& ladder_;
  const Lanes& lanes_;
  Copies drawn_;
  std::set<std::string> names_;  // that gaps of the ladder count by
  std::map<std::tuple<std::uint32_t, std::uint16_t, std::uint8_t, bool>, bool> open_;  // Sequences under way
};

/// By SOF; where the capture has none, a Sequence begins with the first frame of its SEQ_ID behind the end of the one
/// before.
bool Drawer::begins_sequence(const Seen& seen) {
  const wire::FcHeader& header = *seen.frame.header;
  if (seen.frame.sof) return *seen.frame.sof != wire::Sof::n3 && *seen.frame.sof != wire::Sof::n2;
  bool& open = open_[{header.s_id.value, header.ox_id.value, header.seq_id.value, seen.frame.by_responder()}];
  const bool begins = !open;
  open = !header.has(wire::f_ctl::end_sequence);
  return begins;
}

/// What comments say.
void Drawer::note_faults(const Seen& seen) {
  for (const std::string& comment : seen.packet.comments)
    ladder_.fault(*seen.frame.header, printable(words_of(comment)), told_by(comment) == Tells::lost);
}

void Drawer::packet(const Seen& seen, const TcpPacket& packet) {
  const auto lanes = lanes_.lanes_of(packet);
  if (!lanes) return;
  for (auto& [row, name] : rows_of(seen, packet)) {
    std::tie(row.from, row.to) = *lanes;
    const std::string signature = std::to_string(packet.connection) + (packet.by_connector ? " > " : " < ") + name +
                                  " " + std::to_string(row.bytes);
    const std::size_t drawn = ladder_.arrow(row, signature, names_.insert(name).first->c_str());
    for (const std::string& comment : seen.packet.comments) ladder_.note(drawn, printable(words_of(comment)));
  }
}

void Drawer::frame(const Seen& seen) {
  if (seen.tcp) return packet(seen, *seen.tcp);
  const auto ends = lanes_.ends_of(seen);
  if (!ends) return;
  const bool drawn = drawn_.row_of(seen).has_value();
  if (!drawn) drawn_.add(seen, 0);
  if (seen.frame.fip) {
    if (!drawn) ladder_.message(seen.packet.at, ends->from, ends->to, fip_name(*seen.frame.fip));
    return;
  }
  if (drawn) return note_faults(seen);
  wire::FcHeader header = *seen.frame.header;
  header.s_id = ends->from;
  const bool of_service = wire::is_of_fabric(ends->from);
  const SeenFrame shown{.at = seen.packet.at,
                        .port = ladder_.port_of(of_service ? ends->to : ends->from),
                        .outbound = !of_service,
                        .first = begins_sequence(seen),
                        .last = header.has(wire::f_ctl::end_sequence)};
  ladder_.frame(shown, header, seen.frame.fc.subspan(wire::FcHeader::size()));
  note_faults(seen);
}

}  // namespace

DrawResult draw(const DrawOptions& options) {
  const Twice capture(options.path);
  Lanes lanes;
  Time start = 0;
  bool begun = false;
  Pass first(options), second(options);
  const auto learn = [&](const Seen& seen) { lanes.learn(seen); };
  const auto use = [&](const Seen& seen) {
    if (!std::exchange(begun, true)) start = seen.packet.at - seen.since_first;
    lanes.use(seen);
  };
  const std::string broken = capture.told_as(first.run(capture.path(), learn, use));
  if (!begun && !broken.empty()) return {{}, broken, {}};
  Ladder ladder = lanes.make(first.interfaces());
  if (ladder.lanes().empty())
    return {{}, broken.empty() ? capture.told_as(capture.path() + ": no frame to draw") : broken, first.warning()};
  Drawer drawer(ladder, lanes);
  const auto nothing = [](const Seen&) {};
  static_cast<void>(second.run(capture.path(), nothing, [&](const Seen& seen) { drawer.frame(seen); }));
  const std::string title =
      options.path == "-" ? "capture" : printable(std::filesystem::path(options.path).filename().string());
  return {options.as_text ? to_text(ladder, title, start, options.columns) : to_svg(ladder, title, start), broken,
          second.warning()};
}

}  // namespace sim::capture
