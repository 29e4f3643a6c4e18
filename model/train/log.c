/* log.c - speeds of training, its share of the peak matmul rate, and the lines of the log. */
#include "log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

double gpt_pass_flop(const struct gpt_model *model, int B, int T)
{
    const struct gpt_config *c = &model->config;
    double products = 0, pairs = 0; /* products: frozen weights are used only in the forward pass */
    int frozen_layers = 0;
    for (int i = 0; i < model->parameters; i++)
        if (model->table[i].ndim == 2 && i != model->embed_x && i != model->embed_y &&
            i != model->position) /* tables are looked up, not multiplied */
            products += (i < model->frozen ? 2.0 : 6.0) * (double)model->table[i].count;
    for (int t = 1; t <= T; t++)
        pairs += c->attention_window > 0 && t > c->attention_window ? c->attention_window : t;
    for (int l = 0; l < c->layers; l++)
        frozen_layers += model->block[l].ln1_w < model->frozen;
    return (double)B * (T * products + pairs * c->width * (12.0 * c->layers - 8.0 * frozen_layers));
}

double gpt_matmul_peak(const struct k_ops *ops)
{
    static const struct k_ops *measured;
    static double peak;
    double gflops;
    if (measured == ops) /* measured once: a process opens threads only once */
        return peak;
    measured = ops;
    peak = ops->peak(&gflops) ? NAN : 1e9 * gflops;
    if (isnan(peak))
        orr_error_recover(); /* without a peak, the share is left out */
    return peak;
}

void gpt_meter_open(struct gpt_meter *meter, const struct gpt_model *model, int B, int T,
                    int passes)
{
    const double N = (double)B * T;
    *meter = (struct gpt_meter){.live = NAN,
                                .flop = gpt_pass_flop(model, B, T) / N,
                                .peak = gpt_matmul_peak(model->ops),
                                .positions_per_step = N * passes};
}

void gpt_meter_add(struct gpt_meter *meter, double seconds)
{
    meter->positions += meter->positions_per_step;
    meter->seconds += seconds;
    meter->live_positions += meter->positions_per_step;
    meter->live_seconds += seconds;
    const bool full = meter->live_seconds > 1;
    if (full || !meter->steady)
        meter->live = meter->live_positions / fmax(meter->live_seconds, 1e-9);
    if (!full)
        return;
    meter->steady = true;
    meter->live_positions = meter->live_seconds = 0;
}

/* Share of the peak; NaN where the peak is not known. A share above 1 means that other work
 * disturbed the measurement of the peak, which is then ignored. */
static double peak_share(const struct gpt_meter *meter, double rate)
{
    const double share = rate * meter->flop / meter->peak;
    return share <= 1 ? share : NAN;
}

void gpt_log_detail(const struct gpt_log_entry *entry, const struct gpt_meter *meter,
                    char text[160])
{
    snprintf(text, 160, "loss %.4g, lr %.2g, |g| %.2g, %.0f positions/s", entry->loss, entry->lr,
             entry->norm, meter->live);
    const double share = peak_share(meter, meter->live);
    if (entry->skipped_steps)
        orr_append(text, 160, ", %ld skipped", entry->skipped_steps);
    if (isfinite(share)) /* a narrow terminal leaves out the last parts first (base/log.h) */
        orr_append(text, 160, ", %.0f%% of peak", 100 * share);
    orr_append(text, 160, ", %.2g GB", orr_memory_peak() * 1e-9);
}

/* Members that depend on time and memory come last, after tokens_per_s. */
#define NUMBERS                                                                                    \
    "step", (double)entry->step, "loss", entry->loss, "lr", entry->lr, "grad_norm", entry->norm,   \
        "degenerate_rows", (double)entry->degenerate
#define TIMES                                                                                      \
    "tokens_per_s", rate, "peak_share", peak_share(meter, rate), "eta_s", eta_s, "memory_mb",      \
        orr_memory_peak() * 1e-6, (char *)NULL

int gpt_log_step(struct orr_log *log, const struct gpt_log_entry *entry, struct gpt_meter *meter)
{
    const double rate = meter->positions / fmax(meter->seconds, 1e-9);
    const double eta_s = (double)(entry->steps - entry->step) * meter->positions_per_step / rate;
    meter->positions = meter->seconds = 0;
    if (entry->skipped)
        return orr_log_word_line(log, "skipped", entry->skipped, NUMBERS, "skipped_steps",
                                 (double)entry->skipped_steps, TIMES);
    return orr_log_line(log, NUMBERS, TIMES);
}

int gpt_log_trim(const char *path, long step)
{
    char *text, *rest = NULL;
    size_t bytes;
    struct orr_file file = {0};
    if (!orr_exists(path))
        return 0;
    TRY(orr_log_read(path, &text, &bytes));
    int rc = orr_file_create(&file, path);
    for (char *line = strtok_r(text, "\n", &rest); line && !rc;
         line = strtok_r(NULL, "\n", &rest)) {
        cJSON *json = cJSON_ParseWithOpts(line, NULL, 1); /* NULL: the line was cut off */
        const cJSON *at = orr_json_get(json, "step");
        if (cJSON_IsNumber(at) && isfinite(at->valuedouble) && at->valuedouble <= (double)step)
            rc = orr_file_printf(&file, "%s\n", line);
        cJSON_Delete(json);
    }
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    free(text);
    return rc;
}
