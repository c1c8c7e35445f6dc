// The records between the service and a process.
#include "vitcp/port_service/records.hpp"

#include <gtest/gtest.h>

#include "tests/vitcp/port_service/requests.hpp"

namespace vitcp::port_service {
namespace {
using test::named;

wire::Bytes body_of(const Record& record) { return wire::Bytes(record).subspan(1); }

TEST(RecordsTest, hello_known_octets) {
  const Record record = Hello{.role = Hello::Role::control, .name = "ab"}.write();
  EXPECT_EQ(record, (Record{1, 'V', 'I', 'T', 'C', 0, 3, 2, 0, 'a', 'b'}));
  const auto hello = Hello::parse(body_of(record));
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->role, Hello::Role::control);
  EXPECT_EQ(hello->name, "ab");
  EXPECT_EQ(hello->version, protocol_version);
}

// A name is cut; every shorter body, another magic and another role are refused.
TEST(RecordsTest, hello_limits) {
  const Record record = Hello{.name = std::string(100, 'n')}.write();
  EXPECT_EQ(record.size(), 1 + 8 + Hello::max_name_bytes);
  for (std::size_t size = 0; size < 8; ++size) EXPECT_FALSE(Hello::parse(body_of(record).first(size))) << size;
  for (const std::size_t at : {1U, 4U, 7U}) {
    Record other = record;
    other[at] = 9;
    EXPECT_FALSE(Hello::parse(body_of(other))) << at;
  }
}

TEST(RecordsTest, wait_round_trip) {
  const Wanted full{named(std::string(64, 'x')), true, named("peer"), wire::IpAddress::v4(10, 0, 0, 1),
                    wire::IpAddress::v4(10, 0, 0, 2)};
  const Wanted at{named("a"), false, std::nullopt, std::nullopt, wire::IpAddress::v4(10, 0, 0, 2)};
  for (const Wanted& wanted : {Wanted{}, Wanted{named("a")}, full, at, Wanted{named("a"), false, named("")}}) {
    const auto wait = Wait::parse(body_of(Wait{0x01020304, wanted}.write()));
    ASSERT_TRUE(wait);
    EXPECT_EQ(wait->id, 0x01020304U);
    EXPECT_EQ(wait->wanted, wanted);
  }
}

// Any other size, and lengths above 64, are refused.
TEST(RecordsTest, wait_limits) {
  Record record = Wait{1, {named("a")}}.write();
  const wire::Bytes body = body_of(record);
  for (std::size_t size = 0; size < body.size(); ++size) EXPECT_FALSE(Wait::parse(body.first(size))) << size;
  record.push_back(0);
  EXPECT_FALSE(Wait::parse(body_of(record)));
  record.pop_back();
  for (const std::size_t at : {6U, 7U}) {
    Record other = record;
    other[at] = 65;
    EXPECT_FALSE(Wait::parse(body_of(other))) << at;
  }
}

TEST(RecordsTest, port_state_round_trip) {
  for (const PortState& state : {PortState{true, ""}, PortState{false, "in use"}})
    EXPECT_EQ(PortState::parse(body_of(state.write(RecordKind::welcome))), state);
  EXPECT_FALSE(PortState::parse({}));
  const Record two{2};
  EXPECT_FALSE(PortState::parse(two));
}

TEST(RecordsTest, ids_and_texts) {
  EXPECT_EQ(id_record(RecordKind::cancel, 0x01020304), (Record{5, 1, 2, 3, 4}));
  EXPECT_EQ(parse_id(body_of(id_record(RecordKind::hand_over, 7))), 7U);
  EXPECT_FALSE(parse_id(Record{1, 2, 3}));
  EXPECT_FALSE(parse_id(Record{1, 2, 3, 4, 5}));
  for (const bool may_take : {false, true}) EXPECT_EQ(parse_take(body_of(take_record(may_take))), may_take);
  EXPECT_EQ(parse_take(Record{2}), std::nullopt);
  const Record text = text_record(RecordKind::reply, std::string(5000, 't'));
  EXPECT_EQ(text_of(body_of(text)), std::string(max_text_bytes, 't'));
  EXPECT_LE(text.size(), max_record_bytes);
}

}  // namespace
}  // namespace vitcp::port_service
