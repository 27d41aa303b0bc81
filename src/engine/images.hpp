// Device images: what the compiler embedded in the program, loaded once per virtual device so that
// each device has its own __device__ variables.
//
// Registration runs from static constructors of the program, before and during those of the
// runtime: everything behind these functions lives in function-local statics.
#pragma once

#include <cstddef>
#include <string>

#include "base/device_abi.hpp"
#include "base/status.hpp"
#include "model/ids.hpp"

namespace sb::engine {

struct image;

image* register_image(const void* elf);  // points at 7f 45 4c 46; stays valid
void register_kernel(image* owner, const void* host_stub, const char* device_name);
void register_variable(image* owner, void* host_variable, const char* device_name,
                       std::size_t bytes, bool constant, bool managed);
void unregister_image(image* owner);

// The kernel behind a launch stub on a device; loads the image there when it is not yet.
result<const abi::kernel_info*> find_kernel(const void* host_stub, device_id device);
struct variable_info {
  void* address;  // on that device
  std::size_t bytes;
};
result<variable_info> find_variable(const void* host_variable, device_id device);
// Code, constants or variables of an image on some device. Slow: for pointers that nothing else
// knows.
bool is_in_loaded_image(const void* address);
// Drops the images of a device: they are loaded afresh, with fresh variables, at the next use.
void unload_images(device_id device);

}  // namespace sb::engine
