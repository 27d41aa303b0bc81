// Managed memory: allocation, advice, prefetching. The host's memory is the device's here, so
// advice and prefetches change nothing but what the queries answer.
#include <algorithm>
#include <map>
#include <mutex>

#include "cudart/advice.hpp"
#include "cudart/call_name.hpp"
#include "cudart/capture.hpp"
#include "cudart/copy.hpp"

namespace sb::cudart {
namespace {

using engine::memory_kind;

struct advice_book {
  std::mutex mutex;
  std::map<const void*, advised_pages> by_base;
};
advice_book& book() {
  static auto* b = new advice_book;
  return *b;
}

// The managed allocation that holds the range.
result<engine::allocation> managed_range(const void* pointer, std::size_t count) {
  const auto known = the_memory().find(pointer);
  if (count == 0 || !known || known->kind != memory_kind::managed ||
      !holds(*known, pointer, count, 1, 1, 0, 0)) {
    return status::invalid_value;
  }
  return *known;
}

// Nothing for a place that does not exist.
std::optional<int> place_of(const cudaMemLocation& location) {
  switch (location.type) {
    case cudaMemLocationTypeDevice:
      if (location.id < 0 || static_cast<std::uint32_t>(location.id) >= the_engine().device_count())
        return std::nullopt;
      return location.id;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent:
      return cudaCpuDeviceId;
    default:
      return std::nullopt;
  }
}

bool is_advice(cudaMemoryAdvise advice) {
  return advice >= cudaMemAdviseSetReadMostly && advice <= cudaMemAdviseUnsetAccessedBy;
}

void advise(range_advice& a, cudaMemoryAdvise advice, int place) {
  switch (advice) {
    case cudaMemAdviseSetReadMostly:
      a.read_mostly = true;
      break;
    case cudaMemAdviseUnsetReadMostly:
      a.read_mostly = false;
      break;
    case cudaMemAdviseSetPreferredLocation:
      a.preferred = place;
      break;
    case cudaMemAdviseUnsetPreferredLocation:
      a.preferred = cudaInvalidDeviceId;
      break;
    case cudaMemAdviseSetAccessedBy:
      a.set_accessed_by(place);
      break;
    case cudaMemAdviseUnsetAccessedBy:
      a.unset_accessed_by(place);
      break;
  }
}

bool needs_place(cudaMemoryAdvise advice) {
  return advice == cudaMemAdviseSetPreferredLocation || advice == cudaMemAdviseSetAccessedBy ||
         advice == cudaMemAdviseUnsetAccessedBy;
}

int type_of(int place) {
  if (place == cudaInvalidDeviceId) return cudaMemLocationTypeInvalid;
  return place == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
}
int id_of(int place) { return place == cudaCpuDeviceId ? 0 : place; }

status read(const range_advice& a, void* data, std::size_t bytes, cudaMemRangeAttribute which) {
  auto* out = static_cast<int*>(data);
  if (which == cudaMemRangeAttributeAccessedBy) {
    if (bytes == 0 || bytes % sizeof(int) != 0) return status::invalid_value;
    std::fill_n(out, bytes / sizeof(int), int{cudaInvalidDeviceId});
    std::copy_n(a.accessed_by.begin(), std::min(a.accessed_by.size(), bytes / sizeof(int)), out);
    return status::success;
  }
  if (bytes != sizeof(int)) return status::invalid_value;
  switch (which) {
    case cudaMemRangeAttributeReadMostly:
      *out = a.read_mostly ? 1 : 0;
      return status::success;
    case cudaMemRangeAttributePreferredLocation:
      *out = a.preferred;
      return status::success;
    case cudaMemRangeAttributeLastPrefetchLocation:
      *out = a.last_prefetch;
      return status::success;
    case cudaMemRangeAttributePreferredLocationType:
      *out = type_of(a.preferred);
      return status::success;
    case cudaMemRangeAttributePreferredLocationId:
      *out = id_of(a.preferred);
      return status::success;
    case cudaMemRangeAttributeLastPrefetchLocationType:
      *out = type_of(a.last_prefetch);
      return status::success;
    case cudaMemRangeAttributeLastPrefetchLocationId:
      *out = id_of(a.last_prefetch);
      return status::success;
    default:
      return status::invalid_value;
  }
}

// A place in the stream for a call that moves nothing here; it cannot be captured.
status keep_place(cudaStream_t handle) {
  const auto stream = resolve(handle);
  if (!stream) return stream.error();
  if (const status s = refuse_captured(**stream); s != status::success) return s;
  return enqueue(**stream, engine::marker_operation{}).error();
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaMallocManaged(void** out, size_t bytes, unsigned flags) {
  const auto check = [&] {
    const bool valid =
        out != nullptr && (flags == cudaMemAttachGlobal || flags == cudaMemAttachHost);
    return valid ? status::success : status::invalid_value;
  };
  return entry(call_kind::device, check, [&]() -> status {
    if (bytes == 0) {
      *out = nullptr;
      return status::success;
    }
    if (const status s = admit_unsafe_call(); s != status::success) return s;
    the_engine().wait_for_blocked_calls();
    const auto base = the_memory().allocate_managed(current_device(), bytes, flags);
    if (!base) return base.error();
    *out = *base;
    const std::lock_guard lock(book().mutex);
    book().by_base.erase(*base);  // said about an earlier allocation at this address
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaMemPrefetchAsync(const void* pointer, size_t count,
                                                  cudaMemLocation location, unsigned flags,
                                                  cudaStream_t stream) {
  return entry(call_kind::device, [&]() -> status {
    if (flags != 0) return status::invalid_value;
    const auto place = place_of(location);
    if (!place) {
      const bool device = location.type == cudaMemLocationTypeDevice;
      return device ? status::invalid_device : status::invalid_value;
    }
    const auto range = managed_range(pointer, count);
    if (!range) return range.error();
    if (const status s = keep_place(stream); s != status::success) return s;
    const std::lock_guard lock(book().mutex);
    book().by_base[range->base].change(pointer, count,
                                       [&](range_advice& piece) { piece.last_prefetch = *place; });
    return status::success;
  });
}
SB_PTSZ(cudaMemPrefetchAsync,
        (const void* pointer, size_t count, cudaMemLocation location, unsigned flags,
         cudaStream_t stream),
        (pointer, count, location, flags, stream))

SB_API cudaError_t CUDARTAPI cudaMemAdvise(const void* pointer, size_t count,
                                           cudaMemoryAdvise advice, cudaMemLocation location) {
  return entry(call_kind::capture_unsafe, [&]() -> status {
    const auto range = managed_range(pointer, count);
    if (!range) return range.error();
    const auto place = place_of(location);
    if (needs_place(advice) && !place) return status::invalid_value;
    if (!is_advice(advice)) return status::invalid_value;
    const std::lock_guard lock(book().mutex);
    book().by_base[range->base].change(pointer, count, [&](range_advice& piece) {
      advise(piece, advice, place.value_or(cudaInvalidDeviceId));
    });
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaMemRangeGetAttribute(void* data, size_t bytes,
                                                      cudaMemRangeAttribute which,
                                                      const void* pointer, size_t count) {
  return as_call(
      [&] { return cudaMemRangeGetAttributes(&data, &bytes, &which, 1, pointer, count); });
}

SB_API cudaError_t CUDARTAPI cudaMemRangeGetAttributes(void** data, size_t* bytes,
                                                       cudaMemRangeAttribute* which, size_t number,
                                                       const void* pointer, size_t count) {
  return entry(call_kind::device, [&]() -> status {
    if (data == nullptr || bytes == nullptr || which == nullptr || number == 0) {
      return status::invalid_value;
    }
    const auto range = managed_range(pointer, count);
    if (!range) return range.error();
    const std::lock_guard lock(book().mutex);
    const range_advice a = book().by_base[range->base].common(pointer, count);
    for (std::size_t i = 0; i < number; ++i) {
      if (data[i] == nullptr) return status::invalid_value;
      if (const status s = read(a, data[i], bytes[i], which[i]); s != status::success) return s;
    }
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer,
                                                      size_t length, unsigned flags) {
  return entry(call_kind::device, [&]() -> status {
    const bool known =
        flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
    const auto range = managed_range(pointer, length == 0 ? 1 : length);
    if (!known || !range) return status::invalid_value;
    // CUDA: only the whole allocation can be attached; 0 means that.
    if (range->base != pointer || (length != 0 && length != range->bytes)) {
      return status::invalid_value;
    }
    // managed.tsv attach.single*: not the default stream, unless by a handle of its own.
    if (flags == cudaMemAttachSingle && stream == nullptr) return status::invalid_value;
    return keep_place(stream);
  });
}
SB_PTSZ(cudaStreamAttachMemAsync,
        (cudaStream_t stream, void* pointer, size_t length, unsigned flags),
        (stream, pointer, length, flags))

}  // namespace sb::cudart
