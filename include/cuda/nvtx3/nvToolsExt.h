/* NVTX: a program marks what it does, and a recorded run shows it.
 *
 * Nothing has to be linked: a function here calls the runtime library when the program has one, and
 * that returns at once when no trace is recorded. */
#ifndef NVTX3_NVTOOLSEXT_H
#define NVTX3_NVTOOLSEXT_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_API
#define NVTX_INLINE_STATIC static __inline__

#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

typedef uint64_t nvtxRangeId_t;
struct nvtxDomainRegistration_st;
typedef struct nvtxDomainRegistration_st nvtxDomainRegistration;
typedef nvtxDomainRegistration* nvtxDomainHandle_t;
struct nvtxStringRegistration_st;
typedef struct nvtxStringRegistration_st nvtxStringRegistration;
typedef nvtxStringRegistration* nvtxStringHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;

typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;

typedef union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

/* The payload is taken and not recorded. */
typedef struct nvtxEventAttributes_v2 {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType;
  int32_t reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_v2;
typedef struct nvtxEventAttributes_v2 nvtxEventAttributes_t;
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

/* `name` here is `__cuda_name` in the runtime library, or `absent` without it. */
#ifdef __cplusplus
#define NVTX_IN_RUNTIME_ extern "C" __attribute__((weak))
#else
#define NVTX_IN_RUNTIME_ extern __attribute__((weak))
#endif
#define NVTX_FUNCTION_(type, name, parameters, arguments, absent)   \
  NVTX_IN_RUNTIME_ type __cuda_##name parameters;                   \
  NVTX_INLINE_STATIC __attribute__((unused)) type name parameters { \
    return __cuda_##name ? __cuda_##name arguments : (absent);      \
  }
#define NVTX_PROCEDURE_(name, parameters, arguments)                \
  NVTX_IN_RUNTIME_ void __cuda_##name parameters;                   \
  NVTX_INLINE_STATIC __attribute__((unused)) void name parameters { \
    if (__cuda_##name) __cuda_##name arguments;                     \
  }

NVTX_INLINE_STATIC __attribute__((unused)) void nvtxInitialize(const void* reserved) {
  (void)reserved;
}

/* Ranges of a thread, one within the other. The level of the range, or NVTX_NO_PUSH_POP_TRACKING
 * when nothing is recorded. */
NVTX_FUNCTION_(int, nvtxRangePushA, (const char* message), (message), NVTX_NO_PUSH_POP_TRACKING)
NVTX_FUNCTION_(int, nvtxRangePushW, (const wchar_t* message), (message), NVTX_NO_PUSH_POP_TRACKING)
NVTX_FUNCTION_(int, nvtxDomainRangePushEx,
               (nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes),
               (domain, attributes), NVTX_NO_PUSH_POP_TRACKING)
NVTX_FUNCTION_(int, nvtxDomainRangePop, (nvtxDomainHandle_t domain), (domain),
               NVTX_NO_PUSH_POP_TRACKING)

/* Ranges that end anywhere. */
NVTX_FUNCTION_(nvtxRangeId_t, nvtxRangeStartA, (const char* message), (message), 0)
NVTX_FUNCTION_(nvtxRangeId_t, nvtxRangeStartW, (const wchar_t* message), (message), 0)
NVTX_FUNCTION_(nvtxRangeId_t, nvtxDomainRangeStartEx,
               (nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes),
               (domain, attributes), 0)
NVTX_PROCEDURE_(nvtxDomainRangeEnd, (nvtxDomainHandle_t domain, nvtxRangeId_t range),
                (domain, range))

NVTX_PROCEDURE_(nvtxMarkA, (const char* message), (message))
NVTX_PROCEDURE_(nvtxMarkW, (const wchar_t* message), (message))
NVTX_PROCEDURE_(nvtxDomainMarkEx,
                (nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes),
                (domain, attributes))

NVTX_FUNCTION_(nvtxDomainHandle_t, nvtxDomainCreateA, (const char* name), (name), NULL)
NVTX_FUNCTION_(nvtxDomainHandle_t, nvtxDomainCreateW, (const wchar_t* name), (name), NULL)
NVTX_FUNCTION_(nvtxStringHandle_t, nvtxDomainRegisterStringA,
               (nvtxDomainHandle_t domain, const char* text), (domain, text), NULL)
NVTX_FUNCTION_(nvtxStringHandle_t, nvtxDomainRegisterStringW,
               (nvtxDomainHandle_t domain, const wchar_t* text), (domain, text), NULL)
NVTX_PROCEDURE_(nvtxDomainNameCategoryA,
                (nvtxDomainHandle_t domain, uint32_t category, const char* name),
                (domain, category, name))
NVTX_PROCEDURE_(nvtxDomainNameCategoryW,
                (nvtxDomainHandle_t domain, uint32_t category, const wchar_t* name),
                (domain, category, name))
/* The calling thread's own; another thread is not named. */
NVTX_PROCEDURE_(nvtxNameOsThreadA, (uint32_t thread, const char* name), (thread, name))
NVTX_PROCEDURE_(nvtxNameOsThreadW, (uint32_t thread, const wchar_t* name), (thread, name))

#undef NVTX_FUNCTION_
#undef NVTX_PROCEDURE_
#undef NVTX_IN_RUNTIME_

/* What is in a domain lives as long as the program: ranges in it may still be open. */
NVTX_INLINE_STATIC __attribute__((unused)) void nvtxDomainDestroy(nvtxDomainHandle_t domain) {
  (void)domain;
}
NVTX_INLINE_STATIC __attribute__((unused)) int nvtxRangePushEx(
    const nvtxEventAttributes_t* attributes) {
  return nvtxDomainRangePushEx(NULL, attributes);
}
NVTX_INLINE_STATIC __attribute__((unused)) int nvtxRangePop(void) {
  return nvtxDomainRangePop(NULL);
}
NVTX_INLINE_STATIC __attribute__((unused)) nvtxRangeId_t
nvtxRangeStartEx(const nvtxEventAttributes_t* attributes) {
  return nvtxDomainRangeStartEx(NULL, attributes);
}
NVTX_INLINE_STATIC __attribute__((unused)) void nvtxRangeEnd(nvtxRangeId_t range) {
  nvtxDomainRangeEnd(NULL, range);
}
NVTX_INLINE_STATIC __attribute__((unused)) void nvtxMarkEx(
    const nvtxEventAttributes_t* attributes) {
  nvtxDomainMarkEx(NULL, attributes);
}
NVTX_INLINE_STATIC __attribute__((unused)) void nvtxNameCategoryA(uint32_t category,
                                                                  const char* name) {
  nvtxDomainNameCategoryA(NULL, category, name);
}
NVTX_INLINE_STATIC __attribute__((unused)) void nvtxNameCategoryW(uint32_t category,
                                                                  const wchar_t* name) {
  nvtxDomainNameCategoryW(NULL, category, name);
}

#ifdef UNICODE
#define nvtxMark nvtxMarkW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxRangePush nvtxRangePushW
#define nvtxNameCategory nvtxNameCategoryW
#define nvtxNameOsThread nvtxNameOsThreadW
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#define nvtxDomainNameCategory nvtxDomainNameCategoryW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#endif

#endif
