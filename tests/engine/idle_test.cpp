// HIP-CPU: an idle engine burned a core. Ours does not run at all: the system says of every thread
// how often it was given a processor, and for how long.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "kernels.hpp"

namespace sb::engine::testing {
namespace {

struct usage {
  std::uint64_t ns = 0, turns = 0;
  bool operator==(const usage&) const = default;
};
using usages = std::map<std::string, usage>;

// Of the threads that are not among `others`.
usages used(const usages& others = {}) {
  usages all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string id = task.path().filename();
    if (others.contains(id)) continue;
    usage u;
    std::uint64_t waited = 0;
    std::ifstream(task.path() / "schedstat") >> u.ns >> waited >> u.turns;
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (const auto at = line.find("_ctxt_switches:"); at != std::string::npos)
        u.turns += std::stoull(line.substr(at + std::strlen("_ctxt_switches:")));
    all.emplace(id, u);
  }
  return all;
}

void PrintTo(const usage& u, std::ostream* out) {
  *out << u.ns << " ns in " << u.turns << " turns";
}

const abi::kernel_info counting = loop_kernel(
    [](const char* p, thread_context*) { ++*params_of<std::atomic<int>*>(p); }, "counting");

TEST(idle, an_engine_without_work_does_not_run) {
  // ThreadSanitizer has a thread of its own from the first one on.
  std::thread([] {}).join();
  const usages before = used();
  engine_test t;
  std::atomic<int> count{0};
  int from = 3, to[4] = {};
  for (int i = 0; i < 4; ++i) {
    const stream_id s = t.stream();
    t.e.submit(s, launch(counting, {1000}, {1}, &count));
    copy_operation copy;
    copy.destination = &to[i];
    copy.source = &from;
    copy.width = sizeof from;
    t.e.submit(s, copy);
    t.e.submit(s, host_operation{[&](status) { ++count; }});
  }
  EXPECT_EQ(t.sync(), status::success);
  EXPECT_EQ(count, 4 * 1001);

  // Workers look for more work for a while before they sleep.
  usages now = used(before);
  ASSERT_GE(now.size(), 2u);
  for (int tries = 0; tries < 500; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const usages then = std::exchange(now, used(before));
    if (then == now) break;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // a span to measure over
  EXPECT_EQ(used(before), now);
}

}  // namespace
}  // namespace sb::engine::testing
