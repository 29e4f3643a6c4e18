/* reference64.c - the reference attention in double precision, beside that of floats: the same
 * source once more, under names of its own. */
#ifndef K_DOUBLE
#define K_DOUBLE
#endif
#define k_ref_attention_forward  api_attention64_forward
#define k_ref_attention_backward api_attention64_backward
#define k_attention_weights      api_attention64_weights
/* one source, two precisions: NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "kernels/ref/attention.c"
