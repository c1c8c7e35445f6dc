#include "tools/fcvi_sim/run/record.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace sim {

std::uint32_t RowLog::number_of(const FiredRow& row, runtime::TimeNs at, std::uint32_t place) {
  const auto [number, is_new] =
      numbers_.try_emplace(Key(row.machine.data(), row.index), static_cast<std::uint32_t>(rows_.size()));
  if (is_new) rows_.push_back({.row = row, .first = at, .first_place = place});
  Row& noted = rows_[number->second];
  if (std::tuple(at, place) < std::tuple(noted.first, noted.first_place)) noted.first = at, noted.first_place = place;
  return number->second;
}

// With ordered instants all of the last one are kept: conclude() knows which come first.
void RowLog::note(runtime::TimeNs at, std::size_t place, const FiredRow& row) {
  const auto where = static_cast<std::uint32_t>(place);
  const std::uint32_t number = number_of(row, at, where);
  ++rows_[number].times;
  Kept& of_machine = kept_[row.machine.data()];
  if (of_machine.count >= most_of_a_machine && !(orders_instants_ && of_machine.last == at)) return;
  ++of_machine.count;
  of_machine.last = at;
  ++rows_[number].kept;
  fired_.push_back({at, where, number});
}

// --- with ordered instants ---------------------------------------------------------------------------------------

void RowLog::add(const RowLog& other) {
  std::vector<std::uint32_t> numbers;
  for (const Row& row : other.rows_) {
    numbers.push_back(number_of(row.row, row.first, row.first_place));
    rows_[numbers.back()].times += row.times;
  }
  for (const Fired& one : other.fired_) fired_.push_back({one.at, one.place, numbers[one.row]});
}

void RowLog::conclude() {
  std::stable_sort(fired_.begin(), fired_.end(), [](const Fired& a, const Fired& b) {
    return std::tuple(a.at, a.place) < std::tuple(b.at, b.place);
  });
  for (Row& row : rows_) row.kept = 0;
  boost::unordered_flat_map<const char*, std::size_t> kept;
  const auto too_many = [&](const Fired& one) {
    if (++kept[rows_[one.row].row.machine.data()] > most_of_a_machine) return true;
    ++rows_[one.row].kept;
    return false;
  };
  std::vector<Fired> all;
  for (const Fired& one : fired_)
    if (!too_many(one)) all.push_back(one);
  fired_ = std::move(all);
  order_rows();
}

/// Those that fired first at one place and instant by their place in their tables.
void RowLog::order_rows() {
  std::vector<std::uint32_t> order(rows_.size()), numbers(rows_.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [this](std::uint32_t number) {
    const Row& row = rows_[number];
    return std::tuple(row.first, row.first_place, row.row.machine, row.row.index);
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  std::vector<Row> rows;
  for (const std::uint32_t number : order) {
    numbers[number] = static_cast<std::uint32_t>(rows.size());
    rows.push_back(rows_[number]);
  }
  rows_ = std::move(rows);
  for (Fired& one : fired_) one.row = numbers[one.row];
  numbers_.clear();
}

void RowLog::write(ByteWriter& to) const {
  to.put(rows_.size());
  for (const Row& row : rows_) {
    for (const std::string_view text : {row.row.machine, row.row.source, row.row.event, row.row.target, row.row.clause})
      to.put_text(text);
    to.put(row.row.index);
    to.put(row.times);
    to.put(row.first);
    to.put(row.first_place);
  }
  to.put_list(fired_);
}

RowLog RowLog::read(ByteReader& from, Constant constant) {
  RowLog log;
  for (auto left = from.get<std::size_t>(); left != 0; --left) {
    Row row;
    for (std::string_view* text : {&row.row.machine, &row.row.source, &row.row.event, &row.row.target, &row.row.clause})
      *text = constant(from.get_text());
    row.row.index = from.get<std::size_t>();
    row.times = from.get<std::uint64_t>();
    row.first = from.get<runtime::TimeNs>();
    row.first_place = from.get<std::uint32_t>();
    log.rows_.push_back(row);
  }
  log.fired_ = from.get_list<Fired>();
  return log;
}

void RunRecord::conclude() {
  std::stable_sort(states.begin(), states.end(), [](const StateChange& a, const StateChange& b) {
    return std::tuple(a.at, a.port) < std::tuple(b.at, b.port);
  });
  rows.conclude();
}

}  // namespace sim
