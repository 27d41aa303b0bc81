// libcudadevrt.a has no content: kernels do not launch kernels here.
typedef int sb_empty_translation_unit;
