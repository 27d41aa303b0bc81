// The problems as OpenCL kernels, line by line those of streambed.cu.
__kernel void saxpy(__global const float* x, __global const float* y, __global float* z, int n) {
  int i = get_global_id(0);
  if (i < n) z[i] = FACTOR * x[i] + y[i];
}
__kernel void copy(__global const float* x, __global const float* y, __global float* z, int n) {
  int i = get_global_id(0);
  if (i < n) z[i] = x[i];
}
__kernel void triad(__global const float* x, __global const float* y, __global float* z, int n) {
  int i = get_global_id(0);
  if (i < n) z[i] = x[i] + FACTOR * y[i];
}
__kernel void stride_saxpy(__global const float* x, __global const float* y, __global float* z, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) z[i] = FACTOR * x[i] + y[i];
}
__kernel void stride_copy(__global const float* x, __global const float* y, __global float* z, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) z[i] = x[i];
}
__kernel void stride_triad(__global const float* x, __global const float* y, __global float* z, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) z[i] = x[i] + FACTOR * y[i];
}

__kernel void multiply(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float as[16][16], bs[16][16];
  int tx = get_local_id(0), ty = get_local_id(1);
  int row = get_group_id(1) * 16 + ty, column = get_group_id(0) * 16 + tx;
  float sum = 0;
  for (int tile = 0; tile < n / 16; ++tile) {
    as[ty][tx] = a[row * n + tile * 16 + tx];
    bs[ty][tx] = b[(tile * 16 + ty) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; ++k) sum += as[ty][k] * bs[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

// OpenCL 1.2 has no float atomics: each group leaves its sum, and the host adds them.
__kernel void reduce(__global const float* x, __global float* out, int n) {
  __local float part[256];
  int t = get_local_id(0);
  float sum = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += x[i];
  part[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (unsigned half_ = get_local_size(0) / 2; half_ > 0; half_ /= 2) {
    if (t < half_) part[t] += part[t + half_];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = part[0];
}

__kernel void block_sums_halves(__global const float* x, __global float* out, int n) {
  __local float part[256];
  int t = get_local_id(0), i = get_global_id(0);
  part[t] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_ = get_local_size(0) / 2; half_ > 0; half_ /= 2) {
    if (t < half_) part[t] += part[t + half_];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = part[0];
}
__kernel void block_sums_spread(__global const float* x, __global float* out, int n) {
  __local float part[256];
  int t = get_local_id(0), i = get_global_id(0);
  part[t] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 1; k < get_local_size(0); k *= 2) {
    if (t % (2 * k) == 0) part[t] += part[t + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = part[0];
}
__kernel void block_sums_places(__global const float* x, __global float* out, int n) {
  __local float part[256];
  int t = get_local_id(0), i = get_global_id(0);
  part[t] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 1; k < get_local_size(0); k *= 2) {
    int j = 2 * k * t;
    if (j < get_local_size(0)) part[j] += part[j + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = part[0];
}

__kernel void block_sums_extern(__global const float* x, __global float* out, int n,
                                __local float* part) {
  int t = get_local_id(0), i = get_global_id(0);
  part[t] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_ = get_local_size(0) / 2; half_ > 0; half_ >>= 1) {
    if (t < half_) part[t] += part[t + half_];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = part[0];
}

__kernel void scan_blocks(__global const int* in, __global int* out, __global int* sums) {
  __local int part[2][256];
  int t = get_local_id(0), i = get_group_id(0) * 256 + t, from = 0;
  part[0][t] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 1; distance < 256; distance *= 2) {
    int value = part[from][t];
    if (t >= distance) value += part[from][t - distance];
    part[1 - from][t] = value;
    from = 1 - from;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = part[from][t];
  if (t == 255) sums[get_group_id(0)] = part[from][255];
}
__kernel void add_sums(__global int* out, __global const int* sums) {
  if (get_group_id(0) > 0) out[get_group_id(0) * 256 + get_local_id(0)] += sums[get_group_id(0) - 1];
}

__kernel void transpose(__global const float* in, __global float* out) {
  __local float tile[32][33];
  int tx = get_local_id(0), ty = get_local_id(1);
  int x = get_group_id(0) * 32 + tx, y = get_group_id(1) * 32 + ty;
  for (int j = 0; j < 32; j += 8) tile[ty + j][tx] = in[(y + j) * SIDE + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * 32 + tx, y = get_group_id(0) * 32 + ty;
  for (int j = 0; j < 32; j += 8) out[(y + j) * SIDE + x] = tile[tx][ty + j];
}

__kernel void histogram(__global const uchar* in, __global int* out, int n) {
  __local int own[256];
  int t = get_local_id(0);
  own[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&own[in[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&out[t], own[t]);
}

__kernel void stencil(__global const float* in, __global float* out) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && y > 0 && x < SIDE - 1 && y < SIDE - 1) {
    int i = y * SIDE + x;
    out[i] = 0.2f * (in[i] + in[i - SIDE] + in[i + SIDE] + in[i - 1] + in[i + 1]);
  }
}

__kernel void columns(__global const float* in, __global float* out) {
  int x = get_global_id(0);
  for (int y = 0; y < SIDE; ++y) out[y * SIDE + x] = 2 * in[y * SIDE + x] + y;
}

// 32 threads for each row.
__kernel void multiply_sparse(__global const int* starts, __global const int* columns,
                              __global const float* values, __global const float* x,
                              __global float* y) {
  __local float part[256];
  int t = get_local_id(0), lane = t % 32, row = get_global_id(0) / 32;
  float sum = 0;
  for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  part[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int delta = 16; delta > 0; delta /= 2) {
    if (lane < delta) part[t] += part[t + delta];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) y[row] = part[t];
}

__kernel void forces(__global const float* x, __global const float* y, __global const float* z,
                     __global float* fx, __global float* fy, __global float* fz) {
  __local float sx[256], sy[256], sz[256];
  int t = get_local_id(0), i = get_global_id(0);
  float px = x[i], py = y[i], pz = z[i], ax = 0, ay = 0, az = 0;
  for (int tile = 0; tile < BODIES; tile += 256) {
    sx[t] = x[tile + t];
    sy[t] = y[tile + t];
    sz[t] = z[tile + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 256; ++j) {
      float dx = sx[j] - px, dy = sy[j] - py, dz = sz[j] - pz;
      float r = 1.0f / sqrt(dx * dx + dy * dy + dz * dz + SOFTENING), r3 = r * r * r;
      ax += dx * r3;
      ay += dy * r3;
      az += dz * r3;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  fx[i] = ax;
  fy[i] = ay;
  fz[i] = az;
}

float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  float c = 0.39894228040143267794f * exp(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - c : c;
}
__kernel void black_scholes(__global const float* spot, __global const float* strike, __global const float* years,
                            __global float* call, __global float* put, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float root = VOLATILITY * sqrt(years[i]);
  float d1 = (log(spot[i] / strike[i]) + (RATE + 0.5f * VOLATILITY * VOLATILITY) * years[i]) / root;
  float n1 = normal(d1), n2 = normal(d1 - root), discount = strike[i] * exp(-RATE * years[i]);
  call[i] = spot[i] * n1 - discount * n2;
  put[i] = discount * (1.0f - n2) - spot[i] * (1.0f - n1);
}

#define MATHS(name, value)                                                          \
  __kernel void name##_all(__global const float* in, __global float* out, int n) { \
    int i = get_global_id(0);                                                       \
    if (i >= n) return;                                                             \
    float x = in[i];                                                                \
    out[i] = value;                                                                 \
  }
MATHS(expf, exp(x))
MATHS(logf, log(x))
MATHS(sinf, sin(x))
MATHS(powf, pow(x, 2.3f))
MATHS(erff, erf(x))
MATHS(tanhf, tanh(x))
