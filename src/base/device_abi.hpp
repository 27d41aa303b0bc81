// The contract between compiled kernels and the engine that runs them.
//
// The LLVM pass (src/compiler) writes these structures into every device image and calls through
// the table; the engine (src/engine) reads them after loading an image and fills the table. The
// layout is plain C, so that the pass can refer to it by offset. Change `version` with any change
// here.
//
// Names in a device image, for a kernel whose (mangled) symbol is K:
//   K.sb            kernel_info, the descriptor of the kernel (found by dlsym)
//   K.counted.sb    kernel_info::counted of the kernel
//   __sb_table      device_table*, a hidden-per-image pointer variable (exported, found by dlsym)
//   that
//                   the engine sets before anything of the image runs
//   V.sb_managed    void*, for each __managed__ variable V: the engine stores the address of the
//   host's
//                   variable there; device code reaches V only through it
//
// What device code may call (declared in include/cuda, lowered by the pass):
//   __sb_tid_x ... __sb_nctaid_z, __sb_laneid     loads from the context, or induction variables
//   __sb_rt_NAME(args...)                          a call of table slot NAME: NAME(self, args...)
#pragma once

#include <cstddef>
#include <cstdint>

namespace sb::abi {

inline constexpr std::uint32_t version = 23;

// An address that is not a multiple of what its access wants has the low bits that say so here
// again, where no address of a program has any: an access through it faults.
inline constexpr unsigned misaligned_shift = 48;
inline constexpr unsigned misaligned_bits = 4;

struct device_table;

// How the engine has to run a block of the kernel.
enum class kernel_mode : std::uint32_t {
  // `entry` runs the whole block: the pass made loops over its threads. It never blocks: waiting is
  // noted in the block's logical clock (wait_until), and nothing observable follows the wait.
  loop = 0,
  // `entry` runs one thread; the engine gives each thread of the block a fiber. Barriers, warp
  // operations, spinning and waiting with effects afterwards switch fibers.
  fibers = 1,
  // `entry` runs the whole block as in loop mode, on a fiber of the block's own: it stops where the
  // blocks of the grid meet (grid_sync), and where none of its threads that spin got on (spun).
  block_fiber = 2,
  // The same. Its threads come to warp operations one by one (lane_comes), and it also stops where
  // none of those that wait there got on.
  lanes = 3,
};

enum param_flags : std::uint32_t {
  param_is_pointer = 1,
  param_is_read = 2,     // the kernel may read through the pointer
  param_is_written = 4,  // the kernel may write through the pointer
  // Its value may be seen: stored, passed on, compared with another, made a number, called.
  param_is_carried = 8,
};

struct param {
  std::uint32_t offset;  // in the packed parameter buffer
  std::uint32_t size;
  std::uint32_t flags;  // param_flags
};

// What threads did, as a device would have to do it: a sum over threads, so that divided by
// `threads` it is what a thread did on average. Counted in code that is simplified for one thread
// and not vectorised.
struct kernel_counts {
  // Bytes. What the threads of a warp read from one place counts for each of them. Atomics are not
  // in here, nor are a kernel's parameters.
  std::uint64_t global_loaded, global_stored;  // also through pointers that may point anywhere
  std::uint64_t shared_loaded, shared_stored;
  std::uint64_t local_loaded, local_stored;  // arrays that do not fit into registers
  std::uint64_t constant_loaded;             // __constant__ variables
  // Floating-point operations by the width of the type; a fused multiply-add is two.
  std::uint64_t fp32, fp64, fp16;
  std::uint64_t special;  // divisions, roots, and each call of a mathematical function, of any type
  std::uint64_t integer;  // with comparisons, choices, conversions and computed addresses
  std::uint64_t atomics;  // in any memory
  std::uint64_t shared_atomics;  // of these, in shared memory
  std::uint64_t barriers;        // arrivals: a barrier of a block counts for each of its threads
  std::uint64_t warp_operations;
  std::uint64_t threads;
  // Instructions of a device's pipes, where a fused multiply-add is one and a division or a sine is
  // as many as it is made of.
  std::uint64_t fp32_issued, fp64_issued;
  std::uint64_t logic;          // comparisons, choices, bits, shifts to the right
  std::uint64_t special_steps;  // approximations that functions start from, and floats to integers
};
inline constexpr std::size_t kernel_count_kinds = sizeof(kernel_counts) / sizeof(std::uint64_t);

// What `spent` tells is in sixteenths: of what a loop takes for going round, an unrolled one has a
// part.
inline constexpr std::uint64_t spent_unit = 16;

// Atomics: of whole numbers; those that a device's compiler makes one for each warp, as it sees
// that all of its threads want the same address; and sums of floats.
enum class access_kind : std::uint32_t {
  load = 0,
  store = 1,
  atomic = 2,
  joined_atomic = 3,
  float_atomic = 4,
};

// One per running block; shared by its threads.
struct block_context {
  std::uint32_t grid_dim[3];
  std::uint32_t block_dim[3];
  std::uint32_t block_idx[3];
  std::uint32_t dynamic_shared_bytes;
  // Loop mode: `entry` runs so many blocks, from block_idx on along x; more than one only where
  // kernel_info::row_threads allows it.
  std::uint32_t row_blocks;
  // Which of them it is at. Entries that run the blocks in turn say so, others leave it alone.
  std::uint32_t row_at;
  std::uint32_t cooperative;  // 1: the launch said that its blocks may meet
  // Shared memory of the block: static variables first (kernel_info::static_shared_bytes of them),
  // dynamic ones from there on, aligned to 128. `shared` itself is aligned to 128 at least.
  char* shared;
  char* dynamic_shared;   // shared + static_shared_bytes rounded up to 128
  kernel_counts* counts;  // kernel_info::counted adds to them; others never look
};

// One per thread in fiber mode. In loop mode one per block: a kernel that calls a table slot or a
// function that is not inlined stores `tid` and `linear_tid` before each thread's turn, others
// leave them alone. In loop mode a changed linear_tid tells the engine that the next thread began:
// the logical clock of that thread starts where the block's did, or the waits of the threads would
// add up.
struct thread_context {
  block_context* block;
  std::uint32_t tid[3];
  std::uint32_t linear_tid;  // x + y * dim.x + z * dim.x * dim.y
};

// Whether threads that share a fiber have a time each: they sleep on their way (thread_sleeps); and
// some of them ask for it.
enum class thread_times : std::uint32_t { none = 0, sleep = 1, are_read = 2 };

using kernel_entry = void (*)(const char* params, thread_context* self);

// What blocks a version of a kernel is for: all of these hold for them.
enum block_needs : std::uint32_t {
  needs_whole_rows = 1,   // no warp goes on in the next row
  needs_one_layer = 2,    // z is 1
  needs_whole_warps = 4,  // each warp has 32 threads
  needs_few_blocks = 8,   // along x: an int counts their threads, whatever their size
};
inline constexpr std::uint32_t few_blocks = 1u << 21;

// Of is_straight: nor does it compute with floats, whatever their mode.
inline constexpr std::uint32_t straight_without_floats = 2;

// Where it lies on the device that the image was loaded for.
struct variable {
  const void* address;
  std::uint64_t bytes;
};

struct kernel_info {
  std::uint32_t abi_version;
  kernel_mode mode;
  kernel_entry entry;
  const char* name;  // demangled, for messages
  std::uint32_t static_shared_bytes;
  std::uint32_t param_count;
  const param* params;
  std::uint32_t param_bytes;            // size of the packed parameter buffer
  std::uint32_t max_threads_per_block;  // __launch_bounds__, or 1024
  std::uint32_t min_blocks_per_multiprocessor;
  std::uint32_t local_bytes;                   // private memory per thread (an estimate)
  std::uint32_t registers;                     // per thread (an estimate)
  std::uint32_t uses_cooperative_groups_grid;  // needs a cooperative launch for grid sync
  // Loop mode: a thread goes through it once, with no loop, no barrier and no call of the engine,
  // so that no parameter and no memory makes a block take long. 0, 1, or straight_without_floats.
  std::uint32_t is_straight;
  // Loop mode: the most threads that a row of blocks may have; 0: `entry` runs one block at a time.
  std::uint32_t row_threads;
  std::uint32_t row_width;  // rows are for blocks of this width only; 0: of any
  // It may touch memory that none of its pointer parameters leads to. Never 0 by mistake.
  std::uint32_t reaches_other_memory;
  std::uint32_t needs;  // block_needs
  // A counted version: loops of it draw their work from a counter that all blocks have in common.
  std::uint32_t draws;
  thread_times times;  // modes block_fiber and lanes
  // A loop of it looks at what others write so many times at most.
  std::uint32_t gives_up;
  // The same kernel for other blocks, or for some of them. Null: this one runs all.
  const kernel_info* otherwise;
  // The same kernel in fiber mode, counting what its threads do. Null: there is none.
  const kernel_info* counted;
  // __constant__ variables that it reads: copies may write them between two launches.
  const variable* constants;
  std::uint64_t constant_count;
};

// What the blocks of a launch are to its kernel's versions.
struct block_shape {
  std::uint32_t x, y, z;
  std::uint32_t blocks_along_x;
};

inline bool serves(const kernel_info& kernel, const block_shape& block) {
  const std::uint32_t has =
      (block.x % 32 == 0 || (block.y == 1 && block.z == 1) ? needs_whole_rows : 0u) |
      (block.z == 1 ? needs_one_layer : 0u) |
      (block.x * block.y * block.z % 32 == 0 ? needs_whole_warps : 0u) |
      (block.blocks_along_x <= few_blocks ? needs_few_blocks : 0u);
  return (kernel.needs & ~has) == 0;
}

// Which of them runs these blocks.
inline const kernel_info& variant_for(const kernel_info& kernel, const block_shape& block) {
  const kernel_info* one = &kernel;
  while (one->otherwise != nullptr && !serves(*one, block)) one = one->otherwise;
  return *one;
}

// Warp operations carry 64-bit payloads; 32-bit ones are zero-extended by the headers.
enum class shuffle_kind : std::uint32_t { index = 0, up = 1, down = 2, xor_ = 3 };
enum class vote_kind : std::uint32_t { all = 0, any = 1, uniform = 2, ballot = 3 };
enum class reduce_kind : std::uint32_t {
  add = 0,
  min_s = 1,
  max_s = 2,
  min_u = 3,
  max_u = 4,
  and_ = 5,
  or_ = 6,
  xor_ = 7
};
enum class barrier_kind : std::uint32_t { plain = 0, count = 1, and_ = 2, or_ = 3 };
// Where threads ask which of their warp are there: a multiple of first_place, the greater the later
// they come there; whether they wait for nobody there; and whether they wait for those that sleep.
inline constexpr std::uint32_t first_place = 4, place_of_parted = 1, place_behind_sleep = 2;
enum class lane_operation : std::uint32_t {
  sync = 0,
  shuffle = 1,
  vote = 2,
  match = 3,
  reduce = 4,
  ask = 5,  // active_mask; the place is its argument
  rest = 6  // at a barrier, where lanes ask: it goes on when all threads have come
};
// Of a round of all threads of a block, some of which wait for others. If nobody got on: some look
// at memory in vain (spins), while others have just gone to sleep (naps); or nobody but sleepers
// can ever go on (sleeps), or nobody at all (is_stuck).
enum class round_outcome : std::uint32_t {
  spins = 0,
  got_on = 1,
  is_stuck = 2,
  naps = 3,
  sleeps = 4
};
// How a thread says until when it sleeps: for so many ns, or until the clock or the timer is there.
enum class sleep_kind : std::uint32_t { for_ns = 0, until_clock = 1, until_timer = 2 };
// What a thread does to a lock, which is given back when the one who took it writes there; or a
// fence, of whoever holds one.
enum class lock_event : std::uint32_t { tried = 0, taken = 1, written = 2, fence = 3 };
// What a thread does that has looked at memory in a loop.
enum class look_answer : std::uint32_t { goes_on = 0, stops = 1, sleeps = 2 };

// X(return type, NAME, parameters after `thread_context* self`)
// Slots are numbered in this order from 0; each is one pointer wide. `self` is always passed first.
#define SB_DEVICE_TABLE(X)                                                                         \
  X(thread_context*, self, (void)) /* of the running thread; takes no self */                      \
  X(int, barrier, (std::uint32_t kind, int predicate))                                             \
  X(void, warp_sync, (std::uint32_t mask))                                                         \
  X(std::uint64_t, shuffle,                                                                        \
    (std::uint32_t mask, std::uint32_t kind, std::uint64_t value, std::uint32_t lane_or_delta,     \
     std::uint32_t width, int* in_range))                                                          \
  X(std::uint32_t, vote, (std::uint32_t mask, std::uint32_t kind, int predicate))                  \
  X(std::uint32_t, match,                                                                          \
    (std::uint32_t mask, std::uint32_t all, std::uint64_t value, int* predicate))                  \
  X(std::uint32_t, reduce, (std::uint32_t mask, std::uint32_t kind, std::uint32_t value))          \
  X(std::uint32_t, active_mask, (std::uint32_t place)) /* threads of the warp converged here */    \
  X(std::uint64_t, clock, (void))                      /* device cycles, thread's logical clock */ \
  X(std::uint64_t, global_timer, (void))               /* nanoseconds */                           \
  X(void, wait_until, (std::uint64_t cycles))          /* until clock() >= cycles, logically */    \
  X(void, wait_until_timer, (std::uint64_t ns))        /* until global_timer() >= ns, logically */ \
  X(void, nanosleep, (std::uint32_t ns))                                                           \
  X(void, yield, (void))                   /* the back edge of a spinning loop */                  \
  X(int, print, (const char* format, ...)) /* printf in a kernel */                                \
  X(void, assert_fail,                                                                             \
    (const char* expression, const char* file, std::uint32_t line, const char* function))          \
  X(void, trap, (void))                                                                            \
  X(void*, allocate, (std::size_t bytes)) /* malloc in a kernel */                                 \
  X(void, deallocate, (void* pointer))                                                             \
  X(void, grid_sync, (void)) /* cooperative launches */                                            \
  X(std::uint32_t, sm_id, (void))                                                                  \
  /* yield, telling what the loop's exit depends on: a changed value means that it got on */       \
  X(void, spin, (std::uint64_t seen))                                                              \
  /* assert_fail in a loop over threads: returns, and the thread's turn ends */                    \
  X(void, note_assertion,                                                                          \
    (const char* expression, const char* file, std::uint32_t line, const char* function))          \
  X(void, end_if_asserted, (void)) /* behind the loop: ends the block if a turn noted one */       \
  /* kernel_info::counted only. An access of global or shared memory; `place` says which one of    \
     the image's it is. */                                                                         \
  X(void, touch,                                                                                   \
    (const void* address, std::uint32_t bytes, std::uint32_t kind, std::uint32_t place))           \
  /* What the thread did in a function: instructions, dependent steps, dependent loads. */         \
  X(void, spent, (std::uint64_t issued, std::uint64_t steps, std::uint64_t loads))                 \
  /* Modes loop and block_fiber: memory for a private array of the block's threads, which has a    \
     number in its kernel; the same for the next block of the row. Never null. */                  \
  X(void*, private_memory, (std::uint32_t number, std::size_t bytes))                              \
  /* kernel_info::counted only. The thread drew from a counter, which had this value and moves by  \
     `step`; or, without one, goes round. The rest is what `spent` would tell up to here. */       \
  X(void, drew,                                                                                    \
    (const void* counter, std::uint64_t value, std::int64_t step, std::uint64_t issued,            \
     std::uint64_t steps, std::uint64_t loads))                                                    \
  /* kernel_info::counted only, where something may be a lock: what was done (lock_event), where,  \
     and what `spent` would tell up to here. */                                                    \
  X(void, lock_step,                                                                               \
    (const void* lock, std::uint32_t event, std::uint64_t issued, std::uint64_t steps,             \
     std::uint64_t loads))                                                                         \
  /* Mode block_fiber: all threads of the block have had a turn, and some of them spin. Lets other \
     blocks run, unless one of its threads got on. */                                              \
  X(void, spun, (std::uint32_t outcome))                                                           \
  /* Mode lanes: a thread comes to a warp operation. 1 if all others have. */                      \
  X(std::uint32_t, lane_comes,                                                                     \
    (std::uint32_t thread, std::uint32_t what, std::uint32_t how, std::uint32_t mask,              \
     std::uint64_t value, std::uint32_t argument, std::uint32_t width))                            \
  X(std::uint32_t, lane_waits, (std::uint32_t thread))            /* 1 as long as they have not */ \
  X(std::uint64_t, lane_takes, (std::uint32_t thread, int* flag)) /* then, its result */           \
  X(void, lane_leaves, (std::uint32_t thread))                    /* it returns */                 \
  /* With thread_times: nanosleep, wait_until and wait_until_timer. 1 if the thread now sleeps. */ \
  X(std::uint32_t, thread_sleeps, (std::uint32_t thread, std::uint32_t kind, std::uint64_t time))  \
  X(std::uint32_t, thread_is_asleep, (std::uint32_t thread)) /* 1 as long as it is */              \
  /* The back edge of its loop that waits for others, as spin: look_answer. */                     \
  X(std::uint32_t, thread_looks, (std::uint32_t thread, std::uint64_t seen))                       \
  /* clock and global_timer for who waits for no time */                                           \
  X(std::uint64_t, noted_clock, (void))                                                            \
  X(std::uint64_t, noted_timer, (void))                                                            \
  X(void, wait_is_over, (void)) /* a loop that asked for the time saw what it waited for */

struct device_table {
#define SB_SLOT(type, name, params) void* name;
  SB_DEVICE_TABLE(SB_SLOT)
#undef SB_SLOT
};

}  // namespace sb::abi
