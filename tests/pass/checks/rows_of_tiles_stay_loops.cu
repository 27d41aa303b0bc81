// RUN: -O3 -S -emit-llvm -fno-discard-value-names
// A block of the shape of its tile has a known number of rows. What a row of threads does, by
// vectors or one by one, is there once for each region all the same, not once for each of 16 rows.
// CHECK-LABEL: @product.16x16(
// CHECK: {{^}}next.tid.y
// CHECK-NOT: {{^}}next.tid.y{{.*}}.15:
// CHECK: {{^}}}
#include "product_of_tiles.h"
