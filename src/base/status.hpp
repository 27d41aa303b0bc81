// Status codes used inside Streambed. The numbers are CUDA's, so that the border converts by a
// cast.
#pragma once

#include <cassert>
#include <optional>
#include <utility>

namespace sb {

enum class status : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  initialization_error = 3,
  cudart_unloading = 4,
  invalid_configuration = 9,
  invalid_pitch_value = 12,
  invalid_symbol = 13,
  invalid_channel_descriptor = 20,
  invalid_memcpy_direction = 21,
  invalid_filter_setting = 26,
  invalid_norm_setting = 27,
  devices_unavailable = 46,
  invalid_device_function = 98,
  no_device = 100,
  invalid_device = 101,
  device_uninitialized = 201,
  map_buffer_object_failed = 205,
  no_kernel_image = 209,
  unsupported_limit = 215,
  peer_access_unsupported = 217,
  operating_system = 304,
  invalid_resource_handle = 400,
  illegal_state = 401,
  lossy_query = 402,
  symbol_not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  peer_access_already_enabled = 704,
  peer_access_not_enabled = 705,
  context_is_destroyed = 709,
  assert_triggered = 710,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_pc = 718,
  launch_failure = 719,
  cooperative_launch_too_large = 720,
  not_permitted = 800,
  not_supported = 801,
  stream_capture_unsupported = 900,
  stream_capture_invalidated = 901,
  stream_capture_merge = 902,
  stream_capture_unmatched = 903,
  stream_capture_unjoined = 904,
  stream_capture_isolation = 905,
  stream_capture_implicit = 906,
  captured_event = 907,
  stream_capture_wrong_thread = 908,
  timeout = 909,
  graph_exec_update_failure = 910,
  invalid_cluster_size = 912,
  unknown = 999,
};

// A value or the status that says why there is none.
template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  result(status why) : status_(why) { assert(why != status::success); }  // NOLINT

  [[nodiscard]] bool ok() const { return status_ == status::success; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] status error() const { return status_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  status status_ = status::success;
};

}  // namespace sb
