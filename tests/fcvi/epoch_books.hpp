// An endpoint that keeps books of messages that overtook others, at each level; epoch_books_test.cpp says
// with which parameters.
#pragma once
#include "tests/fcvi/forged_messages.hpp"

namespace support {

class Books : public ForgedAtLevel {
 public:
  wire::MemHandle register_all(bool write, bool read) {
    wire::MemHandle handle{};
    const vi::MemoryAttributes attributes{.ptag = {}, .enable_rdma_write = write, .enable_rdma_read = read};
    EXPECT_EQ(server->nic.register_memory(Host::base, server->memory.data(), server->memory.size(), attributes, handle),
              vi::Return::Success);
    return handle;
  }
  void expect_nothing_wrong() {
    fabric.run_for(runtime::millisecond);
    EXPECT_EQ(pool(), 0u);
    EXPECT_EQ(told(), "");
    EXPECT_EQ(server_vi->state(), vi::State::Connected);
    EXPECT_EQ(fabric.pool.outstanding(), 0u);
  }
};
class ReliableBooks : public Books {};
class DeliveryBooks : public Books {};
class ReceptionBooks : public Books {};
class UnreliableBooks : public Books {};

}  // namespace support
