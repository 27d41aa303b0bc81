// streambed device: device profiles, and measuring a GPU for one.
#include <fmt/format.h>

#include "calibrate.hpp"
#include "commands.hpp"
#include "model/profile.hpp"

namespace sb::tools {
namespace {

constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;

std::string engines(int copy_engines) {
  switch (copy_engines) {
    case 0:
      return "none: copies and kernels take turns";
    case 1:
      return "1, for both directions";
    case 2:
      return "2, one for each direction";
    default:
      return fmt::format("{}, one for each direction and one inside", copy_engines);
  }
}

std::string link(const link_timing& l) {
  return fmt::format("{:.1f} us + {:.1f} GB/s pinned, {:.1f} GB/s pageable", l.pinned_ns / 1000,
                     l.pinned_bytes_per_ns, l.pageable_bytes_per_ns);
}

void show(const profile& from) {
  const device_profile& p = from.device;
  const timing_profile& t = from.timing;
  const auto row = [](std::string_view what, const auto& value) {
    fmt::print("  {:<38} {}\n", what, value);
  };
  fmt::print("{}: {}\n", from.key, p.name);
  row("numbers", from.origin);
  row("compute capability", fmt::format("{}.{}", p.compute_major, p.compute_minor));
  row("memory", fmt::format("{:.1f} GiB, {} KiB constant", p.global_bytes / gibibyte,
                            p.constant_bytes / 1024));
  row("L2 cache", p.l2_bytes >> 20 == 0 ? fmt::format("{} KiB", p.l2_bytes >> 10)
                                        : fmt::format("{} MiB", p.l2_bytes >> 20));
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
  row("copy engines", engines(p.async_engines));
  row("hardware queues", fmt::format("{}, {} at most", p.default_connections, p.hardware_queues));
  row("a launch costs the host",
      fmt::format("{:.1f} us", call_cost_ns(t, "cudaLaunchKernel") / 1000));
  row("an empty kernel, from launch to return",
      fmt::format("{:.1f} us", (call_cost_ns(t, "cudaLaunchKernel") + t.kernel_submit_ns +
                                t.kernel_ns + t.block_ns + t.wake_ns) /
                                   1000));
  row("kernels one after the other, each",
      fmt::format("{:.1f} us", (t.kernel_ns + t.block_ns + t.kernel_gap_ns) / 1000));
  row("copies to the device", link(t.to_device));
  row("copies to the host", link(t.to_host));
  row("memory", fmt::format("{:.0f} GB/s", t.memory_bytes_per_ns));
  row("arithmetic", fmt::format("{:.1f} TFLOP/s single, {:.1f} TFLOP/s double precision",
                                t.fp32_per_ns / 1000, t.fp64_per_ns / 1000));
}

class device_command final : public subcommand {
 public:
  std::string_view name() const override { return "device"; }
  std::string_view description() const override {
    return "Device profiles: device list, device show [NAME or FILE], device calibrate [-o FILE]";
  }
  std::vector<option> options() override {
    return {
        {"action",
         "list, show or calibrate",
         &action_,
         option_use::required,
         {"list", "show", "calibrate"}},
        {"name", "show: a device or a profile file (default: h200)", &profile_},
        {"--text", "show: the profile itself, as a file has it", &text_},
        {"-o,--output", "calibrate: the profile to write (default: standard output)",
         &calibration_.output},
        {"--nvcc", "calibrate: compile with this one (default: the nvcc on PATH)",
         &calibration_.nvcc},
        {"--quick", "calibrate: less work, for slow devices", &calibration_.quick},
        {"--force", "calibrate: write over a file that is there", &calibration_.force},
    };
  }

  int run() override {
    if (action_ != "show" && !profile_.empty()) {
      fmt::print(stderr, "streambed device: '{}' is one word too many after {}\n", profile_,
                 action_);
      return 2;
    }
    if (const std::string_view other = option_of_another_action(); !other.empty()) {
      fmt::print(stderr, "streambed device: {} means nothing with {}\n", other, action_);
      return 2;
    }
    if (action_ == "calibrate") return calibrate(calibration_);
    if (action_ == "list") {
      for (const profile& p : built_in_profiles()) {
        fmt::print("{:<11} {} ({} multiprocessors, {:.0f} GiB)\n", p.key, p.device.name,
                   p.device.multiprocessors, p.device.global_bytes / gibibyte);
      }
      return 0;
    }
    std::string error;
    const std::optional<profile> found = load_profile(profile_.empty() ? "h200" : profile_, error);
    if (!found) {
      fmt::print(stderr, "streambed device: {}\n", error);
      return 2;
    }
    if (text_) {
      const std::string_view built_in = built_in_text(found->key);
      fmt::print("{}", built_in.empty() ? print_profile(*found, h200()) : std::string(built_in));
    } else {
      show(*found);
    }
    return 0;
  }

 private:
  // An option that was given and that the action does not have; empty: there is none.
  [[nodiscard]] std::string_view option_of_another_action() const {
    if (action_ != "show" && text_) return "--text";
    if (action_ == "calibrate") return {};
    if (!calibration_.output.empty()) return "--output";
    if (!calibration_.nvcc.empty()) return "--nvcc";
    if (calibration_.quick) return "--quick";
    return calibration_.force ? "--force" : "";
  }

  std::string action_;
  std::string profile_;
  bool text_ = false;
  calibration_options calibration_;
};

}  // namespace

subcommand& device_subcommand() {
  static device_command command;
  return command;
}

}  // namespace sb::tools
