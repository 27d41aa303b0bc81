"""HIP's NVIDIA header, cut down to what a toolkit provides.

The header (ROCm/hipother) is one inline function per HIP call over the CUDA runtime and the driver API, as of
CUDA 12; it compiles neither against CUDA 13 nor without the driver API. Whatever the compiler refuses is taken
out, declaration by declaration, until the rest compiles: a test that names what is gone then does not compile,
and says so by that name. Nothing is changed in what stays.
"""
import re
import shutil
import subprocess
from pathlib import Path

# The tests' own framework names these types and calls of the driver. They are there by name, and
# every such call answers "not supported".
STAND_IN = """
#pragma once
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef enum {
  CU_AD_FORMAT_UNSIGNED_INT8 = 1, CU_AD_FORMAT_UNSIGNED_INT16 = 2, CU_AD_FORMAT_UNSIGNED_INT32 = 3,
  CU_AD_FORMAT_SIGNED_INT8 = 8, CU_AD_FORMAT_SIGNED_INT16 = 9, CU_AD_FORMAT_SIGNED_INT32 = 10,
  CU_AD_FORMAT_HALF = 16, CU_AD_FORMAT_FLOAT = 32
} CUarray_format;
typedef enum {
  CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2, CU_MEMORYTYPE_ARRAY = 3, CU_MEMORYTYPE_UNIFIED = 4
} CUmemorytype;
typedef struct {
  unsigned long Width, Height, Depth;
  CUarray_format Format;
  unsigned int NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;
typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_UNKNOWN = 999 } CUresult;
"""
STAND_IN_NVRTC = """
#pragma once
typedef enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_INTERNAL_ERROR = 11 } nvrtcResult;
typedef struct _nvrtcProgram* nvrtcProgram;
"""
STAND_IN_CALLS = """
#ifdef __cplusplus
#define SB_NO_DRIVER(name) \\
  template <typename... Arguments> inline hipError_t name(Arguments...) { return hipErrorNotSupported; }
{calls}
#endif
"""
# What the framework's own headers call; each is provided only where the header lost it.
FRAMEWORK_CALLS = """hipInit hipDeviceGet hipCtxCreate hipCtxDestroy hipModuleUnload hipMallocArray hipMalloc3DArray
    hipFreeArray hipMallocMipmappedArray hipFreeMipmappedArray hipGetMipmappedArrayLevel hipArrayCreate
    hipArray3DCreate hipArrayDestroy hipDrvMemcpy3D hipDrvMemcpy3DAsync hipCreateChannelDesc""".split()
VERSION = """
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 2
#define HIP_VERSION_PATCH 0
#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)
"""
ERROR = re.compile(r"^(\S+?):(\d+):\d+: (?:fatal )?error: (.*)$", re.M)


def declarations(lines):
    """(first, last) line of every declaration; what only opens a language or name space is none."""
    found, begin, depth, comment = [], None, 0, False
    continued = False
    for number, line in enumerate(lines):
        text = line.strip()
        if comment or text.startswith("/*"):
            comment = "*/" not in text
            continue
        if continued or text.startswith("#"):
            continued = text.endswith("\\")
            continue
        text = re.sub(r"//.*$|/\*.*?\*/|\"(\\.|[^\"])*\"", "", text).strip()
        if not text or depth == 0 and begin is None and re.match(r"(extern\s*\{|namespace\b.*\{|\}$)", text):
            continue
        if begin is None:
            begin = number
        depth += text.count("{") - text.count("}")
        if depth <= 0 and text.endswith((";", "}")):
            found.append((begin, number))
            begin, depth = None, 0
    return found


def errors(compiler, include, toolkit):
    probe = include / "probe.cu"
    probe.write_text("#include <hip/hip_runtime.h>\n#include <hip/hip_cooperative_groups.h>\n"
                     "#include <hip/hiprtc.h>\n")
    done = subprocess.run([compiler, "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib",
                           "-fdeclspec", "-D__CUDACC__", "-D__NVCC__", "-std=c++17", "-w",
                           "-fsyntax-only", "-ferror-limit=0", "-D__HIP_PLATFORM_NVIDIA__", "-I",
                           str(include), "-isystem", str(toolkit), "-include", "cuda_runtime.h",
                           str(probe)], capture_output=True, text=True)
    return [(Path(f), int(l) - 1, m) for f, l, m in ERROR.findall(done.stderr)]


def cut(path, refused):
    """Takes out of one file what was refused; a statement alone where it is a case or an assignment."""
    lines = path.read_text(errors="replace").splitlines()
    spans = declarations(lines)
    names = []
    for line in sorted(refused):
        span = next((s for s in spans if s[0] <= line <= s[1]), None)
        if span is None:
            continue
        first, last = span
        text = lines[line].strip()
        case = next((i for i in range(line, max(first, line - 6), -1)
                     if lines[i].strip().startswith("case ")), None)
        if last - first > 60 and case is not None:
            # To its break, or to where the next one begins.
            first, last = case, next(i for i in range(line, last) if "break;" in lines[i] or
                                     re.match(r"\s*(case |default:)", lines[i + 1]))
        elif last - first > 60 and re.match(r"[\w>.\-\[\]]+ = .*;$", text):
            first = last = line
        else:
            named = re.search(r"(\w+)\s*\(", " ".join(lines[first:first + 3]))
            names.append(named.group(1) if named else lines[first].strip())
        for i in range(first, last + 1):
            if not lines[i].lstrip().startswith("#"):
                lines[i] = ""
    path.write_text("\n".join(lines) + "\n")
    return names


def make(destination, hip, hipother, toolkit, compiler="clang++-19"):
    """Writes the include directory; returns the names that were taken out."""
    include = Path(destination)
    shutil.copytree(Path(hip) / "include/hip", include / "hip", dirs_exist_ok=True)
    shutil.copytree(Path(hipother) / "hipnv/include/hip/nvidia_detail", include / "hip/nvidia_detail",
                    dirs_exist_ok=True)
    (include / "hip/amd_detail").mkdir(exist_ok=True)
    (include / "hip/amd_detail/amd_hip_runtime_pt_api.h").write_text("")
    (include / "hip/hip_version.h").write_text(VERSION)
    (include / "hip_stand_in.h").write_text(STAND_IN)
    (include / "nvrtc.h").write_text(STAND_IN_NVRTC)
    header = include / "hip/nvidia_detail/nvidia_hip_runtime_api.h"
    text = header.read_text()
    header.write_text(text.replace("#include <cuda.h>", "#include <cuda.h>\n#include <hip_stand_in.h>", 1))
    gone = []
    for _ in range(20):
        found = errors(compiler, include, toolkit)
        if not found:
            break
        by_file = {}
        for path, line, _ in found:
            if include in path.parents:
                by_file.setdefault(path, set()).add(line)
        removed = [n for path, refused in by_file.items() for n in cut(path, refused)]
        if not by_file:
            raise RuntimeError(f"HIP's header does not compile: {found[0]}")
        gone += removed
    else:
        raise RuntimeError("HIP's header does not compile after 20 cuts: " + str(found[:3]))
    runtime = include / "hip/nvidia_detail/nvidia_hip_runtime.h"
    text = runtime.read_text()
    end = text.rindex("#endif")
    lost = "\n".join(f"SB_NO_DRIVER({name})" for name in FRAMEWORK_CALLS if name in gone)
    runtime.write_text(text[:end] + STAND_IN_CALLS.replace("{calls}", lost) + text[end:])
    return gone
