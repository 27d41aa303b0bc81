// Handles that can be checked: tells a live object from a null, foreign or destroyed pointer
// without a lock.
//
// Objects of one type lie in one reserved range of addresses, so a pointer is checked by arithmetic
// and one atomic load. Pages are committed when they are first touched. A slot may be used again
// after its object is destroyed; until then a stale handle is recognised. Thread safety: all
// members. Using an object while another thread destroys it is the caller's mistake, as it is in
// CUDA.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

// There in programs that run under LeakSanitizer.
extern "C" __attribute__((weak)) void __lsan_register_root_region(const void* begin,
                                                                  std::size_t bytes);

namespace sb::cudart {

template <class T, std::size_t Capacity>
class handle_table {
 public:
  // Tables are never destroyed: handles may be used until the process is gone.
  handle_table() {
    void* range = ::mmap(nullptr, sizeof(slot) * Capacity, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range != MAP_FAILED) slots_ = static_cast<slot*>(range);
  }

  // Null when the table is full.
  template <class... Args>
  T* create(Args&&... args) {
    slot* place = take();
    if (place == nullptr) return nullptr;
    T* object = new (place->storage) T(std::forward<Args>(args)...);
    place->live.store(true, std::memory_order_release);
    return object;
  }

  // False when the handle is not a live one; of two concurrent calls one wins.
  template <class BeforeDestruction>
  bool destroy(T* object, BeforeDestruction&& before) {
    slot* place = slot_of(object);
    if (place == nullptr || !place->live.exchange(false, std::memory_order_acq_rel)) return false;
    before(*object);
    object->~T();
    const std::lock_guard lock(mutex_);
    free_.push_back(place);
    return true;
  }
  bool destroy(T* object) {
    return destroy(object, [](T&) {});
  }

  [[nodiscard]] bool alive(const T* object) const {
    const slot* place = slot_of(object);
    return place != nullptr && place->live.load(std::memory_order_acquire);
  }

  // Also when it is gone.
  [[nodiscard]] bool once_alive(const T* object) {
    const slot* place = slot_of(object);
    const std::lock_guard lock(mutex_);
    return place != nullptr && place < slots_ + used_;
  }

  // Visits every live object; the caller keeps others from destroying them.
  template <class Visit>
  void for_each(Visit&& visit) {
    std::size_t end = 0;
    {
      const std::lock_guard lock(mutex_);
      end = used_;
    }
    for (std::size_t i = 0; i < end; ++i) {
      if (slots_[i].live.load(std::memory_order_acquire)) {
        visit(*std::launder(reinterpret_cast<T*>(slots_[i].storage)));
      }
    }
  }

 private:
  static constexpr std::size_t step = 256;
  struct slot {
    alignas(T) unsigned char storage[sizeof(T)];
    std::atomic<bool> live;  // zero pages: false
  };

  slot* take() {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      slot* place = free_.back();
      free_.pop_back();
      return place;
    }
    if (slots_ == nullptr || used_ == Capacity) return nullptr;
    if (used_ % step == 0) tell_leak_checker(used_);
    return &slots_[used_++];
  }

  // What a live handle refers to is no leak, although it is referred to from a mapping of our own.
  void tell_leak_checker(std::size_t first) {
    if (__lsan_register_root_region == nullptr) return;
    const std::size_t count = Capacity - first < step ? Capacity - first : step;
    __lsan_register_root_region(&slots_[first], count * sizeof(slot));
  }

  [[nodiscard]] slot* slot_of(const T* object) const {
    const auto at = reinterpret_cast<std::uintptr_t>(object);
    const auto begin = reinterpret_cast<std::uintptr_t>(slots_);
    if (slots_ == nullptr || at < begin || at >= begin + sizeof(slot) * Capacity) return nullptr;
    if ((at - begin) % sizeof(slot) != 0) return nullptr;
    return slots_ + (at - begin) / sizeof(slot);
  }

  slot* slots_ = nullptr;  // constant after construction
  std::mutex mutex_;       // guards used_ and free_
  std::size_t used_ = 0;
  std::vector<slot*> free_;
};

}  // namespace sb::cudart
