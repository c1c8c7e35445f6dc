// What a set-up leaves behind when it makes a connection.
#pragma once
#include <memory>
#include <vector>

#include "streams/stream.hpp"
#include "vitcp/channel.hpp"

namespace vitcp {

struct Established {
  std::unique_ptr<streams::Stream> stream;
  std::vector<std::uint8_t> unsent;  // of our connection segment
  Terms terms;
};

}  // namespace vitcp
