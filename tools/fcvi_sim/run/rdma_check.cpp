#include "tools/fcvi_sim/run/rdma_check.hpp"

#include <algorithm>

#include "settings/units.hpp"
#include "wire/text.hpp"

namespace sim {
using settings::format_count;
using settings::format_duration;
using wire::rdmap::Cause;

std::string cause_text(const Cause& cause) {
  return to_string(cause) + " (" + std::to_string(static_cast<int>(cause.layer)) + ", " + std::to_string(cause.type) +
         ", " + wire::text::hex_h(cause.code, 2) + ")";
}

namespace {

std::string error_text(const std::optional<Cause>& cause) { return cause ? cause_text(*cause) : "no error"; }
std::string_view name_of(Side side) { return side == Side::Client ? "client" : "server"; }

class RdmaChecker {
 public:
  RdmaChecker(const std::string& name, const RdmaSpec& spec, const RdmaResult& got, const ExpectText& expect)
      : name_(name), spec_(spec), got_(got), expect_(expect) {}
  void check();

 private:
  void start(Side side);
  void errors(Side side);
  void operation(std::size_t index);
  void placement(const std::string& what, const RdmaOperationSpec& spec, const RdmaOperationResult& got);
  void completions(Side side);
  [[nodiscard]] bool fits(const RdmaCompletionExpectation& wanted, const SeenRdmaCompletion& got) const;
  [[nodiscard]] std::string text_of(const SeenRdmaCompletion& got) const;
  [[nodiscard]] std::string text_of(const RdmaCompletionExpectation& wanted) const;
  [[nodiscard]] std::string of(Side side, std::string_view what) const {
    return name_ + ": " + std::string(name_of(side)) + "'s " + std::string(what);
  }

  const std::string& name_;
  const RdmaSpec& spec_;
  const RdmaResult& got_;
  const ExpectText& expect_;
};

void RdmaChecker::start(Side side) {
  const RdmaEndResult& end = got_.ends.of(side);
  const std::string& wanted = spec_.expect.start.of(side);
  expect_(end.start == wanted, of(side, "start-up"), wanted, end.start);
  if (const std::string& data = spec_.expect.private_data.of(side); !data.empty())
    expect_(end.private_data == data, of(side, "private data"), data, end.private_data);
  const RdmaEnding ending = spec_.expect.ending.of(side);
  expect_(end.ending == ending, of(side, "end"), to_string(ending), to_string(end.ending));
}

/// What this end found, and what the other one told it.
void RdmaChecker::errors(Side side) {
  std::optional<Cause> found, told;
  for (const RdmaTerminateExpectation& wanted : spec_.expect.terminates) {
    const Cause cause{static_cast<wire::rdmap::Layer>(wanted.layer), wanted.type, wanted.code};
    if (wanted.by == side)
      found = cause;
    else if (wanted.arrives)
      told = cause;
  }
  const RdmaEndResult& end = got_.ends.of(side);
  expect_(end.found == found, of(side, "error"), error_text(found), error_text(end.found));
  expect_(end.told == told, of(side, "Terminate that came"), error_text(told), error_text(end.told));
}

void RdmaChecker::placement(const std::string& what, const RdmaOperationSpec& spec, const RdmaOperationResult& got) {
  if (!spec.to || spec.size_bytes == 0 || spec.placed == RdmaPlaced::Any) return;
  if (spec.placed == RdmaPlaced::Yes)
    expect_(got.begun != 0 && got.all_equal, what + ": data", "placed", got.all_equal ? "placed" : "other octets");
  else
    expect_(!got.any_changed, what + ": data", "nothing placed", got.any_changed ? "changed octets" : "nothing placed");
}

void RdmaChecker::operation(std::size_t index) {
  const RdmaOperationSpec& spec = spec_.operations[index];
  const RdmaOperationResult& got = got_.operations[index];
  if (ends_stream(spec.action) || spec.action == RdmaAction::Wait) return;
  const std::string what =
      name_ + ", operation " + std::to_string(index) + " (" + std::string(to_string(spec.action)) + ")";
  const std::string wanted = format_count(spec.repeat) + " " + std::string(to_string(spec.outcome));
  std::string seen = format_count(got.ended) + " " + std::string(to_string(spec.outcome));
  if (got.other) seen.append(", then ").append(to_string(*got.other));
  expect_(got.ended == spec.repeat, what, wanted, seen);
  if (moves_data(spec.action)) placement(what, spec, got);
}

bool RdmaChecker::fits(const RdmaCompletionExpectation& wanted, const SeenRdmaCompletion& got) const {
  return wanted.operation == got.operation && wanted.outcome == got.outcome &&
         (!wanted.octets || *wanted.octets == got.octets) &&
         (!wanted.solicited_event || *wanted.solicited_event == got.solicited_event) &&
         (!wanted.invalidated || wanted.invalidated == got.invalidated) && wanted.at.holds(got.at);
}

std::string RdmaChecker::text_of(const SeenRdmaCompletion& got) const {
  std::string text = std::string(to_string(got.operation)) + " " + std::string(to_string(got.outcome)) + ", " +
                     format_count(got.octets) + " bytes";
  if (got.solicited_event) text += ", solicited event";
  if (got.invalidated) text += ", invalidated " + spec_.regions[*got.invalidated].name;
  return text + ", at " + format_duration(got.at);
}

std::string RdmaChecker::text_of(const RdmaCompletionExpectation& wanted) const {
  std::string text = std::string(to_string(wanted.operation)) + " " + std::string(to_string(wanted.outcome));
  if (wanted.octets) text += ", " + format_count(*wanted.octets) + " bytes";
  if (wanted.solicited_event) text += *wanted.solicited_event ? ", solicited event" : ", no solicited event";
  if (wanted.invalidated) text += ", invalidated " + spec_.regions[*wanted.invalidated].name;
  if (wanted.at.min != 0 || wanted.at.max != runtime::never) text += ", " + to_string(wanted.at);
  return text;
}

/// The first difference only.
void RdmaChecker::completions(Side side) {
  const auto& wanted = spec_.expect.completions.of(side);
  if (!wanted) return;
  const std::vector<SeenRdmaCompletion>& got = got_.ends.of(side).completions;
  std::size_t position = 0;
  for (const RdmaCompletionExpectation& one : *wanted)
    for (std::uint64_t i = 0; i < one.count; ++i, ++position)
      if (position >= got.size() || !fits(one, got[position]))
        return expect_(false, of(side, "completion ") + std::to_string(position + 1) + " (" + one.where + ")",
                       text_of(one), position < got.size() ? text_of(got[position]) : "no more");
  const bool all = position == got.size();
  expect_(all, of(side, "completions"), "no more than " + std::to_string(position),
          all ? "no more" : text_of(got[position]));
}

void RdmaChecker::check() {
  expect_(got_.ended, name_ + ": programs", "an end", got_.ended ? "an end" : "still waiting");
  const auto none = [this](std::uint64_t count, const std::string& what) {
    expect_(count == 0, name_ + ": " + what, "none", format_count(count));
  };
  none(got_.strange_completions, "completions of nothing under way");
  none(got_.stray_octets, "octets where none belong");
  for (const Side side : {Side::Client, Side::Server}) {
    const std::uint32_t told = got_.ends.of(side).times_told;
    expect_(told <= 1, of(side, "Terminates that came"), "at most 1", format_count(told));
    start(side);
    errors(side);
    completions(side);
  }
  const bool runs = spec_.expect.start.client == rdma_connected && spec_.expect.start.server == rdma_connected;
  for (std::size_t i = 0; runs && i < got_.operations.size(); ++i) operation(i);
  for (std::size_t i = 0; i < got_.contents.size(); ++i) {
    const RdmaContentExpectation& wanted = spec_.expect.contents[i];
    const std::string expected = wanted.equals      ? "as " + spec_.regions[*wanted.equals].name
                                 : wanted.unchanged ? std::string("unchanged")
                                                    : "SHA-256 " + wanted.sha256;
    expect_(got_.contents[i].held, name_ + ": region " + spec_.regions[wanted.region].name + " (" + wanted.where + ")",
            expected, got_.contents[i].got);
  }
}

}  // namespace

void check_rdma(const std::string& name, const RdmaSpec& spec, const RdmaResult& got, const ExpectText& expect) {
  RdmaChecker(name, spec, got, expect).check();
}

}  // namespace sim
