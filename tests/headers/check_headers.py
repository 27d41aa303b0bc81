"""Checks of the headers under include/cuda.

  check_headers.py alone            each public header compiles alone, as C++, C and CUDA
  check_headers.py source FILE.cu   the file compiles in the device pass and in the host pass
  check_headers.py absent           what we do not provide fails to compile, by name
  check_headers.py per_thread       with per-thread default streams every call has its own symbol
  check_headers.py toolkit          names and values are those of NVIDIA's toolkit (77: there is none)
  check_headers.py run FILE.cu      compiled with --nvcc, it prints what --recording holds
  check_headers.py flags            the flags of the device pass
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CUDA = ["-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version",
        "-Wno-macro-redefined", "-fdeclspec", "-fPIC", "-std=c++17", "-D__CUDACC__", "-D__NVCC__"]
DEVICE = ["-Xclang", "-fcuda-is-device", "-D__CUDA_ARCH__=900", "-Xclang", "-ffake-address-space-map",
          "-ffp-contract=fast-honor-pragmas"]
HOST = ["-ffp-contract=off"]
# Usable from C. The others are C++, or empty without a CUDA compilation.
C_HEADERS = {"cuda_runtime_api.h", "driver_types.h", "builtin_types.h", "vector_types.h",
             "vector_functions.h", "host_defines.h", "surface_types.h", "texture_types.h", "device_types.h", "driver_functions.h",
             "cuda_profiler_api.h", "cuda_runtime.h", "cuda.h", "cuda_fp16.h", "cuda_bf16.h",
             "cuComplex.h"}


def compile_text(command, text, suffix, extra=()):
    """The compiler's messages, or None when it accepted the text."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / ("source" + suffix)
        source.write_text(text)
        done = subprocess.run([*command, *extra, "-fsyntax-only", str(source)],
                              capture_output=True, text=True)
        return None if done.returncode == 0 and not done.stderr else done.stderr or "failed"


def cuda_command(options, which):
    command = [options.clang, *CUDA, "-isystem", options.include, "-include", "cuda_runtime.h"]
    if os.uname().machine == "x86_64":
        command.append("-mcx16")
    return command + (DEVICE if which == "device" else HOST)


def public_headers(options):
    root = pathlib.Path(options.include)
    return sorted(str(path.relative_to(root)) for path in root.rglob("*")
                  if path.is_file() and path.suffix in (".h", "") and "crt" not in path.relative_to(root).parts and "details" not in path.parts)


def check_alone(options):
    problems = []
    headers = public_headers(options)
    warnings = ["-Wall", "-Wextra", "-Werror", "-I", options.include]
    for header in headers:
        # Twice: a header without a guard fails too.
        text = f"#include <{header}>\n#include <{header}>\n"
        runs = [("C++17", [options.cxx, *warnings, "-std=c++17"], ".cpp"),
                ("C++11", [options.cxx, *warnings, "-std=c++11"], ".cpp")]
        if header in C_HEADERS:
            runs.append(("C", [options.cc, *warnings, "-std=c11"], ".c"))
        if options.clang:
            runs.append(("C++ with clang", [options.clang, *warnings, "-std=c++20"], ".cpp"))
            # Without the implicit include, as the first thing that is read.
            bare = [a for a in cuda_command(options, "host") if a not in ("-include", "cuda_runtime.h")]
            runs.append(("CUDA, host pass", bare, ".cu"))
            bare = [a for a in cuda_command(options, "device") if a not in ("-include", "cuda_runtime.h")]
            runs.append(("CUDA, device pass", bare, ".cu"))
        for how, command, suffix in runs:
            messages = compile_text(command, text, suffix)
            if messages:
                problems.append(f"{header} does not compile alone as {how}:\n{messages}")
    print(f"{len(headers)} public headers")
    return problems


def check_source(options):
    problems = []
    for which in ("device", "host"):
        done = subprocess.run([*cuda_command(options, which), "-Wall", "-Werror", "-c", options.file,
                               "-o", os.devnull], capture_output=True, text=True)
        if done.returncode != 0 or done.stderr:
            problems.append(f"{options.file} does not compile in the {which} pass:\n{done.stderr}")
    return problems


def check_absent(options):
    problems = []
    plain = [options.cxx, "-I", options.include]
    for header in ("cuda_fp4.h", "cublas_v2.h", "thrust/device_vector.h"):
        messages = compile_text(plain, f"#include <{header}>\n", ".cpp")
        if not messages or header not in messages:
            problems.append(f"{header} should be missing, and the message should name it")
    for call in ("cudaMemcpyBatchAsync(0, 0, 0, 0, 0, 0, 0, 0)", "cuInit(0)",
                 "cudaMallocMipmappedArray(0, 0, cudaExtent(), 1)"):
        name = call[:call.index("(")]
        messages = compile_text(
            plain, f"#include <cuda.h>\n#include <cuda_runtime.h>\nvoid f() {{ {call}; }}\n", ".cpp")
        if not messages or name not in messages:
            problems.append(f"{name} should not be declared, and the message should name it")
    return problems


def check_per_thread(options):
    problems = []
    calls = {"cudaMemcpy(0, 0, 0, cudaMemcpyDefault)": "cudaMemcpy_ptds",
             "cudaMemset(0, 0, 0)": "cudaMemset_ptds",
             "cudaMemcpyAsync(0, 0, 0, cudaMemcpyDefault)": "cudaMemcpyAsync_ptsz",
             "cudaMemcpy2DToArray(0, 0, 0, 0, 0, 0, 0, cudaMemcpyDefault)": "cudaMemcpy2DToArray_ptds",
             "cudaMemcpyFromArrayAsync(0, 0, 0, 0, 0, cudaMemcpyDefault)":
                 "cudaMemcpyFromArrayAsync_ptsz",
             "cudaStreamSynchronize(0)": "cudaStreamSynchronize_ptsz",
             "cudaEventRecord(0)": "cudaEventRecord_ptsz",
             "cudaDeviceSynchronize()": "cudaDeviceSynchronize",
             "cudaEventSynchronize(0)": "cudaEventSynchronize",
             "cudaMemcpyPeer(0, 0, 0, 0, 0)": "cudaMemcpyPeer"}
    text = "#include <cuda_runtime.h>\n" + "".join(
        f"void f{i}() {{ {call}; }}\n" for i, call in enumerate(calls))
    for macro, suffix in (("-DCUDA_API_PER_THREAD_DEFAULT_STREAM", True), ("-DNOTHING", False)):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "source.cpp"
            source.write_text(text)
            assembly = subprocess.run([options.cxx, macro, "-O1", "-S", "-I", options.include,
                                       str(source), "-o", "-"],
                                      capture_output=True, text=True, check=True).stdout
        for name in calls.values():
            wanted = name if suffix else re.sub("_pt[ds][sz]$", "", name)
            if not re.search(rf"\b{wanted}\b(?!_)", assembly):
                problems.append(f"with {macro} there is no call of {wanted}")
    return problems


def declarations(clang, include):
    """Enumerators, functions and struct members of cuda_runtime_api.h, from clang's syntax tree."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "source.c"
        source.write_text("#include <cuda_runtime_api.h>\n#include <cuda_profiler_api.h>\n")
        run = [clang, "-x", "c", "-w", "-I", include, str(source)]
        tree = json.loads(subprocess.run([*run, "-Xclang", "-ast-dump=json", "-fsyntax-only"],
                                         capture_output=True, text=True).stdout)
        macros = subprocess.run([*run, "-dM", "-E"], capture_output=True, text=True).stdout

    def value(node):
        for inner in node.get("inner", []):
            found = inner.get("value", value(inner))
            if found is not None:
                return found
        return None

    enumerators, functions, members = {}, {}, {}
    for node in tree["inner"]:
        if node["kind"] == "EnumDecl":
            last = -1
            for inner in node.get("inner", []):
                if inner["kind"] == "EnumConstantDecl":
                    given = value(inner)
                    last = int(given) if given is not None else last + 1
                    enumerators[inner["name"]] = (node.get("name"), last)
        elif node["kind"] == "FunctionDecl" and node["name"].startswith("cuda"):
            functions[node["name"]] = node["type"]["qualType"]
        elif node["kind"] == "RecordDecl" and node.get("name") and node.get("completeDefinition"):
            for inner in node.get("inner", []):
                kind = inner.get("type", {}).get("desugaredQualType",
                                                 inner.get("type", {}).get("qualType", ""))
                if inner["kind"] == "FieldDecl" and "unnamed" not in kind and "anonymous" not in kind:
                    members[f"{node['name']}::{inner.get('name')}"] = kind
    flags = dict(re.findall(r"#define (cuda\w+) (\S.*)", macros))
    return {"enumerator": enumerators, "function": functions, "member": members, "macro": flags}


# Gone from CUDA 13, kept for older programs.
OURS_ALONE = {"cudaDevAttrCooperativeMultiDeviceLaunch"} | {
    f"cudaDeviceProp::{name}" for name in (
        "clockRate", "deviceOverlap", "kernelExecTimeoutEnabled", "computeMode", "maxTexture1DLinear",
        "memoryClockRate", "singleToDoublePrecisionPerfRatio", "cooperativeMultiDeviceLaunch")}


def check_toolkit(options):
    toolkit = pathlib.Path(os.environ.get("CUDA_PATH", "/usr/local/cuda")) / "include"
    if not (toolkit / "cuda_runtime_api.h").exists():
        print(f"skipped: no toolkit of NVIDIA in {toolkit}; set CUDA_PATH to compare with one")
        sys.exit(77)
    if "CUDART_VERSION  13000" not in (toolkit / "cuda_runtime_api.h").read_text():
        print(f"skipped: the toolkit in {toolkit} is not CUDA 13.0")
        sys.exit(77)
    theirs, ours = (declarations(options.clang, str(path)) for path in (toolkit, options.include))
    problems = []
    for kind, names in ours.items():
        for name, what in names.items():
            if name not in theirs[kind]:
                if name not in OURS_ALONE:
                    problems.append(f"{kind} {name} is not in NVIDIA's toolkit")
            elif theirs[kind][name] != what:
                problems.append(f"{kind} {name}: {what}, NVIDIA's is {theirs[kind][name]}")
        print(f"{len(names)} {kind}s compared")
    errors = {n for n, (of, _) in theirs["enumerator"].items() if of == "cudaError"}
    problems += [f"{name} is missing" for name in sorted(errors - set(ours["enumerator"]))]
    return problems


def check_run(options):
    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder) / "program")
        subprocess.run([options.nvcc, "-std=c++17", options.file, "-o", program], check=True)
        printed = subprocess.run([program], capture_output=True, text=True, timeout=120,
                                 check=True).stdout.splitlines()
    recorded = pathlib.Path(options.recording).read_text().splitlines()
    problems = [f"{ours}\n  the device: {theirs}" for ours, theirs in zip(printed, recorded)
                if ours != theirs]
    if len(printed) != len(recorded):
        problems.append(f"{len(printed)} lines, the device printed {len(recorded)}")
    print(f"{len(recorded) - len(problems)} of {len(recorded)} lines agree")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", required=True, help="the folder with cuda_runtime.h")
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--clang", help="clang++ with CUDA mode; without it only plain C and C++")
    parser.add_argument("check", choices=["alone", "source", "absent", "per_thread", "toolkit", "run",
                                          "flags"])
    parser.add_argument("file", nargs="?")
    parser.add_argument("--nvcc")
    parser.add_argument("--recording")
    options = parser.parse_args()
    if options.check == "flags":
        print(" ".join(cuda_command(options, "device")[1:]))
        return 0
    problems = globals()[f"check_{options.check}"](options)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
