// What host threads submit and nobody has looked at yet: a ring of nodes in the order of their
// tickets. A ticket is the command's id, so ids grow in the order in which the scheduler hears of
// commands.
//
// Thread safety: claim() and publish() from any thread, without a lock. The rest belongs to the one
// who holds the engine's lock; room() and empty() may be asked by anybody and are a hint then.
//
// Invariant: a place is null unless a node was published there and not popped yet.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sb::engine {

struct node;

class inbox {
 public:
  // Whoever submits asks first. Half of the places are kept for those who asked at the same moment.
  [[nodiscard]] bool room() const {
    return tail_.load(std::memory_order_relaxed) - head_.load(std::memory_order_relaxed) <
           places / 2;
  }
  [[nodiscard]] std::uint64_t claim() { return tail_.fetch_add(1, std::memory_order_relaxed); }
  void publish(std::uint64_t ticket, node* n) {
    ring_[ticket % places].store(n, std::memory_order_release);
  }

  // --- for the holder of the lock

  // The next ticket to be taken in.
  [[nodiscard]] std::uint64_t next() const { return head_.load(std::memory_order_relaxed); }
  // Tickets below this have been claimed.
  [[nodiscard]] std::uint64_t claimed() const { return tail_.load(std::memory_order_acquire); }
  // Whether all that was claimed has been taken in.
  [[nodiscard]] bool all_taken() const { return tail_.load(std::memory_order_relaxed) == next(); }
  // The node whose turn it is; null when nothing is there, or when its owner claimed the ticket and
  // is about to publish.
  [[nodiscard]] node* pop() {
    const std::uint64_t at = head_.load(std::memory_order_relaxed);
    std::atomic<node*>& place = ring_[at % places];
    node* n = place.load(std::memory_order_acquire);
    if (n == nullptr) return nullptr;
    place.store(nullptr, std::memory_order_relaxed);
    head_.store(at + 1, std::memory_order_release);
    return n;
  }
  // Where the next one is, if it is there already: it may be fetched, not looked at. An ordered
  // load would wait until the other cores know what was popped.
  [[nodiscard]] const node* peek() const {
    return ring_[head_.load(std::memory_order_relaxed) % places].load(std::memory_order_relaxed);
  }
  // Claims the next ticket for the holder itself. Fails when others were quicker: what they publish
  // comes first.
  [[nodiscard]] bool claim_next() {
    std::uint64_t at = head_.load(std::memory_order_relaxed);
    if (!tail_.compare_exchange_strong(at, at + 1, std::memory_order_acq_rel)) return false;
    head_.store(at + 1, std::memory_order_release);
    return true;
  }

  // Whether somebody is seen between his ticket and its place: a node lies behind one that is not
  // there. Looks at the neighbours only; claimed() knows all.
  [[nodiscard]] bool hole() const {
    constexpr std::uint64_t neighbours = 8;
    const std::uint64_t at = head_.load(std::memory_order_relaxed);
    for (std::uint64_t i = 1; i < neighbours; ++i)
      if (ring_[(at + i) % places].load(std::memory_order_relaxed) != nullptr) return true;
    return false;
  }

  [[nodiscard]] bool empty() const {
    return ring_[head_.load(std::memory_order_relaxed) % places].load(std::memory_order_relaxed) ==
           nullptr;
  }

 private:
  static constexpr std::size_t places = 16384;

  alignas(64) std::atomic<std::uint64_t> tail_{0};
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::array<std::atomic<node*>, places> ring_{};
};

}  // namespace sb::engine
