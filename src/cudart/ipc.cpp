// Memory and events between processes of one machine. A handle is plain data that says where the
// file with the memory is: in the process that made it, as long as that lives.
#include <unistd.h>

#include <cstring>

#include "cudart/capture.hpp"
#include "cudart/copy.hpp"
#include "engine/shared_event.hpp"

namespace sb::cudart {
namespace {

// What is in the 64 bytes of a handle.
struct handle_head {
  std::uint32_t mark;
  std::uint32_t device;
  engine::file_address file;
};
struct memory_handle {
  static constexpr std::uint32_t known = 0x6d656d31;
  handle_head head;
  std::uint64_t offset, bytes;
};
struct event_handle {
  static constexpr std::uint32_t known = 0x65766531;
  handle_head head;
  std::uint32_t page, generation;
};

template <class Inside, class Handle>
Handle pack(const Inside& inside) {
  static_assert(sizeof inside <= sizeof(Handle));
  Handle handle{};
  std::memcpy(&handle, &inside, sizeof inside);
  return handle;
}

// What is wrong with a handle, before it is looked for.
template <class Inside, class Handle>
result<Inside> unpack(const Handle& handle) {
  Inside inside;
  std::memcpy(static_cast<void*>(&inside), &handle, sizeof inside);
  if (inside.head.mark != Inside::known) return status::invalid_value;
  // CUDA: a process does not open its own; documented, not recorded.
  if (inside.head.file.process == ::getpid()) return status::device_uninitialized;
  return inside;
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return entry(call_kind::device, [&]() -> status {
    if (handle == nullptr) return status::invalid_value;
    const auto memory = the_memory().export_device(pointer);
    if (!memory) return memory.error();
    *handle = pack<memory_handle, cudaIpcMemHandle_t>(
        {{memory_handle::known, memory->device.value, memory->file},
         memory->offset,
         memory->bytes});
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle,
                                                  unsigned flags) {
  return entry(call_kind::capture_unsafe, [&]() -> status {
    if (pointer == nullptr || flags != cudaIpcMemLazyEnablePeerAccess) return status::invalid_value;
    const auto inside = unpack<memory_handle>(handle);
    if (!inside) return inside.error();
    // Devices are numbered alike in both processes.
    if (inside->head.device >= the_engine().device_count()) return status::invalid_device;
    const auto opened = the_memory().open_import(
        {inside->head.file, inside->offset, inside->bytes, device_id{inside->head.device}});
    if (!opened) return opened.error();
    *pointer = *opened;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaIpcCloseMemHandle(void* pointer) {
  return entry(call_kind::capture_unsafe, [&]() -> status {
    const auto known = the_memory().find(pointer);
    if (!known || known->base != pointer) return status::invalid_value;
    switch (the_memory().drop_import(pointer)) {
      case engine::memory::import_use::unknown:
        return status::invalid_value;
      case engine::memory::import_use::more:
        return status::success;
      case engine::memory::import_use::none:
        break;
    }
    // What was enqueued before may still use it, on any device.
    for (std::uint32_t d = 0; d < the_engine().device_count(); ++d) {
      sched::wait_target target;
      target.scope = sched::wait_scope::device;
      target.device = device_id{d};
      the_engine().synchronize(target, target.device);
    }
    the_memory().unmap_import(pointer);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle,
                                                   cudaEvent_t event_handle_of) {
  return entry(call_kind::device, [&]() -> status {
    if (handle == nullptr) return status::invalid_value;
    const auto event = resolve(event_handle_of);
    if (!event) return event.error();
    const auto& shared = (*event)->state->shared;
    const auto where = shared ? shared->where() : std::nullopt;
    if (!where) return status::invalid_resource_handle;
    *handle = pack<event_handle, cudaIpcEventHandle_t>(
        {{event_handle::known, (*event)->device.value, where->file},
         where->page,
         where->generation});
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaIpcOpenEventHandle(cudaEvent_t* out, cudaIpcEventHandle_t handle) {
  return entry(call_kind::device, [&]() -> status {
    if (out == nullptr) return status::invalid_value;
    const auto inside = unpack<event_handle>(handle);
    // ipc.tsv child.event.garbage
    if (!inside && inside.error() == status::invalid_value) return status::map_buffer_object_failed;
    if (!inside) return inside.error();
    auto shared = engine::shared_event::open({inside->head.file, inside->page, inside->generation});
    if (!shared) return status::map_buffer_object_failed;
    CUevent_st* event =
        make_event(cudaEventDisableTiming | cudaEventInterprocess, std::move(shared));
    if (event == nullptr) return status::memory_allocation;
    *out = event;
    return status::success;
  });
}

}  // namespace sb::cudart
