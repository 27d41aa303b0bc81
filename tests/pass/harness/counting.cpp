#include "counting.hpp"

namespace sb::test {
namespace {

using abi::thread_context;

outcome* result = nullptr;

void touch(thread_context*, const void*, std::uint32_t bytes, std::uint32_t, std::uint32_t) {
  result->touched.push_back(bytes);
}

void drew(thread_context*, const void* counter, std::uint64_t, std::int64_t, std::uint64_t,
          std::uint64_t, std::uint64_t) {
  ++(counter != nullptr ? result->draws : result->rounds);
}

void note_lock_step(thread_context*, const void* lock, std::uint32_t event, std::uint64_t,
                    std::uint64_t, std::uint64_t loads) {
  result->lock_steps.push_back({lock, static_cast<abi::lock_event>(event), loads});
}

void spent(thread_context*, std::uint64_t issued, std::uint64_t steps, std::uint64_t loads) {
  result->issued += issued;
  result->steps += steps;
  result->loads += loads;
}

}  // namespace

void set_counting(abi::device_table& table, outcome& to) {
  result = &to;
  auto set = [](void*& slot, auto* function) { slot = reinterpret_cast<void*>(function); };
  set(table.touch, &touch);
  set(table.spent, &spent);
  set(table.drew, &drew);
  set(table.lock_step, &note_lock_step);
}

}  // namespace sb::test
