// Executable graphs: instantiation and launch.
#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "cudart/call_name.hpp"
#include "cudart/capture.hpp"
#include "cudart/graph.hpp"
#include "cudart/graph_memory.hpp"
#include "cudart/operations.hpp"
#include "engine/memory.hpp"

namespace sb::cudart {
namespace {

constexpr unsigned long long known_flags =
    cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
    cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;

status fill_bodies(CUgraphNode_st& node, bool own_priority);

// Unfolds a graph into steps after `entry`; answers the steps that nothing inside follows.
result<std::vector<std::uint32_t>> unfold(const CUgraph_st& graph,
                                          const std::vector<std::uint32_t>& entry_steps,
                                          std::vector<CUgraphExec_st::step>& steps,
                                          bool own_priority) {
  const auto order = in_order(graph);
  if (!order) return order.error();
  std::unordered_map<cudaGraphNode_t, std::uint32_t> place;
  std::vector<std::uint32_t> leaves;
  for (cudaGraphNode_t node : *order) {
    std::vector<std::uint32_t> after;
    for (cudaGraphNode_t earlier : node->before) after.push_back(place[earlier]);
    if (node->before.empty()) after = entry_steps;
    if (const auto* child = std::get_if<child_node>(&node->recipe.detail)) {
      // The child's own step comes after everything in it and keeps the order for what follows.
      auto inside = unfold(*child->graph, after, steps, own_priority);
      if (!inside) return inside.error();
      if (!inside->empty()) after = std::move(*inside);
    }
    if (const status s = fill_bodies(*node, own_priority); s != status::success) return s;
    // CUDA: the kernels of an executable graph are loaded; graphs_conditional.tsv condroot.other.*
    if (const auto* launch = std::get_if<engine::kernel_operation>(&node->recipe.what)) {
      the_engine().load(*launch->kernel, node->recipe.device);
    }
    place[node] = static_cast<std::uint32_t>(steps.size());
    if (node->after.empty()) leaves.push_back(place[node]);
    steps.push_back({node, std::move(after)});
  }
  return leaves;
}

// What a step does in this launch: a wait looks up its record now, a disabled node does nothing.
engine::operation operation_now(const CUgraphNode_st& node) {
  if (!node.enabled) return engine::marker_operation{};
  if (const auto* event = std::get_if<event_node>(&node.recipe.detail)) {
    return node.recipe.type == cudaGraphNodeTypeWaitEvent ? wait_now(*event->state)
                                                          : record_now(event->state);
  }
  return node.recipe.what;
}

bool fixed(const CUgraphNode_st& node) {
  return node.enabled && !std::holds_alternative<event_node>(node.recipe.detail);
}

bool uses_own_priority(const CUgraphExec_st& exec) {
  return (exec.flags & cudaGraphInstantiateFlagUseNodePriority) != 0;
}

engine::condition_kind kind_of(cudaGraphConditionalNodeType type) {
  switch (type) {
    case cudaGraphCondTypeWhile:
      return engine::condition_kind::while_;
    case cudaGraphCondTypeSwitch:
      return engine::condition_kind::switch_;
    default:
      return engine::condition_kind::if_;
  }
}

// The bodies of a conditional node run when a launch comes to them: the engine gets them whole, and
// later changes of the executable leave them alone.
status fill_bodies(CUgraphNode_st& node, bool own_priority) {
  const auto* conditional = std::get_if<conditional_node>(&node.recipe.detail);
  if (conditional == nullptr) return status::success;
  auto plans = std::make_shared<std::vector<engine::graph_plan>>();
  for (cudaGraph_t body : conditional->bodies) {
    std::vector<CUgraphExec_st::step> steps;
    const auto leaves = unfold(*body, {}, steps, own_priority);
    if (!leaves) return leaves.error();
    engine::graph_plan plan;
    for (CUgraphExec_st::step& step : steps) {
      engine::graph_plan::item item{operation_now(*step.node), step.node->recipe.device,
                                    std::nullopt, std::move(step.after)};
      if (own_priority) item.priority = step.node->recipe.priority;
      plan.items.push_back(std::move(item));
    }
    plans->push_back(std::move(plan));
  }
  engine::conditional_operation what;
  what.kind = kind_of(conditional->type);
  what.value = {conditional->handle, &conditional->handle->value};
  what.bodies = std::move(plans);
  node.recipe.what = std::move(what);
  return status::success;
}

void collect_defaults(const CUgraph_st& graph, std::vector<engine::condition_default>& all) {
  for (const auto& c : graph.conditions) {
    if ((c->flags & cudaGraphCondAssignDefault) != 0) all.push_back({{c, &c->value}, c->at_launch});
  }
  for (cudaGraphNode_t node : graph.nodes) {
    for (cudaGraph_t inner : inner_graphs(node->recipe)) collect_defaults(*inner, all);
  }
}

graph_nodes nodes_of(const std::vector<CUgraphExec_st::step>& steps) {
  graph_shape all;
  for (const CUgraphExec_st::step& step : steps) {
    const engine::operation& what = step.node->recipe.what;
    command_kind kind = command_kind::marker;
    std::uint64_t bytes = 0;
    if (const auto* fill = std::get_if<engine::fill_operation>(&what)) {
      kind = command_kind::fill;
      bytes = fill->element_size * fill->width * fill->height * fill->depth;
    } else if (std::holds_alternative<engine::kernel_operation>(what)) {
      kind = command_kind::kernel;
    } else if (std::holds_alternative<engine::copy_operation>(what)) {
      kind = command_kind::copy;
    } else if (std::holds_alternative<engine::host_operation>(what)) {
      kind = command_kind::host_function;
    }
    all.add(kind, bytes, step.after);
  }
  return all.nodes();
}

// What its nodes cost the calling thread in modelled time.
using node_cost = double (graph_nodes::*)(const timing_profile&) const;
void spend(const CUgraphExec_st& exec, node_cost cost) {
  if (const timing_profile* timing = the_engine().timing())
    the_engine().spend((exec.nodes.*cost)(*timing));
}

void spend_on_first_graph() {
  static std::atomic<bool> made{false};
  const timing_profile* timing = the_engine().timing();
  if (timing != nullptr && !made.exchange(true)) the_engine().spend(timing->first_graph_ns);
}

status refresh(CUgraphExec_st& exec) {
  if (!exec.stale) return status::success;
  std::vector<CUgraphExec_st::step> steps;
  const auto leaves = unfold(*exec.graph, {}, steps, uses_own_priority(exec));
  if (!leaves) return leaves.error();
  std::vector<engine::condition_default> defaults;
  collect_defaults(*exec.graph, defaults);
  exec.defaults =
      defaults.empty()
          ? nullptr
          : std::make_shared<const std::vector<engine::condition_default>>(std::move(defaults));
  exec.steps = std::move(steps);
  exec.nodes = nodes_of(exec.steps);
  exec.moves_memory =
      std::any_of(exec.steps.begin(), exec.steps.end(), [](const CUgraphExec_st::step& step) {
        return std::holds_alternative<alloc_node>(step.node->recipe.detail) ||
               std::holds_alternative<free_node>(step.node->recipe.detail) ||
               step.node->recipe.type == cudaGraphNodeTypeMemcpy;
      });
  exec.works =
      std::any_of(exec.steps.begin(), exec.steps.end(), [](const CUgraphExec_st::step& step) {
        return step.node->recipe.type != cudaGraphNodeTypeEmpty;
      });
  exec.stale = false;
  return status::success;
}

// Memory that this launch makes live and memory that it frees.
status account_for_memory(const CUgraphExec_st& exec) {
  if (!exec.moves_memory) return status::success;
  std::vector<void*> allocated;
  std::vector<void*> freed;
  for (const CUgraphExec_st::step& step : exec.steps) {
    const node_detail& detail = step.node->recipe.detail;
    if (const auto* alloc = std::get_if<alloc_node>(&detail))
      allocated.push_back(alloc->params.dptr);
    if (const auto* free = std::get_if<free_node>(&detail)) freed.push_back(free->pointer);
  }
  const bool free_first = (exec.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0;
  return launch_graph_memory(allocated, freed, free_first ? if_live::free_first : if_live::refuse);
}

// Whether a node copies from the device to memory that is not pinned.
bool copies_to_pageable(const CUgraphExec_st& exec) {
  return exec.moves_memory &&
         std::any_of(exec.steps.begin(), exec.steps.end(), [](const CUgraphExec_st::step& step) {
           const auto* copy = std::get_if<engine::copy_operation>(&step.node->recipe.what);
           return copy != nullptr && step.node->enabled &&
                  copy->direction == copy_direction::device_to_host &&
                  !engine::memory::instance().find(copy->destination);
         });
}

// CUDA: a launch takes a snapshot of pageable memory that it copies from, and returns when it is
// done if that has no room; further.tsv graphpageable.h2d.*
bool copies_from_pageable(const CUgraphNode_st& node) {
  const auto* copy = std::get_if<engine::copy_operation>(&node.recipe.what);
  return copy != nullptr && node.enabled && copy->pageable &&
         copy->direction == copy_direction::host_to_device;
}

status enqueue(CUgraphExec_st& exec, CUstream_st& stream, bool& wait) {
  const std::lock_guard lock(exec.mutex);
  if (const status s = refresh(exec); s != status::success) return s;
  // CUDA: a graph without nodes, or of empty ones, is no work; mixes.tsv
  // legacy.empty.graph.holds.b2, parts.tsv asked.legacy.empty.node.holds
  if (!exec.works) return status::success;
  if (const status s = account_for_memory(exec); s != status::success) return s;
  std::vector<engine::operation> made;
  made.reserve(exec.steps.size());
  std::vector<engine::graph_item> items;
  items.reserve(exec.steps.size());
  for (const CUgraphExec_st::step& step : exec.steps) {
    engine::graph_item item;
    if (copies_from_pageable(*step.node)) {
      auto copy = std::get<engine::copy_operation>(step.node->recipe.what);
      wait = take_snapshot(copy, step.node->recipe.device) == snapshot::too_large || wait;
      made.push_back(std::move(copy));
      item.what = &made.back();
    } else if (fixed(*step.node)) {
      item.what = &step.node->recipe.what;
    } else {
      made.push_back(operation_now(*step.node));
      item.what = &made.back();
    }
    item.device = step.node->recipe.device;
    item.priority = uses_own_priority(exec) ? step.node->recipe.priority
                                            : static_cast<std::int8_t>(stream.priority);
    item.after = step.after;
    items.push_back(item);
  }
  // CUDA: an executable never runs beside itself, nor before it is uploaded; capture.tsv
  // samegraph.second.query, parts.tsv asked.launch.beside.held.upload
  std::vector<command_id> after;
  for (const command_id earlier : {exec.newest_launch, exec.newest_upload}) {
    if (earlier.valid()) after.push_back(earlier);
  }
  exec.newest_launch = the_engine().submit_graph(stream.id, items, after, exec.defaults);
  wait = copies_to_pageable(exec) || wait;
  return status::success;
}

// What it costs to bring a graph to the device, which happens once.
status spend_on_bringing(CUgraphExec_st& exec, node_cost cost) {
  bool first = false;
  {
    const std::lock_guard lock(exec.mutex);
    if (const status s = refresh(exec); s != status::success) return s;
    first = !std::exchange(exec.uploaded, true);
  }
  if (first) spend(exec, cost);
  return status::success;
}

status spend_on_first_launch(CUgraphExec_st& exec) {
  if (the_engine().timing() == nullptr) return status::success;
  return spend_on_bringing(exec, &graph_nodes::first_launch_ns);
}

status launch(CUgraphExec_st& exec, CUstream_st& stream) {
  if (const status s = spend_on_first_launch(exec); s != status::success) return s;
  bool wait = false;
  const status s = enqueue(exec, stream, wait);
  // The first nodes begin while the launch still comes to others.
  if (s == status::success) spend(exec, &graph_nodes::launch_ns);
  if (s != status::success || !wait) return s;
  // CUDA: as a copy to pageable memory does, the launch returns when it is done; graph_answers.tsv
  // graph.launch.pageable.*
  sched::wait_target target;
  target.scope = sched::wait_scope::stream;
  target.stream = stream.id;
  target.device = stream.device;
  return the_engine().synchronize(target, stream.device);
}

// Why a graph cannot be instantiated, for those who ask; graphs_conditional.tsv cond.body.*,
// graphs_nodes.tsv inst.*
struct refusal {
  status error = status::success;
  cudaGraphInstantiateResult result = cudaGraphInstantiateSuccess;
  cudaGraphNode_t node = nullptr;
};

refusal refused_node(const CUgraph_st& graph) {
  for (cudaGraphNode_t node : graph.nodes) {
    for (cudaGraph_t inner : inner_graphs(node->recipe)) {
      if (node->recipe.type == cudaGraphNodeTypeConditional) {
        if (cudaGraphNode_t bad = forbidden_in_bodies(*inner)) {
          return {status::invalid_value, cudaGraphInstantiateNodeOperationNotSupported, bad};
        }
      }
      if (const refusal inside = refused_node(*inner); inside.error != status::success) {
        return inside;
      }
    }
  }
  return {};
}

refusal refused(const CUgraph_st& graph) {
  if (!graph.instance.expired()) return {status::not_supported, cudaGraphInstantiateError, nullptr};
  if (has_unused_condition(graph)) {
    return {status::invalid_value, cudaGraphInstantiateConditionalHandleUnused, nullptr};
  }
  return refused_node(graph);
}

cudaGraphNode_t node_of_cycle(const CUgraph_st& graph) {
  const auto order = in_order(graph);
  if (!order) {
    for (cudaGraphNode_t node : graph.nodes) {
      if (!node->before.empty()) return node;
    }
  }
  for (cudaGraphNode_t node : graph.nodes) {
    for (cudaGraph_t inner : inner_graphs(node->recipe)) {
      if (cudaGraphNode_t bad = node_of_cycle(*inner)) return bad;
    }
  }
  return nullptr;
}

// CUDA: a graph that may be launched by a device has kernels, copies, fills and child graphs;
// graphs_nodes.tsv inst.flags.4, inst.devicelaunch.kernel
cudaGraphNode_t host_only(const CUgraph_st& graph) {
  for (cudaGraphNode_t node : graph.nodes) {
    switch (node->recipe.type) {
      case cudaGraphNodeTypeKernel:
      case cudaGraphNodeTypeMemcpy:
      case cudaGraphNodeTypeMemset:
      case cudaGraphNodeTypeEmpty:
      case cudaGraphNodeTypeGraph:
        break;
      default:
        return node;
    }
    for (cudaGraph_t inner : inner_graphs(node->recipe)) {
      if (cudaGraphNode_t bad = host_only(*inner)) return bad;
    }
  }
  return nullptr;
}

refusal instantiate(CUgraphExec_st& exec, CUgraph_st& graph, unsigned long long flags) {
  if (const refusal why = refused(graph); why.error != status::success) return why;
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) {
    if (cudaGraphNode_t bad = host_only(graph)) {
      return {status::invalid_value, cudaGraphInstantiateNodeOperationNotSupported, bad};
    }
  }
  // graphs_nodes.tsv inst.cycle
  if (cudaGraphNode_t bad = node_of_cycle(graph)) {
    return {status::invalid_value, cudaGraphInstantiateInvalidStructure, bad};
  }
  exec.graph = clone_graph(graph);
  if (exec.graph == nullptr) return {status::memory_allocation, cudaGraphInstantiateError, nullptr};
  exec.flags = flags;
  const status s = refresh(exec);
  if (s != status::success) return {s, cudaGraphInstantiateInvalidStructure, nullptr};
  if (is_unique(graph)) {
    exec.instance = condition_places(*exec.graph);
    graph.instance = exec.instance;
  }
  return {};
}

status instantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags,
                   cudaGraphInstantiateParams* report) {
  the_engine().wait_for_blocked_calls();
  CUgraphExec_st* exec = execs().create();
  if (exec == nullptr) return status::memory_allocation;
  const refusal why = instantiate(*exec, *graph, flags);
  if (report != nullptr) {
    report->errNode_out = why.node;
    report->result_out = why.result;
  }
  if (why.error != status::success) {
    if (exec->graph != nullptr) destroy_graph(*exec->graph);
    execs().destroy(exec);
    return why.error;
  }
  spend_on_first_graph();
  spend(*exec, &graph_nodes::instantiate_ns);
  if ((flags & cudaGraphInstantiateFlagUpload) != 0) {
    spend(*exec, &graph_nodes::upload_ns);
    exec->uploaded = true;
  }
  *out = exec;
  return status::success;
}

status check(const cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  if (out == nullptr || !graphs().alive(graph)) return status::invalid_value;
  if (is_body(*graph))
    return status::not_supported;  // graphs_conditional.tsv cond.body.instantiate
  if (graph->inseparable) return status::invalid_value;  // documented, not recorded
  if ((flags & ~known_flags) != 0) return status::invalid_value;
  // graph_answers.tsv graph.instantiate.flags.*
  const unsigned long long both =
      cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagDeviceLaunch;
  return (flags & both) != both ? status::success : status::invalid_value;
}

cudaGraphNode_t find_copy(const CUgraph_st& graph, cudaGraphNode_t node) {
  for (cudaGraphNode_t copy : graph.nodes) {
    if (copy->cloned_from == node) return copy;
    for (cudaGraph_t inner : inner_graphs(copy->recipe)) {
      if (cudaGraphNode_t inside = find_copy(*inner, node)) return inside;
    }
  }
  return nullptr;
}

bool can_be_disabled(cudaGraphNodeType type) {
  return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
         type == cudaGraphNodeTypeMemset;
}

}  // namespace

exec_table& execs() {
  static auto* table = new exec_table;
  return *table;
}

result<cudaGraphNode_t> find_in_exec(CUgraphExec_st& exec, cudaGraphNode_t node) {
  if (!nodes().alive(node)) return status::invalid_value;
  cudaGraphNode_t copy = find_copy(*exec.graph, node);
  if (copy == nullptr) return status::invalid_value;
  return copy;
}

SB_API cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph,
                                                           unsigned long long flags) {
  return entry(
      call_kind::capture_unsafe,
      [&] {
        // CUDA: to upload takes a stream, which only parameters name.
        if ((flags & cudaGraphInstantiateFlagUpload) != 0) return status::invalid_value;
        return check(out, graph, flags);
      },
      [&] { return instantiate(out, graph, flags, nullptr); });
}

SB_API cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph,
                                                  unsigned long long flags) {
  return as_call([&] { return cudaGraphInstantiateWithFlags(out, graph, flags); });
}

SB_API cudaError_t CUDARTAPI cudaGraphInstantiateWithParams(cudaGraphExec_t* out, cudaGraph_t graph,
                                                            cudaGraphInstantiateParams* params) {
  return entry(
      call_kind::capture_unsafe,
      [&] {
        if (params == nullptr) return status::invalid_value;
        const status s = check(out, graph, params->flags);
        if (s != status::success) {  // graphs_nodes.tsv inst.flags.16
          params->result_out = cudaGraphInstantiateError;
          params->errNode_out = nullptr;
        }
        return s;
      },
      [&] { return instantiate(out, graph, params->flags, params); });
}
SB_PTSZ(cudaGraphInstantiateWithParams,
        (cudaGraphExec_t * out, cudaGraph_t graph, cudaGraphInstantiateParams* params),
        (out, graph, params))

SB_API cudaError_t CUDARTAPI cudaGraphExecGetFlags(cudaGraphExec_t exec,
                                                   unsigned long long* flags) {
  return entry(call_kind::plain, [&]() -> status {
    if (flags == nullptr || !execs().alive(exec)) return status::invalid_value;
    *flags = exec->flags;
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  return entry(call_kind::device, [&]() -> status {
    if (!execs().alive(exec)) return status::invalid_value;  // capture.tsv graph.launch.null
    const auto stream = resolve(handle);
    if (!stream) return stream.error();
    // CUDA: a launch of a graph is not captured, it is refused.
    if (const status s = refuse_captured(**stream); s != status::success) return s;
    const status s = launch(*exec, **stream);
    // mixes_blocking.tsv fault_blocking.graph
    if (s != status::success || !launch_blocking()) return s;
    // What ran in the call already has no command.
    if (exec->newest_launch.valid()) wait_for(**stream, exec->newest_launch);
    return the_engine().sticky_error((*stream)->device);
  });
}
SB_PTSZ(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))

// There is nothing to bring to the device ahead of a launch; the checks are the launch's. CUDA: it
// is work of its stream, and launches come after it; mixes.tsv legacy.upload.holds.b2
SB_API cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t handle) {
  return entry(call_kind::device, [&]() -> status {
    if (!execs().alive(exec)) return status::invalid_value;
    const auto stream = resolve(handle);
    if (!stream) return stream.error();
    if (const status s = refuse_captured(**stream); s != status::success) return s;
    if (const status s = spend_on_bringing(*exec, &graph_nodes::upload_ns); s != status::success)
      return s;
    const std::lock_guard lock(exec->mutex);
    const auto upload = enqueue(**stream, engine::marker_operation{});
    if (upload) exec->newest_upload = *upload;
    return upload.error();
  });
}
SB_PTSZ(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))

SB_API cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return entry(call_kind::unfailing, [&]() -> status {
    if (const status s = admit_unsafe_call(); s != status::success) return s;
    graph_nodes nodes;
    const bool destroyed = execs().destroy(exec, [&](CUgraphExec_st& e) {
      nodes = e.nodes;
      // Launches under way hold what they need of the nodes, except memory: wait for that.
      sched::wait_target target;
      target.scope = sched::wait_scope::command;
      target.command = e.newest_launch;
      target.device = current_device();
      const bool owns_memory = std::any_of(e.steps.begin(), e.steps.end(), [](const auto& step) {
        return step.node->recipe.keeps != nullptr;
      });
      if (owns_memory && e.newest_launch.valid()) the_engine().synchronize(target, target.device);
      destroy_graph(*e.graph);
    });
    if (!destroyed) return status::invalid_value;
    if (const timing_profile* timing = the_engine().timing())
      the_engine().spend(nodes.destroy_exec_ns(*timing));
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     unsigned enabled) {
  return entry(call_kind::device, [&]() -> status {
    if (!execs().alive(exec)) return status::invalid_value;
    const std::lock_guard lock(exec->mutex);
    const auto copy = find_in_exec(*exec, node);
    if (!copy) return copy.error();
    if (!can_be_disabled((*copy)->recipe.type)) return status::invalid_value;
    (*copy)->enabled = enabled != 0;
    exec->stale = true;  // it may be in the body of a conditional node
    return status::success;
  });
}

SB_API cudaError_t CUDARTAPI cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     unsigned* enabled) {
  return entry(call_kind::device, [&]() -> status {
    if (enabled == nullptr || !execs().alive(exec)) return status::invalid_value;
    const std::lock_guard lock(exec->mutex);
    const auto copy = find_in_exec(*exec, node);
    if (!copy) return copy.error();
    if (!can_be_disabled((*copy)->recipe.type)) return status::invalid_value;
    *enabled = (*copy)->enabled ? 1 : 0;
    return status::success;
  });
}

}  // namespace sb::cudart
