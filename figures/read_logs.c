/* read_logs.c - numbers of evaluations; training logs: one JSON object per line with step, loss and
 * sometimes val_loss. */
#include "report.h"

#include "stage/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

int report_read_number(const char *path, const char *key, double *value)
{
    cJSON *json = NULL;
    if (!orr_exists(path))
        return 0;
    char why[ORR_WHY];
    int rc = orr_json_read(path, &json);
    if (!rc && !orr_sum_kept(json, why))
        rc = ORR_FAIL(ORR_EFORMAT, "%s: %s", path, why);
    if (!rc && isfinite(orr_json_number(json, key)))
        *value = orr_json_number(json, key);
    cJSON_Delete(json);
    return rc;
}

/* A run that was killed and resumed writes the steps since its checkpoint again: the later line
 * is the one that counts. */
static void cut_back(const double *step, size_t *count, double next)
{
    while (*count > 0 && step[*count - 1] >= next)
        (*count)--;
}

static int take_line(const char *path, size_t line_number, const char *line,
                     struct report_curve *curve)
{
    cJSON *json = cJSON_ParseWithOpts(line, NULL, 1);
    const double step = json ? orr_json_number(json, "step") : NAN;
    if (!isfinite(step)) {
        cJSON_Delete(json);
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: expected a JSON object with a number \"step\"", path,
                        line_number);
    }
    const double loss = orr_json_number(json, "loss"), val = orr_json_number(json, "val_loss");
    cJSON_Delete(json);
    cut_back(curve->step, &curve->count, isfinite(loss) ? step : step + 1);
    cut_back(curve->val_step, &curve->val_count, isfinite(val) ? step : step + 1);
    if (isfinite(loss)) {
        curve->step[curve->count] = step;
        curve->loss[curve->count++] = loss;
    }
    if (isfinite(val)) {
        curve->val_step[curve->val_count] = step;
        curve->val_loss[curve->val_count++] = val;
    }
    return 0;
}

int report_read_curve(const char *path, struct report_curve *curve)
{
    if (!orr_exists(path))
        return 0;
    char *text = NULL;
    size_t bytes = 0, lines = 1;
    int rc = orr_log_read(path, &text, &bytes);
    if (rc)
        return rc;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    /* one block each for training and validation: steps, then losses */
    curve->step = orr_alloc(2 * lines, sizeof(double));
    curve->val_step = orr_alloc(2 * lines, sizeof(double));
    if (!curve->step || !curve->val_step) {
        free(text);
        return ORR_ENOMEM;
    }
    curve->loss = curve->step + lines;
    curve->val_loss = curve->val_step + lines;
    size_t line_number = 1;
    for (char *line = text; *line && !rc; line_number++) {
        const size_t length = strcspn(line, "\n");
        const bool last = line[length] == '\0';
        line[length] = '\0';
        /* the last line may be cut short by a kill */
        if (line[strspn(line, " \t\r")] && take_line(path, line_number, line, curve)) {
            if (!last)
                rc = ORR_EFORMAT;
            else
                orr_error_clear();
        }
        line += length + !last;
    }
    free(text);
    return rc;
}
