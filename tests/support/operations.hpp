// Calls of the VI model that tests wait for: each writes down its answer; and what descriptors say when they are done.
#pragma once
#include <optional>

#include "vi/descriptor.hpp"
#include "vi/transport.hpp"

namespace support {

template <class Base>
struct Answered : Base {
  void done(vi::Return value) override {
    ++calls;
    result = value;
  }
  int calls = 0;  // done() must come once
  std::optional<vi::Return> result;
};
using Done = Answered<vi::Operation>;
using Connect = Answered<vi::ConnectOperation>;
using Wait = Answered<vi::ConnectWaitOperation>;

inline constexpr std::uint32_t read_done = vi::status::done | vi::status::op_rdma_read;

}  // namespace support
