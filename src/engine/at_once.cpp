#include "engine/at_once.hpp"

#include "engine/clock.hpp"
#include "engine/fault.hpp"

namespace sb::engine {

bool at_once::can_run(const kernel_operation& launch) {
  constexpr std::uint32_t most_local_bytes = 4096;  // it runs on the stack of its caller
  const abi::kernel_info& info = *launch.kernel;
  return info.is_straight != 0 && info.mode == abi::kernel_mode::loop &&
         info.static_shared_bytes + launch.dynamic_shared_bytes == 0 &&
         info.local_bytes <= most_local_bytes && !launch.cooperative && !launch.counts &&
         !launch.priority;
}

bool at_once::run(const kernel_operation& launch, stream_id stream, device_runtime& device,
                  kernel_cost& cost) {
  constexpr std::uint32_t measured_one_in = 64;
  context_ = {.grid_dim = {launch.grid.x, launch.grid.y, launch.grid.z},
              .block_dim = {launch.block.x, launch.block.y, launch.block.z},
              .block_idx = {0, 0, 0},
              .dynamic_shared_bytes = 0,
              .shared = nullptr,
              .dynamic_shared = nullptr,
              .counts = nullptr};
  abi::thread_context self{&context_, {0, 0, 0}, 0};
  const abi::kernel_entry entry = launch.kernel->entry;
  const char* params = launch.params.data();
  const bool measured = runs_++ % measured_one_in == 0;
  const std::uint64_t begin = measured ? steady_ns() : 0;
  const failure_record fault = guarded([&] {
    std::uint32_t* at = context_.block_idx;
    for (at[2] = 0; at[2] < launch.grid.z; ++at[2])
      for (at[1] = 0; at[1] < launch.grid.y; ++at[1])
        for (at[0] = 0; at[0] < launch.grid.x; ++at[0]) entry(params, &self);
  });
  if (fault.error != status::success) {
    note_failure(launch, stream, device, fault);
    return false;
  }
  if (measured)
    cost.note(steady_ns() - begin, std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z);
  return true;
}

void at_once::note_failure(const kernel_operation& launch, stream_id stream, device_runtime& device,
                           const failure_record& fault) {
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
