// Memory: device allocations, pinned and registered host memory, managed memory, and who a pointer
// belongs to. Device memory lies in 2 MiB-granular mappings in a reserved range per device, so that
// an access outside faults as on the device. It is ordinary memory: the host may read it, which
// hardware does not allow; nothing traps that.
//
// STREAMBED_MEMCHECK=1 puts every allocation against an inaccessible page (memory_heap.hpp).
//
// Thread safety: all members. Lock order: index before heap; both are leaves for everybody else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/status.hpp"
#include "engine/memory_heap.hpp"
#include "model/ids.hpp"

namespace sb::engine {

enum class memory_kind : std::uint8_t {
  device,      // cudaMalloc and its kin
  pool,        // cudaMallocAsync
  graph,       // an allocation node's
  pinned,      // cudaMallocHost, cudaHostAlloc
  registered,  // cudaHostRegister
  managed,     // cudaMallocManaged, and __managed__ variables
  image,       // __device__ and __constant__ variables
  imported,    // device memory of another process
};

// A device allocation as another process can open it.
struct exported_memory {
  file_address file;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t bytes = 0;
  device_id device;
};

struct allocation {
  memory_kind kind;
  void* base;
  std::size_t bytes;
  device_id
      device;  // device, pool, managed: where it lives; pinned: the device current at the call
  std::uint32_t flags;                // as given to the call that made it
  std::uint32_t traced = 0xffffffff;  // its number in the trace; none: there is none
};

// Who is told of allocations and frees; set before the first one.
class allocation_observer {
 public:
  virtual std::uint32_t allocated(const allocation& a) = 0;
  virtual void freed(const allocation& a) = 0;

 protected:
  ~allocation_observer() = default;
};
void observe_allocations(allocation_observer* observer);

struct memory_info {
  std::size_t free_bytes;
  std::size_t total_bytes;
};

// What memory must know of a device.
struct memory_capacity {
  std::uint64_t total_bytes;
  std::uint64_t used_at_start_bytes;
};

struct memory_settings {
  std::function<memory_capacity(device_id)> capacity;  // asked once per device, at its first use
  heap_check check = heap_check::none;
};

class memory {
 public:
  static memory& instance();  // of the process; capacities are those of the engine's devices

  explicit memory(memory_settings settings);
  ~memory();
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;

  // Sizes are greater than 0.
  result<void*> allocate_device(device_id device, std::size_t bytes);
  // Memory of a graph's allocation nodes: device memory that only the graph frees.
  result<void*> allocate_graph(device_id device, std::size_t bytes);
  void free_graph(void* base);
  // Exact base of a device or managed allocation; invalid_value otherwise.
  status free_device(void* base);
  // The two halves of a free that waits for its turn in a stream: afterwards nobody knows the
  // pointer, but the memory stays.
  std::optional<allocation> detach_device(void* base);
  void release_detached(const allocation& detached);
  result<void*> allocate_pinned(device_id device, std::size_t bytes, std::uint32_t flags);
  status free_pinned(void* base);
  result<void*> allocate_managed(device_id device, std::size_t bytes, std::uint32_t flags);
  status register_host(device_id device, void* base, std::size_t bytes, std::uint32_t flags);
  status unregister_host(void* base);
  // Variables of loaded images, so that pointers to them are known as device memory. `kind` is
  // managed for __managed__ variables, whose address is the host's.
  void add_image_variable(device_id device, void* base, std::size_t bytes,
                          memory_kind kind = memory_kind::image);
  void remove_image_variables(device_id device);

  // For other processes: the allocation of cudaMalloc that the address lies in.
  result<exported_memory> export_device(const void* address);
  // Maps what another process exported; the same memory again is counted and has the same address.
  result<void*> open_import(const exported_memory& from);
  // Whether the pointer is an import, and whether this was its last use: then nobody knows it any
  // more, and the second call unmaps it.
  enum class import_use : std::uint8_t { unknown, more, none };
  import_use drop_import(void* base);
  void unmap_import(void* base);

  // For pools, which lay out their own ranges: what they hold counts against the device.
  bool charge(device_id device, std::uint64_t bytes);
  void discharge(device_id device, std::uint64_t bytes);
  void keep_range(const reserved_range& range);  // for in_kept_range
  void forget_range(const reserved_range& range);
  void add_pool_allocation(device_id device, void* base, std::size_t bytes);
  // Takes it from the index, if it is a live pool allocation with this base: nobody else can then.
  std::optional<allocation> remove_pool_allocation(void* base);

  // The allocation that contains the address, if any. Cheap: taken on every copy.
  [[nodiscard]] std::optional<allocation> find(const void* address) const;
  // Another number after every change of what find() says, so that answers can be kept.
  [[nodiscard]] std::uint64_t changes() const;
  // Whether the address lies in a range that we keep for device, pinned or managed memory,
  // allocated or not: what happens at an access there is decided by the mapping.
  [[nodiscard]] bool in_kept_range(const void* address) const;
  [[nodiscard]] memory_info info(device_id device);
  [[nodiscard]] heap_check check() const;
  // cudaDeviceReset: device, managed, pinned and registered memory of the device.
  void release_all(device_id device);

  // Pageable sources are copied into a staging buffer when it has room, as recorded on an H200: two
  // slots of 1 MiB a device, a copy taking as many as its size needs; up to 64 KiB go with the
  // command itself, of which a device holds about 4 MiB. The room returns when the last reference
  // goes. Null when there is none.
  std::shared_ptr<char> try_stage(device_id device, std::size_t bytes);
  std::shared_ptr<void> try_stage(device_id device, const void* source, std::size_t bytes);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace sb::engine
