// What must hold for every message type of the table in wire/messages.hpp, and for the headers of wire/vitcp and
// wire/iwarp.
#include <boost/mp11/function.hpp>
#include <set>

#include "expect.hpp"
#include "iwarp_samples.hpp"
#include "samples.hpp"
#include "vitcp_samples.hpp"

namespace wire::test {
namespace {

template <class List>
struct TypesOf;
template <class... Messages>
struct TypesOf<boost::mp11::mp_list<Messages...>> {
  using type = ::testing::Types<Messages...>;
};

struct MessageName {
  template <class Message>
  static std::string GetName(int index) {
    std::string name;
    for (const char c : Message::name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return name + "_" + std::to_string(index);
  }
};

template <class Message>
class EveryMessage : public ::testing::Test {
 public:
  const Sample sample = SampleOf<Message>::make();
  Message parsed() const {
    const auto result = Message::parse(sample.bytes);
    EXPECT_TRUE(result.has_value()) << to_string(result.error());
    return *result;
  }
};
using Tested = boost::mp11::mp_append<AllMessages, vitcp::Parts, iwarp::Messages>;
TYPED_TEST_SUITE(EveryMessage, TypesOf<Tested>::type, MessageName);

TYPED_TEST(EveryMessage, round_trip) {
  const TypeParam message = this->parsed();
  EXPECT_EQ(message.size(), this->sample.bytes.size());
  EXPECT_EQ(written(message), this->sample.bytes);
  EXPECT_EQ(message, this->parsed());
}

TYPED_TEST(EveryMessage, to_string_begins_with_a_name) {
  const std::string text = this->parsed().to_string();
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

// Lengths at which a shorter message of the same type ends: what follows is data of any length.
template <class Message>
bool may_end_at(std::size_t length) {
  if constexpr (std::is_same_v<Message, els::Echo>)
    return length >= 4;
  else if constexpr (std::is_same_v<Message, ct::IpAddressListAccept>)
    return length == 32;
  else if constexpr (std::is_same_v<Message, vitcp::Options>)
    return vitcp_options_may_end_at(length);
  else if constexpr (std::is_same_v<Message, vitcp::CeHeader>)
    return length >= vitcp::ce_header_bytes && vitcp_options_may_end_at(length - vitcp::ce_header_bytes);
  else
    return false;
}

TYPED_TEST(EveryMessage, prefix_is_truncated) {
  for (std::size_t length = 0; length < this->sample.bytes.size(); ++length) {
    // Of its own size, so that the address sanitizer sees the first byte beyond it.
    const std::vector<std::uint8_t> prefix(this->sample.bytes.begin(),
                                           this->sample.bytes.begin() + static_cast<long>(length));
    const auto result = TypeParam::parse(prefix);
    if (may_end_at<TypeParam>(length))
      EXPECT_TRUE(result.has_value());
    else {
      ASSERT_FALSE(result.has_value()) << length;
      EXPECT_EQ(result.error().code, ParseCode::truncated) << length << " " << to_string(result.error());
      EXPECT_STRNE(result.error().field, "");
    }
  }
}

// FC-VI 5.9.5: reserved bits are ignored on receipt and written as zero. All other bits count.
TYPED_TEST(EveryMessage, each_bit_is_used_or_reserved) {
  const TypeParam original = this->parsed();
  for (std::size_t bit = 0; bit < 8 * this->sample.bytes.size(); ++bit) {
    auto bytes = this->sample.bytes;
    const auto flip = static_cast<std::uint8_t>(0x80 >> bit % 8);
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ flip);
    const auto changed = TypeParam::parse(bytes);
    if ((this->sample.mask[bit / 8] & flip) != 0) {
      EXPECT_TRUE(!changed || !(*changed == original)) << "bit " << bit << " does not count";
      continue;
    }
    ASSERT_TRUE(changed.has_value()) << "reserved bit " << bit << ": " << to_string(changed.error());
    EXPECT_EQ(*changed, original) << "reserved bit " << bit << " counts";
    EXPECT_EQ(written(*changed), this->sample.bytes) << "reserved bit " << bit << " is written";
  }
}

TYPED_TEST(EveryMessage, noise_never_parses_to_what_it_does_not_write_back) {
  Noise noise(42);
  for (int round = 0; round < 200; ++round) {
    const auto bytes = noise.bytes(noise.below(2 * this->sample.bytes.size() + 8));
    const auto message = TypeParam::parse(bytes);
    if (!message) continue;
    const auto again = TypeParam::parse(written(*message));
    ASSERT_TRUE(again.has_value()) << to_string(again.error());
    EXPECT_EQ(*again, *message);
  }
}

TEST(MessageTable, requests_have_names_of_their_own) {
  std::set<std::string_view> names;
  std::size_t count = 0;
  const auto add = [&]<class Message>(std::type_identity<Message>) {
    names.insert(Message::name);
    ++count;
  };
  for_each_message<ElsRequests>(add);
  for_each_message<CtRequests>(add);
  for_each_message<FcviIus>(add);
  EXPECT_EQ(names.size(), count);
}

}  // namespace
}  // namespace wire::test
