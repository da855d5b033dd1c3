// Warp matrix functions for parsing only: CUDA C++ Programming Guide, "Warp Matrix Functions".
#ifndef VT_LINT_MMA_H
#define VT_LINT_MMA_H
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace nvcuda {
namespace wmma {
struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
namespace precision {
struct tf32;
struct s4;
struct u4;
}
enum layout_t { mem_row_major, mem_col_major };
template <class T> struct storage_of { typedef T type; };
template <> struct storage_of<precision::tf32> { typedef float type; };
template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
  typedef typename storage_of<T>::type element_type;
  enum { num_elements = 8 };
  element_type x[num_elements];
};
template <class F, class T> __device__ void fill_fragment(F&, const T&);
template <class F, class T> __device__ void load_matrix_sync(F&, const T*, unsigned);
template <class F, class T> __device__ void load_matrix_sync(F&, const T*, unsigned, layout_t);
template <class F, class T> __device__ void store_matrix_sync(T*, const F&, unsigned, layout_t);
template <class D, class A, class B, class C> __device__ void mma_sync(D&, const A&, const B&, const C&);
__device__ float __float_to_tf32(float);
}
}
#endif
