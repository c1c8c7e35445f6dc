// For the sources that define parse(), write() and to_string() of messages that are not on the way of a VI's data. In
// the headers of fifty messages they were compiled again for each source that uses one.
#pragma once
#include "wire/codec.hpp"

#define WIRE_DEFINE_CODED(Message) \
  Result<Message> Message::parse(Bytes bytes) { return codec::parse<Message>(bytes); } \
  void Message::write(MutableBytes to) const { codec::write(*this, to); } \
  std::string Message::to_string() const { return codec::describe(*this); }
