#include "engine/print_fifo.hpp"

#include <utility>

namespace sb::engine {

void print_fifo::add(std::string_view text) {
  std::lock_guard lock(mutex_);
  texts_.emplace_back(text);
  bytes_ += text.size();
  while (bytes_ > limit_ && !texts_.empty()) {
    bytes_ -= texts_.front().size();
    texts_.pop_front();
  }
}

void print_fifo::flush(std::FILE* to) {
  std::lock_guard one(flushing_);
  std::deque<std::string> texts;
  {
    std::lock_guard lock(mutex_);
    texts = std::exchange(texts_, {});
    bytes_ = 0;
  }
  if (texts.empty()) return;
  for (const std::string& text : texts) std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

void print_fifo::clear() {
  std::lock_guard lock(mutex_);
  texts_.clear();
  bytes_ = 0;
}

}  // namespace sb::engine
