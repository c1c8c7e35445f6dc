#include "tools/fcvi_sim/schema_command.hpp"

#include <boost/json.hpp>
#include <cstdio>

#include "tools/fcvi_sim/scenario/keys.hpp"

namespace sim {
namespace {
namespace json = boost::json;

json::value reference(std::string_view name) { return {{"$ref", "#/definitions/" + std::string(name)}}; }

json::value pattern(std::string_view what) { return {{"type", "string"}, {"pattern", what}}; }

json::value any_of(std::initializer_list<json::value_ref> values) { return {{"anyOf", json::array(values)}}; }

/// {min, max} of them, or exactly one.
json::value bound_of(const json::value& value) {
  const json::value limit = any_of({value, reference("parameter")});
  const json::value limits{
      {"type", "object"}, {"additionalProperties", false}, {"properties", {{"min", limit}, {"max", limit}}}};
  return any_of({value, limits});
}

constexpr const char *any_hexadecimal = "^0x[0-9A-Fa-f]+$", *not_0_hexadecimal = "^0x0*[1-9A-Fa-f][0-9A-Fa-f]*$";

/// A number in decimal or in hexadecimal; of the latter the range is the loader's to know.
json::value number_within(const settings::Range& range, const char* hexadecimal) {
  json::object decimal{{"type", "integer"}, {"minimum", range.min}};
  if (range.max != settings::Range().max) decimal["maximum"] = range.max;
  return any_of({decimal, pattern(hexadecimal)});
}

/// The same of bytes, with a unit or without one.
json::value bytes_within(const settings::Range& range) {
  return number_within(range, "^[0-9]+(\\.[0-9]+)? ?(B|KiB|MiB|GiB)?$");
}

/// What is written so, by the name of its form; those of Key::names and Key::tables are elsewhere.
json::object scalars() {
  const json::value number = number_within({}, any_hexadecimal), count = number_within({.min = 1}, not_0_hexadecimal);
  const json::value share =
      any_of({{{"type", "number"}, {"minimum", 0}, {"maximum", 1}}, pattern("^(0|0?\\.[0-9]+|1(\\.0*)?)$")});
  const json::value bytes = bytes_within({});
  const json::value time =
      any_of({{{"type", "integer"}, {"enum", {0}}}, pattern("^([0-9]+(\\.[0-9]+)? ?(ns|us|ms|s)|0)$")});
  const json::value interval = pattern("^(?=.*[1-9])[0-9]+(\\.[0-9]+)? ?(ns|us|ms|s)$");
  const json::value mapping{{"type", "object"}};
  const json::value mappings = any_of({mapping, {{"type", "array"}, {"items", mapping}, {"minItems", 1}}});
  const json::value per_second = any_of(
      {{{"type", "integer"}, {"minimum", 1}}, pattern("^[0-9]+(\\.[0-9]+)? ?(B|kB|MB|GB)/s$"), pattern("^[0-9]+GFC$")});
  const json::value wwn = pattern("^([0-9A-Fa-f]{2}:){7}[0-9A-Fa-f]{2}$");
  return {{"text", {{"type", {"string", "number", "boolean"}}}},
          {"flag", {{"type", "boolean"}}},
          {"number", number},
          {"count", count},
          {"share", share},
          {"bytes", bytes},
          {"time", time},
          {"interval", interval},
          {"line_rate", any_of({per_second, {{"enum", {"unlimited"}}}})},
          {"rate", pattern("^(?=.*[1-9])[0-9]+/s$|^(?=.*[1-9])[0-9]+(\\.[0-9]+)? ?(B|kB|MB|GB)/s$")},
          {"wwn", any_of({wwn, {{"type", "integer"}}})},  // YAML 1.1 takes 20:00:... for a number of base 60
          {"address", pattern("^[0-9A-Fa-f.:]+$")},
          {"bound", bound_of(reference("number"))},
          {"byte_bound", bound_of(reference("bytes"))},
          {"time_bound", bound_of(reference("time"))},
          {"rate_bound", bound_of(per_second)},
          {"share_bound", bound_of(reference("share"))},
          {"any_mapping", mapping},
          {"any_mappings", mappings},
          {"parameter", pattern("\\$\\{")}};
}

class Schema {
 public:
  json::value make();

 private:
  json::value value_of(const Key& key);
  json::value single(const Key& key);
  json::value mappings_of(Tables* tables);
  json::value mapping_of(const KeyTable& table);
  json::value names_of(const NameSet& set);
  json::value by_name(const Key& key, std::string_view form);
  std::string define(const KeyTable& table);
  json::object defs_ = scalars();
};

json::value Schema::names_of(const NameSet& set) {
  json::value& own = defs_["name_of_" + std::string(set.name)];
  if (own.is_null()) {
    json::array names;
    for (const std::string_view name : set.list()) {
      names.emplace_back(name);
      // YAML takes it for a number.
      if (name.find_first_not_of("0123456789") == std::string_view::npos)
        names.emplace_back(std::stoi(std::string(name)));
    }
    own = {{"enum", std::move(names)}};
  }
  return reference("name_of_" + std::string(set.name));
}

json::value Schema::by_name(const Key& key, std::string_view form) {
  json::object properties;
  const json::value value = any_of({reference(form), reference("parameter")});
  for (const std::string_view name : key.names.list()) properties[name] = value;
  json::value& own = defs_[std::string(form) + "_by_" + std::string(key.names.name)];
  own = {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
  return reference(std::string(form) + "_by_" + std::string(key.names.name));
}

bool has_range(const Key& key) {
  const settings::Range whole;
  return key.range.min != whole.min || key.range.max != whole.max;
}

json::value Schema::single(const Key& key) {
  if (has_range(key) && key.form == Form::Bytes) return bytes_within(key.range);
  if (has_range(key)) return number_within(key.range, key.range.min == 0 ? any_hexadecimal : not_0_hexadecimal);
  switch (key.form) {
    case Form::None: return nullptr;
    case Form::Text: return reference("text");
    case Form::Flag: return reference("flag");
    case Form::Number: return reference("number");
    case Form::Count: return reference("count");
    case Form::Interval: return reference("interval");
    case Form::Share: return reference("share");
    case Form::Bytes: return reference("bytes");
    case Form::Time: return reference("time");
    case Form::LineRate: return reference("line_rate");
    case Form::Rate: return reference("rate");
    case Form::Wwn: return reference("wwn");
    case Form::Address: return reference("address");
    case Form::Choice: return names_of(key.names);
    case Form::Bound: return reference("bound");
    case Form::ByteBound: return reference("byte_bound");
    case Form::TimeBound: return reference("time_bound");
    case Form::RateBound: return reference("rate_bound");
    case Form::ShareBound: return reference("share_bound");
    case Form::BoundsByName: return by_name(key, "bound");
    case Form::NumbersByName: return by_name(key, "number");
    case Form::TablesByName: return {{"type", "object"}, {"additionalProperties", mappings_of(key.tables)}};
    case Form::AnyMapping: return reference("any_mapping");
    case Form::AnyMappings: return reference("any_mappings");
  }
  return nullptr;
}

std::string Schema::define(const KeyTable& table) {
  std::string name(table.name);
  if (!table.choice.empty()) name.append("_").append(table.choice);
  if (defs_.contains(name)) return name;
  defs_[name] = nullptr;  // a table may have itself in it
  json::value made = mapping_of(table);
  defs_[name] = std::move(made);
  return name;
}

json::value Schema::mappings_of(Tables* tables) {
  const std::vector<const KeyTable*> all = tables();
  if (all.size() == 1) return reference(define(*all.front()));
  json::array each;
  for (const KeyTable* table : all) each.push_back(reference(define(*table)));
  return {{"anyOf", std::move(each)}};
}

/// ${NAME} may stand for any value.
json::value Schema::value_of(const Key& key) {
  json::array ways;
  json::value one = single(key);
  const bool by_name = key.form == Form::TablesByName;
  json::value mapping = key.tables == nullptr || by_name ? json::value(nullptr) : mappings_of(key.tables);
  const auto list_of = [](json::value items) {
    return json::value{{"type", "array"}, {"items", any_of({std::move(items), reference("parameter")})}};
  };
  const bool alone = key.list != InList::Only;
  if (alone && !one.is_null()) ways.push_back(one);
  if (alone && !mapping.is_null() && key.list != InList::Mappings) ways.push_back(mapping);
  if (key.list == InList::Numbers) ways.push_back(list_of(reference("number")));
  if (key.list == InList::Mappings) ways.push_back(list_of(mapping));
  if (key.list == InList::Only || key.list == InList::Also) {
    if (!one.is_null()) ways.push_back(mapping.is_null() ? list_of(one) : list_of(any_of({one, mapping})));
    if (one.is_null()) ways.push_back(list_of(mapping));
  }
  ways.push_back(reference("parameter"));
  return {{"description", key.what}, {"anyOf", std::move(ways)}};
}

json::value required_of(std::initializer_list<std::string_view> names) {
  return json::object{{"required", json::array(names.begin(), names.end())}};
}

/// What is missing may come by <<.
void add_alternatives(json::object& mapping, const KeyTable& table) {
  json::array pairs, each;
  each.push_back(required_of({"<<"}));
  for (std::size_t i = 0; i < table.alternatives.size(); ++i) {
    each.push_back(required_of({table.alternatives[i]}));
    for (std::size_t j = 0; j < i; ++j) pairs.push_back(required_of({table.alternatives[j], table.alternatives[i]}));
  }
  if (!pairs.empty()) mapping["not"] = json::object{{"anyOf", std::move(pairs)}};
  if (!table.needs_alternative) return;
  json::array all;
  all.push_back(json::object{{"anyOf", std::move(each)}});
  mapping["allOf"] = std::move(all);
}

json::value Schema::mapping_of(const KeyTable& table) {
  json::object properties;
  json::array required;
  if (!table.choice.empty()) {
    properties["action"] = {{"description", "what happens"},
                            {"anyOf", {{{"const", table.choice}}, reference("parameter")}}};
    required.emplace_back("action");
  }
  for (const Key& key : table.keys) {
    properties[key.name] = value_of(key);
    if (key.required) required.emplace_back(key.name);
  }
  properties["<<"] = {{"description", "what this mapping does not say, that one says"}};
  json::object mapping{{"additionalProperties", false}, {"properties", std::move(properties)}};
  if (required.empty()) {
    mapping["type"] = json::array{"object", "null"};  // a key without a value: an empty one
  } else {
    mapping["type"] = "object";
    // What is missing may come by <<.
    mapping["anyOf"] = {{{"required", std::move(required)}}, {{"required", {"<<"}}}};
  }
  add_alternatives(mapping, table);
  return mapping;
}

json::value Schema::make() {
  const json::value root = mapping_of(scenario_keys());
  json::object schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                      {"title", "Scenario of fcvi-sim"},
                      {"description", "docs/scenarios.md explains each key."}};
  for (const auto& [name, value] : root.as_object()) schema[name] = value;
  // A file that others include has what they leave open.
  schema.erase("anyOf");
  schema["definitions"] = std::move(defs_);
  return schema;
}

/// With line ends: the file is installed, and read by people.
void print(std::string& to, const json::value& value, std::size_t depth) {
  const std::string indent(2 * depth + 2, ' '), last(2 * depth, ' ');
  const auto list = [&](char open, char close, const auto& items, const auto& each) {
    to += open;
    for (bool begun = false; const auto& item : items) {
      to.append(begun ? ",\n" : "\n").append(indent);
      begun = true;
      each(item);
    }
    to.append("\n").append(last) += close;
  };
  const bool small = !value.is_structured() || json::serialize(value).size() + 2 * depth < 110;
  if (small) {
    to += json::serialize(value);
  } else if (value.is_array()) {
    list('[', ']', value.get_array(), [&](const json::value& item) { print(to, item, depth + 1); });
  } else {
    list('{', '}', value.get_object(), [&](const auto& entry) {
      to += json::serialize(json::string(entry.key())) + ": ";
      print(to, entry.value(), depth + 1);
    });
  }
}

}  // namespace

std::string scenario_schema() {
  std::string text;
  print(text, Schema().make(), 0);
  return text + "\n";
}

const CLI::App* add_schema_command(CLI::App& app) {
  CLI::App* schema = app.add_subcommand("schema", "print the JSON Schema of scenarios, for editors");
  schema->footer(
      "An editor with a YAML language server completes and checks a scenario that begins with\n"
      "# yaml-language-server: $schema=PATH, PATH being the installed share/fcvi/scenario.schema.json.");
  return schema;
}

int schema_command() {
  const std::string text = scenario_schema();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0 ? 0 : 2;
}

}  // namespace sim
