/* Occupancy of a kernel given as a function, and the block size that fills the device best. */
#ifndef STREAMBED_OCCUPANCY_TEMPLATES_H
#define STREAMBED_OCCUPANCY_TEMPLATES_H

#include "../cuda_runtime_api.h"

/* Inlined in every build: the line of a call is that of the program. */
#define SB_API_FN static inline __attribute__((unused, always_inline)) cudaError_t

template <typename Type>
SB_API_FN cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, Type func, int blockSize,
                                                        size_t dynamicSMemSize) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      numBlocks, reinterpret_cast<const void*>(func), blockSize, dynamicSMemSize,
      cudaOccupancyDefault);
}
template <typename Type>
SB_API_FN cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, Type func,
                                                                 int blockSize,
                                                                 size_t dynamicSMemSize,
                                                                 unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      numBlocks, reinterpret_cast<const void*>(func), blockSize, dynamicSMemSize, flags);
}
template <typename Type>
SB_API_FN cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, Type* func,
                                                    int numBlocks, int blockSize) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(
      dynamicSmemSize, reinterpret_cast<const void*>(func), numBlocks, blockSize);
}

/* Tries block sizes from the largest down in steps of a warp; the first that keeps the most threads
   resident wins. `minGridSize` is then one full wave. */
template <typename UnaryFunction, typename Type>
SB_API_FN cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* minGridSize, int* blockSize, Type func, UnaryFunction blockSizeToDynamicSMemSize,
    int blockSizeLimit = 0, unsigned int flags = 0) {
  if (!minGridSize || !blockSize || !func) return cudaErrorInvalidValue;
  const void* const kernel = reinterpret_cast<const void*>(func);
  int device = 0, most_threads = 0, device_limit = 0, warp = 0, multiprocessors = 0;
  struct cudaFuncAttributes attributes;
  cudaError_t status = ::cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  status = ::cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  if (status != cudaSuccess) return status;
  status = ::cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
  if (status != cudaSuccess) return status;
  status = ::cudaDeviceGetAttribute(&device_limit, cudaDevAttrMaxThreadsPerBlock, device);
  if (status != cudaSuccess) return status;
  status = ::cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (status != cudaSuccess) return status;
  status = ::cudaFuncGetAttributes(&attributes, kernel);
  if (status != cudaSuccess) return status;

  int limit = blockSizeLimit > 0 && blockSizeLimit < device_limit ? blockSizeLimit : device_limit;
  if (attributes.maxThreadsPerBlock < limit) limit = attributes.maxThreadsPerBlock;

  int best_threads = 0, best_size = 0, best_blocks = 0;
  for (int rounded = (limit + warp - 1) / warp * warp; rounded > 0; rounded -= warp) {
    const int size = rounded < limit ? rounded : limit;
    int blocks = 0;
    status = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, kernel, size, blockSizeToDynamicSMemSize(size), flags);
    if (status != cudaSuccess) return status;
    if (size * blocks > best_threads) {
      best_threads = size * blocks;
      best_size = size;
      best_blocks = blocks;
    }
    if (best_threads == most_threads) break;
  }
  *minGridSize = best_blocks * multiprocessors;
  *blockSize = best_size;
  return cudaSuccess;
}
template <typename UnaryFunction, typename Type>
SB_API_FN cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* minGridSize, int* blockSize,
                                                         Type func,
                                                         UnaryFunction blockSizeToDynamicSMemSize,
                                                         int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      minGridSize, blockSize, func, blockSizeToDynamicSMemSize, blockSizeLimit,
      cudaOccupancyDefault);
}
template <typename Type>
SB_API_FN cudaOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, Type func,
                                                      size_t dynamicSMemSize = 0,
                                                      int blockSizeLimit = 0,
                                                      unsigned int flags = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      minGridSize, blockSize, func, [=](int) { return dynamicSMemSize; }, blockSizeLimit, flags);
}
template <typename Type>
SB_API_FN cudaOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, Type func,
                                             size_t dynamicSMemSize = 0, int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, dynamicSMemSize,
                                                     blockSizeLimit, cudaOccupancyDefault);
}

#undef SB_API_FN

#endif
