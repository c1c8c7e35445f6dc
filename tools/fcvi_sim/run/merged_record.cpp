#include "tools/fcvi_sim/run/merged_record.hpp"

#include <algorithm>
#include <tuple>

#include "tools/fcvi_sim/run/merged_result.hpp"

namespace sim {
namespace {

ByteString bytes_of(const RunRecord& own) {
  ByteWriter to;
  to.put(own.states.size());
  for (const StateChange& change : own.states) {
    to.put(change.at);
    to.put(change.port);
    for (const std::string_view text : {std::string_view(change.connection), change.from, change.to}) to.put_text(text);
  }
  own.rows.write(to);
  to.put(own.values_left_out);
  to.put(own.queues_left_out);
  to.put(own.series.size());
  for (const Series& one : own.series) {
    for (const std::string_view text : {std::string_view(one.group), std::string_view(one.name), one.unit})
      to.put_text(text);
    to.put(one.order);
    to.put_list(one.at);
    to.put_list(one.values);
  }
  return to.take();
}

RunRecord record_of(ByteReader from) {
  RunRecord record;
  for (auto left = from.get<std::size_t>(); left != 0; --left) {
    StateChange& change = record.states.emplace_back();
    change.at = from.get<runtime::TimeNs>();
    change.port = from.get<std::size_t>();
    change.connection = from.get_text();
    change.from = constant(from.get_text());
    change.to = constant(from.get_text());
  }
  record.rows = RowLog::read(from, constant);
  record.values_left_out = from.get<std::uint64_t>();
  record.queues_left_out = from.get<std::size_t>();
  for (auto left = from.get<std::size_t>(); left != 0; --left) {
    Series& one = record.series.emplace_back();
    one.group = from.get_text();
    one.name = from.get_text();
    one.unit = constant(from.get_text());
    one.order = from.get<std::size_t>();
    one.at = from.get_list<runtime::TimeNs>();
    one.values = from.get_list<std::uint64_t>();
  }
  return record;
}

/// The first values of all series, in the order of time and then of series; no more than one process keeps.
void cut_values(RunRecord& record) {
  std::size_t count = 0;
  for (const Series& one : record.series) count += one.values.size();
  if (count <= RunRecord::most_values) return;
  std::vector<std::tuple<runtime::TimeNs, std::size_t>> all;
  for (std::size_t series = 0; series < record.series.size(); ++series)
    for (const runtime::TimeNs at : record.series[series].at) all.emplace_back(at, series);
  std::nth_element(all.begin(), all.begin() + RunRecord::most_values, all.end());
  const auto first_left_out = all[RunRecord::most_values];
  for (std::size_t series = 0; series < record.series.size(); ++series) {
    Series& one = record.series[series];
    std::size_t kept = 0;
    while (kept < one.at.size() && std::tuple(one.at[kept], series) < first_left_out) ++kept;
    one.at.resize(kept);
    one.values.resize(kept);
  }
  record.values_left_out += count - RunRecord::most_values;
}

}  // namespace

RunRecord merged(RunRecord own, Exchange& exchange) {
  const std::vector<ByteString> all = exchange.gather(bytes_of(own));
  if (all.empty()) return own;
  RunRecord whole;
  whole.hits = std::move(own.hits);
  for (const ByteString& bytes : all) {
    RunRecord part = record_of(ByteReader(bytes));
    whole.states.insert(whole.states.end(), part.states.begin(), part.states.end());
    whole.rows.add(part.rows);
    whole.values_left_out += part.values_left_out;
    whole.queues_left_out = std::max(whole.queues_left_out, part.queues_left_out);
    for (Series& one : part.series)
      if (!one.name.empty()) whole.series.push_back(std::move(one));
  }
  std::stable_sort(whole.series.begin(), whole.series.end(),
                   [](const Series& a, const Series& b) { return a.order < b.order; });
  cut_values(whole);
  whole.conclude();
  return whole;
}

}  // namespace sim
