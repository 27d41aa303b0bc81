#include "oracle.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace sb::sched {

std::size_t oracle::add_stream(device_id device, stream_kind kind, stream_id id) {
  streams_.push_back({.device = device, .kind = kind, .connection = {}, .copies = {}, .id = id});
  return streams_.size() - 1;
}

std::string oracle::describe(std::size_t i) const {
  constexpr const char* kinds[] = {"kernel", "copy",    "fill",   "host function", "record",
                                   "wait",   "section", "marker", "graph"};
  return "command " + std::to_string(i) + " (" +
         kinds[static_cast<std::size_t>(commands_[i].what.kind)] + " in stream " +
         std::to_string(commands_[i].stream) + ")";
}

std::size_t oracle::submit(const command& c, std::size_t stream, std::optional<std::size_t> record,
                           command_set after) {
  enter_crowd();
  give_connections_back();
  entry e;
  e.what = c;
  e.stream = stream;
  const oracle::stream& s = streams_[stream];
  e.device = c.device.valid() ? c.device : s.device;
  const bool wait = c.kind == command_kind::event_wait;
  const std::size_t self = commands_.size();

  e.needs = after;
  if (record) {
    e.needs |= command_set{1} << *record;
  }
  if (wait && c.order == command_order::in_stream && all_done(e.needs) &&
      (!record || s.kind != stream_kind::legacy)) {
    e.absent = true;
    commands_.push_back(e);
    return self;
  }
  if (c.order == command_order::in_stream) {
    for (std::size_t j = 0; j < self; ++j) {
      const entry& other = commands_[j];
      if (other.absent || other.what.order != command_order::in_stream) {
        continue;
      }
      const oracle::stream& t = streams_[other.stream];
      const bool legacy_meets_blocking =
          s.device == t.device &&
          ((s.kind == stream_kind::legacy && t.kind == stream_kind::blocking) ||
           (s.kind == stream_kind::blocking && t.kind == stream_kind::legacy));
      if (other.stream == stream || legacy_meets_blocking) {
        e.needs |= command_set{1} << j;
      }
      e.fresh = e.fresh && (other.stream != stream || in(done_, j));
    }
    // A graph's launch stands where a copy like its first node would; one within the host says that
    // this is a host function.
    const bool head = c.kind == command_kind::graph_head;
    const auto like_host_function = [](const command& what) {
      return what.kind == command_kind::host_function ||
             (what.kind == command_kind::graph_head && what.bytes != 0 &&
              what.direction == copy_direction::host_to_host);
    };
    command_kind stands_as = head ? command_kind::copy : c.kind;
    if (like_host_function(c)) stands_as = command_kind::host_function;
    if (head && c.bytes == 0) stands_as = command_kind::marker;
    switch (stands_as) {
      case command_kind::kernel:
      case command_kind::fill:
        e.queue = place::compute;
        break;
      case command_kind::copy:
        if (c.direction == copy_direction::device_to_host) {
          e.queue = place::download;
        } else if (c.direction == copy_direction::host_to_device && c.bytes >= 32768) {
          e.queue = place::big_upload;
        } else if (c.direction != copy_direction::host_to_host) {
          e.queue = place::compute;
        }
        break;
      case command_kind::host_function:
        if (!all_done(e.needs)) {
          e.queue = place::compute;
          for (std::size_t j = self; j-- > 0 && !e.fresh;) {
            const entry& other = commands_[j];
            if (other.stream != stream || other.absent ||
                other.what.order != command_order::in_stream) {
              continue;
            }
            if (other.queue != place::none && !like_host_function(other.what)) {
              e.queue = other.queue;
              break;
            }
            if (other.fresh) {
              break;
            }
          }
        }
        break;
      default:
        break;
    }
  }
  for (std::size_t j = 0; j < self; ++j) {
    e.behind_crowd |= in(e.needs & ~done_, j) && commands_[j].behind_crowd;
  }
  commands_.push_back(e);
  if (stands_in_queue(e)) {
    entry& own = commands_.back();
    own.depends_on_crowd = e.behind_crowd && !crowd_.empty();
    crowd_.push_back(self);
    // What depends on nothing there goes past the crowd if its stream has a connection, or if it
    // needs none.
    if (!own.depends_on_crowd && (s.connection || e.queue != place::compute)) {
      crowd_.pop_back();
      own.connection = e.queue == place::compute ? s.connection : copy_queue(stream, e.queue);
      entered_.push_back(self);
    }
    enter_crowd();
    own.behind_crowd = own.behind_crowd || !own.connection;
  }
  return self;
}

bool oracle::stands_in_queue(const entry& e) const {
  return e.queue != place::none && !streams_move();
}

// Four for each direction beside eight connections, else as many as those: the next that no stream
// of the device has, or else the next, which its stream then has no more. A stream keeps it as long
// as it has anything pending.
std::uint32_t oracle::copy_queue(std::size_t stream, place queue) {
  const std::size_t way = queue == place::download ? 1 : 0;
  std::optional<std::uint32_t>& own = streams_[stream].copies[way];
  if (own) return *own;
  const device_id device = streams_[stream].device;
  const std::uint32_t all = machine_.connections == 8 ? 4 : machine_.connections;
  std::uint32_t& turn = copy_turn_[device.value][way];
  const auto has = [&](std::uint32_t which) {
    return std::any_of(streams_.begin(), streams_.end(), [&](const oracle::stream& s) {
      return s.device == device && s.copies[way] == which;
    });
  };
  std::uint32_t found = turn % all;
  for (std::uint32_t i = 0; i < all; ++i) {
    if (!has((turn + i) % all)) {
      found = (turn + i) % all;
      break;
    }
  }
  for (oracle::stream& s : streams_) {
    if (s.device == device && s.copies[way] == found) s.copies[way].reset();
  }
  turn = found + 1;
  own = found;
  return found;
}

// A stream keeps its connection as long as it has anything pending.
void oracle::give_connections_back() {
  std::vector<bool> pending(streams_.size(), false);
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    if (!commands_[i].absent && !in(done_, i)) {
      pending[commands_[i].stream] = true;
    }
  }
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (!pending[i]) {
      streams_[i].connection.reset();
      streams_[i].copies = {};
    }
  }
}

// A connection for a command of a stream that has none: the first that no stream of the device has;
// or, in turn, one whose compute queue is empty, or one where all is newer. None when there is
// none.
std::optional<std::uint32_t> oracle::free_connection(std::size_t command) const {
  if (machine_.connections == 1) {
    return 0;
  }
  const device_id device = streams_[commands_[command].stream].device;
  std::vector<bool> used(machine_.connections, false);
  for (const oracle::stream& s : streams_) {
    if (s.connection && s.device == device) {
      used[*s.connection] = true;
    }
  }
  const auto unused = std::find(used.begin(), used.end(), false);
  if (unused != used.end()) {
    return static_cast<std::uint32_t>(unused - used.begin());
  }
  std::vector<std::optional<std::size_t>> heads(machine_.connections);
  const command_set left = left_queue();
  for (const std::size_t i : entered_) {
    const entry& e = commands_[i];
    if (e.queue == place::compute && !in(left, i) && streams_[e.stream].device == device &&
        !heads[*e.connection]) {
      heads[*e.connection] = i;
    }
  }
  for (const bool also_newer : {false, true}) {
    for (std::uint32_t k = 0; k < machine_.connections; ++k) {
      const std::uint32_t in_turn = (turn_[device.value] + k) % machine_.connections;
      if (!heads[in_turn] || (also_newer && *heads[in_turn] > command)) {
        return in_turn;
      }
    }
  }
  return std::nullopt;
}

// What found no connection comes to one in the order of the calls, what depends on others there
// behind all of them; here no sooner than it matters.
void oracle::enter_crowd(std::optional<std::size_t> until) {
  std::vector<bool> full(8, false);  // by device
  for (std::size_t i = 0; i < crowd_.size() && !(until && commands_[*until].connection);) {
    give_connections_back();
    entry& e = commands_[crowd_[i]];
    oracle::stream& s = streams_[e.stream];
    const std::size_t device = s.device.value;
    full[device] = full[device] || (e.depends_on_crowd && i != 0);
    const bool copy = e.queue != place::compute;
    if (!full[device] && !copy && !s.connection) {
      s.connection = free_connection(crowd_[i]);
      if (s.connection) {
        turn_[device] = (*s.connection + 1) % machine_.connections;
      }
    }
    full[device] = full[device] || (!copy && !s.connection);
    if (full[device]) {
      ++i;
    } else {
      e.connection = copy ? copy_queue(e.stream, e.queue) : s.connection;
      entered_.push_back(crowd_[i]);
      crowd_.erase(crowd_.begin() + static_cast<std::ptrdiff_t>(i));
      // An earlier one of another device may have waited for it alone.
      i = 0;
      full.assign(full.size(), false);
    }
  }
}

bool oracle::same_queue(const entry& a, const entry& b) const {
  return stands_in_queue(a) && a.queue == b.queue &&
         streams_[a.stream].device == streams_[b.stream].device && a.connection &&
         a.connection == b.connection;
}

// The streams of one connection have their entries together.
bool oracle::same_entries(std::size_t a, std::size_t b) const {
  return a == b || (machine_.connections == 1 && streams_[a].device == streams_[b].device);
}

command_set oracle::left_queue() const {
  command_set left = started_ | done_;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    if (!stands_in_queue(commands_[i])) {
      left |= command_set{1} << i;
    }
  }
  for (const std::size_t i : entered_) {
    const entry& e = commands_[i];
    if (e.what.kind != command_kind::kernel && all_done(e.needs) && !is_behind(i, left)) {
      left |= command_set{1} << i;
    }
  }
  return left;
}

// Whether another one is before it in its queue.
bool oracle::is_behind(std::size_t i, command_set left) const {
  for (const std::size_t j : entered_) {
    if (j == i) {
      return false;
    }
    if (!in(left, j) && same_queue(commands_[j], commands_[i])) {
      return true;
    }
  }
  return false;
}

// Fills do where everything takes turns.
bool oracle::uses_engine(const entry& e) const {
  return (e.what.kind == command_kind::copy && e.what.direction != copy_direction::host_to_host) ||
         (e.what.kind == command_kind::fill && machine_.devices[e.device.value].copy_engines == 0);
}

// Where everything takes turns, a kernel does not join others while a copy waits for its turn.
bool oracle::may_wait_for_a_turn(const entry& e) const {
  if (e.what.kind != command_kind::kernel || machine_.devices[e.device.value].copy_engines != 0) {
    return false;
  }
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    if (in(running(), i) && commands_[i].what.kind == command_kind::kernel &&
        commands_[i].device == e.device) {
      return true;
    }
  }
  return false;
}

const char* oracle::engine_is_full(const entry& e) const {
  const device_limits& limits = machine_.devices[e.device.value];
  const auto engine = [&](copy_direction d) {
    const bool inside = d == copy_direction::peer || d == copy_direction::device_to_device;
    if (limits.copy_engines < 2) return 0;
    if (inside) return limits.copy_engines == 2 ? 0 : 2;
    return d == copy_direction::host_to_device ? 0 : 1;
  };
  std::uint32_t kernels = 0;
  std::uint32_t copies = 0;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const entry& other = commands_[i];
    if (!in(running(), i)) {
      continue;
    }
    if (other.what.kind == command_kind::host_function &&
        e.what.kind == command_kind::host_function) {
      return "a host function runs";
    }
    kernels += other.what.kind == command_kind::kernel && other.device == e.device;
    copies += uses_engine(other) && other.what.kind == command_kind::copy &&
              other.device == e.device && engine(other.what.direction) == engine(e.what.direction);
    if (limits.copy_engines == 0 && other.device == e.device) {
      const bool kernel = e.what.kind == command_kind::kernel;
      if (uses_engine(other) && (kernel || uses_engine(e))) {
        return "a copy or fill has the device for itself";
      }
      if (other.what.kind == command_kind::kernel && uses_engine(e)) {
        return "a kernel runs, and nothing does beside it";
      }
    }
  }
  if (e.what.kind == command_kind::kernel && kernels >= limits.resident_kernels) {
    return "enough kernels are resident";
  }
  if (e.what.kind == command_kind::copy && uses_engine(e) && copies >= 1) {
    return "the copy engine is busy";
  }
  return nullptr;
}

const char* oracle::held_by(std::size_t i, command_set left) const {
  const entry& e = commands_[i];
  if (!all_done(e.needs)) {
    return "it depends on something that is not complete";
  }
  if (stands_in_queue(e) && !e.connection) {
    return "something is stuck in every connection";
  }
  if (is_behind(i, left)) {
    return "another is before it in its queue";
  }
  return engine_is_full(e);
}

std::string oracle::start(std::size_t i) {
  if (in(started_ | done_, i)) {
    return describe(i) + " started twice";
  }
  const command_kind kind = commands_[i].what.kind;
  if (kind == command_kind::event_record || kind == command_kind::event_wait ||
      kind == command_kind::marker || kind == command_kind::graph_head) {
    return describe(i) + " started, but nothing runs for it";
  }
  if (stands_in_queue(commands_[i])) {
    enter_crowd(i);
  }
  if (const char* why = held_by(i, left_queue()); why != nullptr) {
    return describe(i) + " started although " + why;
  }
  started_ |= command_set{1} << i;
  commands_[i].started_at = ++clock_;
  return {};
}

std::string oracle::reached(std::size_t i) {
  if (in(done_, i)) {
    return describe(i) + " was reached twice";
  }
  if (!commands_[i].absent && !all_done(commands_[i].needs)) {
    return describe(i) + " was reached although it depends on something that is not complete";
  }
  if (stands_in_queue(commands_[i])) {
    enter_crowd(i);
  }
  if (stands_in_queue(commands_[i])) {
    if (!commands_[i].connection) {
      return describe(i) + " was reached although something is stuck in every connection";
    }
    if (is_behind(i, left_queue())) {
      return describe(i) + " was reached although another is before it in its queue";
    }
  }
  done_ |= command_set{1} << i;
  return {};
}

// Blocks of the kernel that fit beside what runs.
std::uint64_t oracle::room_for(const entry& e) const {
  const device_limits& l = machine_.devices[e.device.value];
  const auto warps = [](const entry& k) { return (k.what.kernel.threads_per_block + 31) / 32; };
  const auto shared = [&](const entry& k) {
    return (k.what.kernel.shared_bytes + l.reserved_shared_per_block + 127) / 128 * 128;
  };
  const auto registers = [&](const entry& k) {
    return warps(k) * ((k.what.kernel.registers * 32 + 255) / 256 * 256);
  };
  std::int64_t blocks = std::int64_t{l.blocks_per_multiprocessor} * l.multiprocessors;
  std::int64_t threads = std::int64_t{l.threads_per_multiprocessor} * l.multiprocessors;
  std::int64_t bytes = std::int64_t{l.shared_per_multiprocessor} * l.multiprocessors;
  std::int64_t file = std::int64_t{l.registers_per_multiprocessor} * l.multiprocessors;
  // Two blocks that each take more than half of something never share a multiprocessor.
  const auto wide_shared = [&](const entry& k) {
    return 2 * shared(k) > l.shared_per_multiprocessor;
  };
  const auto wide_registers = [&](const entry& k) {
    return 2 * registers(k) > l.registers_per_multiprocessor;
  };
  std::int64_t beside = std::numeric_limits<std::int64_t>::max();
  if (wide_shared(e) || wide_registers(e)) {
    beside = l.multiprocessors;
  }
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const entry& k = commands_[i];
    if (in(running(), i) && k.what.kind == command_kind::kernel && k.device == e.device) {
      if ((wide_shared(e) && wide_shared(k)) || (wide_registers(e) && wide_registers(k))) {
        beside -= static_cast<std::int64_t>(running_blocks(i));
      }
      const auto n = static_cast<std::int64_t>(running_blocks(i));
      blocks -= n;
      threads -= n * warps(k) * 32;
      bytes -= n * shared(k);
      file -= n * registers(k);
    }
  }
  const std::int64_t alone =
      std::int64_t{l.multiprocessors} *
      std::min({l.blocks_per_multiprocessor, l.threads_per_multiprocessor / (warps(e) * 32),
                l.shared_per_multiprocessor / shared(e),
                l.registers_per_multiprocessor / registers(e)});
  const std::int64_t room =
      std::min({blocks, beside, threads / (warps(e) * 32), bytes / shared(e), file / registers(e),
                alone - static_cast<std::int64_t>(e.granted - e.finished)});
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, room));
}

// A resident kernel whose turn comes before this one.
std::optional<std::size_t> oracle::goes_before(std::size_t i) const {
  const entry& e = commands_[i];
  for (std::size_t j = 0; j < commands_.size(); ++j) {
    const entry& k = commands_[j];
    if (j == i || !in(running(), j) || k.what.kind != command_kind::kernel ||
        k.device != e.device || k.granted == k.what.kernel.blocks) {
      continue;
    }
    if (k.what.priority < e.what.priority ||
        (k.what.priority == e.what.priority && k.started_at < e.started_at)) {
      return j;
    }
  }
  return std::nullopt;
}

std::string oracle::grant(std::size_t i, std::uint64_t n) {
  entry& e = commands_[i];
  if (!in(running(), i) || e.what.kind != command_kind::kernel) {
    return describe(i) + " got blocks, but it is no running kernel";
  }
  if (n == 0 || e.granted + n > e.what.kernel.blocks) {
    return describe(i) + " got " + std::to_string(n) + " blocks too many, or none";
  }
  if (const auto other = goes_before(i)) {
    return describe(i) + " got blocks before " + describe(*other);
  }
  if (n > room_for(e)) {
    return describe(i) + " got " + std::to_string(n) + " blocks, more than there is room for";
  }
  if (e.what.kernel.cooperative && n != e.what.kernel.blocks) {
    return describe(i) + " is cooperative and got only a part of its blocks";
  }
  e.granted += n;
  return {};
}

void oracle::complete(std::size_t i) { done_ |= command_set{1} << i; }

void oracle::blocks_done(std::size_t i, std::uint64_t n) {
  commands_[i].finished += n;
  if (commands_[i].finished == commands_[i].what.kernel.blocks) {
    complete(i);
  }
}

std::uint64_t oracle::could_pass(std::size_t i) const {
  const bool turn = running_blocks(i) != 0 && !goes_before(i);
  return turn ? commands_[i].what.kernel.blocks - commands_[i].granted : 0;
}

command_set oracle::waited_for(wait_scope scope, std::size_t stream, device_id device,
                               std::size_t command) const {
  if (scope == wait_scope::command) {
    return command_set{1} << command;
  }
  const bool legacy = scope == wait_scope::stream && streams_[stream].kind == stream_kind::legacy;
  if (legacy) {
    device = streams_[stream].device;
  }
  command_set set = 0;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const entry& e = commands_[i];
    const oracle::stream& s = streams_[e.stream];
    bool counts = false;
    if (scope == wait_scope::device) {
      counts = s.device == device;
    } else if (legacy || scope == wait_scope::blocking_streams) {
      counts = s.device == device && s.kind != stream_kind::non_blocking;
    } else {
      counts = e.stream == stream;
    }
    // Nodes are waited for through the marker that ends their graph.
    if (counts && e.what.kind != command_kind::event_record && !e.absent &&
        e.what.order == command_order::in_stream) {
      set |= command_set{1} << i;
    }
  }
  return set;
}

std::string oracle::judge_rest(const scheduler& s) {
  enter_crowd();
  const command_set left = left_queue();
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const entry& e = commands_[i];
    if (s.done(e.id) != in(done_, i)) {
      return describe(i) + ": done() is wrong";
    }
    if (in(done_, i)) {
      continue;
    }
    if (!in(started_, i)) {
      const bool may_be_held = streams_move() && e.queue != place::none;
      if (held_by(i, left) == nullptr && !may_be_held && !may_wait_for_a_turn(e)) {
        return describe(i) + " does not start, and nothing holds it";
      }
    } else if (e.what.kind == command_kind::kernel && e.granted != e.what.kernel.blocks &&
               !goes_before(i)) {
      const std::uint64_t want = e.what.kernel.cooperative ? e.what.kernel.blocks : 1;
      if (room_for(e) >= want) {
        return describe(i) + " gets no blocks, and there is room";
      }
    }
  }
  for (std::size_t k = 0; k < streams_.size(); ++k) {
    if (streams_[k].destroyed) {
      continue;
    }
    bool idle = true;
    std::array<std::uint32_t, 3> entries{};  // compute, large copies in, copies out
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      const entry& e = commands_[i];
      const bool covered = e.stream == k || (streams_[k].kind == stream_kind::legacy &&
                                             streams_[e.stream].kind == stream_kind::blocking &&
                                             streams_[e.stream].device == streams_[k].device);
      if (in(done_, i)) {
        continue;
      }
      idle = idle && (!covered || e.what.kind == command_kind::event_record);
      const bool copy = e.what.kind == command_kind::copy;
      const bool work = e.what.kind == command_kind::kernel || e.what.kind == command_kind::fill ||
                        e.what.kind == command_kind::graph_head ||
                        (copy && e.what.direction != copy_direction::host_to_host);
      if (same_entries(e.stream, k) && work && e.what.order == command_order::in_stream &&
          !in(started_, i)) {
        const bool out = copy && e.what.direction == copy_direction::device_to_host;
        const bool large =
            copy && e.what.direction == copy_direction::host_to_device && e.what.bytes >= 32768;
        ++entries[out ? 2 : large ? 1 : 0];
      }
    }
    if (s.idle(streams_[k].id) != idle) {
      return "stream " + std::to_string(k) + ": idle() is wrong";
    }
    for (std::size_t queue = 0; queue < entries.size(); ++queue) {
      if (s.pending_entries(streams_[k].id, static_cast<queue_class>(queue)) != entries[queue]) {
        return "stream " + std::to_string(k) + ": pending_entries() is wrong";
      }
    }
  }
  return {};
}

}  // namespace sb::sched
