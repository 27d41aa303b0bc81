// How work gets into the engine: by the inbox, or under the lock where it names other commands.
#include <algorithm>
#include <cassert>
#include <thread>
#include <utility>

#include "engine/at_once.hpp"
#include "engine/clock.hpp"
#include "engine/engine_state.hpp"
#include "engine/modelled.hpp"
#include "engine/recorder.hpp"
#include "model/stream_rules.hpp"

namespace sb::engine {

namespace {

// Fills in what the operation says of the command.
struct describe {
  command& c;

  void operator()(const marker_operation& o) const {
    c.kind = o.role == marker_role::graph_begin ? command_kind::graph_head : command_kind::marker;
  }
  void operator()(const kernel_operation& k) const {
    c.kind = command_kind::kernel;
    c.kernel = shape_of(k);
    if (k.priority) c.priority = *k.priority;
  }
  void operator()(const copy_operation& o) const {
    c.kind = command_kind::copy;
    c.direction = o.direction;
    c.peer = o.peer;
    c.bytes = o.width * o.height * o.depth;
  }
  void operator()(const fill_operation& o) const {
    c.kind = command_kind::fill;
    c.bytes = o.width * o.element_size * o.height * o.depth;
  }
  void operator()(const host_operation&) const { c.kind = command_kind::host_function; }
  void operator()(const record_operation&) const { c.kind = command_kind::event_record; }
  void operator()(const conditional_operation&) const { c.kind = command_kind::section; }
  void operator()(const foreign_wait_operation&) const { c.kind = command_kind::section; }
  void operator()(const wait_operation& w) const {
    c.kind = command_kind::event_wait;
    c.record = w.record;
  }
};

}  // namespace

// Where streams have to share connections, and nowhere else.
void engine::impl::keep_time() {
  if (scheduler.needs_time()) scheduler.set_time(clock_ns());
}

node* engine::impl::new_node(stream_id stream, operation what) {
  node* n = pool->take();
  n->what = std::move(what);
  n->takes_turn = false;
  command& c = n->as;
  c.stream = stream;
  c.device = n->device = streams[stream].device;
  c.priority = streams[stream].priority;
  std::visit(describe{c}, n->what);
  c.payload = reinterpret_cast<std::uintptr_t>(n);
  if (record) {
    n->call = recorder::present().number;
    n->called_ns = recorder::present().begin_ns;
    n->traced_as = trace::none;
    n->told = false;
  }
  return n;
}

namespace {

void prepare_run(node& n, device_runtime& device, kernel_costs& costs) {
  const auto* launch = std::get_if<kernel_operation>(&n.what);
  if (launch == nullptr) return;
  n.run.launch = launch;
  n.run.device = &device;
  n.run.blocks = n.as.kernel.blocks;
  n.run.threads = n.as.kernel.threads_per_block;
  n.run.priority = n.as.priority;
  n.run.cost = &costs.of(launch->kernel);
  n.run.owner = &n;
  n.blocks_left = n.as.kernel.blocks;
}

// It is wanted next, and was written on another core.
void fetch(const node& n) {
  const auto* begin = reinterpret_cast<const char*>(static_cast<const submission*>(&n));
  for (std::size_t at = 0; at < sizeof(submission); at += 64) __builtin_prefetch(begin + at);
}

}  // namespace

// Whoever asks for the event's newest record from now on gets this one.
void engine::impl::note_record(node& n) {
  const auto* what = std::get_if<record_operation>(&n.what);
  if (what == nullptr || !what->event) return;
  if (record) record->can_be_awaited(n);
  what->event->last_record.store(n.id.value, std::memory_order_release);
}

loaded_kernels::found engine::impl::load(const abi::kernel_info* kernel, device_id device) {
  const auto pending = [&]() -> std::shared_ptr<const loaded_kernels::earlier_work> {
    std::vector<command_id> all = scheduler.pending_work(device);
    if (all.empty()) return nullptr;
    const sched::gathering together = scheduler.gather(all);
    if (!record) all = {};
    return std::make_shared<const loaded_kernels::earlier_work>(together, std::move(all));
  };
  return loaded.use(kernel, device, pending,
                    [&](sched::gathering all) { return scheduler.done(all); });
}

void engine::load(const abi::kernel_info& kernel, device_id device) {
  impl& e = *impl_;
  if (!e.options.lazy_loading) return;
  impl::guard lock(e.mutex);
  e.take_in();
  static_cast<void>(e.load(&kernel, device));
  e.drain();
  e.finish(lock);
}

// The scheduler hears of the node. Its id is the next ticket.
void engine::impl::introduce(node* n, std::span<const command_id> after) {
  node_progress& progress = *n;
  std::destroy_at(&progress);
  std::construct_at(&progress);
  prepare_run(*n, at(n->device).runtime, costs);
  n->next = nodes;
  if (nodes != nullptr) nodes->previous = n;
  nodes = n;
  keep_time();
  if (model) model->submitted(*n);
  const auto* launch = std::get_if<kernel_operation>(&n->what);
  // A race stays one: no program may rely on this order.
  const auto [loading, first_use] = launch != nullptr && options.lazy_loading
                                        ? load(launch->kernel, n->device)
                                        : loaded_kernels::found{};
  if (record) {
    if (!model) n->times.queued = n->called_ns != 0 ? n->called_ns : counter.now();
    recorder::kernel_load load{.behind = {}, .first = first_use};
    if (loading != nullptr) load.behind = loading->commands;
    record->submitted(*n, after, load);
  }
  [[maybe_unused]] const command_id id =
      scheduler.submit(n->as, after, loading != nullptr ? loading->all : sched::gathering{});
  assert(id == n->id);
  n->races = races.submit(n->as, n->id, after);
  n->run.races = n->races.get();
}

void engine::impl::take_in_quickly() {
  while (node* n = box.pop()) {
    if (const node* after = box.peek(); after != nullptr) fetch(*after);
    introduce(n, {});
  }
  if (box.hole()) take_in();
}

void engine::impl::take_in() {
  const std::uint64_t end = box.claimed();
  while (box.next() < end) {
    if (node* n = box.pop(); n != nullptr)
      introduce(n, {});
    else
      std::this_thread::yield();
  }
}

namespace {

// Others see that a call waits for room.
class counted {
 public:
  explicit counted(std::atomic<std::uint32_t>& count) : count_(count) { ++count_; }
  ~counted() {
    if (--count_ == 0) count_.notify_all();
  }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

 private:
  std::atomic<std::uint32_t>& count_;
};

void wait_for_none(const std::atomic<std::uint32_t>& count) {
  while (const std::uint32_t n = count.load(std::memory_order_acquire)) count.wait(n);
}

}  // namespace

// CUDA: while a call waits for room, others for the same stream wait behind it; pending.tsv
// blocked.*.same
void engine::impl::wait_behind_blocked(stream_id stream) { wait_for_none(streams[stream].blocked); }

void engine::wait_for_blocked_calls() { wait_for_none(impl_->blocked_calls); }

// CUDA: parameters of more than 2 KiB leave room for fewer kernels; h200/further.tsv params.*
std::uint32_t engine::impl::entry_limit(const operation& what) const {
  constexpr std::size_t all = 4085000, beside_parameters = 1568;
  const auto* launch = std::get_if<kernel_operation>(&what);
  if (launch == nullptr) return options.pending_entries;
  const std::size_t fit = all / (launch->params.size() + beside_parameters);
  return static_cast<std::uint32_t>(std::min<std::size_t>(options.pending_entries, fit));
}

// CUDA: a stream takes 55 turns from host functions to other work that have not begun, 56 where
// that work is a copy to the host. Of records only timed ones count; h200/further.tsv turns.*,
// pending.tsv turns.hostfunc.*
void engine::impl::take_turn(node& n, queue_class queue) {
  stream_state& s = streams[n.as.stream];
  if (n.as.kind == command_kind::host_function) {
    s.host_function_last.store(true, std::memory_order_relaxed);
    return;
  }
  if (!s.host_function_last.load(std::memory_order_relaxed)) return;
  const auto* record = std::get_if<record_operation>(&n.what);
  const bool timed = record != nullptr && record->event && record->event->timed;
  if (queue == queue_class::none && !timed) return;
  s.host_function_last.store(false, std::memory_order_relaxed);
  // By a model's clock nothing goes on while its host waits here.
  if (model || options.pending_entries == 0) return;
  const std::uint32_t limit = queue == queue_class::device_to_host ? 56 : 55;
  for (std::uint32_t n_now = s.turns.load(std::memory_order_acquire); n_now >= limit;
       n_now = s.turns.load(std::memory_order_acquire)) {
    const counted here(s.blocked);
    const counted anywhere(blocked_calls);
    s.turns.wait(n_now);
  }
  s.turns.fetch_add(1, std::memory_order_relaxed);
  n.takes_turn = true;
}

void engine::impl::give_turn_back(const node& n) {
  if (!n.takes_turn) return;
  std::atomic<std::uint32_t>& turns = streams[n.as.stream].turns;
  turns.fetch_sub(1, std::memory_order_release);
  turns.notify_all();
}

// Behind small kernels there is room in a moment, and with the engine's lock the call would hold up
// the thread that works. Not a look at a time: it reads what that one writes.
bool engine::impl::look_for_room(const stream_state::entries& s, std::uint32_t begun,
                                 std::uint32_t limit) {
  constexpr int looks = 16, between = 128;
  if (!cores_to_spare || model) return false;
  const std::uint64_t begin = record ? trace_ns() : 0;
  std::uint64_t over = 0;
  bool found = false;
  for (int i = 0; i < looks && !found; ++i) {
    for (int k = 0; k < between; ++k) relax();
    over = s.over.load(std::memory_order_acquire);
    found = begun - s.count(over) < limit;
  }
  if (record) {
    recorded_call& call = recorder::present();
    call.blocked_ns += trace_ns() - begin;
    if (found) call.blocked_on = s.ended(over);
  }
  return found;
}

// A call reserves its entry before it takes a ticket. CUDA: what comes behind 1021 entries of its
// queue that have not begun blocks; h200/pending.tsv
bool engine::impl::take_room(stream_id stream, queue_class queue, std::uint32_t limit) {
  stream_state::entries& s = streams[stream].in(queue);
  std::uint32_t begun = s.begun.load(std::memory_order_relaxed);
  for (;;) {
    if (begun - s.seen.load(std::memory_order_relaxed) < limit) {
      if (s.begun.compare_exchange_weak(begun, begun + 1, std::memory_order_relaxed)) return true;
      continue;
    }
    const std::uint32_t over = s.count(s.over.load(std::memory_order_acquire));
    s.seen.store(over, std::memory_order_relaxed);
    if (begun - over < limit) continue;
    const counted here(streams[stream].blocked);
    const counted anywhere(blocked_calls);
    if (look_for_room(s, begun, limit)) continue;
    guard lock(mutex);
    if (stopped) return false;
    take_in();
    wait_for(lock, scheduler.wait_for_room(stream, queue, limit));
    if (stopped) return false;
    begun = s.begun.load(std::memory_order_relaxed);
  }
}

command_id engine::impl::post(node* n) {
  while (!box.room()) attend();
  if (record) record->hand_over(*n);
  const std::uint64_t ticket = box.claim();
  const command_id id{ticket};
  n->id = id;
  note_record(*n);  // who reads it now submits behind it, and asks after it was taken in
  // What is in no trace yet when its call returns would be missing there between others, if the
  // process is killed.
  const bool untold = record && !n->told;
  box.publish(ticket, n);  // the node may be gone from here on
  if (untold) {
    attend();
    return id;
  }
  // Either a worker sees the node before it turns to something else, or this thread sees that none
  // is there. Who has the lock and is about to leave it sees the node, too.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!workers->attended() && short_copies.load(std::memory_order_relaxed) == 0 &&
      !mutex.leave_note())
    attend();
  return id;
}

command_id engine::impl::submit_one(node* n, std::span<const command_id> after) {
  do {
    take_in();
  } while (!box.claim_next());
  n->id = command_id{box.next() - 1};
  note_record(*n);
  introduce(n, after);
  return n->id;
}

command_id engine::impl::submit_now(node* n, std::span<const command_id> after) {
  guard lock(mutex);
  const command_id id = submit_one(n, after);
  drain();
  finish(lock);
  return id;
}

void engine::impl::attend() {
  // Not for ever for those who submit meanwhile.
  constexpr int most = 8;
  for (int times = 0; times < most; ++times) {
    mutex.lock_for_notes();
    take_in_quickly();
    drain();
    if (!leave()) return;
  }
  guard lock(mutex);
  take_in_quickly();
  drain();
  finish(lock);
}

command_id engine::submit(stream_id stream, operation what, std::span<const command_id> after) {
  impl& e = *impl_;
  if (e.stopped.load(std::memory_order_relaxed)) return {};
  e.wait_behind_blocked(stream);
  if (after.empty()) {
    if (const command_id id = e.record_at_once(stream, what); id.valid()) return id;
    if (const command_id id = e.copy_at_once(stream, what); id.valid()) return id;
    if (const command_id id = e.fill_at_once(stream, what); id.valid()) return id;
  }
  node* n = e.new_node(stream, std::move(what));
  if (e.model) e.model->before_submission(*n);
  const queue_class queue = entry_of(n->as);
  e.take_turn(*n, queue);
  if (queue != queue_class::none && !e.take_room(stream, queue, e.entry_limit(n->what))) {
    return {};  // the engine has ended
  }
  // Who checks races notes the thread that submits: it has to introduce the node itself.
  return after.empty() && !races_checked() && !e.model ? e.post(n) : e.submit_now(n, after);
}

result<abi::kernel_counts> engine::count(stream_id stream, kernel_operation launch,
                                         std::uint64_t samples) {
  const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  const auto counts = std::make_shared<launch_counts>(blocks, samples);
  launch.counts = counts;
  sched::wait_target target;
  target.scope = sched::wait_scope::command;
  target.command = submit(stream, std::move(launch));
  const status outcome = synchronize(target, impl_->streams[stream].device);
  if (outcome != status::success) return outcome;
  return counts->total();
}

std::vector<command_id> engine::impl::submit_nodes(stream_id stream,
                                                   std::span<const graph_item> items,
                                                   command_id head) {
  std::vector<command_id> ids;
  std::vector<bool> has_successor(items.size(), false);
  std::vector<command_id> before;
  std::vector<command_id> first_kernels;  // that depend on nothing
  ids.reserve(items.size());
  graph_shape shape;
  if (model)
    for (const graph_item& item : items) {
      command c;
      std::visit(describe{c}, *item.what);
      shape.add(c.kind, c.bytes, item.after);
    }
  for (const graph_item& item : items) {
    before.clear();
    for (const std::uint32_t i : item.after) {
      before.push_back(ids[i]);
      has_successor[i] = true;
    }
    if (before.empty() && head.valid()) before.push_back(head);
    node* n = new_node(stream, operation(*item.what));
    n->as.order = command_order::free;
    n->as.device = n->device = item.device;
    const auto* kernel = std::get_if<kernel_operation>(&n->what);
    if (kernel == nullptr || !kernel->priority) n->as.priority = item.priority;
    if (model) model->place_in_graph(shape, ids.size(), head.valid());
    auto* conditional = std::get_if<conditional_operation>(&n->what);
    if (conditional != nullptr && item.after.empty()) conditional->rather_after = first_kernels;
    ids.push_back(submit_one(n, before));
    if (kernel != nullptr && item.after.empty()) first_kernels.push_back(ids.back());
  }
  std::vector<command_id> leaves;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (!has_successor[i]) leaves.push_back(ids[i]);
  return leaves;
}

namespace {

// Where a graph's launch stands: graph_queue.
void stand_as(command& head, std::span<const graph_item> items) {
  if (items.empty()) return;
  command first;
  std::visit(describe{first}, *items.front().what);
  switch (first.kind) {
    case command_kind::kernel:
    case command_kind::fill:
      head.direction = copy_direction::device_to_device;
      head.bytes = 1;
      break;
    case command_kind::copy:
      head.direction = first.direction;
      head.bytes = first.bytes;
      break;
    case command_kind::host_function:
      head.direction = copy_direction::host_to_host;
      head.bytes = 1;
      break;
    default:
      break;
  }
}

}  // namespace

command_id engine::submit_graph(stream_id stream, std::span<const graph_item> items,
                                std::span<const command_id> after,
                                std::shared_ptr<const std::vector<condition_default>> defaults) {
  impl& e = *impl_;
  if (e.stopped.load(std::memory_order_relaxed)) return {};
  e.wait_behind_blocked(stream);
  if (!defaults && e.graph_at_once(stream, items, after)) return {};
  marker_operation begin;
  begin.defaults = std::move(defaults);
  begin.role = marker_role::graph_begin;
  marker_operation end;
  end.role = marker_role::graph_end;
  if (!e.take_room(stream, queue_class::compute, e.options.pending_entries)) return {};
  node* first = e.new_node(stream, std::move(begin));
  stand_as(first->as, items);
  impl::guard lock(e.mutex);
  const command_id head = e.submit_one(first, after);
  const std::vector<command_id> leaves = e.submit_nodes(stream, items, head);
  const command_id tail = e.submit_one(e.new_node(stream, std::move(end)), leaves);
  e.drain();
  e.finish(lock);
  return tail;
}

}  // namespace sb::engine
