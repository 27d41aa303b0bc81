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
#include <type_traits>
#include <vector>

namespace bench {

using floats = std::vector<float>;

constexpr int stream_n = 16 << 20;  // 64 MiB of float
constexpr float factor = 3.0f;
constexpr int matrix = 512;
constexpr int scan_n = 4 << 20;
constexpr int side = 2048;            // of pictures: transpose, stencil, columns
constexpr int sparse_rows = 1 << 17;  // of a square matrix
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

// A sparse matrix, row by row: 8 to 71 elements in each, in columns that lie anywhere.
struct sparse_matrix {
  std::vector<int> starts{0}, columns;
  floats values;
};
inline sparse_matrix sparse() {
  sparse_matrix a;
  unsigned state = 1;
  for (int row = 0; row < sparse_rows; ++row) {
    for (int i = row * 37 % 64 + 8; i > 0; --i) {
      state = state * 1664525u + 1013904223u;
      a.columns.push_back(static_cast<int>(state >> 15));
      a.values.push_back(static_cast<float>(state >> 8 & 7));
    }
    a.starts.push_back(static_cast<int>(a.columns.size()));
  }
  return a;
}

// --- what is right, computed the plain way, and once

// A float that is no number, and -1: what outputs hold before a run. No result has these bits.
constexpr unsigned cleared = ~0u;

// The right result, all of it, and how far an element may be from its own: by so much of it, and of
// 1 where it is smaller. What is no number must have stayed cleared.
template <class T>
struct expected {
  std::vector<T> values;
  double tolerance = 0;

  bool is(const std::vector<T>& got) const {
    if (got.size() != values.size()) return false;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) wrong += !is(got[i], values[i]);
    return wrong == 0;
  }
  bool is(T got, T want) const {
    if constexpr (std::is_integral_v<T>) {
      return got == want;
    } else {
      if (want != want) return std::memcmp(&got, &cleared, sizeof got) == 0;
      const double a = got, b = want;
      return std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(b));
    }
  }
};

// Whole numbers: exact, whether the product is rounded by itself or not.
inline expected<float> right_stream(const std::string& kind, const floats& x, const floats& y) {
  expected<float> want{floats(x.size())};
  for (std::size_t i = 0; i < x.size(); ++i)
    want.values[i] = kind == "copy"    ? x[i]
                     : kind == "saxpy" ? factor * x[i] + y[i]
                                       : x[i] + factor * y[i];
  return want;
}

inline expected<float> right_product(const floats& a, const floats& b) {
  expected<float> want{floats(a.size()), 1e-4};
  std::vector<double> row(matrix);
  for (int i = 0; i < matrix; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (int k = 0; k < matrix; ++k)
      for (int j = 0; j < matrix; ++j) row[j] += double{a[i * matrix + k]} * b[k * matrix + j];
    std::copy(row.begin(), row.end(), &want.values[i * matrix]);
  }
  return want;
}

// 0, 1 and 2, so many that no sum of some of them is too large to be exact, in any order.
inline floats summands() { return numbers(stream_n, 3); }
inline expected<float> right_sum(const floats& x) {
  double sum = 0;
  for (float v : x) sum += v;
  return {{static_cast<float>(sum)}};
}

// Of each 256.
inline expected<float> right_sums(const floats& x) {
  expected<float> want{floats(x.size() / 256)};
  for (std::size_t i = 0; i < x.size(); ++i) want.values[i / 256] += x[i];
  return want;
}
// The same, as others spell it: an element for each thread, and a sum for each block.
inline constexpr const char* block_sums[] = {"block_sums_halves", "block_sums_spread",
                                             "block_sums_places", "block_sums_extern",
                                             "block_sums_shuffles"};

inline expected<int> right_scan(const std::vector<int>& in) {
  expected<int> want{in};
  for (std::size_t i = 1; i < in.size(); ++i) want.values[i] += want.values[i - 1];
  return want;
}

inline expected<float> right_transpose(const floats& in) {
  expected<float> want{floats(in.size())};
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x)
      want.values[std::size_t(x) * side + y] = in[std::size_t(y) * side + x];
  return want;
}

inline expected<int> right_histogram(const std::vector<unsigned char>& in) {
  expected<int> want{std::vector<int>(bins)};
  for (unsigned char c : in) ++want.values[c];
  return want;
}

// Of whole numbers, so that only the product is rounded. Nobody writes the edge.
inline expected<float> right_stencil(const floats& in) {
  expected<float> want{floats(in.size(), std::nanf(""))};
  for (int y = 1; y < side - 1; ++y)
    for (int x = 1; x < side - 1; ++x) {
      const std::size_t i = std::size_t(y) * side + x;
      want.values[i] = 0.2f * (in[i] + in[i - side] + in[i + side] + in[i - 1] + in[i + 1]);
    }
  return want;
}

// Each row by a number of its own; whole numbers, so that nothing is rounded.
inline expected<float> right_columns(const floats& in) {
  expected<float> want{floats(in.size())};
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const std::size_t i = std::size_t(y) * side + x;
      want.values[i] = 2 * in[i] + static_cast<float>(y);
    }
  return want;
}

// Of whole numbers, so that nothing is rounded, in any order.
inline expected<float> right_sparse_product(const sparse_matrix& a, const floats& x) {
  expected<float> want{floats(sparse_rows)};
  for (int row = 0; row < sparse_rows; ++row)
    for (int i = a.starts[row]; i < a.starts[row + 1]; ++i)
      want.values[row] += a.values[i] * x[a.columns[i]];
  return want;
}

struct expected_forces {
  expected<float> x, y, z;
};
inline expected_forces right_forces(const floats& x, const floats& y, const floats& z) {
  const expected<float> none{floats(bodies), 1e-3};
  expected_forces want{none, none, none};
  for (int i = 0; i < bodies; ++i) {
    double ax = 0, ay = 0, az = 0;
    for (int j = 0; j < bodies; ++j) {
      const double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      const double r = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + softening);
      ax += dx * r * r * r, ay += dy * r * r * r, az += dz * r * r * r;
    }
    want.x.values[i] = static_cast<float>(ax);
    want.y.values[i] = static_cast<float>(ay);
    want.z.values[i] = static_cast<float>(az);
  }
  return want;
}

struct expected_prices {
  expected<float> call, put;
};
inline expected_prices right_prices(const floats& spot, const floats& strike, const floats& years) {
  const expected<float> none{floats(options_n), 1e-3};
  expected_prices want{none, none};
  for (int i = 0; i < options_n; ++i) {
    const double root = volatility * std::sqrt(years[i]);
    const double d1 =
        (std::log(spot[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / root;
    const double d2 = d1 - root, discount = strike[i] * std::exp(-rate * years[i]);
    auto normal = [](double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); };
    const double call = spot[i] * normal(d1) - discount * normal(d2);
    want.call.values[i] = static_cast<float>(call);
    want.put.values[i] = static_cast<float>(call + discount - spot[i]);
  }
  return want;
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
constexpr int maths_period = 9973;  // there are so many different ones
inline floats maths_arguments() { return numbers(maths_n, maths_period, 0.002f, 0.001f); }
inline expected<float> right_maths(const maths_problem& problem, const floats& x) {
  expected<float> want{floats(x.size()), 1e-6};
  for (std::size_t i = 0; i < x.size(); ++i)
    want.values[i] =
        i < maths_period ? static_cast<float>(problem.right(x[i])) : want.values[i - maths_period];
  return want;
}

// --- time

// Milliseconds: by the clock on the wall, or what the process used of its processors.
inline double now_ms() {
  static const bool used = std::getenv("BENCH_PROCESSOR_TIME") != nullptr;
  timespec time;
  clock_gettime(used ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

// Prints the median of some runs, or that a result was wrong. `outputs` are cleared before each
// run, and all of what it left is looked at after it. The first run is not counted.
template <class Run, class Outputs, class Check>
void measure(const char* name, Run run, Outputs outputs, Check right, int runs = 7) {
  std::vector<double> took;
  for (int i = 0; i <= runs; ++i) {
    outputs.clear();
    const double begin = now_ms();
    run();
    took.push_back(now_ms() - begin);
    if (!right()) {
      std::printf("%s\twrong in run %d\n", name, i);
      std::fflush(stdout);
      return;
    }
  }
  std::sort(took.begin() + 1, took.end());
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
