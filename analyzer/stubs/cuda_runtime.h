// Declarations of the CUDA runtime API, enough to parse host code with clang where no CUDA SDK is installed
// (-x cuda --cuda-host-only -nocudainc -nocudalib). Nothing here is ever linked or run.
// Names and signatures: CUDA Runtime API reference, https://docs.nvidia.com/cuda/cuda-runtime-api/
#ifndef VT_LINT_CUDA_RUNTIME_H
#define VT_LINT_CUDA_RUNTIME_H

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __cluster_dims__(...)
#define __grid_constant__
#define __maxnreg__(n)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define CUDART_VERSION 12080
#define CUDA_VERSION 12080

#include <math.h>  // also names it in no namespace, as nvcc does
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define VT_LINT_HD static inline __host__ __device__

// ---- vector types
#define VT_LINT_VECTORS(T, N, A2, A4)                                                            \
  struct N##1 { T x; };                                                                          \
  struct __align__(A2) N##2 { T x, y; };                                                         \
  struct N##3 { T x, y, z; };                                                                    \
  struct __align__(A4) N##4 { T x, y, z, w; };                                                   \
  VT_LINT_HD N##1 make_##N##1(T a) { return {a}; }                                               \
  VT_LINT_HD N##2 make_##N##2(T a, T b) { return {a, b}; }                                       \
  VT_LINT_HD N##3 make_##N##3(T a, T b, T c) { return {a, b, c}; }                               \
  VT_LINT_HD N##4 make_##N##4(T a, T b, T c, T d) { return {a, b, c, d}; }
VT_LINT_VECTORS(signed char, char, 2, 4)
VT_LINT_VECTORS(unsigned char, uchar, 2, 4)
VT_LINT_VECTORS(short, short, 4, 8)
VT_LINT_VECTORS(unsigned short, ushort, 4, 8)
VT_LINT_VECTORS(int, int, 8, 16)
VT_LINT_VECTORS(unsigned int, uint, 8, 16)
VT_LINT_VECTORS(long, long, 16, 16)
VT_LINT_VECTORS(unsigned long, ulong, 16, 16)
VT_LINT_VECTORS(long long, longlong, 16, 16)
VT_LINT_VECTORS(unsigned long long, ulonglong, 16, 16)
VT_LINT_VECTORS(float, float, 8, 16)
VT_LINT_VECTORS(double, double, 16, 16)

struct dim3 {
  unsigned int x, y, z;
  constexpr __host__ __device__ dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1)
      : x(a), y(b), z(c) {}
  constexpr __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;

// ---- handles, enumerations, structures
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct CUgraphNode_st* cudaGraphNode_t;
typedef struct CUfunc_st* cudaFunction_t;
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
typedef struct cudaArray* cudaArray_t;
typedef void (*cudaHostFn_t)(void*);

enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInsufficientDriver = 35,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorUnsupportedPtxVersion = 222,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorHostMemoryAlreadyRegistered = 712,
  cudaErrorNotSupported = 801,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorGraphExecUpdateFailure = 910,
  cudaErrorUnknown = 999
};
typedef enum cudaError cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
  cudaDevAttrMemoryPoolsSupported = 115
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 15
};
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel,
  cudaGraphNodeTypeMemcpy,
  cudaGraphNodeTypeMemset,
  cudaGraphNodeTypeHost,
  cudaGraphNodeTypeGraph,
  cudaGraphNodeTypeEmpty,
  cudaGraphNodeTypeWaitEvent,
  cudaGraphNodeTypeEventRecord
};
enum cudaGraphExecUpdateResult { cudaGraphExecUpdateSuccess, cudaGraphExecUpdateError };
enum cudaMemoryAdvise { cudaMemAdviseSetReadMostly = 1, cudaMemAdviseSetPreferredLocation = 3, cudaMemAdviseSetAccessedBy = 5 };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4, cudaMemPoolAttrReservedMemCurrent, cudaMemPoolAttrUsedMemCurrent = 7 };
enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess,
  cudaDriverEntryPointSymbolNotFound,
  cudaDriverEntryPointVersionNotSufficent
};
enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization = 6, cudaLaunchAttributeClusterDimension = 4 };
enum cudaDataType {
  CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_8I = 3, CUDA_R_8U = 8, CUDA_R_32I = 10, CUDA_R_16BF = 14,
  CUDA_R_8F_E4M3 = 28, CUDA_R_8F_E5M2 = 29, CUDA_R_8F_UE8M0 = 30, CUDA_R_4F_E2M1 = 33
};
typedef enum cudaDataType cudaDataType_t;
enum libraryPropertyType { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };

enum {
  cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0, cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2, cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
  cudaHostAllocWriteCombined = 4, cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1,
  cudaHostRegisterMapped = 2, cudaHostRegisterReadOnly = 8, cudaMemAttachGlobal = 1, cudaEnableDefault = 0,
  cudaStreamCaptureToNoEdges = 0, cudaOccupancyDefault = 0
};
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaCpuDeviceId (-1)

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerMultiprocessor, sharedMemPerBlockOptin, totalConstMem;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor;
  int multiProcessorCount, integrated, canMapHostMemory, concurrentKernels, pciBusID, pciDeviceID, pciDomainID;
  int memoryClockRate, memoryBusWidth, l2CacheSize, maxThreadsPerMultiProcessor, unifiedAddressing, managedMemory;
  int pageableMemoryAccess, concurrentManagedAccess, cooperativeLaunch, asyncEngineCount;
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes;
};
struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned int sharedMemBytes;
  void** kernelParams;
  void** extra;
};
struct cudaMemsetParams { void* dst; size_t pitch; unsigned int value, elementSize; size_t width, height; };
struct cudaPos { size_t x, y, z; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
struct cudaHostNodeParams { cudaHostFn_t fn; void* userData; };
struct cudaGraphEdgeData { unsigned char from_port, to_port, type, reserved[5]; };
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};
struct cudaPointerAttributes { int type, device; void *devicePointer, *hostPointer; };
union cudaLaunchAttributeValue { char pad[64]; int programmaticStreamSerializationAllowed; struct { unsigned x, y, z; } clusterDim; };
struct cudaLaunchAttribute { cudaLaunchAttributeID id; cudaLaunchAttributeValue val; };
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned int numAttrs;
};
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };

// ---- functions
extern "C" {
unsigned int __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
const char* cudaGetErrorString(cudaError_t);
const char* cudaGetErrorName(cudaError_t);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
cudaError_t cudaMalloc(void**, size_t);
cudaError_t cudaMallocAsync(void**, size_t, cudaStream_t);
cudaError_t cudaMallocHost(void**, size_t);
cudaError_t cudaMallocManaged(void**, size_t, unsigned int = cudaMemAttachGlobal);
cudaError_t cudaHostAlloc(void**, size_t, unsigned int);
cudaError_t cudaHostRegister(void*, size_t, unsigned int);
cudaError_t cudaHostUnregister(void*);
cudaError_t cudaHostGetDevicePointer(void**, void*, unsigned int);
cudaError_t cudaFree(void*);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpyPeer(void*, int, const void*, int, size_t);
cudaError_t cudaMemcpyPeerAsync(void*, int, const void*, int, size_t, cudaStream_t = 0);
cudaError_t cudaMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpy2DAsync(void*, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemset(void*, int, size_t);
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t = 0);
cudaError_t cudaMemset2DAsync(void*, size_t, int, size_t, size_t, cudaStream_t = 0);
cudaError_t cudaMemGetInfo(size_t*, size_t*);
cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = 0);
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaGetDevice(int*);
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t*, int);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t);
cudaError_t cudaDeviceCanAccessPeer(int*, int, int);
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int);
cudaError_t cudaRuntimeGetVersion(int*);
cudaError_t cudaDriverGetVersion(int*);
cudaError_t cudaGetDriverEntryPoint(const char*, void**, unsigned long long, cudaDriverEntryPointQueryResult* = nullptr);
cudaError_t cudaGetDriverEntryPointByVersion(const char*, void**, unsigned int, unsigned long long,
                                             cudaDriverEntryPointQueryResult* = nullptr);
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned int);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t*, unsigned int, int);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int = 0);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus*);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus*, unsigned long long* = nullptr);
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void*);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned int);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
cudaError_t cudaGraphCreate(cudaGraph_t*, unsigned int);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, size_t*);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t, cudaGraphNodeType*);
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t, cudaKernelNodeParams*);
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t, cudaMemsetParams*);
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t, cudaMemcpy3DParms*);
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t, cudaHostNodeParams*);
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t, cudaGraph_t*);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const cudaKernelNodeParams*);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo*);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t*, cudaGraph_t, unsigned long long = 0);
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t = 0, cudaStream_t = 0);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**);
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t = 0, cudaStream_t = 0);
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache);
}
template <class... A> cudaError_t cudaGraphGetEdges(cudaGraph_t, A...);
template <class... A> cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, A...);
template <class... A> cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t, cudaStreamCaptureStatus*, A...);
template <class T> cudaError_t cudaMalloc(T**, size_t);
template <class T> cudaError_t cudaMallocAsync(T**, size_t, cudaStream_t);
template <class T> cudaError_t cudaMallocHost(T**, size_t, unsigned int = 0);
template <class T> cudaError_t cudaHostAlloc(T**, size_t, unsigned int);
template <class T> cudaError_t cudaMallocManaged(T**, size_t, unsigned int = cudaMemAttachGlobal);
template <class T> cudaError_t cudaFuncSetAttribute(T, cudaFuncAttribute, int);
template <class T> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, T);
template <class T> cudaError_t cudaLaunchKernel(T, dim3, dim3, void**, size_t = 0, cudaStream_t = 0);
template <class T> cudaError_t cudaLaunchCooperativeKernel(T, dim3, dim3, void**, size_t = 0, cudaStream_t = 0);
template <class T, class... A> cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t*, T, A...);
template <class T> cudaError_t cudaMemcpyToSymbol(const T&, const void*, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
template <class T> cudaError_t cudaMemcpyToSymbolAsync(const T&, const void*, size_t, size_t, cudaMemcpyKind, cudaStream_t = 0);
template <class T> cudaError_t cudaMemcpyFromSymbol(void*, const T&, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);
template <class T> cudaError_t cudaGetSymbolAddress(void**, const T&);
template <class T> cudaError_t cudaGetFuncBySymbol(cudaFunction_t*, T);
template <class T> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, T, int, size_t);
template <class T> cudaError_t cudaOccupancyMaxPotentialBlockSize(int*, int*, T, size_t = 0, int = 0);

// ---- device functions (bodies of kernels are parsed too)
#define VT_LINT_D __device__
VT_LINT_D void __syncthreads();
VT_LINT_D int __syncthreads_or(int);
VT_LINT_D int __syncthreads_and(int);
VT_LINT_D int __syncthreads_count(int);
VT_LINT_D void __syncwarp(unsigned int = 0xffffffffu);
VT_LINT_D void __threadfence();
VT_LINT_D void __threadfence_block();
VT_LINT_D void __threadfence_system();
VT_LINT_D void __nanosleep(unsigned int);
VT_LINT_D void __trap();
VT_LINT_D unsigned int __activemask();
VT_LINT_D unsigned int __ballot_sync(unsigned int, int);
VT_LINT_D int __any_sync(unsigned int, int);
VT_LINT_D int __all_sync(unsigned int, int);
VT_LINT_D unsigned int __reduce_add_sync(unsigned int, unsigned int);
VT_LINT_D unsigned int __reduce_max_sync(unsigned int, unsigned int);
VT_LINT_D unsigned int __reduce_min_sync(unsigned int, unsigned int);
template <class T> VT_LINT_D unsigned int __match_any_sync(unsigned int, T);
template <class T> VT_LINT_D T __shfl_sync(unsigned int, T, int, int = 32);
template <class T> VT_LINT_D T __shfl_up_sync(unsigned int, T, unsigned int, int = 32);
template <class T> VT_LINT_D T __shfl_down_sync(unsigned int, T, unsigned int, int = 32);
template <class T> VT_LINT_D T __shfl_xor_sync(unsigned int, T, int, int = 32);
template <class T> VT_LINT_D T __ldg(const T*);
template <class T> VT_LINT_D T __ldcg(const T*);
template <class T> VT_LINT_D T __ldcs(const T*);
template <class T> VT_LINT_D T __ldca(const T*);
template <class T> VT_LINT_D void __stcs(T*, T);
template <class T> VT_LINT_D void __stcg(T*, T);
#define VT_LINT_ATOMIC(n) template <class T, class U> VT_LINT_D T n(T*, U);
VT_LINT_ATOMIC(atomicAdd) VT_LINT_ATOMIC(atomicSub) VT_LINT_ATOMIC(atomicMax) VT_LINT_ATOMIC(atomicMin)
VT_LINT_ATOMIC(atomicExch) VT_LINT_ATOMIC(atomicAnd) VT_LINT_ATOMIC(atomicOr) VT_LINT_ATOMIC(atomicXor)
VT_LINT_ATOMIC(atomicInc) VT_LINT_ATOMIC(atomicDec)
template <class T> VT_LINT_D T atomicCAS(T*, T, T);
VT_LINT_D int __dp4a(int, int, int);
VT_LINT_D unsigned int __dp4a(unsigned int, unsigned int, unsigned int);
VT_LINT_D float __int_as_float(int);
VT_LINT_D int __float_as_int(float);
VT_LINT_D float __uint_as_float(unsigned int);
VT_LINT_D unsigned int __float_as_uint(float);
VT_LINT_D double __longlong_as_double(long long);
VT_LINT_D long long __double_as_longlong(double);
VT_LINT_D int __float2int_rn(float);
VT_LINT_D int __float2int_rz(float);
VT_LINT_D int __float2int_rd(float);
VT_LINT_D float __int2float_rn(int);
VT_LINT_D float __uint2float_rn(unsigned int);
VT_LINT_D unsigned int __byte_perm(unsigned int, unsigned int, unsigned int);
VT_LINT_D unsigned int __funnelshift_l(unsigned int, unsigned int, unsigned int);
VT_LINT_D unsigned int __funnelshift_r(unsigned int, unsigned int, unsigned int);
VT_LINT_D unsigned int __brev(unsigned int);
VT_LINT_D int __popc(unsigned int);
VT_LINT_D int __popcll(unsigned long long);
VT_LINT_D int __clz(int);
VT_LINT_D int __ffs(int);
VT_LINT_D int __mul24(int, int);
VT_LINT_D int __mulhi(int, int);
VT_LINT_D unsigned int __umulhi(unsigned int, unsigned int);
#define VT_LINT_SIMD(n) VT_LINT_D unsigned int n(unsigned int, unsigned int);
VT_LINT_SIMD(__vcmpne4) VT_LINT_SIMD(__vcmpeq4) VT_LINT_SIMD(__vsub4) VT_LINT_SIMD(__vadd4) VT_LINT_SIMD(__vsubss4)
VT_LINT_SIMD(__vcmpgtu4) VT_LINT_SIMD(__vmaxs4) VT_LINT_SIMD(__vmins4)
VT_LINT_D unsigned int __cvta_generic_to_shared(const void*);
VT_LINT_D void __assert_fail(const char*, const char*, unsigned int, const char*);
VT_LINT_D long long clock64();
extern "C" {
#define VT_LINT_F1(n) VT_LINT_D float n##f(float); VT_LINT_D double n(double);
VT_LINT_F1(fabs) VT_LINT_F1(round) VT_LINT_F1(rint) VT_LINT_F1(nearbyint) VT_LINT_F1(floor) VT_LINT_F1(ceil)
VT_LINT_F1(trunc) VT_LINT_F1(sqrt) VT_LINT_F1(rsqrt) VT_LINT_F1(exp) VT_LINT_F1(exp2) VT_LINT_F1(exp10)
VT_LINT_F1(expm1) VT_LINT_F1(log) VT_LINT_F1(log2) VT_LINT_F1(log10) VT_LINT_F1(log1p) VT_LINT_F1(sin)
VT_LINT_F1(cos) VT_LINT_F1(tan) VT_LINT_F1(tanh) VT_LINT_F1(sinh) VT_LINT_F1(cosh) VT_LINT_F1(erf) VT_LINT_F1(cbrt)
VT_LINT_F1(normcdf) VT_LINT_F1(asin) VT_LINT_F1(acos) VT_LINT_F1(atan)
#define VT_LINT_F2(n) VT_LINT_D float n##f(float, float); VT_LINT_D double n(double, double);
VT_LINT_F2(fmin) VT_LINT_F2(fmax) VT_LINT_F2(pow) VT_LINT_F2(fmod) VT_LINT_F2(atan2) VT_LINT_F2(copysign)
VT_LINT_F2(fdim) VT_LINT_F2(hypot)
VT_LINT_D float fmaf(float, float, float);
VT_LINT_D double fma(double, double, double);
VT_LINT_D float ldexpf(float, int);
VT_LINT_D float scalbnf(float, int);
VT_LINT_D float frexpf(float, int*);
VT_LINT_D void sincosf(float, float*, float*);
VT_LINT_D long lrintf(float);
VT_LINT_D long lroundf(float);
VT_LINT_D long long llrintf(float);
VT_LINT_D int abs(int);
VT_LINT_D void* memcpy(void*, const void*, size_t);
VT_LINT_D void* memset(void*, int, size_t);
VT_LINT_D int printf(const char*, ...);
}
#define VT_LINT_FAST1(n) VT_LINT_D float n(float);
VT_LINT_FAST1(__expf) VT_LINT_FAST1(__exp10f) VT_LINT_FAST1(__logf) VT_LINT_FAST1(__log2f) VT_LINT_FAST1(__log10f)
VT_LINT_FAST1(__sinf) VT_LINT_FAST1(__cosf) VT_LINT_FAST1(__tanf) VT_LINT_FAST1(__saturatef) VT_LINT_FAST1(__frcp_rn)
VT_LINT_FAST1(__fsqrt_rn) VT_LINT_FAST1(__frsqrt_rn) VT_LINT_FAST1(__fsqrt_rz)
#define VT_LINT_FAST2(n) VT_LINT_D float n(float, float);
VT_LINT_FAST2(__fdividef) VT_LINT_FAST2(__powf) VT_LINT_FAST2(__fmul_rn) VT_LINT_FAST2(__fadd_rn)
VT_LINT_FAST2(__fsub_rn) VT_LINT_FAST2(__fdiv_rn) VT_LINT_FAST2(__fmul_rz) VT_LINT_FAST2(__fadd_rz)
VT_LINT_D float __fmaf_rn(float, float, float);
VT_LINT_D double __dadd_rn(double, double);
VT_LINT_D double __dmul_rn(double, double);
template <class T> VT_LINT_HD T min(T a, T b) { return b < a ? b : a; }
template <class T> VT_LINT_HD T max(T a, T b) { return a < b ? b : a; }
#define CUDART_INF_F __builtin_huge_valf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_huge_val()

#endif
