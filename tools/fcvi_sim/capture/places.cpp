#include "tools/fcvi_sim/capture/places.hpp"

#include <span>

#include "wire/messages.hpp"

namespace sim::capture {
namespace {

struct NamedPlace {
  const char* name;
  Place place;
  std::span<const NamedPlace> within;  // of a message in a message
};

/// The fields of a layout: each message's table is made once.
template <class Message>
class PlaceTable {
 public:
  static std::span<const NamedPlace> get() {
    static const PlaceTable table;
    return table.list_;
  }

 private:
  PlaceTable() {
    Message::layout.visit([&](const auto& item) { add(item); });
  }
  template <std::size_t Offset, std::size_t Size, class Value>
  void add(const wire::codec::Field<Offset, Size, Message, Value>& field) {
    list_.push_back({field.name, {Offset, Size, 0}, {}});
    if constexpr (wire::codec::Nested<Value>) list_.back().within = PlaceTable<Value>::get();
  }
  template <std::size_t Offset, std::size_t Size, wire::codec::Kind Kind>
  void add(const wire::codec::Constant<Offset, Size, Kind>&) {}
  template <std::size_t Offset, std::size_t Size, class Indices, class... Parts>
  void add(const wire::codec::WordOf<Offset, Size, Indices, Parts...>& word) {
    word.visit([&](const auto& part) { add_part(part, Offset, Size); });
  }
  template <unsigned High, unsigned Low, class Value>
  void add_part(const wire::codec::Part<High, Low, Message, Value>& part, std::size_t offset, std::size_t size) {
    list_.push_back({part.name, place_of_part<High, Low>(offset, size), {}});
  }

  std::vector<NamedPlace> list_;
};

/// The fields have the names of the table, in its order; what a message of variable length has besides comes behind.
bool fits(std::span<const NamedPlace> table, const std::vector<Field>& fields) {
  if (table.empty() || table.size() > fields.size()) return false;
  for (std::size_t i = 0; i < table.size(); ++i)
    if (table[i].name != fields[i].name) return false;
  return true;
}

void place(std::span<const NamedPlace> table, std::vector<Field>& fields, std::size_t base) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    fields[i].place = table[i].place;
    fields[i].place.offset += base;
    if (fits(table[i].within, fields[i].fields)) place(table[i].within, fields[i].fields, base + table[i].place.offset);
  }
}

using Described =
    boost::mp11::mp_append<wire::ElsRequests, wire::ElsReplies, wire::CtRequests, wire::CtReplies, wire::BlsMessages>;

}  // namespace

void set_places(Field& message, wire::Bytes data, std::size_t base) {
  bool found = false;
  wire::for_each_message<Described>([&]<class Message>(std::type_identity<Message>) {
    if constexpr (wire::codec::Nested<Message>) {
      if (found || data.size() < Message::layout.size() || !fits(PlaceTable<Message>::get(), message.fields)) return;
      if (Message::layout.verify(data.data())) return;
      place(PlaceTable<Message>::get(), message.fields, base);
      found = true;
    }
  });
}

}  // namespace sim::capture
