// Kernels with barriers in loops, branches and between private arrays. Prints a hash of each
// result: what it is must not depend on how the threads of a block are run. Compiles with NVIDIA's
// nvcc too.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
static unsigned hash(const void* p, size_t n) {
  unsigned x = 2166136261u;
  for (size_t i = 0; i < n; i++) x = (x ^ ((const unsigned char*)p)[i]) * 16777619u;
  return x;
}
__global__ void reverse(int* d, int n) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = d[blockIdx.x * blockDim.x + t];
  __syncthreads();
  d[blockIdx.x * blockDim.x + t] = s[blockDim.x - 1 - t] + n;
}
__global__ void reduce(int* d, int n) {
  extern __shared__ int sh[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  sh[t] = i < n ? d[i] : 0;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) sh[t] += sh[t + s];
    __syncthreads();
  }
  if (t == 0) d[i] = sh[0];
}
__global__ void scan(int* d, int n) {
  extern __shared__ int sh[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int pout = 0, pin = 1;
  int m = blockDim.x;
  sh[t] = (t > 0) ? d[i - 1] : 0;
  __syncthreads();
  for (int o = 1; o < m; o *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (t >= o)
      sh[pout * m + t] = sh[pin * m + t] + sh[pin * m + t - o];
    else
      sh[pout * m + t] = sh[pin * m + t];
    __syncthreads();
  }
  d[i] = sh[pout * m + t];
}
__global__ void priv(int* d, int n) {
  int a[8];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  for (int k = 0; k < 8; k++) a[k] = d[i] * k + t;
  __shared__ int s[256];
  for (int r = 0; r < n; r++) {
    s[t] = a[(t + r) & 7];
    __syncthreads();
    a[(s[(t + 1) % blockDim.x] + r) & 7] += s[(t + 3) % blockDim.x];
    __syncthreads();
  }
  int z = 0;
  for (int k = 0; k < 8; k++) z = z * 31 + a[k];
  d[i] = z;
}
__global__ void branch(int* d, int n, int mode) {
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int v = d[i];
  if (mode > 0) {
    s[t] = v;
    __syncthreads();
    v += s[(t * 7) % blockDim.x];
    if (mode > 1) {
      __syncthreads();
      s[t] = v * 3;
      __syncthreads();
      v ^= s[(t + 5) % blockDim.x];
    } else
      v -= t;
  } else
    v = v * 5;
  if (blockIdx.x & 1) {
    __syncthreads();
    s[t] = v;
    __syncthreads();
    v = s[blockDim.x - 1 - t];
  }
  d[i] = v;
}
__global__ void flags(int* d, int n) {
  __shared__ int done;
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0) done = 0;
  s[t] = d[i] & 15;
  __syncthreads();
  int rounds = 0;
  while (true) {
    int v = s[t];
    __syncthreads();
    if (v > 0)
      s[t] = v - 1;
    else
      s[t] = v;
    if (t == 0) done = 1;
    __syncthreads();
    if (v > 1) done = 0;
    __syncthreads();
    rounds++;
    if (done) break;
    __syncthreads();
  }
  d[i] = s[t] * 100 + rounds;
}
__global__ void counts(int* d, int n) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int c = __syncthreads_count(d[i] & 1);
  int a = __syncthreads_and(d[i] != -5);
  int o = __syncthreads_or(d[i] == n);
  for (int k = 0; k < 3; k++) c += __syncthreads_count((d[i] >> k) & c);
  d[i] = c * 4 + a * 2 + o;
}
__global__ void cont(int* d, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int v = d[i];
  for (int k = 0; k < n; k++) {
    if (k % 3 == 1) {
      continue;
    }
    s[t] = v;
    __syncthreads();
    if (k == n - 2) {
      v += 1000;
      break;
    }
    int u = s[(t + k) % blockDim.x];
    if (u & 1)
      v += u;
    else
      v -= k;
    __syncthreads();
    if ((k & 7) == 6) return;
  }
  d[i] = v;
}
__global__ void nested(int* d, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int v = d[i];
  for (int a = 0; a < n; a++) {
    int acc = 0;
    for (int b = 0; b < a; b++) {
      s[t] = v + b;
      __syncthreads();
      for (int c = 0; c < (t & 3); c++) acc += s[(t + c) % blockDim.x];
      __syncthreads();
    }
    v ^= acc + a;
  }
  d[i] = v;
}
__global__ void twod(int* d, int n) {
  __shared__ int s[8][17];
  int x = threadIdx.x, y = threadIdx.y;
  int i = (blockIdx.x * blockDim.y + y) * blockDim.x + x;
  s[y][x] = d[i];
  __syncthreads();
  int v = s[(y + 1) % blockDim.y][(x + 3) % blockDim.x];
  __syncthreads();
  s[y][x] = v * 2;
  __syncthreads();
  d[i] = s[(x + y) % blockDim.y][x] + v;
}
__global__ void sw(int* d, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int v = d[i];
  switch ((n + blockIdx.x) % 4) {
    case 0:
      s[t] = v;
      __syncthreads();
      v = s[t ^ 1];
      break;
    case 1:
      v = v * 2;
      break;
    case 2:
      s[t] = v * 2;
      __syncthreads();
      v = s[t ^ 2]; /*fall*/
    default:
      __syncthreads();
      s[t] = v;
      __syncthreads();
      v += s[t ^ 3];
  }
  d[i] = v;
}
__global__ void ptrs(int* d, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int x = 1, y = 2;
  int* p = (t & 1) ? &x : &y;
  for (int k = 0; k < n; k++) {
    *p += d[i] + k;
    s[t] = *p;
    __syncthreads();
    x += s[(t + 1) % blockDim.x];
    p = (p == &x) ? &y : &x;
    __syncthreads();
  }
  d[i] = x * 3 + y;
}
__global__ void boolk(int* d, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  bool b = d[i] > 5;
  double q = d[i] * 0.5;
  for (int k = 0; k < n; k++) {
    s[t] = b ? 1 : k;
    __syncthreads();
    b = b != (s[(t + k) % blockDim.x] > 2);
    q += b ? q * 0.25 : 1;
    __syncthreads();
  }
  d[i] = (int)q + b;
}
__global__ void stride(int* d, int n) {
  __shared__ int s[256];
  int t = threadIdx.x;
  int acc = 0;
  for (int i = t; i < n; i += blockDim.x) acc += d[i];
  s[t] = acc;
  __syncthreads();
  for (int base = 0; base < n; base += blockDim.x) {
    int i = base + t;
    __syncthreads();
    if (i < n) s[t] += d[i];
    __syncthreads();
    acc += s[(t + 1) % blockDim.x];
  }
  __syncthreads();
  if (blockIdx.x == 0 && t < n) d[t] = acc;
}
template <class F>
void go(const char* name, int blocks, int threads, F f) {
  int n = blocks * threads;
  std::vector<int> a(n);
  srand(n);
  for (int& x : a) x = rand() % 1000;
  int* d;
  cudaMalloc(&d, n * 4);
  cudaMemcpy(d, a.data(), n * 4, cudaMemcpyHostToDevice);
  f(d);
  cudaError_t e = cudaDeviceSynchronize();
  cudaMemcpy(a.data(), d, n * 4, cudaMemcpyDeviceToHost);
  printf("%s %d %d: %08x %s\n", name, blocks, threads, hash(a.data(), n * 4),
         cudaGetErrorString(e));
  cudaFree(d);
}
int main() {
  for (int th : {1, 32, 100, 256}) {
    go("reverse", 5, th, [&](int* d) { reverse<<<5, th>>>(d, 3); });
    go("reduce", 5, th, [&](int* d) { reduce<<<5, th, th * 4>>>(d, 5 * th - 7); });
    go("scan", 5, th, [&](int* d) { scan<<<5, th, th * 8>>>(d, 5 * th); });
    for (int n : {0, 1, 9}) go("priv", 5, th, [&](int* d) { priv<<<5, th>>>(d, n); });
    for (int m = 0; m < 3; m++) go("branch", 5, th, [&](int* d) { branch<<<5, th>>>(d, 5, m); });
    go("flags", 5, th, [&](int* d) { flags<<<5, th>>>(d, 5); });
    go("counts", 5, th, [&](int* d) { counts<<<5, th>>>(d, 500); });
    for (int n : {0, 1, 5, 12}) go("cont", 5, th, [&](int* d) { cont<<<5, th>>>(d, n); });
    go("nested", 5, th, [&](int* d) { nested<<<5, th>>>(d, 6); });
    for (int n = 0; n < 4; n++) go("sw", 4, 256, [&](int* d) { sw<<<4, 256>>>(d, n); });
    for (int n : {0, 1, 5}) go("ptrs", 5, th, [&](int* d) { ptrs<<<5, th>>>(d, n); });
    for (int n : {0, 1, 5}) go("boolk", 5, th, [&](int* d) { boolk<<<5, th>>>(d, n); });
    for (int n : {0, 1, 50})
      go("stride", 1, th, [&](int* d) { stride<<<1, th>>>(d, n < th ? n : th); });
  }
  go("twod", 6, 128, [&](int* d) { twod<<<6, dim3(16, 8)>>>(d, 1); });
}
