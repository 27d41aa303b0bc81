#include "engine/fork.hpp"

#include <pthread.h>

namespace sb::engine {

namespace detail {
constinit std::atomic<bool> engine_is_the_parents{false};
}

void watch_forks() {
  pthread_atfork(nullptr, nullptr, [] { detail::engine_is_the_parents = true; });
}

}  // namespace sb::engine
