// User objects: what lives as long as a graph uses it.
#include <algorithm>
#include <mutex>

#include "cudart/graph.hpp"

struct CUuserObject_st {
  void* pointer;
  cudaHostFn_t destroy;
  std::int64_t references;  // guarded by objects_mutex(); below 0 when too many were given back
};

namespace sb::cudart {
namespace {

using object_table = handle_table<CUuserObject_st, std::size_t{1} << 18>;
object_table& objects() {
  static auto* table = new object_table;
  return *table;
}
std::mutex& objects_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

// CUDA: an object goes when exactly all its references are given back, whoever holds them; one
// that is gone takes further calls; graph_answers.tsv userobject.*, graphs.tsv object.graph.*
void drop(cudaUserObject_t object, unsigned count) {
  if (!objects().alive(object)) return;
  {
    const std::lock_guard lock(objects_mutex());
    object->references -= count;
    if (object->references != 0) return;
  }
  const cudaHostFn_t destroy = object->destroy;
  void* pointer = object->pointer;
  objects().destroy(object);
  destroy(pointer);  // under no lock: it is the program's code
}

}  // namespace

void retain(CUgraph_st& graph, cudaUserObject_t object, unsigned count) {
  const std::lock_guard lock(objects_mutex());
  object->references += count;
  graph.objects[object] += count;
}

void release_objects(CUgraph_st& graph) {
  const auto held = std::exchange(graph.objects, {});
  for (const auto& [object, count] : held) drop(object, count);
}

SB_API cudaError_t CUDARTAPI cudaUserObjectCreate(cudaUserObject_t* out, void* pointer,
                                                  cudaHostFn_t destroy, unsigned references,
                                                  unsigned flags) {
  return entry(call_kind::light, [&]() -> status {
    if (out == nullptr || destroy == nullptr || references == 0) return status::invalid_value;
    if (flags != cudaUserObjectNoDestructorSync) return status::invalid_value;
    CUuserObject_st* object = objects().create(CUuserObject_st{pointer, destroy, references});
    if (object == nullptr) return status::memory_allocation;
    *out = object;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return entry(call_kind::light, [&]() -> status {
    if (!objects().once_alive(object) || count == 0) return status::invalid_value;
    if (!objects().alive(object)) return status::success;
    const std::lock_guard lock(objects_mutex());
    object->references += count;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return entry(call_kind::light, [&]() -> status {
    if (!objects().once_alive(object) || count == 0) return status::invalid_value;
    drop(object, count);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                       unsigned count, unsigned flags) {
  return entry(call_kind::light, [&]() -> status {
    if (!graphs().alive(graph) || !objects().alive(object) || count == 0) {
      return status::invalid_value;
    }
    if ((flags & ~unsigned{cudaGraphUserObjectMove}) != 0) return status::invalid_value;
    retain(*graph, object, count);
    if ((flags & cudaGraphUserObjectMove) != 0) drop(object, count);
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                        unsigned count) {
  return entry(call_kind::light, [&]() -> status {
    if (!graphs().alive(graph) || !objects().once_alive(object)) return status::invalid_value;
    if (count == 0) return status::invalid_value;
    const auto held = graph->objects.find(object);
    if (held == graph->objects.end()) return status::success;
    held->second -= std::min(count, held->second);
    if (held->second == 0) graph->objects.erase(held);
    drop(object, count);
    return status::success;
  });
}

}  // namespace sb::cudart
