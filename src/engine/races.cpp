#include "engine/races.hpp"

#include <sys/mman.h>
#include <unwind.h>

#include <algorithm>
#include <utility>

// ThreadSanitizer's own, there when the program was linked with it.
#define SB_TSAN extern "C" __attribute__((weak, visibility("default")))
SB_TSAN void AnnotateIgnoreSyncBegin(const char* file, int line);
SB_TSAN void AnnotateIgnoreSyncEnd(const char* file, int line);
SB_TSAN void AnnotateIgnoreReadsBegin(const char* file, int line);
SB_TSAN void AnnotateIgnoreReadsEnd(const char* file, int line);
SB_TSAN void AnnotateIgnoreWritesBegin(const char* file, int line);
SB_TSAN void AnnotateIgnoreWritesEnd(const char* file, int line);
SB_TSAN void __tsan_acquire(void* address);
SB_TSAN void __tsan_release(void* address);
SB_TSAN void __tsan_destroy_fiber(void* fiber);
SB_TSAN void __tsan_switch_to_fiber(void* fiber, unsigned flags);
SB_TSAN void* __tsan_get_current_fiber();
SB_TSAN void __tsan_set_fiber_name(void* fiber, const char* name);
SB_TSAN void __tsan_func_entry(void* pc);
SB_TSAN void __tsan_func_exit();
SB_TSAN void __tsan_read_range_pc(void* address, unsigned long size, void* pc);
SB_TSAN void __tsan_write_range_pc(void* address, unsigned long size, void* pc);

// The library's own first and last byte.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start;
extern "C" __attribute__((visibility("hidden"))) const char _end;

namespace sb::engine {

namespace {

constexpr unsigned no_sync = 1;  // a switch that orders nothing
constexpr std::size_t most_sets = 1 << 16;
// ThreadSanitizer has room for 8128 threads and fibers; pending commands beyond this get theirs
// when they run.
constexpr int most_early_fibers = 2000;
std::atomic<int> early_fibers{0};

char allocator = 0;  // an address in ThreadSanitizer's order

// Inside of `unwatched`, for the length of an annotation.
class heard {
 public:
  heard() { AnnotateIgnoreSyncEnd("", 0); }
  ~heard() { AnnotateIgnoreSyncBegin("", 0); }
  heard(const heard&) = delete;
  heard& operator=(const heard&) = delete;
};

_Unwind_Reason_Code look_for_caller(_Unwind_Context* context, void* found) {
  const auto pc = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  if (pc >= reinterpret_cast<std::uintptr_t>(&__ehdr_start) &&
      pc < reinterpret_cast<std::uintptr_t>(&_end)) {
    return _URC_NO_REASON;
  }
  *static_cast<const void**>(found) = reinterpret_cast<const void*>(pc);
  return _URC_END_OF_STACK;
}

// Where the program called into this library.
const void* program_call() {
  const void* found = nullptr;
  _Unwind_Backtrace(&look_for_caller, &found);
  return found;
}

bool does_nothing(command_kind kind) {
  return kind == command_kind::marker || kind == command_kind::graph_head ||
         kind == command_kind::event_record || kind == command_kind::event_wait ||
         kind == command_kind::section;
}

const char* name_of(command_kind kind) {
  switch (kind) {
    case command_kind::kernel:
      return "kernel";
    case command_kind::copy:
      return "copy";
    case command_kind::fill:
      return "memset";
    default:
      return "host function";
  }
}

void add(race_set& to, const race_set& more) {
  for (const auto& point : more) {
    if (std::find(to.begin(), to.end(), point) == to.end()) to.push_back(point);
  }
}

// On the command's fiber.
void come_after_all(race_command& command) {
  for (const auto& point : command.before) __tsan_acquire(&point->done);
  __tsan_acquire(&command.own->submitted);
}

template <class Rows>
void each_row(std::size_t height, std::size_t depth, std::size_t width, Rows&& rows) {
  if (width == 0) return;
  for (std::size_t z = 0; z < depth; ++z)
    for (std::size_t y = 0; y < height; ++y) rows(z, y);
}

}  // namespace

void unwatched::begin() noexcept {
  AnnotateIgnoreSyncBegin("", 0);
  AnnotateIgnoreReadsBegin("", 0);
  AnnotateIgnoreWritesBegin("", 0);
}
void unwatched::end() noexcept {
  AnnotateIgnoreWritesEnd("", 0);
  AnnotateIgnoreReadsEnd("", 0);
  AnnotateIgnoreSyncEnd("", 0);
}

race_command::~race_command() {
  if (void* unused = fiber.load(); unused != nullptr) {
    early_fibers.fetch_sub(1, std::memory_order_relaxed);
    __tsan_destroy_fiber(unused);
  }
}

// --- the order of commands

void race_order::add_stream(stream_id stream, device_id device, stream_kind kind) {
  if (!races_checked()) return;
  if (streams_.size() <= stream.value) streams_.resize(stream.value + 1);
  streams_[stream.value] = {device, kind, {}};
}

// CUDA: the legacy stream waits for the blocking streams of its device, and they for it.
void race_order::legacy_rules(const stream_order& s, race_set& into) const {
  if (s.kind == stream_kind::non_blocking) return;
  for (const stream_order& other : streams_) {
    if (&other == &s || other.device != s.device || other.kind == stream_kind::non_blocking)
      continue;
    if ((s.kind == stream_kind::legacy) != (other.kind == stream_kind::legacy))
      add(into, other.last);
  }
}

void race_order::remember(command_id id, race_set set) {
  if (ids_.size() == most_sets) {
    sets_.erase(ids_.front());
    ids_.pop_front();
  }
  ids_.push_back(id.value);
  sets_[id.value] = std::move(set);
}

std::shared_ptr<race_command> race_order::submit(const command& c, command_id id,
                                                 std::span<const command_id> after) {
  if (!races_checked()) return nullptr;
  stream_order& s = streams_[c.stream.value];
  race_set before;
  for (const command_id one : after) add(before, of(one));
  if (c.kind == command_kind::event_wait) add(before, of(c.record));
  if (c.order != command_order::free) {
    add(before, s.last);
    legacy_rules(s, before);
  } else if (after.empty() && body_of_.valid()) {
    add(before, of(body_of_));
  }
  auto own = std::make_shared<race_point>();
  if (does_nothing(c.kind)) {
    // It passes on what is before it, and where the host was. Of one host thread the newest counts.
    if (c.kind != command_kind::section) {
      own->host = __tsan_get_current_fiber();
      std::erase_if(before, [&](const auto& point) { return point->host == own->host; });
    }
    {
      const heard annotation;
      __tsan_release(&own->done);
    }
    before.push_back(std::move(own));
    if (c.order != command_order::free) s.last = before;
    remember(id, std::move(before));
    return nullptr;
  }
  auto command = std::make_shared<race_command>();
  command->before = std::move(before);
  command->own = own;
  command->call = program_call();
  {
    const heard annotation;
    __tsan_release(&own->submitted);
    if (early_fibers.load(std::memory_order_relaxed) < most_early_fibers) {
      early_fibers.fetch_add(1, std::memory_order_relaxed);
      if (command->call != nullptr) __tsan_func_entry(const_cast<void*>(command->call));
      void* fiber = __tsan_create_fiber(0);
      if (command->call != nullptr) __tsan_func_exit();
      __tsan_set_fiber_name(fiber, name_of(c.kind));
      command->fiber.store(fiber);
    }
  }
  if (c.order != command_order::free) s.last.assign(1, own);
  remember(id, {std::move(own)});
  return command;
}

race_set race_order::of(command_id id) const {
  const auto found = sets_.find(id.value);
  return found == sets_.end() ? race_set{} : found->second;
}

race_set race_order::of(stream_id stream) const {
  if (stream.value >= streams_.size()) return {};
  const stream_order& s = streams_[stream.value];
  race_set set = s.last;
  if (s.kind == stream_kind::legacy) legacy_rules(s, set);
  return set;
}

race_set race_order::of(device_id device) const {
  race_set set;
  for (const stream_order& s : streams_) {
    if (s.device == device) add(set, s.last);
  }
  return set;
}

void race_order::begin_body(command_id section) {
  if (races_checked()) body_of_ = section;
}

void race_order::end_body(command_id section, command_id end) {
  if (!races_checked()) return;
  body_of_ = {};
  body_ends_[section.value] = end;
}

// Those after the node wait for its own point, which is the last of its set.
void race_order::body_over(command_id section) {
  const auto end = body_ends_.find(section.value);
  if (end == body_ends_.end()) return;
  const race_set body = of(end->second), own = of(section);
  body_ends_.erase(end);
  if (own.empty()) return;
  void* outside = __tsan_get_current_fiber();
  void* fiber = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(fiber, no_sync);
  for (const auto& point : body) __tsan_acquire(&point->done);
  __tsan_release(&own.back()->done);
  __tsan_switch_to_fiber(outside, no_sync);
  __tsan_destroy_fiber(fiber);
}

void race_order::join_all(stream_id stream) {
  if (!races_checked() || stream.value >= streams_.size()) return;
  race_set set = of(streams_[stream.value].device);
  streams_[stream.value].last = std::move(set);
}

// --- the host

void host_comes_after(const race_set& set) {
  if (!races_checked() || set.empty()) return;
  const heard annotation;
  for (const auto& point : set) __tsan_acquire(&point->done);
}

void memory_given_back() {
  if (!races_checked()) return;
  const heard annotation;
  __tsan_release(&allocator);
}

void memory_taken_again() {
  if (!races_checked()) return;
  const heard annotation;
  __tsan_acquire(&allocator);
}

void note_read(const void* from, std::size_t bytes) {
  if (!races_checked() || bytes == 0) return;
  AnnotateIgnoreReadsEnd("", 0);
  AnnotateIgnoreWritesEnd("", 0);
  __tsan_read_range_pc(const_cast<void*>(from), bytes, const_cast<void*>(program_call()));
  AnnotateIgnoreWritesBegin("", 0);
  AnnotateIgnoreReadsBegin("", 0);
}

void forget_accesses(char* pages, std::size_t bytes) {
  if (!races_checked()) return;
  mmap(pages, bytes, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

// --- commands

void note_accesses(race_command* command, const copy_operation& copy) {
  if (command == nullptr) return;
  race_fiber fiber;
  fiber.start(command);
  fiber.enter();
  void* pc = const_cast<void*>(command->call);
  each_row(copy.height, copy.depth, copy.width, [&](std::size_t z, std::size_t y) {
    char* from = static_cast<char*>(const_cast<void*>(copy.source)) + z * copy.source_slice +
                 y * copy.source_pitch;
    char* to = static_cast<char*>(copy.destination) + z * copy.destination_slice +
               y * copy.destination_pitch;
    if (!copy.staging) __tsan_read_range_pc(from, copy.width, pc);
    __tsan_write_range_pc(to, copy.width, pc);
  });
  fiber.leave();
}

void note_accesses(race_command* command, const fill_operation& fill) {
  if (command == nullptr) return;
  race_fiber fiber;
  fiber.start(command);
  fiber.enter();
  void* pc = const_cast<void*>(command->call);
  const std::size_t width = fill.width * fill.element_size;
  each_row(fill.height, fill.depth, width, [&](std::size_t z, std::size_t y) {
    __tsan_write_range_pc(static_cast<char*>(fill.destination) + z * fill.slice + y * fill.pitch,
                          width, pc);
  });
  fiber.leave();
}

void race_fiber::start(race_command* command) {
  end();
  command_ = command;
  if (command == nullptr) return;
  fiber_ = command->fiber.exchange(nullptr);
  if (fiber_ != nullptr) {
    early_fibers.fetch_sub(1, std::memory_order_relaxed);
  } else {
    fiber_ = __tsan_create_fiber(0);
  }
  enter();
  come_after_all(*command);
  leave();
}

void race_fiber::enter() {
  if (fiber_ == nullptr) return;
  outside_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(fiber_, no_sync);
}

void race_fiber::leave() {
  if (fiber_ == nullptr || outside_ == nullptr) return;
  __tsan_release(&command_->own->done);
  __tsan_switch_to_fiber(std::exchange(outside_, nullptr), no_sync);
}

void race_fiber::end() {
  if (fiber_ == nullptr) return;
  leave();
  __tsan_destroy_fiber(std::exchange(fiber_, nullptr));
  command_ = nullptr;
}

}  // namespace sb::engine
