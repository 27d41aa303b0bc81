/* Who an operation of the namespace cuda is meant for. Here every one serves all. */
#ifndef STREAMBED_THREAD_SCOPE_H
#define STREAMBED_THREAD_SCOPE_H

namespace cuda {

enum thread_scope {
  thread_scope_system = 0,
  thread_scope_device = 1,
  thread_scope_block = 2,
  thread_scope_thread = 10,
};

}  // namespace cuda

#endif
