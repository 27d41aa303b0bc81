#include "engine/print_fifo.hpp"

#include <utility>

namespace sb::engine {

bool print_fifo::resize(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (used_) return false;
  limit_ = bytes;
  return true;
}

void print_fifo::add(std::string_view text) {
  {
    const std::lock_guard lock(mutex_);
    used_ = true;
    quiet_.store(false, std::memory_order_release);
    texts_.emplace_back(text);
    bytes_ += text.size();
    if (bytes_ <= limit_) return;
    if (readers_.load() == 0) {
      while (bytes_ > limit_ && !texts_.empty()) {
        bytes_ -= texts_.front().size();
        texts_.pop_front();
      }
      return;
    }
  }
  flush(stdout);
}

void print_fifo::flush(std::FILE* to) {
  if (quiet_.load(std::memory_order_acquire)) return;
  std::lock_guard one(flushing_);
  std::deque<std::string> texts;
  {
    std::lock_guard lock(mutex_);
    texts = std::exchange(texts_, {});
    bytes_ = 0;
  }
  for (const std::string& text : texts) std::fwrite(text.data(), 1, text.size(), to);
  if (!texts.empty()) std::fflush(to);
  std::lock_guard lock(mutex_);
  if (texts_.empty()) quiet_.store(true, std::memory_order_release);
}

void print_fifo::reset() {
  const std::lock_guard lock(mutex_);
  texts_.clear();
  bytes_ = 0;
  limit_ = usual_bytes;
  used_ = false;
}

}  // namespace sb::engine
