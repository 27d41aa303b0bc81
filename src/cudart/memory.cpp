// Device, pinned and registered memory: allocating and freeing.
#include "engine/memory.hpp"

#include "cudart/call_name.hpp"
#include "cudart/capture.hpp"
#include "cudart/copy.hpp"
#include "cudart/graph_memory.hpp"
#include "engine/pool.hpp"

namespace sb::cudart {
namespace {

using engine::memory_kind;

// CUDA: pitches of an H200 are multiples of this.
constexpr std::size_t pitch_unit = 512;

// A null out pointer is answered before anything else, a size of 0 before captures are looked at.
template <class Allocate>
cudaError_t allocate_entry(void** out, bool nothing, Allocate&& allocate,
                           const char* name = __builtin_FUNCTION()) {
  const auto check = [&] { return out != nullptr ? status::success : status::invalid_value; };
  // CUDA: of nothing there is some even after a fault; mixes.tsv fault_calls.malloc.zero
  return entry(
      nothing ? call_kind::unfailing : call_kind::device, check,
      [&]() -> status {
        *out = nothing ? nullptr : *out;
        if (nothing) return status::success;
        if (const status s = admit_unsafe_call(); s != status::success) return s;
        the_engine().wait_for_blocked_calls();
        const result<void*> base = allocate();
        if (base) *out = *base;
        engine::memory_taken_again();
        return base.error();
      },
      name);
}

result<void*> allocate_device(std::size_t bytes) {
  return the_memory().allocate_device(current_device(), bytes);
}

// CUDA: freeing device or pinned memory waits for everything on the device; ordering.tsv
// whileheld.*.cudaFree, cudaFreeHost, cudaHostUnregister
status wait_for_device(device_id device) {
  sched::wait_target target;
  target.scope = sched::wait_scope::device;
  target.device = device;
  const status s = the_engine().synchronize(target, device);
  engine::memory_given_back();
  return s;
}

// By a model's clock, at a rate of its profile.
void spend_on(std::size_t bytes, double timing_profile::* bytes_per_ns) {
  if (const timing_profile* timing = the_engine().timing(); timing != nullptr)
    the_engine().spend(static_cast<double>(bytes) / timing->*bytes_per_ns);
}

bool is_base(const std::optional<engine::allocation>& a, const void* pointer) {
  return a && a->base == pointer;
}

status free_any(void* pointer) {
  if (pointer == nullptr) return status::success;
  const auto known = the_memory().find(pointer);
  if (!is_base(known, pointer)) return status::invalid_value;
  switch (known->kind) {
    case memory_kind::device:
    case memory_kind::managed:
      if (const status s = wait_for_device(known->device); s != status::success) return s;
      return the_memory().free_device(pointer);
    case memory_kind::graph:
      if (const status s = wait_for_device(known->device); s != status::success) return s;
      return take_graph_memory(pointer) ? status::success : status::invalid_value;
    case memory_kind::pool: {
      // h200: does not wait, whatever runs; the memory stays until the device has been idle.
      engine::pool_set& pools = engine::pool_set::instance();
      const auto pool = pools.begin_free(pointer, engine::memory_pool::counting::never);
      if (!pool) return pool.error();
      engine::free_mark mark;
      mark.stream.device = known->device;
      pools.finish_free(*pool, pointer, mark);
      return status::success;
    }
    default:
      return status::invalid_value;
  }
}

status free_pinned(void* pointer) {
  if (pointer == nullptr) return status::success;
  const auto known = the_memory().find(pointer);
  if (!is_base(known, pointer) || known->kind != memory_kind::pinned) return status::invalid_value;
  if (const status s = wait_for_device(known->device); s != status::success) return s;
  spend_on(known->bytes, &timing_profile::unpin_bytes_per_ns);
  return the_memory().free_pinned(pointer);
}

status unregister(void* pointer) {
  const auto known = the_memory().find(pointer);
  if (is_base(known, pointer) && known->kind == memory_kind::registered) {
    if (const status s = wait_for_device(known->device); s != status::success) return s;
    spend_on(known->bytes, &timing_profile::register_bytes_per_ns);
  }
  return the_memory().unregister_host(pointer);
}

// Memory of the host that the device can reach under the same address.
std::optional<engine::allocation> find_mapped(const void* pointer) {
  auto known = the_memory().find(pointer);
  if (known && known->kind != memory_kind::pinned && known->kind != memory_kind::registered) {
    known.reset();
  }
  return known;
}

struct pitched_size {
  std::size_t pitch, bytes;
};

// Bytes of `rows` rows; nothing when there are more than addresses.
std::optional<pitched_size> pitched(std::size_t width, std::size_t height, std::size_t depth) {
  pitched_size size{};
  std::size_t rows = 0;
  if (__builtin_add_overflow(width, pitch_unit - 1, &size.pitch)) return std::nullopt;
  size.pitch = size.pitch / pitch_unit * pitch_unit;
  if (__builtin_mul_overflow(height, depth, &rows) ||
      __builtin_mul_overflow(size.pitch, rows, &size.bytes)) {
    return std::nullopt;
  }
  return size;
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaMalloc(void** out, size_t bytes) {
  return allocate_entry(out, bytes == 0, [&] { return allocate_device(bytes); });
}

SB_API cudaError_t CUDARTAPI cudaMallocPitch(void** out, size_t* pitch, size_t width,
                                             size_t height) {
  if (pitch == nullptr) return answer(status::invalid_value);
  const bool nothing = width == 0 || height == 0;
  const cudaError_t e = allocate_entry(out, nothing, [&]() -> result<void*> {
    const auto size = pitched(width, height, 1);
    if (!size) return status::memory_allocation;
    const auto base = allocate_device(size->bytes);
    if (base) *pitch = size->pitch;
    return base;
  });
  if (e == cudaSuccess && nothing) *pitch = 0;
  return e;
}

SB_API cudaError_t CUDARTAPI cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
  if (out == nullptr) return answer(status::invalid_value);
  const bool nothing = extent.width == 0 || extent.height == 0 || extent.depth == 0;
  void* base = nullptr;
  std::size_t pitch = 0;
  const cudaError_t e = allocate_entry(&base, nothing, [&]() -> result<void*> {
    const auto size = pitched(extent.width, extent.height, extent.depth);
    if (!size) return status::memory_allocation;
    pitch = size->pitch;
    return allocate_device(size->bytes);
  });
  if (e == cudaSuccess) *out = {base, pitch, extent.width, extent.height};
  return e;
}

// CUDA: freeing nothing takes 0.1 us and waits for nothing. Traces and device profiles know it by a
// name of its own.
SB_API cudaError_t CUDARTAPI cudaFree(void* pointer) {
  return entry(
      call_kind::capture_unsafe, [&] { return free_any(pointer); },
      pointer == nullptr ? "cudaFree(nullptr)" : "cudaFree");
}

SB_API cudaError_t CUDARTAPI cudaMallocHost(void** out, size_t bytes) {
  return as_call([&] { return cudaHostAlloc(out, bytes, cudaHostAllocDefault); });
}

SB_API cudaError_t CUDARTAPI cudaHostAlloc(void** out, size_t bytes, unsigned flags) {
  constexpr unsigned known =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if ((flags & ~known) != 0) return answer(status::invalid_value);
  return allocate_entry(out, bytes == 0, [&] {
    spend_on(bytes, &timing_profile::pin_bytes_per_ns);
    return the_memory().allocate_pinned(current_device(), bytes, flags);
  });
}

SB_API cudaError_t CUDARTAPI cudaFreeHost(void* pointer) {
  return entry(
      call_kind::capture_unsafe, [&] { return free_pinned(pointer); },
      pointer == nullptr ? "cudaFreeHost(nullptr)" : "cudaFreeHost");
}

SB_API cudaError_t CUDARTAPI cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  constexpr unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                             cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
  const auto check = [&] {
    const bool valid = pointer != nullptr && bytes != 0 && (flags & ~known) == 0;
    return valid ? status::success : status::invalid_value;
  };
  return entry(call_kind::capture_unsafe, check, [&] {
    the_engine().wait_for_blocked_calls();
    spend_on(bytes, &timing_profile::register_bytes_per_ns);
    return the_memory().register_host(current_device(), pointer, bytes, flags);
  });
}

SB_API cudaError_t CUDARTAPI cudaHostUnregister(void* pointer) {
  return entry(call_kind::capture_unsafe, [&] { return unregister(pointer); });
}

SB_API cudaError_t CUDARTAPI cudaHostGetDevicePointer(void** out, void* pointer, unsigned flags) {
  const auto check = [&] {
    return out != nullptr && flags == 0 ? status::success : status::invalid_value;
  };
  return entry(call_kind::device, check, [&] {
    if (!find_mapped(pointer)) return status::invalid_value;
    *out = pointer;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaHostGetFlags(unsigned* flags, void* pointer) {
  const auto check = [&] { return flags != nullptr ? status::success : status::invalid_value; };
  return entry(call_kind::device, check, [&] {
    const auto known = the_memory().find(pointer);
    if (known && known->kind == memory_kind::managed) {
      *flags = cudaHostAllocMapped;
      return status::success;
    }
    if (!find_mapped(pointer)) return status::invalid_value;
    // h200: everything is mapped, whether the call asked for it or not.
    *flags = known->flags | cudaHostAllocMapped;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaMemGetInfo(size_t* free, size_t* total) {
  return entry(call_kind::device, [&] {
    const engine::memory_info info = the_memory().info(current_device());
    if (free != nullptr) *free = info.free_bytes;
    if (total != nullptr) *total = info.total_bytes;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaPointerGetAttributes(cudaPointerAttributes* out,
                                                      const void* pointer) {
  const auto check = [&] { return out != nullptr ? status::success : status::invalid_value; };
  return entry(call_kind::light, check, [&] {
    *out = {};
    const auto known = the_memory().find(pointer);
    void* same = const_cast<void*>(pointer);
    if (!known) {
      out->device = cudaInvalidDeviceId;
      out->hostPointer = same;
      return status::success;
    }
    out->device = static_cast<int>(known->device.value);
    out->devicePointer = same;
    switch (known->kind) {
      case memory_kind::managed:
        out->type = cudaMemoryTypeManaged;
        out->hostPointer = same;
        break;
      case memory_kind::pinned:
      case memory_kind::registered:
        out->type = cudaMemoryTypeHost;
        out->hostPointer = same;
        break;
      default:
        out->type = cudaMemoryTypeDevice;
    }
    return status::success;
  });
}

}  // namespace sb::cudart
