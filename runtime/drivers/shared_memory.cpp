#include "runtime/drivers/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

namespace runtime::drivers {
namespace {

std::byte* map_pages(int descriptor, std::size_t size_bytes, int protection) {
  void* const at = ::mmap(nullptr, size_bytes, protection, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED) return nullptr;
  ::madvise(at, size_bytes, MADV_DONTFORK);
  return static_cast<std::byte*>(at);
}

}  // namespace

Descriptor Descriptor::duplicate() const { return Descriptor(::fcntl(number_, F_DUPFD_CLOEXEC, 0)); }

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)),
      descriptor_(std::move(other.descriptor_)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  descriptor_ = std::move(other.descriptor_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, size_bytes_);
}

SharedMemory SharedMemory::make(std::size_t size_bytes, bool others_read_only) {
  SharedMemory memory;
  Descriptor descriptor(::memfd_create("fcvi", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor || ::ftruncate(descriptor.number(), static_cast<off_t>(size_bytes)) != 0) return memory;
  memory.data_ = map_pages(descriptor.number(), size_bytes, PROT_READ | PROT_WRITE);
  if (memory.data_ == nullptr) return memory;
  memory.size_bytes_ = size_bytes;
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | (others_read_only ? F_SEAL_FUTURE_WRITE : 0) | F_SEAL_SEAL;
  if (::fcntl(descriptor.number(), F_ADD_SEALS, seals) != 0) return {};
  memory.descriptor_ = std::move(descriptor);
  return memory;
}

SharedMemory SharedMemory::map(const Descriptor& descriptor, std::size_t size_bytes, Access access) {
  SharedMemory memory;
  struct stat status {};
  const int seals = ::fcntl(descriptor.number(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return memory;
  if (::fstat(descriptor.number(), &status) != 0 || status.st_size != static_cast<off_t>(size_bytes)) return memory;
  const int protection = access == Access::ReadOnly ? PROT_READ : PROT_READ | PROT_WRITE;
  memory.data_ = map_pages(descriptor.number(), size_bytes, protection);
  if (memory.data_ != nullptr) memory.size_bytes_ = size_bytes;
  return memory;
}

}  // namespace runtime::drivers
