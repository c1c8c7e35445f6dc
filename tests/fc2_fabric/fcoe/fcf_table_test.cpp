#include "fc2_fabric/fcoe/fcf_table.hpp"

#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/ethernet_world.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::station_mac;

fip::FipMessage advertisement() {
  fip::FipMessage message{fip::Operation::discovery,
                          fip::subcode::discovery_advertisement,
                          fip::flag::fpma | fip::flag::available | fip::flag::f_port,
                          {},
                          {}};
  message.descriptors = {fip::Priority{7}, fip::Mac{station_mac(9)}, fip::NameId{{0x20}},
                         fip::Fabric{1, 0x0EFC00, {0x10}}, fip::FkaAdvPeriod{false, 8000}};
  return message;
}

KnownFcf usable(std::size_t index, std::uint8_t priority, std::uint64_t fabric = 0x10) {
  KnownFcf fcf{.mac = station_mac(index), .switch_name = {0x20 + index}, .fabric_name = {fabric}};
  fcf.priority = priority;
  fcf.available = fcf.verified = true;
  fcf.expires = 100 * second;
  return fcf;
}

// FC-BB-5: PRI, MAC, NAME, FAB, FKA, and nothing else that is critical.
TEST(FcfTable, advertisement_is_read) {
  const auto fcf = FcfTable::read(advertisement());
  ASSERT_TRUE(fcf);
  EXPECT_EQ(fcf->mac, station_mac(9));
  EXPECT_EQ(fcf->priority, 7);
  EXPECT_EQ(fcf->fabric_name, wire::Wwn{0x10});
  EXPECT_EQ(fcf->period, 8 * second);
  EXPECT_TRUE(fcf->available);
  EXPECT_TRUE(fcf->keep_alives_wanted);
  EXPECT_FALSE(fcf->usable());
}

TEST(FcfTable, bits_of_advertisement_are_read) {
  auto message = advertisement();
  message.flags = fip::flag::fpma;
  EXPECT_FALSE(FcfTable::read(message)->available);
  message.flags = fip::flag::available | fip::flag::spma;  // grants no addresses that we could use
  EXPECT_FALSE(FcfTable::read(message)->available);
  message.descriptors[4] = fip::FkaAdvPeriod{true, 8000};
  EXPECT_FALSE(FcfTable::read(message)->keep_alives_wanted);
}

// Each descriptor is needed; a critical one too many, or a value that nobody may use, spoils it.
TEST(FcfTable, bad_advertisements_are_refused) {
  for (std::size_t i = 0; i < advertisement().descriptors.size(); ++i) {
    auto message = advertisement();
    message.descriptors.erase(message.descriptors.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(FcfTable::read(message)) << i;
  }
  const auto with = [](const fip::Descriptor& descriptor, std::size_t at) {
    auto message = advertisement();
    if (at < message.descriptors.size())
      message.descriptors[at] = descriptor;
    else
      message.descriptors.push_back(descriptor);
    return FcfTable::read(message).has_value();
  };
  EXPECT_FALSE(with(fip::MaxFcoeSize{2158}, 9));
  EXPECT_FALSE(with(fip::UnknownDescriptor{127, {0, 0}}, 9));
  EXPECT_TRUE(with(fip::UnknownDescriptor{128, {0, 0}}, 9));
  EXPECT_TRUE(with(fip::VendorId{}, 9));
  EXPECT_FALSE(with(fip::Mac{wire::group_mac::all_fcf}, 1));
  EXPECT_FALSE(with(fip::Mac{}, 1));
  EXPECT_FALSE(with(fip::NameId{}, 2));
  EXPECT_FALSE(with(fip::Fabric{}, 3));
  EXPECT_FALSE(with(fip::Priority{7}, 9)) << "twice";
  EXPECT_FALSE(with(fip::UnknownDescriptor{2, {0, 0}}, 9)) << "a MAC descriptor of one word";
}

// FC-BB-5: FKA_ADV_PERIOD is 500 ms at least. One that is less counts as the default, 8 s, as Linux has it; one that is
// more than 90 s as that, so that an FCF that fell silent is not waited for for weeks.
TEST(FcfTable, period_is_bounded) {
  const auto read = [](std::uint32_t period_ms) {
    auto message = advertisement();
    message.descriptors[4] = fip::FkaAdvPeriod{false, period_ms};
    return FcfTable::read(message)->period;
  };
  EXPECT_EQ(read(0), 8 * second);
  EXPECT_EQ(read(499), 8 * second);
  EXPECT_EQ(read(500), 500 * millisecond);
  EXPECT_EQ(read(90'000), 90 * second);
  EXPECT_EQ(read(90'001), 90 * second);
  EXPECT_EQ(read(0xFFFF'FFFF), 90 * second);
}

// One MAC address on two VLANs: two FCFs.
TEST(FcfTable, vlans_tell_fcfs_apart) {
  FcfTable table;
  table.update(usable(1, 10));
  KnownFcf tagged = usable(1, 20);
  tagged.vlan = 100;
  table.update(tagged);
  EXPECT_EQ(table.fcfs().size(), 2U);
  EXPECT_EQ(table.best({})->vlan, 0);
  table.find(station_mac(1))->available = false;
  EXPECT_EQ(table.best({})->vlan, 100);
  EXPECT_EQ(table.find({station_mac(1), 101}), nullptr);
}

// Smallest priority; the fabric of before; then the names, whatever the order in which they were heard.
TEST(FcfTable, best_is_chosen) {
  FcfTable table;
  EXPECT_EQ(table.best({}), nullptr);
  table.update(usable(3, 20));
  table.update(usable(1, 10, 0x12));
  table.update(usable(2, 10, 0x11));
  EXPECT_EQ(table.best({})->mac, station_mac(2));
  EXPECT_EQ(table.best({0x12})->mac, station_mac(1));
  EXPECT_EQ(table.best({0x10})->mac, station_mac(2));  // priority comes first
  table.find(station_mac(2))->available = false;
  EXPECT_EQ(table.best({})->mac, station_mac(1));
  table.find(station_mac(1))->verified = false;
  EXPECT_EQ(table.best({})->mac, station_mac(3));
}

// What the ENode found out stays while the FCF is the same.
TEST(FcfTable, renewed_entry_stays_verified) {
  FcfTable table;
  table.update(usable(1, 10));
  KnownFcf heard = usable(1, 11);
  heard.verified = false;
  heard.expires = 0;
  EXPECT_TRUE(table.update(heard).verified);
  EXPECT_EQ(table.find(station_mac(1))->expires, 100 * second);
  EXPECT_EQ(table.find(station_mac(1))->priority, 11);
  heard.fabric_name = {0x99};
  EXPECT_FALSE(table.update(heard).verified);
}

// What expires makes room.
TEST(FcfTable, expired_fcf_is_forgotten) {
  FcfTable table;
  for (std::size_t i = 0; i < FcfTable::max_fcfs; ++i) table.update(usable(i, 1));
  EXPECT_TRUE(table.full());
  EXPECT_EQ(table.update(usable(5, 2)).priority, 2);
  table.find(station_mac(7))->expires = 50 * second;
  EXPECT_EQ(table.next_expiry(), 50 * second);
  EXPECT_EQ(table.expire(50 * second), (std::vector<FcfAddress>{station_mac(7)}));
  EXPECT_FALSE(table.full());
}

// Full: one that never answered goes first, though it says that it will be there for long; then the one that is silent
// the longest; the one that is used last of all.
TEST(FcfTable, full_table_makes_room) {
  FcfTable table;
  for (std::size_t i = 0; i < FcfTable::max_fcfs; ++i) {
    KnownFcf fcf = usable(i, 1);
    fcf.period = second;
    fcf.expires = (static_cast<TimeNs>(i) + 10) * second;
    fcf.verified = i != 20 && i != 10;
    if (i == 20) fcf.period = 1000 * second, fcf.expires += FcfTable::patience(999 * second);
    table.update(fcf);
  }
  table.find(station_mac(0))->period = 0;  // heard of a little later than its expiry tells
  for (const std::size_t gone : {10, 20, 1, 0, 3}) {
    table.make_room(station_mac(2));
    EXPECT_EQ(table.find(station_mac(gone)), nullptr) << gone;
  }
  EXPECT_NE(table.find(station_mac(2)), nullptr);
  EXPECT_EQ(table.fcfs().size(), FcfTable::max_fcfs - 5);
}

}  // namespace
}  // namespace fc2::fcoe
