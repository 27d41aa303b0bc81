#include "program.hpp"

#include <algorithm>
#include <random>

namespace sb::sched {

namespace {

constexpr const char* names[] = {
    "kernel",     "upload", "upload_big",    "download", "device_copy", "peer_copy",
    "host_copy",  "fill",   "host_function", "record",   "wait_event",  "marker",
    "graph_node", "join",   "finish",        "abandon",  "wait_host",   "destroy_stream"};

// How often each kind comes, in the order of step_kind.
constexpr int weights[] = {10, 3, 2, 3, 2, 1, 1, 2, 3, 6, 6, 1, 3, 1, 14, 1, 4, 1};

step_kind random_kind(std::minstd_rand& random) {
  int total = 0;
  for (const int w : weights) {
    total += w;
  }
  int at = static_cast<int>(random() % static_cast<unsigned>(total));
  std::size_t kind = 0;
  while (at >= weights[kind]) {
    at -= weights[kind++];
  }
  return static_cast<step_kind>(kind);
}

}  // namespace

program random_program(std::uint64_t seed) {
  std::minstd_rand random(static_cast<std::uint32_t>(seed * 2654435761U ^ (seed >> 32)) | 1U);
  random.discard(4);
  program p;
  constexpr std::uint32_t connections[] = {1, 1, 2, 3, 4, 8};
  p.connections = connections[random() % 6];
  p.devices = random() % 4 == 0 ? 2 : 1;
  p.streams = 2 + random() % 6;
  p.resident_kernels = 1 + random() % 6;
  p.copy_engines = random() % 2 == 0 ? 3 : random() % 4;
  const std::size_t length = 5 + random() % 70;
  for (std::size_t i = 0; i < length; ++i) {
    step s;
    s.kind = random_kind(random);
    s.stream = random() % 64;
    s.pick = random() % 64;
    s.shape = random() % 4096;
    p.steps.push_back(s);
  }
  return p;
}

std::string print(const program& p) {
  std::string out = "connections " + std::to_string(p.connections) + ", devices " +
                    std::to_string(p.devices) + ", streams " + std::to_string(p.streams) +
                    ", resident kernels " + std::to_string(p.resident_kernels) + ", copy engines " +
                    std::to_string(p.copy_engines) + "\n";
  for (const step& s : p.steps) {
    out += std::string("  ") + names[static_cast<std::size_t>(s.kind)] + " stream " +
           std::to_string(s.stream) + " pick " + std::to_string(s.pick) + " shape " +
           std::to_string(s.shape) + "\n";
  }
  return out;
}

program shrink(program p, const std::function<bool(const program&)>& fails) {
  for (std::size_t size = std::max<std::size_t>(1, p.steps.size() / 2); size > 0;) {
    bool smaller = false;
    for (std::size_t at = 0; at < p.steps.size();) {
      program without = p;
      const auto first = without.steps.begin() + static_cast<std::ptrdiff_t>(at);
      const std::size_t n = std::min(size, p.steps.size() - at);
      without.steps.erase(first, first + static_cast<std::ptrdiff_t>(n));
      if (fails(without)) {
        p = std::move(without);
        smaller = true;
      } else {
        at += size;
      }
    }
    if (!smaller || size > 1) {
      size = size == 1 ? 0 : size / 2;
    }
  }
  return p;
}

}  // namespace sb::sched
