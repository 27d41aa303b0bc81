#include "engine/at_once.hpp"

#include <algorithm>
#include <optional>

#include "engine/clock.hpp"
#include "engine/fault.hpp"
#include "engine/float_mode.hpp"

namespace sb::engine {

kernel_shape shape_of(const kernel_operation& launch) {
  kernel_shape shape;
  shape.blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  shape.threads_per_block = launch.block.x * launch.block.y * launch.block.z;
  shape.shared_bytes = launch.kernel->static_shared_bytes + launch.dynamic_shared_bytes;
  if (launch.kernel->registers != 0) shape.registers = launch.kernel->registers;
  shape.cooperative = launch.cooperative;
  return shape;
}

bool at_once::can_run(const kernel_operation& launch) {
  constexpr std::uint32_t most_local_bytes = 4096;  // it runs on the stack of its caller
  const abi::kernel_info& info = *launch.kernel;
  return info.is_straight != 0 && info.mode == abi::kernel_mode::loop &&
         info.static_shared_bytes + launch.dynamic_shared_bytes == 0 &&
         info.local_bytes <= most_local_bytes && !launch.cooperative && !launch.counts &&
         !launch.priority;
}

namespace {
bool any_floats(std::span<const kernel_operation* const> launches) {
  return std::any_of(launches.begin(), launches.end(), [](const kernel_operation* launch) {
    return launch->kernel->is_straight != abi::straight_without_floats;
  });
}
}  // namespace

[[gnu::hot]] void at_once::run_all(std::span<const kernel_operation* const> launches) {
  abi::thread_context self{&context_, {0, 0, 0}, 0};
  for (const kernel_operation* launch : launches) {
    now_ = launch;
    context_ = {.grid_dim = {launch->grid.x, launch->grid.y, launch->grid.z},
                .block_dim = {launch->block.x, launch->block.y, launch->block.z},
                .block_idx = {0, 0, 0},
                .dynamic_shared_bytes = 0,
                .row_blocks = 1,
                .row_at = block::not_told,
                .cooperative = 0,
                .shared = nullptr,
                .dynamic_shared = nullptr,
                .counts = nullptr};
    const abi::kernel_entry entry = launch->kernel->entry;
    const char* params = launch->params.data();
    std::uint32_t* at = context_.block_idx;
    for (at[2] = 0; at[2] < launch->grid.z; ++at[2])
      for (at[1] = 0; at[1] < launch->grid.y; ++at[1])
        for (at[0] = 0; at[0] < launch->grid.x; ++at[0]) entry(params, &self);
  }
}

[[gnu::hot]] bool at_once::run(std::span<const kernel_operation* const> launches, stream_id stream,
                               device_runtime& device, kernel_costs& costs) {
  constexpr std::uint32_t measured_one_in = 64;
  const bool measured = launches.size() == 1 && runs_++ % measured_one_in == 0;
  const std::uint64_t begin = measured ? steady_ns() : 0;
  std::optional<device_float_mode> as_on_the_device;
  if (any_floats(launches)) as_on_the_device.emplace();
  const failure_record fault = guarded([&] { run_all(launches); });
  if (fault.error != status::success) {
    note_failure(stream, device, fault);
    return false;
  }
  if (measured) {
    const extent3 grid = now_->grid;
    costs.of(now_->kernel).note(steady_ns() - begin, std::uint64_t{grid.x} * grid.y * grid.z);
  }
  return true;
}

void at_once::note_failure(stream_id stream, device_runtime& device, const failure_record& fault) {
  const kernel_operation& launch = *now_;
  owner_.as.stream = stream;
  kernel_run& run = owner_.run;
  run.launch = &launch;
  run.device = &device;
  run.blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  run.threads = launch.block.x * launch.block.y * launch.block.z;
  run.owner = &owner_;
  const std::uint32_t* at = context_.block_idx;
  body_.begin(
      run, at[0] + std::uint64_t{launch.grid.x} * (at[1] + std::uint64_t{launch.grid.y} * at[2]));
  body_.failure = fault;
  failed_ = true;
}

}  // namespace sb::engine
