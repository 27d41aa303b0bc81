// The scheduler's state and the steps that change it. Not for use outside this room.
//
// A command goes through: waiting (for commands it depends on) -> ready (in the list of commands to
// dispatch) -> held (not yet at the head of its hardware queue) -> queued (in the line of its
// engine, or of the device's kernels) -> started. Then its place is given back; a complete command
// exists only as an id that is not found any more. A gathering has the place of a command, but no
// id and no stream; its payload is its number.
//
// Nothing here is proportional to the number of streams, of pending commands or of blocks, except:
// a legacy command looks once at each blocking stream that got work since the last one, and a wait
// for a device at each stream that is busy.
//
// Files: streams.cpp (streams, dependencies), queues.cpp (hardware queues), engines.cpp (copy
// engines, host functions), residency.cpp (kernels and blocks), waits.cpp (the host's waits).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "model/command.hpp"
#include "model/occupancy.hpp"
#include "model/stream_rules.hpp"
#include "sched/device_time.hpp"
#include "sched/id_table.hpp"
#include "sched/scheduler.hpp"
#include "sched/slab.hpp"

namespace sb::sched {

enum class phase : std::uint8_t { waiting, ready, held, queued, started };

enum class engine_class : std::uint8_t { host_to_device, device_to_host, device_to_device, none };
inline constexpr std::size_t engine_count = 3;

// One line of the processor's cache.
struct alignas(64) pending_command {
  std::uint64_t id;
  std::uint64_t payload;
  std::uint64_t blocks;  // kernels; host functions: when they were submitted
  index stream;
  std::uint32_t unmet;  // dependencies that are not complete
  index edges;          // the last of a ring of edges to what waits for this; see edge
  index next_in_stream;
  index queue_next;            // in its hardware queue
  index link;                  // in one list at a time; a resident kernel: its entry there
  std::uint32_t shared_bytes;  // kernels
  std::uint16_t threads_per_block;
  std::uint16_t device;
  std::uint8_t registers;
  std::uint8_t level;  // 0 goes first
  command_kind kind;
  engine_class engine;
  queue_class queue;
  phase at;
  std::uint8_t copy_queue;  // of those: its number, once it has come there
  bool cooperative : 1;
  bool in_stream : 1;
  bool takes_entry : 1;       // in its queue; see entry_of
  bool behind_crowd : 1;      // it, or what it depends on, had to wait for a connection
  bool depends_on_crowd : 1;  // in the crowd: on others there
};
static_assert(sizeof(pending_command) == 64);
// Of one that takes an entry: a graph's is among the kernels, wherever it stands.
[[nodiscard]] inline std::size_t entry_queue(const pending_command& c) {
  const bool graph = c.kind == command_kind::graph_head;
  return static_cast<std::size_t>(graph ? queue_class::compute : c.queue);
}

// Something waits for a command: another command, or a wait of the host. A command's edges form a
// ring, entered at its end, so that both ends are at hand.
struct edge {
  index target;
  index link;
  bool is_waiter;
};

struct waiter {
  std::uint64_t id;
  std::uint32_t unmet;  // commands; for room: the limit
  index link;
  queue_class queue = queue_class::none;  // for room
};

// A list through `link`, first in first out.
struct line {
  index head = none;
  index tail = none;
  [[nodiscard]] bool empty() const { return head == none; }
};

// Entries of a connection's queues that are taken, and the calls that wait for one.
struct entry_places {
  std::array<std::uint32_t, queues_per_connection> pending{};  // by queue_class
  index waiting = none;                                        // waiters
};

inline constexpr std::uint8_t no_connection = 0xff;

struct stream_state {
  std::uint64_t legacy_seen;  // the last legacy command that this stream already waits for
  index last, last_work;      // pending ones; none when complete
  std::uint32_t pending, pending_work;
  entry_places entries;                // with one connection: the device's
  index active_previous, active_next;  // see device_state::active
  index busy_previous, busy_next;      // see device_state::busy
  index link;
  std::uint16_t device;
  // While work is pending; see queues.cpp.
  std::uint8_t connection;
  std::array<std::uint8_t, 2> copy_queues;  // to the device, from it: where the next copy goes
  stream_kind kind;
  queue_class last_queue;
  bool active, destroyed;
};

// What a block takes of the device.
struct block_charge {
  std::uint32_t threads, shared_bytes, registers;
  std::uint32_t most_at_once;  // blocks of this shape on the device
  // 1 when a block takes more than half of a multiprocessor's: then no two of them share one.
  std::uint32_t wide_shared, wide_registers;
};

struct resident_kernel {
  std::uint64_t to_grant;
  std::uint64_t running;  // granted and not done
  block_charge charge;
  index command;
  index link;
  bool cooperative;
};

inline constexpr std::size_t priority_levels = 8;
inline constexpr int first_priority = -5;

// Lines of copies that are ready: of each queue of copies, to the device and from it, and of what
// stands in none of them.
inline constexpr std::size_t copy_lines = 2 * most_connections + 1;
inline constexpr std::size_t no_queue_line = copy_lines - 1;

struct copy_engine {
  std::array<line, copy_lines> lines;
  std::uint64_t ready = 0;    // bits: queues whose line is not empty
  std::uint32_t waiting = 0;  // commands there
  std::size_t last = 0;       // the queue that it works off
  bool busy = false;
};

// A stream that had to take a connection which another one had.
struct connection_sharer {
  index stream;
  std::uint64_t since;
};

struct device_state {
  device_limits limits;
  multiprocessor_limits multiprocessor;
  index legacy = none;
  std::uint32_t pending_work = 0;
  std::uint32_t blocking_work = 0;  // of these, in the legacy stream and in blocking ones
  // Blocking streams that got work since the last legacy command: the ones that the next must wait
  // for. Earlier work is behind that last legacy command already.
  index active = none;
  index busy = none;  // streams with pending work

  std::vector<line> queues;             // through queue_next; by queue_class, then by connection
  entry_places entries;                 // of the one connection, if there is but one
  std::uint32_t connections_used = 0;   // bits: streams have work in it
  std::uint32_t connections_stuck = 0;  // bits: something stands in its compute queue
  std::uint32_t connection_turn = 0;    // where the next search begins
  // Queues of copies, to the device and from it: the one that is taken next, and the stream that
  // took each last, while it has work.
  std::array<std::uint32_t, 2> copy_turns{};
  std::array<std::array<index, most_connections>, 2> copy_owners;
  std::array<std::uint32_t, most_connections> streams_in{};
  std::deque<connection_sharer> sharers;  // in the order in which they came; some are no more
  line crowd;                             // through queue_next: wait for a connection
  std::array<std::uint64_t, most_connections> last_left{};  // ids; with tells_queues
  std::array<copy_engine, engine_count> copy_engines;

  std::array<line, priority_levels> kernels;   // ready ones that are not resident
  std::array<line, priority_levels> granting;  // resident ones with blocks to grant
  std::uint32_t kernels_mask = 0, granting_mask = 0;
  std::uint32_t resident = 0;
  std::uint32_t free_threads = 0, free_blocks = 0, free_shared = 0, free_registers = 0;
  std::uint32_t free_wide_shared = 0, free_wide_registers = 0;  // places for wide blocks
  bool touched = false;                                         // arbitration is due

  kernel_shape last_shape{.blocks = 0, .threads_per_block = 0};  // charge_of's memory
  block_charge last_charge{};
};

struct scheduler::impl {
  explicit impl(machine m);

  // streams.cpp
  stream_id create_stream(device_id device, stream_kind kind, int priority);
  void destroy_stream(stream_id id);
  command_id submit(const command& c, std::span<const command_id> after, gathering and_after);
  gathering gather(std::span<const command_id> all);
  [[nodiscard]] bool done(gathering all) const;
  [[nodiscard]] bool enqueues_nothing(const command& wait, std::span<const command_id> after) const;
  void depend(index command, index on);  // on is pending
  void depend_on_stream(index command, stream_state& s);
  [[nodiscard]] bool clear(stream_id id) const;
  void count(const pending_command& c, stream_state& s);
  void finish(index command);
  void uncount(index command, const pending_command& c, stream_state& s);
  void resolve(index command, index by);
  void release_edges(index command);
  void activate(stream_state& s, index stream);
  void deactivate(stream_state& s);
  void release_if_drained(index stream);

  // queues.cpp
  [[nodiscard]] std::size_t place_of(std::uint32_t which, queue_class queue) const {
    const std::size_t before = queue == queue_class::compute ? 0 : connections;
    const std::size_t between =
        queue == queue_class::device_to_host ? queues_of(queue, connections) : 0;
    return before + between + which;
  }
  [[nodiscard]] line* queue(const pending_command& c);
  [[nodiscard]] std::uint8_t number_of(const pending_command& c) const {
    return c.queue == queue_class::compute ? streams[c.stream].connection : c.copy_queue;
  }
  [[nodiscard]] hardware_queue place_of(const pending_command& c) const;
  [[nodiscard]] std::uint32_t free_copy_queue(const device_state& d, queue_class queue) const;
  [[nodiscard]] std::uint32_t all_connections() const {
    return ~std::uint32_t{0} >> (most_connections - connections);
  }
  [[nodiscard]] std::uint32_t free_connection(const device_state& d) const;
  [[nodiscard]] std::uint32_t connection_for_crowd(const device_state& d,
                                                   const pending_command& c) const;
  void enter_connection(index command, std::uint32_t connection);
  bool admit(device_state& d);
  void append(line& q, index command);
  [[nodiscard]] bool has_way_in(const stream_state& s, queue_class queue) const;
  std::uint8_t take_copy_queue(index stream, queue_class queue);
  void leave_copy_queues(stream_state& s);
  void bind(index stream, std::uint32_t connection);
  void unbind(stream_state& s);
  [[nodiscard]] bool needs_time() const;
  void drop_late_sharers(device_state& d);
  void offer_to_sharers(device_state& d, std::uint32_t connection);
  void move(index stream, std::uint32_t connection);
  void wake_head(const line& q);
  void note_stuck(const pending_command& c, bool stuck);
  void enter_queue(index command);
  [[nodiscard]] bool at_head(index command);
  void leave_queue(index command);
  [[nodiscard]] bool had_nothing_to_wait_for(index command) const;
  void take_out_of_queue(index command);
  void tell_place(const pending_command& c, index behind);
  void tell_new_place(const pending_command& c, index behind, std::uint64_t freed_by);

  // engines.cpp
  void settle();
  void dispatch(index command);
  void start(index command);
  void enter_engine(index command);
  void leave_engine(const pending_command& c);
  [[nodiscard]] static std::size_t line_of(const device_limits& l, const pending_command& c);
  [[nodiscard]] std::size_t next_line(const copy_engine& e) const;
  void start_copies(device_state& d);
  void complete(command_id id, std::uint64_t took);

  // residency.cpp
  void touch(std::uint16_t device);
  void arbitrate(device_state& d);
  static line& alone(device_state& d) { return d.copy_engines[0].lines[no_queue_line]; }
  bool start_alone(device_state& d);
  bool make_resident(device_state& d);
  bool grant(device_state& d);
  [[nodiscard]] bool has_room(const device_state& d, const kernel_shape& kernel) const;
  [[nodiscard]] const block_charge& charge_of(device_state& d, const pending_command& c);
  void take_blocks(device_state& d, resident_kernel& r, std::uint64_t n);
  void give_blocks(device_state& d, resident_kernel& r, std::uint64_t n);
  void leave_line(device_state& d, const pending_command& c);
  void leave_device(index command, resident_kernel& r);
  void blocks_done(command_id id, std::uint64_t n, std::uint64_t passed, std::uint64_t took);
  void abandon(command_id id);
  [[nodiscard]] kernel_blocks blocks_of(command_id id) const;

  // waits.cpp
  [[nodiscard]] bool done(command_id id) const { return ids.find(id.value) == none; }
  [[nodiscard]] bool idle(stream_id id) const;
  [[nodiscard]] bool satisfied(const wait_target& target) const;
  waiter_id wait(const wait_target& target);
  waiter_id wait_for_room(stream_id id, queue_class queue, std::uint32_t limit);
  void wait_for(index waiter, index command);
  void wait_for_blocking(index waiter, device_state& d);
  void resolve_waiter(index waiter);
  entry_places& entries_of(stream_state& s);
  void take_entry(const pending_command& c);
  void give_entry_back(pending_command& c);

  void push(line& l, index command);
  index pop(line& l);
  void add_edge(index from, index target, bool is_waiter);
  void emit(action_kind kind, const pending_command& c, std::uint64_t n = 0);
  void emit_release(std::uint64_t waiter);

  slab<pending_command> commands;
  slab<edge> edges;
  slab<stream_state, 6> streams;
  slab<waiter, 6> waiters;
  slab<resident_kernel, 7> residents;
  id_table ids;
  std::vector<device_state> devices;
  std::vector<std::uint16_t> touched;
  line ready;
  line host_functions;
  bool host_function_runs = false;
  std::uint32_t crowded = 0;  // devices with a crowd
  std::uint32_t connections;
  bool tells_queues = false;
  std::uint64_t grace = 0;
  device_time time;  // kept with one connection
  std::uint64_t next_waiter = 0;
  std::uint64_t gatherings = 0;  // so far
  std::vector<action> actions;
};

}  // namespace sb::sched
