// Runs a kernel on the thread that calls: one that needs nothing of the engine (is_straight) and no
// shared memory. One of these for the whole engine: whoever uses it holds the engine's lock.
#pragma once

#include <cstdint>
#include <span>

#include "engine/block.hpp"
#include "engine/node.hpp"

namespace sb::engine {

[[nodiscard]] kernel_shape shape_of(const kernel_operation& launch);

class at_once {
 public:
  [[nodiscard]] static bool can_run(const kernel_operation& launch);

  // One after another. False: a block failed; failed_block() says where, until forget() is called.
  bool run(std::span<const kernel_operation* const> launches, stream_id stream,
           device_runtime& device, kernel_costs& costs);

  [[nodiscard]] bool has_failed() const { return failed_; }
  [[nodiscard]] kernel_run& failed_run() { return owner_.run; }
  [[nodiscard]] const block& failed_block() const { return body_; }
  void forget() { failed_ = false; }

 private:
  void run_all(std::span<const kernel_operation* const> launches);
  void note_failure(stream_id stream, device_runtime& device, const failure_record& fault);

  const kernel_operation* now_ = nullptr;
  abi::block_context context_{};
  std::uint32_t runs_ = 0;
  bool failed_ = false;
  // Of the one that failed.
  block body_;
  node owner_;
};

}  // namespace sb::engine
