// From command ids, which grow for ever, to the places of the pending ones.
//
// Ids are cut into pages; a page is given back as soon as all its ids are used up and complete, so
// a command that is pending for long keeps one page alive and nothing else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sched/slab.hpp"

namespace sb::sched {

class id_table {
 public:
  // The id of the next command, bound to its place.
  std::uint64_t bind(index slot) {
    const std::uint64_t id = next_++;
    if ((id & page_mask) == 0) {
      add_page();
    }
    last_->slots[id & page_mask] = slot;
    ++last_->live;
    return id;
  }

  // An id that is complete from the start: a wait that had nothing to wait for.
  std::uint64_t bind_complete() {
    const std::uint64_t id = bind(none);
    release(id);
    return id;
  }

  // Where the command is; none when it is complete or was never submitted.
  [[nodiscard]] index find(std::uint64_t id) const {
    const std::uint64_t page = (id >> page_bits) - first_page_;
    if (page >= pages_.size() || !pages_[page]) {
      return none;
    }
    return pages_[page]->slots[id & page_mask];
  }

  void release(std::uint64_t id) {
    std::unique_ptr<page>& p = pages_[(id >> page_bits) - first_page_];
    p->slots[id & page_mask] = none;
    if (--p->live != 0 || p.get() == last_) {
      return;
    }
    spare_.push_back(std::move(p));
    drop_front();
  }

  [[nodiscard]] std::size_t bytes() const {
    std::size_t total = pages_.size() * sizeof(void*) + spare_.size() * sizeof(page);
    for (const auto& p : pages_) {
      total += p ? sizeof(page) : 0;
    }
    return total;
  }

 private:
  static constexpr unsigned page_bits = 10;
  static constexpr std::uint64_t page_mask = (std::uint64_t{1} << page_bits) - 1;

  struct page {
    std::array<index, std::size_t{1} << page_bits> slots;
    std::uint32_t live;
  };

  void add_page() {
    // The page that was the last one may have been complete already.
    if (last_ != nullptr && last_->live == 0) {
      spare_.push_back(std::move(pages_.back()));
    }
    std::unique_ptr<page> p;
    if (spare_.empty()) {
      p = std::make_unique<page>();
    } else {
      p = std::move(spare_.back());
      spare_.pop_back();
    }
    p->slots.fill(none);
    p->live = 0;
    last_ = p.get();
    pages_.push_back(std::move(p));
    drop_front();
  }

  // The directory is a vector whose front is cut off when half of it is empty: cheaper to look into
  // than a deque.
  void drop_front() {
    while (empty_ < pages_.size() && !pages_[empty_]) {
      ++empty_;
    }
    if (empty_ > 64 && empty_ * 2 > pages_.size()) {
      pages_.erase(pages_.begin(), pages_.begin() + static_cast<std::ptrdiff_t>(empty_));
      first_page_ += empty_;
      empty_ = 0;
    }
  }

  std::vector<std::unique_ptr<page>> pages_;
  std::vector<std::unique_ptr<page>> spare_;
  std::size_t empty_ = 0;  // at the front of pages_
  std::uint64_t first_page_ = 0;
  std::uint64_t next_ = 0;
  page* last_ = nullptr;
};

}  // namespace sb::sched
