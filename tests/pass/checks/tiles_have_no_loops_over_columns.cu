// RUN: -O3 -S
// For blocks of the shape of its tiles a kernel goes over two rows of threads at a time, and over
// all columns of them together: products of 2 * 16 threads and 16 numbers, as vectors of four.
// Nothing is left over that would be done one by one. With 16 registers it is one row.
// CHECK-LABEL: {{^}}product.16x16:
// CHECK-NOT: {{fmadd|fmul s|mulss}}
// AARCH64-COUNT-128: {{fmla|fmul}}
// X86_64-COUNT-64: mulps
// CHECK-NOT: {{fmla|fmul|fmadd|mulps|mulss}}
// CHECK: {{^}}.Lfunc_end
#include "product_of_tiles.h"
