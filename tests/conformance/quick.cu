// The quick variants of maths functions and what is no number: the kernel itself asks what it got,
// so that a compiler which takes results to be finite is found out.
#include <cmath>

#include "probe.h"

static const float values[] = {0.0f,    -0.0f,    1.0f,     -1.0f,     2.5f,
                               1000.0f, -1000.0f, INFINITY, -INFINITY, NAN};
constexpr int count = sizeof values / sizeof values[0], functions = 14;

__device__ char kind(float x) {
  if (x != x || isnan(x)) return 'n';
  if (isinf(x)) return x > 0 ? '+' : '-';
  return isfinite(x) ? (x == 0 ? '0' : 'f') : '?';
}

__global__ void quick(const float* in, char* out) {
  const float x = in[threadIdx.x];
  char* o = out + threadIdx.x * functions;
  float sine, cosine;
  __sincosf(x, &sine, &cosine);
  o[0] = kind(__sinf(x));
  o[1] = kind(__cosf(x));
  o[2] = kind(__tanf(x));
  o[3] = kind(__expf(x));
  o[4] = kind(__exp10f(x));
  o[5] = kind(__logf(x));
  o[6] = kind(__log2f(x));
  o[7] = kind(__log10f(x));
  o[8] = kind(__powf(x, 2.0f));
  o[9] = kind(__powf(2.0f, x));
  o[10] = kind(__fdividef(x, 0.0f));
  o[11] = kind(__fdividef(1.0f, x));
  o[12] = kind(sine);
  o[13] = kind(cosine);
}

int main() {
  float* in;
  char* out;
  MUST(cudaMallocManaged(&in, sizeof values));
  MUST(cudaMallocManaged(&out, count * functions));
  for (int i = 0; i < count; ++i) in[i] = values[i];
  quick<<<1, count>>>(in, out);
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "quick.%g", values[i]);
    say(name, std::string(out + i * functions, functions));
  }
}
