#include "tools/fcvi_sim/soak/state.hpp"

#include "fc2_fabric/drivers/file_sink.hpp"
#include "settings/reader.hpp"
#include "tools/fcvi_sim/soak/yaml_text.hpp"

namespace sim::soak {
namespace {
using settings::BadInput;
using settings::MapReader;
using settings::Tree;

Tree text_of(const std::string& text) {
  return {.kind = Tree::Kind::Scalar, .where = "", .scalar = text, .quoted = true};
}
Tree number_of(std::uint64_t number) {
  return {.kind = Tree::Kind::Scalar, .where = "", .scalar = std::to_string(number)};
}

State state_of(const Tree& tree) {
  const MapReader map(tree, "state", {"build", "last", "next", "runs", "frames", "digest", "failures"});
  State state;
  const auto number = [&](std::string_view key) { return settings::read_number(map.require(key), key); };
  state.build = number("build");
  state.last = number("last");
  state.totals = {number("next"), number("runs"), number("frames"), number("digest"), {}};
  for (const Tree& item : settings::read_list(map.require("failures"), "failures")) {
    const MapReader failure(item, "failures", {"seed", "kind", "what"});
    state.totals.failures.push_back({settings::read_number(failure.require("seed"), "seed"),
                                     settings::read_text(failure.require("kind"), "kind"),
                                     settings::read_text(failure.require("what"), "what")});
  }
  return state;
}

}  // namespace

std::string state_text(const State& state) {
  Tree failures{.kind = Tree::Kind::List, .where = ""};
  for (const Failure& failure : state.totals.failures) {
    Tree item{.kind = Tree::Kind::Map, .where = ""};
    item.entries = {
        {"seed", number_of(failure.seed)}, {"kind", text_of(failure.kind)}, {"what", text_of(failure.what)}};
    failures.items.push_back(std::move(item));
  }
  Tree root{.kind = Tree::Kind::Map, .where = ""};
  root.entries = {{"build", number_of(state.build)},          {"last", number_of(state.last)},
                  {"next", number_of(state.totals.next)},     {"runs", number_of(state.totals.runs)},
                  {"frames", number_of(state.totals.frames)}, {"digest", number_of(state.totals.digest)},
                  {"failures", std::move(failures)}};
  return yaml_text(root);
}

settings::Result<State> read_state(const std::string& text, const std::string& name) {
  const auto tree = settings::parse_yaml(text, name);
  if (!tree) return tree.error();
  try {
    return state_of(*tree);
  } catch (const BadInput& error) {
    return error;
  }
}

std::string write_file(const std::string& path, const std::string& text) {
  fc2::drivers::FileSink file;
  if (!file.open(path)) return file.error();
  file.write(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  return file.commit() ? "" : file.error();
}

}  // namespace sim::soak
