#include "settings/tree.hpp"

#include <gtest/gtest.h>

namespace settings {
namespace {

std::string error_of(const std::string& text, Places places = Places::Columns) {
  const auto tree = parse_yaml(text, "f.yaml", places);
  return tree ? "no error" : tree.error().message;
}

// Messages tell the place by line, or by line and column.
TEST(Tree, places_of_errors) {
  const std::string twice = "a: 1\nb:\n  c: 1\n  c: 2\n";
  EXPECT_EQ(error_of(twice), "f.yaml:4:3: key \"c\" stands here twice");
  EXPECT_EQ(error_of(twice, Places::Lines), "f.yaml:4: key \"c\" stands here twice");
  EXPECT_EQ(error_of("a: [1"), "f.yaml:1:1: not YAML: end of sequence flow not found");
}

TEST(Tree, place_of_a_value_is_that_of_its_key) {
  const auto tree = parse_yaml("nics:\n  - name: x\n    limits:\n      max_vis: 3\n", "f.yaml", Places::Columns);
  ASSERT_TRUE(tree);
  const Tree& nic = tree->find("nics")->items.at(0);
  EXPECT_EQ(nic.find("name")->where, "f.yaml:2:5");
  EXPECT_EQ(nic.find("limits")->where, "f.yaml:3:5");
  EXPECT_EQ(nic.find("limits")->find("max_vis")->where, "f.yaml:4:7");
}

// An alias inside of what it stands for would go on for ever.
TEST(Tree, alias_of_itself_is_refused) {
  EXPECT_EQ(error_of("a: &a [*a]"), "f.yaml:1:4: more than 64 levels, one in another");
  EXPECT_EQ(error_of("a: &a {b: *a}"), "f.yaml:1:4: more than 64 levels, one in another");
}

TEST(Tree, deep_nesting_is_refused) {
  EXPECT_EQ(error_of("a: " + std::string(70, '[') + std::string(70, ']')),
            "f.yaml:1:67: more than 64 levels, one in another");
  EXPECT_NE(error_of("a: " + std::string(100'000, '[')), "no error");
}

TEST(Tree, aliases_that_multiply_are_refused) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char level = 'b'; level < 'h'; ++level) {
    const std::string below = std::string("*") + static_cast<char>(level - 1);
    bomb += std::string(1, level) + ": &" + level + " [" + below;
    for (int i = 0; i < 8; ++i) bomb += ", " + below;
    bomb += "]\n";
  }
  EXPECT_NE(error_of(bomb).find("more than 200,000 values"), std::string::npos) << error_of(bomb);
}

TEST(Tree, nearest_word) {
  EXPECT_EQ(nearest("nmae", {"name", "node"}), "name");
  EXPECT_EQ(nearest("zzzz", {"name", "node"}), "");
}

}  // namespace
}  // namespace settings
