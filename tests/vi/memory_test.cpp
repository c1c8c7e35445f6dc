// Memory regions, handles and protection tags (VI-ARCH 3.2, VI-DG 3.4).
#include "vi/memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace vi {
namespace {

constexpr std::uint64_t base = 0x10000;

class Memory : public ::testing::Test {
 protected:
  wire::MemHandle add(MemoryAttributes attributes = {}, std::uint64_t address = base) {
    wire::MemHandle handle{};
    EXPECT_EQ(table.register_region(address, host.data(), host.size(), attributes, handle), Return::Success);
    return handle;
  }
  Ptag tag() {
    Ptag created;
    EXPECT_EQ(table.create_ptag(created), Return::Success);
    return created;
  }
  std::byte* translate(wire::MemHandle handle, std::uint64_t address, std::uint64_t length, Ptag vi_tag = {},
                       Access access = Access::Local) {
    return table.translate(handle, address, length, vi_tag, access);
  }
  std::array<std::byte, 256> host{};
  MemoryTable table;
};

TEST_F(Memory, empty_register) {
  // VI-DG 3.4.3, wild 10: a handle is never 0 or FFFFFFFFh and not negative.
  const auto handle = add();
  EXPECT_GT(static_cast<std::int32_t>(handle.value), 0);
  EXPECT_EQ(table.region_count(), 1u);
}

TEST_F(Memory, empty_register_invalid_parameters) {
  // VI-DG 3.4.3: length zero, no memory, wrap-around at 2^64.
  wire::MemHandle handle{42};
  EXPECT_EQ(table.register_region(base, host.data(), 0, {}, handle), Return::InvalidParameter);
  EXPECT_EQ(table.register_region(base, nullptr, 1, {}, handle), Return::InvalidParameter);
  EXPECT_EQ(table.register_region(~std::uint64_t{0}, host.data(), 2, {}, handle), Return::InvalidParameter);
  EXPECT_EQ(table.register_region(base, host.data(), ~std::uint64_t{0}, {}, handle), Return::InvalidParameter);
  EXPECT_EQ(handle.value, 42u);
  EXPECT_EQ(table.region_count(), 0u);
}

TEST_F(Memory, empty_register_up_to_the_last_address) {
  // VI-ARCH 3.2.1: a region may end at 2^64; references beyond wrap and fail.
  const auto handle = add({}, ~std::uint64_t{0} - host.size() + 1);
  EXPECT_EQ(translate(handle, ~std::uint64_t{0}, 1), &host[255]);
  EXPECT_EQ(translate(handle, ~std::uint64_t{0}, 2), nullptr);
  EXPECT_EQ(translate(handle, ~std::uint64_t{0}, ~std::uint64_t{0}), nullptr);
  EXPECT_EQ(translate(handle, 0, 1), nullptr);
}

TEST_F(Memory, empty_register_unknown_tag) {
  // VI-DG 3.4.3: VIP_INVALID_PTAG.
  wire::MemHandle handle{};
  EXPECT_EQ(table.register_region(base, host.data(), 1, {.ptag = Ptag{5}}, handle), Return::InvalidPtag);
}

TEST(MemoryLimits, full_register) {
  // VI-DG 3.4.3: VIP_ERROR_RESOURCE at either limit; a freed place can be used again.
  std::array<std::byte, 32> host{};
  MemoryTable table({.max_regions = 2, .max_ptags = 1, .max_region_bytes = 16});
  std::array<wire::MemHandle, 3> handles{};
  EXPECT_EQ(table.register_region(base, host.data(), 17, {}, handles[0]), Return::ErrorResource);
  EXPECT_EQ(table.register_region(base, host.data(), 16, {}, handles[0]), Return::Success);
  EXPECT_EQ(table.register_region(base, host.data(), 16, {}, handles[1]), Return::Success);
  EXPECT_EQ(table.register_region(base, host.data(), 16, {}, handles[2]), Return::ErrorResource);
  EXPECT_EQ(table.deregister(base, handles[0]), Return::Success);
  EXPECT_EQ(table.register_region(base, host.data(), 16, {}, handles[2]), Return::Success);
  EXPECT_NE(handles[0], handles[2]);
}

TEST(MemoryLimits, full_register_bytes) {
  // VI-DG 4.5 MaxRegisterBytes: of all regions together.
  std::array<std::byte, 32> host{};
  MemoryTable table({.max_regions = 9, .max_ptags = 1, .max_region_bytes = 32, .max_registered_bytes = 40});
  std::array<wire::MemHandle, 3> handles{};
  EXPECT_EQ(table.register_region(base, host.data(), 32, {}, handles[0]), Return::Success);
  EXPECT_EQ(table.register_region(base, host.data(), 9, {}, handles[1]), Return::ErrorResource);
  EXPECT_EQ(table.register_region(base, host.data(), 8, {}, handles[1]), Return::Success);
  EXPECT_EQ(table.register_region(base, host.data(), 1, {}, handles[2]), Return::ErrorResource);
  EXPECT_EQ(table.deregister(base, handles[1]), Return::Success);
  EXPECT_EQ(table.register_region(base, host.data(), 8, {}, handles[2]), Return::Success);
}

TEST(MemoryLimits, full_create_ptag) {
  // VI-DG 3.4.1: VIP_ERROR_RESOURCE.
  MemoryTable table({.max_regions = 1, .max_ptags = 1});
  Ptag first, second;
  EXPECT_EQ(table.create_ptag(first), Return::Success);
  EXPECT_EQ(table.create_ptag(second), Return::ErrorResource);
  EXPECT_EQ(table.destroy_ptag(first), Return::Success);
  EXPECT_EQ(table.create_ptag(second), Return::Success);
  EXPECT_NE(first, second);
}

TEST_F(Memory, registered_translate_bounds) {
  // VI-ARCH 6.3.2: the whole range must lie in the region.
  const auto handle = add();
  EXPECT_EQ(translate(handle, base, 256), &host[0]);
  EXPECT_EQ(translate(handle, base + 255, 1), &host[255]);
  EXPECT_EQ(translate(handle, base - 1, 1), nullptr);
  EXPECT_EQ(translate(handle, base - 1, 2), nullptr);
  EXPECT_EQ(translate(handle, base, 257), nullptr);
  EXPECT_EQ(translate(handle, base + 256, 1), nullptr);
  EXPECT_EQ(translate(handle, base + 1, ~std::uint64_t{0}), nullptr);
}

TEST_F(Memory, registered_translate_zero_length) {
  // impl: a reference to nothing still needs handle and tag; it may stand at the end of the region.
  const Ptag mine = tag(), other = tag();
  const auto handle = add({.ptag = mine});
  EXPECT_EQ(translate(handle, base, 0), &host[0]);
  EXPECT_EQ(translate(handle, base + 256, 0), host.data() + 256);
  EXPECT_EQ(translate(handle, base + 257, 0), nullptr);
  EXPECT_EQ(translate(handle, base - 1, 0), nullptr);
  EXPECT_EQ(translate(handle, base, 0, other), nullptr);
  EXPECT_EQ(translate(wire::MemHandle{handle.value + 1}, base, 0), nullptr);
}

TEST_F(Memory, registered_translate_unknown_handle) {
  // VI-ARCH 3.2.1: addresses count only with their handle.
  const auto handle = add();
  for (const std::uint32_t bad : {0u, handle.value + 1, 0x7FFFFFFFu, 0x80000000u | handle.value, 0xFFFFFFFFu})
    EXPECT_EQ(translate(wire::MemHandle{bad}, base, 1), nullptr) << bad;
}

TEST_F(Memory, registered_translate_tags) {
  // VI-ARCH 3.2.2.1, ruling 22: equal tags, or a NULL VI tag.
  const Ptag one = tag(), two = tag();
  const auto tagged = add({.ptag = one});
  const auto untagged = add();
  EXPECT_NE(translate(tagged, base, 1, one), nullptr);
  EXPECT_NE(translate(tagged, base, 1, Ptag{}), nullptr);
  EXPECT_EQ(translate(tagged, base, 1, two), nullptr);
  EXPECT_EQ(translate(untagged, base, 1, one), nullptr);
  EXPECT_NE(translate(untagged, base, 1, Ptag{}), nullptr);
}

TEST_F(Memory, registered_translate_rdma_enables) {
  // VI-ARCH 3.2.2.2: each direction has its own enable; local references need none.
  const auto closed = add();
  const auto write = add({.enable_rdma_write = true});
  const auto read = add({.enable_rdma_read = true});
  const auto works = [&](wire::MemHandle handle, Access access) {
    return translate(handle, base, 1, {}, access) != nullptr;
  };
  EXPECT_TRUE(works(closed, Access::Local));
  EXPECT_FALSE(works(closed, Access::RemoteWrite));
  EXPECT_FALSE(works(closed, Access::RemoteRead));
  EXPECT_TRUE(works(write, Access::RemoteWrite));
  EXPECT_FALSE(works(write, Access::RemoteRead));
  EXPECT_FALSE(works(read, Access::RemoteWrite));
  EXPECT_TRUE(works(read, Access::RemoteRead));
}

TEST_F(Memory, registered_register_again) {
  // VI-ARCH 3.2.1, wild 10: the same range twice, with different attributes.
  const auto first = add();
  const auto second = add({.enable_rdma_write = true});
  EXPECT_NE(first, second);
  EXPECT_EQ(table.deregister(base, first), Return::Success);
  EXPECT_EQ(translate(first, base, 1), nullptr);
  EXPECT_NE(translate(second, base, 1, {}, Access::RemoteWrite), nullptr);
}

TEST_F(Memory, registered_deregister) {
  // VI-DG 3.4.4: the address must lie in the region, and the handle is good once.
  const auto handle = add();
  EXPECT_EQ(table.deregister(base + 256, handle), Return::InvalidParameter);
  EXPECT_EQ(table.deregister(base - 1, handle), Return::InvalidParameter);
  EXPECT_EQ(table.deregister(base + 255, handle), Return::Success);
  EXPECT_EQ(table.deregister(base, handle), Return::InvalidParameter);
  EXPECT_EQ(translate(handle, base, 1), nullptr);
  EXPECT_EQ(table.region_count(), 0u);
}

TEST_F(Memory, deregistered_register_many) {
  // wild 10: one region registered and deregistered per operation; no handle comes back soon.
  std::set<std::uint32_t> seen;
  for (int i = 0; i != 100'000; ++i) {
    const auto handle = add();
    ASSERT_TRUE(seen.insert(handle.value).second) << "after " << i;
    ASSERT_GT(static_cast<std::int32_t>(handle.value), 0);
    ASSERT_EQ(table.deregister(base, handle), Return::Success);
  }
}

TEST(HandleTableLimits, full_insert_erase_many) {
  // impl: with one place only, its 2^30 generations pass without 0 or a negative handle.
  HandleTable<int> table(1);
  std::uint32_t previous = 0;
  for (int i = 0; i != 1000; ++i) {
    const std::uint32_t handle = table.insert(i);
    ASSERT_NE(handle, 0u);
    ASSERT_NE(handle, previous);
    ASSERT_EQ(table.insert(0), 0u);
    ASSERT_EQ(*table.find(handle), i);
    ASSERT_EQ(table.find(previous), nullptr);
    table.erase(handle);
    previous = handle;
  }
  EXPECT_EQ(HandleTable<int>(0).insert(1), 0u);
}

TEST_F(Memory, registered_query_and_set_attributes) {
  // VI-DG 3.7.4, 3.7.5: all or nothing; the tag's users follow.
  const Ptag one = tag(), two = tag();
  const auto handle = add({.ptag = one});
  MemoryAttributes attributes;
  EXPECT_EQ(table.query(base + 300, handle, attributes), Return::InvalidParameter);
  EXPECT_EQ(table.set_attributes(base, handle, {.ptag = Ptag{9999}, .enable_rdma_read = true}), Return::InvalidPtag);
  EXPECT_EQ(table.query(base, handle, attributes), Return::Success);
  EXPECT_EQ(attributes, (MemoryAttributes{.ptag = one}));
  for (const std::uint64_t elsewhere :
       {base - 1, base + 1, base + 255, base + 256}) {  // "the base address of the memory region"
    EXPECT_EQ(table.set_attributes(elsewhere, handle, {}), Return::InvalidParameter);
    EXPECT_EQ(table.query(elsewhere, handle, attributes), Return::InvalidParameter);
  }
  EXPECT_EQ(table.set_attributes(base, handle, {.ptag = two, .enable_rdma_read = true}), Return::Success);
  EXPECT_EQ(table.query(base, handle, attributes), Return::Success);
  EXPECT_EQ(attributes, (MemoryAttributes{.ptag = two, .enable_rdma_read = true}));
  EXPECT_EQ(table.destroy_ptag(one), Return::Success);
  EXPECT_EQ(table.destroy_ptag(two), Return::ErrorResource);
}

TEST_F(Memory, tagged_destroy_ptag) {
  // VI-DG 3.4.2: a tag that a VI or a region uses stays; a destroyed or NULL one is unknown.
  const Ptag created = tag();
  const auto handle = add({.ptag = created});
  table.add_user(created);  // a VI
  EXPECT_EQ(table.destroy_ptag(created), Return::ErrorResource);
  EXPECT_EQ(table.deregister(base, handle), Return::Success);
  EXPECT_EQ(table.destroy_ptag(created), Return::ErrorResource);
  table.remove_user(created);
  EXPECT_EQ(table.destroy_ptag(created), Return::Success);
  EXPECT_EQ(table.destroy_ptag(created), Return::InvalidParameter);
  EXPECT_EQ(table.destroy_ptag(Ptag{}), Return::InvalidParameter);
  EXPECT_FALSE(table.is_valid(created));
  EXPECT_TRUE(table.is_valid(Ptag{}));
  EXPECT_EQ(table.ptag_count(), 0u);
}

TEST_F(Memory, tagged_set_same_tag) {
  // VI-DG 3.7.4: setting the tag it has leaves one user.
  const Ptag created = tag();
  const auto handle = add({.ptag = created});
  EXPECT_EQ(table.set_attributes(base, handle, {.ptag = created}), Return::Success);
  EXPECT_EQ(table.deregister(base, handle), Return::Success);
  EXPECT_EQ(table.destroy_ptag(created), Return::Success);
}

}  // namespace
}  // namespace vi
