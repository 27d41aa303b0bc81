// Fills: cudaMemset and its shapes.
#include "cudart/copy.hpp"
#include "cudart/operations.hpp"

namespace sb::cudart {
namespace {

struct fill_request {
  void* destination;
  int value;
  std::size_t width, height = 1, depth = 1;
  std::size_t pitch = 0, slice = 0;
};

status check_shape(const fill_request& r) {
  if (r.width == 0 || r.height == 0 || r.depth == 0) return status::not_ready;
  const bool rows = r.height > 1 || r.depth > 1;
  if (rows && r.pitch < r.width) return status::invalid_value;
  return r.depth > 1 && r.slice < r.pitch * r.height ? status::invalid_value : status::success;
}

// CUDA: a synchronous fill of device memory returns at once, of memory that the host can see when
// it is done. ordering.tsv whileheld.*.cudaMemset
bool returns_at_once(const engine::allocation& a) {
  using engine::memory_kind;
  return a.kind != memory_kind::managed && a.kind != memory_kind::pinned &&
         a.kind != memory_kind::registered;
}

engine::fill_operation operation_of(const fill_request& r) {
  engine::fill_operation op;
  op.destination = r.destination;
  op.value = static_cast<std::uint32_t>(r.value) & 0xff;
  op.width = r.width;
  op.height = r.height;
  op.depth = r.depth;
  op.pitch = r.pitch;
  op.slice = r.slice;
  return op;
}

status fill(const fill_request& r, cudaStream_t handle, call_form form) {
  const auto stream = resolve(handle);
  if (!stream) return stream.error();
  // h200: during capture the pointer is not looked at.
  if (is_capturing(**stream)) return enqueue(**stream, operation_of(r)).error();
  const auto known = the_memory().find(r.destination);
  if (!known) return status::invalid_value;
  if (!holds(*known, r.destination, r.width, r.height, r.depth, r.pitch, r.slice)) {
    return status::invalid_value;
  }
  const bool at_once = form == call_form::asynchronous ||
                       (returns_at_once(*known) &&
                        !finishes_at_once((*stream)->device, r.width * r.height * r.depth));
  const auto command = enqueue(**stream, operation_of(r));
  if (!command || at_once) return command.error();
  return wait_for(**stream, *command);
}

cudaError_t fill_entry(const fill_request& r, cudaStream_t stream, call_form form,
                       const char* name = __builtin_FUNCTION()) {
  return transfer_entry([&] { return check_shape(r); }, [&] { return fill(r, stream, form); },
                        name);
}

fill_request box(const cudaPitchedPtr& p, int value, const cudaExtent& e) {
  return {p.ptr, value, e.width, e.height, e.depth, p.pitch, p.pitch * p.ysize};
}

}  // namespace

result<engine::operation> fill_operation_of(const cudaMemsetParams& params, device_id) {
  const std::size_t element = params.elementSize;
  if (element != 1 && element != 2 && element != 4) return status::invalid_value;
  if (params.dst == nullptr || params.width == 0 || params.height == 0) {
    return status::invalid_value;
  }
  if (params.height > 1 && params.pitch < params.width * element) return status::invalid_value;
  // graphs_nodes.tsv nodes.fill.misaligned
  if (reinterpret_cast<std::uintptr_t>(params.dst) % element != 0) return status::invalid_value;
  const auto known = the_memory().find(params.dst);
  if (!known ||
      !holds(*known, params.dst, params.width * element, params.height, 1, params.pitch, 0)) {
    return status::invalid_value;
  }
  engine::fill_operation op;
  op.destination = params.dst;
  op.value = params.value;
  op.element_size = static_cast<std::uint32_t>(element);
  op.width = params.width;
  op.height = params.height;
  op.pitch = params.pitch;
  return engine::operation(op);
}

SB_API cudaError_t CUDARTAPI cudaMemset(void* destination, int value, size_t count) {
  return fill_entry({destination, value, count}, nullptr, call_form::synchronous);
}
SB_PTDS(cudaMemset, (void* destination, int value, size_t count), (destination, value, count))

SB_API cudaError_t CUDARTAPI cudaMemsetAsync(void* destination, int value, size_t count,
                                             cudaStream_t stream) {
  return fill_entry({destination, value, count}, stream, call_form::asynchronous);
}
SB_PTSZ(cudaMemsetAsync, (void* destination, int value, size_t count, cudaStream_t stream),
        (destination, value, count, stream))

SB_API cudaError_t CUDARTAPI cudaMemset2D(void* destination, size_t pitch, int value, size_t width,
                                          size_t height) {
  return fill_entry({destination, value, width, height, 1, pitch}, nullptr, call_form::synchronous);
}
SB_PTDS(cudaMemset2D, (void* destination, size_t pitch, int value, size_t width, size_t height),
        (destination, pitch, value, width, height))

SB_API cudaError_t CUDARTAPI cudaMemset2DAsync(void* destination, size_t pitch, int value,
                                               size_t width, size_t height, cudaStream_t stream) {
  return fill_entry({destination, value, width, height, 1, pitch}, stream, call_form::asynchronous);
}
SB_PTSZ(cudaMemset2DAsync,
        (void* destination, size_t pitch, int value, size_t width, size_t height,
         cudaStream_t stream),
        (destination, pitch, value, width, height, stream))

SB_API cudaError_t CUDARTAPI cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent) {
  return fill_entry(box(p, value, extent), nullptr, call_form::synchronous);
}
SB_PTDS(cudaMemset3D, (cudaPitchedPtr p, int value, cudaExtent extent), (p, value, extent))

SB_API cudaError_t CUDARTAPI cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent extent,
                                               cudaStream_t stream) {
  return fill_entry(box(p, value, extent), stream, call_form::asynchronous);
}
SB_PTSZ(cudaMemset3DAsync, (cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t stream),
        (p, value, extent, stream))

}  // namespace sb::cudart
