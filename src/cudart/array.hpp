// CUDA arrays: device memory with a shape and a format of its elements. Rows lie one behind the
// other without gaps, slices and layers too, so that a copy along rows is a plain one.
//
// Thread safety: all functions. An array is constant once it is made.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "base/status.hpp"
#include "cudart/context.hpp"

struct cudaArray {
  sb::device_id device;
  cudaChannelFormatDesc format;
  cudaExtent extent;  // as given: dimensions that it has not are 0
  unsigned flags;
  char* data;
  std::size_t element;  // bytes

  [[nodiscard]] std::size_t rows() const { return extent.height != 0 ? extent.height : 1; }
  [[nodiscard]] std::size_t slices() const { return extent.depth != 0 ? extent.depth : 1; }
  [[nodiscard]] std::size_t pitch() const { return extent.width * element; }
  [[nodiscard]] std::size_t slice() const { return pitch() * rows(); }
};

namespace sb::cudart {

// Bytes of an element; 0 for a format that arrays cannot have. arrays.tsv make.channels.*
std::size_t element_bytes(const cudaChannelFormatDesc& format);
int component_count(const cudaChannelFormatDesc& format);

result<const cudaArray*> resolve(cudaArray_const_t array);  // invalid_resource_handle

// cudaDeviceReset: what the device's arrays were is no array any more.
void forget_arrays(device_id device);

}  // namespace sb::cudart
