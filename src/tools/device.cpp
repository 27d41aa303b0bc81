// streambed device: the built-in device profiles.
#include <fmt/format.h>

#include "commands.hpp"
#include "model/device_profile.hpp"

namespace sb::tools {
namespace {

constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;

void show(std::string_view key, const device_profile& p) {
  const auto row = [](std::string_view what, const auto& value) {
    fmt::print("  {:<38} {}\n", what, value);
  };
  fmt::print("{}: {}\n", key, p.name);
  row("compute capability", fmt::format("{}.{}", p.compute_major, p.compute_minor));
  row("memory", fmt::format("{:.1f} GiB, {} KiB constant", p.global_bytes / gibibyte,
                            p.constant_bytes / 1024));
  row("L2 cache", fmt::format("{} MiB", p.l2_bytes >> 20));
  row("multiprocessors", p.multiprocessors);
  row("clock", fmt::format("{} MHz, memory {} MHz x {} bits", p.clock_khz / 1000,
                           p.memory_clock_khz / 1000, p.memory_bus_bits));
  row("threads per block", p.max_threads_per_block);
  row("threads, blocks per multiprocessor",
      fmt::format("{}, {}", p.threads_per_multiprocessor, p.blocks_per_multiprocessor));
  row("shared memory per block",
      fmt::format("{} KiB, {} KiB when asked for", p.shared_per_block / 1024,
                  p.shared_per_block_optin / 1024));
  row("shared memory per multiprocessor",
      fmt::format("{} KiB", p.shared_per_multiprocessor / 1024));
  row("registers per multiprocessor", p.registers_per_multiprocessor);
  row("kernels that may run at once", p.resident_kernels);
  row("stream priorities",
      fmt::format("{} (least) to {} (greatest)", p.least_priority, p.greatest_priority));
  row("copy engines", p.async_engines);
  row("hardware queues by default", p.default_connections);
}

class device_command final : public subcommand {
 public:
  std::string_view name() const override { return "device"; }
  std::string_view description() const override {
    return "List the built-in devices, or show one: device list, device show [NAME]";
  }
  std::vector<option> options() override {
    return {
        {"action", "list or show", &action_, option_use::required, {"list", "show"}},
        {"name", "which device to show (default: the active one)", &profile_},
    };
  }

  int run() override {
    if (action_ == "list") {
      for (const named_profile& entry : built_in_profiles()) {
        fmt::print("{:<8} {} ({} multiprocessors, {:.0f} GiB)\n", entry.key, entry.profile->name,
                   entry.profile->multiprocessors, entry.profile->global_bytes / gibibyte);
      }
      return 0;
    }
    const device_profile* found = find_profile(profile_);
    if (!found) {
      fmt::print(stderr, "streambed device: there is no device '{}'. There are:", profile_);
      for (const named_profile& entry : built_in_profiles()) fmt::print(stderr, " {}", entry.key);
      fmt::print(stderr, "\n");
      return 2;
    }
    show(profile_, *found);
    return 0;
  }

 private:
  std::string action_;
  std::string profile_ = "h200";
};

}  // namespace

subcommand& device_subcommand() {
  static device_command command;
  return command;
}

}  // namespace sb::tools
