// Streams: making, asking, waiting, host functions.
#include <algorithm>
#include <mutex>

#include "cudart/call_name.hpp"
#include "cudart/capture.hpp"
#include "cudart/context.hpp"
#include "cudart/operations.hpp"
#include "cudart/pool_hooks.hpp"
#include "cudart/process.hpp"

namespace sb::cudart {
namespace {

status create(cudaStream_t* out, unsigned flags, int priority) {
  the_engine().wait_for_blocked_calls();
  const int clamped = nearest_priority(priority, current_device());
  const stream_kind kind =
      (flags & cudaStreamNonBlocking) != 0 ? stream_kind::non_blocking : stream_kind::blocking;
  CUstream_st* stream = make_stream(current_device(), kind, flags, clamped);
  if (stream == nullptr) return status::memory_allocation;
  *out = stream;
  return status::success;
}

// Reads one member of a stream into the caller's variable.
template <class Out, class Read>
cudaError_t read(cudaStream_t handle, Out* out, Read&& get, bool spoils_capture = false) {
  const auto check = [&] { return out != nullptr ? status::success : status::invalid_value; };
  return entry(call_kind::device, check, [&]() -> status {
    const auto stream = resolve(handle);
    if (!stream) return stream.error();
    if (spoils_capture) {
      if (const status s = refuse_captured(**stream); s != status::success) return s;
    }
    *out = static_cast<Out>(get(**stream));
    return status::success;
  });
}
// CUDA: to ask for these spoils a capture; mixes.tsv refusals.*.streamflags, parts.tsv asked.*
template <class Out, class Read>
cudaError_t read_uncaptured(cudaStream_t handle, Out* out, Read&& get) {
  return read(handle, out, get, true);
}

// CUDA: what the stream gets from now on has the new priority; priorities.tsv stream.attr.*
void set_priority(CUstream_st& stream, int wanted) {
  stream.priority = nearest_priority(wanted, stream.device);
  the_engine().set_priority(stream.id, stream.priority);
}

std::mutex& attributes_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

bool is_stream_attribute(cudaLaunchAttributeID id) {
  return id == cudaLaunchAttributeAccessPolicyWindow ||
         id == cudaLaunchAttributeSynchronizationPolicy || id == cudaLaunchAttributePriority ||
         id == cudaLaunchAttributeMemSyncDomainMap || id == cudaLaunchAttributeMemSyncDomain;
}

cudaLaunchAttributeValue default_attribute(const CUstream_st& stream, cudaLaunchAttributeID id) {
  cudaLaunchAttributeValue value{};
  if (id == cudaLaunchAttributeSynchronizationPolicy) value.syncPolicy = cudaSyncPolicyAuto;
  if (id == cudaLaunchAttributePriority) value.priority = stream.priority;
  if (id == cudaLaunchAttributeMemSyncDomainMap) value.memSyncDomainMap.remote = 1;
  return value;
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t* stream) {
  return as_call([&] { return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0); });
}

SB_API cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return as_call([&] { return cudaStreamCreateWithPriority(stream, flags, 0); });
}

SB_API cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                          int priority) {
  const auto check = [&] {
    const bool known = (flags & ~unsigned{cudaStreamNonBlocking}) == 0;
    return stream != nullptr && known ? status::success : status::invalid_value;
  };
  return entry(call_kind::device, check, [&] { return create(stream, flags, priority); });
}

SB_API cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream) {
  // CUDA: returns at once, pending work still runs; ordering.tsv stream.destroy.pending.*
  // The default streams have no handle of this kind: errors.tsv destroy.null, destroy.legacy
  // also after a fault, mixes.tsv fault_calls.streamdestroy.null
  return entry(call_kind::unfailing, [&]() -> status {
    if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
      return status::invalid_resource_handle;
    if (const status s = admit(call_kind::device); s != status::success) return s;
    the_engine().wait_for_blocked_calls();
    return retire(stream) ? status::success : status::invalid_resource_handle;
  });
}

SB_API cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t handle) {
  return entry(call_kind::device, [&]() -> status {
    const auto stream = resolve(handle);
    if (!stream) return stream.error();
    if (const status s = admit_host_wait(**stream); s != status::success) return s;
    sched::wait_target target;
    target.scope = sched::wait_scope::stream;
    target.stream = (*stream)->id;
    target.device = (*stream)->device;
    return wait_and_release(target, (*stream)->device);
  });
}
SB_PTSZ(cudaStreamSynchronize, (cudaStream_t stream), (stream))

SB_API cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t handle) {
  return entry(call_kind::device, [&]() -> status {
    const auto stream = resolve(handle);
    if (!stream) return stream.error();
    if (const status s = admit_host_wait(**stream); s != status::success) return s;
    const status sticky = the_engine().sticky_error((*stream)->device);
    if (sticky != status::success) return sticky;
    if (!the_engine().idle((*stream)->id)) return status::not_ready;
    the_engine().seen_idle((*stream)->id);
    return status::success;
  });
}
SB_PTSZ(cudaStreamQuery, (cudaStream_t stream), (stream))

SB_API cudaError_t CUDARTAPI cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return as_call(
      [&] { return read_uncaptured(stream, flags, [](const CUstream_st& s) { return s.flags; }); });
}
SB_PTSZ(cudaStreamGetFlags, (cudaStream_t stream, unsigned* flags), (stream, flags))

SB_API cudaError_t CUDARTAPI cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return as_call([&] {
    return read(stream, priority, [](const CUstream_st& s) { return s.priority.load(); });
  });
}
SB_PTSZ(cudaStreamGetPriority, (cudaStream_t stream, int* priority), (stream, priority))

SB_API cudaError_t CUDARTAPI cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return as_call([&] {
    return read_uncaptured(stream, id, [](const CUstream_st& s) { return s.unique_id; });
  });
}
SB_PTSZ(cudaStreamGetId, (cudaStream_t stream, unsigned long long* id), (stream, id))

SB_API cudaError_t CUDARTAPI cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return as_call([&] {
    return read_uncaptured(stream, device, [](const CUstream_st& s) { return s.device.value; });
  });
}
SB_PTSZ(cudaStreamGetDevice, (cudaStream_t stream, int* device), (stream, device))

// Attributes are kept and handed back; of them only the priority changes what a stream does.
SB_API cudaError_t CUDARTAPI cudaStreamGetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                                    cudaLaunchAttributeValue* out) {
  return entry(call_kind::device, [&]() -> status {
    if (out == nullptr || !is_stream_attribute(id)) return status::invalid_value;
    const auto stream = resolve(handle);
    if (!stream) return stream.error();
    const std::lock_guard lock(attributes_mutex());
    *out = default_attribute(**stream, id);
    for (const cudaLaunchAttribute& a : (*stream)->attributes) {
      if (a.id == id) *out = a.val;
    }
    return status::success;
  });
}
SB_PTSZ(cudaStreamGetAttribute,
        (cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue* out),
        (stream, id, out))

SB_API cudaError_t CUDARTAPI cudaStreamSetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                                    const cudaLaunchAttributeValue* value) {
  return entry(call_kind::device, [&]() -> status {
    if (value == nullptr || !is_stream_attribute(id)) return status::invalid_value;
    const auto stream = resolve(handle);
    if (!stream) return stream.error();
    if (id == cudaLaunchAttributePriority) {
      set_priority(**stream, value->priority);
      return status::success;
    }
    const std::lock_guard lock(attributes_mutex());
    auto& kept = (*stream)->attributes;
    std::erase_if(kept, [&](const cudaLaunchAttribute& a) { return a.id == id; });
    cudaLaunchAttribute a{};
    a.id = id;
    a.val = *value;
    kept.push_back(a);
    return status::success;
  });
}
SB_PTSZ(cudaStreamSetAttribute,
        (cudaStream_t stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue* value),
        (stream, id, value))

SB_API cudaError_t CUDARTAPI cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return entry(call_kind::device, [&]() -> status {
    const auto destination = resolve(to);
    const auto source = resolve(from);
    if (!destination) return destination.error();
    if (!source) return source.error();
    const std::lock_guard lock(attributes_mutex());
    const auto copy = (*source)->attributes;
    (*destination)->attributes = copy;
    set_priority(**destination, (*source)->priority);
    return status::success;
  });
}
SB_PTSZ(cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from), (to, from))

SB_API cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function,
                                                void* data) {
  const auto check = [&] { return function ? status::success : status::invalid_value; };
  return entry(call_kind::device, check, [&]() -> status {
    const auto stream = resolve(handle);
    if (!stream) return stream.error();
    if (is_capturing(**stream)) {
      node_recipe recipe = host_recipe({function, data}, (*stream)->device);
      return enqueue(**stream, std::move(recipe)).error();
    }
    return enqueue(**stream, host_operation_of({function, data})).error();
  });
}
SB_PTSZ(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void* data),
        (stream, function, data))

SB_API cudaError_t CUDARTAPI cudaStreamAddCallback(cudaStream_t handle,
                                                   cudaStreamCallback_t callback, void* data,
                                                   unsigned flags) {
  const auto check = [&] {
    return callback != nullptr && flags == 0 ? status::success : status::invalid_value;
  };
  return entry(call_kind::device, check, [&]() -> status {
    const auto stream = resolve(handle);
    if (!stream) return stream.error();
    // CUDA: callbacks cannot be captured; capture.tsv refuse.*.addcallback
    if (const status s = refuse_captured(**stream); s != status::success) return s;
    engine::host_operation host;
    host.call = [handle, callback, data](status s) { callback(handle, to_cuda(s), data); };
    return enqueue(**stream, std::move(host)).error();
  });
}
SB_PTSZ(cudaStreamAddCallback,
        (cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags),
        (stream, callback, data, flags))

}  // namespace sb::cudart
