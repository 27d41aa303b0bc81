// How far the device's maths functions are from the right results, in units of the last place:
//   maths_accuracy [--all] [NAME...]
// The distance is CUDA's: between the result and the rounded right one. Without --all one float of
// 4099 is tried, with it every one; functions of double and of two numbers get random ones. Fails
// where a function is further off than CUDA allows, or another kind of number.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#define SB_UNARY(real, name) real __sb_maths_##name(real);
SB_UNARY(float, expf)
SB_UNARY(float, exp2f)
SB_UNARY(float, exp10f)
SB_UNARY(float, logf)
SB_UNARY(float, log2f)
SB_UNARY(float, log10f)
SB_UNARY(float, sinf)
SB_UNARY(float, cosf)
SB_UNARY(float, tanf)
SB_UNARY(float, erff)
SB_UNARY(float, tanhf)
SB_UNARY(double, exp)
SB_UNARY(double, exp2)
SB_UNARY(double, log)
SB_UNARY(double, sin)
SB_UNARY(double, cos)
float __sb_maths_powf(float, float);
}

namespace {

template <class To, class From>
To as(From from) {
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// Numbers in their order, as integers.
long long place(float x) {
  const int bits = as<int>(x);
  return bits < 0 ? -static_cast<long long>(bits & 0x7fffffff) : bits;
}
long long place(double x) {
  const long long bits = as<long long>(x);
  return bits < 0 ? -(bits & 0x7fffffffffffffff) : bits;
}

struct verdict {
  double worst = 0;
  std::string where;
  template <class Real>
  void add(Real got, Real want, double x, double y) {
    double distance = 0;
    if (std::isnan(want) || std::isnan(got))
      distance = std::isnan(want) == std::isnan(got) ? 0 : 1e30;
    else if (want == 0 && got == 0)
      distance = std::signbit(want) == std::signbit(got) ? 0 : 1e20;
    else
      distance = std::fabs(static_cast<double>(place(got) - place(want)));
    if (distance > worst) {
      worst = distance;
      char text[160];
      std::snprintf(text, sizeof(text), "%a, %a: %a instead of %a", x, y, static_cast<double>(got),
                    static_cast<double>(want));
      where = text;
    }
  }
  void add(const verdict& other) {
    if (other.worst > worst) *this = other;
  }
};

using unary_f = float (*)(float);
using right_f = double (*)(double);

verdict every_float(unary_f quick, right_f right, unsigned step) {
  const unsigned parts = std::max(1u, std::thread::hardware_concurrency());
  std::vector<verdict> found(parts);
  std::vector<std::thread> threads;
  for (unsigned part = 0; part < parts; ++part)
    threads.emplace_back([&, part] {
      const unsigned long long stride = static_cast<unsigned long long>(step) * parts;
      for (unsigned long long bits = static_cast<unsigned long long>(step) * part;
           bits < 1ull << 32; bits += stride) {
        const float x = as<float>(static_cast<unsigned>(bits));
        found[part].add(quick(x), static_cast<float>(right(x)), x, 0);
      }
    });
  for (std::thread& each : threads) each.join();
  for (float x : {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, std::nanf(""), 1.0f, -1.0f, 0x1p-149f,
                  -0x1p-149f, 0x1p-126f, 0x1.fffffep127f, 0x1p16f, 0x1.000002p16f})
    found[0].add(quick(x), static_cast<float>(right(x)), x, 0);
  for (unsigned part = 1; part < parts; ++part) found[0].add(found[part]);
  return found[0];
}

using unary_d = double (*)(double);
using right_d = long double (*)(long double);

// All kinds of doubles, and many of a size that programs use.
verdict some_doubles(unary_d quick, right_d right, int count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> usual(-50, 50), near(-1, 1), wide(-1e7, 1e7);
  verdict found;
  for (int i = 0; i < count; ++i) {
    for (double x :
         {as<double>(random()), usual(random), near(random), wide(random), 1 + 1e-3 * near(random)})
      found.add(quick(x), static_cast<double>(right(x)), x, 0);
  }
  const double inf = HUGE_VAL;
  for (double x : {0.0, -0.0, inf, -inf, std::nan(""), 1.0, -1.0, 0x1p-1074, 0x1p-1022,
                   709.7827128933841, -745.2, 1e300})
    found.add(quick(x), static_cast<double>(right(x)), x, 0);
  return found;
}

verdict some_powers(int count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<float> base(0, 4), exponent(-130, 130), small(-5, 5),
      near(0.99f, 1.01f);
  verdict found;
  const auto add = [&](float x, float y) {
    found.add(__sb_maths_powf(x, y), static_cast<float>(std::pow(static_cast<double>(x), y)), x, y);
  };
  for (int i = 0; i < count; ++i) {
    add(as<float>(static_cast<unsigned>(random())), as<float>(static_cast<unsigned>(random())));
    add(base(random), exponent(random));
    add(as<float>(static_cast<unsigned>(random() >> 33)), small(random));
    add(near(random), exponent(random) * 60);
  }
  const float inf = HUGE_VALF;
  for (float x : {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, 0.5f, -3.5f, inf, -inf, std::nanf(""),
                  0x1p-149f, 0x1p127f})
    for (float y : {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, 3.0f, -3.0f, 0.5f, -0.5f, 1e30f, -1e30f, inf,
                    -inf, std::nanf("")})
      add(x, y);
  return found;
}

}  // namespace

int main(int count, char** words) {
  bool all = false;
  std::vector<std::string> names;
  for (int i = 1; i < count; ++i) {
    if (!std::strcmp(words[i], "--all"))
      all = true;
    else
      names.emplace_back(words[i]);
  }
  const unsigned step = all ? 1 : 4099;
  const int tries = all ? 50000000 : 100000;
  int wrong = 0;
  const auto judge = [&](const char* name, double allowed, auto compute) {
    bool chosen = names.empty();
    for (const std::string& each : names) chosen = chosen || each == name;
    if (!chosen) return;
    const verdict found = compute();
    const bool good = found.worst <= allowed;
    std::printf("%s\t%g of %g%s%s\n", name, found.worst, allowed, good ? "" : "\tWRONG at ",
                good ? "" : found.where.c_str());
    std::fflush(stdout);
    wrong += !good;
  };
#define SB_FLOAT(name, right, allowed) \
  judge(#name, allowed, [&] { return every_float(__sb_maths_##name, right, step); })
  SB_FLOAT(expf, std::exp, 1);
  SB_FLOAT(exp2f, std::exp2, 1);
  SB_FLOAT(exp10f, ::exp10, 1);
  SB_FLOAT(logf, std::log, 1);
  SB_FLOAT(log2f, std::log2, 1);
  SB_FLOAT(log10f, std::log10, 1);
  SB_FLOAT(sinf, std::sin, 2);
  SB_FLOAT(cosf, std::cos, 2);
  SB_FLOAT(tanf, std::tan, 3);
  SB_FLOAT(erff, std::erf, 2);
  SB_FLOAT(tanhf, std::tanh, 2);
#define SB_DOUBLE(name, allowed) \
  judge(#name, allowed, [&] { return some_doubles(__sb_maths_##name, name##l, tries); })
  SB_DOUBLE(exp, 1);
  SB_DOUBLE(exp2, 1);
  SB_DOUBLE(log, 1);
  SB_DOUBLE(sin, 1);
  SB_DOUBLE(cos, 1);
  judge("powf", 1, [&] { return some_powers(tries); });
  return wrong == 0 ? 0 : 1;
}
