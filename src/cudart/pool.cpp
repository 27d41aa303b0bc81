// Stream-ordered memory: cudaMallocAsync, cudaFreeAsync, pools.
#include "engine/pool.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "cudart/capture.hpp"
#include "cudart/copy.hpp"
#include "cudart/graph_memory.hpp"
#include "cudart/pool_hooks.hpp"

namespace sb::cudart {
namespace {

using engine::memory_kind;
using engine::memory_pool;

engine::pool_set& the_pools() { return engine::pool_set::instance(); }

memory_pool* pool_of(cudaMemPool_t handle) { return reinterpret_cast<memory_pool*>(handle); }
cudaMemPool_t handle_of(memory_pool* pool) { return reinterpret_cast<cudaMemPool_t>(pool); }

bool known_device(int device) {
  return device >= 0 && static_cast<std::uint32_t>(device) < the_engine().device_count();
}
device_id id_of(int device) { return device_id{static_cast<std::uint32_t>(device)}; }

status allocate_captured(void** out, std::size_t bytes, CUstream_st& stream) {
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = {cudaMemLocationTypeDevice, static_cast<int>(stream.device.value)};
  params.bytesize = bytes;
  auto recipe = alloc_recipe(params);
  if (!recipe) return recipe.error();
  const auto node = enqueue(stream, std::move(*recipe));
  if (node) *out = params.dptr;
  return node.error();
}

// The pointer is there when the call returns; only work that uses it has to be in order.
status allocate(void** out, std::size_t bytes, cudaMemPool_t handle, bool from_pool,
                cudaStream_t stream_handle) {
  const auto stream = resolve(stream_handle);
  if (!stream) return stream.error();
  memory_pool* pool = from_pool ? pool_of(handle) : the_pools().current_pool((*stream)->device);
  if (from_pool && !the_pools().alive(pool)) return status::invalid_value;
  if (bytes == 0) {
    *out = nullptr;
    return status::success;
  }
  if (is_capturing(**stream)) return allocate_captured(out, bytes, **stream);
  if (const status s = admit_unsafe_call(); s != status::success) return s;
  auto place = the_pools().allocate(pool, pool_user(**stream), bytes);
  if (!place) return place.error();
  if (place->chunks != 0) spend_for_chunks(place->chunks, 0);
  if (!place->after.empty()) {
    engine::marker_operation marker;
    marker.role = engine::marker_role::allocate;
    marker.bytes = bytes;
    the_engine().submit((*stream)->id, std::move(marker), place->after);
  }
  the_engine().takes_freed_memory((*stream)->id);
  *out = place->base;
  return status::success;
}

// Memory of cudaMalloc goes back when the stream comes to the free.
status free_device_later(void* pointer, CUstream_st& stream) {
  const auto detached = the_memory().detach_device(pointer);
  if (!detached) return status::invalid_value;
  engine::marker_operation marker;
  marker.role = engine::marker_role::free;
  marker.bytes = detached->bytes;
  marker.reached = [gone = *detached] { the_memory().release_detached(gone); };
  return enqueue(stream, std::move(marker)).error();
}

status free_pool_memory(void* pointer, CUstream_st& stream) {
  const auto pool = the_pools().begin_free(pointer, memory_pool::counting::at_call);
  if (!pool) return pool.error();
  engine::marker_operation marker;
  marker.role = engine::marker_role::free;
  const auto command = enqueue(stream, engine::operation(std::move(marker)));
  engine::free_mark mark{pool_user(stream), {}};
  if (command) mark.command = *command;
  the_pools().finish_free(*pool, pointer, mark);
  return command.error();
}

// Whether the graph that captures the stream frees the pointer already.
bool freed_in_capture(const CUstream_st& stream, const void* pointer) {
  const std::lock_guard lock(capture_mutex());
  if (!stream.captured_by || stream.captured_by->graph == nullptr) return false;
  const auto& nodes = stream.captured_by->graph->nodes;
  return std::any_of(nodes.begin(), nodes.end(), [&](cudaGraphNode_t node) {
    const auto* gone = std::get_if<free_node>(&node->recipe.detail);
    return gone != nullptr && gone->pointer == pointer;
  });
}

status free_in_stream(void* pointer, cudaStream_t handle) {
  const auto stream = resolve(handle);
  if (!stream) return stream.error();
  if (pointer == nullptr) return status::success;
  if (is_capturing(**stream)) {
    if (freed_in_capture(**stream, pointer)) return status::invalid_value;
    auto recipe = free_recipe(pointer, (*stream)->device);
    if (!recipe) return recipe.error();
    return enqueue(**stream, std::move(*recipe)).error();
  }
  if (const status s = admit_unsafe_call(); s != status::success) return s;
  const auto known = the_memory().find(pointer);
  if (!known || known->base != pointer) return status::invalid_value;
  switch (known->kind) {
    case memory_kind::pool:
      return free_pool_memory(pointer, **stream);
    case memory_kind::device:
      return free_device_later(pointer, **stream);
    case memory_kind::graph:
      return take_graph_memory(pointer) ? status::success : status::invalid_value;
    case memory_kind::managed:
      return status::not_supported;  // h200
    default:
      return status::invalid_value;
  }
}

// Which other devices may use a pool's memory. It is the same memory for all of them here: kept for
// the queries.
struct access_book {
  std::mutex mutex;
  std::map<std::pair<memory_pool*, int>, cudaMemAccessFlags> by_device;
};
access_book& accesses() {
  static auto* b = new access_book;
  return *b;
}

status check_properties(const cudaMemPoolProps& p) {
  if (p.allocType != cudaMemAllocationTypePinned) return status::invalid_value;
  const auto* reserved = std::begin(p.reserved);
  if (std::any_of(reserved, std::end(p.reserved), [](unsigned char c) { return c != 0; })) {
    return status::invalid_value;
  }
  // Pools of host memory exist from CUDA 13 on; there are none here.
  if (p.location.type == cudaMemLocationTypeHost || p.location.type == cudaMemLocationTypeHostNuma)
    return status::not_supported;
  const bool device = p.location.type == cudaMemLocationTypeDevice && known_device(p.location.id);
  return device ? status::success : status::invalid_value;
}

status set_attribute(engine::pool_attributes& a, engine::pool_usage& u, cudaMemPoolAttr which,
                     const void* value) {
  const auto flag = [&] { return *static_cast<const int*>(value) != 0; };
  const auto bytes = [&] { return *static_cast<const std::uint64_t*>(value); };
  switch (which) {
    case cudaMemPoolReuseFollowEventDependencies:
      a.follow_events = flag();
      return status::success;
    case cudaMemPoolReuseAllowOpportunistic:
      a.opportunistic = flag();
      return status::success;
    case cudaMemPoolReuseAllowInternalDependencies:
      a.internal_dependencies = flag();
      return status::success;
    case cudaMemPoolAttrReleaseThreshold:
      a.release_threshold = bytes();
      return status::success;
    // The high-water marks can be reset, that is all.
    case cudaMemPoolAttrReservedMemHigh:
      if (bytes() != 0) return status::invalid_value;
      u.reserved_high = u.reserved;
      return status::success;
    case cudaMemPoolAttrUsedMemHigh:
      if (bytes() != 0) return status::invalid_value;
      u.used_high = u.used;
      return status::success;
    default:
      return status::invalid_value;
  }
}

status get_attribute(const engine::pool_attributes& a, const engine::pool_usage& u,
                     cudaMemPoolAttr which, void* value) {
  const auto flag = [&](bool is) {
    *static_cast<int*>(value) = is ? 1 : 0;
    return status::success;
  };
  const auto bytes = [&](std::uint64_t count) {
    *static_cast<std::uint64_t*>(value) = count;
    return status::success;
  };
  switch (which) {
    case cudaMemPoolReuseFollowEventDependencies:
      return flag(a.follow_events);
    case cudaMemPoolReuseAllowOpportunistic:
      return flag(a.opportunistic);
    case cudaMemPoolReuseAllowInternalDependencies:
      return flag(a.internal_dependencies);
    case cudaMemPoolAttrReleaseThreshold:
      return bytes(a.release_threshold);
    case cudaMemPoolAttrReservedMemCurrent:
      return bytes(u.reserved);
    case cudaMemPoolAttrReservedMemHigh:
      return bytes(u.reserved_high);
    case cudaMemPoolAttrUsedMemCurrent:
      return bytes(u.used);
    case cudaMemPoolAttrUsedMemHigh:
      return bytes(u.used_high);
    default:
      return status::invalid_value;
  }
}

status set_access(memory_pool* pool, const cudaMemAccessDesc& d) {
  if (d.location.type != cudaMemLocationTypeDevice) return status::not_supported;
  if (d.flags == cudaMemAccessFlagsProtRead) return status::not_supported;  // managed.tsv access.*
  if (!known_device(d.location.id)) return status::invalid_device;
  const bool none = d.flags == cudaMemAccessFlagsProtNone;
  if (!none && d.flags != cudaMemAccessFlagsProtReadWrite) return status::invalid_value;
  // CUDA: a pool's own device always has access.
  if (none && id_of(d.location.id) == pool->device()) return status::invalid_device;
  const std::lock_guard lock(accesses().mutex);
  accesses().by_device[{pool, d.location.id}] = d.flags;
  return status::success;
}

// Faults do not matter, captures do.
template <class Body>
cudaError_t unfailing_entry(Body&& body, const char* name = __builtin_FUNCTION()) {
  return entry(
      call_kind::unfailing,
      [&]() -> status {
        const status s = admit_unsafe_call();
        return s == status::success ? body() : s;
      },
      name);
}

}  // namespace

void spend_for_chunks(std::uint64_t got, std::uint64_t returned) {
  const timing_profile* timing = the_engine().timing();
  if (timing == nullptr) return;
  const double begin = got != 0 ? timing->pool_grow_ns : 0;
  the_engine().spend(begin + static_cast<double>(got) * timing->pool_chunk_ns +
                     static_cast<double>(returned) * timing->pool_return_ns);
}

bool pool_admits(const void* address, device_id device) {
  const std::lock_guard lock(accesses().mutex);
  return std::any_of(accesses().by_device.begin(), accesses().by_device.end(), [&](const auto& a) {
    return a.first.second == static_cast<int>(device.value) &&
           a.second != cudaMemAccessFlagsProtNone && a.first.first->contains(address);
  });
}

SB_API cudaError_t CUDARTAPI cudaMallocAsync(void** out, size_t bytes, cudaStream_t stream) {
  const auto check = [&] { return out != nullptr ? status::success : status::invalid_value; };
  return entry(call_kind::device, check,
               [&] { return allocate(out, bytes, nullptr, false, stream); });
}
SB_PTSZ(cudaMallocAsync, (void** out, size_t bytes, cudaStream_t stream), (out, bytes, stream))

SB_API cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void** out, size_t bytes, cudaMemPool_t pool,
                                                     cudaStream_t stream) {
  const auto check = [&] { return out != nullptr ? status::success : status::invalid_value; };
  return entry(call_kind::device, check, [&] { return allocate(out, bytes, pool, true, stream); });
}
SB_PTSZ(cudaMallocFromPoolAsync,
        (void** out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
        (out, bytes, pool, stream))

SB_API cudaError_t CUDARTAPI cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return entry(call_kind::device, [&] { return free_in_stream(pointer, stream); });
}
SB_PTSZ(cudaFreeAsync, (void* pointer, cudaStream_t stream), (pointer, stream))

SB_API cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t* out, int device) {
  return entry(call_kind::unfailing, [&] {
    if (out == nullptr) return status::invalid_value;
    if (!known_device(device)) return status::invalid_device;
    *out = handle_of(the_pools().default_pool(id_of(device)));
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceGetMemPool(cudaMemPool_t* out, int device) {
  return entry(call_kind::unfailing, [&] {
    if (out == nullptr || !known_device(device)) return status::invalid_value;
    *out = handle_of(the_pools().current_pool(id_of(device)));
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return entry(call_kind::unfailing, [&] {
    if (!known_device(device)) return status::invalid_value;
    return the_pools().set_current_pool(id_of(device), pool_of(pool));
  });
}

SB_API cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t* out, const cudaMemPoolProps* p) {
  return unfailing_entry([&] {
    if (out == nullptr || p == nullptr) return status::invalid_value;
    if (const status s = check_properties(*p); s != status::success) return s;
    const bool shared = p->handleTypes == cudaMemHandleTypePosixFileDescriptor;
    *out = handle_of(
        the_pools().create(id_of(p->location.id), p->maxSize,
                           shared ? engine::pool_sharing::by_file : engine::pool_sharing::none));
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t pool) {
  return unfailing_entry([&] {
    const status s = the_pools().destroy(pool_of(pool));
    if (s != status::success) return s;
    const std::lock_guard lock(accesses().mutex);
    std::erase_if(accesses().by_device,
                  [&](const auto& entry) { return entry.first.first == pool_of(pool); });
    return s;
  });
}

SB_API cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  return unfailing_entry([&] { return the_pools().trim(pool_of(pool), keep); });
}

SB_API cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which,
                                                     void* value) {
  return unfailing_entry([&] {
    if (value == nullptr) return status::invalid_value;
    return the_pools().with(pool_of(pool), [&](auto& attributes, auto& usage) {
      return set_attribute(attributes, usage, which, value);
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which,
                                                     void* value) {
  return unfailing_entry([&] {
    if (value == nullptr) return status::invalid_value;
    return the_pools().with(pool_of(pool), [&](auto& attributes, auto& usage) {
      return get_attribute(attributes, usage, which, value);
    });
  });
}

SB_API cudaError_t CUDARTAPI cudaMemPoolSetAccess(cudaMemPool_t pool,
                                                  const cudaMemAccessDesc* descriptions,
                                                  size_t count) {
  return unfailing_entry([&] {
    if (!the_pools().alive(pool_of(pool))) return status::invalid_value;
    if (count != 0 && descriptions == nullptr) return status::invalid_value;
    for (std::size_t i = 0; i < count; ++i) {
      const status s = set_access(pool_of(pool), descriptions[i]);
      if (s != status::success) return s;
    }
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                                  cudaMemLocation* location) {
  return unfailing_entry([&] {
    if (flags == nullptr || location == nullptr || !the_pools().alive(pool_of(pool))) {
      return status::invalid_value;
    }
    *flags = cudaMemAccessFlagsProtNone;
    if (location->type == cudaMemLocationTypeHost) return status::success;
    if (location->type != cudaMemLocationTypeDevice || !known_device(location->id)) {
      return status::invalid_value;
    }
    const std::lock_guard lock(accesses().mutex);
    const auto found = accesses().by_device.find({pool_of(pool), location->id});
    if (id_of(location->id) == pool_of(pool)->device()) {
      *flags = cudaMemAccessFlagsProtReadWrite;
    } else if (found != accesses().by_device.end()) {
      *flags = found->second;
    }
    return status::success;
  });
}

}  // namespace sb::cudart
