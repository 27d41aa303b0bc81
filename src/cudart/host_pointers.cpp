#include "cudart/host_pointers.hpp"

#include <cstring>

#include "cudart/context.hpp"
#include "cudart/pool_hooks.hpp"
#include "cudart/process.hpp"
#include "engine/fault.hpp"
#include "engine/images.hpp"
#include "engine/memory.hpp"

namespace sb::cudart {

namespace {

constexpr std::uint64_t user_space = (std::uint64_t{1} << 48) - 1;

// Memory of another device that this one may not access.
bool of_a_stranger(const void* address, device_id device) {
  if (the_engine().device_count() < 2) return false;
  const auto found = engine::memory::instance().find(address);
  if (!found || found->device == device) return false;
  switch (found->kind) {
    case engine::memory_kind::device:
    case engine::memory_kind::image:
    case engine::memory_kind::graph:
      return !may_access(device, found->device);
    case engine::memory_kind::pool:
      return !pool_admits(address, device);
    default:
      return false;
  }
}

bool reachable(const void* address, device_id device) {
  if (of_a_stranger(address, device)) return false;
  const engine::memory& memory = engine::memory::instance();
  return memory.in_kept_range(address) || memory.find(address).has_value() ||
         the_engine().in_kernel_heap(device, address) || engine::is_in_loaded_image(address);
}

}  // namespace

void bar_host_pointers(const abi::kernel_info& kernel, char* params, device_id device) {
  for (std::uint32_t i = 0; i < kernel.param_count; ++i) {
    const abi::param& p = kernel.params[i];
    const bool followed = (p.flags & (abi::param_is_read | abi::param_is_written)) != 0;
    const bool only_followed = followed && (p.flags & abi::param_is_carried) == 0;
    if ((p.flags & abi::param_is_pointer) == 0 || !only_followed) continue;
    if (p.size != sizeof(void*)) continue;
    std::uint64_t value = 0;
    std::memcpy(&value, params + p.offset, sizeof value);
    // Null and wild pointers fault by themselves.
    if (value < 4096 || value > user_space) continue;
    if (reachable(reinterpret_cast<const void*>(value), device)) continue;
    value |= engine::barred_address;
    std::memcpy(params + p.offset, &value, sizeof value);
  }
}

}  // namespace sb::cudart
