// Any bytes as every message of the family.
#include "property.hpp"
#include "wire/messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const wire::fuzz::ExactCopy input(wire::Bytes(data, size));
  const auto check = [&]<class Message>(std::type_identity<Message>) { wire::fuzz::check<Message>(input.view()); };
  wire::for_each_message<wire::BlsMessages>(check);
  wire::for_each_message<wire::LinkControlMessages>(check);
  return 0;
}
