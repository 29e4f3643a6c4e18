/* read_logs.c - reads numbers of evaluations, and training logs: one JSON object per line with
 * step, loss and sometimes val_loss. */
#include "report.h"

#include "stage/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cjson.h"

int report_read_number(const char *path, const char *key, double *value)
{
    cJSON *json = NULL;
    if (!orr_exists(path))
        return 0;
    const int rc = orr_json_read(path, &json);
    if (!rc && isfinite(orr_json_number(json, key)))
        *value = orr_json_number(json, key);
    cJSON_Delete(json);
    return rc;
}

/* A run that was killed and resumed logs the steps after its checkpoint twice; the later lines
 * replace the earlier ones. */
static void cut_back(const double *step, size_t *count, double next)
{
    while (*count > 0 && step[*count - 1] >= next)
        (*count)--;
}

/* The text of a log and the number of its lines; free the text. */
struct log {
    const char *path;
    char *text;
    size_t lines;
};

static int open_log(const char *path, struct log *log)
{
    size_t bytes;
    *log = (struct log){.path = path, .lines = 1};
    TRY(orr_log_read(path, &log->text, &bytes));
    for (size_t i = 0; i < bytes; i++)
        log->lines += log->text[i] == '\n';
    return 0;
}

/* Calls take() for every line, as report_lines_read() describes; it deletes or keeps the object. */
static int read_log(struct log *log, int (*take)(void *of, cJSON *line, double step, size_t number),
                    void *of)
{
    size_t number = 1;
    for (char *line = log->text; *line; number++) {
        const size_t length = strcspn(line, "\n");
        const bool last = line[length] == '\0';
        line[length] = '\0';
        cJSON *json = cJSON_ParseWithOpts(line, NULL, 1);
        const double step = json ? orr_json_number(json, "step") : NAN;
        if (isfinite(step)) {
            TRY(take(of, json, step, number));
        } else {
            cJSON_Delete(json);
            if (!last && line[strspn(line, " \t\r")])
                return ORR_FAIL(ORR_EFORMAT,
                                "%s:%zu: expected a JSON object with a number \"step\"", log->path,
                                number);
        }
        line += length + !last;
    }
    return 0;
}

int report_lines_read(const char *path,
                      int (*take)(void *lines, cJSON *line, double step, size_t number),
                      struct report_lines *lines)
{
    struct log log;
    *lines = (struct report_lines){.path = path};
    TRY(open_log(path, &log));
    lines->at = orr_alloc(log.lines, sizeof(cJSON *));
    const int rc = lines->at ? read_log(&log, take, lines) : ORR_ENOMEM;
    free(log.text);
    return rc;
}

void report_lines_free(struct report_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        cJSON_Delete(lines->at[i]);
    free(lines->at);
    *lines = (struct report_lines){0};
}

static int take_line(void *of, cJSON *line, double step, size_t number)
{
    struct report_curve *curve = of;
    const double loss = orr_json_number(line, "loss"), val = orr_json_number(line, "val_loss");
    (void)number;
    cJSON_Delete(line);
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
    struct log log;
    if (!orr_exists(path))
        return 0;
    TRY(open_log(path, &log));
    /* one block each for training and validation: steps, then losses */
    curve->step = orr_alloc(2 * log.lines, sizeof(double));
    curve->val_step = orr_alloc(2 * log.lines, sizeof(double));
    int rc = curve->step && curve->val_step ? 0 : ORR_ENOMEM;
    if (!rc) {
        curve->loss = curve->step + log.lines;
        curve->val_loss = curve->val_step + log.lines;
        rc = read_log(&log, take_line, curve);
    }
    free(log.text);
    return rc;
}
