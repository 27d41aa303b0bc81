// Kernels for ptx_test.cpp. The driver has rewritten the constraints by the time clang sees them
// (l and h to r, f and d to the host's own), and doubled the percent signs of special registers.
#include "device.h"

#ifdef __aarch64__
#define F "w"
#else
#define F "x"
#endif

extern "C" __global__ void registers(unsigned* out, unsigned long long* wide) {
  unsigned lane, warp, lt, tid;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm("mov.u32 %0, %%tid.x;" : "=r"(tid));
  unsigned i = threadIdx.x;
  out[4 * i] = lane;
  out[4 * i + 1] = warp;
  out[4 * i + 2] = lt;
  out[4 * i + 3] = tid;
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=r"(t));
  asm volatile("mov.u64 %0, %%clock64;" : "=r"(wide[0]));
  wide[1] = t;
}

extern "C" __global__ void timer_loop(unsigned long long ns) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=r"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=r"(now));
  } while (now - start < ns);
}

extern "C" __global__ void integers(unsigned* out, unsigned a, unsigned b, unsigned c) {
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(out[0]) : "r"(a));
  asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(out[1]) : "r"(b), "r"(a));
  asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(out[2]) : "r"(a), "r"(b));
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(out[3]) : "r"(a), "r"(b), "r"(c));
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(out[4]) : "r"(a), "r"(b), "r"(c));
  asm("mul.hi.u32 %0, %1, %2;" : "=r"(out[5]) : "r"(a), "r"(b));
  asm("shf.l.wrap.b32 %0, %1, %2, 8;" : "=r"(out[6]) : "r"(a), "r"(b));
  asm("{\n\t.reg .pred p;\n\tsetp.gt.u32 p, %1, %2;\n\tselp.u32 %0, 1, 0, p;\n}"
      : "=r"(out[7])
      : "r"(a), "r"(b));
  unsigned sum = c;
  asm("add.u32 %0, %0, %1;" : "+r"(sum) : "r"(a));
  out[8] = sum;
  unsigned low, high;
  asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, 5, 6;"
      : "=r"(low), "=r"(high)
      : "r"(0xffffffffu), "r"(2u));
  out[9] = low;
  out[10] = high;
  asm("popc.b32 %0, %1;" : "=r"(out[11]) : "r"(a));
  asm("bfe.s32 %0, %1, 28, 4;" : "=r"(out[12]) : "r"(a));
  asm("shl.b32 %0, %1, 40;" : "=r"(out[13]) : "r"(a));
  unsigned long long joined;
  asm("mov.b64 %0, {%1, %2};" : "=r"(joined) : "r"(1), "r"(2));
  out[14] = joined == 0x200000001ull;
  unsigned guarded = 7;
  asm("{ .reg .pred q; setp.eq.u32 q, %1, 3; @q mov.u32 %0, 9; @!q mov.u32 %0, 8; }"
      : "+r"(guarded)
      : "r"(c));
  out[15] = guarded;
}

extern "C" __global__ void floats(float* out, float a, float b, double d) {
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=" F(out[0]) : F(a), F(b), F(a));
  asm("sqrt.rn.f32 %0, %1;" : "=" F(out[1]) : F(b));
  asm("add.f32 %0, %1, 0f3F800000;" : "=" F(out[2]) : F(a));
  double wide;
  asm("add.f64 %0, %1, %1;" : "=" F(wide) : F(d));
  out[3] = (float)wide;
  int rounded;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(rounded) : F(a));
  out[4] = rounded;
  asm("max.f32 %0, %1, %2;" : "=" F(out[5]) : F(a), F(b));
}

extern "C" __global__ void memory(int* data, int* out) {
  int v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "r"(data));
  out[0] = v;
  asm volatile("ld.volatile.global.s32 %0, [%1+4];" : "=r"(v) : "r"(data) : "memory");
  out[1] = v;
  asm volatile("st.global.cs.u32 [%0], %1;" ::"r"(out + 2), "r"(33) : "memory");
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"r"(out + 3), "r"(44) : "memory");
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "r"(out + 3) : "memory");
  out[4] = v + 1;
  asm volatile("atom.add.release.gpu.global.u32 %0, [%1], 5;" : "=r"(v) : "r"(data) : "memory");
  out[5] = v;
  asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"r"(data), "r"(2) : "memory");
  int a, b;
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(data));
  out[6] = a;
  out[7] = b;
  asm volatile("membar.gl; fence.acq_rel.gpu;" ::: "memory");
}

extern "C" __global__ void shared_addresses(int* out) {
  __shared__ int tile[32];
  unsigned where;
  asm("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }"
      : "=r"(where)
      : "r"(&tile[threadIdx.x]));
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(where), "r"(threadIdx.x * 3) : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  int v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(where ^ 4) : "memory");
  out[threadIdx.x] = v;
}

extern "C" __global__ void acquires(int* flag, int* out) {
  if (threadIdx.x == 0) {
    int v;
    do {
      asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "r"(flag) : "memory");
    } while (v == 0);
    *out = v;
  } else {
    asm volatile("st.release.gpu.global.s32 [%0], 6;" ::"r"(flag) : "memory");
  }
}

extern "C" __global__ void leaves(int* out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x == 1) asm volatile("exit;");
  out[threadIdx.x] = 2;
}
extern "C" __global__ void stops() { asm volatile("trap;"); }
