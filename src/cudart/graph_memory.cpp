#include "cudart/graph_memory.hpp"

#include <mutex>
#include <unordered_set>

#include "cudart/copy.hpp"

namespace sb::cudart {
namespace {

// Pointers of allocation nodes that nothing frees yet.
struct unfreed_set {
  std::mutex mutex;
  std::unordered_set<void*> pointers;
};
unfreed_set& unfreed() {
  static auto* set = new unfreed_set;
  return *set;
}

bool take(void* pointer) {
  const std::lock_guard lock(unfreed().mutex);
  return unfreed().pointers.erase(pointer) != 0;
}

}  // namespace

result<node_recipe> alloc_recipe(cudaMemAllocNodeParams& params, device_id device) {
  if (params.bytesize == 0) return status::invalid_value;
  const auto base = the_memory().allocate_graph(device, params.bytesize);
  if (!base) return base.error();
  params.dptr = *base;
  node_recipe recipe;
  recipe.type = cudaGraphNodeTypeMemAlloc;
  recipe.detail = alloc_node{params};
  recipe.what = engine::marker_operation{};
  recipe.device = device;
  recipe.keeps = std::shared_ptr<void>(*base, [](void* pointer) {
    take(pointer);
    the_memory().free_graph(pointer);
  });
  const std::lock_guard lock(unfreed().mutex);
  unfreed().pointers.insert(*base);
  return recipe;
}

result<node_recipe> free_recipe(void* pointer, device_id device) {
  if (!take(pointer)) return status::invalid_value;
  node_recipe recipe;
  recipe.type = cudaGraphNodeTypeMemFree;
  recipe.detail = free_node{pointer};
  recipe.what = engine::marker_operation{};
  recipe.device = device;
  return recipe;
}

status free_graph_memory(void* pointer) {
  return take(pointer) ? status::success : status::invalid_value;
}

}  // namespace sb::cudart
