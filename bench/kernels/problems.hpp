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

inline bool right_forces(const floats& x, const floats& y, const floats& z, const floats& fx,
                         const floats& fy, const floats& fz) {
  const auto is = [](float got, double want) {
    return std::fabs(got - want) <= 1e-2 * std::max(1.0, std::fabs(want));
  };
  for (int i = 0; i < bodies; i += 411) {
    double ax = 0, ay = 0, az = 0;
    for (int j = 0; j < bodies; ++j) {
      const double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      const double r = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + softening);
      ax += dx * r * r * r, ay += dy * r * r * r, az += dz * r * r * r;
    }
    if (!is(fx[i], ax) || !is(fy[i], ay) || !is(fz[i], az)) return false;
  }
  return true;
}

inline bool right_prices(const floats& spot, const floats& strike, const floats& years,
                         const floats& call, const floats& put) {
  const auto is = [](float got, double want) { return std::fabs(got - want) <= 1e-2; };
  for (int i = 0; i < options_n; i += 1001) {
    const double root = volatility * std::sqrt(years[i]);
    const double d1 =
        (std::log(spot[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / root;
    const double d2 = d1 - root, discount = strike[i] * std::exp(-rate * years[i]);
    auto normal = [](double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); };
    if (!is(call[i], spot[i] * normal(d1) - discount * normal(d2))) return false;
    if (!is(put[i], discount * normal(-d2) - spot[i] * normal(-d1))) return false;
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

// --- what a run left

// No result has these bits: a float that is no number, and -1.
constexpr unsigned cleared = ~0u;

// Some places of an output of so many words; none of them at the edge of a picture.
constexpr int probes = 64;
inline std::size_t probe(std::size_t words, int k) {
  if (words < 2 * probes) return static_cast<std::size_t>(k) % words;
  return words / probes * static_cast<std::size_t>(k) + words / (2 * probes) + 1;
}

// Prints the median of some runs, or that a result was wrong. `outputs` is cleared before each run
// and looked at after it, so that none counts that wrote nothing; the last result is checked. The
// first run is not counted.
template <class Run, class Outputs, class Check>
void measure(const char* name, Run run, Outputs outputs, Check right, int runs = 7) {
  std::vector<double> took;
  bool written = true;
  for (int i = 0; i <= runs; ++i) {
    outputs.clear();
    const double begin = now_ms();
    run();
    took.push_back(now_ms() - begin);
    for (int k = 0; k < probes; ++k) written = written && outputs.is_written(k);
  }
  std::sort(took.begin() + 1, took.end());
  if (!written)
    std::printf("%s\twrong: a run did not write its result\n", name);
  else if (!right())
    std::printf("%s\twrong\n", name);
  else
    std::printf("%s\t%.4f\n", name, took[1 + static_cast<std::size_t>(runs / 2)]);
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
