"""Which headers a program gets: its own, the toolkit's, and what is kept of them in precompiled form."""

import os
import unittest

from toolkit import DOUBLING, NvccTest


class Headers(NvccTest):
    """Programs print what they have found; each is compiled with kept headers and without."""

    ASKING = """
      #include <cstdio>
      #ifndef FOUND
      #define FOUND "the toolkit's"
      #endif
      __global__ void k() {}
      int main() { k<<<1, 1>>>(); std::puts(FOUND); return cudaDeviceSynchronize(); }
    """

    def own(self, name, header="cuda_runtime.h"):
        return self.write(name, f'#pragma once\n#ifndef FOUND\n#define FOUND "{name}"\n#endif\n#include_next <{header}>\n')

    def found(self, source, *words):
        """What the program says, which is the same with kept headers as without."""
        said = set()
        for cache in ("off", self.folder / "cache"):
            self.nvcc(*words, "-o", "a", source, STREAMBED_CACHE_DIR=cache)
            said.add(self.output("a"))
        self.assertEqual(len(said), 1, said)
        return said.pop().strip()

    def test_a_programs_own_cuda_runtime_comes_from_the_working_folder_or_an_I_folder(self):
        self.write("a.cu", self.ASKING)
        self.write("source/b.cu", self.ASKING)
        self.assertEqual(self.found("a.cu", "-Ii"), "the toolkit's")
        self.own("source/cuda_runtime.h")  # which nobody includes by name
        self.assertEqual(self.found("source/b.cu", "-Ii"), "the toolkit's")
        self.own("i/cuda_runtime.h")
        self.assertEqual(self.found("a.cu", "-Ii"), "i/cuda_runtime.h")
        self.assertEqual(self.found("a.cu", "-Xcompiler", "-iquote,i"), "i/cuda_runtime.h")
        self.assertEqual(self.found("a.cu"), "the toolkit's")
        self.own("cuda_runtime.h")
        self.assertEqual(self.found("a.cu", "-Ii"), "cuda_runtime.h")
        self.assertEqual(self.found("source/b.cu"), "cuda_runtime.h")
        (self.folder / "cuda_runtime.h").unlink()
        (self.folder / "i/cuda_runtime.h").unlink()
        self.assertEqual(self.found("a.cu", "-Ii"), "the toolkit's")

    def test_a_header_that_comes_later_is_found_where_it_hides_another(self):
        self.write("a.cu", self.ASKING)
        for words, header in ((["-Inone", "-Ii"], "string.h"), (["-isystem", self.folder / "i"], "math.h"),
                              (["-Xcompiler", "-I,i"], "bits/c++config.h")):
            with self.subTest(header):
                self.assertEqual(self.found("a.cu", *words), "the toolkit's")
                own = self.own(f"i/{header}", header)
                self.assertEqual(self.found("a.cu", *words), f"i/{header}")
                own.unlink()
                self.assertEqual(self.found("a.cu", *words), "the toolkit's")

    def test_other_files_that_come_and_go_leave_the_kept_headers_alone(self):
        self.write("a.cu", self.ASKING)
        cache = self.folder / "cache"

        def kept():
            self.nvcc("-I.", "-Ii", "-o", "a", "a.cu", STREAMBED_CACHE_DIR=cache)
            return sorted((entry.name, entry.stat().st_ino) for entry in cache.glob("*.pch"))

        before = kept()
        self.assertEqual(len(before), 2)
        self.write("i/mine.h", "")
        self.write("i/sys/mine.h", "")
        self.write("mine.h", "")
        self.assertEqual(kept(), before)
        for names in cache.glob("*.names"):
            names.write_text("")  # as a full disk left it
        after = kept()
        self.assertEqual([name for name, _ in after], [name for name, _ in before])
        self.assertTrue(all(names.stat().st_size > 0 for names in cache.glob("*.names")))
        self.assertEqual(kept(), after)
        self.assertEqual(sorted(entry.suffix for entry in cache.iterdir()), [".cu"] + [".names"] * 2 + [".pch"] * 2)

    def test_sources_that_are_compiled_at_the_same_time_make_them_once(self):
        words = []
        for name in ("a", "b", "c"):
            self.write(f"{name}.cu", DOUBLING)
            words.append(f"{name}.cu")
        cache = self.folder / "cache"
        self.nvcc("-t", "3", "-c", *words, STREAMBED_CACHE_DIR=cache)
        self.assertEqual(len(list(cache.glob("*.pch"))), 2)
        self.assertEqual(len(list(cache.iterdir())), 5)

    def test_a_damaged_cache_of_headers_is_made_anew(self):
        self.write("a.cu", DOUBLING)
        cache = self.folder / "damaged"

        def compile():
            self.nvcc("-o", "a", "a.cu", STREAMBED_CACHE_DIR=cache)
            return self.output("a")

        good = compile()
        entries = sorted(cache.glob("*.pch"))
        self.assertEqual(len(entries), 2)
        size = entries[0].stat().st_size
        for damage in (lambda e: os.truncate(e, size - 1000), lambda e: os.truncate(e, size // 2), lambda e: os.truncate(e, 0)):
            for entry in sorted(cache.glob("*.pch")):
                damage(entry)
            self.assertEqual(compile(), good)
            self.assertEqual(compile(), good)
        for entry in cache.glob("*.pch"):
            entry.unlink()
        (cache / "headers.cu").write_text("")  # as a full disk left it
        self.assertEqual(compile(), good)

    def test_the_cache_of_headers_knows_where_others_come_from(self):
        self.write("found/math.h", '#define FOUND 1\n#include_next <math.h>\n')
        self.write("a.cu", """#include <cstdio>
          int main() {
          #ifdef FOUND
            std::puts("found");
          #else
            std::puts("not found");
          #endif
          }""")
        cache = self.folder / "cache"
        for folders, answer in (("", "not found\n"), (self.folder / "found", "found\n"), ("", "not found\n")):
            self.nvcc("-o", "a", "a.cu", STREAMBED_CACHE_DIR=cache, CPATH=str(folders))
            self.assertEqual(self.output("a"), answer)


class OtherToolkits(NvccTest):
    """Makefiles name /usr/local/cuda, and so do people's environments."""

    def setUp(self):
        super().setUp()
        for name in ("cuda_runtime.h", "cuda_runtime_api.h", "driver_types.h", "crt/host_runtime.h"):
            self.write(f"other/include/{name}", "#error another toolkit's\n")
        self.write("runtime.c", "void from_another_toolkit(void) {}\n")
        (self.folder / "other/lib64/stubs").mkdir(parents=True)
        for name in ("libcudart.so.13", "libcublas.so", "stubs/libcuda.so"):
            self.command("gcc", "-shared", "-fPIC", f"-Wl,-soname,{name}", "runtime.c", "-o", f"other/lib64/{name}")
        os.symlink("libcudart.so.13", self.folder / "other/lib64/libcudart.so")
        self.write("a.cu", "#include <cuda_runtime.h>\n#include <driver_types.h>\n" + DOUBLING)

    def test_their_headers_are_left_aside_wherever_they_are_named(self):
        other = self.folder / "other/include"
        self.nvcc("-Xcompiler", f"-I{other}", "a.cu", "-o", "a")
        self.nvcc("-Xcompiler", f"-I,{other}", "a.cu", "-o", "a")
        for name in ("CPATH", "CPLUS_INCLUDE_PATH"):
            self.nvcc("a.cu", "-o", "a", **{name: f"/nowhere:{other}:/nowhere/else"})
            self.nvcc("a.cu", "-o", "a", **{name: str(other)})

    def test_names_that_are_not_reserved_are_the_programs(self):
        self.write("e.cu", "#include <cooperative_groups.h>\n#include <cuda_fp16.h>\nint main() {}\n")
        self.nvcc("-Dk=7", "-Dblock=7", "-Dgrid=7", "-c", "e.cu")

    def test_their_headers_and_libraries_are_left_aside(self):
        other = self.folder / "other"
        self.write("b.cpp", "#include <cuda_runtime.h>\nint f() { return cudaDeviceSynchronize(); }\n")
        for words in ([f"-I{other}/include"], ["-isystem", f"{other}/include/"], [f"-I{other}/include", "-ccbin", "g++"]):
            for libraries in ([], [f"-L{other}/lib64", "-lcudart"],
                              [f"-L{other}/lib64", f"-L{other}/lib64/stubs", "-Xlinker", f"-rpath={other}/lib64"]):
                with self.subTest(words=words, libraries=libraries):
                    self.nvcc(*words, "a.cu", "b.cpp", *libraries, "-o", "a")
                    self.assertEqual(self.output("a"), "ok\n")
                    self.assertEqual(self.output("a", LD_LIBRARY_PATH=f"{other}/lib64"), "ok\n")

    def test_their_libraries_are_named_as_not_there(self):
        for folder, library in (("lib64", "cublas"), ("lib64/stubs", "cuda"), ("lib64/stubs/", "cuda")):
            said = self.refused("a.cu", f"-Lother/{folder}", f"-l{library}")
            self.assertIn("not part of Streambed", said)


if __name__ == "__main__":
    unittest.main()
