// Which products are fused with the sums that they go into: how each result was rounded, among the
// ways in which it can be. Each in a kernel of its own: what else is made of a product matters.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "probe.h"

constexpr int threads = 128, inputs = 8, rounds = 5;

__device__ float product_rn(float a, float b) { return __fmul_rn(a, b); }
__device__ double product_rn(double a, double b) { return __dmul_rn(a, b); }
__device__ float sum_rn(float a, float b) { return __fadd_rn(a, b); }
__device__ double sum_rn(double a, double b) { return __dadd_rn(a, b); }
template <class T>
__device__ T product_of(T a, T b) {
  return a * b;
}
template <class T>
__device__ __noinline__ T own_product_of(T a, T b) {
  return a * b;
}

// The ways to round a result, by their names.
template <class T>
using ways = std::map<std::string, std::vector<T>>;

template <class T>
std::string way_of(const T* got, const ways<T>& all) {
  std::string fits;
  for (const auto& [name, values] : all) {
    if (std::memcmp(got, values.data(), threads * sizeof(T)) == 0)
      fits += (fits.empty() ? "" : " or ") + name;
  }
  return fits.empty() ? "in another way" : fits;
}

template <class T>
T rounds_of(T s, const std::function<T(int, T)>& turn) {
  for (int i = 0; i < rounds; ++i) s = turn(i, s);
  return s;
}

// Inputs a to h of each thread, one after the other for all threads; the result, and another one
// that is made of the same numbers.
template <class T, int which>
__global__ void compute(T* x, T* out, int n) {
  const int t = threadIdx.x;
  T* place = x + t;
  const auto at = [&](int i) { return place[i * threads]; };
  const T a = at(0), b = at(1), c = at(2), d = at(3), e = at(4), f = at(5), g = at(6), h = at(7);
  T r = 0, more = 0;
  if constexpr (which == 0) {  // sum
    r = a * b + c;
  } else if constexpr (which == 1) {  // sum_right
    r = c + a * b;
  } else if constexpr (which == 2) {  // difference
    r = a * b - c;
  } else if constexpr (which == 3) {  // from
    r = c - a * b;
  } else if constexpr (which == 4) {  // negated
    r = -(a * b) + c;
  } else if constexpr (which == 5) {  // negated_difference
    r = -(a * b) - c;
  } else if constexpr (which == 6) {  // two_products
    r = a * b + c * d;
  } else if constexpr (which == 7) {  // two_differences
    r = a * b - c * d;
  } else if constexpr (which == 8) {  // squares
    r = a * a + b * b;
  } else if constexpr (which == 9) {  // distance
    const T u = a - b, v = c - d, w = e - f;
    r = u * u + v * v + w * w;
  } else if constexpr (which == 10) {  // nested
    r = a * b + c * d + e;
  } else if constexpr (which == 11) {  // nested_right
    r = e + a * b + c * d;
  } else if constexpr (which == 12) {  // three_factors
    r = a * b * c + d;
  } else if constexpr (which == 13) {  // horner
    r = ((a * e + b) * e + c) * e + d;
  } else if constexpr (which == 14) {  // between
    r = a + c * (b - a);
  } else if constexpr (which == 15) {  // kept
    const T p = a * b;
    more = p;
    r = p + c;
  } else if constexpr (which == 16) {  // two_sums
    const T p = a * b;
    more = p + d;
    r = p + c;
  } else if constexpr (which == 17) {  // sum_and_difference
    const T p = a * b;
    more = p - d;
    r = p + c;
  } else if constexpr (which == 18) {  // two_froms
    const T p = a * b;
    more = d - p;
    r = c - p;
  } else if constexpr (which == 19) {  // four_sums
    const T p = a * b;
    more = (p + d) * (p + e) * (p + f);
    r = p + c;
  } else if constexpr (which == 20) {  // six_sums
    const T p = a * b;
    more = (p + d) * (p + e) * (p + f) * (p + g) * (p + h);
    r = p + c;
  } else if constexpr (which == 21) {  // sum_and_product
    const T p = a * b;
    more = p * d;
    r = p + c;
  } else if constexpr (which == 22) {  // sum_and_comparison
    const T p = a * b;
    more = p > d ? e : f;
    r = p + c;
  } else if constexpr (which == 23) {  // shared_product
    more = a * b + c * d;
    r = a * b + e;
  } else if constexpr (which == 24) {  // other_of_shared
    more = a * b + e;
    r = a * b + c * d;
  } else if constexpr (which == 25) {  // left_kept
    const T p = a * b;
    more = p;
    r = p + c * d;
  } else if constexpr (which == 26) {  // right_kept
    const T p = c * d;
    more = p;
    r = a * b + p;
  } else if constexpr (which == 27) {  // twice
    r = a * b + a * b;
  } else if constexpr (which == 28) {  // in_branch
    const T p = a * b;
    r = d;
    if (n > 3) {
      __threadfence();
      r = p + c;
    }
  } else if constexpr (which == 29) {  // behind_branch
    const T p = a * b;
    if (n > 3) __threadfence();
    r = p + c;
  } else if constexpr (which == 30) {  // behind_barrier
    const T p = a * b;
    __syncthreads();
    r = p + c;
  } else if constexpr (which == 31) {  // before_loop
    const T p = a * b;
    r = c;
    for (int i = 0; i < n; ++i) {
      r = p + r;
      place[i * threads] = r;
    }
  } else if constexpr (which == 32) {  // dot
    r = 0;
    for (int i = 0; i < n; ++i) r += place[i * threads] * place[(i + 1) * threads];
  } else if constexpr (which == 33) {  // dot_away
    r = 0;
    for (int i = 0; i < n; ++i) r -= place[i * threads] * place[(i + 1) * threads];
  } else if constexpr (which == 34) {  // dot_where_positive
    r = 0;
    for (int i = 0; i < n; ++i)
      if (place[i * threads] > 0) r += place[i * threads] * place[(i + 1) * threads];
  } else if constexpr (which == 35) {  // rows
    r = 0;
    for (int i = 0; i < n; ++i) r += x[t * inputs + i] * x[i];
  } else if constexpr (which == 36) {  // carried
    T p = a * b;
    r = 0;
    for (int i = 0; i < n; ++i) {
      r += p;
      p = place[i * threads] * place[(i + 2) * threads];
    }
  } else if constexpr (which == 37) {  // chosen
    const T p = n > 3 ? a * b : d;
    r = p + c;
  } else if constexpr (which == 38) {  // private_array
    T products[4];
    for (int i = 0; i < 4; ++i) products[i] = place[i * threads] * place[(7 - i) * threads];
    r = products[0];
    for (int i = 1; i < 4; ++i) r += products[i];
  } else if constexpr (which == 39) {  // of_inline_function
    r = product_of(a, b) + c;
  } else if constexpr (which == 40) {  // of_function
    r = own_product_of(a, b) + c;
  } else if constexpr (which == 41) {  // rounded_product
    r = product_rn(a, b) + c;
  } else if constexpr (which == 42) {  // rounded_sum
    r = sum_rn(a * b, c);
  } else if constexpr (which == 43) {  // rounded_beside
    more = product_rn(a, b);
    r = a * b + c;
  }
  out[t] = r;
  out[threads + t] = more;
}

constexpr const char* names[] = {
    "sum", "sum_right", "difference", "from", "negated", "negated_difference", "two_products",
    "two_differences", "squares", "distance", "nested", "nested_right", "three_factors", "horner",
    "between", "kept", "two_sums", "sum_and_difference", "two_froms", "four_sums", "six_sums",
    "sum_and_product", "sum_and_comparison", "shared_product", "other_of_shared", "left_kept",
    "right_kept", "twice", "in_branch", "behind_branch", "behind_barrier", "before_loop", "dot",
    "dot_away", "dot_where_positive", "rows", "carried", "chosen", "private_array",
    "of_inline_function", "of_function", "rounded_product", "rounded_sum", "rounded_beside",
};
constexpr int how_many = sizeof names / sizeof *names;

template <class T>
ways<T> ways_of(const std::vector<T>& in, int which) {
  ways<T> all;
  for (int t = 0; t < threads; ++t) {
    const auto at = [&](int i) { return in[i * threads + t]; };
    const T a = at(0), b = at(1), c = at(2), d = at(3), e = at(4), f = at(5), g = at(6), h = at(7);
    const auto fma = [](T p, T q, T s) { return std::fma(p, q, s); };
    const auto rounds_of = [](T s, const std::function<T(int, T)>& turn) {
      return ::rounds_of<T>(s, turn);
    };
    const auto add = [&](const char* name, T value) { all[name].push_back(value); };
    (void)g, (void)h;
    switch (which) {
      case 0:  // sum
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 1:  // sum_right
        add("fused", fma(a, b, c));
        add("plain", c + a * b);
        break;
      case 2:  // difference
        add("fused", fma(a, b, -c));
        add("plain", a * b - c);
        break;
      case 3:  // from
        add("fused", fma(-a, b, c));
        add("plain", c - a * b);
        break;
      case 4:  // negated
        add("fused", fma(-a, b, c));
        add("plain", c - a * b);
        break;
      case 5:  // negated_difference
        add("fused", fma(-a, b, -c));
        add("plain", -(a * b) - c);
        break;
      case 6:  // two_products
        add("left", fma(a, b, c * d));
        add("right", fma(c, d, a * b));
        add("plain", a * b + c * d);
        break;
      case 7:  // two_differences
        add("left", fma(a, b, -(c * d)));
        add("right", fma(-c, d, a * b));
        add("plain", a * b - c * d);
        break;
      case 8:  // squares
        add("left", fma(a, a, b * b));
        add("right", fma(b, b, a * a));
        add("plain", a * a + b * b);
        break;
      case 9:  // distance
        add("left", fma(e - f, e - f, fma(a - b, a - b, (c - d) * (c - d))));
        add("right", fma(e - f, e - f, fma(c - d, c - d, (a - b) * (a - b))));
        add("plain", (a - b) * (a - b) + (c - d) * (c - d) + (e - f) * (e - f));
        break;
      case 10:  // nested
        add("left", fma(a, b, c * d) + e);
        add("right", fma(c, d, a * b) + e);
        add("both", fma(a, b, fma(c, d, e)));
        add("plain", a * b + c * d + e);
        break;
      case 11:  // nested_right
        add("fused", fma(c, d, fma(a, b, e)));
        add("plain", e + a * b + c * d);
        break;
      case 12:  // three_factors
        add("fused", fma(a * b, c, d));
        add("plain", a * b * c + d);
        break;
      case 13:  // horner
        add("fused", fma(fma(fma(a, e, b), e, c), e, d));
        add("plain", ((a * e + b) * e + c) * e + d);
        break;
      case 14:  // between
        add("fused", fma(c, b - a, a));
        add("plain", a + c * (b - a));
        break;
      case 15:  // kept
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 16:  // two_sums
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 17:  // sum_and_difference
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 18:  // two_froms
        add("fused", fma(-a, b, c));
        add("plain", c - a * b);
        break;
      case 19:  // four_sums
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 20:  // six_sums
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 21:  // sum_and_product
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 22:  // sum_and_comparison
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 23:  // shared_product
        add("fused", fma(a, b, e));
        add("plain", a * b + e);
        break;
      case 24:  // other_of_shared
        add("left", fma(a, b, c * d));
        add("right", fma(c, d, a * b));
        add("plain", a * b + c * d);
        break;
      case 25:  // left_kept
        add("left", fma(a, b, c * d));
        add("right", fma(c, d, a * b));
        add("plain", a * b + c * d);
        break;
      case 26:  // right_kept
        add("left", fma(a, b, c * d));
        add("right", fma(c, d, a * b));
        add("plain", a * b + c * d);
        break;
      case 27:  // twice
        add("fused", fma(a, b, a * b));
        add("plain", a * b + a * b);
        break;
      case 28:  // in_branch
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 29:  // behind_branch
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 30:  // behind_barrier
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 31:  // before_loop
        add("fused", rounds_of(c, [&](int, T s) { return fma(a, b, s); }));
        add("plain", rounds_of(c, [&](int, T s) { return a * b + s; }));
        break;
      case 32:  // dot
        add("fused", rounds_of(0, [&](int i, T s) { return fma(at(i), at(i + 1), s); }));
        add("plain", rounds_of(0, [&](int i, T s) { return at(i) * at(i + 1) + s; }));
        break;
      case 33:  // dot_away
        add("fused", rounds_of(0, [&](int i, T s) { return fma(-at(i), at(i + 1), s); }));
        add("plain", rounds_of(0, [&](int i, T s) { return s - at(i) * at(i + 1); }));
        break;
      case 34:  // dot_where_positive
        add("fused", rounds_of(0, [&](int i, T s) { return at(i) > 0 ? fma(at(i), at(i + 1), s) : s; }));
        add("plain", rounds_of(0, [&](int i, T s) { return at(i) > 0 ? at(i) * at(i + 1) + s : s; }));
        break;
      case 35:  // rows
        add("fused", rounds_of(0, [&](int i, T s) { return fma(in[t * inputs + i], in[i], s); }));
        add("plain", rounds_of(0, [&](int i, T s) { return in[t * inputs + i] * in[i] + s; }));
        break;
      case 36:  // carried
        add("plain", rounds_of(0, [&](int i, T s) { return s + (i == 0 ? a * b : at(i - 1) * at(i + 1)); }));
        add("fused", rounds_of(0, [&](int i, T s) { return i == 0 ? a * b : fma(at(i - 1), at(i + 1), s); }));
        break;
      case 37:  // chosen
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 38:  // private_array
        add("left", fma(d, e, fma(c, f, fma(a, h, b * g))));
        add("right", fma(d, e, fma(c, f, fma(b, g, a * h))));
        add("plain", ((a * h + b * g) + c * f) + d * e);
        break;
      case 39:  // of_inline_function
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 40:  // of_function
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 41:  // rounded_product
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 42:  // rounded_sum
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
      case 43:  // rounded_beside
        add("fused", fma(a, b, c));
        add("plain", a * b + c);
        break;
    }
  }
  return all;
}

template <class T>
std::vector<T> numbers(int count, double scale) {
  std::vector<T> all;
  unsigned random = 12345;
  for (int i = 0; i < count; ++i) {
    random = random * 1664525u + 1013904223u;
    all.push_back(static_cast<T>((static_cast<int>(random >> 8) - (1 << 23)) / scale));
  }
  return all;
}

// What the kernel made of the numbers, which are as they were behind it.
template <class T, class Kernel>
std::vector<T> results(const std::vector<T>& in, Kernel kernel) {
  T *x, *y;
  std::vector<T> out(2 * threads);
  MUST(cudaMalloc(&x, in.size() * sizeof(T)));
  MUST(cudaMalloc(&y, out.size() * sizeof(T)));
  MUST(cudaMemcpy(x, in.data(), in.size() * sizeof(T), cudaMemcpyDefault));
  kernel<<<1, threads>>>(x, y, rounds);
  MUST(cudaMemcpy(out.data(), y, out.size() * sizeof(T), cudaMemcpyDefault));
  cudaFree(x);
  cudaFree(y);
  return out;
}

template <class T, int... which>
void show(const char* type, std::integer_sequence<int, which...>) {
  const std::vector<T> in = numbers<T>(inputs * threads, 12345.7);
  (say(std::string("fused.") + type + "." + names[which],
       way_of(results(in, compute<T, which>).data(), ways_of(in, which))),
   ...);
}

// Half precision: the products are exact in double precision.
template <class H, int which>
__global__ void compute_half(double* x, double* out, int n) {
  const int t = threadIdx.x;
  const double* place = x + t;
  const auto at = [&](int i) { return H(static_cast<float>(place[i * threads])); };
  const H a = at(0), b = at(1), c = at(2);
  H r = c, more = c;
  if constexpr (which == 0) {  // sum
    r = a * b + c;
  } else if constexpr (which == 1) {  // difference
    r = a * b - c;
  } else if constexpr (which == 2) {  // from
    r = c - a * b;
  } else if constexpr (which == 3) {  // functions
    r = __hadd(__hmul(a, b), c);
  } else if constexpr (which == 4) {  // rounded_product
    r = __hmul_rn(a, b) + c;
  } else if constexpr (which == 5) {  // rounded_sum
    r = __hadd_rn(a * b, c);
  } else if constexpr (which == 6) {  // kept
    const H p = a * b;
    more = p;
    r = p + c;
  } else if constexpr (which == 7) {  // dot
    r = c;
    for (int i = 0; i < n; ++i) r += H(static_cast<float>(place[i * threads])) * a;
  }
  out[t] = static_cast<float>(r);
  out[threads + t] = static_cast<float>(more);
}

constexpr const char* half_names[] = {
    "sum", "difference", "from", "functions", "rounded_product", "rounded_sum", "kept", "dot",
};

template <class H>
ways<double> ways_of_half(const std::vector<double>& in, int which, H (*rounded)(double)) {
  const auto r = [&](double x) -> double { return static_cast<float>(rounded(x)); };
  ways<double> all;
  for (int t = 0; t < threads; ++t) {
    const auto at = [&](int i) { return in[i * threads + t]; };
    const double a = at(0), b = at(1), c = at(2);
    const auto rounds_of = [](double s, const std::function<double(int, double)>& turn) {
      return ::rounds_of<double>(s, turn);
    };
    const auto add = [&](double fused, double plain) {
      all["fused"].push_back(fused);
      all["plain"].push_back(plain);
    };
    switch (which) {
      case 0:  // sum
        add(r(a * b + c), r(r(a * b) + c));
        break;
      case 1:  // difference
        add(r(a * b - c), r(r(a * b) - c));
        break;
      case 2:  // from
        add(r(c - a * b), r(c - r(a * b)));
        break;
      case 3:  // functions
        add(r(a * b + c), r(r(a * b) + c));
        break;
      case 4:  // rounded_product
        add(r(a * b + c), r(r(a * b) + c));
        break;
      case 5:  // rounded_sum
        add(r(a * b + c), r(r(a * b) + c));
        break;
      case 6:  // kept
        add(r(a * b + c), r(r(a * b) + c));
        break;
      case 7:  // dot
        add(rounds_of(c, [&](int i, double s) { return r(at(i) * a + s); }), rounds_of(c, [&](int i, double s) { return r(r(at(i) * a) + s); }));
        break;
    }
  }
  return all;
}

template <class H, int... which>
void show_half(const char* type, H (*rounded)(double), std::integer_sequence<int, which...>) {
  std::vector<double> in = numbers<double>(inputs * threads, 777777.7);
  for (double& x : in) x = static_cast<float>(rounded(x));
  (say(std::string("fused.") + type + "." + half_names[which],
       way_of(results(in, compute_half<H, which>).data(), ways_of_half(in, which, rounded))),
   ...);
}

int main() {
  constexpr std::make_integer_sequence<int, how_many> all;
  constexpr std::make_integer_sequence<int, sizeof half_names / sizeof *half_names> all_half;
  show<float>("float", all);
  show<double>("double", all);
  show_half<__half>("half", __double2half, all_half);
  show_half<__nv_bfloat16>("bfloat16", __double2bfloat16, all_half);
}
