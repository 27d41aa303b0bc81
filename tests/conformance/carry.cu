// A host pointer that a kernel carries; a program's own SIGSEGV handler; launches in static constructors.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
__device__ int variable = 3;
__global__ void get(int* o) { *o = variable; }
struct early { early() { int *o, h = 0; cudaMalloc(&o, 4); get<<<1, 1>>>(o); printf("static.launch\t%s\n", cudaGetErrorName(cudaGetLastError())); cudaMemcpy(&h, o, 4, cudaMemcpyDefault); printf("static.value\t%d\n", h); } } object;
__global__ void carry(void* p, void** o) { *o = p; }
__global__ void range(int* b, int* e, void** o) { int s = 0; for (; b != e; ++b) s += *b; *o = (void*)(size_t)s; }
__global__ void bad(int* p) { *p = 1; }
static sigjmp_buf back; static void h(int) { siglongjmp(back, 1); }
int main() {
  void *x = malloc(64), **o, *r; cudaMalloc(&o, 8);
  carry<<<1, 1>>>(x, o); cudaError_t e = cudaMemcpy(&r, o, 8, cudaMemcpyDefault); printf("carry\t%s same %d\n", cudaGetErrorName(e), r == x);
  range<<<1, 1>>>((int*)x, (int*)x, o); e = cudaMemcpy(&r, o, 8, cudaMemcpyDefault); printf("range.empty\t%s\n", cudaGetErrorName(e));
  signal(SIGSEGV, h);
  if (sigsetjmp(back, 1) == 0) *(volatile int*)64 = 1; else puts("handler\town");
  bad<<<1, 1>>>((int*)8); printf("fault\t%s\n", cudaGetErrorName(cudaDeviceSynchronize())); fflush(stdout);
}
