// The problems that all three programs solve: sizes, inputs, the right answers, and how time is
// taken.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace bench {

using floats = std::vector<float>;

constexpr int stream_n = 16 << 20;  // 64 MiB of float
constexpr float factor = 3.0f;
constexpr int matrix = 512;
constexpr int scan_n = 4 << 20;
constexpr int side = 2048;  // of pictures: transpose, stencil
constexpr int bytes_n = 64 << 20;
constexpr int bins = 256;
constexpr int bodies = 4096;
constexpr float softening = 0.01f;
constexpr int options_n = 4 << 20;
constexpr int maths_n = 4 << 20;
constexpr float rate = 0.02f, volatility = 0.30f;

inline floats numbers(std::size_t n, int modulus, float scale = 1, float offset = 0) {
  floats v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = static_cast<float>(i * 7 % static_cast<std::size_t>(modulus)) * scale + offset;
  return v;
}

inline std::vector<int> whole_numbers(std::size_t n) {
  std::vector<int> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<int>(i * 13 % 17);
  return v;
}

inline std::vector<unsigned char> letters() {
  std::vector<unsigned char> v(bytes_n);
  unsigned state = 1;
  for (auto& c : v) c = static_cast<unsigned char>((state = state * 1664525u + 1013904223u) >> 24);
  return v;
}

inline bool close(double a, double b, double tolerance = 1e-4) {
  return std::fabs(a - b) <= tolerance * std::max(1.0, std::max(std::fabs(a), std::fabs(b)));
}

// --- what is right, computed the plain way

inline bool right_stream(const std::string& kind, const floats& x, const floats& y,
                         const floats& z) {
  for (std::size_t i = 0; i < z.size(); i += 97) {
    const float want = kind == "copy"    ? x[i]
                       : kind == "saxpy" ? factor * x[i] + y[i]
                                         : x[i] + factor * y[i];
    if (!close(z[i], want)) return false;
  }
  return true;
}

inline bool right_product(const floats& a, const floats& b, const floats& c) {
  for (int i = 0; i < matrix; i += 37)
    for (int j = 0; j < matrix; j += 31) {
      double sum = 0;
      for (int k = 0; k < matrix; ++k) sum += double{a[i * matrix + k]} * b[k * matrix + j];
      if (!close(c[i * matrix + j], sum)) return false;
    }
  return true;
}

inline bool right_sum(const floats& x, float got) {
  double sum = 0;
  for (float v : x) sum += v;
  return close(got, sum, 1e-3);
}

inline bool right_scan(const std::vector<int>& in, const std::vector<int>& out) {
  int sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (out[i] != (sum += in[i])) return false;
  return true;
}

inline bool right_transpose(const floats& in, const floats& out) {
  for (int y = 0; y < side; y += 3)
    for (int x = 0; x < side; ++x)
      if (out[std::size_t(x) * side + y] != in[std::size_t(y) * side + x]) return false;
  return true;
}

inline bool right_histogram(const std::vector<unsigned char>& in, const std::vector<int>& out) {
  std::vector<int> want(bins);
  for (unsigned char c : in) ++want[c];
  return want == out;
}

inline bool right_stencil(const floats& in, const floats& out) {
  auto at = [&](int y, int x) { return in[std::size_t(y) * side + x]; };
  for (int y = 1; y < side - 1; y += 5)
    for (int x = 1; x < side - 1; ++x) {
      const float want =
          0.2f * (at(y, x) + at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1));
      if (!close(out[std::size_t(y) * side + x], want)) return false;
    }
  return true;
}

inline bool right_forces(const floats& x, const floats& y, const floats& z, const floats& fx) {
  for (int i = 0; i < bodies; i += 411) {
    double sum = 0;
    for (int j = 0; j < bodies; ++j) {
      const double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      const double r = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + softening);
      sum += dx * r * r * r;
    }
    if (std::fabs(fx[i] - sum) > 1e-2 * std::max(1.0, std::fabs(sum))) return false;
  }
  return true;
}

inline bool right_prices(const floats& spot, const floats& strike, const floats& years,
                         const floats& call) {
  for (int i = 0; i < options_n; i += 1001) {
    const double root = volatility * std::sqrt(years[i]);
    const double d1 =
        (std::log(spot[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / root;
    auto normal = [](double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); };
    const double want =
        spot[i] * normal(d1) - strike[i] * std::exp(-rate * years[i]) * normal(d1 - root);
    if (std::fabs(call[i] - want) > 1e-2) return false;
  }
  return true;
}

// Maths functions on their own, by their names in the C library: the right answer in double.
struct maths_problem {
  const char* name;
  double (*right)(double);
};
inline constexpr maths_problem maths_problems[] = {
    {"expf", [](double x) { return std::exp(x); }},
    {"logf", [](double x) { return std::log(x); }},
    {"sinf", [](double x) { return std::sin(x); }},
    {"powf", [](double x) { return std::pow(x, double{2.3f}); }},
    {"erff", [](double x) { return std::erf(x); }},
    {"tanhf", [](double x) { return std::tanh(x); }},
};
inline floats maths_arguments() { return numbers(maths_n, 9973, 0.002f, 0.001f); }
inline bool right_maths(const maths_problem& problem, const floats& x, const floats& y) {
  for (std::size_t i = 0; i < y.size(); i += 97)
    if (!close(y[i], problem.right(x[i]), 1e-6)) return false;
  return true;
}

// --- time

// Milliseconds: by the clock on the wall, or what the process used of its processors.
inline double now_ms() {
  static const bool used = std::getenv("BENCH_PROCESSOR_TIME") != nullptr;
  timespec time;
  clock_gettime(used ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

// Prints the median of some runs, or that the result was wrong. The first run is not counted.
template <class Run, class Check>
void measure(const char* name, Run run, Check right, int runs = 7) {
  run();
  std::vector<double> took;
  for (int i = 0; i < runs; ++i) {
    const double begin = now_ms();
    run();
    took.push_back(now_ms() - begin);
  }
  std::sort(took.begin(), took.end());
  if (right())
    std::printf("%s\t%.4f\n", name, took[took.size() / 2]);
  else
    std::printf("%s\twrong\n", name);
  std::fflush(stdout);
}

// Which problems the command line asks for.
struct choice {
  int count;
  char** names;
  bool operator()(const char* name) const {
    return count < 2 || std::any_of(
                            names + 1, names + count,
                            [&](const char* each) { return !std::strcmp(each, name); });
  }
};

}  // namespace bench
