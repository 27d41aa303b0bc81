// Hand-written kernels for engine tests: what the compiler would emit, calling the device table
// directly.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/device_calls.hpp"
#include "engine/engine.hpp"

namespace sb::engine::testing {

using abi::thread_context;

// Calls of the table, with the types that device code has for them.
struct device {
  template <class Result = void, class... Arguments>
  static Result call(void* slot, Arguments... arguments) {
    return reinterpret_cast<Result (*)(Arguments...)>(slot)(arguments...);
  }
  static const abi::device_table& table() { return device_calls(); }

  static int barrier(thread_context* self, abi::barrier_kind kind = abi::barrier_kind::plain,
                     int predicate = 0) {
    return call<int>(table().barrier, self, static_cast<std::uint32_t>(kind), predicate);
  }
  static void warp_sync(thread_context* self, std::uint32_t mask) {
    call(table().warp_sync, self, mask);
  }
  static std::uint64_t shuffle(thread_context* self, std::uint32_t mask, abi::shuffle_kind kind,
                               std::uint64_t value, std::uint32_t lane, std::uint32_t width = 32,
                               int* in_range = nullptr) {
    return call<std::uint64_t>(table().shuffle, self, mask, static_cast<std::uint32_t>(kind), value,
                               lane, width, in_range);
  }
  static std::uint32_t vote(thread_context* self, std::uint32_t mask, abi::vote_kind kind,
                            int predicate) {
    return call<std::uint32_t>(table().vote, self, mask, static_cast<std::uint32_t>(kind),
                               predicate);
  }
  static std::uint32_t match(thread_context* self, std::uint32_t mask, bool all,
                             std::uint64_t value, int* predicate = nullptr) {
    return call<std::uint32_t>(table().match, self, mask, static_cast<std::uint32_t>(all), value,
                               predicate);
  }
  static std::uint32_t reduce(thread_context* self, std::uint32_t mask, abi::reduce_kind kind,
                              std::uint32_t value) {
    return call<std::uint32_t>(table().reduce, self, mask, static_cast<std::uint32_t>(kind), value);
  }
  static std::uint32_t active_mask(thread_context* self, std::uint32_t place,
                                   std::uint32_t flags = 0) {
    return call<std::uint32_t>(table().active_mask, self, place * abi::first_place | flags);
  }
  static std::uint64_t clock(thread_context* self) {
    return call<std::uint64_t>(table().clock, self);
  }
  static std::uint64_t global_timer(thread_context* self) {
    return call<std::uint64_t>(table().global_timer, self);
  }
  static void wait_until(thread_context* self, std::uint64_t cycles) {
    call(table().wait_until, self, cycles);
  }
  static void nanosleep(thread_context* self, std::uint32_t ns) {
    call(table().nanosleep, self, ns);
  }
  static void yield(thread_context* self) { call(table().yield, self); }
  static void spin(thread_context* self, std::uint64_t seen) { call(table().spin, self, seen); }
  template <class... Arguments>
  static int print(thread_context* self, const char* format, Arguments... arguments) {
    return reinterpret_cast<int (*)(thread_context*, const char*, ...)>(table().print)(
        self, format, arguments...);
  }
  static void assert_fail(thread_context* self, const char* expression) {
    call(table().assert_fail, self, expression, "program.cu", 12u, "void kernel(int)");
  }
  static void trap(thread_context* self) { call(table().trap, self); }
  static void* allocate(thread_context* self, std::size_t bytes) {
    return call<void*>(table().allocate, self, bytes);
  }
  static void deallocate(thread_context* self, void* pointer) {
    call(table().deallocate, self, pointer);
  }
  static void grid_sync(thread_context* self) { call(table().grid_sync, self); }
};

inline abi::kernel_info kernel(abi::kernel_mode mode, abi::kernel_entry entry, const char* name,
                               std::uint32_t static_shared = 0) {
  abi::kernel_info info{};
  info.abi_version = abi::version;
  info.mode = mode;
  info.entry = entry;
  info.name = name;
  info.static_shared_bytes = static_shared;
  info.max_threads_per_block = 1024;
  info.registers = 32;
  return info;
}
inline abi::kernel_info loop_kernel(abi::kernel_entry entry, const char* name = "loop") {
  return kernel(abi::kernel_mode::loop, entry, name);
}
inline abi::kernel_info fiber_kernel(abi::kernel_entry entry, const char* name = "fibers",
                                     std::uint32_t static_shared = 0) {
  return kernel(abi::kernel_mode::fibers, entry, name, static_shared);
}

template <class Params>
const Params& params_of(const char* params) {
  return *reinterpret_cast<const Params*>(params);
}

template <class Params>
kernel_operation launch(const abi::kernel_info& info, extent3 grid, extent3 block,
                        const Params& params, std::uint32_t dynamic_shared = 0) {
  kernel_operation k;
  k.kernel = &info;
  k.grid = grid;
  k.block = block;
  k.dynamic_shared_bytes = dynamic_shared;
  k.params.resize(sizeof params);
  std::memcpy(k.params.data(), &params, sizeof params);
  return k;
}

// A kernel that holds its stream until the host opens the gate.
class gate {
 public:
  kernel_operation operation() {
    static const abi::kernel_info info = fiber_kernel(&hold, "gate");
    return launch(info, {}, {}, this);
  }
  void open() { open_.store(true, std::memory_order_release); }
  [[nodiscard]] bool reached() const { return reached_.load(std::memory_order_acquire); }
  void wait_until_reached() const {
    while (!reached()) std::this_thread::yield();
  }

 private:
  static void hold(const char* params, thread_context* self) {
    gate* g = params_of<gate*>(params);
    g->reached_.store(true, std::memory_order_release);
    while (!g->open_.load(std::memory_order_acquire)) device::yield(self);
  }

  std::atomic<bool> open_{false};
  std::atomic<bool> reached_{false};
};

// A flag that host functions and the test wait for.
class host_flag {
 public:
  void set() {
    std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

inline engine_options options_for_tests(std::uint32_t devices = 1, std::uint32_t workers = 2) {
  engine_options o;
  o.devices.assign(devices, h200_profile());
  o.workers = workers;
  return o;
}

inline constexpr device_id first_device{0};

inline sched::wait_target whole_device(device_id device = first_device) {
  sched::wait_target t;
  t.scope = sched::wait_scope::device;
  t.device = device;
  return t;
}
inline sched::wait_target whole_stream(stream_id stream) {
  sched::wait_target t;
  t.scope = sched::wait_scope::stream;
  t.stream = stream;
  return t;
}
inline sched::wait_target one_command(command_id id) {
  sched::wait_target t;
  t.scope = sched::wait_scope::command;
  t.command = id;
  return t;
}

struct engine_test {
  explicit engine_test(engine_options o = options_for_tests()) : e(std::move(o)) {}
  status sync() { return e.synchronize(whole_device(), first_device); }
  stream_id stream(int priority = 0) {
    return e.create_stream(first_device, stream_kind::non_blocking, priority);
  }
  engine e;
};

}  // namespace sb::engine::testing
