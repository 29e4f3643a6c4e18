/* bench_memory.c - predicts the memory that training takes on a GPU, without one: what a model and
 * its plan of activations ask a backend for, counted by a backend that gives addresses and computes
 * nothing.
 *
 * A prediction, not a measurement: weights and gradients as gpt_create asks for them, as much again
 * for both moments of AdamW, activations of a batch at bf16 by gpt_activation_bytes, and FIXED for
 * the CUDA context, cuBLASLt and scratch memory: what the three processes of
 * bench/results/gpu.json, measured on an H100, held beyond the rest (1,384, 1,437 and 1,330 MB). An
 * average of the weights (ema) would be half of the weights' column more. */
#include "bench.h"

#include "model/gpt.h"

static const char usage[] =
    "bench_memory - predicted memory of training on a GPU at bf16, softmax, 999 positions\n"
    "\nusage: bench_memory [--batch N] [--recompute]\n\n"
    "  --batch N      sequences per pass (default: several)\n"
    "  --recompute    as with model.recompute=block\n\n"
    "Prints a table of the models of 25M, 109M and 355M weights. make bench-memory\n";

enum { VOCABULARY = 7000, POSITIONS = 999, FIXED = 1400 };

static const struct {
    const char *name;
    int layers, width, heads;
} shapes[] = {{"25M", 8, 384, 6}, {"109M", 12, 768, 12}, {"355M", 24, 1024, 16}};
static const int batches[] = {1, 4, 8, 16, 32, 64, 128};
static const double cards[] = {24, 40, 80}; /* GB */

/* ---- a backend that counts; memory that is not touched takes none */

static size_t asked;

static int count_alloc(void **memory, size_t bytes)
{
    asked += bytes;
    *memory = malloc(bytes);
    return *memory ? 0 : ORR_FAIL(ORR_ENOMEM, "no addresses for %zu bytes", bytes);
}

static int ignore_zero(void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
    return 0;
}

static int ignore_copy(void *to, const void *from, size_t bytes)
{
    (void)to;
    (void)from;
    (void)bytes;
    return 0;
}

static bool has_bf16_tensors(void)
{
    return true;
}

static struct k_ops counting(void)
{
    struct k_ops ops = k_ref;
    ops.name = "counting";
    ops.host = false;
    ops.alloc = count_alloc;
    ops.release = free;
    ops.zero = ignore_zero;
    ops.copy = ops.upload = ops.download = ignore_copy;
    ops.has_bf16_tensors = has_bf16_tensors;
    return ops;
}

/* ---- the table */

static int row(const struct k_ops *ops, int shape, int batch, bool recompute)
{
    struct gpt_model model = {0};
    struct gpt_config c = {.layers = shapes[shape].layers,
                           .heads = shapes[shape].heads,
                           .width = shapes[shape].width,
                           .ffn = 4 * shapes[shape].width,
                           .context = POSITIONS,
                           .input = GPT_INPUT_TOKENS,
                           .vocab = VOCABULARY,
                           .head = GPT_HEAD_TOKENS,
                           .outputs = 2 * VOCABULARY,
                           .positions = ORR_POSITIONS_LEARNED,
                           .rope_base = 10000,
                           .recompute = recompute,
                           .power = 15};
    snprintf(c.attention, sizeof c.attention, "softmax");
    asked = 0;
    const int rc = gpt_create(&model, &c, ops, 1);
    if (rc)
        return rc;
    const double weights = 2 * (double)asked * 1e-6;
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        const int B = batch ? batch : batches[i];
        const double activations = (double)gpt_activation_bytes(&model, B, POSITIONS) * 1e-6;
        const double all = weights + activations + FIXED;
        const char *fits = "none of these";
        char card[32];
        for (size_t k = sizeof cards / sizeof *cards; k-- > 0;)
            if (all < 950 * cards[k]) { /* 5% for what else is there */
                snprintf(card, sizeof card, "%.0f GB", cards[k]);
                fits = card;
            }
        printf("%-6s %5d %10.0f %12.0f %10.0f   %s\n", shapes[shape].name, B, weights, activations,
               all, fits);
        if (batch)
            break;
    }
    gpt_free(&model);
    return 0;
}

int main(int argc, char **argv)
{
    int batch = 0, rc = 0;
    bool recompute = false;
    bench_help(argc, argv, usage);
    for (int i = 1; !rc && i < argc; i++) {
        if (!strcmp(argv[i], "--recompute"))
            recompute = true;
        else if (!strcmp(argv[i], "--batch"))
            rc = bench_number("--batch", argv[++i], 1, &batch);
        else
            rc = ORR_FAIL(ORR_EUSAGE, "unknown option %s; see --help", argv[i]);
    }
    const struct k_ops ops = counting();
    if (!rc)
        printf("predicted MB%s\nmodel  batch    weights  activations        all   fits into\n",
               recompute ? ", model.recompute=block" : "");
    for (int shape = 0; !rc && shape < 3; shape++)
        rc = row(&ops, shape, batch, recompute);
    return orr_error_exit("bench_memory", rc);
}
