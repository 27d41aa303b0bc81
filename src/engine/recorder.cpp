#include "engine/recorder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

namespace sb::engine {

namespace {

trace::operation_kind kind_of(const node& n) {
  switch (n.as.kind) {
    case command_kind::kernel:
      return trace::operation_kind::kernel;
    case command_kind::copy:
      return trace::operation_kind::copy;
    case command_kind::fill:
      return trace::operation_kind::fill;
    case command_kind::host_function:
      return trace::operation_kind::host_function;
    case command_kind::event_record:
      return trace::operation_kind::event_record;
    case command_kind::event_wait:
      return trace::operation_kind::event_wait;
    case command_kind::section:
      return trace::operation_kind::section;
    case command_kind::graph_head:
      return trace::operation_kind::graph_begin;
    case command_kind::marker:
      break;
  }
  const auto* marker = std::get_if<marker_operation>(&n.what);
  switch (marker != nullptr ? marker->role : marker_role::plain) {
    case marker_role::plain:
      break;
    case marker_role::graph_begin:
      return trace::operation_kind::graph_begin;
    case marker_role::graph_end:
      return trace::operation_kind::graph_end;
    case marker_role::allocate:
      return trace::operation_kind::allocate;
    case marker_role::free:
      return trace::operation_kind::free;
  }
  return trace::operation_kind::marker;
}

trace::engine_kind engine_of(command_kind kind) {
  switch (kind) {
    case command_kind::kernel:
    case command_kind::fill:
      return trace::engine_kind::multiprocessors;
    case command_kind::host_function:
      return trace::engine_kind::host;
    default:
      break;
  }
  return trace::engine_kind::none;
}

trace::memory_kind traced(memory_kind kind) {
  switch (kind) {
    case memory_kind::pinned:
    case memory_kind::registered:
      return trace::memory_kind::pinned;
    case memory_kind::managed:
      return trace::memory_kind::managed;
    default:
      return trace::memory_kind::device;
  }
}

std::string program_name() {
  char path[4096];
  const ssize_t n = readlink("/proc/thread-self/exe", path, sizeof path);
  if (n <= 0) return "program";
  const std::string_view whole(path, static_cast<std::size_t>(n));
  return std::string(whole.substr(whole.rfind('/') + 1));
}

trace::copy_rate rate_of(const link_timing& link) {
  return {.latency_ns = static_cast<std::uint32_t>(link.pinned_ns),
          .bytes_per_us = static_cast<std::uint32_t>(link.pinned_bytes_per_ns * 1000)};
}

std::atomic<std::uint64_t> recorders_made{0};

std::uint64_t host_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * size : 0;
}

// The programs that this one starts have the same environment and traces of their own: once this
// one has a trace, STREAMBED_TRACE_BESIDE is no longer 0. Only the letter changes then: setenv
// would move what other threads may be looking through.
char* beside_letter() {
  static char* const letter = [] {
    ::setenv("STREAMBED_TRACE_BESIDE", "0", 0);
    return std::getenv("STREAMBED_TRACE_BESIDE");
  }();
  return letter;
}

// Whether another one had a trace before; from now on one has.
bool is_beside_another() {
  char* const letter = beside_letter();
  if (letter == nullptr) return false;
  const bool beside = *letter != '0';
  if (!beside) *letter = '1';
  return beside;
}

}  // namespace

void recorder::prepare_environment() { beside_letter(); }

std::unique_ptr<recorder> recorder::from_environment(std::span<const device_profile> devices,
                                                     std::uint32_t connections, bool modelled,
                                                     const std::string& profile,
                                                     const timing_profile* timing) {
  const char* path = std::getenv("STREAMBED_TRACE");
  if (path == nullptr || *path == 0) return nullptr;
  trace::header head;
  head.clock = modelled ? trace::clock_kind::modelled : trace::clock_kind::wall;
  head.connections = connections;
  head.host_bytes = host_bytes();
  head.program = program_name();
  head.profile = profile;
  const bool started_by_other = is_beside_another();
  // In modelled time threads take turns, and the same program gives the same bytes.
  auto out = trace::writer::open(
      path, head, started_by_other ? trace::existing_file::beside : trace::existing_file::replace,
      modelled ? trace::call_order::as_returned : trace::call_order::gathered);
  if (!out) {
    std::fprintf(stderr, "streambed: no trace is written: %s\n", out.message().c_str());
    return nullptr;
  }
  if (const std::string& name = (*out)->path(); !started_by_other && name != path) {
    std::fprintf(stderr, "streambed: %s is being written by another process; the trace is %s\n",
                 path, name.c_str());
  }
  std::vector<device_engines> engines;
  for (const device_profile& p : devices) {
    engines.emplace_back(static_cast<std::uint32_t>(p.async_engines));
    (*out)->device(
        {.name = p.name,
         .multiprocessors = static_cast<std::uint32_t>(p.multiprocessors),
         .threads_per_multiprocessor = static_cast<std::uint32_t>(p.threads_per_multiprocessor),
         .blocks_per_multiprocessor = static_cast<std::uint32_t>(p.blocks_per_multiprocessor),
         .shared_per_multiprocessor = p.shared_per_multiprocessor,
         .registers_per_multiprocessor = p.registers_per_multiprocessor,
         .reserved_shared_per_block = p.reserved_shared_per_block,
         .resident_kernels = static_cast<std::uint32_t>(p.resident_kernels),
         .copy_engines = static_cast<std::uint32_t>(p.async_engines),
         .to_device = timing != nullptr ? rate_of(timing->to_device) : trace::copy_rate{},
         .to_host = timing != nullptr ? rate_of(timing->to_host) : trace::copy_rate{}});
  }
  auto made = std::make_unique<recorder>(std::move(*out), connections);
  made->engines_ = std::move(engines);
  made->modelled_ = modelled;
  return made;
}

recorder::recorder(std::unique_ptr<trace::writer> out, std::uint32_t connections)
    : out_(std::move(out)), one_connection_(connections == 1), self_(++recorders_made) {}

void recorder::close(trace::ending how, bool deterministic, std::uint64_t ns) {
  out_->close(how, deterministic, since(ns));
  if (const std::string why = out_->problem(); !why.empty())
    std::fprintf(stderr, "streambed: the trace stops before the program's end: %s\n", why.c_str());
}

// --- calls

trace::number recorder::new_name(const char* text) {
  const std::lock_guard lock(names_mutex_);
  const trace::number number = out_->name(text);
  names_.keep(text, number);
  return number;
}

void recorder::blocks() {
  const recorded_call& call = present();
  if (call.number == trace::none) return;
  out_->blocks(call.number, {.thread = thread(),
                             .name = name_of(call.name),
                             .place = call.place,
                             .begin = since(call.begin_ns),
                             .blocked_on = call.blocked_on,
                             .behind_clock = call.behind_clock});
}

void recorder::end_call(recorded_thread& thread, std::uint64_t ns, int status) {
  recorded_call& call = thread.call;
  if (call.number == trace::none) return;
  // Most that hand something over are told of already.
  const bool as_told = call.handed_over && status == 0 && call.blocked_ns == 0 &&
                       call.blocked_on == trace::none && thread.asked.count == 0;
  if (!as_told || !out_->returned_as_handed_over(thread.lane, call.number, since(ns))) {
    trace::call_record told = told_of(thread);
    told.end = since(ns);
    told.status = status;
    // Most calls are no questions, and come behind none.
    const bool asks = status == static_cast<int>(status::not_ready) ||
                      (thread.asked.count != 0 && thread.asked.has(call.name));
    if (!asks || !asked_again(thread, told)) out_->returned(thread.lane, call.number, told);
    if (!asks) thread.asked.count = 0;
  }
  // What is asked for outside of calls; the rest is new when the next one begins.
  call.number = trace::none;
  call.name = nullptr;
  call.begin_ns = 0;
}

std::uint32_t recorder::allocated(const allocation& a) {
  memory_changes_.fetch_add(1, std::memory_order_relaxed);
  return out_->allocated(traced(a.kind), a.device.value, a.bytes, since(clock_()),
                         present().number);
}

void recorder::freed(const allocation& a) {
  memory_changes_.fetch_add(1, std::memory_order_relaxed);
  if (a.traced != trace::none) out_->freed(a.traced, since(clock_()), present().number);
}

trace::engine_kind recorder::copy_engine(copy_direction direction) {
  switch (direction) {
    case copy_direction::host_to_device:
      return trace::engine_kind::host_to_device;
    case copy_direction::device_to_host:
      return trace::engine_kind::device_to_host;
    case copy_direction::device_to_device:
    case copy_direction::peer:
      return trace::engine_kind::device_to_device;
    case copy_direction::host_to_host:
      break;
  }
  return trace::engine_kind::host;
}

// --- operations

// An event that is made where another one was has a number of its own.
trace::number recorder::event_of(event_state& event) {
  trace::number known = event.traced_as.load(std::memory_order_relaxed);
  if (known == event_state::no_number)
    event.traced_as.store(known = events_++, std::memory_order_relaxed);
  return known;
}

// Programs use the same addresses again and again.
const std::optional<allocation>& recorder::memory_at(const void* address) {
  // Addresses of allocations differ in few bits.
  constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;
  known_memory& known =
      memory_[(reinterpret_cast<std::uintptr_t>(address) * spread >> 32) % memory_.size()];
  const std::uint64_t now = memory::instance().changes();
  if (known.address != address || known.as_of != now)
    known = {address, now, memory::instance().find(address)};
  return known.what;
}

bool recorder::add_range(const void* address, std::size_t bytes, trace::access how, bool exact) {
  const std::optional<allocation>& a = memory_at(address);
  if (!a || a->traced == trace::none) return false;
  if (bytes == 0) return true;
  const auto offset = static_cast<std::uint64_t>(static_cast<const char*>(address) -
                                                 static_cast<const char*>(a->base));
  if (exact)
    ranges_.push_back({a->traced, offset, bytes, how, true});
  else
    ranges_.push_back({a->traced, offset, a->bytes - offset, how, false});
  return true;
}

// Pageable memory is no allocation of the runtime's. What copies use of it counts as one as far as
// it lies side by side, so that it can be told whether they use the same memory again or other
// memory, and how many pieces there are. Only what begins in one or at its end belongs to it:
// numbers are not given anew, and offsets begin with the first. Two allocations of the heap are
// always apart, by its notes between them.
void recorder::add_pageable(const void* address, std::size_t bytes, trace::access how) {
  constexpr std::size_t most = 4096;  // of a program that copies from ever new places
  if (bytes == 0) return;
  auto found = pageable_.find({address, bytes});
  if (found == pageable_.end()) {
    if (pageable_.size() == most) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(address), end = begin + bytes;
    auto next = side_by_side_.upper_bound(begin);
    auto in = next == side_by_side_.begin() ? side_by_side_.end() : std::prev(next);
    if (in == side_by_side_.end() || in->second.end < begin) {
      const trace::number piece = out_->allocated(trace::memory_kind::pageable, trace::none, bytes,
                                                  since(clock_()), present().number);
      in = side_by_side_.emplace_hint(next, begin, pageable_memory{end, piece});
    }
    in->second.end = std::max(in->second.end, end);
    while (next != side_by_side_.end() && next->second.end <= end) next = side_by_side_.erase(next);
    found =
        pageable_.emplace(std::pair(address, bytes), std::pair(in->second.piece, begin - in->first))
            .first;
  }
  ranges_.push_back({found->second.first, found->second.second, bytes, how, true});
}

void recorder::add_copy_ranges(const copy_operation& c, std::size_t source_bytes,
                               std::size_t destination_bytes) {
  const bool to_host = c.direction == copy_direction::device_to_host;
  const bool from_host = c.direction == copy_direction::host_to_device;
  const bool on_host = c.direction == copy_direction::host_to_host;
  const bool knows_source = add_range(c.source, source_bytes, trace::access::read, true);
  const bool knows_destination =
      add_range(c.destination, destination_bytes, trace::access::write, true);
  if (c.pageable && from_host && !knows_source)
    add_pageable(c.staging ? c.snapshot_of : c.source, source_bytes, trace::access::read);
  if (c.pageable && to_host && !knows_destination)
    add_pageable(c.destination, destination_bytes, trace::access::write);
  if ((!knows_source && !from_host && !on_host) || (!knows_destination && !to_host && !on_host))
    ranges_.push_back(trace::anything);
}

void recorder::add_ranges(const node& n) {
  ranges_.clear();
  const auto span_of = [](std::size_t width, std::size_t height, std::size_t depth,
                          std::size_t pitch, std::size_t slice) {
    return (depth - 1) * slice + (height - 1) * pitch + width;
  };
  if (const auto* c = std::get_if<copy_operation>(&n.what)) {
    if (c->width == 0 || c->height == 0 || c->depth == 0) return;
    add_copy_ranges(
        *c, span_of(c->width, c->height, c->depth, c->source_pitch, c->source_slice),
        span_of(c->width, c->height, c->depth, c->destination_pitch, c->destination_slice));
  } else if (const auto* f = std::get_if<fill_operation>(&n.what)) {
    if (f->width == 0 || f->height == 0 || f->depth == 0) return;
    if (!add_range(f->destination,
                   span_of(f->width * f->element_size, f->height, f->depth, f->pitch, f->slice),
                   trace::access::write, true))
      ranges_.push_back(trace::anything);
  } else if (const auto* k = std::get_if<kernel_operation>(&n.what)) {
    add_kernel_ranges(*k);
  }
}

void recorder::add_kernel_ranges(const kernel_operation& launch) {
  const abi::kernel_info& info = *launch.kernel;
  bool is_complete = info.reaches_other_memory == 0;
  for (std::uint32_t i = 0; i < info.param_count; ++i) {
    const abi::param& p = info.params[i];
    if ((p.flags & abi::param_is_pointer) == 0 || p.size != sizeof(void*)) continue;
    const int how = ((p.flags & abi::param_is_read) != 0 ? 1 : 0) |
                    ((p.flags & abi::param_is_written) != 0 ? 2 : 0);
    if (how == 0) continue;
    const void* address = nullptr;
    std::memcpy(&address, launch.params.data() + p.offset, sizeof address);
    if (address != nullptr && !add_range(address, 1, static_cast<trace::access>(how), false))
      is_complete = false;
  }
  for (const abi::variable& one : std::span(info.constants, info.constant_count)) {
    if (!add_range(one.address, one.bytes, trace::access::read, true)) is_complete = false;
  }
  if (!is_complete) ranges_.push_back(trace::anything);
}

void recorder::describe_kernel(const kernel_operation& launch, const kernel_shape& shape,
                               trace::submitted_record& r) {
  r.name = name_of(launch.kernel->name);
  r.cooperative = launch.cooperative;
  r.grid[0] = launch.grid.x, r.grid[1] = launch.grid.y, r.grid[2] = launch.grid.z;
  r.block[0] = launch.block.x, r.block[1] = launch.block.y, r.block[2] = launch.block.z;
  r.shared_bytes = shape.shared_bytes;
  r.registers = shape.registers;
}

trace::memory_kind recorder::host_memory_of(const copy_operation& c) {
  if (c.direction == copy_direction::device_to_device || c.direction == copy_direction::peer)
    return trace::memory_kind::device;  // has none
  const void* host = c.direction == copy_direction::device_to_host ? c.destination : c.source;
  const auto& found = memory_at(host);
  return !c.pageable && found ? traced(found->kind) : trace::memory_kind::pageable;
}

trace::submitted_record recorder::describe(const node& n, const stream_notes& s) {
  const recorded_call& call = present();
  trace::submitted_record r;
  r.kind = kind_of(n);
  r.engine = n.as.kind == command_kind::copy ? copy_engine(n.as.direction) : engine_of(n.as.kind);
  r.direction = n.as.direction;
  r.in_graph = n.as.order == command_order::free;
  r.priority = n.as.priority;
  r.device = n.device.value;
  r.stream = s.number;
  r.call = n.call != trace::none ? n.call : call.number;
  r.called = since(n.called_ns != 0 ? n.called_ns : n.times.queued);
  r.queued = since(n.times.queued);
  // A graph's head says with them where it stands.
  const bool head = n.as.kind == command_kind::graph_head;
  r.bytes = head ? 0 : n.as.bytes;
  if (head) r.direction = copy_direction::host_to_device;
  if (const auto* k = std::get_if<kernel_operation>(&n.what)) {
    describe_kernel(*k, n.as.kernel, r);
  } else if (const auto* c = std::get_if<copy_operation>(&n.what)) {
    if (c->direction == copy_direction::peer) r.peer = c->peer.value;
    r.host_memory = host_memory_of(*c);
  } else if (const auto* e = std::get_if<record_operation>(&n.what)) {
    if (e->event) r.event = event_of(*e->event);
  } else if (const auto* w = std::get_if<wait_operation>(&n.what)) {
    const trace::number back = record_before(n);
    if (back != trace::none)
      r.record = n.traced_as - back;
    else if (const node* found = commands_.find(w->record.value))
      r.record = found->recorded.number;
    else
      r.event = w->event;
  } else if (std::holds_alternative<foreign_wait_operation>(n.what)) {
    r.name = name_of("an event of another process");
  } else if (const auto* m = std::get_if<marker_operation>(&n.what)) {
    r.bytes = m->bytes;
    if (m->role == marker_role::graph_begin) ++graphs_;
    if (m->role == marker_role::graph_begin || m->role == marker_role::graph_end)
      r.graph = graphs_ - 1;
  }
  if (r.in_graph && graphs_ != 0) r.graph = graphs_ - 1;
  r.after = after_;
  r.ranges = ranges_;
  return r;
}

// How far before a wait its record has its number, if it is known here.
trace::number recorder::record_before(const submission& n) const {
  const auto* w = std::get_if<wait_operation>(&n.what);
  const std::uint32_t record = w != nullptr ? records_.find(w->record.value) : trace::none;
  return record < n.traced_as ? n.traced_as - record : trace::none;
}

operation_signs recorder::signs_of(const submission& n) const {
  // Both only grow.
  return {n,
          memory_changes_.load(std::memory_order_relaxed) +
              stream_changes_.load(std::memory_order_relaxed),
          record_before(n)};
}

void recorder::hand_over(node& n) {
  recorded_thread& thread = recorded_thread::own();
  recorded_call& call = thread.call;
  const bool has_call = call.number != trace::none && call.done == trace::none;
  n.traced_as = out_->begin_operations();
  const trace::number like = has_call ? told_.find(signs_of(n)) : trace::none;
  if (like == trace::none) return;
  call.done = n.traced_as;
  call.like = like;
  call.handed_over = true;
  n.told = out_->hand_over(thread.lane, call.number, told_of(thread));
  if (n.told) return;
  call.done = call.like = trace::none;
  call.handed_over = false;
}

// The first of its kind, or one that has no call: the whole of it.
void recorder::tell_submitted(node& n, const stream_notes& s, std::span<const command_id> after,
                              bool first_use) {
  after_.clear();
  for (const command_id id : after)
    if (const node* found = commands_.find(id.value)) after_.push_back(found->recorded.number);
  add_ranges(n);
  const bool posted = n.traced_as != trace::none;
  if (!posted) n.traced_as = out_->begin_operations();
  trace::submitted_record told = describe(n, s);
  told.first_use = first_use;
  out_->submitted(n.traced_as, told);
  if (posted) told_.keep(signs_of(n), n.traced_as);
}

// What most are: told of by their call, and behind nothing but what is in their stream.
void recorder::submitted(node& n, std::span<const command_id> after, const kernel_load& load) {
  stream_notes& s = streams_[n.as.stream.value];
  if (!n.told || s.kind != stream_kind::non_blocking || !after.empty() || !load.behind.empty() ||
      n.as.order != command_order::in_stream || n.as.kind == command_kind::event_wait)
    return submitted_with_others(n, s, after, load);
  n.recorded.number = n.traced_as;
  commands_.add(n.id.value, &n);
  comes_behind(n, s);
}

void recorder::submitted_with_others(node& n, stream_notes& s, std::span<const command_id> after,
                                     const kernel_load& load) {
  if (!n.told) tell_submitted(n, s, after, load.first);
  n.recorded.number = n.traced_as;
  commands_.add(n.id.value, &n);

  if (n.as.order == command_order::in_stream) depend_on_stream(n, s);
  if (n.as.kind == command_kind::event_wait)
    depend(n, commands_.find(n.as.record.value), trace::wait_cause::event);
  const auto* marker = std::get_if<marker_operation>(&n.what);
  const bool allocates = marker != nullptr && marker->role == marker_role::allocate;
  const bool launch = n.as.kind == command_kind::graph_head;
  const bool graph =
      launch || n.as.order == command_order::free || n.as.kind == command_kind::marker;
  for (const command_id id : after) {
    node* const found = commands_.find(id.value);
    // A launch behind another one of the same graph in its stream is behind it in any case.
    if (launch && found != nullptr && found->recorded.number == n.recorded.before) continue;
    depend(n, found,
           allocates ? trace::wait_cause::allocation
           : graph   ? trace::wait_cause::graph_edge
                     : trace::wait_cause::event);
  }
  // What holds it for another reason holds it for that one.
  for (const command_id id : load.behind) {
    node* const found = commands_.find(id.value);
    if (found == nullptr || found->recorded.number == n.recorded.before) continue;
    if (std::none_of(n.held.waits.begin(), n.held.waits.end(),
                     [&](const auto& w) { return w.on == found->held.note; }))
      depend(n, found, trace::wait_cause::loading);
  }
}

// With everything that it waited for, or where there is no room for a short one.
void recorder::tell_finished(node& n, const trace::plain_end& told) {
  trace::edge to_before;
  std::span<const trace::edge> edges;
  if (told.before != trace::none) {
    to_before = {.from = told.before,
                 .call = trace::none,
                 .cause = trace::wait_cause::stream_order,
                 .until = told.ready};
    edges = {&to_before, 1};
  } else if ((n.recorded.parts & recorded_node::in_edges) != 0) {
    edges = {n.held.edges.data(), n.held.edges.size()};
  }
  out_->ended(n.recorded.number, {.ready = told.ready,
                                  .started = told.started,
                                  .ended = told.ended,
                                  .waits = edges,
                                  .status = n.recorded.status,
                                  .queue = told.queue});
}

void recorder::tell_needs(const node& n) {
  const auto& sums = n.times.needs;
  if (sums.blocks <= 0) return;
  constexpr double million = 1e6, most = 4e9;
  const auto part = [&](double sum) {
    return static_cast<std::uint32_t>(std::clamp(sum / sums.alone * million, 0.0, most));
  };
  out_->needs(n.recorded.number,
              {.alone = static_cast<std::uint64_t>(sums.alone / sums.blocks + 0.5),
               .arithmetic = part(sums.arithmetic),
               .memory = part(sums.memory)});
}

void recorder::finished(node& n, std::uint64_t ns) {
  recorded_node& r = n.recorded;
  if (r.number == trace::none) return;
  if (!r.began) started(n, ns);
  const std::uint64_t begin = std::clamp(n.times.begin, n.times.ready, std::max(ns, n.times.ready));
  const std::uint64_t ended = std::max(ns, begin);
  const bool only_before = (r.parts & recorded_node::waited_for_before) != 0;
  const trace::plain_end told{.ready = since(n.times.ready),
                              .started = since(begin),
                              .ended = since(ended),
                              .before = only_before ? r.before : trace::none,
                              .queue = r.queue};
  if ((r.parts & recorded_node::in_edges) != 0 || r.status != 0 ||
      !out_->ended_plainly(r.number, told))
    tell_finished(n, told);
  if (modelled_) tell_needs(n);
  last_finished_ = r.number;
  if (n.as.kind == command_kind::kernel) {
    last_on_engine(n) = {r.number, ended};
    leaves_device(n);
  } else if (n.as.kind == command_kind::copy || n.as.kind == command_kind::host_function) {
    last_on_engine(n) = {r.number, ended};
  }
  if (n.as.order == command_order::in_stream) over_in_stream(n, ended);
  commands_.remove(n.id.value);
  if ((r.parts & recorded_node::has_note) != 0) {
    notes_[n.held.note].ended = ended;
    drop(n.held.note);
  }
  r.number = trace::none;  // the rest is new with the next command
}

}  // namespace sb::engine
