// The part of modelled.hpp that runs kernels: all of their blocks, some of which are counted.
#include <algorithm>
#include <utility>

#include "engine/engine_state.hpp"
#include "engine/memory.hpp"
#include "engine/modelled.hpp"

namespace sb::engine {

namespace {

access_trace::memory_range range_of_memory(std::uint64_t address) {
  const auto held = memory::instance().find(reinterpret_cast<const void*>(address));
  if (!held) return {};
  const auto begin = reinterpret_cast<std::uint64_t>(held->base);
  return {held->kind == memory_kind::pinned || held->kind == memory_kind::registered, begin,
          begin + held->bytes};
}

}  // namespace

void modelled::run_kernel(const work& w) {
  kernel_run& run = w.what->run;
  const std::uint64_t first = run.claimed.fetch_add(w.blocks, std::memory_order_relaxed);
  run.granted.fetch_add(w.blocks, std::memory_order_relaxed);
  if (run.cancelled.load(std::memory_order_relaxed)) {
    e_.release(run, w.blocks);
    return;
  }
  run.model_ns = w.ns;
  node& n = *w.what;
  if (first == 0) {
    n.times.counted = !look_up_work(n);
    const auto multiprocessors =
        static_cast<std::uint64_t>(e_.at(n.device).profile.multiprocessors);
    if (n.times.counted && run.info().counted->draws != 0)
      n.times.work->count_draws({w.blocks, multiprocessors});
    else if (n.times.counted)
      n.times.work->count();
  }
  if (n.times.counted)
    run_counting(w, first);
  else
    run_parts(w, first);
}

// Those that do the same at a time.
void modelled::run_parts(const work& w, std::uint64_t first) {
  const known_work* known = w.what->times.work.get();
  for (const std::uint64_t end = first + w.blocks; first != end;) {
    std::uint64_t next = end;
    if (known != nullptr && known->uneven()) next = std::min(end, known->next_change(first));
    run_blocks({w.what, next - first, w.ns}, first);
    first = next;
  }
}

// Some of the blocks are counted. All end when it is known what they did, so that those of a wave
// take the same time.
void modelled::run_counting(const work& w, std::uint64_t first) {
  sampling_ = true;
  node& n = *w.what;
  known_work& known = *n.times.work;
  const std::uint64_t end = first + w.blocks;
  const auto usual = known.places(first, w.blocks, n.run.blocks);
  while (first != end) {
    const auto next = std::lower_bound(usual.begin(), usual.end(), first);
    const std::uint64_t sample =
        std::min({end, next == usual.end() ? end : *next, known.next_counted(first, n.run.blocks)});
    if (sample != first) run_blocks({&n, sample - first, w.ns}, first);
    if (sample == end) break;
    known.expect();
    n.run.sample = sample;
    run_fibers({&n, 1, w.ns}, sample);
    n.run.sample = ~std::uint64_t{0};
    finish_counted(n.run);
    first = sample + 1;
  }
  sampling_ = false;
  if (end == n.run.blocks) known.all_began();
  if (!known.waits()) share_ended(n, w.blocks);
}

// Blocks that were kept until it was known what they did, as far as that can be.
void modelled::share_ended(node& n, std::uint64_t together) {
  known_work& known = *n.times.work;
  known.use_samples();
  const auto kept = std::ranges::find(ended_, &n, &std::pair<node*, ended_blocks>::first);
  if (kept == ended_.end()) return;
  const ended_blocks blocks = std::move(kept->second);
  ended_.erase(kept);
  std::map<std::uint64_t, std::vector<std::pair<const block_work*, std::uint64_t>>> ended;
  for (const auto& [when, count] : blocks) {
    auto& at_once = ended[when.first];
    const block_work* work = &known.of(when.second);
    if (at_once.empty() || at_once.back().first != work) at_once.emplace_back(work, 0);
    at_once.back().second += count;
  }
  for (const auto& [ns, parts] : ended)
    for (const auto& [work, count] : parts) share_blocks(n, *work, ns, count, together);
}

// One that takes long is interrupted. It goes on before the next one is counted.
void modelled::finish_counted(const kernel_run& run) {
  const auto is_counted = [&](const block* b) {
    return b->run == &run && b->info == run.info().counted && !b->held;
  };
  for (auto b = std::find_if(again_.begin(), again_.end(), is_counted); b != again_.end();
       b = std::find_if(again_.begin(), again_.end(), is_counted)) {
    block* again = *b;
    again_.erase(b);
    resume(again, again->model_ns);
  }
}

// When its work is done. While blocks that are counted wait for others, as at a barrier of the
// grid, those that end are kept as long as something happens at this moment.
void modelled::end_blocks(node& n, std::uint64_t ns, std::uint64_t count, std::uint64_t together,
                          std::uint64_t first) {
  static const block_work none;
  if (!sampling_ && !(n.times.counted && n.times.work->waits())) {
    share_blocks(n, n.times.work != nullptr ? n.times.work->of(first) : none, ns, count, together);
    return;
  }
  auto kept = std::ranges::find(ended_, &n, &std::pair<node*, ended_blocks>::first);
  if (kept == ended_.end()) kept = ended_.insert(kept, {&n, {}});
  kept->second[{ns, first}] += count;
}

void modelled::run_blocks(const work& w, std::uint64_t first) {
  if (w.what->run.info().mode == abi::kernel_mode::loop)
    run_loop(w, first);
  else
    run_fibers(w, first);
}

// Whether it is known what the kernel's blocks do. If not, one of them has to be counted.
bool modelled::look_up_work(node& n) {
  const kernel_operation& launch = *n.run.launch;
  if (n.run.info().counted == nullptr) return true;
  std::uint64_t key = 14695981039346656037u;  // FNV-1a
  const auto mix = [&](const void* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      key = (key ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  };
  mix(&launch.kernel, sizeof launch.kernel);
  mix(&launch.grid, sizeof launch.grid);
  mix(&launch.block, sizeof launch.block);
  mix(launch.params.data(), launch.params.size());
  n.times.work = known_.at(key);
  // Where many are counted, less often.
  constexpr std::uint64_t powers_of_four = 0x5555555555555555u;
  const std::uint64_t times = n.times.work->launches++;
  return times != 0 &&
         ((times & (times - 1)) != 0 || (n.times.work->uneven() && (times & powers_of_four) == 0));
}

void modelled::note_work(const block& b) {
  node& n = *static_cast<node*>(b.run->owner);
  // How often it went round in vain while time passed says nothing of what it does.
  if (b.accesses->is_vague() && b.spun_ns != 0 && b.model_ns != b.spun_ns) {
    n.times.work->expect_one_less();
    return;
  }
  n.times.work->note(b.index, n.run.blocks, b.counts, b.accesses->summary(range_of_memory),
                     static_cast<double>(e_.at(n.device).profile.l2_bytes));
  if (!sampling_) n.times.work->use_samples();  // it had to wait
}

void modelled::run_loop(const work& w, std::uint64_t first) {
  node& n = *w.what;
  kernel_run& run = n.run;
  loop_job job{.pool = nullptr,
               .run = &run,
               .body = executor_.take_block(),
               .first = first,
               .count = w.blocks};
  executor_.run([&](worker& on) { run_on_fiber(on, job, e_); });
  executor_.give_block(job.body);
  std::uint64_t kept = job.done;
  if (job.done != 0) end_blocks(n, w.ns, job.done, w.blocks, first);
  for (const ending& e : job.later) {
    end_blocks(n, e.ns, e.count, w.blocks, first);
    kept += e.count;
  }
  if (kept != w.blocks) e_.release(run, w.blocks - kept);
}

void modelled::run_fibers(const work& w, std::uint64_t first) {
  for (std::uint64_t i = 0; i < w.blocks; ++i) {
    block* b = executor_.take_block();
    b->begin(w.what->run, first + i);
    resume(b, w.ns);
  }
}

void modelled::resume(block* b, std::uint64_t ns) {
  b->model_ns = ns;
  executor_.run([&](worker& w) {
    const block_outcome outcome = b->resume(w);
    place(w, b, outcome);
  });
}

// When the first of its sleepers is due, whoever else of it looks at memory meanwhile.
void modelled::wake_later(block& b) {
  const std::uint64_t ns = std::max(b.wake_ns, now_);
  if (std::exchange(b.alarm_ns, ns) != ns)
    post({.what = event::kind::wake, .ns = ns, .waiting = &b});
}

// Puts a block where its outcome says.
void modelled::place(worker& w, block* b, block_outcome outcome) {
  kernel_run& run = *b->run;
  node& n = *static_cast<node*>(run.owner);
  const std::uint64_t ns = b->model_ns;
  if (b->got_on()) changed_ns_ = std::max(changed_ns_, ns);
  b->turn_was_in_vain(outcome);
  note_nap(*b, outcome);
  if (outcome != block_outcome::more) b->busy_turns = 0;
  switch (outcome) {
    case block_outcome::done:
      if (b->info == run.info().counted) note_work(*b);
      end_blocks(n, ns, 1, 1, b->index);
      executor_.give_block(b);
      ++run.ended;
      come_to_grid(run, ns);
      return;
    case block_outcome::sleeping:
      wake_later(*b);
      return;
    case block_outcome::spinning:
      if (b->spun_ns == 0) b->spun_ns = ns;
      spinners_.push_back(b);
      if (b->has_sleepers()) wake_later(*b);
      return;
    case block_outcome::more:
      if (!looks_for_too_long(*b)) again_.push_back(b);
      return;
    case block_outcome::at_grid:
      ++run.grid_arrived;
      run.grid_waiting.push_back(b);
      come_to_grid(run, ns);
      return;
    case block_outcome::failed:
      e_.block_failed(run, *b);
      break;
    case block_outcome::dropped:
      break;
  }
  b->drop(w);
  executor_.give_block(b);
  e_.release(run, 1);
}

// A block has come to a barrier of the grid, or to its end. When all have, they go on later.
void modelled::come_to_grid(kernel_run& run, std::uint64_t ns) {
  run.grid_ns = std::max(run.grid_ns, ns);
  if (run.grid_arrived == 0 || run.grid_arrived + run.ended != run.blocks) return;
  run.grid_arrived = 0;
  post({.what = event::kind::meeting,
        .ns = run.grid_ns + rounded_ns(grid_barrier_ns(timing_, run.blocks)),
        .n = static_cast<node*>(run.owner)});
}

void modelled::release_grid(kernel_run& run) {
  for (block* b : std::exchange(run.grid_waiting, {})) {
    b->grid_released();
    b->turn_was_in_vain(block_outcome::more);
    b->model_ns = now_;
    again_.push_back(b);
  }
}

}  // namespace sb::engine
