#include "tools/fcvi_sim/run/segment_check.hpp"

#include <map>

#include "settings/units.hpp"

namespace sim {
namespace {

std::string text_of(const Scenario& scenario, const SeenSegment& segment) {
  return settings::format_duration(segment.at) + " " + scenario.ports[segment.from].name + " -> " +
         scenario.ports[segment.to].name + " " + std::string(segment.name);
}

/// A number of the scenario and a TCP connection belong to each other, or not: the first time decides.
class Numbering {
 public:
  bool fits(std::uint64_t number, std::size_t stream) {
    return by_number_.try_emplace(number, stream).first->second == stream &&
           by_stream_.try_emplace(stream, number).first->second == number;
  }

 private:
  std::map<std::uint64_t, std::size_t> by_number_;
  std::map<std::size_t, std::uint64_t> by_stream_;
};

class SegmentComparison {
 public:
  explicit SegmentComparison(const Scenario& scenario) : scenario_(scenario) {}
  std::optional<WireDifference> difference(const WireExpectation& expected, const SeenSegment& got);

 private:
  [[nodiscard]] std::optional<WireDifference> in_fields(const WireExpectation& expected, const SeenSegment& got) const;
  const Scenario& scenario_;
  Numbering streams_;
};

std::optional<WireDifference> SegmentComparison::difference(const WireExpectation& expected, const SeenSegment& got) {
  const auto port = [&](std::size_t at) { return scenario_.ports[at].name; };
  if (expected.message != got.name) return WireDifference{"message", expected.message, std::string(got.name)};
  if (expected.from && *expected.from != got.from)
    return WireDifference{"sender", port(*expected.from), port(got.from)};
  if (expected.to && *expected.to != got.to) return WireDifference{"receiver", port(*expected.to), port(got.to)};
  if (expected.connection && !streams_.fits(*expected.connection, got.stream))
    return WireDifference{"TCP connection", "number " + std::to_string(*expected.connection),
                          std::to_string(got.stream)};
  return in_fields(expected, got);
}

std::optional<WireDifference> SegmentComparison::in_fields(const WireExpectation& expected,
                                                           const SeenSegment& got) const {
  for (const SegmentFieldRange& range : expected.segment_fields) {
    if (range.holds(got.form, got.octets)) continue;
    const auto value = range.field->read(got.form, got.octets);
    return WireDifference{std::string(range.field->name), to_string(Bound{range.min, range.max}),
                          value ? settings::format_count(*value) : "no such field"};
  }
  if (expected.payload_bytes && *expected.payload_bytes != got.payload_bytes)
    return WireDifference{"bytes of payload", settings::format_count(*expected.payload_bytes),
                          settings::format_count(got.payload_bytes)};
  if (!expected.at.holds(got.at))
    return WireDifference{"time", to_string(expected.at), settings::format_duration(got.at)};
  return std::nullopt;
}

}  // namespace

std::optional<WireDifference> compare_segments(const Scenario& scenario, const std::vector<SeenSegment>& seen) {
  const std::vector<WireExpectation>& wanted = *scenario.expectations.wire;
  const std::size_t common = std::min(wanted.size(), seen.size());
  SegmentComparison comparison(scenario);
  for (std::size_t i = 0; i < common; ++i) {
    auto difference = comparison.difference(wanted[i], seen[i]);
    if (!difference) continue;
    difference->what = "wire, segment " + std::to_string(i + 1) + " (" + wanted[i].where + "): " + difference->what;
    difference->got += " in " + text_of(scenario, seen[i]);
    return difference;
  }
  const std::string after = "wire, after " + std::to_string(common) + " segments";
  if (wanted.size() > common)
    return WireDifference{after, wanted[common].message + " (" + wanted[common].where + ")", "no more"};
  if (seen.size() > common) return WireDifference{after, "no more", text_of(scenario, seen[common])};
  return std::nullopt;
}

}  // namespace sim
