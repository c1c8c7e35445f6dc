#include "tools/fcvi_sim/scenario/status_text.hpp"

#include "vi/descriptor.hpp"

namespace sim {

namespace {

struct Name {
  std::uint32_t bit;
  std::string_view name;
};
constexpr Name names[] = {{vi::status::format_error, "format_error"},
                          {vi::status::protection_error, "protection_error"},
                          {vi::status::length_error, "length_error"},
                          {vi::status::partial_error, "partial_error"},
                          {vi::status::flushed, "flushed"},
                          {vi::status::transport_error, "transport_error"},
                          {vi::status::rdma_protection_error, "rdma_protection_error"},
                          {vi::status::remote_descriptor_error, "remote_descriptor_error"}};
constexpr std::string_view success = "success";

}  // namespace

std::string status_text(std::uint32_t error_bits) {
  std::string text;
  for (const Name& known : names)
    if ((error_bits & known.bit) != 0) text.append(text.empty() ? "" : " and ").append(known.name);
  return text.empty() ? std::string(success) : text;
}

std::optional<std::uint32_t> find_status(std::string_view name) {
  if (name == success) return 0;
  for (const Name& known : names)
    if (name == known.name) return known.bit;
  return std::nullopt;
}

std::vector<std::string_view> status_names() {
  std::vector<std::string_view> all{success};
  for (const Name& known : names) all.push_back(known.name);
  return all;
}

}  // namespace sim
