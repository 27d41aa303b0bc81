// Names what cooperative groups offer; it only has to compile.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__device__ unsigned long long any_group(cg::thread_group group) {
  group.sync();
  return group.thread_rank() + group.size() + cg::group_size(group);
}

template <typename Group>
__device__ int sum(const Group& group, int value) {
  for (int i = group.size() / 2; i > 0; i /= 2) value += group.shfl_down(value, i);
  return value;
}

struct wide_value {
  double a;
  int b;
};

__global__ void groups(int* out, const int* in) {
  __shared__ int buffer[256];
  cg::thread_block block = cg::this_thread_block();
  cg::sync(block);
  block.sync();
  auto token = block.barrier_arrive();
  block.barrier_wait(std::move(token));
  dim3 index = block.group_index(), thread = block.thread_index(), size = block.group_dim();
  out[0] = index.x + thread.y + size.z + block.thread_rank() + block.size() + block.num_threads();

  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  auto tile = cg::tiled_partition<4>(warp);
  cg::thread_group small = cg::tiled_partition(block, 8);
  cg::thread_group smaller = cg::tiled_partition(small, 2);
  out[1] = sum(warp, 1) + sum(tile, 2) + tile.meta_group_rank() + tile.meta_group_size();
  out[2] = any_group(block) + any_group(warp) + any_group(small) + any_group(smaller);
  out[3] = warp.any(1) + warp.all(0) + warp.ballot(1) + warp.match_any(out[0]);
  int all = 0;
  out[4] =
      warp.match_all(out[0], all) + warp.shfl(out[0], 0) + warp.shfl_up(1, 1) + warp.shfl_xor(1, 2);
  out[5] = static_cast<int>(warp.shfl(wide_value{1.0, 2}, 3).a);

  cg::coalesced_group together = cg::coalesced_threads();
  out[6] = sum(together, 1) + together.ballot(1) + together.thread_rank() + together.shfl(1, 0);
  cg::coalesced_group half = cg::binary_partition(warp, threadIdx.x & 1);
  cg::coalesced_group labelled = cg::labeled_partition(warp, static_cast<int>(threadIdx.x % 3));
  out[7] = half.meta_group_rank() + labelled.meta_group_size();

  out[8] =
      cg::reduce(warp, out[0], cg::plus<int>()) + cg::reduce(together, out[1], cg::greater<int>());
  out[9] = cg::inclusive_scan(tile, 1) + cg::exclusive_scan(tile, 1, cg::plus<int>());
  cg::memcpy_async(block, buffer, in, sizeof(buffer));
  cg::wait(block);
  cg::invoke_one(block, [&] { out[10] = buffer[0]; });
  out[11] = cg::invoke_one_broadcast(warp, [&] { return buffer[1]; });

  cg::grid_group grid = cg::this_grid();
  grid.sync();
  out[12] =
      static_cast<int>(grid.thread_rank() + grid.size() + grid.num_blocks() + grid.block_rank());
}
