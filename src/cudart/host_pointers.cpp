#include "cudart/host_pointers.hpp"

#include <cstring>

#include "engine/engine.hpp"
#include "engine/memory.hpp"

namespace sb::cudart {

namespace {

// Neither canonical on x86-64 nor within the 48 or 52 bits of aarch64; bits 56 and up are ignored
// there.
constexpr std::uint64_t barred = std::uint64_t{0x00f0} << 48;
constexpr std::uint64_t user_space = (std::uint64_t{1} << 48) - 1;

bool reachable(const void* address, device_id device) {
  const engine::memory& memory = engine::memory::instance();
  return memory.in_kept_range(address) || memory.find(address).has_value() ||
         engine::engine::instance().in_kernel_heap(device, address);
}

}  // namespace

void bar_host_pointers(const abi::kernel_info& kernel, char* params, device_id device) {
  for (std::uint32_t i = 0; i < kernel.param_count; ++i) {
    const abi::param& p = kernel.params[i];
    const bool followed = (p.flags & (abi::param_is_read | abi::param_is_written)) != 0;
    if ((p.flags & abi::param_is_pointer) == 0 || !followed || p.size != sizeof(void*)) continue;
    std::uint64_t value = 0;
    std::memcpy(&value, params + p.offset, sizeof value);
    // Null and wild pointers fault by themselves.
    if (value < 4096 || value > user_space) continue;
    if (reachable(reinterpret_cast<const void*>(value), device)) continue;
    value |= barred;
    std::memcpy(params + p.offset, &value, sizeof value);
  }
}

}  // namespace sb::cudart
