/* reference64.c - compiles the reference attention once more, in double precision and under other
 * names. */
#ifndef K_DOUBLE
#define K_DOUBLE
#endif
#define k_ref_attention_forward  api_attention64_forward
#define k_ref_attention_backward api_attention64_backward
#define k_attention_weights      api_attention64_weights
/* one source, two precisions: NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "kernels/ref/attention.c"
