// The body of all copies, and the linear calls.
#include "cudart/copy.hpp"

#include <cstring>
#include <memory>

#include "cudart/graph.hpp"
#include "cudart/operations.hpp"

namespace sb::cudart {
namespace {

using engine::memory_kind;

// One end of a copy.
struct copy_end {
  std::optional<engine::allocation> allocation;  // none: pageable

  [[nodiscard]] bool is(memory_kind kind) const { return allocation && allocation->kind == kind; }
  [[nodiscard]] bool pageable() const { return !allocation; }
  [[nodiscard]] bool pinned() const {
    return is(memory_kind::pinned) || is(memory_kind::registered);
  }
  [[nodiscard]] bool managed() const { return is(memory_kind::managed); }
  [[nodiscard]] bool device() const { return allocation && !pinned() && !managed(); }
};

// Where an end counts as: managed memory is on the host when the kind says that its end is.
enum class side : std::uint8_t { host, device };

side side_of(const copy_end& end, bool kind_says_host) {
  if (end.pageable() || end.pinned()) return side::host;
  return end.managed() && kind_says_host ? side::host : side::device;
}

struct checked_copy {
  engine::copy_operation operation;
  copy_end destination, source;
  side destination_side, source_side;
};

status check_end(const copy_end& end, bool kind_says_device, const void* first,
                 const copy_request& r, std::size_t pitch, std::size_t slice) {
  if (first == nullptr) return status::invalid_value;
  // CUDA: only memory that it does not know is refused on the device's side, and nothing on the
  // host's.
  if (end.pageable()) return kind_says_device ? status::invalid_value : status::success;
  const bool inside = holds(*end.allocation, first, r.width, r.height, r.depth, pitch, slice);
  return inside ? status::success : status::invalid_value;
}

result<checked_copy> check(const copy_request& r) {
  checked_copy c{{}, {the_memory().find(r.destination)}, {the_memory().find(r.source)}, {}, {}};
  const bool to_device = r.kind == cudaMemcpyHostToDevice || r.kind == cudaMemcpyDeviceToDevice;
  const bool from_device = r.kind == cudaMemcpyDeviceToHost || r.kind == cudaMemcpyDeviceToDevice;
  status s = check_end(c.destination, to_device, r.destination, r, r.destination_pitch,
                       r.destination_slice);
  if (s == status::success) {
    s = check_end(c.source, from_device, r.source, r, r.source_pitch, r.source_slice);
  }
  if (s != status::success) return s;

  const bool by_pointers = r.kind == cudaMemcpyDefault;
  c.destination_side = side_of(c.destination, !by_pointers && !to_device);
  c.source_side = side_of(c.source, !by_pointers && !from_device);
  engine::copy_operation& op = c.operation;
  op.destination = r.destination;
  op.source = r.source;
  op.width = r.width;
  op.height = r.height;
  op.depth = r.depth;
  op.destination_pitch = r.destination_pitch;
  op.source_pitch = r.source_pitch;
  op.destination_slice = r.destination_slice;
  op.source_slice = r.source_slice;
  op.pageable = c.destination.pageable() || c.source.pageable();
  if (c.destination_side == side::host) {
    op.direction =
        c.source_side == side::host ? copy_direction::host_to_host : copy_direction::device_to_host;
  } else if (c.source_side == side::host) {
    op.direction = copy_direction::host_to_device;
  } else if (c.destination.allocation->device != c.source.allocation->device) {
    op.direction = copy_direction::peer;
    op.peer = c.source.allocation->device;
  } else {
    op.direction = copy_direction::device_to_device;
  }
  return c;
}

// Takes a snapshot of a pageable source, rows packed.
void fill_stage(engine::copy_operation& op, std::shared_ptr<char> buffer) {
  const std::size_t bytes = op.width * op.height * op.depth;
  char* to = buffer.get();
  const char* from = static_cast<const char*>(op.source);
  if (op.height == 1 && op.depth == 1) {
    engine::note_read(from, bytes);
    std::memcpy(to, from, bytes);
  } else {
    for (std::size_t z = 0; z < op.depth; ++z) {
      for (std::size_t y = 0; y < op.height; ++y, to += op.width) {
        engine::note_read(from + z * op.source_slice + y * op.source_pitch, op.width);
        std::memcpy(to, from + z * op.source_slice + y * op.source_pitch, op.width);
      }
    }
  }
  const timing_profile* timing = the_engine().timing();
  if (timing != nullptr && bytes > command_copy_bytes)
    the_engine().spend(static_cast<double>(bytes) / timing->stage_bytes_per_ns);
  op.snapshot_of = op.source;
  op.source = buffer.get();
  op.source_pitch = op.width;
  op.source_slice = op.width * op.height;
  op.staging = std::move(buffer);
}

// False when there is no room.
bool stage(engine::copy_operation& op, device_id device) {
  std::shared_ptr<char> buffer = the_memory().try_stage(device, op.width * op.height * op.depth);
  if (!buffer) return false;
  fill_stage(op, std::move(buffer));
  return true;
}

// Whether the call returns before its copy is done, taking a snapshot where that makes it possible.
// ordering.tsv whileheld.*.cudaMemcpy.*, asynccopy.*; thresholds.tsv staged.*
bool returns_at_once(checked_copy& c, call_form form, device_id device) {
  if (form == call_form::synchronous) {
    const auto& op = c.operation;
    return c.destination.device() && c.source.device() &&
           !finishes_at_once(device, op.width * op.height * op.depth);
  }
  switch (c.operation.direction) {
    case copy_direction::host_to_host:
      return false;
    case copy_direction::host_to_device:
      // Managed memory on the host's side is neither pinned nor staged.
      return c.source.pinned() || (c.source.pageable() && stage(c.operation, device));
    case copy_direction::device_to_host:
      return c.destination.pinned();
    default:
      return true;
  }
}

status linear(void* destination, const void* source, std::size_t count, cudaMemcpyKind kind,
              cudaStream_t stream, call_form form) {
  copy_request r;
  r.destination = destination;
  r.source = source;
  r.width = count;
  r.kind = kind;
  return copy(r, stream, form);
}

status check_linear(std::size_t count, cudaMemcpyKind kind) {
  if (count == 0) return status::not_ready;
  return known_kind(kind) ? status::success : status::invalid_memcpy_direction;
}

}  // namespace

bool holds(const engine::allocation& allocation, const void* first, std::size_t width,
           std::size_t height, std::size_t depth, std::size_t pitch, std::size_t slice) {
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(first) -
                                               static_cast<const char*>(allocation.base));
  const std::size_t room = allocation.bytes - offset;
  // The last row ends with its last byte, not with its pitch; runtime.tsv, copies of shapes
  std::size_t rows = 0, slices = 0, end = 0;
  if (__builtin_mul_overflow(height - 1, pitch, &rows) ||
      __builtin_mul_overflow(depth - 1, slice, &slices) ||
      __builtin_add_overflow(rows, slices, &end) || __builtin_add_overflow(end, width, &end)) {
    return false;
  }
  return end <= room;
}

status copy(const copy_request& request, cudaStream_t handle, call_form form) {
  const auto stream = resolve(handle);
  if (!stream) return stream.error();
  auto checked = check(request);
  if (!checked) return checked.error();
  // CUDA: a captured copy reads its source when the graph runs; capture.tsv launch.reads.now
  if (is_capturing(**stream)) {
    node_recipe node = recipe_of(std::move(checked->operation), **stream);
    if (request.of_arrays) node.detail = copy_node{*request.of_arrays};
    return enqueue(**stream, std::move(node)).error();
  }
  if (form == call_form::synchronous) the_engine().wait_for_blocked_calls();
  const bool at_once = returns_at_once(*checked, form, (*stream)->device);
  const auto command = enqueue(**stream, std::move(checked->operation));
  if (!command || at_once) return command.error();
  return wait_for(**stream, *command);
}

snapshot take_snapshot(engine::copy_operation& op, device_id device) {
  if (stage(op, device)) return snapshot::staged;
  const std::size_t bytes = op.width * op.height * op.depth;
  fill_stage(op, {new char[bytes], std::default_delete<char[]>()});
  return snapshot::too_large;
}

result<engine::operation> copy_operation_of(const cudaMemcpy3DParms& params, device_id) {
  // A plain copy tells neither pitch nor rows; graphs_nodes.tsv nodes.copy.get.is
  cudaMemcpy3DParms whole = params;
  if (params.extent.height == 1 && params.extent.depth == 1 && params.srcArray == nullptr &&
      params.dstArray == nullptr) {
    for (cudaPitchedPtr* end : {&whole.srcPtr, &whole.dstPtr}) {
      if (end->pitch == 0) *end = {end->ptr, params.extent.width, params.extent.width, 1};
    }
  }
  const auto request = request_of(whole);
  if (!request) return request.error();
  if (!known_kind(request->kind)) return status::invalid_memcpy_direction;
  auto checked = check(*request);
  if (!checked) return checked.error();
  return engine::operation(std::move(checked->operation));
}

SB_API cudaError_t CUDARTAPI cudaMemcpy(void* destination, const void* source, size_t count,
                                        cudaMemcpyKind kind) {
  return transfer_entry(
      [&] { return check_linear(count, kind); },
      [&] { return linear(destination, source, count, kind, nullptr, call_form::synchronous); });
}
SB_PTDS(cudaMemcpy, (void* destination, const void* source, size_t count, cudaMemcpyKind kind),
        (destination, source, count, kind))

SB_API cudaError_t CUDARTAPI cudaMemcpyAsync(void* destination, const void* source, size_t count,
                                             cudaMemcpyKind kind, cudaStream_t stream) {
  return transfer_entry(
      [&] { return check_linear(count, kind); },
      [&] { return linear(destination, source, count, kind, stream, call_form::asynchronous); });
}
SB_PTSZ(cudaMemcpyAsync,
        (void* destination, const void* source, size_t count, cudaMemcpyKind kind,
         cudaStream_t stream),
        (destination, source, count, kind, stream))

}  // namespace sb::cudart
