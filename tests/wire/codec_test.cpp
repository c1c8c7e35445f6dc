// Field layouts: offsets, sizes, words, constants, nested messages.
#include "wire/codec.hpp"

#include "expect.hpp"

namespace wire::test {
namespace {

enum class Colour : std::uint8_t { red = 1, blue = 2 };
std::string_view to_string(Colour colour) {
  switch (colour) {
    case Colour::red: return "red";
    case Colour::blue: return "blue";
  }
  return text::unknown;
}

struct Inner {
  std::uint16_t number = 0;
  static constexpr std::string_view name = "INNER";
  static constexpr auto layout =
      codec::layout<4>(codec::constant<0, 1>(0x7E, "marker"), codec::field<2, 2>(&Inner::number, "number"));
  [[nodiscard]] std::string to_string() const { return codec::describe(*this); }
  friend bool operator==(const Inner&, const Inner&) = default;
};

struct Outer {
  Colour colour{};
  FcId id{};
  bool flag = false;
  std::uint8_t nibble = 0;
  std::uint64_t five = 0;
  std::array<std::uint8_t, 3> raw{};
  Inner inner{};
  Colour checked = Colour::red;

  static constexpr std::string_view name = "OUTER";
  static constexpr auto layout = codec::layout<20>(
      codec::word<0, 4>(codec::part<31, 24>(&Outer::colour, "colour"), codec::part<23, 0>(&Outer::id, "id")),
      codec::word<4, 2>(codec::part<15, 15>(&Outer::flag, "flag"), codec::part<7, 4>(&Outer::nibble, "nibble")),
      codec::field<6, 5>(&Outer::five, "five"), codec::field<11, 3>(&Outer::raw, "raw"),
      codec::field<14, 4>(&Outer::inner, "inner"), codec::check<14, 1>(0x7E, "inner_marker"),
      codec::choice<19, 1>(&Outer::checked, "checked", Colour::red, Colour::blue));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Outer> parse(Bytes bytes) { return codec::parse<Outer>(bytes); }
  void write(MutableBytes to) const { codec::write(*this, to); }
  [[nodiscard]] std::string to_string() const { return codec::describe(*this); }
  friend bool operator==(const Outer&, const Outer&) = default;
};
static_assert(Outer::size() == 20);

const Outer outer{Colour::blue, FcId{0x010203}, true, 0xA, 0x1122334455, {9, 8, 7}, {0xBEEF}, Colour::blue};
const auto outer_bytes =
    hex("02"          // 31-24 colour
        "010203"      // 23-0 id
        "80A0"        // 15 flag, 7-4 nibble
        "1122334455"  // five
        "090807"      // raw
        "7E 00 BEEF"  // inner: marker, reserved, number
        "00"          // reserved
        "02");        // checked

TEST(Codec, known_bytes) { expect_known(outer_bytes, outer); }

TEST(Codec, constant_of_a_nested_message_is_verified) {
  auto bytes = outer_bytes;
  bytes[14] = 0x7F;
  expect_error<Outer>(bytes, ParseCode::bad_value, "marker");
}

TEST(Codec, choice_takes_only_its_values) {
  auto bytes = outer_bytes;
  bytes[19] = 3;
  expect_error<Outer>(bytes, ParseCode::bad_value, "checked");
}

TEST(Codec, truncated_names_the_first_field_that_is_not_whole) {
  const auto field = [](std::size_t length) { return std::string(Outer::layout.field_at(length)); };
  EXPECT_EQ(field(0), "colour");
  EXPECT_EQ(field(3), "colour");
  EXPECT_EQ(field(4), "flag");
  EXPECT_EQ(field(10), "five");
  EXPECT_EQ(field(19), "checked");
}

TEST(Codec, bytes_beyond_the_message_are_left_alone) {
  auto bytes = join(outer_bytes, hex("FFFF"));
  EXPECT_EQ(*Outer::parse(bytes), outer);
  outer.write(bytes);
  EXPECT_EQ(bytes[20], 0xFF);
}

TEST(Codec, value_wider_than_its_bits_does_not_spill) {
  Outer wide = outer;
  wide.nibble = 0xFF;
  wide.id.value = 0xFFFFFFFF;
  const auto bytes = written(wide);
  EXPECT_EQ(bytes[0], 0x02);
  EXPECT_EQ(bytes[4], 0x80);
  EXPECT_EQ(bytes[5], 0xF0);
}

TEST(Codec, text_names_enumerators_and_shows_other_values_in_hexadecimal) {
  EXPECT_EQ(outer.to_string(),
            "OUTER colour=blue id=010203 flag=1 nibble=Ah five=1122334455h raw=090807 inner={INNER number=BEEFh} "
            "checked=blue");
  Outer unknown = outer;
  unknown.colour = static_cast<Colour>(0x55);
  EXPECT_NE(unknown.to_string().find("colour=55h"), std::string::npos);
}

#ifndef NDEBUG
TEST(CodecDeathTest, writing_to_too_few_bytes_asserts) {
  std::vector<std::uint8_t> bytes(19);
  EXPECT_DEATH(outer.write(bytes), "size");
}
#endif

TEST(Result, value_of_an_error_throws) {
  const auto result = Outer::parse({});
  EXPECT_EQ(to_string(result.error()), "truncated: colour");
  EXPECT_THROW(static_cast<void>(result.value()), std::logic_error);
}

TEST(Result, every_code_has_a_name) {
  for (int code = 1; code <= static_cast<int>(ParseCode::bad_delimiter); ++code)
    EXPECT_NE(to_string(static_cast<ParseCode>(code)), text::unknown);
  EXPECT_EQ(to_string(static_cast<ParseCode>(0)), text::unknown);
}

}  // namespace
}  // namespace wire::test
