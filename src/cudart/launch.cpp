// Kernel launches.
#include <cstring>
#include <optional>
#include <utility>

#include "cudart/capture.hpp"
#include "cudart/context.hpp"
#include "cudart/functions.hpp"
#include "cudart/host_pointers.hpp"
#include "cudart/known_launches.hpp"
#include "cudart/operations.hpp"
#include "engine/checked_state.hpp"

namespace sb::cudart {
namespace {

// Fills in a fresh operation.
status make_operation(engine::kernel_operation& operation, const void* stub,
                      const launch_shape& shape, void** arguments, device_id device) {
  const auto kernel = find_function(stub, device);
  if (!kernel) return kernel.error();
  if (const status s = check_shape(**kernel, stub, shape, device); s != status::success) return s;
  const abi::kernel_info& info = **kernel;
  if (info.param_count != 0 && arguments == nullptr) return status::invalid_value;
  operation.kernel =
      &abi::variant_for(info, {shape.block.x, shape.block.y, shape.block.z, shape.grid.x});
  operation.grid = {shape.grid.x, shape.grid.y, shape.grid.z};
  operation.block = {shape.block.x, shape.block.y, shape.block.z};
  operation.dynamic_shared_bytes = static_cast<std::uint32_t>(shape.dynamic_shared);
  operation.cooperative = shape.cooperative;
  operation.params.resize(info.param_bytes);
  pack_arguments(info, arguments, operation.params.data());
  bar_host_pointers(info, operation.params.data(), device);
  return status::success;
}

node_recipe kernel_recipe(const void* stub, const launch_shape& shape,
                          engine::kernel_operation operation, const CUstream_st& stream) {
  kernel_node detail;
  detail.params.func = const_cast<void*>(stub);
  detail.params.gridDim = shape.grid;
  detail.params.blockDim = shape.block;
  detail.params.sharedMemBytes = static_cast<unsigned>(shape.dynamic_shared);
  node_recipe recipe;
  recipe.type = cudaGraphNodeTypeKernel;
  recipe.detail = detail;
  recipe.what = std::move(operation);
  recipe.device = stream.device;
  recipe.priority = static_cast<std::int8_t>(stream.priority);
  return recipe;
}

// The place of a launch: that of the `<<< >>>` it belongs to, or what called the entry point.
engine::launch_place place_of(const void* caller) {
  engine::launch_place place = std::exchange(self().launching_at, {});
  place.caller = caller;
  return place;
}

struct launch_extras {
  engine::launch_place place;
  std::optional<std::int8_t> priority;
};

status launch(const void* stub, const launch_shape& shape, void** arguments, cudaStream_t handle,
              const launch_extras& extras) {
  const std::uint64_t as_of = engine::checked_state::before_checks();
  const auto stream = resolve(handle);
  if (!stream) return stream.error();
  // CUDA: a kernel is launched into streams of the current device only (documented, not recorded).
  if ((*stream)->device != current_device()) return status::invalid_resource_handle;
  engine::kernel_operation operation;
  if (const status s = make_operation(operation, stub, shape, arguments, (*stream)->device);
      s != status::success) {
    refuse_captured(**stream);  // a launch that fails spoils the capture it belongs to
    return s;
  }
  operation.place = extras.place;
  operation.priority = extras.priority;
  the_engine().call_place(extras.place.file, extras.place.line);
  if (captures_under_way().load(std::memory_order_acquire) == 0 && !launch_blocking()) {
    const auto quick = the_engine().quick((*stream)->id, operation);
    if (quick && the_engine().launch_at_once(*quick, operation)) {
      remember_launch(stub, handle, *quick, std::move(operation), as_of);
      return status::success;
    }
  }
  if (is_capturing(**stream)) {
    operation.priority.reset();
    node_recipe recipe = kernel_recipe(stub, shape, std::move(operation), **stream);
    if (extras.priority) recipe.priority = *extras.priority;
    return enqueue(**stream, std::move(recipe)).error();
  }
  const auto command = enqueue(**stream, std::move(operation));
  if (!command || !launch_blocking()) return command.error();
  return wait_for(**stream, *command);
}

// Whether the grid is made of whole clusters.
bool divides(const cudaLaunchAttribute& cluster, const dim3& grid) {
  const auto& d = cluster.val.clusterDim;
  return d.x != 0 && d.y != 0 && d.z != 0 && grid.x % d.x == 0 && grid.y % d.y == 0 &&
         grid.z % d.z == 0;
}

bool known_attribute(cudaLaunchAttributeID id) {
  return (id >= cudaLaunchAttributeIgnore &&
          id <= cudaLaunchAttributePreferredSharedMemoryCarveout) ||
         id == cudaLaunchAttributeNvlinkUtilCentricScheduling;
}

}  // namespace

result<engine::operation> kernel_operation_of(const cudaKernelNodeParams& params, device_id device,
                                              bool cooperative) {
  const launch_shape shape{params.gridDim, params.blockDim, params.sharedMemBytes, cooperative};
  engine::kernel_operation operation;
  if (const status s = make_operation(operation, params.func, shape, params.kernelParams, device);
      s != status::success) {
    return s;
  }
  return engine::operation(std::move(operation));
}

SB_API __attribute__((hot)) cudaError_t CUDARTAPI cudaLaunchKernel(const void* function, dim3 grid,
                                                                   dim3 block, void** arguments,
                                                                   size_t shared,
                                                                   cudaStream_t stream) {
  const engine::launch_place place = place_of(__builtin_return_address(0));
  return entry_or_shortcut(
      call_kind::device,
      [&] { return launch_known(function, grid, block, shared, stream, arguments, place); },
      [&] {
        return launch(function, {grid, block, shared, false}, arguments, stream, {place, {}});
      });
}
SB_PTSZ(cudaLaunchKernel,
        (const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
         cudaStream_t stream),
        (function, grid, block, arguments, shared, stream))

SB_API cudaError_t CUDARTAPI cudaLaunchCooperativeKernel(const void* function, dim3 grid,
                                                         dim3 block, void** arguments,
                                                         size_t shared, cudaStream_t stream) {
  return entry(call_kind::device, [&, place = place_of(__builtin_return_address(0))] {
    return launch(function, {grid, block, shared, true}, arguments, stream, {place, {}});
  });
}
SB_PTSZ(cudaLaunchCooperativeKernel,
        (const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
         cudaStream_t stream),
        (function, grid, block, arguments, shared, stream))

SB_API cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t* config,
                                                 const void* function, void** arguments) {
  return entry(call_kind::device, [&, place = place_of(__builtin_return_address(0))]() -> status {
    if (config == nullptr) return status::invalid_value;
    launch_extras extras{place, {}};
    if (config->numAttrs != 0 && config->attrs == nullptr) return status::invalid_value;
    launch_shape shape{config->gridDim, config->blockDim, config->dynamicSmemBytes, false};
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const cudaLaunchAttribute& attribute = config->attrs[i];
      if (!known_attribute(attribute.id)) return status::invalid_value;
      if (attribute.id == cudaLaunchAttributeCooperative) {
        shape.cooperative = attribute.val.cooperative != 0;
      }
      // mixes.tsv bad_launches.cluster.divides
      if (attribute.id == cudaLaunchAttributeClusterDimension && !divides(attribute, shape.grid)) {
        return status::invalid_cluster_size;
      }
      if (attribute.id == cudaLaunchAttributePriority) {
        extras.priority = nearest_priority(attribute.val.priority, current_device());
      }
    }
    return launch(function, shape, arguments, config->stream, extras);
  });
}
SB_PTSZ(cudaLaunchKernelExC,
        (const cudaLaunchConfig_t* config, const void* function, void** arguments),
        (config, function, arguments))

}  // namespace sb::cudart
