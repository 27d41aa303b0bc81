// The problems as plain loops over OpenMP's threads, each as one would write it for a CPU.
#include <omp.h>

#include <memory>

#include "problems.hpp"

using namespace bench;

namespace {

// Memory that the threads touch first in the way they use it later.
std::unique_ptr<float[]> place(const floats& v) {
  std::unique_ptr<float[]> p(new float[v.size()]);
#pragma omp parallel for
  for (std::size_t i = 0; i < v.size(); ++i) p[i] = v[i];
  return p;
}
floats as_vector(const std::unique_ptr<float[]>& p, std::size_t n) {
  return {p.get(), p.get() + n};
}

// What a run must write.
struct outputs {
  struct part {
    template <class T>
    part(T* at, std::size_t n) : at(at), words(n) {
      static_assert(sizeof(T) == sizeof cleared);
    }
    void* at;
    std::size_t words;
  };
  std::vector<part> parts;

  void clear() const {
    for (const part& p : parts) {
#pragma omp parallel for
      for (std::size_t i = 0; i < p.words; ++i)
        std::memcpy(static_cast<char*>(p.at) + i * sizeof cleared, &cleared, sizeof cleared);
    }
  }
};

void multiply(const float* a, const float* b, float* c) {
  constexpr int n = matrix, rows = 4, columns = 16;  // sums that fit into the registers
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i += rows)
    for (int j = 0; j < n; j += columns) {
      float sum[rows][columns] = {};
      for (int k = 0; k < n; ++k)
        for (int r = 0; r < rows; ++r) {
          const float left = a[(i + r) * n + k];
          for (int q = 0; q < columns; ++q) sum[r][q] += left * b[k * n + j + q];
        }
      for (int r = 0; r < rows; ++r)
        for (int q = 0; q < columns; ++q) c[(i + r) * n + j + q] = sum[r][q];
    }
}

void scan(const int* in, int* out, int n) {
  std::vector<int> sums(static_cast<std::size_t>(omp_get_max_threads()) + 1);
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), t = omp_get_thread_num();
    const int begin = static_cast<int>(1L * n * t / threads),
              end = static_cast<int>(1L * n * (t + 1) / threads);
    int sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = begin; i < end; ++i) sum += in[i];
    sums[t + 1] = sum;
#pragma omp barrier
    sum = 0;
    for (int i = 0; i <= t; ++i) sum += sums[i];
    for (int i = begin; i < end; ++i) out[i] = sum += in[i];
  }
}

template <class Function>
void each(const float* x, float* y, Function f) {
#pragma omp parallel for simd
  for (int i = 0; i < maths_n; ++i) y[i] = f(x[i]);
}

float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c = 0.39894228040143267794f * expf(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f +
                                     k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - c : c;
}

}  // namespace

int main(int argc, char** argv) {
  const choice chosen{argc, argv};
  for (const char* name :
       {"saxpy", "copy", "triad", "stride_saxpy", "stride_copy", "stride_triad"}) {
    if (!chosen(name)) continue;
    const std::string kind =
        std::string(name).substr(std::strncmp(name, "stride_", 7) == 0 ? 7 : 0);
    const floats x = numbers(stream_n, 1000), y = numbers(stream_n, 77);
    const auto want = right_stream(kind, x, y);
    const auto px = place(x), py = place(y), pz = place(floats(stream_n));
    const float *a = px.get(), *b = py.get();
    float* c = pz.get();
    measure(
        name,
        [&] {
          if (kind == "saxpy") {
#pragma omp parallel for simd
            for (int i = 0; i < stream_n; ++i) c[i] = factor * a[i] + b[i];
          } else if (kind == "copy") {
#pragma omp parallel for simd
            for (int i = 0; i < stream_n; ++i) c[i] = a[i];
          } else {
#pragma omp parallel for simd
            for (int i = 0; i < stream_n; ++i) c[i] = a[i] + factor * b[i];
          }
        },
        outputs{{{c, stream_n}}}, [&] { return want.is(as_vector(pz, stream_n)); });
  }
  if (chosen("matmul")) {
    const floats a = numbers(matrix * matrix, 100, 0.01f), b = numbers(matrix * matrix, 33, 0.1f);
    const auto want = right_product(a, b);
    floats c(a.size());
    measure(
        "matmul", [&] { multiply(a.data(), b.data(), c.data()); }, outputs{{{c.data(), c.size()}}},
        [&] { return want.is(c); });
  }
  for (const char* name : {"reduce_shared", "reduce_shuffle"}) {
    if (!chosen(name)) continue;
    const floats x = summands();
    const auto want = right_sum(x);
    const auto px = place(x);
    const float* a = px.get();
    float sum = 0;
    measure(
        name,
        [&] {
          float all = 0;
#pragma omp parallel for simd reduction(+ : all)
          for (int i = 0; i < stream_n; ++i) all += a[i];
          sum = all;
        },
        outputs{{{&sum, 1}}}, [&] { return want.is({sum}); });
  }
  for (const char* name : block_sums) {
    if (!chosen(name)) continue;
    const floats x = summands();
    const auto want = right_sums(x);
    const auto px = place(x);
    const float* a = px.get();
    floats out(want.values.size());
    measure(
        name,
        [&] {
#pragma omp parallel for
          for (int block = 0; block < stream_n / 256; ++block) {
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int i = 0; i < 256; ++i) sum += a[block * 256 + i];
            out[block] = sum;
          }
        },
        outputs{{{out.data(), out.size()}}}, [&] { return want.is(out); });
  }
  if (chosen("scan")) {
    const std::vector<int> in = whole_numbers(scan_n);
    const auto want = right_scan(in);
    std::vector<int> out(scan_n);
    measure(
        "scan", [&] { scan(in.data(), out.data(), scan_n); }, outputs{{{out.data(), out.size()}}},
        [&] { return want.is(out); });
  }
  if (chosen("transpose")) {
    const floats in = numbers(side * side, 65521);
    const auto want = right_transpose(in);
    floats out(in.size());
    measure(
        "transpose",
        [&] {
#pragma omp parallel for collapse(2)
          for (int ty = 0; ty < side; ty += 16)
            for (int tx = 0; tx < side; tx += 16)
              for (int x = tx; x < tx + 16; ++x)
                for (int y = ty; y < ty + 16; ++y)
                  out[std::size_t(x) * side + y] = in[std::size_t(y) * side + x];
        },
        outputs{{{out.data(), out.size()}}}, [&] { return want.is(out); });
  }
  if (chosen("histogram")) {
    const auto in = letters();
    const auto want = right_histogram(in);
    std::vector<int> out(bins);
    measure(
        "histogram",
        [&] {
          std::fill(out.begin(), out.end(), 0);
#pragma omp parallel
          {
            int own[bins] = {};
#pragma omp for nowait
            for (int i = 0; i < bytes_n; ++i) ++own[in[i]];
#pragma omp critical
            for (int i = 0; i < bins; ++i) out[i] += own[i];
          }
        },
        outputs{{{out.data(), out.size()}}}, [&] { return want.is(out); });
  }
  if (chosen("stencil")) {
    const floats in = numbers(side * side, 1009);
    const auto want = right_stencil(in);
    const auto from = place(in), to = place(in);
    const float* a = from.get();
    float* b = to.get();
    measure(
        "stencil",
        [&] {
#pragma omp parallel for
          for (int y = 1; y < side - 1; ++y)
#pragma omp simd
            for (int x = 1; x < side - 1; ++x) {
              const int i = y * side + x;
              b[i] = 0.2f * (a[i] + a[i - side] + a[i + side] + a[i - 1] + a[i + 1]);
            }
        },
        outputs{{{b, in.size()}}}, [&] { return want.is(as_vector(to, in.size())); });
  }
  if (chosen("columns")) {
    const floats in = numbers(side * side, 1009);
    const auto want = right_columns(in);
    const auto from = place(in), to = place(in);
    const float* a = from.get();
    float* b = to.get();
    measure(
        "columns",
        [&] {
#pragma omp parallel for
          for (int y = 0; y < side; ++y)
#pragma omp simd
            for (int x = 0; x < side; ++x) b[y * side + x] = 2 * a[y * side + x] + y;
        },
        outputs{{{b, in.size()}}}, [&] { return want.is(as_vector(to, in.size())); });
  }
  if (chosen("spmv")) {
    const sparse_matrix a = sparse();
    const floats x = numbers(sparse_rows, 11);
    const auto want = right_sparse_product(a, x);
    floats y(sparse_rows);
    measure(
        "spmv",
        [&] {
          const int *starts = a.starts.data(), *columns = a.columns.data();
          const float *values = a.values.data(), *from = x.data();
          float* to = y.data();
#pragma omp parallel for
          for (int row = 0; row < sparse_rows; ++row) {
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * from[columns[i]];
            to[row] = sum;
          }
        },
        outputs{{{y.data(), y.size()}}}, [&] { return want.is(y); });
  }
  if (chosen("nbody")) {
    const floats x = numbers(bodies, 101, 0.1f), y = numbers(bodies, 103, 0.1f),
                 z = numbers(bodies, 107, 0.1f);
    const auto want = right_forces(x, y, z);
    floats fx(bodies), fy(bodies), fz(bodies);
    measure(
        "nbody",
        [&] {
#pragma omp parallel for
          for (int i = 0; i < bodies; ++i) {
            float ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
            for (int j = 0; j < bodies; ++j) {
              const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
              const float r = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + softening), r3 = r * r * r;
              ax += dx * r3, ay += dy * r3, az += dz * r3;
            }
            fx[i] = ax, fy[i] = ay, fz[i] = az;
          }
        },
        outputs{{{fx.data(), bodies}, {fy.data(), bodies}, {fz.data(), bodies}}},
        [&] { return want.x.is(fx) && want.y.is(fy) && want.z.is(fz); });
  }
  if (chosen("black_scholes")) {
    const floats spot = numbers(options_n, 251, 0.1f, 5), strike = numbers(options_n, 991, 0.1f, 1);
    const floats years = numbers(options_n, 97, 0.1f, 0.25f);
    const auto want = right_prices(spot, strike, years);
    floats call(options_n), put(options_n);
    measure(
        "black_scholes",
        [&] {
#pragma omp parallel for simd
          for (int i = 0; i < options_n; ++i) {
            const float root = volatility * sqrtf(years[i]);
            const float d1 =
                (logf(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
                root;
            const float n1 = normal(d1), n2 = normal(d1 - root),
                        discount = strike[i] * expf(-rate * years[i]);
            call[i] = spot[i] * n1 - discount * n2;
            put[i] = discount * (1.0f - n2) - spot[i] * (1.0f - n1);
          }
        },
        outputs{{{call.data(), options_n}, {put.data(), options_n}}},
        [&] { return want.call.is(call) && want.put.is(put); });
  }
  for (const maths_problem& problem : maths_problems) {
    if (!chosen(problem.name)) continue;
    const std::string name = problem.name;
    const floats x = maths_arguments();
    const auto want = right_maths(problem, x);
    floats y(x.size());
    const float* in = x.data();
    float* out = y.data();
    measure(
        problem.name,
        [&] {
          if (name == "expf") each(in, out, [](float v) { return expf(v); });
          if (name == "logf") each(in, out, [](float v) { return logf(v); });
          if (name == "sinf") each(in, out, [](float v) { return sinf(v); });
          if (name == "powf") each(in, out, [](float v) { return powf(v, 2.3f); });
          if (name == "erff") each(in, out, [](float v) { return erff(v); });
          if (name == "tanhf") each(in, out, [](float v) { return tanhf(v); });
        },
        outputs{{{out, maths_n}}}, [&] { return want.is(y); });
  }
  if (chosen("memcpy")) {
    const expected<float> want{numbers(stream_n, 1000)};
    const floats& from = want.values;
    floats to(stream_n);
    measure(
        "memcpy", [&] { std::memcpy(to.data(), from.data(), from.size() * sizeof(float)); },
        outputs{{{to.data(), to.size()}}}, [&] { return want.is(to); });
  }
}
