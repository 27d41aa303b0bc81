// Pools between processes: the pool as a file descriptor, which the program hands on by its own
// means, and places in it as plain data. Documented, not recorded.
#include <cstring>

#include "cudart/context.hpp"
#include "engine/pool.hpp"

namespace sb::cudart {
namespace {

engine::memory_pool* pool_of(cudaMemPool_t handle) {
  return reinterpret_cast<engine::memory_pool*>(handle);
}
engine::pool_set& the_pools() { return engine::pool_set::instance(); }

// Of the kinds of handles only file descriptors are there on this system.
bool by_descriptor(cudaMemAllocationHandleType type, unsigned flags) {
  return type == cudaMemHandleTypePosixFileDescriptor && flags == 0;
}

}  // namespace

SB_API cudaError_t CUDARTAPI cudaMemPoolExportToShareableHandle(void* out, cudaMemPool_t pool,
                                                                cudaMemAllocationHandleType type,
                                                                unsigned flags) {
  return entry(call_kind::device, [&]() -> status {
    if (out == nullptr || !by_descriptor(type, flags)) return status::invalid_value;
    const auto file = the_pools().share(pool_of(pool));
    if (!file) return file.error();
    *static_cast<int*>(out) = *file;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaMemPoolImportFromShareableHandle(cudaMemPool_t* out, void* handle,
                                                                  cudaMemAllocationHandleType type,
                                                                  unsigned flags) {
  return entry(call_kind::device, [&]() -> status {
    if (out == nullptr || !by_descriptor(type, flags)) return status::invalid_value;
    const auto file = static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
    const auto pool = the_pools().import(file);
    if (!pool) return pool.error();
    *out = reinterpret_cast<cudaMemPool_t>(*pool);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaMemPoolExportPointer(cudaMemPoolPtrExportData* out,
                                                      void* pointer) {
  return entry(call_kind::device, [&]() -> status {
    if (out == nullptr || pointer == nullptr) return status::invalid_value;
    const auto piece = the_pools().export_piece(pointer);
    if (!piece) return piece.error();
    static_assert(sizeof *piece <= sizeof *out);
    *out = {};
    std::memcpy(out, &*piece, sizeof *piece);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaMemPoolImportPointer(void** out, cudaMemPool_t pool,
                                                      cudaMemPoolPtrExportData* data) {
  return entry(call_kind::device, [&]() -> status {
    if (out == nullptr || data == nullptr) return status::invalid_value;
    engine::exported_piece piece;
    std::memcpy(static_cast<void*>(&piece), data, sizeof piece);
    const auto base = the_pools().import_piece(pool_of(pool), piece);
    if (!base) return base.error();
    *out = *base;
    return status::success;
  });
}

}  // namespace sb::cudart
