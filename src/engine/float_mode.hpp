// How device code computes: to the nearest, with denormals, without traps, whatever the program has
// set for its own threads.
#pragma once

#include <cstdint>

namespace sb::engine {

// On the calling thread while it lives; afterwards everything is as it was, also the flags that
// computations raise.
class device_float_mode {
 public:
#if defined(__aarch64__)
  device_float_mode() {
    asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control_), "=r"(flags_));
    if (control_ != usual) write_control(usual);
  }
  ~device_float_mode() {
    if (control_ != usual) write_control(control_);
    std::uint64_t flags = 0;
    asm volatile("mrs %0, fpsr" : "=r"(flags));
    if (flags != flags_) asm volatile("msr fpsr, %0" : : "r"(flags_));
  }

 private:
  static constexpr std::uint64_t usual = 0;
  static void write_control(std::uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value)); }

  std::uint64_t control_ = 0, flags_ = 0;

 public:
#else
  device_float_mode() {
    asm volatile("stmxcsr %0" : "=m"(control_));
    if (control_ != usual) write_control(usual);
  }
  ~device_float_mode() {
    std::uint32_t now = 0;
    asm volatile("stmxcsr %0" : "=m"(now));
    if (now != control_) write_control(control_);
  }

 private:
  static constexpr std::uint32_t usual = 0x1f80;  // every exception masked, no flag raised
  static void write_control(std::uint32_t value) { asm volatile("ldmxcsr %0" : : "m"(value)); }

  std::uint32_t control_ = 0;

 public:
#endif
  device_float_mode(const device_float_mode&) = delete;
  device_float_mode& operator=(const device_float_mode&) = delete;
};

}  // namespace sb::engine
