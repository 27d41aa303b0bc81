// Small tables that a recorder looks into for every operation: none of them allocates on the way.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sb::engine {

// Numbers of texts that live as long as the program, by their address. A cache: two texts of one
// place take turns. Thread-safe.
class name_cache {
 public:
  static constexpr std::uint32_t unknown = 0xffffffff;

  [[nodiscard]] std::uint32_t find(const char* text) const {
    const std::uint64_t e = entries_[place(text)].load(std::memory_order_relaxed);
    return e >> number_bits == key(text) ? static_cast<std::uint32_t>(e & most) : unknown;
  }
  void keep(const char* text, std::uint32_t number) {
    if (number <= most)
      entries_[place(text)].store(key(text) << number_bits | number, std::memory_order_relaxed);
  }

 private:
  // An entry is one word: addresses have 48 bits, and most programs few names. 0: there is none.
  static constexpr unsigned number_bits = 16;
  static constexpr std::uint64_t most = (1u << number_bits) - 1;
  static std::uint64_t key(const char* text) {
    return reinterpret_cast<std::uintptr_t>(text) & (~std::uint64_t{0} >> number_bits);
  }
  static std::size_t place(const char* text) {
    const auto a = reinterpret_cast<std::uintptr_t>(text);
    return (a ^ a >> 10) % size;
  }

  static constexpr std::size_t size = 1024;
  std::array<std::atomic<std::uint64_t>, size> entries_{};
};

// The numbers of the last records of events that were handed over, by their commands. A cache:
// two commands of one place take turns. Thread-safe.
class record_numbers {
 public:
  static constexpr std::uint32_t unknown = 0xffffffff;

  [[nodiscard]] std::uint32_t find(std::uint64_t command) const {
    const std::uint64_t e = entries_[command % size].load(std::memory_order_relaxed);
    return e >> 32 == key(command) ? static_cast<std::uint32_t>(e) : unknown;
  }
  void keep(std::uint64_t command, std::uint32_t number) {
    entries_[command % size].store(key(command) << 32 | number, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t size = 1024;
  // What is not in the place already. 0 is for none: such a command is 2^42 before this one, or
  // has its place for the first time.
  static std::uint64_t key(std::uint64_t command) { return (command / size + 1) & 0xffffffff; }
  std::array<std::atomic<std::uint64_t>, size> entries_{};
};

// What ids stand for that are given out in their order and live for a while. An id that outlives
// many younger ones makes room for them. Not thread-safe.
template <class T>
class id_ring {
 public:
  id_ring() : slots_(1024) {}

  [[nodiscard]] T* find(std::uint64_t id) const {
    const slot& s = slots_[id & (slots_.size() - 1)];
    if (s.id == id) return s.value;
    return old_.empty() ? nullptr : find_old(id);
  }
  void add(std::uint64_t id, T* value) {
    slot* s = &slots_[id & (slots_.size() - 1)];
    if (s->value != nullptr) s = make_room(id);
    *s = {id, value};
    ++count_;
  }
  void remove(std::uint64_t id) {
    slot& s = slots_[id & (slots_.size() - 1)];
    if (s.id == id) {
      s = {};
      --count_;
    } else if (!old_.empty()) {
      old_.erase(id);
    }
  }
  [[nodiscard]] std::size_t places() const { return slots_.size(); }

 private:
  struct slot {
    std::uint64_t id = ~std::uint64_t{0};
    T* value = nullptr;
  };
  [[nodiscard]] T* find_old(std::uint64_t id) const {
    const auto found = old_.find(id);
    return found == old_.end() ? nullptr : found->second;
  }
  slot* make_room(std::uint64_t id) {
    // The size is a multiple of the old one: what had places of its own still has.
    while (count_ >= slots_.size() / 2) {
      std::vector<slot> larger(slots_.size() * 2);
      for (const slot& s : slots_)
        if (s.value != nullptr) larger[s.id & (larger.size() - 1)] = s;
      slots_ = std::move(larger);
    }
    slot& s = slots_[id & (slots_.size() - 1)];
    if (s.value != nullptr) {
      old_.emplace(s.id, s.value);
      --count_;
    }
    return &s;
  }

  std::vector<slot> slots_;
  std::size_t count_ = 0;  // in slots_
  std::unordered_map<std::uint64_t, T*> old_;
};

// A few values in place, more of them elsewhere.
template <class T, std::size_t Few>
class short_list {
 public:
  void push_back(const T& value) {
    if (count_ < Few) {
      few_[count_] = value;
    } else {
      if (count_ == Few) more_.assign(few_.begin(), few_.end());
      more_.push_back(value);
    }
    ++count_;
  }
  void clear() {
    if (count_ > Few) more_.clear();
    count_ = 0;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] T* data() { return count_ > Few ? more_.data() : few_.data(); }
  [[nodiscard]] const T* data() const { return count_ > Few ? more_.data() : few_.data(); }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + count_; }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + count_; }

 private:
  std::size_t count_ = 0;
  std::array<T, Few> few_{};
  std::vector<T> more_;
};

}  // namespace sb::engine
