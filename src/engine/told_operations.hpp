// Operations that a trace was told of as a whole, so that one that is as one of them in everything
// but its times is told of by its call alone.
//
// Thread safety: find() from any thread, without a lock; keep() belongs to whoever holds the
// engine's lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/node.hpp"
#include "trace/trace.hpp"

namespace sb::engine {

// What tells an operation from others, as words.
class operation_signs {
 public:
  static constexpr std::size_t most = 24;

  // `changes` counts what may happen to streams and memory; `back` is how far before a wait its
  // record has its number. Empty: nothing is like it.
  operation_signs(const submission& n, std::uint64_t changes, trace::number back = trace::none);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::uint64_t operator[](std::size_t i) const { return words_[i]; }
  [[nodiscard]] std::uint64_t place() const { return place_; }

 private:
  void add(std::uint64_t word) {
    if (count_ < most)
      words_[count_++] = word;
    else
      full_ = true;
  }
  void add(const void* address) { add(reinterpret_cast<std::uintptr_t>(address)); }
  void add(std::uint32_t low, std::uint32_t high) { add(low | std::uint64_t{high} << 32); }
  void add_kernel(const kernel_operation& k);
  void add_copy(const copy_operation& c);
  void add_fill(const fill_operation& f);
  void add_event(const event_state* e);

  std::array<std::uint64_t, most> words_;  // as many as are counted
  std::size_t count_ = 0;
  std::uint64_t place_ = 0;
  bool full_ = false;
};

// A cache: of operations that share a place two are known. Who looks while one is replaced finds
// none.
class told_operations {
 public:
  [[nodiscard]] trace::number find(const operation_signs& what) const;
  void keep(const operation_signs& what, trace::number operation);

 private:
  struct entry {
    std::atomic<std::uint32_t> version{0};  // odd: it is being written
    std::atomic<trace::number> operation{trace::none};
    std::atomic<std::size_t> count{0};
    std::array<std::atomic<std::uint64_t>, operation_signs::most> words{};
  };
  static trace::number find(const operation_signs& what, const entry& e);

  static constexpr std::size_t places = 256;
  std::array<std::array<entry, 2>, places> entries_;
  std::uint64_t turn_ = 0;  // keep()'s own
};

}  // namespace sb::engine
