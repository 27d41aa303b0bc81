/* The names of the standard library in the namespace cuda::std. Device code may use what is
   constexpr there, and the functions of <cmath>. */
#ifndef STREAMBED_STANDARD_NAMES_H
#define STREAMBED_STANDARD_NAMES_H

namespace cuda {
namespace std {

using namespace ::std;

}  // namespace std
}  // namespace cuda

#endif
