// include, parameters, for_each, ${...} and << of scenario files, and what is wrong with them.
#include "tools/fcvi_sim/scenario/matrix.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tools/fcvi_sim/scenario/loader.hpp"

namespace sim {
namespace {
using settings::Tree;

class Folder {
 public:
  Folder() { std::filesystem::create_directory(path_); }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  [[nodiscard]] std::string path(const std::string& name = "") const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / ("matrix_test." + std::to_string(getpid()));
};

/// A tree in YAML's flow style.
std::string text_of(const Tree& tree) {
  std::string text;
  switch (tree.kind) {
    case Tree::Kind::Null: return "~";
    case Tree::Kind::Scalar: return tree.scalar;
    case Tree::Kind::List:
      for (const Tree& item : tree.items) text += (text.empty() ? "" : ", ") + text_of(item);
      return "[" + text + "]";
    case Tree::Kind::Map:
      for (const auto& [key, value] : tree.entries) text += (text.empty() ? "" : ", ") + key + ": " + text_of(value);
      return "{" + text + "}";
  }
  return text;
}

/// Each run, with its label; or the error.
std::vector<std::string> runs(const std::string& text, const ParameterChoices& choices = {},
                              const std::string& folder = "") {
  const auto matrix = Matrix::read(text, "s.yaml", folder, choices);
  if (!matrix) return {matrix.error().message};
  std::vector<std::string> all;
  for (std::size_t i = 0; i < matrix->size(); ++i) {
    const auto tree = matrix->tree(i);
    all.push_back(matrix->label(i) + "|" + (tree ? text_of(*tree) : tree.error().message));
  }
  return all;
}
using Runs = std::vector<std::string>;

TEST(Matrix, file_without_parameters_is_one_run) {
  EXPECT_EQ(runs("a: 1\nb: [x, {c: d}]\n"), Runs{"|{a: 1, b: [x, {c: d}]}"});
}

TEST(Matrix, parameters_stand_in_their_places) {
  const std::string text =
      "parameters: {n: 3, list: [x, y], both: '${n}-${n}'}\n"
      "a: ${n}\nb: ${n}KiB\nc: ${list}\nd: [1, \"${both}\"]\ne: $${n}\nf: cost $5 {n}\n";
  EXPECT_EQ(runs(text), Runs{"|{a: 3, b: 3KiB, c: [x, y], d: [1, 3-3], e: ${n}, f: cost $5 {n}}"});
  EXPECT_EQ(runs("parameters: {n: 3}\na: ${n}\n", {.values = {"n=4"}}), Runs{"|{a: 4}"});
}

// Within { } YAML wants quotes around ${NAME}: the value is a number all the same.
TEST(Matrix, placeholder_in_quotes_is_what_it_stands_for) {
  const auto scenario = read_scenario(
      "parameters: {t: 3, n: 2}\nname: x\nports: [{name: a, latency: \"${t}us\", first_ox_id: \"${n}\"}]\n", "s.yaml",
      "", {});
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->ports[0].link.latency_ns, 3 * runtime::microsecond);
}

TEST(Matrix, placeholder_without_quotes_in_braces_is_explained) {
  EXPECT_EQ(runs("parameters: {n: 1}\nmap: {z: ${n}}\nx: 1\n"),
            Runs{"s.yaml:2: not YAML: end of map flow not found; within { } and [ ] put quotes around ${...}"});
}

TEST(Matrix, for_each_takes_all_values_with_all_others) {
  EXPECT_EQ(runs("for_each: {a: [1, 2], b: [x, y]}\nv: ${a}${b}\n"),
            (Runs{"a=1, b=x|{v: 1x}", "a=1, b=y|{v: 1y}", "a=2, b=x|{v: 2x}", "a=2, b=y|{v: 2y}"}));
  EXPECT_EQ(runs("parameters: {b: z}\nfor_each: [{a: 1}, {a: 2, b: y}]\nv: ${a}${b}\n"),
            (Runs{"a=1|{v: 1z}", "a=2, b=y|{v: 2y}"}));
}

TEST(Matrix, only_takes_some_of_them) {
  const std::string text = "for_each: {a: [1, 2, 3], b: [x, y]}\nv: ${a}${b}\n";
  EXPECT_EQ(runs(text, {.only = {"a=1,3", "b=y"}}), (Runs{"a=1, b=y|{v: 1y}", "a=3, b=y|{v: 3y}"}));
  EXPECT_EQ(runs(text, {.only = {"a=4"}}),
            Runs{"--only a=4: a: expected one of 1, 2, 3, got \"4\"; did you mean \"1\"?"});
  EXPECT_EQ(runs(text, {.only = {"c=4"}}), Runs{"--only c=4: a name of for_each: expected one of a, b, got \"c\"; "
                                                "did you mean \"a\"?"});
  EXPECT_EQ(runs(text, {.only = {"a"}}), Runs{"--only a: expected NAME=VALUE"});
  EXPECT_EQ(runs(text, {.only = {"a=2, b=y"}}), Runs{"a=2, b=y|{v: 2y}"});  // as it is printed
  EXPECT_EQ(runs(text, {.only = {"a=1,3,b=x"}}), (Runs{"a=1, b=x|{v: 1x}", "a=3, b=x|{v: 3x}"}));
  EXPECT_EQ(runs(text, {.only = {"a=2, b=z"}}),
            Runs{"--only b=z: b: expected one of x, y, got \"z\"; did you mean \"x\"?"});
}

TEST(Matrix, mappings_take_from_others) {
  EXPECT_EQ(runs("base: &b {x: 1, y: 2}\none: {<<: *b, y: 3}\ntwo: {<<: [{z: 4}, *b]}\n"),
            Runs{"|{base: {x: 1, y: 2}, one: {y: 3, x: 1}, two: {z: 4, x: 1, y: 2}}"});
  EXPECT_EQ(runs("one: {<<: 3}\n"), Runs{"|s.yaml:1: <<: expected a mapping, or a list of mappings, got \"3\""});
}

TEST(Matrix, included_files_come_first) {
  const Folder folder;
  folder.write("base.yaml", "include: deep.yaml\nparameters: {n: 1, m: 2}\nlist: [a]\nmap: {x: 1, y: 2}\nname: base\n");
  folder.write("deep.yaml", "deep: ${m}\nname: deep\n");
  folder.write("more.yaml", "list: [m]\nname: more\n");
  EXPECT_EQ(runs("include: [base.yaml, more.yaml]\nparameters: {m: 3}\nlist: [b]\nmap: {y: 3, z: \"${n}\"}\n", {},
                 folder.path()),
            Runs{"|{list: [a, m, b], map: {y: 3, z: 1, x: 1}, name: more, deep: 3}"});
}

TEST(Matrix, bad_includes_are_told_with_their_place) {
  const Folder folder;
  folder.write("self.yaml", "include: self.yaml\n");
  folder.write("list.yaml", "[1]\n");
  folder.write("bad.yaml", "a: 1\na: 2\n");
  const auto error = [&](const std::string& file) {
    return runs("x: 1\ninclude: " + file + "\n", {}, folder.path()).front();
  };
  EXPECT_EQ(error("none.yaml"), "s.yaml:2: include: " + folder.path("none.yaml") +
                                    ": cannot read: "
                                    "No such file or directory");
  EXPECT_EQ(error("self.yaml"),
            folder.path("self.yaml") + ":1: include: " + folder.path("self.yaml") + " includes itself");
  EXPECT_EQ(error("list.yaml"),
            folder.path("list.yaml") + ":1: include: expected a file with a mapping, as a scenario is one, got a list");
  EXPECT_EQ(error("bad.yaml"), folder.path("bad.yaml") + ":2: key \"a\" stands here twice");
}

TEST(Matrix, bad_parameters_are_told_with_their_place) {
  const auto error = [](const std::string& text, const ParameterChoices& choices = {}) {
    return runs(text, choices).front();
  };
  EXPECT_EQ(error("parameters: {size: 3}\na: ${sise}\n"),
            "|s.yaml:2: there is no parameter \"sise\"; did you mean \"size\"?");
  EXPECT_EQ(error("parameters: {a: '${b}', b: '${a}'}\nv: ${a}\n"), "|s.yaml:1: the value of \"a\" has itself in it");
  EXPECT_EQ(error("parameters: {a: [1]}\nv: x${a}\n"), "|s.yaml:2: ${a} is a list, and stands within text");
  EXPECT_EQ(error("a: 1\nv: x${a\n"), "|s.yaml:2: \"x${a\": } is missing after ${");
  EXPECT_EQ(error("parameters: [1]\n"), "s.yaml:1: parameters: expected a mapping of names to values, got a list");
  EXPECT_EQ(error("parameters: {1a: 1}\n"),
            "s.yaml:1: \"1a\": a parameter's name has letters, digits and _, no digit first");
  EXPECT_EQ(error("for_each: 3\n"),
            "s.yaml:1: for_each: expected a list of mappings, or a mapping of lists, got \"3\"");
  EXPECT_EQ(error("for_each: {a: []}\n"), "s.yaml:1: a: expected one value at least, got a list");
  EXPECT_EQ(error("parameters: {a: 1}\n", {.values = {"b=1"}}),
            "--param b=1: a parameter: expected one of a, got "
            "\"b\"; did you mean \"a\"?");
  EXPECT_EQ(error("for_each: {a: [1]}\nv: ${a}\n", {.values = {"a=1"}}),
            "--param a=1: for_each varies \"a\"; choose among its values with --only");
}

// A wrong value of a parameter: where it is used, then where it comes from; and in which run.
TEST(Matrix, bad_values_are_told_with_both_places) {
  const auto file = ScenarioFile::read(
      "parameters: {t: soon}\nname: x\nports: [{name: a}]\nfor_each: {n: [1, 2]}\nseed: ${n}\ntime_limit: ${t}\n",
      "s.yaml", "", {});
  ASSERT_TRUE(file) << file.error().message;
  const auto scenario = file->scenario(1);
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.error().message.substr(0, 46), "s.yaml:6 (t of s.yaml:1): time_limit: expected");
  EXPECT_TRUE(scenario.error().message.ends_with("[run n=2]")) << scenario.error().message;
}

// A parameter in another, one in the middle of a text, and a value within a parameter's mapping: each place is told.
TEST(Matrix, bad_values_of_nested_parameters_are_told_with_all_places) {
  const auto error = [](const std::string& text) {
    const auto scenario = read_scenario(text, "s.yaml", "", {});
    return scenario ? "" : scenario.error().message.substr(0, scenario.error().message.find(": expected"));
  };
  EXPECT_EQ(error("parameters:\n  t: ${u}\n  u: soon\nname: x\nports: [{name: a}]\ntime_limit: ${t}\n"),
            "s.yaml:6 (t of s.yaml:2 (u of s.yaml:3)): time_limit");
  EXPECT_EQ(error("parameters:\n  n: x\nname: x\nports: [{name: a}]\ntime_limit: ${n}s\n"),
            "s.yaml:5 (n of s.yaml:2): time_limit");
  EXPECT_EQ(error("parameters:\n  link:\n    latency: soon\nname: x\nports: [{name: a}]\ntopology: ${link}\n"),
            "s.yaml:6 (link of s.yaml:3): latency");
}

// What stands for more and more: refused before memory ends.
TEST(Matrix, too_much_is_refused) {
  std::string text = "parameters:\n  p0: [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 8; ++i) {
    const std::string before = "${p" + std::to_string(i - 1) + "}";
    text += "  p" + std::to_string(i) + ":\n";
    for (int j = 0; j < 10; ++j) text += "    - " + before + "\n";
  }
  const std::string error = runs(text + "v: ${p7}\n").front();
  EXPECT_NE(error.find("more than 200,000 values"), std::string::npos) << error;
  std::string values = "[0";
  for (int i = 1; i < 101; ++i) values += ", " + std::to_string(i);
  const std::string many = runs("for_each: {a: " + values + "], b: " + values + "]}\n").front();
  EXPECT_NE(many.find("more than 10,000 runs"), std::string::npos) << many;
}

// Neither the stack nor memory ends: a long chain, and a text in many places.
TEST(Matrix, deep_and_long_parameters_are_refused) {
  std::string chain = "parameters:\n";
  for (int i = 0; i < 10'000; ++i) chain += "  a" + std::to_string(i) + ": ${a" + std::to_string(i + 1) + "}\n";
  EXPECT_NE(runs(chain + "v: ${a0}\n").front().find("more than 64 parameters, one in another"), std::string::npos);
  std::string texts = "parameters: {b: " + std::string(60'000, 'x') + "}\nv:\n";
  for (int i = 0; i < 1'000; ++i) texts += "  - ${b}\n";
  EXPECT_NE(runs(texts).front().find("more than 16 MiB of text"), std::string::npos);
}

TEST(Matrix, labels_tell_runs_apart) {
  EXPECT_EQ(runs("for_each: {v: [{name: one, x: 1}, [2], \"a\\tb\", \"1,2\"]}\nw: ${v}\n"),
            (Runs{"v=one|{w: {name: one, x: 1}}", "v=#2|{w: [2]}", "v=a?b|{w: a\tb}", "v=1,2|{w: 1,2}"}));
  EXPECT_EQ(runs("for_each: {v: [\"1,2\", 1, 3]}\nw: ${v}\n", {.only = {"v=1,2"}}), Runs{"v=1,2|{w: 1,2}"});
  EXPECT_EQ(runs("for_each: [{}]\n"), Runs{"s.yaml:1: for_each: expected a name and a value at least, got a mapping"});
}

// A name of for_each that has a parameter in it is called by what it stands for: in labels, files and for --only.
TEST(Matrix, labels_have_parameters_put_in) {
  const std::string text = "parameters: {n: 3, m: [1]}\nfor_each: {v: ['${n}KiB', '${m}']}\nw: ${v}\n";
  EXPECT_EQ(runs(text), (Runs{"v=3KiB|{w: 3KiB}", "v=#2|{w: [1]}"}));
  EXPECT_EQ(runs(text, {.values = {"n=4"}, .only = {"v=4KiB"}}), Runs{"v=4KiB|{w: 4KiB}"});
}

TEST(Matrix, parameters_that_nothing_uses_are_warned_of) {
  const std::string text = "parameters: {used: 1, spare: 2}\nname: x\nports: [{name: a}]\nseed: ${used}\n";
  const auto scenario = read_scenario(text, "s.yaml", "", {});
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->warnings, Runs{"s.yaml:1: nothing uses the parameter \"spare\""});
}

// What a file takes by << is its own: it counts more than what is included, at the top and below.
TEST(Matrix, defaults_count_more_than_what_is_included) {
  const Folder folder;
  folder.write("base.yaml", "name: base\nmap: {x: 1, y: 2}\n");
  const std::string text = "include: base.yaml\nd: &d {name: own}\ne: &e {x: 3}\n<<: *d\nmap: {<<: *e}\n";
  EXPECT_EQ(runs(text, {}, folder.path()), Runs{"|{d: {name: own}, e: {x: 3}, map: {x: 3, y: 2}, name: own}"});
}

TEST(Matrix, set_says_how_parameters_are_chosen) {
  const auto error = [](const std::string& assignment) {
    const auto scenario = read_scenario("parameters: {n: 1}\nname: x\nports: [{name: a}]\nseed: ${n}\n", "s.yaml", "",
                                        {.seed = {}, .file = "", .assignments = {assignment}, .parameters = {}});
    return scenario ? "" : scenario.error().message;
  };
  EXPECT_EQ(error("parameters.n=2"), "--set parameters.n=2: a parameter is chosen with --param NAME=VALUE");
  EXPECT_EQ(error("for_each.n=2"), "--set for_each.n=2: values of for_each are chosen with --only NAME=VALUE");
  EXPECT_EQ(error("include=x"), "--set include=x: what is included cannot be changed");
  EXPECT_EQ(error("seed=4"), "");
}

TEST(Matrix, names_that_nothing_uses_are_refused) {
  EXPECT_EQ(runs("parameters: {size: 1}\nfor_each: {sise: [1, 2]}\na: ${size}\n"),
            Runs{"s.yaml:2: for_each: nothing uses ${sise}; did you mean \"size\"?"});
  EXPECT_EQ(runs("a: 1\n", {.values = {"b=1"}}), Runs{"--param b=1: the file has no parameters"});
  EXPECT_EQ(runs("a: 1\n", {.only = {"b=1"}}), Runs{"--only b=1: the file has no for_each"});
  EXPECT_EQ(runs("parameters: {size: 1}\na: ${ size }\n"), Runs{"|{a: 1}"});
}

TEST(Matrix, parameters_of_the_including_file_are_whole) {
  const Folder folder;
  folder.write("base.yaml", "parameters: {v: [1, 2], w: 5}\nfor_each: {n: [1]}\n");
  EXPECT_EQ(
      runs("include: base.yaml\nparameters: {v: [3]}\nfor_each: {m: [4]}\na: ${v}\nb: ${w}${m}\n", {}, folder.path()),
      Runs{"m=4|{a: [3], b: 54}"});
}

TEST(Matrix, scenarios_are_named_by_their_run) {
  const std::string text = "name: x\nports: [{name: a}]\nfor_each: {s: [5, 6]}\nseed: ${s}\n";
  const auto file = ScenarioFile::read(text, "s.yaml", "", {});
  ASSERT_TRUE(file);
  ASSERT_EQ(file->size(), 2U);
  EXPECT_EQ(file->scenario(1)->name, "x (s=6)");
  EXPECT_EQ(file->scenario(1)->seed, 6U);
  EXPECT_EQ(file->only_run().error().message, "s.yaml: describes 2 runs, by s; choose one with --only NAME=VALUE");
  const auto one = read_scenario(
      text, "s.yaml", "", {.seed = {}, .file = "", .assignments = {}, .parameters = {.values = {}, .only = {"s=5"}}});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->seed, 5U);
}

}  // namespace
}  // namespace sim
