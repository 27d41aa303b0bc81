/* The place where the toolkit of other compilers keeps it. */
#include "../host_defines.h"
