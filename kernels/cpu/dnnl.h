/* dnnl.h - oneDNN's calls, for host_dnnl.c alone. Programs are linked with oneDNN; the library
 * opens it when it first computes a model, so that it loads without oneDNN. */
#ifndef K_CPU_DNNL_H
#define K_CPU_DNNL_H

#include <oneapi/dnnl/dnnl.h>

#ifdef ORR_LIBRARY
#include <pthread.h>

#include "base/calls.h"

/* The functions that host_dnnl.c calls, by name; oneDNN versions 2 and 3 differ in some. */
#if DNNL_VERSION_MAJOR >= 3
#define K_DNNL_OF_VERSION(CALL)                                                                    \
    CALL(dnnl_matmul_primitive_desc_create)                                                        \
    CALL(dnnl_memory_desc_clone)                                                                   \
    CALL(dnnl_memory_desc_create_with_strides)                                                     \
    CALL(dnnl_memory_desc_create_with_tag)                                                         \
    CALL(dnnl_memory_desc_destroy)
#else
#define K_DNNL_OF_VERSION(CALL)                                                                    \
    CALL(dnnl_matmul_desc_init)                                                                    \
    CALL(dnnl_memory_desc_init_by_strides)                                                         \
    CALL(dnnl_memory_desc_init_by_tag)                                                             \
    CALL(dnnl_primitive_desc_create)
#endif
#define K_DNNL(CALL)                                                                               \
    K_DNNL_OF_VERSION(CALL)                                                                        \
    CALL(dnnl_engine_create)                                                                       \
    CALL(dnnl_engine_destroy)                                                                      \
    CALL(dnnl_get_effective_cpu_isa)                                                               \
    CALL(dnnl_memory_create)                                                                       \
    CALL(dnnl_memory_desc_get_size)                                                                \
    CALL(dnnl_memory_destroy)                                                                      \
    CALL(dnnl_memory_set_data_handle)                                                              \
    CALL(dnnl_post_ops_append_sum)                                                                 \
    CALL(dnnl_post_ops_create)                                                                     \
    CALL(dnnl_post_ops_destroy)                                                                    \
    CALL(dnnl_primitive_attr_create)                                                               \
    CALL(dnnl_primitive_attr_destroy)                                                              \
    CALL(dnnl_primitive_attr_set_post_ops)                                                         \
    CALL(dnnl_primitive_attr_set_scratchpad_mode)                                                  \
    CALL(dnnl_primitive_create)                                                                    \
    CALL(dnnl_primitive_desc_destroy)                                                              \
    CALL(dnnl_primitive_desc_query_md)                                                             \
    CALL(dnnl_primitive_destroy)                                                                   \
    CALL(dnnl_primitive_execute)                                                                   \
    CALL(dnnl_reorder_primitive_desc_create)                                                       \
    CALL(dnnl_set_max_cpu_isa)                                                                     \
    CALL(dnnl_stream_create)                                                                       \
    CALL(dnnl_stream_destroy)                                                                      \
    CALL(dnnl_stream_wait)

static struct {
    K_DNNL(ORR_CALLS_MEMBER)
} k_dnnl;

static bool k_dnnl_opened;
static void k_dnnl_open(void)
{
#define K_DNNL_TEXT_(x) #x
#define K_DNNL_TEXT(x)  K_DNNL_TEXT_(x)
    static const char *const names[] = {K_DNNL(ORR_CALLS_NAME)};
    enum { COUNT = sizeof names / sizeof *names };
    _Static_assert(sizeof k_dnnl == COUNT * sizeof(void *), "a pointer for each name");
    k_dnnl_opened =
        !orr_calls_open("libdnnl.so." K_DNNL_TEXT(DNNL_VERSION_MAJOR), names, COUNT, &k_dnnl);
}

#define dnnl_engine_create                      k_dnnl.dnnl_engine_create_
#define dnnl_engine_destroy                     k_dnnl.dnnl_engine_destroy_
#define dnnl_get_effective_cpu_isa              k_dnnl.dnnl_get_effective_cpu_isa_
#define dnnl_memory_create                      k_dnnl.dnnl_memory_create_
#define dnnl_memory_desc_get_size               k_dnnl.dnnl_memory_desc_get_size_
#define dnnl_memory_destroy                     k_dnnl.dnnl_memory_destroy_
#define dnnl_memory_set_data_handle             k_dnnl.dnnl_memory_set_data_handle_
#define dnnl_post_ops_append_sum                k_dnnl.dnnl_post_ops_append_sum_
#define dnnl_post_ops_create                    k_dnnl.dnnl_post_ops_create_
#define dnnl_post_ops_destroy                   k_dnnl.dnnl_post_ops_destroy_
#define dnnl_primitive_attr_create              k_dnnl.dnnl_primitive_attr_create_
#define dnnl_primitive_attr_destroy             k_dnnl.dnnl_primitive_attr_destroy_
#define dnnl_primitive_attr_set_post_ops        k_dnnl.dnnl_primitive_attr_set_post_ops_
#define dnnl_primitive_attr_set_scratchpad_mode k_dnnl.dnnl_primitive_attr_set_scratchpad_mode_
#define dnnl_primitive_create                   k_dnnl.dnnl_primitive_create_
#define dnnl_primitive_desc_destroy             k_dnnl.dnnl_primitive_desc_destroy_
#define dnnl_primitive_desc_query_md            k_dnnl.dnnl_primitive_desc_query_md_
#define dnnl_primitive_destroy                  k_dnnl.dnnl_primitive_destroy_
#define dnnl_primitive_execute                  k_dnnl.dnnl_primitive_execute_
#define dnnl_reorder_primitive_desc_create      k_dnnl.dnnl_reorder_primitive_desc_create_
#define dnnl_set_max_cpu_isa                    k_dnnl.dnnl_set_max_cpu_isa_
#define dnnl_stream_create                      k_dnnl.dnnl_stream_create_
#define dnnl_stream_destroy                     k_dnnl.dnnl_stream_destroy_
#define dnnl_stream_wait                        k_dnnl.dnnl_stream_wait_
#if DNNL_VERSION_MAJOR >= 3
#define dnnl_matmul_primitive_desc_create    k_dnnl.dnnl_matmul_primitive_desc_create_
#define dnnl_memory_desc_clone               k_dnnl.dnnl_memory_desc_clone_
#define dnnl_memory_desc_create_with_strides k_dnnl.dnnl_memory_desc_create_with_strides_
#define dnnl_memory_desc_create_with_tag     k_dnnl.dnnl_memory_desc_create_with_tag_
#define dnnl_memory_desc_destroy             k_dnnl.dnnl_memory_desc_destroy_
#else
#define dnnl_matmul_desc_init            k_dnnl.dnnl_matmul_desc_init_
#define dnnl_memory_desc_init_by_strides k_dnnl.dnnl_memory_desc_init_by_strides_
#define dnnl_memory_desc_init_by_tag     k_dnnl.dnnl_memory_desc_init_by_tag_
#define dnnl_primitive_desc_create       k_dnnl.dnnl_primitive_desc_create_
#endif
#endif

#endif
