#include "tools/fcvi_sim/scenario/digest.hpp"

#include <openssl/evp.h>

#include <new>

namespace sim {

struct Hasher::State {
  State() {
    // Fails for want of memory only.
    if (context == nullptr || EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1) throw std::bad_alloc();
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  EVP_MD_CTX* context = EVP_MD_CTX_new();
};

Hasher::Hasher() : state_(std::make_unique<State>()) {}
Hasher::~Hasher() = default;

void Hasher::add(std::span<const std::uint8_t> bytes) { EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()); }

Sha256 Hasher::finish() {
  Sha256 digest{};
  EVP_DigestFinal_ex(state_->context, digest.data(), nullptr);
  return digest;
}

Sha256 sha256(std::span<const std::uint8_t> bytes) {
  Hasher hasher;
  hasher.add(bytes);
  return hasher.finish();
}

std::string to_string(const Sha256& digest) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) text.append({digits[byte >> 4], digits[byte & 0xF]});
  return text;
}

}  // namespace sim
