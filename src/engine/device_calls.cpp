// The slots of the device table: what a kernel may ask of the engine. Every function here runs on
// the fiber of the thread that calls, so none of them may hold a lock over a switch or keep the
// address of a thread-local variable.
#include "engine/device_calls.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "engine/block.hpp"
#include "engine/clock.hpp"
#include "engine/worker.hpp"

namespace sb::engine {

namespace {

using abi::thread_context;

device_thread& thread_of(thread_context* self) { return *reinterpret_cast<device_thread*>(self); }
block& block_of(thread_context* self) { return *reinterpret_cast<block*>(self->block); }
bool in_loop(const block& b) { return !b.has_fibers(); }

thread_context* self() {
  worker* w = current_worker();
  return w != nullptr && w->current != nullptr ? &w->current->context : nullptr;
}

int barrier(thread_context* self, std::uint32_t kind, int predicate) {
  return block_of(self).barrier(thread_of(self), static_cast<abi::barrier_kind>(kind), predicate);
}

// --- warp operations

lane_call& prepare(thread_context* self, abi::lane_operation what, std::uint32_t how,
                   std::uint32_t mask) {
  lane_call& call = thread_of(self).call;
  call.what = what;
  call.how = how;
  call.mask = mask;
  return call;
}

void warp_sync(thread_context* self, std::uint32_t mask) {
  prepare(self, abi::lane_operation::sync, 0, mask);
  block_of(self).warp_call(thread_of(self));
}

std::uint64_t shuffle(thread_context* self, std::uint32_t mask, std::uint32_t kind,
                      std::uint64_t value, std::uint32_t lane_or_delta, std::uint32_t width,
                      int* in_range) {
  lane_call& call = prepare(self, abi::lane_operation::shuffle, kind, mask);
  call.value = value;
  call.argument = lane_or_delta;
  call.width = width;
  block_of(self).warp_call(thread_of(self));
  if (in_range != nullptr) *in_range = call.flag;
  return call.result;
}

std::uint32_t vote(thread_context* self, std::uint32_t mask, std::uint32_t kind, int predicate) {
  lane_call& call = prepare(self, abi::lane_operation::vote, kind, mask);
  call.argument = predicate != 0 ? 1 : 0;
  block_of(self).warp_call(thread_of(self));
  return static_cast<std::uint32_t>(call.result);
}

std::uint32_t match(thread_context* self, std::uint32_t mask, std::uint32_t all,
                    std::uint64_t value, int* predicate) {
  lane_call& call = prepare(self, abi::lane_operation::match, all, mask);
  call.value = value;
  block_of(self).warp_call(thread_of(self));
  if (predicate != nullptr) *predicate = call.flag;
  return static_cast<std::uint32_t>(call.result);
}

std::uint32_t reduce(thread_context* self, std::uint32_t mask, std::uint32_t kind,
                     std::uint32_t value) {
  lane_call& call = prepare(self, abi::lane_operation::reduce, kind, mask);
  call.value = value;
  block_of(self).warp_call(thread_of(self));
  return static_cast<std::uint32_t>(call.result);
}

std::uint32_t active_mask(thread_context* self, std::uint32_t place) {
  return block_of(self).active_mask(thread_of(self), place);
}

std::uint32_t lane_comes(thread_context* self, std::uint32_t thread, std::uint32_t what,
                         std::uint32_t how, std::uint32_t mask, std::uint64_t value,
                         std::uint32_t argument, std::uint32_t width) {
  block& b = block_of(self);
  b.call_of(thread) = {.what = static_cast<abi::lane_operation>(what),
                       .how = how,
                       .mask = mask,
                       .argument = argument,
                       .width = width,
                       .value = value};
  return b.lane_comes(thread) ? 1 : 0;
}

std::uint32_t lane_waits(thread_context* self, std::uint32_t thread) {
  return block_of(self).lane_waits(thread) ? 1 : 0;
}

std::uint64_t lane_takes(thread_context* self, std::uint32_t thread, int* flag) {
  const lane_call& call = block_of(self).call_of(thread);
  if (flag != nullptr) *flag = call.flag;
  return call.result;
}

void lane_leaves(thread_context* self, std::uint32_t thread) { block_of(self).lane_leaves(thread); }

// --- time

// Reads of a thread that follow each other this closely are a loop on the clock. By the real clock
// all threads of a block that take turns may have read it in between.
constexpr std::uint64_t streak_gap_ns = 1000;
std::uint64_t streak_gap(const block& b) {
  const bool in_turns = b.has_fibers() || b.has_times();
  return in_turns && b.model_ns == 0 ? streak_gap_ns * b.run->threads : streak_gap_ns;
}
constexpr std::uint32_t streak_begins = 32;
constexpr std::uint64_t least_step_ns = 2;

void drop_if_cancelled(block& b, device_thread& t) {
  if (b.run->cancelled.load(std::memory_order_relaxed)) b.fail(t, {});
}

// The real time for a wait of a loop-mode block: not read for each of its threads, which are done
// within nanoseconds and whose waits are far longer.
std::uint64_t loop_real(block& b) {
  if (b.loop.waits++ % 16 == 0 && (b.loop.waits != 1 || b.loop.real_ns == 0))
    b.loop.real_ns = b.now_ns();
  return b.loop.real_ns;
}

// The logical time of the present thread of a loop-mode block. The thread before it may have
// waited: this one starts where the region started, not where that wait ended.
std::uint64_t loop_now(block& b, device_thread& t, std::uint64_t now) {
  auto& loop = b.loop;
  if (loop.begin_ns == 0) {
    loop.begin_ns = now;
    loop.thread = t.context.linear_tid;
  } else if (t.context.linear_tid != loop.thread) {
    // The first thread again: the pass split the body at a barrier, which all waits come before.
    if (t.context.linear_tid < loop.thread) loop.begin_ns = std::max(loop.begin_ns, loop.end_ns);
    loop.thread = t.context.linear_tid;
    loop.skew_ns = loop.begin_ns > now ? loop.begin_ns - now : 0;
    t.streak = 0;
    t.clock_ns = 0;
  }
  return now + loop.skew_ns;
}

void loop_advance_to(block& b, std::uint64_t now, std::uint64_t target) {
  if (target > now + b.loop.skew_ns) b.loop.skew_ns = target - now;
  b.loop.end_ns = std::max(b.loop.end_ns, target);
}

constexpr std::uint64_t least_pause_ns = 1000;
std::uint64_t pause_ns(std::uint64_t waited) { return std::max(least_pause_ns, waited / 64); }

// Of a thread that shares a fiber: by the real clock many of them wake together.
std::uint64_t pause_end(block& b, std::uint32_t thread, std::uint64_t now, std::uint64_t waited) {
  if (b.model_ns != 0) return now + pause_ns(waited);
  return b.round_ns(thread) + std::bit_floor(pause_ns(waited));
}

enum class clock_use : std::uint8_t { may_wait, noted };

// What comes of the clock from here on is another wait.
void forget_wait(device_thread& t) {
  t.streak_ns = t.clock_ns;
  t.pause_ns = 0;
}

// Nanoseconds on the thread's clock. A loop on it that the compiler could not solve must neither
// burn a core for each thread nor see time stand still: in loop mode its steps grow with the wait
// (by one percent), in fiber mode the fiber sleeps in steps. A thread that shares one does so at
// the back edge of the loop.
std::uint64_t read_clock(thread_context* self, clock_use use) {
  block& b = block_of(self);
  const bool has_times = b.has_times();
  device_thread& t = has_times ? b.resumed(self->linear_tid) : thread_of(self);
  b.asked_time = true;
  const std::uint64_t real = b.now_ns();
  std::uint64_t now = in_loop(b) && !has_times ? loop_now(b, t, real) : b.shown(real, t);
  b.loop.real_ns = real;
  b.loop.waits = 0;
  if (use == clock_use::noted) {
    t.clock_ns = std::max(now, t.clock_ns + least_step_ns);
    forget_wait(t);
    return t.clock_ns;
  }
  const std::uint64_t last = has_times ? std::max(t.clock_ns, t.wake_ns) : t.clock_ns;
  if (t.clock_ns != 0 && now < last + streak_gap(b)) {
    if (t.streak++ == 0) t.streak_ns = t.clock_ns;
  } else {
    t.streak = 0;
  }
  if (t.streak > streak_begins) {
    drop_if_cancelled(b, thread_of(self));
    const std::uint64_t waited = now - std::min(now, t.streak_ns);
    if (has_times) {
      t.pause_ns = pause_end(b, self->linear_tid, now, waited);
    } else if (in_loop(b)) {
      now += waited / 100;
      loop_advance_to(b, real, now);
    } else {
      b.sleep(t, now + pause_ns(waited));
      now = b.shown(b.now_ns(), t);
    }
  }
  now = std::max(now, t.clock_ns + least_step_ns);
  t.clock_ns = now;
  return now;
}

std::uint64_t cycles(thread_context* self, clock_use use) {
  return cycles_of(read_clock(self, use), block_of(self).run->device->clock_khz);
}
std::uint64_t clock(thread_context* self) { return cycles(self, clock_use::may_wait); }
std::uint64_t noted_clock(thread_context* self) { return cycles(self, clock_use::noted); }

std::uint64_t timer(thread_context* self, clock_use use) {
  return read_clock(self, use) + global_timer_offset_ns();
}
std::uint64_t global_timer(thread_context* self) { return timer(self, clock_use::may_wait); }
std::uint64_t noted_timer(thread_context* self) { return timer(self, clock_use::noted); }

void wait_is_over(thread_context* self) {
  block& b = block_of(self);
  forget_wait(b.has_times() ? b.resumed(self->linear_tid) : thread_of(self));
}

void wait_until_ns(thread_context* self, std::uint64_t target) {
  block& b = block_of(self);
  device_thread& t = thread_of(self);
  t.streak = 0;
  if (in_loop(b)) {
    drop_if_cancelled(b, t);
    const std::uint64_t real = loop_real(b);
    if (target > loop_now(b, t, real)) loop_advance_to(b, real, target);
  } else {
    b.sleep_until(t, target);
  }
}

void wait_until(thread_context* self, std::uint64_t cycles) {
  wait_until_ns(self, ns_of(cycles, block_of(self).run->device->clock_khz));
}

void wait_until_timer(thread_context* self, std::uint64_t ns) {
  wait_until_ns(self, ns - global_timer_offset_ns());
}

// The device sleeps a millisecond at most, whatever it is asked for.
constexpr std::uint32_t longest_sleep_ns = 1'000'000;

void nanosleep(thread_context* self, std::uint32_t ns) {
  block& b = block_of(self);
  device_thread& t = thread_of(self);
  ns = std::min(ns, longest_sleep_ns);
  if (in_loop(b)) {
    wait_until_ns(self, loop_now(b, t, loop_real(b)) + ns);
  } else if (ns != 0) {
    t.streak = 0;
    b.sleep(t, b.now_ns() + ns);
  }
}

std::uint32_t thread_sleeps(thread_context* self, std::uint32_t thread, std::uint32_t kind,
                            std::uint64_t time) {
  block& b = block_of(self);
  switch (static_cast<abi::sleep_kind>(kind)) {
    case abi::sleep_kind::for_ns:
      return b.thread_sleeps_for(thread, std::min<std::uint64_t>(time, longest_sleep_ns)) ? 1 : 0;
    case abi::sleep_kind::until_clock:
      time = ns_of(time, b.run->device->clock_khz);
      break;
    case abi::sleep_kind::until_timer:
      time -= global_timer_offset_ns();
      break;
  }
  return b.thread_sleeps_until(thread, time) ? 1 : 0;
}

std::uint32_t thread_is_asleep(thread_context* self, std::uint32_t thread) {
  return block_of(self).thread_is_asleep(thread) ? 1 : 0;
}

std::uint32_t thread_looks(thread_context* self, std::uint32_t thread, std::uint64_t seen) {
  return static_cast<std::uint32_t>(block_of(self).thread_looks(thread, seen));
}

void yield(thread_context* self) {
  block& b = block_of(self);
  if (in_loop(b)) {
    drop_if_cancelled(b, thread_of(self));
    sched_yield();
    return;
  }
  b.yield(thread_of(self));
}

void spin(thread_context* self, std::uint64_t seen) {
  block& b = block_of(self);
  if (in_loop(b))
    yield(self);
  else
    b.spin(thread_of(self), seen);
}

void spun(thread_context* self, std::uint32_t outcome) {
  block_of(self).spun(thread_of(self), static_cast<abi::round_outcome>(outcome));
}

// --- printf, assert, trap

// The number of arguments that a format takes, which is what printf in a kernel returns.
int conversions(const char* format) {
  int n = 0;
  for (const char* p = format; *p != 0; ++p) {
    if (*p != '%') continue;
    ++p;
    if (*p == '%') continue;
    for (; *p != 0 && std::strchr("diouxXeEfFgGaAcsp", *p) == nullptr; ++p)
      if (*p == '*') ++n;
    if (*p == 0) break;
    ++n;
  }
  return n;
}

int print(thread_context* self, const char* format, ...) {
  if (format == nullptr) return -1;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  print_fifo& prints = block_of(self).run->device->prints;
  if (length >= 0 && static_cast<std::size_t>(length) < sizeof text) {
    prints.add({text, static_cast<std::size_t>(length)});
  } else if (length >= 0) {
    std::string longer(static_cast<std::size_t>(length) + 1, 0);
    std::vsnprintf(longer.data(), longer.size(), format, again);
    prints.add({longer.data(), static_cast<std::size_t>(length)});
  }
  va_end(again);
  return length < 0 ? -1 : conversions(format);
}

void say_assertion(const thread_context* self, const char* expression, const char* file,
                   std::uint32_t line, const char* function) {
  const abi::block_context& b = *self->block;
  std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
               file, line, function, b.block_idx[0], b.block_idx[1], b.block_idx[2], self->tid[0],
               self->tid[1], self->tid[2], expression);
}

void assert_fail(thread_context* self, const char* expression, const char* file, std::uint32_t line,
                 const char* function) {
  say_assertion(self, expression, file, line, function);
  block_of(self).fail_thread(thread_of(self), {status::assert_triggered, nullptr, nullptr});
}

void note_assertion(thread_context* self, const char* expression, const char* file,
                    std::uint32_t line, const char* function) {
  say_assertion(self, expression, file, line, function);
  block_of(self).failure = {status::assert_triggered, nullptr, nullptr};
}

void end_if_asserted(thread_context* self) {
  block& b = block_of(self);
  if (b.failure.error != status::success) b.fail(thread_of(self), b.failure);
}

void trap(thread_context* self) {
  block_of(self).fail(thread_of(self), {status::launch_failure, nullptr, "trap"});
}

// --- the rest

void* allocate(thread_context* self, std::size_t bytes) {
  block& b = block_of(self);
  return b.run->device->heap.allocate(bytes, b.next_of_heap(bytes));
}

void deallocate(thread_context* self, void* pointer) {
  if (!block_of(self).run->device->heap.free(pointer))
    block_of(self).fail(thread_of(self),
                        {status::launch_failure, pointer,
                         "free of an address that malloc in a kernel did not return"});
}

void* private_memory(thread_context* self, std::uint32_t number, std::size_t bytes) {
  block& b = block_of(self);
  char* memory = b.privates.hold(number, bytes);
  if (memory == nullptr)
    b.fail(thread_of(self), {status::launch_out_of_resources, nullptr,
                             "no memory left for the private arrays of its threads"});
  return memory;
}

void grid_sync(thread_context* self) { block_of(self).grid_sync(thread_of(self)); }

// In its shared memory.
bool is_of_block(const block& b, const void* address) {
  const auto* const at = static_cast<const char*>(address);
  return at >= b.context.shared && at < b.context.dynamic_shared + b.context.dynamic_shared_bytes;
}

void touch(thread_context* self, const void* address, std::uint32_t bytes, std::uint32_t kind,
           std::uint32_t place) {
  const block& b = block_of(self);
  if (b.accesses == nullptr) return;
  const bool shared = is_of_block(b, address);
  const std::uint64_t at =
      shared ? reinterpret_cast<std::uint64_t>(address) : b.run->device->heap.counted(address);
  b.accesses->touch(self->linear_tid, at, bytes, static_cast<abi::access_kind>(kind), shared,
                    place);
}

void spent(thread_context* self, std::uint64_t issued, std::uint64_t steps, std::uint64_t loads) {
  const block& b = block_of(self);
  if (b.accesses != nullptr) b.accesses->spent(self->linear_tid, issued, steps, loads);
}

void drew(thread_context* self, const void* counter, std::uint64_t value, std::int64_t step,
          std::uint64_t issued, std::uint64_t steps, std::uint64_t loads) {
  block& b = block_of(self);
  if (b.accesses == nullptr) return;
  if (counter == nullptr) {
    b.accesses->went_round(self->linear_tid, {issued, steps, loads});
    return;
  }
  const auto found =
      b.accesses->draws().note(self->linear_tid, is_of_block(b, counter), {counter, value, step});
  b.give_turn(thread_of(self), found == draw_trace::outcome::enough);
}

void lock_step(thread_context* self, const void* lock, std::uint32_t event, std::uint64_t issued,
               std::uint64_t steps, std::uint64_t loads) {
  const block& b = block_of(self);
  if (b.accesses == nullptr || (lock != nullptr && is_of_block(b, lock))) return;
  b.accesses->lock_step(self->linear_tid, b.run->device->heap.counted(lock),
                        static_cast<abi::lock_event>(event), {issued, steps, loads});
}

// Blocks are dealt out to multiprocessors in turn, as an empty device does.
std::uint32_t sm_id(thread_context* self) {
  const block& b = block_of(self);
  return static_cast<std::uint32_t>(b.number() % b.run->device->multiprocessors);
}

}  // namespace

std::uint64_t global_timer_offset_ns() {
  static const std::uint64_t offset = [] {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(now.tv_nsec) - steady_ns();
  }();
  return offset;
}

const abi::device_table& device_calls() {
  static const abi::device_table table = {
#define SB_SLOT(type, name, params) reinterpret_cast<void*>(&name),
      SB_DEVICE_TABLE(SB_SLOT)
#undef SB_SLOT
  };
  return table;
}

}  // namespace sb::engine
