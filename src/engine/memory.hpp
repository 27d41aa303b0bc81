// Memory: device allocations, pinned and registered host memory, managed memory, and who a pointer
// belongs to. Device memory lies in 2 MiB-granular mappings in a reserved range per device, so that an
// access outside faults as on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/status.hpp"
#include "model/ids.hpp"

namespace sb::engine {

enum class memory_kind : std::uint8_t {
  device,      // cudaMalloc and its kin
  pool,        // cudaMallocAsync
  pinned,      // cudaMallocHost, cudaHostAlloc
  registered,  // cudaHostRegister
  managed,     // cudaMallocManaged
  image,       // __device__, __constant__ and __managed__ variables
};

struct allocation {
  memory_kind kind;
  void* base;
  std::size_t bytes;
  device_id device;     // device, pool, managed: where it lives; pinned: the device current at the call
  std::uint32_t flags;  // as given to the call that made it
};

struct memory_info {
  std::size_t free_bytes;
  std::size_t total_bytes;
};

class memory {
 public:
  static memory& instance();

  memory();
  ~memory();

  result<void*> allocate_device(device_id device, std::size_t bytes);
  status free_device(void* base);  // exact base of a device or pool allocation; invalid_value otherwise
  result<void*> allocate_pinned(device_id device, std::size_t bytes, std::uint32_t flags);
  status free_pinned(void* base);
  result<void*> allocate_managed(device_id device, std::size_t bytes, std::uint32_t flags);
  status register_host(device_id device, void* base, std::size_t bytes, std::uint32_t flags);
  status unregister_host(void* base);
  // Variables of loaded images, so that pointers to them are known as device memory.
  void add_image_variable(device_id device, void* base, std::size_t bytes);
  void remove_image_variables(device_id device);

  // The allocation that contains the address, if any. Cheap: taken on every copy.
  [[nodiscard]] std::optional<allocation> find(const void* address) const;
  [[nodiscard]] memory_info info(device_id device) const;
  void release_all(device_id device);  // cudaDeviceReset

  // Pageable sources are copied into a staging buffer when it has room (2 MiB a device, as recorded on
  // an H200); the bytes return to it when the last reference goes. Null when there is no room.
  std::shared_ptr<void> try_stage(device_id device, const void* source, std::size_t bytes);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace sb::engine
