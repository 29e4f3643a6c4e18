/* bench_optimizer.c - the cost of a step's update by Muon and by AdamW: processor time, memory of
 * the moments, counted operations.
 *
 * A step of N tokens is its passes, whose time grows with N, and one update, whose time does not.
 * Both are measured apart, in turns with a second model that AdamW trains, so that the ratio of
 * whole steps follows for any N. What a GPU does is predicted by counted operations alone: those of
 * Newton-Schulz (kernels/cuda/muon.cu: per step of the iteration A = X X^T, A A and B X) in
 * relation to those of the passes, as if both ran at the same rate. Operations: shape.h. */
#include "bench.h"

#include "shape.h"

enum { MOST_RUNS = 99 };

static const char usage[] =
    "bench_optimizer - the cost of an update by Muon and by AdamW, one thread\n"
    "\nusage: bench_optimizer [--shape quick|10M|109M] [--runs N]\n\n"
    "  --shape NAME   one model (default: all)\n"
    "  --runs N       updates of each, at most 99 (default: 3 to 41 by the model)\n\n"
    "Prints a table; of all models writes bench/results/optimizer.json. make bench-optimizer\n";

/* step: sequences of a step whose ratio is stated. */
static const struct {
    struct shape shape;
    int step;
} cases[] = {
    {{"quick", false, 6, 64, 4, 32, 16, 41}, 16},
    {{"10M", true, 4, 256, 4, 256, 4, 7}, 64},
    {{"109M", true, 12, 768, 12, 999, 1, 3}, 32},
};

/* 1e9 operations of Newton-Schulz for all matrices: of `steps` steps of A, A A, B X; host: as
 * kernels/cpu/muon.c in fp32, which multiplies polynomials first where matrices are long (of four
 * steps at most) and computes half of what is symmetric. */
static double update_gflop(const struct gpt_model *model, int steps, bool host)
{
    double sum = 0;
    for (int i = 0; i < model->parameters; i++) {
        const struct gpt_parameter *p = &model->table[i];
        if (p->matrices < 1)
            continue;
        const double rows = (double)(p->shape[0] / (size_t)p->matrices), cols = (double)p->shape[1];
        const double r = fmin(rows, cols), c = fmax(rows, cols);
        const double products = !host        ? steps * (2 * r * r * c + r * r * r)
                                : c >= 2 * r ? 1.5 * r * r * c + 0.5 * (4 * steps - 3) * r * r * r
                                             : steps * (1.5 * r * r * c + 0.5 * r * r * r);
        sum += 2e-9 * p->matrices * products;
    }
    return sum;
}

/* Bytes of first and second moments. */
static double moments(const struct gpt_model *model)
{
    return (double)(model->total + model->seconds) * sizeof(real);
}

static int measure(const struct shape *s, int step, const struct k_ops *ops, int runs,
                   struct bench_results *results)
{
    struct orr_settings settings;
    struct gpt_model model[ORR_OPTIMIZERS] = {{.param = NULL}};
    struct gpt_config config;
    struct gpt_batch batch = {0};
    double pass[2 * MOST_RUNS], update[ORR_OPTIMIZERS][MOST_RUNS], loss, norm;
    int rc = 0;
    orr_settings_defaults(&settings);
    shape_config(&config, s, "softmax");
    config.positions = ORR_POSITIONS_ROPE;
    struct orr_train_settings *train = &settings.pretrain;
    for (int k = 0; k < ORR_OPTIMIZERS && !rc; k++)
        rc = gpt_create(&model[k], &config, ops, 1);
    rc = rc ? rc : gpt_batch_create(&batch, &config, s->B, s->T);
    if (!rc)
        shape_fill(&batch, &config);
    for (int run = -1; run < runs && !rc; run++) /* the first one warms up */
        for (int k = 0; k < ORR_OPTIMIZERS && !rc; k++) {
            train->optimizer = (enum orr_optimizer)k;
            const double start = bench_processor_s();
            rc = gpt_zero_grad(&model[k]);
            rc = rc ? rc : gpt_loss_backward(&model[k], &batch, &loss);
            const double middle = bench_processor_s();
            rc = rc ? rc : gpt_update(&model[k], train, run + 1, &norm);
            if (run < 0)
                continue;
            pass[2 * run + k] = 1e3 * (middle - start);
            update[k][run] = 1e3 * (bench_processor_s() - middle);
        }
    if (!rc) {
        const struct bench_value passes = bench_median(pass, 2 * runs),
                                 adamw = bench_median(update[ORR_OPTIMIZER_ADAMW], runs),
                                 muon = bench_median(update[ORR_OPTIMIZER_MUON], runs);
        const double all = passes.median * step / s->B, tokens = (double)step * s->T;
        const double ratio = (all + muon.median) / (all + adamw.median);
        const double counted = update_gflop(&model[0], train->muon_steps, true);
        const double device =
            1 + update_gflop(&model[0], train->muon_steps, false) * s->B / (shape_gflop(s) * step);
        const double memory[] = {moments(&model[0]), moments(&model[1])};
        printf("%-6s %9.0f %9.1f %9.2f %9.2f %7.3f %9.1f %8.1f %8.3f %7.1f %7.1f\n", s->name,
               tokens, all, adamw.median, muon.median, ratio, counted, 1e3 * counted / muon.median,
               device, memory[0] * 1e-6, memory[1] * 1e-6);
        char name[64];
        snprintf(name, sizeof name, "%s: update by Muon", s->name);
        bench_add(results, name, muon, "ms", "by AdamW", adamw.median / muon.median);
        snprintf(name, sizeof name, "%s: step of %.0f tokens by Muon", s->name, tokens);
        bench_add(results, name, (struct bench_value){all + muon.median, NAN}, "ms", "by AdamW",
                  1 / ratio);
        snprintf(name, sizeof name, "%s: moments by Muon", s->name);
        bench_add(results, name, (struct bench_value){memory[1] * 1e-6, NAN}, "MB", "by AdamW",
                  memory[0] / memory[1]);
        snprintf(name, sizeof name, "%s: step of %.0f tokens by Muon on a GPU, counted", s->name,
                 tokens);
        bench_add(results, name, (struct bench_value){device, NAN}, "times AdamW's", NULL, 0);
    }
    gpt_batch_free(&batch);
    for (int k = 0; k < ORR_OPTIMIZERS; k++)
        gpt_free(&model[k]);
    return rc;
}

int main(int argc, char **argv)
{
    const struct k_ops *ops = NULL;
    const char *shape = NULL;
    int runs = 0, rc = 0;
    bench_help(argc, argv, usage);
    for (int i = 1; !rc && i < argc; i++) {
        if (!strcmp(argv[i], "--shape"))
            shape = argv[++i] ? argv[i] : "";
        else if (!strcmp(argv[i], "--runs"))
            rc = bench_number("--runs", argv[++i], 1, &runs);
        else
            rc = ORR_FAIL(ORR_EUSAGE, "unknown option %s; see --help", argv[i]);
    }
    rc = rc ? rc : bench_choice("--shape", shape, "quick 10M 109M");
    if (!rc && runs > MOST_RUNS)
        rc = ORR_FAIL(ORR_EUSAGE, "--runs: expected at most %d, found %d", MOST_RUNS, runs);
    rc = rc ? rc : k_find("cpu", &ops);
    rc = rc ? rc : ops->open(1, K_PRECISION_FP32);
    if (rc)
        return orr_error_exit("bench_optimizer", rc);
    struct bench_results results;
    rc = bench_open(&results, "optimizer", 1);
    printf("one thread, processor ms; GPU: a step's counted operations, times AdamW's\n"
           "model     tokens    passes     AdamW      Muon   ratio    GFLOP  GFLOP/s      GPU "
           "MB AdamW MB Muon\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !rc; i++)
        if (!shape || !strcmp(shape, cases[i].shape.name))
            rc = measure(&cases[i].shape, cases[i].step, ops, runs ? runs : cases[i].shape.runs,
                         &results);
    if (shape)
        cJSON_Delete(results.json);
    else
        rc = bench_close(&results, rc);
    ops->close();
    return orr_error_exit("bench_optimizer", rc);
}
