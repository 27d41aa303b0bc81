#include "cudart/graph_memory.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

#include "engine/memory.hpp"

namespace sb::cudart {
namespace {

struct block {
  device_id device;
  std::uint64_t bytes = 0;
  bool live = false;
  bool mapped = false;                // by a launch, until it is trimmed
  bool held = true;                   // by a node
  const CUgraph_st* owner = nullptr;  // whose node allocates it; only compared
  bool freed_inside = false;          // by a node of that graph
  bool freed_outside = false;         // by a node of another one
};

// Guarded by its mutex.
struct memory_book {
  std::mutex mutex;
  std::unordered_map<void*, block> blocks;
  std::map<std::uint32_t, graph_memory_use> use;

  std::map<std::uint32_t, std::uint64_t> mapped;  // bytes, by device

  // CUDA: what a launch mapped counts until the graph goes or the memory is trimmed, in units that
  // a pool has too; parts.tsv graph_parts.mem.used, graph_parts.mem.reserved
  void map(block& b, bool to) {
    constexpr std::uint64_t unit = std::uint64_t{32} << 20;
    if (b.mapped == to) return;
    b.mapped = to;
    std::uint64_t& bytes = mapped[b.device.value];
    bytes += to ? b.bytes : -b.bytes;
    graph_memory_use& u = use[b.device.value];
    u.used = (bytes + unit - 1) / unit * unit;
    u.used_high = std::max(u.used_high, u.used);
    u.reserved = std::max(u.reserved, u.used);
    u.reserved_high = std::max(u.reserved_high, u.reserved);
  }
  void release(std::unordered_map<void*, block>::iterator gone) {
    map(gone->second, false);
    engine::memory::instance().free_graph(gone->first);
    blocks.erase(gone);
  }
};
memory_book& book() {
  static auto* all = new memory_book;
  return *all;
}

void let_go(void* pointer) {
  memory_book& all = book();
  const std::lock_guard lock(all.mutex);
  const auto found = all.blocks.find(pointer);
  if (found == all.blocks.end()) return;
  found->second.held = false;
  if (!found->second.live) all.release(found);
}

}  // namespace

// managed.tsv alloc.access.*
static status check_access(const cudaMemAccessDesc& d) {
  if (d.location.type == cudaMemLocationTypeHost) return status::success;
  if (d.location.type != cudaMemLocationTypeDevice) return status::invalid_value;
  if (static_cast<std::uint32_t>(d.location.id) >= the_engine().device_count()) {
    return status::invalid_device;
  }
  switch (d.flags) {
    case cudaMemAccessFlagsProtReadWrite:
      return status::success;
    case cudaMemAccessFlagsProtNone:
    case cudaMemAccessFlagsProtRead:
      return status::not_supported;
    default:
      return status::invalid_value;
  }
}

static bool is_handle_type(cudaMemAllocationHandleType type) {
  return type == cudaMemHandleTypePosixFileDescriptor || type == cudaMemHandleTypeWin32 ||
         type == cudaMemHandleTypeWin32Kmt || type == cudaMemHandleTypeFabric;
}

result<node_recipe> alloc_recipe(cudaMemAllocNodeParams& params) {
  // graphs.tsv mem.alloc.*
  if (params.bytesize == 0 || params.poolProps.allocType != cudaMemAllocationTypePinned) {
    return status::invalid_value;
  }
  const auto handles = params.poolProps.handleTypes;
  if (handles != cudaMemHandleTypeNone && !is_handle_type(handles)) return status::invalid_value;
  if (params.poolProps.location.type == cudaMemLocationTypeHost ||
      handles != cudaMemHandleTypeNone) {
    return status::not_supported;
  }
  if (params.poolProps.location.type != cudaMemLocationTypeDevice) return status::invalid_value;
  const auto device = static_cast<std::uint32_t>(params.poolProps.location.id);
  if (device >= the_engine().device_count()) return status::invalid_value;
  for (std::size_t i = 0; i < params.accessDescCount; ++i) {
    if (params.accessDescs == nullptr) return status::invalid_value;
    if (const status s = check_access(params.accessDescs[i]); s != status::success) return s;
  }
  auto memory = engine::memory::instance().allocate_graph(device_id{device}, params.bytesize);
  if (!memory) return memory.error();
  params.dptr = *memory;
  node_recipe recipe;
  recipe.type = cudaGraphNodeTypeMemAlloc;
  recipe.detail = alloc_node{params};
  recipe.device = device_id{device};
  {
    memory_book& all = book();
    const std::lock_guard lock(all.mutex);
    block& b = all.blocks[*memory];
    b.device = recipe.device;
    b.bytes = params.bytesize;
  }
  recipe.keeps = std::shared_ptr<void>(*memory, let_go);
  return recipe;
}

result<node_recipe> free_recipe(void* pointer, device_id device) {
  const auto found = engine::memory::instance().find(pointer);
  if (!found || found->base != pointer || found->kind != engine::memory_kind::graph) {
    return status::invalid_value;
  }
  node_recipe recipe;
  recipe.type = cudaGraphNodeTypeMemFree;
  recipe.detail = free_node{pointer};
  recipe.device = device;
  return recipe;
}

status check_free_node(const CUgraph_st& graph, void* pointer) {
  memory_book& all = book();
  const std::lock_guard lock(all.mutex);
  const auto found = all.blocks.find(pointer);
  if (found == all.blocks.end()) return status::invalid_value;
  const block& b = found->second;
  const bool allowed = b.owner == &graph ? !b.freed_inside && !b.freed_outside : !b.freed_inside;
  return allowed ? status::success : status::invalid_value;
}

void note_memory_node(const CUgraph_st& graph, const node_recipe& recipe) {
  const auto* made = std::get_if<alloc_node>(&recipe.detail);
  const auto* gone = std::get_if<free_node>(&recipe.detail);
  if (made == nullptr && gone == nullptr) return;
  memory_book& all = book();
  const std::lock_guard lock(all.mutex);
  const auto found = all.blocks.find(made != nullptr ? made->params.dptr : gone->pointer);
  if (found == all.blocks.end()) return;
  block& b = found->second;
  if (made != nullptr) b.owner = &graph;
  if (gone != nullptr) (b.owner == &graph ? b.freed_inside : b.freed_outside) = true;
}

status launch_graph_memory(const std::vector<void*>& allocated, const std::vector<void*>& freed,
                           if_live policy) {
  if (allocated.empty() && freed.empty()) return status::success;
  memory_book& all = book();
  const std::lock_guard lock(all.mutex);
  const auto made_here = [&](void* pointer) {
    return std::find(allocated.begin(), allocated.end(), pointer) != allocated.end();
  };
  for (void* pointer : allocated) {
    const auto found = all.blocks.find(pointer);
    if (found == all.blocks.end()) return status::invalid_value;
    if (found->second.live && policy == if_live::refuse) return status::invalid_value;
  }
  for (void* pointer : freed) {
    const auto found = all.blocks.find(pointer);
    if (found == all.blocks.end()) return status::invalid_value;
    if (!found->second.live && !made_here(pointer)) return status::invalid_value;
  }
  for (void* pointer : allocated) {
    block& b = all.blocks[pointer];
    b.live = true;
    all.map(b, true);
  }
  for (void* pointer : freed) all.blocks[pointer].live = false;
  return status::success;
}

bool take_graph_memory(void* pointer) {
  memory_book& all = book();
  const std::lock_guard lock(all.mutex);
  const auto found = all.blocks.find(pointer);
  if (found == all.blocks.end() || !found->second.live) return false;
  // Work that was enqueued before the free may still use it: what no node holds goes when trimmed.
  found->second.live = false;
  return true;
}

graph_memory_use graph_memory_of(device_id device) {
  memory_book& all = book();
  const std::lock_guard lock(all.mutex);
  return all.use[device.value];
}

void reset_graph_memory_high(device_id device) {
  memory_book& all = book();
  const std::lock_guard lock(all.mutex);
  graph_memory_use& u = all.use[device.value];
  u.used_high = u.used;
  u.reserved_high = u.reserved;
}

void trim_graph_memory(device_id device) {
  memory_book& all = book();
  const std::lock_guard lock(all.mutex);
  for (auto next = all.blocks.begin(); next != all.blocks.end();) {
    const auto here = next++;
    block& b = here->second;
    if (b.device != device || b.live) continue;
    all.map(b, false);
    if (!b.held) all.release(here);
  }
  graph_memory_use& u = all.use[device.value];
  u.reserved = u.used;
}

}  // namespace sb::cudart
