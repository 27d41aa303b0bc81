// Writes a trace while the program runs.
//
// Thread safety: every function may be called by any thread at any time; one lock inside, held for
// one record. Records stand in the file in the order in which the lock was taken, and numbers are
// given out in that order (calls: in the order of begin_call), so a program whose threads come here
// in the same order twice writes the same bytes twice. With call_order::gathered the records of
// calls are an exception: a thread stores its calls where no other one looks (pending_calls.hpp),
// and they become records together.
//
// What is written stays when the process dies in any way: the reader takes everything up to there.
// No record allocates memory or calls the operating system, except when a block of
// the file is full and when a name or place is new.
//
// A writer that cannot go on (a full disk) drops what follows, still gives out numbers, and
// problem() says why. In the child of a fork it does the same: the file is the parent's.
//
// How the one who records uses it:
//
//   auto out = writer::open(path, head);            // head: clock, connections, program, profile
//   (*out)->device({...});                          // before the streams and operations on it
//   const number s = (*out)->stream({...});         // before the operations in it
//   thread_local const number t = (*out)->thread(); // each thread that calls, once
//
//   const number c = (*out)->begin_call();          // an atomic increment, nothing is written
//   ... (*out)->blocks(c, record);                  // only before waiting: begin, name, place
//   (*out)->returned(c, record);                    // exactly once for each begun call
//
//   const number o = (*out)->submitted({...});      // when it comes into its stream, in the order
//                                                   // of all that others may wait for
//   (*out)->finished(o, {ready, started, ended, waits});
//
//   (*out)->close(ending::complete, deterministic, now);
//
// A name (of a kernel, a call) is best asked for once and kept: name() looks it up in a table.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/outcome.hpp"
#include "trace/block_file.hpp"
#include "trace/codec.hpp"
#include "trace/name_table.hpp"
#include "trace/pending_calls.hpp"
#include "trace/pending_ends.hpp"
#include "trace/record_lock.hpp"
#include "trace/records.hpp"

namespace sb::trace {

enum class call_order : std::uint8_t { as_returned, gathered };

class writer {
 public:
  // Of the header, clock, connections, program and profile are written now, the rest by close().
  static outcome<std::unique_ptr<writer>> open(const std::string& path, const header& head,
                                               existing_file policy = existing_file::refuse,
                                               call_order calls = call_order::as_returned);
  ~writer();  // without close() the trace ends as if the program had been killed

  number name(std::string_view text);
  // `file` is a constant of the program: places are found by its address.
  number place(const char* file, std::uint32_t line);
  number device(const device& what);
  number stream(const stream& what);
  void name_stream(number which, std::string_view name);
  number thread(std::string_view name = {});
  void name_thread(number which, std::string_view name);
  void thread_waited(const thread_wait& what);
  void stuck(const stuck_thread& what);
  void needs(number operation, const block_needs& what);
  void blocks(number operation, const blocks_at_end& what);

  number allocated(memory_kind kind, number device, std::uint64_t bytes, nanoseconds at,
                   number call);
  void freed(number allocation, nanoseconds at, number call);

  number begin_call() { return calls_.fetch_add(1, std::memory_order_relaxed); }
  void blocks(number call, const call_record& what);  // `end` is not looked at
  void returned(number call, const call_record& what) { returned(own_lane_, call, what); }
  // With the lane of the calling thread, which is always the same one.
  void returned(pending_lane& own, number call, const call_record& what) {
    if (own.owner != self_ || own.count + 1 >= pending_lane_entries)
      return returned_slowly(own, call, what);
    put_pending(own.begin + own.count++ * pending_entry_bytes, call, what);
  }

  // A call that returned last in this lane is told once more, with another end. False: it is a
  // record already, or there is no lane.
  [[nodiscard]] bool returned_again(pending_lane& own, number call, const call_record& what) {
    if (own.owner != self_ || own.count == 0) return false;
    byte* const entry = own.begin + (own.count - 1) * pending_entry_bytes;
    if (!is_pending(entry, call)) return false;
    put_pending(entry, call, what);
    return true;
  }

  // Numbers of operations in a row: the first. For call_record::done, and for submitted().
  number begin_operations(number count = 1) {
    return operations_.fetch_add(count, std::memory_order_relaxed);
  }
  // Before the calling thread gives the operation `done` to another one, which may finish it at
  // once; returned() is told the same and the end. False: its call cannot tell of it.
  bool hand_over(pending_lane& own, number call, const call_record& what) {
    if (own.owner != self_ && !has_lane(own)) return false;
    put_pending(own.begin + own.count * pending_entry_bytes, call, what);
    return true;
  }
  // The call that was handed over last by this thread returns, and nothing else of it has changed.
  // False: it is not there.
  [[nodiscard]] bool returned_as_handed_over(pending_lane& own, number call, nanoseconds end) {
    if (own.owner != self_ || own.count + 1 >= pending_lane_entries) return false;
    byte* const entry = own.begin + own.count * pending_entry_bytes;
    if (!is_pending(entry, call)) return false;
    end_pending(entry, end);
    ++own.count;
    return true;
  }
  number submitted(const submitted_record& what) {
    const number self = begin_operations();
    submitted(self, what);
    return self;
  }
  void submitted(number self, const submitted_record& what);
  void finished(number operation, const finished_record& what);
  // The same, by one thread at a time: it need not be a record yet.
  void ended(number operation, const finished_record& what) {
    if (!ends_.has_room(what)) {
      flush_ends();
      if (!ends_.has_room(what)) return finished(operation, what);
    }
    ends_.put(operation, what);
  }
  // False: there is no room for it.
  [[nodiscard]] bool ended_plainly(number operation, const plain_end& what) {
    if (!ends_.has_room(what)) return false;
    ends_.put(operation, what);
    return true;
  }
  number repeated(const repeated_record& what);  // the number of the first; others follow it

  number begin_range(const annotation_record& what);
  void end_range(number annotation, nanoseconds at);
  number mark(const annotation_record& what);

  void close(ending how, bool deterministic, nanoseconds end);
  [[nodiscard]] std::string problem();
  [[nodiscard]] std::uint64_t bytes();  // written up to now
  // Where it is: with a number where the name that was asked for was not free.
  [[nodiscard]] const std::string& path() const { return file_->path(); }

  // Happens by itself in the child of a fork.
  void forget_after_fork();

 private:
  struct lane_guard;  // gives it back when the thread ends
  static inline thread_local constinit pending_lane own_lane_;
  writer(std::unique_ptr<block_file> file, call_order calls);
  void flush_ends();
  void put_ends();
  void returned_slowly(pending_lane& own, number call, const call_record& what);
  [[nodiscard]] bool has_lane(pending_lane& own);
  void flush(byte* lane_begin, written_by who);
  void leave(byte* lane_begin);  // its thread ends
  template <class Body>
  void append(record_kind kind, std::size_t bytes, Body&& body);
  number name_locked(std::string_view text);
  number annotate(record_kind kind, const annotation_record& what);

  // The threads that call and those that run the work write different lines of the cache.
  alignas(64) std::atomic<number> calls_{0};
  alignas(64) std::atomic<number> operations_{0};
  const std::uint64_t self_;  // no other writer of this process has or had it
  const call_order order_;
  byte* const pending_;
  alignas(64) pending_ends ends_;  // of whoever calls ended()
  alignas(64) record_lock lock_;
  // Guarded by lock_.
  std::vector<byte*> free_lanes_;
  std::size_t lanes_ = 0;
  std::unique_ptr<block_file> file_;
  codec_state state_;
  name_table names_;
  place_table places_;
  number devices_ = 0, streams_ = 0, threads_ = 0, allocations_ = 0, annotations_ = 0;
};

}  // namespace sb::trace
