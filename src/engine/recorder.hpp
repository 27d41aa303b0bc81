// Writes the trace of a run: what the program calls, what comes into its streams, and why it waits.
//
// The scheduler says when something may start, not why it could not before; its rules are few
// enough to follow beside it. An operation tells the next one of its stream when it is over; one
// that others wait for as well has a note, as long as one of them may look at it.
//
// Thread safety: calls (begin_call to end_call, allocated, freed) and hand_over from any thread;
// the rest belongs to whoever holds the engine's lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/memory.hpp"
#include "engine/node.hpp"
#include "engine/recorded_call.hpp"
#include "engine/recorder_tables.hpp"
#include "engine/told_operations.hpp"
#include "model/device_profile.hpp"
#include "model/stream_rules.hpp"
#include "model/timing_profile.hpp"
#include "sched/scheduler.hpp"
#include "trace/writer.hpp"

namespace sb::engine {

// Whether a kernel that could start had to wait until blocks of others were over.
enum class room : std::uint8_t { found, waited_for };

class recorder final : public allocation_observer {
 public:
  // The trace that STREAMBED_TRACE names, or null. A file that cannot be written is told once, and
  // the program goes on without a trace.
  static std::unique_ptr<recorder> from_environment(std::span<const device_profile> devices,
                                                    std::uint32_t connections, bool modelled,
                                                    const std::string& profile,
                                                    const timing_profile* timing);
  // Adds to the environment what from_environment() changes there in place: before there can be
  // threads that read it.
  static void prepare_environment();
  explicit recorder(std::unique_ptr<trace::writer> out, std::uint32_t connections);

  [[nodiscard]] trace::writer& out() { return *out_; }
  void start_clock(std::function<std::uint64_t()> clock) {
    clock_ = std::move(clock);
    begin_ns_ = clock_();
  }

  // Where operations that are over within their call would have stood.
  // `first` is one of all nodes.
  void look_at(const sched::scheduler& queues, node* const& first) {
    queues_ = &queues;
    first_ = &first;
  }

  // --- calls
  static recorded_call& present() { return recorded_thread::own().call; }  // of the calling thread
  void begin_call(recorded_thread& thread, const char* name, std::uint64_t ns) {
    if (thread.recorder != self_) adopt(thread);
    // What asks once more may be a part of the same call.
    const asked_questions& asked = thread.asked;
    const bool again = asked.count != 0 && asked.call != trace::none && asked.has(name);
    thread.call = {.number = again ? asked.call : out_->begin_call(),
                   .name = name,
                   .begin_ns = ns,
                   .behind_clock = std::exchange(thread.looked_at_clock, false)};
  }
  void call_place(recorded_thread& thread, const char* file, std::uint32_t line) {
    if (file == nullptr) return;
    recorded_thread::known_place& at =
        thread.places[(reinterpret_cast<std::uintptr_t>(file) >> 3 ^ line) % thread.places.size()];
    if (at.file != file || at.line != line) at = {file, line, out_->place(file, line)};
    thread.call.place = at.place;
  }
  void blocks();  // the call is about to wait
  // In modelled time operations run within the calls of a thread, which may not come back from one:
  // that which `operation` runs in now, if none any more.
  void runs_in_call(trace::number operation);
  void end_call(recorded_thread& thread, std::uint64_t ns, int status);
  // allocation_observer
  std::uint32_t allocated(const allocation& a) override;
  void freed(const allocation& a) override;

  // --- operations
  void add_stream(stream_id id, device_id device, stream_kind kind, int priority);
  [[nodiscard]] trace::number number_of(stream_id id) const { return streams_[id.value].number; }
  // Before the calling thread gives a node away: gives it its number, and tells of it here, when it
  // is as one before it, so that the engine's threads need not.
  void hand_over(node& n);
  // It has its command now, and waits for it may be handed over.
  void can_be_awaited(const node& n) {
    if (n.traced_as != trace::none) records_.keep(n.id.value, n.traced_as);
  }
  // A kernel is loaded at its first use: what its launch comes after for that, and whether it is
  // that use.
  struct kernel_load {
    std::span<const command_id> behind;
    bool first = false;
  };
  void submitted(node& n, std::span<const command_id> after, const kernel_load& load);
  // sched::action_kind::entered, admitted and left. 0: it did not wait for its connection.
  void entered_queue(node& n, command_id behind, std::uint64_t waited_until);
  void left_queue(node& n, std::uint64_t ns);
  // The scheduler lets it begin; kernels: their blocks may.
  void started(node& n, std::uint64_t ns, room on_device = room::found);
  void finished(node& n, std::uint64_t ns);
  [[nodiscard]] trace::number last_finished() const { return last_finished_; }
  void asks_for(stream_id stream);
  void asks_for(command_id command);
  // The same for cudaEventQuery and cudaStreamQuery: other calls look too, at what nobody asked
  // for.
  template <class What>
  void looks_at(What what) {
    const char* name = present().name;
    if (name != nullptr && std::string_view(name).find("Query") != std::string_view::npos)
      asks_for(what);
  }
  // What was over within the present call (recorder_at_once.cpp): a kernel; a copy of one row; a
  // record of an event, or a wait for it that orders nothing, because it was never recorded or is
  // complete.
  void done_at_once(stream_id stream, std::int8_t priority, const kernel_operation& launch,
                    status outcome);
  void done_at_once(stream_id stream, std::int8_t priority, const copy_operation& copy);
  void done_at_once(stream_id stream, event_state& event, trace::operation_kind kind);
  // A graph of kernels (recorder_graph.cpp): when the first began, and when each was over; with an
  // error, that of the last.
  void graph_done_at_once(stream_id stream, std::int8_t priority, std::span<const graph_item> items,
                          std::span<const std::uint64_t> times, status outcome);

  // --- annotations, from any thread
  struct annotation_text {
    std::string_view domain, category, text;
    std::uint32_t colour = 0;
  };
  trace::number begin_range(const annotation_text& what);
  void end_range(trace::number range);
  void mark(const annotation_text& what);
  trace::number thread() { return number_of(recorded_thread::own()); }  // of the calling one
  trace::number thread(recorded_thread& one) { return number_of(one); }
  void stuck(const trace::stuck_thread& what) { out_->stuck(what); }
  // The calling thread waited for what `how` says.
  void thread_waited(trace::thread_wait how, std::uint64_t begin_ns, std::uint64_t end_ns);
  void name_thread(std::string_view name);                    // the calling one
  void name_stream(stream_id stream, std::string_view name);  // under the engine's lock

  // What is pending when the recording ends is told with what it waits for; `first` is one of all
  // nodes.
  void tell_pending(node* first, const sched::scheduler& queues);
  void tell_call_under_way();  // that in which an operation runs, if there is one
  void close(trace::ending how, bool deterministic, std::uint64_t ns);

 private:
  static constexpr std::uint32_t no_note = recorded_waits::no_note;
  struct note {
    trace::number operation = trace::none;
    std::uint64_t ended = trace::never;
    std::uint64_t left_queue = trace::never;  // when others waited for that
    std::uint32_t references = 0;
  };
  struct stream_notes {
    trace::number number = trace::none;
    std::uint32_t device = 0;
    node* last = nullptr;                     // while it is pending
    trace::number last_number = trace::none;  // of the last, also when it is over
    std::uint64_t last_ended = 0;             // when the last that was pending was over
    trace::number done = trace::none;         // behind it, when its number is higher
    stream_kind kind = stream_kind::blocking;
    bool listed = false;  // in busy_
  };
  // What left its hardware queue and may be over.
  struct left_note {
    std::uint64_t command = command_id::none_value;
    std::uint64_t ns = 0;
    trace::number operation = trace::none;
  };
  // What an engine did last.
  struct last_work {
    trace::number operation = trace::none;
    std::uint64_t ended = trace::never;
  };
  // What tells an operation that is done within its call from another one.
  struct likeness {
    const void* what = nullptr;  // the kernel, the event, the copy's destination
    trace::number stream = trace::none;
    trace::operation_kind kind = trace::operation_kind::marker;
    std::int8_t priority = 0;
    hardware_queue queue;
    extent3 grid, block;
    std::uint64_t memory = 0;  // recorder::memory_changes_; of an event: its number
    std::array<const void*, 8> pointers{};
    std::array<std::uint16_t, 8> offsets{};  // where in the kernel's parameters they are
    std::size_t pointer_count = 0;
    trace::number operation = trace::none;  // the last that was told of as a whole

    [[nodiscard]] bool is(const kernel_operation& launch) const;
    [[nodiscard]] bool has_pointers_of(const kernel_operation& launch) const;
    void keep_pointers_of(const kernel_operation& launch);
  };
  struct graph_part {
    likeness kernel;
    bool is_marker = false;
    std::vector<std::uint32_t> after;
  };
  struct graph_likeness {
    trace::number stream = trace::none;
    std::int8_t priority = 0;
    hardware_queue queue;
    std::uint64_t memory = 0;
    trace::number first = trace::none;  // the last that was told of as a whole
    std::vector<graph_part> parts;

    [[nodiscard]] bool is(std::span<const graph_item> items) const;
    void keep(std::span<const graph_item> items);
  };
  // What runs operations one at a time, or as many as there is room for, on one device.
  struct device_engines {
    static constexpr auto copy_directions =
        static_cast<std::size_t>(copy_direction::host_to_host) + 1;
    explicit device_engines(std::uint32_t copy_engines);
    static constexpr std::uint8_t multiprocessors = 0, host_functions = 1, copies = 2;
    std::array<std::uint8_t, copy_directions> of_copy;  // by direction
    std::array<last_work, copies + copy_directions> last;
  };

  trace::number number_of(recorded_thread& thread) {
    if (thread.recorder != self_ || thread.number == trace::none) know(thread);
    return thread.number;
  }
  // recorder_annotations.cpp: gives it a number; forgets what another recorder knew of it.
  void know(recorded_thread& thread);
  void adopt(recorded_thread& thread);
  trace::annotation_record annotation(const annotation_text& what);
  trace::call_record told_of(recorded_thread& thread) {
    const recorded_call& call = thread.call;
    return {.thread = number_of(thread),
            .name = name_of(call.name),
            .place = call.place,
            .begin = since(call.begin_ns),
            .end = trace::never,
            .blocked = call.blocked_ns,
            .blocked_on = call.blocked_on,
            .done = call.done,
            .like = call.like,
            .handed_over = call.handed_over,
            .behind_clock = call.behind_clock};
  }
  [[nodiscard]] trace::number record_before(const submission& n) const;
  [[nodiscard]] operation_signs signs_of(const submission& n) const;
  std::uint32_t new_note(trace::number operation) {
    std::uint32_t at = 0;
    if (free_notes_.empty()) {
      at = static_cast<std::uint32_t>(notes_.size());
      notes_.emplace_back();
    } else {
      at = free_notes_.back();
      free_notes_.pop_back();
    }
    notes_[at] = {.operation = operation, .references = 1};
    return at;
  }
  void drop(std::uint32_t note) {
    if (note != no_note && --notes_[note].references == 0) free_notes_.push_back(note);
  }
  std::uint32_t note_of(node& n) {
    if ((n.recorded.parts & recorded_node::has_note) == 0) {
      n.recorded.parts |= recorded_node::has_note;
      n.held.note = new_note(n.recorded.number);
      notes_[n.held.note].left_queue = n.held.left_queue;
    }
    return n.held.note;
  }
  void depend(node& n, node* on, trace::wait_cause cause) {
    if (on == nullptr || on == &n) return;
    const std::uint32_t note = note_of(*on);
    ++notes_[note].references;
    n.held.waits.push_back({note, cause});
    n.recorded.parts |= recorded_node::in_held;
  }
  void submitted_with_others(node& n, stream_notes& s, std::span<const command_id> after,
                             const kernel_load& load);
  void tell_finished(node& n, const trace::plain_end& told);
  void tell_needs(const node& n);
  void depend_on_stream(node& n, stream_notes& s);
  void comes_behind(node& n, stream_notes& s) {
    if (s.last != nullptr) {
      n.recorded.before = s.last->recorded.number;
      s.last->recorded.follower = &n;
    } else if (s.last_ended > n.times.queued && !modelled_) {
      // It was over when this one was taken in, and not when it was called.
      n.recorded.before = s.last_number;
      n.recorded.before_ended = s.last_ended;
    }
    s.last = &n;
    s.last_number = n.recorded.number;
  }
  void depend_on_blocking_streams(node& n, std::uint32_t device);
  last_work& last_on_engine(const node& n);
  [[nodiscard]] trace::number holder_of_engine(const node& n, std::uint64_t from, room on_device);
  void add_edge(node& n, trace::number from, trace::wait_cause cause, std::uint64_t until) {
    n.held.edges.push_back({.from = from, .call = trace::none, .cause = cause, .until = until});
    n.recorded.parts |= recorded_node::in_edges;
  }
  void add_edge_to_before(node& n) {
    add_edge(n, n.recorded.before, trace::wait_cause::stream_order, since(n.recorded.before_ended));
  }
  std::uint64_t held_until(node& n, std::uint64_t& ready);
  void holds_device(node& n) {
    if (n.device.value >= large_.size()) large_.resize(n.device.value + 1);
    large_kernel& known = large_[n.device.value];
    const std::uint64_t threads = n.as.kernel.blocks * n.as.kernel.threads_per_block;
    if (known.running == nullptr || threads > known.threads) known = {&n, threads};
  }
  void leaves_device(const node& n) {
    if (large_kernel& known = large_[n.device.value]; known.running == &n) known.running = nullptr;
  }
  void over_in_stream(node& n, std::uint64_t ns) {
    if (node* const f = n.recorded.follower; f == nullptr) {
      if (stream_notes& s = streams_[n.as.stream.value]; s.last == &n) {
        s.last = nullptr;
        s.last_ended = ns;
      }
    } else if (f->recorded.before == n.recorded.number) {  // it was not dropped with its device
      f->recorded.before_ended = ns;
    }
  }
  bool tell_waits(node& n);
  void tell_blocks(const node& n, const sched::scheduler& queues);
  trace::memory_kind host_memory_of(const copy_operation& c);
  void tell_submitted(node& n, const stream_notes& s, std::span<const command_id> after,
                      bool first_use);
  trace::submitted_record describe(const node& n, const stream_notes& s);
  [[nodiscard]] static trace::engine_kind copy_engine(copy_direction direction);
  bool asked_again(recorded_thread& thread, const trace::call_record& now);
  void describe_kernel(const kernel_operation& launch, const kernel_shape& shape,
                       trace::submitted_record& r);
  likeness& like(const void* what, trace::number stream);
  trace::number repeat(recorded_call& call, const likeness& known);
  trace::number tell_whole(trace::submitted_record& r, hardware_queue queue, status outcome);
  [[nodiscard]] hardware_queue next_queue(stream_id stream, queue_class queue) const {
    if (queues_ == nullptr) return {};
    if (queue == queue_class::compute && *first_ == nullptr) return {queue, 0};  // all are free
    return queues_->next_queue(stream, queue);
  }
  void graph_edges(const graph_item& item, std::size_t at, trace::number first);
  void graph_end_edges(std::span<const graph_item> done, trace::number first);
  void tell_graph(const stream_notes& s, std::int8_t priority, std::span<const graph_item> items,
                  hardware_queue queue, status outcome, trace::number first);
  void add_ranges(const node& n);
  void add_kernel_ranges(const kernel_operation& launch);
  void add_copy_ranges(const copy_operation& c, std::size_t source_bytes,
                       std::size_t destination_bytes);
  void add_pageable(const void* address, std::size_t bytes, trace::access how);
  // False when the memory is not known.
  bool add_range(const void* address, std::size_t bytes, trace::access how, bool exact);
  struct known_memory {
    const void* address = nullptr;
    std::uint64_t as_of = ~std::uint64_t{0};  // memory::changes
    std::optional<allocation> what;
  };
  const std::optional<allocation>& memory_at(const void* address);
  trace::number name_of(const char* text) {
    const std::uint32_t known = names_.find(text);
    return known != name_cache::unknown ? known : new_name(text);
  }
  trace::number new_name(const char* text);
  trace::number event_of(event_state& event);
  [[nodiscard]] trace::nanoseconds since(std::uint64_t ns) const {
    return ns > begin_ns_ ? ns - begin_ns_ : 0;
  }

  // A call in which an operation runs.
  struct call_under_way {
    trace::number call = trace::none;
    trace::call_record told;
  };

  const std::unique_ptr<trace::writer> out_;
  bool modelled_ = false;
  const bool one_connection_;  // otherwise streams change theirs
  const sched::scheduler* queues_ = nullptr;
  node* const* first_ = nullptr;
  const std::uint64_t self_;  // no other recorder of this process has or had it
  std::function<std::uint64_t()> clock_;
  std::uint64_t begin_ns_ = 0;
  std::atomic<std::uint64_t> memory_changes_{0};
  std::atomic<std::uint64_t> stream_changes_{0};
  told_operations told_;
  record_numbers records_;
  std::mutex names_mutex_;
  name_cache names_;  // written under names_mutex_
  std::mutex under_way_mutex_;
  call_under_way under_way_;  // guarded by under_way_mutex_

  // Guarded by the engine's lock.
  std::vector<note> notes_;
  std::vector<std::uint32_t> free_notes_;
  std::vector<stream_notes> streams_;  // by id; some have none
  std::vector<std::uint32_t> busy_;    // blocking streams whose last operation may be pending
  std::map<std::uint32_t, std::uint32_t> legacy_;  // by device
  struct pageable_memory {
    std::uintptr_t end = 0;
    trace::number piece = trace::none;
  };
  std::map<std::uintptr_t, pageable_memory> side_by_side_;  // by its first byte
  // What copies used: the piece that it is in, and where.
  std::map<std::pair<const void*, std::size_t>, std::pair<trace::number, std::uint64_t>> pageable_;
  id_ring<node> commands_;               // pending ones
  std::vector<device_engines> engines_;  // by device
  // By device: of the kernels that run, the one with most threads. Another one may wait for room
  // while it still runs, because its blocks end one after the other.
  struct large_kernel {
    node* running = nullptr;
    std::uint64_t threads = 0;
  };
  std::vector<large_kernel> large_;
  std::array<left_note, most_connections> left_;  // the last ones, in turn
  std::size_t left_count_ = 0;
  std::array<known_memory, 64> memory_;  // by address
  std::array<likeness, 256> likenesses_;
  std::array<graph_likeness, 16> graphs_known_;
  std::vector<trace::nanoseconds> ends_;  // of the parts of the present graph
  std::vector<trace::edge> edges_;        // of the present part
  trace::number events_ = 0;              // that have a number
  std::vector<trace::byte_range> ranges_;
  std::vector<trace::number> after_;
  trace::number last_finished_ = trace::none;
  trace::number graphs_ = 0;  // launched so far
};

}  // namespace sb::engine
