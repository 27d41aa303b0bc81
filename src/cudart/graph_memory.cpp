#include "cudart/graph_memory.hpp"

#include <mutex>
#include <unordered_set>
#include <utility>

namespace sb::cudart {
namespace {

struct unfreed_set {
  std::mutex mutex;
  std::unordered_set<void*> pointers;
};
unfreed_set& unfreed() {
  static auto* set = new unfreed_set;
  return *set;
}

}  // namespace

void note_graph_memory(node_recipe& recipe, void* pointer) {
  {
    const std::lock_guard lock(unfreed().mutex);
    unfreed().pointers.insert(pointer);
  }
  recipe.keeps =
      std::shared_ptr<void>(pointer, [memory = std::move(recipe.keeps)](void* gone) mutable {
        take_graph_memory(gone);
        memory.reset();
      });
}

bool take_graph_memory(void* pointer) {
  const std::lock_guard lock(unfreed().mutex);
  return unfreed().pointers.erase(pointer) != 0;
}

}  // namespace sb::cudart
