// Whether a program may register memory: VipRegisterMem must not take what the library would crash on.
#pragma once
#include <cstdint>

namespace vipl {

/// All of [address, address + length) is mapped, readable and writable. A region can be the target of receives and of
/// completions whatever its attributes are, so that read-only memory cannot be registered (VI-DG 3.4.3).
bool is_writable_memory(const void* address, std::uint64_t length_bytes);

}  // namespace vipl
