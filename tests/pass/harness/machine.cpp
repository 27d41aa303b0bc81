#include "machine.hpp"

#include <dlfcn.h>
#include <ucontext.h>

#include <algorithm>
#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>

#include "counting.hpp"
#include "meeting.hpp"

namespace sb::test {
namespace {

using abi::thread_context;

struct block_state;

struct fiber {
  thread_context self = {};
  block_state* block = nullptr;
  ucontext_t context = {};
  std::vector<char> stack;
  bool done = false;
  std::uint64_t clock = 1000;
};

// A thread in a warp operation, where the block has one fiber.
struct lane {
  abi::lane_operation what = abi::lane_operation::sync;
  std::uint32_t how = 0;
  std::uint64_t value = 0;
  std::uint32_t argument = 0;
  std::uint32_t width = 0;
  std::uint64_t generation = 0;
  bool left = false;
};

// A thread that has a time of its own, where the block has one fiber.
struct sleeper {
  std::uint64_t clock = 1000;
  bool asleep = false;
  bool slept = false;  // since its last look
};

struct block_state {
  abi::block_context context = {};
  std::vector<char> memory;
  std::vector<std::vector<char>> privates;
  std::vector<std::unique_ptr<fiber>> fibers;
  meeting all;
  std::vector<meeting> warps;
  std::vector<lane> lanes;
  std::vector<sleeper> sleepers;
};

// The machine has one thread, so its state may be global.
struct {
  outcome result;
  std::vector<std::unique_ptr<block_state>> blocks;
  fiber* current = nullptr;
  ucontext_t scheduler = {};
  const abi::kernel_info* info = nullptr;
  const char* params = nullptr;
  bool looping = false;  // a fiber or the machine itself runs whole blocks
  std::uint32_t at_grid = 0;
  std::uint64_t grid_meetings = 0;
  std::jmp_buf abandon;
  std::uint32_t loop_thread = 0;
  std::uint64_t progress = 0;  // counts everything that is not a turn spent waiting
} machine;

void switch_away() {
  fiber* mine = machine.current;
  swapcontext(&mine->context, &machine.scheduler);
}

std::uint64_t& clock_of(thread_context* self) {
  if (machine.looping && machine.info->times != abi::thread_times::none) {
    return machine.current->block->sleepers[self->linear_tid].clock;
  }
  if (machine.looping && self->linear_tid != machine.loop_thread) {
    machine.loop_thread = self->linear_tid;
    machine.current->clock = 1000;
  }
  return machine.current->clock;
}

std::uint32_t alive(const std::vector<std::unique_ptr<fiber>>& fibers, std::uint32_t first,
                    std::uint32_t count) {
  std::uint32_t n = 0;
  for (std::uint32_t i = first; i < std::min<std::size_t>(first + count, fibers.size()); ++i) {
    n += !fibers[i]->done;
  }
  return n;
}

void let_go(meeting& place, std::uint32_t count) {
  std::copy_n(place.values, count, place.last_values);
  std::copy_n(place.present, count, place.last_present);
  std::fill_n(place.present, count, false);
  place.arrived = 0;
  ++place.generation;
  ++machine.progress;
}

// Waits for all living threads [first, first + count) of the block; returns the meeting with what
// all brought in last_values.
meeting& meet(meeting& place, std::uint32_t first, std::uint32_t count, std::uint64_t value) {
  fiber* mine = machine.current;
  std::uint32_t index = mine->self.linear_tid - first;
  std::uint64_t generation = place.generation;
  place.values[index] = value;
  place.present[index] = true;
  ++place.arrived;
  ++machine.progress;
  while (place.generation == generation) {
    if (place.arrived >= alive(mine->block->fibers, first, count)) {
      let_go(place, count);
      break;
    }
    switch_away();
  }
  return place;
}

meeting& meet_warp(std::uint64_t value) {
  std::uint32_t warp = machine.current->self.linear_tid / 32;
  return meet(machine.current->block->warps[warp], warp * 32, 32, value);
}

thread_context* self_slot() { return &machine.current->self; }

int barrier(thread_context*, std::uint32_t kind, int predicate) {
  auto count = static_cast<std::uint32_t>(machine.current->block->fibers.size());
  meeting& place = meet(machine.current->block->all, 0, count, predicate != 0);
  int set = 0;
  int present = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    present += place.last_present[i];
    set += place.last_present[i] && place.last_values[i];
  }
  return kind == 1 ? set : kind == 2 ? set == present : kind == 3 ? set != 0 : 0;
}

void warp_sync(thread_context*, std::uint32_t) { meet_warp(0); }

std::uint64_t shuffle(thread_context*, std::uint32_t, std::uint32_t kind, std::uint64_t value,
                      std::uint32_t lane, std::uint32_t width, int* in_range) {
  meeting& place = meet_warp(value);
  return shuffled(place, machine.current->self.linear_tid % 32, kind, value, lane, width, in_range);
}

std::uint32_t vote(thread_context*, std::uint32_t, std::uint32_t kind, int predicate) {
  return voted(meet_warp(predicate != 0), kind);
}

std::uint32_t reduce(thread_context*, std::uint32_t, std::uint32_t kind, std::uint32_t value) {
  return reduced(meet_warp(value), kind);
}

// --- the same where all threads of a block have one fiber

void try_warp(block_state& block, std::uint32_t warp) {
  std::uint32_t living = 0;
  for (std::size_t i = warp * 32; i < std::min<std::size_t>(block.lanes.size(), warp * 32 + 32);
       ++i) {
    living += !block.lanes[i].left;
  }
  if (meeting& place = block.warps[warp]; place.arrived != 0 && place.arrived >= living) {
    let_go(place, 32);
  }
}

std::uint32_t lane_waits(thread_context*, std::uint32_t thread) {
  block_state& block = *machine.current->block;
  return block.warps[thread / 32].generation == block.lanes[thread].generation;
}

std::uint32_t lane_comes(thread_context* self, std::uint32_t thread, std::uint32_t what,
                         std::uint32_t how, std::uint32_t, std::uint64_t value,
                         std::uint32_t argument, std::uint32_t width) {
  block_state& block = *machine.current->block;
  meeting& place = block.warps[thread / 32];
  const auto operation = static_cast<abi::lane_operation>(what);
  if (operation == abi::lane_operation::rest) return 0;  // it waits at a barrier, not here
  block.lanes[thread] = {operation, how, value, argument, width, place.generation};
  place.values[thread % 32] = operation == abi::lane_operation::vote ? argument != 0 : value;
  place.present[thread % 32] = true;
  ++place.arrived;
  try_warp(block, thread / 32);
  return !lane_waits(self, thread);
}

std::uint64_t lane_takes(thread_context*, std::uint32_t thread, int* flag) {
  const block_state& block = *machine.current->block;
  const lane& mine = block.lanes[thread];
  const meeting& place = block.warps[thread / 32];
  switch (mine.what) {
    case abi::lane_operation::shuffle:
      return shuffled(place, thread % 32, mine.how, mine.value, mine.argument, mine.width, flag);
    case abi::lane_operation::vote:
      return voted(place, mine.how);
    case abi::lane_operation::reduce:
      return reduced(place, mine.how);
    case abi::lane_operation::ask:  // who has come is where the others are
      return present_lanes(place);
    default:
      return 0;
  }
}

void lane_leaves(thread_context*, std::uint32_t thread) {
  block_state& block = *machine.current->block;
  block.lanes[thread].left = true;
  try_warp(block, thread / 32);
}

std::uint32_t active_mask(thread_context*, std::uint32_t) {
  return 1u << (machine.current->self.linear_tid % 32);
}

std::uint64_t clock_slot(thread_context* self) {
  ++machine.result.clock_reads;
  ++machine.progress;
  return clock_of(self) += 20;
}

std::uint64_t noted_clock(thread_context* self) {
  ++machine.result.noted_reads;
  return clock_slot(self);
}

void wait_is_over(thread_context*) { ++machine.result.waits_over; }

void note_clock(std::uint64_t now) { machine.result.cycles = std::max(machine.result.cycles, now); }

void wait_until(thread_context* self, std::uint64_t cycles) {
  ++machine.result.waits;
  ++machine.progress;
  auto& clock = clock_of(self);
  clock = std::max(clock, cycles);
  note_clock(clock);
}

void nanosleep_slot(thread_context* self, std::uint32_t ns) {
  ++machine.result.waits;
  ++machine.progress;
  clock_of(self) += ns;
  note_clock(clock_of(self));
  if (!machine.looping) {
    switch_away();
  }
}

// Until a round in which nobody else went to sleep, or nobody else can go on.
std::uint32_t thread_sleeps(thread_context*, std::uint32_t thread, std::uint32_t kind,
                            std::uint64_t time) {
  sleeper& one = machine.current->block->sleepers[thread];
  ++machine.result.waits;
  ++machine.progress;
  const bool for_ns = kind == static_cast<std::uint32_t>(abi::sleep_kind::for_ns);
  if (for_ns ? time == 0 : one.clock >= time) {
    return 0;
  }
  one = {for_ns ? one.clock + time : time, true, true};
  note_clock(one.clock);
  return 1;
}

std::uint32_t thread_is_asleep(thread_context*, std::uint32_t thread) {
  return machine.current->block->sleepers[thread].asleep;
}

std::uint32_t thread_looks(thread_context*, std::uint32_t thread, std::uint64_t seen) {
  machine.result.seen.insert(seen);
  const bool slept = std::exchange(machine.current->block->sleepers[thread].slept, false);
  return static_cast<std::uint32_t>(slept ? abi::look_answer::goes_on : abi::look_answer::stops);
}

void yield_slot(thread_context*) {
  ++machine.result.yields;
  if (machine.looping) {
    throw std::logic_error("yield in loop mode");
  }
  switch_away();
}

void spin_slot(thread_context* self, std::uint64_t seen) {
  machine.result.seen.insert(seen);
  yield_slot(self);
}

void spun(thread_context*, std::uint32_t outcome) {
  ++machine.result.yields;
  const auto how = static_cast<abi::round_outcome>(outcome);
  if (how == abi::round_outcome::got_on) {
    ++machine.progress;
  } else {
    ++(how == abi::round_outcome::sleeps ? machine.result.rounds_asleep
                                         : machine.result.rounds_in_vain);
  }
  switch_away();
  for (sleeper& one : machine.current->block->sleepers) {
    one.asleep &= how == abi::round_outcome::naps;
  }
}

int print(thread_context*, const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  int length = std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  machine.result.printed += text;
  return length;
}

[[noreturn]] void leave() {
  if (machine.info->mode == abi::kernel_mode::loop) {
    std::longjmp(machine.abandon, 1);
  }
  machine.current->done = true;
  ++machine.progress;
  switch_away();
  std::abort();
}

void assert_fail(thread_context*, const char* expression, const char*, std::uint32_t, const char*) {
  machine.result.failed_assertion = expression;
  leave();
}

void note_assertion(thread_context*, const char* expression, const char*, std::uint32_t,
                    const char*) {
  machine.result.failed_assertion = expression;
}

void end_if_asserted(thread_context*) {
  if (!machine.result.failed_assertion.empty()) {
    leave();
  }
}

void trap(thread_context*) {
  machine.result.trapped = true;
  leave();
}

void* allocate(thread_context*, std::size_t bytes) { return std::malloc(bytes); }

void deallocate(thread_context*, void* pointer) { std::free(pointer); }

// All fibers of all blocks meet.
void grid_sync(thread_context*) {
  const std::uint64_t before = machine.grid_meetings;
  ++machine.at_grid;
  ++machine.progress;
  ++machine.result.grid_syncs;
  while (machine.grid_meetings == before) {
    std::uint32_t expected = 0;
    for (const auto& block : machine.blocks) {
      expected += alive(block->fibers, 0, static_cast<std::uint32_t>(block->fibers.size()));
    }
    if (machine.at_grid == expected) {
      machine.at_grid = 0;
      ++machine.grid_meetings;
      ++machine.progress;
      return;
    }
    switch_away();
  }
}

std::uint32_t sm_id(thread_context*) { return 3; }

void* private_memory(thread_context*, std::uint32_t number, std::size_t bytes) {
  auto& pieces = machine.current->block->privates;
  if (pieces.size() <= number) {
    pieces.resize(number + 1);
  }
  pieces[number].assign(bytes, 0x5a);
  machine.result.private_bytes += bytes;
  return pieces[number].data();
}

std::uint32_t unused_warp_operation() {
  throw std::logic_error("warp operation that the test machine does not have");
}

abi::device_table make_table() {
  abi::device_table table = {};
  auto set = [](void*& slot, auto* function) { slot = reinterpret_cast<void*>(function); };
  set(table.self, &self_slot);
  set(table.barrier, &barrier);
  set(table.warp_sync, &warp_sync);
  set(table.shuffle, &shuffle);
  set(table.vote, &vote);
  set(table.match, &unused_warp_operation);
  set(table.reduce, &reduce);
  set(table.active_mask, &active_mask);
  set(table.clock, &clock_slot);
  set(table.global_timer, &clock_slot);
  set(table.wait_until, &wait_until);
  set(table.wait_until_timer, &wait_until);
  set(table.nanosleep, &nanosleep_slot);
  set(table.yield, &yield_slot);
  set(table.print, &print);
  set(table.assert_fail, &assert_fail);
  set(table.trap, &trap);
  set(table.allocate, &allocate);
  set(table.deallocate, &deallocate);
  set(table.grid_sync, &grid_sync);
  set(table.sm_id, &sm_id);
  set(table.spin, &spin_slot);
  set(table.note_assertion, &note_assertion);
  set(table.end_if_asserted, &end_if_asserted);
  set_counting(table, machine.result);
  set(table.private_memory, &private_memory);
  set(table.spun, &spun);
  set(table.lane_comes, &lane_comes);
  set(table.lane_waits, &lane_waits);
  set(table.lane_takes, &lane_takes);
  set(table.lane_leaves, &lane_leaves);
  set(table.thread_sleeps, &thread_sleeps);
  set(table.thread_is_asleep, &thread_is_asleep);
  set(table.thread_looks, &thread_looks);
  set(table.noted_clock, &noted_clock);
  set(table.noted_timer, &noted_clock);
  set(table.wait_is_over, &wait_is_over);
  return table;
}

void fiber_main() {
  machine.info->entry(machine.params, &machine.current->self);
  machine.current->done = true;
  ++machine.progress;
  note_clock(machine.current->clock);
  switch_away();
}

std::unique_ptr<block_state> make_block(const abi::kernel_info& info, dims grid, dims block,
                                        std::uint32_t dynamic_bytes, std::uint32_t index) {
  auto state = std::make_unique<block_state>();
  abi::block_context& context = state->context;
  context = {{grid.x, grid.y, grid.z},
             {block.x, block.y, block.z},
             {index % grid.x, index / grid.x % grid.y, index / grid.x / grid.y},
             dynamic_bytes,
             1,
             ~0u,
             0,
             nullptr,
             nullptr,
             &machine.result.counts};
  std::size_t fixed = (info.static_shared_bytes + 127) / 128 * 128;
  state->memory.assign(fixed + dynamic_bytes + 256, 0x55);
  auto address = reinterpret_cast<std::uintptr_t>(state->memory.data());
  context.shared = reinterpret_cast<char*>((address + 127) / 128 * 128);
  context.dynamic_shared = context.shared + fixed;
  return state;
}

void run_loop_block(block_state& block) {
  fiber one;
  one.block = &block;
  one.self.block = &block.context;
  machine.current = &one;
  machine.loop_thread = 0;
  if (setjmp(machine.abandon) == 0) {
    machine.info->entry(machine.params, &one.self);
  }
  note_clock(one.clock);
}

std::uint32_t row_length(const abi::kernel_info& info, dims block, std::uint32_t left,
                         std::uint32_t most) {
  if (info.row_threads == 0 || (info.row_width != 0 && info.row_width != block.x)) {
    return 1;
  }
  std::uint32_t fit = info.row_threads / (block.x * block.y * block.z);
  return std::max(1u, std::min({fit, left, most}));
}

void make_fibers(block_state& block, dims size) {
  std::uint32_t count = size.x * size.y * size.z;
  block.warps.resize((count + 31) / 32);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto one = std::make_unique<fiber>();
    one->block = &block;
    one->self = {&block.context, {i % size.x, i / size.x % size.y, i / size.x / size.y}, i};
    one->stack.resize(machine.looping ? 8 << 20 : 256 << 10);
    getcontext(&one->context);
    one->context.uc_stack.ss_sp = one->stack.data();
    one->context.uc_stack.ss_size = one->stack.size();
    makecontext(&one->context, &fiber_main, 0);
    block.fibers.push_back(std::move(one));
  }
}

void run_fibers() {
  std::uint64_t idle_rounds = 0;
  for (bool busy = true; busy;) {
    busy = false;
    std::uint64_t before = machine.progress;
    for (auto& block : machine.blocks) {
      for (auto& one : block->fibers) {
        if (!one->done) {
          busy = true;
          machine.current = one.get();
          swapcontext(&machine.scheduler, &one->context);
        }
      }
    }
    // A spinning thread may take some rounds to notice what another wrote.
    idle_rounds = machine.progress == before ? idle_rounds + 1 : 0;
    if (idle_rounds > 1000) {
      machine.result.stuck = true;
      return;
    }
  }
}

}  // namespace

image::image(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) {
    throw std::runtime_error(dlerror());
  }
  static abi::device_table table = make_table();
  if (auto** place = static_cast<abi::device_table**>(symbol("__sb_table"))) {
    *place = &table;
  }
}

outcome image::run_packed(const abi::kernel_info& kernel, dims grid, dims block,
                          std::uint32_t dynamic_bytes, const std::vector<const void*>& args) {
  const abi::kernel_info& info = abi::variant_for(kernel, {block.x, block.y, block.z, grid.x});
  if (args.size() != info.param_count) {
    throw std::runtime_error("wrong number of arguments");
  }
  std::vector<char> storage(info.param_bytes + 64);
  auto address = reinterpret_cast<std::uintptr_t>(storage.data());
  char* params = reinterpret_cast<char*>((address + 63) / 64 * 64);
  for (std::uint32_t i = 0; i < info.param_count; ++i) {
    std::memcpy(params + info.params[i].offset, args[i], info.params[i].size);
  }
  machine.result = {};
  machine.blocks.clear();
  machine.info = &info;
  machine.params = params;
  machine.looping = info.mode != abi::kernel_mode::fibers;
  machine.at_grid = 0;
  for (std::uint32_t index = 0; index < grid.x * grid.y * grid.z; ++index) {
    machine.blocks.push_back(make_block(info, grid, block, dynamic_bytes, index));
    if (info.mode == abi::kernel_mode::loop) {
      std::uint32_t row = row_length(info, block, grid.x - index % grid.x, most_blocks);
      machine.blocks.back()->context.row_blocks = row;
      run_loop_block(*machine.blocks.back());
      machine.result.longest_row = std::max(machine.result.longest_row, row);
      machine.result.told_row |= machine.blocks.back()->context.row_at == row - 1;
      machine.blocks.clear();
      index += row - 1;
    } else {
      make_fibers(*machine.blocks.back(), machine.looping ? dims{} : block);
      const std::uint32_t threads = block.x * block.y * block.z;
      machine.blocks.back()->lanes.resize(threads);
      machine.blocks.back()->sleepers.resize(threads);
      machine.blocks.back()->warps.resize((threads + 31) / 32);
    }
  }
  if (info.mode != abi::kernel_mode::loop) {
    run_fibers();
  }
  machine.blocks.clear();
  return machine.result;
}

}  // namespace sb::test
