#include "tools/fcvi_sim/run/wire_check.hpp"

#include <algorithm>
#include <map>

#include "settings/units.hpp"

namespace sim {
namespace {

using Key = std::uint64_t;

std::string flags_text(const std::vector<std::string>& flags) {
  std::string text = "[";
  for (const std::string& flag : flags) text.append(text.size() == 1 ? "" : " ").append(flag);
  return text + "]";
}

std::string reason_text(const std::optional<wire::fcvi::Reason>& reason) {
  return reason ? std::string(to_string(*reason)) : "no reason";
}

std::string port_text(const Scenario& scenario, std::optional<std::size_t> port) {
  return port ? scenario.ports[*port].name : "the fabric";
}

/// Exchanges by originator and OX_ID, which come again: what begins an exchange tells them apart.
class Exchanges {
 public:
  Key key_of(const faults::FrameFacts& facts) {
    const wire::FcHeader& header = facts.header;
    const bool responder = header.has(wire::f_ctl::exchange_responder);
    const wire::FcId originator = responder ? header.d_id : header.s_id;
    const Key key = Key{originator.value} << 16 | header.ox_id.value;
    Key& number = numbers_[key];
    const bool begins = facts.first && !responder && header.has(wire::f_ctl::first_sequence);
    if (begins && header.type != wire::Type::bls) ++number;
    return key << 16 | number;
  }

 private:
  std::map<Key, Key> numbers_;
};

/// A number of the scenario and an id of the wire belong to each other, or not: the first time decides.
class Pairing {
 public:
  bool fits(std::uint64_t number, Key key) {
    const auto by_number = numbers_.try_emplace(number, key).first;
    const auto by_key = keys_.try_emplace(key, number).first;
    return by_number->second == key && by_key->second == number;
  }

 private:
  std::map<std::uint64_t, Key> numbers_;
  std::map<Key, std::uint64_t> keys_;
};

class Comparison {
 public:
  Comparison(const Scenario& scenario, const std::vector<WireIu>& seen) : scenario_(scenario), seen_(seen) {}
  std::optional<WireDifference> run();

 private:
  bool same(const WireExpectation& expected, const WireIu& got);
  bool same_ids(const WireExpectation& expected, const WireIu& got);
  bool same_content(const WireExpectation& expected, const WireIu& got);
  bool expect(bool held, std::string what, std::string expected, std::string got) {
    if (!held && !difference_) difference_ = {std::move(what), std::move(expected), std::move(got)};
    return held;
  }

  const Scenario& scenario_;
  const std::vector<WireIu>& seen_;
  Exchanges known_exchanges_;
  Key exchange_ = 0;  // of the IU that is looked at
  Pairing exchanges_, connections_;
  std::optional<WireDifference> difference_;
};

bool Comparison::same_content(const WireExpectation& expected, const WireIu& got) {
  const faults::FrameFacts& facts = got.facts;
  if (!expect(expected.message == facts.message, "message", expected.message, std::string(facts.message))) return false;
  if (expected.from && !expect(got.from == *expected.from, "sender", port_text(scenario_, expected.from),
                               port_text(scenario_, got.from)))
    return false;
  if (expected.to &&
      !expect(got.to == expected.to, "receiver", port_text(scenario_, expected.to), port_text(scenario_, got.to)))
    return false;
  if (expected.flags) {
    std::vector<std::string> wanted = *expected.flags, found = facts.flags();
    std::sort(wanted.begin(), wanted.end());
    std::sort(found.begin(), found.end());
    if (!expect(wanted == found, "flags", flags_text(wanted), flags_text(found))) return false;
  }
  if (expected.reason &&
      !expect(facts.reason() == expected.reason, "reason", reason_text(expected.reason), reason_text(facts.reason())))
    return false;
  for (const faults::FieldRange& range : expected.fields) {
    const auto value = range.field->read(got.bytes);
    if (!expect(range.holds(got.bytes), std::string(range.field->name), to_string(Bound{range.min, range.max}),
                value ? settings::format_count(*value) : "no such field"))
      return false;
  }
  return true;
}

bool Comparison::same_ids(const WireExpectation& expected, const WireIu& got) {
  const faults::FrameFacts& facts = got.facts;
  if (expected.exchange &&
      !expect(exchanges_.fits(*expected.exchange, exchange_), "exchange",
              "number " + std::to_string(*expected.exchange), "OX_ID " + to_string(facts.header.ox_id)))
    return false;
  if (!expected.connection) return true;
  if (!expect(facts.device_header.has_value(), "FCVI_CONNECTION_ID", "one", "none")) return false;
  const std::uint32_t id = facts.device_header->tot_len_or_connection_id;
  return expect(connections_.fits(*expected.connection, id), "FCVI_CONNECTION_ID",
                "number " + std::to_string(*expected.connection), std::to_string(id));
}

bool Comparison::same(const WireExpectation& expected, const WireIu& got) {
  if (!same_content(expected, got) || !same_ids(expected, got)) return false;
  const auto flag = [&](const std::optional<bool>& wanted, bool found, const char* what) {
    return !wanted || expect(*wanted == found, what, *wanted ? "yes" : "no", found ? "yes" : "no");
  };
  const bool ends = (got.last_f_ctl & wire::f_ctl::last_sequence) != 0,
             gives = (got.last_f_ctl & wire::f_ctl::sequence_initiative) != 0;
  return flag(expected.ends_exchange, ends, "Last_Sequence") &&
         flag(expected.gives_initiative, gives, "Sequence Initiative") && flag(expected.lost, got.lost, "lost") &&
         (!expected.payload_bytes ||
          expect(*expected.payload_bytes == got.payload_bytes, "bytes of payload",
                 settings::format_count(*expected.payload_bytes), settings::format_count(got.payload_bytes))) &&
         expect(expected.at.holds(got.at), "time", to_string(expected.at), settings::format_duration(got.at));
}

std::optional<WireDifference> Comparison::run() {
  const std::vector<WireExpectation>& wanted = *scenario_.expectations.wire;
  const std::size_t common = std::min(wanted.size(), seen_.size());
  for (std::size_t i = 0; i < common; ++i) {
    exchange_ = known_exchanges_.key_of(seen_[i].facts);
    if (same(wanted[i], seen_[i])) continue;
    difference_->what = "wire, IU " + std::to_string(i + 1) + " (" + wanted[i].where + "): " + difference_->what;
    difference_->got += " in " + describe_iu(scenario_, seen_[i]);
    return difference_;
  }
  const std::string after = "wire, after " + std::to_string(common) + " IUs";
  if (wanted.size() > common)
    return WireDifference{after, wanted[common].message + " (" + wanted[common].where + ")", "no more"};
  if (seen_.size() > common) return WireDifference{after, "no more", describe_iu(scenario_, seen_[common])};
  return std::nullopt;
}

}  // namespace

bool counts_on_wire(const Expectations& expectations, const faults::FrameFacts& facts,
                    std::span<const std::uint8_t> bytes) {
  const std::vector<WireMessage>& messages = expectations.wire_messages;
  if (!messages.empty())
    return std::any_of(messages.begin(), messages.end(), [&](const WireMessage& wanted) {
      const auto holds = [&](const faults::FieldRange& range) { return range.holds(bytes); };
      return wanted.message == facts.message && std::all_of(wanted.fields.begin(), wanted.fields.end(), holds);
    });
  return facts.header.type == wire::Type::fc_vi || facts.header.type == wire::Type::bls;
}

std::optional<WireDifference> compare_wire(const Scenario& scenario, const std::vector<WireIu>& seen) {
  return Comparison(scenario, seen).run();
}

std::string describe_iu(const Scenario& scenario, const WireIu& iu) {
  std::string text = settings::format_duration(iu.at) + " " + port_text(scenario, iu.from) + " -> " +
                     port_text(scenario, iu.to) + " " + std::string(iu.facts.message);
  const std::vector<std::string> flags = iu.facts.flags();
  if (!flags.empty()) text.append(" ").append(flags_text(flags));
  if (const auto reason = iu.facts.reason()) text.append(" ").append(to_string(*reason));
  return iu.lost ? text + ", lost" : text;
}

}  // namespace sim
