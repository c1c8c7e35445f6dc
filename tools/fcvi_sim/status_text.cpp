#include "tools/fcvi_sim/status_text.hpp"

#include <string_view>

#include "vi/descriptor.hpp"

namespace sim {

std::string status_text(std::uint32_t error_bits) {
  struct Name {
    std::uint32_t bit;
    std::string_view name;
  };
  static constexpr Name names[] = {{vi::status::format_error, "format_error"},
                                   {vi::status::protection_error, "protection_error"},
                                   {vi::status::length_error, "length_error"},
                                   {vi::status::partial_error, "partial_error"},
                                   {vi::status::flushed, "flushed"},
                                   {vi::status::transport_error, "transport_error"},
                                   {vi::status::rdma_protection_error, "rdma_protection_error"},
                                   {vi::status::remote_descriptor_error, "remote_descriptor_error"}};
  std::string text;
  for (const Name& known : names)
    if ((error_bits & known.bit) != 0) text.append(text.empty() ? "" : " and ").append(known.name);
  return text.empty() ? "success" : text;
}

}  // namespace sim
