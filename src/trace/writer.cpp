#include "trace/writer.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace sb::trace {
namespace {

using guard = std::lock_guard<record_lock>;

std::string_view shortened(std::string_view text) { return text.substr(0, text_limit); }

// A name that came with its own record, not through the table.
constexpr std::size_t text_bytes(std::string_view text) { return text.size() + 10; }

}  // namespace

namespace {

// The writers of this process, for the child of a fork: one that lives on must not be taken for
// somebody who writes the file.
struct live_writers {
  std::mutex opening;  // no fork between a file's opening and its writer's being here
  record_lock lock;
  std::vector<writer*> all;
};
live_writers& live() {
  static live_writers& writers = *[] {
    ::pthread_atfork([] { live().opening.lock(); }, [] { live().opening.unlock(); },
                     [] {
                       live().opening.unlock();
                       live().lock.reset();
                       for (writer* one : live().all) one->forget_after_fork();
                     });
    return new live_writers;
  }();
  return writers;
}

}  // namespace

// The kind is stored last, so that a record is in the file as a whole or not at all.
template <class Body>
void writer::append(record_kind kind, std::size_t bytes, Body&& body) {
  byte* const begin = file_->room(bytes + 1);
  if (!begin) return;
  byte* const end = body(begin + 1);
  std::atomic_ref<byte>(*begin).store(static_cast<byte>(kind), std::memory_order_release);
  file_->advance(end);
}

outcome<std::unique_ptr<writer>> writer::open(const std::string& path, const header& head,
                                              existing_file policy, call_order calls) {
  const std::lock_guard no_fork(live().opening);
  auto file = block_file::create(path, policy);
  if (!file) return failure{file.message()};
  const std::string_view program = shortened(head.program), profile = shortened(head.profile);
  byte* const begin = (*file)->room(64 + text_bytes(program) + text_bytes(profile));
  if (!begin) return failure{"cannot write " + path + ": " + (*file)->problem()};
  byte* at = std::copy(file_magic.begin(), file_magic.end(), begin);
  at = put_fixed(at, format_version);
  *at++ = static_cast<byte>(head.clock);
  at = put_varint(at, head.connections);
  at = put_varint(at, head.host_bytes);
  at = put_text(at, program);
  at = put_text(at, profile);
  (*file)->advance(at);
  return std::unique_ptr<writer>(new writer(std::move(*file), calls));
}

struct writer::lane_guard {
  pending_lane& own;

  ~lane_guard() {
    const std::uint64_t owner = std::exchange(own.owner, 0);
    own.over = true;
    if (!own.begin) return;
    const guard locked(live().lock);
    for (writer* one : live().all)
      if (one->self_ == owner) one->leave(own.begin);
  }
};

bool writer::has_lane(pending_lane& own) {
  if (own.owner == self_) return true;
  if (own.over || own.without == self_ || order_ != call_order::gathered) return false;
  thread_local const lane_guard leaves{own};
  (void)leaves;
  const guard locked(lock_);
  own = {};
  if (!free_lanes_.empty()) {
    own.begin = free_lanes_.back();
    free_lanes_.pop_back();
  } else if (lanes_ < pending_lanes) {
    own.begin = pending_ + lanes_++ * pending_lane_bytes;
  }
  (own.begin != nullptr ? own.owner : own.without) = self_;
  return own.begin != nullptr;
}

// The lock is held.
void writer::flush(byte* lane_begin, written_by who) {
  for (std::size_t i = 0; i < pending_lane_entries; ++i) {
    byte* const entry = lane_begin + i * pending_entry_bytes;
    pending_call one;
    if (!get_pending(entry, one, who)) continue;
    append(one.call.end == never ? record_kind::call_begun : record_kind::call, plain_record_bytes,
           [&](byte* at) { return put_call(at, one.self, one.call, state_); });
    clear_pending(entry);
  }
}

void writer::leave(byte* lane_begin) {
  const guard locked(lock_);
  flush(lane_begin, written_by::oneself);
  free_lanes_.push_back(lane_begin);
}

namespace {
std::atomic<std::uint64_t> writers_made{0};
}

writer::writer(std::unique_ptr<block_file> file, call_order calls)
    : self_(++writers_made),
      order_(calls),
      pending_(file->pending()),
      ends_(calls == call_order::gathered ? pending_ : nullptr),
      lanes_(calls == call_order::gathered ? 1 : 0),
      file_(std::move(file)) {
  const guard locked(live().lock);
  live().all.push_back(this);
}

writer::~writer() {
  const guard locked(live().lock);
  std::erase(live().all, this);
}

number writer::name_locked(std::string_view text) {
  text = shortened(text);
  const auto [which, is_new] = names_.find(text);
  if (is_new) {
    append(record_kind::name, text_bytes(text), [&](byte* at) { return put_text(at, text); });
  }
  return which;
}

number writer::name(std::string_view text) {
  const guard locked(lock_);
  return name_locked(text);
}

number writer::place(const char* file, std::uint32_t line) {
  const guard locked(lock_);
  const number known = places_.find(file, line);
  if (known != none) return known;
  const number name = name_locked(file);
  const auto [which, is_new] = places_.add(file, name, line);
  if (is_new) {
    append(record_kind::place, plain_record_bytes,
           [&](byte* at) { return put_varint(put_varint(at, name), line); });
  }
  return which;
}

number writer::device(const struct device& what) {
  const guard locked(lock_);
  const number name = name_locked(what.name);
  append(record_kind::device, plain_record_bytes, [&](byte* at) {
    at = put_varint(at, name);
    for (const std::uint32_t value :
         {what.multiprocessors, what.threads_per_multiprocessor, what.blocks_per_multiprocessor,
          what.shared_per_multiprocessor, what.registers_per_multiprocessor,
          what.reserved_shared_per_block, what.resident_kernels, what.copy_engines,
          what.to_device.latency_ns, what.to_device.bytes_per_us, what.to_host.latency_ns,
          what.to_host.bytes_per_us})
      at = put_varint(at, value);
    return at;
  });
  return devices_++;
}

number writer::stream(const struct stream& what) {
  const guard locked(lock_);
  const number name = what.name.empty() ? none : name_locked(what.name);
  append(record_kind::stream, plain_record_bytes, [&](byte* at) {
    at = put_optional(at, what.device);
    *at++ = static_cast<byte>(static_cast<unsigned>(what.kind) | (what.per_thread ? 16u : 0u));
    at = put_signed(at, static_cast<std::uint64_t>(std::int64_t{what.priority}));
    at = put_optional(at, what.connection);
    return put_optional(at, name);
  });
  return streams_++;
}

number writer::thread(std::string_view text) {
  const guard locked(lock_);
  const number name = text.empty() ? none : name_locked(text);
  append(record_kind::thread, plain_record_bytes, [&](byte* at) { return put_optional(at, name); });
  return threads_++;
}

void writer::name_stream(number which, std::string_view text) {
  const guard locked(lock_);
  const number name = name_locked(text);
  append(record_kind::stream_name, plain_record_bytes,
         [&](byte* at) { return put_varint(put_varint(at, which), name); });
}

void writer::name_thread(number which, std::string_view text) {
  const guard locked(lock_);
  const number name = name_locked(text);
  append(record_kind::thread_name, plain_record_bytes,
         [&](byte* at) { return put_varint(put_varint(at, which), name); });
}

void writer::thread_waited(const thread_wait& what) {
  const guard locked(lock_);
  append(record_kind::thread_wait, plain_record_bytes, [&](byte* at) {
    at = put_optional(put_varint(at, what.thread), what.other);
    at = put_time(at, what.begin, state_.clock);
    at = put_time(at, what.end, what.begin);
    state_.clock = what.end;
    *at = static_cast<byte>(what.what);
    return put_optional(at + 1, what.function);
  });
}

void writer::needs(number operation, const block_needs& what) {
  const guard locked(lock_);
  append(record_kind::needs, plain_record_bytes, [&](byte* at) {
    at = put_varint(put_varint(at, operation), what.alone);
    return put_varint(put_varint(at, what.arithmetic), what.memory);
  });
}

void writer::blocks(number operation, const blocks_at_end& what) {
  const guard locked(lock_);
  append(record_kind::blocks, plain_record_bytes, [&](byte* at) {
    at = put_varint(put_varint(at, operation), what.resident);
    return put_varint(put_varint(at, what.waiting), what.in_vain);
  });
}

void writer::stuck(const stuck_thread& what) {
  const guard locked(lock_);
  append(record_kind::stuck, plain_record_bytes, [&](byte* at) {
    at = put_optional(put_optional(at, what.thread), what.function);
    *at++ = static_cast<byte>(static_cast<unsigned>(what.what) |
                              (what.holder_ended ? stuck_holder_ended : 0u));
    at = put_varint(at, what.object);
    return put_optional(put_optional(at, what.holder), what.holding_function);
  });
}

number writer::allocated(memory_kind kind, number device, std::uint64_t bytes, nanoseconds when,
                         number call) {
  const guard locked(lock_);
  append(record_kind::allocation, plain_record_bytes, [&](byte* at) {
    *at++ = static_cast<byte>(kind);
    at = put_optional(at, device);
    at = put_varint(at, bytes);
    at = put_time(at, when, state_.clock);
    at = put_optional(at, call);
    state_.clock = when;
    return at;
  });
  return allocations_++;
}

void writer::freed(number allocation, nanoseconds when, number call) {
  const guard locked(lock_);
  append(record_kind::free, plain_record_bytes, [&](byte* at) {
    at = put_varint(at, allocation);
    at = put_time(at, when, state_.clock);
    at = put_optional(at, call);
    state_.clock = when;
    return at;
  });
}

void writer::blocks(number call, const call_record& what) {
  const guard locked(lock_);
  append(record_kind::call_begun, plain_record_bytes, [&](byte* at) {
    call_record begun;
    begun.thread = what.thread;
    begun.name = what.name;
    begun.place = what.place;
    begun.begin = what.begin;
    begun.end = never;
    begun.blocked_on = what.blocked_on;
    return put_call(at, call, begun, state_);
  });
}

void writer::returned_slowly(pending_lane& own, number call, const call_record& what) {
  if (has_lane(own)) {
    put_pending(own.begin + own.count * pending_entry_bytes, call, what);
    if (++own.count < pending_lane_entries) return;
    own.count = 0;
    const guard locked(lock_);
    flush(own.begin, written_by::oneself);
    return;
  }
  const guard locked(lock_);
  append(record_kind::call, plain_record_bytes,
         [&](byte* at) { return put_call(at, call, what, state_); });
}

void writer::submitted(number self, const submitted_record& what) {
  const guard locked(lock_);
  const std::size_t lists = listed(what.after.size()) + listed(what.ranges.size());
  append(record_kind::submitted, plain_record_bytes + lists * list_entry_limit,
         [&](byte* at) { return put_submitted(at, self, what, state_); });
}

void writer::finished(number operation, const finished_record& what) {
  const guard locked(lock_);
  append(record_kind::finished, plain_record_bytes + listed(what.waits.size()) * list_entry_limit,
         [&](byte* at) { return put_finished(at, operation, what, state_); });
}

void writer::flush_ends() {
  const guard locked(lock_);
  put_ends();
}

// The lock is held.
void writer::put_ends() {
  const std::span<const byte> all = ends_.all();
  if (all.empty()) return;
  append(record_kind::ends, plain_record_bytes + all.size(), [&](byte* at) {
    at = put_varint(at, all.size());
    return std::copy(all.begin(), all.end(), at);
  });
  ends_.clear();
}

number writer::repeated(const repeated_record& what) {
  const guard locked(lock_);
  const number first = begin_operations(static_cast<number>(what.ends.size()));
  append(record_kind::repeated, plain_record_bytes + what.ends.size() * list_entry_limit,
         [&](byte* at) { return put_repeated(at, first, what, state_); });
  return first;
}

number writer::annotate(record_kind kind, const annotation_record& what) {
  const guard locked(lock_);
  append(kind, plain_record_bytes, [&](byte* at) {
    at = put_optional(at, what.thread);
    at = put_optional(at, what.domain);
    at = put_optional(at, what.category);
    at = put_optional(at, what.text);
    at = put_varint(at, what.colour);
    at = put_time(at, what.at, state_.clock);
    state_.clock = what.at;
    return at;
  });
  return annotations_++;
}

number writer::begin_range(const annotation_record& what) {
  return annotate(record_kind::range_begun, what);
}

number writer::mark(const annotation_record& what) { return annotate(record_kind::mark, what); }

void writer::end_range(number annotation, nanoseconds when) {
  const guard locked(lock_);
  append(record_kind::range_ended, plain_record_bytes, [&](byte* at) {
    at = put_varint(at, annotation);
    at = put_time(at, when, state_.clock);
    state_.clock = when;
    return at;
  });
}

void writer::close(ending how, bool deterministic, nanoseconds end) {
  const guard locked(lock_);
  put_ends();
  for (std::size_t i = 0; i < lanes_; ++i)
    flush(pending_ + i * pending_lane_bytes, written_by::another);
  checksum sum = file_->sum();
  sum.add(end_word(how, deterministic));
  sum.add(end);
  append(record_kind::end, end_record_bytes, [&](byte* at) {
    *at++ = static_cast<byte>(how);
    *at++ = deterministic ? 1 : 0;
    at = put_fixed(at, end);
    at = put_fixed(at, sum.value());
    return std::copy(end_magic.begin(), end_magic.end(), at);
  });
  file_->close();
}

std::string writer::problem() {
  const guard locked(lock_);
  return file_->problem();
}

std::uint64_t writer::bytes() {
  const guard locked(lock_);
  return file_->size();
}

void writer::forget_after_fork() {
  lock_.reset();
  file_->forget();
}

}  // namespace sb::trace
