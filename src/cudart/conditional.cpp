// Conditional nodes: handles, bodies, and what a body may hold.
#include <algorithm>
#include <mutex>

#include "cudart/graph.hpp"

namespace sb::cudart {
namespace {

// Handles are addresses that kernels write to: their places stay mapped for the life of the
// process.
using condition_table = handle_table<condition, std::size_t{1} << 20>;
condition_table& conditions() {
  static auto* table = new condition_table;
  return *table;
}

std::shared_ptr<condition> make_condition() {
  condition* c = conditions().create();
  if (c == nullptr) return nullptr;
  return {c, [](condition* gone) { conditions().destroy(gone); }};
}

void note_used(const CUgraph_st& graph, std::vector<const condition*>& used) {
  for (cudaGraphNode_t node : graph.nodes) {
    if (const auto* conditional = std::get_if<conditional_node>(&node->recipe.detail)) {
      used.push_back(conditional->handle.get());
    }
    for (cudaGraph_t inner : inner_graphs(node->recipe)) note_used(*inner, used);
  }
}

CUgraph_st& outermost(CUgraph_st& graph) {
  CUgraph_st* at = &graph;
  while (at->owner != nullptr) at = at->owner->graph;
  return *at;
}

void collect(const CUgraph_st& graph, std::vector<std::shared_ptr<condition>>& all) {
  all.insert(all.end(), graph.conditions.begin(), graph.conditions.end());
  for (cudaGraphNode_t node : graph.nodes) {
    for (cudaGraph_t inner : inner_graphs(node->recipe)) collect(*inner, all);
  }
}

// CUDA: a handle is a number within the outermost graph, so that one of another graph stands for
// the one with its number here; graphs.tsv cond.handle.of.other.graph, cond.if2. Null when there is
// none, or a node has it.
std::shared_ptr<condition> find_condition(cudaGraphConditionalHandle handle, CUgraph_st& graph) {
  auto* named = reinterpret_cast<condition*>(handle);
  if (!conditions().alive(named)) return nullptr;
  const CUgraph_st& whole = outermost(graph);
  std::vector<std::shared_ptr<condition>> all;
  collect(whole, all);
  auto found = std::find_if(all.begin(), all.end(), [&](auto& c) { return c.get() == named; });
  if (found == all.end()) {
    found =
        std::find_if(all.begin(), all.end(), [&](auto& c) { return c->number == named->number; });
  }
  if (found == all.end()) return nullptr;
  std::vector<const condition*> used;
  note_used(whole, used);
  return std::find(used.begin(), used.end(), found->get()) == used.end() ? *found : nullptr;
}

bool valid_size(cudaGraphConditionalNodeType type, unsigned size) {
  switch (type) {
    case cudaGraphCondTypeIf:
      return size == 1 || size == 2;
    case cudaGraphCondTypeWhile:
      return size == 1;
    case cudaGraphCondTypeSwitch:
      return size >= 1;
  }
  return false;
}

bool allowed_in_bodies(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
    case cudaGraphNodeTypeMemcpy:
    case cudaGraphNodeTypeMemset:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeConditional:
      return true;
    default:
      return false;
  }
}

bool all_used(const CUgraph_st& graph, const std::vector<const condition*>& used) {
  for (const auto& c : graph.conditions) {
    if (std::find(used.begin(), used.end(), c.get()) == used.end()) return false;
  }
  for (cudaGraphNode_t node : graph.nodes) {
    for (cudaGraph_t inner : inner_graphs(node->recipe)) {
      if (!all_used(*inner, used)) return false;
    }
  }
  return true;
}

}  // namespace

result<node_recipe> conditional_recipe(cudaConditionalNodeParams& params, CUgraph_st& graph,
                                       device_id device) {
  const std::shared_ptr<condition> handle = find_condition(params.handle, graph);
  if (!handle || !valid_size(params.type, params.size)) return status::invalid_value;
  conditional_node detail;
  detail.handle = handle;
  detail.type = params.type;
  node_recipe recipe;
  recipe.type = cudaGraphNodeTypeConditional;
  recipe.device = device;
  for (unsigned i = 0; i < params.size; ++i) {
    CUgraph_st* body = create_graph();
    if (body == nullptr) {
      for (cudaGraph_t made : detail.bodies) destroy_graph(*made);
      return status::memory_allocation;
    }
    body->inseparable = true;
    detail.bodies.push_back(body);
  }
  // The node keeps the array where it is: moving a recipe does not move it.
  params.phGraph_out = detail.bodies.data();
  recipe.detail = std::move(detail);
  return recipe;
}

cudaGraphNode_t forbidden_in_bodies(const CUgraph_st& graph) {
  for (cudaGraphNode_t node : graph.nodes) {
    if (!allowed_in_bodies(node->recipe.type)) return node;
    for (cudaGraph_t inner : inner_graphs(node->recipe)) {
      if (cudaGraphNode_t bad = forbidden_in_bodies(*inner)) return bad;
    }
  }
  return nullptr;
}

bool has_unused_condition(const CUgraph_st& graph) {
  std::vector<const condition*> used;
  note_used(graph, used);
  return !all_used(graph, used);
}

namespace {

// CUDA: an executable takes over the places of one that is gone, and nothing clears them: what a
// condition without a default holds at first is what another one left there, 0 in a new place;
// graphs.tsv condrun.kind0.flags0.*, condrun.persists
class place_list {
 public:
  std::vector<std::uint32_t> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    std::vector<std::uint32_t> newest = std::move(free_.back());
    free_.pop_back();
    return newest;
  }
  void give_back(std::vector<std::uint32_t> values) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(values));
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<std::uint32_t>> free_;  // the newest last; by number
};

}  // namespace

std::shared_ptr<void> condition_places(const CUgraph_st& graph) {
  static auto* places = new place_list;
  std::vector<std::shared_ptr<condition>> all;
  collect(graph, all);
  if (all.empty()) return std::make_shared<char>();
  std::vector<std::uint32_t> left = places->take();
  for (const auto& c : all) {
    if (left.size() <= c->number) left.resize(c->number + 1);
    c->value.store(left[c->number]);
  }
  auto give_back = [all, left = std::move(left)](void*) mutable {
    for (const auto& c : all) left[c->number] = c->value.load();
    places->give_back(std::move(left));
  };
  return {nullptr, std::move(give_back)};
}

SB_API cudaError_t CUDARTAPI cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* out,
                                                              cudaGraph_t graph, unsigned at_launch,
                                                              unsigned flags) {
  return entry(call_kind::device, [&]() -> status {
    if (out == nullptr || !graphs().alive(graph)) return status::invalid_value;
    if ((flags & ~unsigned{cudaGraphCondAssignDefault}) != 0) return status::invalid_value;
    std::shared_ptr<condition> c = make_condition();
    if (!c) return status::memory_allocation;
    c->at_launch = at_launch;
    c->flags = flags;
    c->number = outermost(*graph).next_condition++;
    *out = reinterpret_cast<cudaGraphConditionalHandle>(c.get());
    graph->conditions.push_back(std::move(c));
    return status::success;
  });
}

}  // namespace sb::cudart
