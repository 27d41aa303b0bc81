// Puts records together to a trace, and checks every number on the way.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trace/codec.hpp"
#include "trace/pending_calls.hpp"

namespace sb::trace {

class assembler {
 public:
  // Numbers of calls come before the calls themselves, and those of operations in any order; the
  // record of either has four bytes at least. Those of a `repeated` record are counted when it
  // comes.
  explicit assembler(std::size_t file_bytes) : calls_limit_(open_calls_limit + file_bytes / 4) {}
  void set_version(std::uint32_t version) { state_.version = version; }  // before the first record

  // Takes in one record whose kind is not `nothing_more` or `end`; the cursor says when it is wrong
  // or cut off, and the trace is then as if it had not come.
  void take(record_kind kind, cursor& in);
  // A call that returned, or handed its work over, and did not get its record. One that makes no
  // sense is left out.
  void take_pending(const pending_call& one);
  // The same for ends of operations, as far as they are whole.
  void take_pending_ends(std::span<const byte> lane);
  // When nothing more comes: what is open stays open, and the trace ends at the last known time
  // unless the end record has said it.
  void finish();

  trace result;

 private:
  [[nodiscard]] std::string name(cursor& in, number which) const;
  [[nodiscard]] bool check(cursor& in, number which, std::size_t count) const;
  void seen(nanoseconds time);
  void know_call(cursor& in, number which);
  [[nodiscard]] bool knows_operation(number which) const {
    return which < known_operations_.size() && known_operations_[which];
  }
  operation& add_operation(number self);
  void know_operation(cursor& in, number which);
  [[nodiscard]] bool can_be_done(const call_record& call) const;
  void add_done(number self, const call_record& call);
  static void take_end(operation& op, operation&& end);
  void close_gaps();
  void take_call(cursor& in, bool returned);
  void keep_call(number self, const call_record& record, std::string name);
  void take_submitted(cursor& in);
  void take_finished(cursor& in, codec_state& state);
  void take_ends(cursor& in);
  void take_repeated(cursor& in);
  void take_allocation(cursor& in);
  void take_free(cursor& in);
  void take_stream(cursor& in);
  void take_stuck(cursor& in);
  void take_device(cursor& in);
  void take_annotation(cursor& in, annotation::shape shape);
  void take_end_of_range(cursor& in);

  codec_state state_;
  nanoseconds latest_ = 0;
  enum class call_state : std::uint8_t { unknown, begun, returned };
  std::vector<call_state> call_states_;
  std::vector<bool> known_operations_;
  // Of operations that may come later.
  std::vector<std::pair<number, block_needs>> needs_;
  std::vector<std::pair<number, blocks_at_end>> left_;
  std::size_t calls_limit_;
};

}  // namespace sb::trace
