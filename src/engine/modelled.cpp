#include "engine/modelled.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "engine/call_frame.hpp"
#include "engine/recorder.hpp"
#include "engine/transfer.hpp"
#include "model/block_rules.hpp"
#include "model/stream_rules.hpp"

namespace sb::engine {

namespace {

constexpr int hung_status = 124;
constexpr std::uint64_t section_pause_ns = 1000;

bool is_link(const copy_operation& copy) {
  return copy.direction == copy_direction::host_to_device ||
         copy.direction == copy_direction::device_to_host;
}

}  // namespace

modelled::modelled(engine::impl& engine, const timing_profile& timing)
    : e_(engine),
      timing_(timing),
      transfers_(engine.options.devices.size()),
      waiting_copies_(engine.options.devices.size()),
      clocks_(*this) {
  for (const auto& device : engine.options.devices) {
    const auto multiprocessors = static_cast<std::uint32_t>(device.multiprocessors);
    shares_.push_back({shared_device(multiprocessors, timing.older_first),
                       {},
                       {},
                       uneven_blocks(multiprocessors)});
  }
}

modelled::~modelled() { clocks_.stop(); }

void modelled::call(std::uint64_t ns) {
  clocks_.turn(ns);
  came_in();
}

void modelled::came_in() {
  now_ = clocks_.now();
  changed_ = true;
  released_by_ = nullptr;
  if (!spinners_.empty()) settle();
}

// --- what the engine tells

void modelled::before_submission(const node& n) {
  pay_rest();
  const command_kind kind = n.as.kind;
  if (kind == command_kind::kernel || kind == command_kind::copy || kind == command_kind::fill)
    pay_for_others();
  if (n.as.kind == command_kind::kernel && std::exchange(last_launch_, n.as.stream) != n.as.stream)
    call(rounded_ns(timing_.other_stream_ns));
  const auto* copy = std::get_if<copy_operation>(&n.what);
  if (copy != nullptr && copy->direction == copy_direction::device_to_device)
    call(rounded_ns(timing_.inside_copy_ns));
  if (n.as.kind == command_kind::fill && n.as.bytes > small_fill_bytes)
    call(rounded_ns(call_cost_ns(timing_, "cudaLaunchKernel") -
                    call_cost_ns(timing_, "cudaMemsetAsync")));
}

void modelled::place_in_graph(const graph_shape& shape, std::size_t node, bool launched) {
  place_ = {.late_ns = launched ? shape.late_ns(node, timing_) : 0,
            .gap_ns = shape.gap_ns(node, timing_),
            .first = launched && shape.is_first(node)};
}

void modelled::submitted(node& n) {
  n.times.queued = now_;
  // A fill is a kernel of the driver's.
  const bool kernel = n.as.kind == command_kind::kernel || n.as.kind == command_kind::fill;
  n.times.in_graph = std::exchange(place_, {});
  n.times.arrival = now_ + rounded_ns((kernel ? timing_.kernel_submit_ns : timing_.submit_ns) +
                                      n.times.in_graph.late_ns);
  if (auto* streams = waiting_copies(n.as, n.device)) ++(*streams)[n.as.stream.value];
}

// The streams that have copies waiting in the queue of this one; null for what is not in such a
// queue, and where streams share queues.
std::unordered_map<std::uint32_t, std::uint32_t>* modelled::waiting_copies(const command& c,
                                                                           device_id device) {
  if (e_.options.connections == 1) return nullptr;
  if (c.kind != command_kind::copy) return nullptr;
  switch (queue_of(c)) {
    case queue_class::host_to_device:
      return &waiting_copies_[device.value][0];
    case queue_class::device_to_host:
      return &waiting_copies_[device.value][1];
    case queue_class::compute:
    case queue_class::none:
      break;
  }
  return nullptr;
}

// When something that may start now begins: when it has come to the device, and what was before it
// in its stream has made room.
std::uint64_t modelled::begin_of(const node& n) {
  // An idle copy engine looks at the streams that have something for it, one after the other.
  double others = 0;
  if (auto* streams = waiting_copies(n.as, n.device)) {
    const auto own = streams->find(n.as.stream.value);
    if (own != streams->end() && --own->second == 0) streams->erase(own);
    others = static_cast<double>(streams->size() - streams->count(n.as.stream.value));
  }
  if (now_ == n.times.queued || released_by_ == nullptr) return std::max(now_, n.times.arrival);
  const command& c = n.as;
  double gap = timing_.engine_gap_ns;
  const bool computes = c.kind == command_kind::kernel || c.kind == command_kind::fill;
  const bool computed = ended_kind_ == command_kind::kernel || ended_kind_ == command_kind::fill;
  if (computes && computed) {
    const bool inside = c.order == command_order::free && !n.times.in_graph.first;
    gap = inside ? timing_.graph_gap_ns : timing_.kernel_gap_ns;
  } else if (c.kind == command_kind::copy && ended_kind_ == command_kind::copy &&
             c.direction == ended_direction_) {
    const bool shared = e_.options.connections == 1;
    gap = c.stream == ended_stream_ || shared ? 0 : timing_.copy_switch_ns;
  } else if (c.kind == command_kind::host_function) {
    gap = 0;  // its own latency says all
  } else if (others > 0) {
    gap += others * timing_.copy_look_ns;
  }
  if (c.stream != ended_stream_ && c.kind == command_kind::kernel) gap += timing_.wait_gap_ns;
  // A copy behind another one has waited for its engine longer than that.
  if (c.kind != command_kind::copy || ended_kind_ != command_kind::copy)
    gap += n.times.in_graph.gap_ns;
  return std::max(n.times.arrival, now_ + rounded_ns(gap));
}

void modelled::start(node& n) {
  n.times.ready = now_;
  n.times.begin = begin_of(n);
  if (n.as.kind == command_kind::kernel) return;
  if (n.as.kind == command_kind::host_function) {
    const std::uint64_t ns = host_function_begin(n);
    n.times.begin = ns;
    if (host_function_thread_ == nullptr)
      host_function_thread_ = clocks_.announce(ns);
    else
      clocks_.again(host_function_thread_, ns);
    return;
  }
  to_run_.push_back({&n, 0, n.times.begin});
}

void modelled::grant(node& n, std::uint64_t blocks) {
  const bool first = n.times.blocks_granted == 0;
  n.times.blocks_granted += blocks;
  std::uint64_t ns = now_;
  if (first) {
    const kernel_begin begin = begin_with_room(n.times.begin, rounded_ns(timing_.kernel_ns), now_);
    n.times.begin = begin.kernel;
    ns = begin.blocks;
  }
  to_run_.push_back({&n, blocks, ns});
}

// Records of a stream follow each other.
std::uint64_t modelled::record_ns(const node& n) {
  std::uint64_t& last = e_.streams[n.as.stream].last_record_ns;
  last = std::max({now_, n.times.arrival, last}) + rounded_ns(timing_.record_ns);
  return last;
}

void modelled::release(host_wait& w) {
  w.after_copy = ended_kind_ == command_kind::copy && ended_bytes_ >= separate_copy_bytes;
  w.mark_released();
  clocks_.wake(&w, 1, now_);
}

void modelled::wait(host_wait& w) {
  const std::uint64_t begin = clocks_.now();
  // Handlers of signals run meanwhile, and it goes on.
  for (bool interrupted = true; interrupted;) {
    call_frame::run_handlers();
    if (w.is_released()) break;
    clocks_.wait_on(&w);
    interrupted = clocks_.interrupted();
  }
  const auto waited = static_cast<double>(clocks_.now() - begin);
  const bool soon = waited < timing_.long_wait_ns && !(waited > 0 && w.after_copy);
  clocks_.turn(rounded_ns(soon ? timing_.wake_ns : timing_.long_wake_ns));
  now_ = clocks_.now();
}

void modelled::look_again_later(node& section) {
  post({.what = event::kind::section, .ns = now_ + section_pause_ns, .n = &section});
}

void modelled::ended(node& n) {
  n.times.end = now_;
  released_by_ = &n;
  ended_kind_ = n.as.kind;
  ended_direction_ = n.as.direction;
  ended_bytes_ = n.as.bytes;
  ended_stream_ = n.as.stream;
}

// --- events

void modelled::post(event e) {
  e.ns = std::max(e.ns, now_);
  if (e.what == event::kind::operation || e.what == event::kind::blocks)
    written_ns_ = std::max(written_ns_, e.ns);
  e.order = order_++;
  events_.push(e);
}

void modelled::post_operation(node& n, std::uint64_t ns) {
  n.times.end_event = order_;
  post({.what = event::kind::operation, .ns = ns, .n = &n});
}

std::uint64_t modelled::next_ns() {
  settle();
  return std::min(timer_ns(), events_.empty() ? host_clocks::never : events_.top().ns);
}

void modelled::step() {
  // What ends when a timer does has ended.
  if (timer_ns() < (events_.empty() ? host_clocks::never : events_.top().ns)) {
    const std::uint64_t ns = expires_ns_.exchange(host_clocks::never);
    now_ = std::max(now_, ns);
    naps_in_vain_ = 0;
    ++expired_in_vain_;
    expire_(ns);
    return;
  }
  const event next = events_.top();
  events_.pop();
  if (outdated(next)) return;  // it has become slower or faster since
  now_ = next.ns;
  if (next.what != event::kind::wake && next.what != event::kind::look) naps_in_vain_ = 0;
  switch (next.what) {
    case event::kind::operation: {
      node& n = *next.n;
      end_piece(next);
      ended(n);
      for (auto& directions : transfers_)
        for (transfer& t : directions)
          if (t.n == &n) t.n = nullptr;
      const std::uint32_t device = n.device.value;
      n.what = marker_operation{};
      e_.complete(n);
      update_transfers(device);
      break;
    }
    case event::kind::blocks:
      blocks_ended(next);
      break;
    case event::kind::wake:
      changed_ = true;
      next.waiting->alarm_ns = 0;
      std::erase(spinners_, next.waiting);
      resume(next.waiting, now_);
      break;
    case event::kind::meeting:
      release_grid(next.n->run);
      break;
    case event::kind::look:
      if (look_at_spinners(now_)) naps_in_vain_ = 0;
      break;
    case event::kind::section:
      e_.look_at_section(*next.n);
      break;
    case event::kind::share:
      shares_[next.device].look_ns = host_clocks::never;
      shares_[next.device].device.look_again();
      shares_changed_ = true;
      break;
  }
  settle();
  released_by_ = nullptr;
}

// What ends together makes room together.
std::uint64_t modelled::end_with(const event& first) {
  std::uint64_t count = end_piece(first);
  for (; !events_.empty() && events_.top().ends_with(first); events_.pop())
    if (!outdated(events_.top())) count += end_piece(events_.top());
  first.n->times.blocks_over += count;
  return count;
}

void modelled::blocks_ended(const event& first) {
  node& n = *first.n;
  const std::uint64_t count = end_with(first);
  if (n.times.blocks_over == n.run.blocks) {
    make_room_before_next(n);
    ended(n);
  }
  tell_blocks(n, count);
}

void modelled::tell_blocks(node& n, std::uint64_t count) {
  const kernel_run& run = n.run;
  if (n.times.blocks_over != run.blocks && n.times.blocks_granted == run.blocks) hurry_last_ones(n);
  e_.blocks_done(n.run, count, kernel_sink::unmeasured);
  e_.release(n.run, count);
}

// What follows a kernel in its stream comes a moment later: the room that others make until then is
// taken by those of their blocks which wait already.
void modelled::make_room_before_next(const node& ended) {
  while (!events_.empty()) {
    const event other = events_.top();
    const bool over = outdated(other);
    if (!over && !is_nearly_over(other, ended.device)) return;
    events_.pop();
    if (over) continue;
    node& n = *other.n;
    const std::uint64_t count = end_piece(other);
    n.times.blocks_over += count;
    tell_blocks(n, count);
  }
}

// It may have written what a kernel looks at.
void modelled::host_ran(std::uint64_t ns) {
  naps_in_vain_ = expired_in_vain_ = 0;
  if (spinners_.empty()) return;
  now_ = std::max(now_, ns);
  changed_ = true;
}

bool modelled::look_again() {
  changed_ = !spinners_.empty();
  return changed_;
}

// Which kernel looks at memory in vain, and whether its own blocks may be what it waits for.
std::string modelled::awaited_words() const {
  const kernel_run* const first = first_in_vain();
  if (first == nullptr) return {};
  const kernel_run& run = *first;
  const sched::scheduler::kernel_blocks blocks =
      e_.scheduler.blocks_of(static_cast<const node*>(run.owner)->id);
  std::string words = "; kernel " + std::string(run.info().name) +
                      " stays in a loop: nobody writes memory that would end it";
  if (blocks.waiting != 0)
    words += ", with " + std::to_string(blocks.running) + " of its " + std::to_string(run.blocks) +
             " blocks on the device and " + std::to_string(blocks.waiting) +
             " that find no room there";
  return words;
}

bool modelled::hung() {
  if (look_for_long()) {
    settle();
    return true;
  }
  std::fflush(stdout);
  std::fprintf(stderr,
               "streambed: the program hangs: every thread waits for work that can never end%s.\n",
               awaited_words().c_str());
  e_.hung();
  std::_Exit(hung_status);
}

// --- copies

void modelled::begin_transfer(node& n, std::uint64_t ns) {
  const auto& copy = std::get<copy_operation>(n.what);
  host_end host = host_end::pinned;
  if (copy.pageable) host = copy.staging ? host_end::staged : host_end::pageable;
  const double alone = copy_ns(timing_, copy.direction, n.as.bytes, host);
  if (copy.direction == copy_direction::device_to_device) {
    share_memory(n, ns, alone, 2 * static_cast<double>(n.as.bytes));
    return;
  }
  if (!is_link(copy) || host == host_end::pageable) {
    post_operation(n, ns + rounded_ns(alone));
    return;
  }
  const std::size_t side = copy.direction == copy_direction::host_to_device ? 0 : 1;
  transfers_[n.device.value][side] = {&n, alone, ns, 0};
  update_transfers(n.device.value);
}

// A direction has all of its rate while the other is idle, and less while it is not.
void modelled::update_transfers(std::uint32_t device) {
  auto& both = transfers_[device];
  for (transfer& t : both) {
    if (t.n == nullptr) continue;
    if (now_ > t.since_ns) {
      t.left_ns -= static_cast<double>(now_ - t.since_ns) * t.rate;
      t.since_ns = now_;
    }
    const bool alone = both[0].n == nullptr || both[1].n == nullptr;
    const double rate = alone ? 1 : timing_.both_directions;
    if (rate == t.rate) continue;
    t.rate = rate;
    post_operation(*t.n, t.since_ns + rounded_ns(std::max(0.0, t.left_ns) / rate));
  }
}

// --- running

// For the trace of a program that is ended while it runs.
void modelled::tell_running(const node* n) {
  if (e_.record) e_.record->runs_in_call(n != nullptr ? n->recorded.number : trace::none);
}

void modelled::settle() {
  if (settling_) return;
  settling_ = true;
  for (;;) {
    if (!to_run_.empty()) {
      const work next = to_run_.front();
      to_run_.pop_front();
      look_before_others_write();
      written_ns_ = 0;
      const kernel_run* const ran = &next.what->run;
      tell_running(next.what);
      run(next);
      look_at_writes_of(ran);
    } else if (!again_.empty()) {
      block* b = again_.front();
      again_.pop_front();
      tell_running(static_cast<const node*>(b->run->owner));
      resume(b, b->model_ns);
      changed_ = true;
    } else if (!ended_.empty()) {
      share_ended(*ended_.front().first, 0);
    } else {
      break;
    }
  }
  tell_running(nullptr);
  post_look();
  settling_ = false;
  if (shares_changed_) update_shares();
}

void modelled::run(const work& w) {
  node& n = *w.what;
  if (n.as.kind == command_kind::kernel) {
    run_kernel(w);
    return;
  }
  failure_record fault;
  if (const auto* copy = std::get_if<copy_operation>(&n.what)) {
    executor_.run([&](worker&) { fault = carry_out(*copy, e_.dropping); });
    if (fault.error == status::success) begin_transfer(n, w.ns);
  } else if (const auto* fill = std::get_if<fill_operation>(&n.what)) {
    executor_.run([&](worker&) { fault = carry_out(*fill, e_.dropping); });
    const double begin = n.as.bytes > small_fill_bytes
                             ? timing_.kernel_ns + timing_.memory_latency_ns
                             : timing_.fill_ns;
    const double ns = begin + static_cast<double>(n.as.bytes) / timing_.fill_bytes_per_ns;
    if (fault.error == status::success) share_memory(n, w.ns, ns, static_cast<double>(n.as.bytes));
  } else {
    post_operation(n, w.ns);
  }
  if (fault.error == status::success) return;
  e_.report_copy(n, fault);
  n.what = marker_operation{};
  e_.fail_device(n.device, fault.error, n);
  e_.complete(n);
}

}  // namespace sb::engine
