/* card.c - see card.h. */
#include "card.h"
#include "probe/core/answers.h"
#include "stage/provenance.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* ------------------------------------------------------------------------------------ read */

/* Counts the samples of a source of laws.json under the card's rule. */
static void count_laws(struct probe_card_laws *laws, enum probe_card_source which,
                       const cJSON *list, const char *source)
{
    const cJSON *law;
    cJSON_ArrayForEach (law, list) {
        if (!orr_json_says(law, "source", source) || !orr_json_says(law, "rule", laws->rule))
            continue;
        laws->of[which].samples++;
        laws->of[which].selected += cJSON_IsTrue(orr_json_get(law, "selected_true"));
        laws->of[which].on_front += cJSON_IsTrue(orr_json_get(law, "on_front"));
    }
}

static int read_laws(struct probe_card *card, const char *folder, const char *twin)
{
    struct probe_card_laws *laws = &card->laws;
    char path[4096], why[ORR_WHY] = "";
    cJSON *json = NULL;
    const cJSON *law;
    TRY(orr_path(path, "%s/laws/laws.json", folder));
    TRY(orr_result_read(path, &json, why));
    const cJSON *list = orr_json_get(json, "laws");
    snprintf(laws->law, sizeof laws->law, "%s",
             orr_json_text(orr_json_get(json, "true_law"), "formula"));
    cJSON_ArrayForEach (law, list) /* the rule best, else the last one */
        if (strcmp(laws->rule, "best") != 0)
            snprintf(laws->rule, sizeof laws->rule, "%s", orr_json_text(law, "rule"));
    count_laws(laws, PROBE_CARD_MODEL, list, card->name);
    if (*twin)
        count_laws(laws, PROBE_CARD_TWIN, list, twin);
    count_laws(laws, PROBE_CARD_TRUTH, list, "truth");
    const int rc = *laws->rule ? 0 : ORR_FAIL(ORR_EFORMAT, "%s: no laws: %s", path, why);
    cJSON_Delete(json);
    return rc;
}

static bool has_probe(const struct probe_card *card, const char *probe)
{
    for (int i = 0; i < card->probes; i++)
        if (!strcmp(card->probe[i], probe))
            return true;
    return false;
}

int probe_card_read(struct probe_card *card, const char *folder, const char *twin)
{
    struct orr_measures *m = &card->measures;
    char probes[4096];
    int kept = 0;
    TRY(orr_path(probes, "%s/probe", folder));
    TRY(orr_measures_read(probes, m));
    for (int i = 0; i < m->count; i++) { /* results of earlier calls are not of this card */
        bool known;
        if (!has_probe(card, m->at[i].probe))
            continue;
        m->at[kept] = m->at[i];
        card->beyond[kept] = orr_measure_beyond(&m->at[i], &known);
        card->beyond[kept] = known ? card->beyond[kept] : -1;
        card->value[kept++][0] = m->at[i].value;
    }
    m->count = kept;
    card->trainings = 1;
    snprintf(card->training[0], ORR_NAME, "%s", card->name);
    return has_probe(card, "laws") ? read_laws(card, folder, twin) : 0;
}

/* ------------------------------------------------------------------------------------ join */

/* The mean over trainings; NaN where a training has no value. */
static struct orr_mean mean_of(const double *x, int n)
{
    struct orr_mean mean = orr_mean_of(x, n);
    if (mean.n < n)
        mean.mean = mean.half = NAN;
    return mean;
}

/* A line of all trainings, or false where one lacks it. */
static bool join_line(struct probe_card *card, const struct probe_card *const of[], int count,
                      const struct orr_measure *line)
{
    double value[PROBE_TRAININGS], gain[PROBE_TRAININGS], bound[3][PROBE_TRAININGS];
    struct orr_measure joined = *line;
    for (int t = 0; t < count; t++) {
        const struct orr_measure *m = NULL;
        for (int i = 0; i < of[t]->measures.count && !m; i++)
            if (!strcmp(of[t]->measures.at[i].text, line->text))
                m = &of[t]->measures.at[i];
        if (!m)
            return false;
        value[t] = m->value;
        gain[t] = m->value - m->baseline;
        bound[0][t] = m->upper_bound;
        bound[1][t] = m->baseline;
        bound[2][t] = m->raw;
    }
    const struct orr_mean mean = mean_of(value, count), gained = mean_of(gain, count);
    joined.value = mean.mean;
    joined.low = mean.mean - mean.half;
    joined.high_end = mean.mean + mean.half;
    joined.upper_bound = mean_of(bound[0], count).mean;
    joined.baseline = mean_of(bound[1], count).mean;
    joined.raw = mean_of(bound[2], count).mean;
    const int at = card->measures.count++;
    card->measures.at[at] = joined;
    memcpy(card->value[at], value, (size_t)count * sizeof *value);
    card->beyond[at] = isnan(gained.mean) ? -1
                       : line->high       ? gained.mean > gained.half
                                          : gained.mean < -gained.half;
    return true;
}

void probe_card_join(struct probe_card *card, const struct probe_card *const of[], int count)
{
    card->trainings = count;
    for (int t = 0; t < count; t++)
        snprintf(card->training[t], ORR_NAME, "%s", of[t]->name);
    card->measures.count = 0;
    for (int i = 0; i < of[0]->measures.count; i++)
        (void)join_line(card, of, count, &of[0]->measures.at[i]);
    card->laws = of[0]->laws;
    for (int k = 0; k < PROBE_CARD_SOURCES; k++)
        for (int t = 1; t < count; t++) {
            card->laws.of[k].samples += of[t]->laws.of[k].samples;
            card->laws.of[k].selected += of[t]->laws.of[k].selected;
            card->laws.of[k].on_front += of[t]->laws.of[k].on_front;
        }
}

/* ---------------------------------------------------------------------------------- answer */

void probe_card_answer(const struct probe_card *card, char text[PROBE_CARD_TEXT])
{
    const struct probe_card_laws *l = &card->laws;
    const int selected = l->of[PROBE_CARD_MODEL].selected, all = l->of[PROBE_CARD_MODEL].samples;
    char count[64];
    snprintf(count, sizeof count, "its forces follow the law in %d of %d samples", selected, all);
    if (!*l->rule || !all)
        snprintf(text, PROBE_CARD_TEXT, "not asked: no law was searched for in its forces");
    else if (!selected)
        snprintf(text, PROBE_CARD_TEXT, "no: %s", count);
    else if (l->of[PROBE_CARD_TWIN].selected >= selected)
        snprintf(text, PROBE_CARD_TEXT, "not shown: %s, and those of its untrained twin, too",
                 count);
    else
        snprintf(text, PROBE_CARD_TEXT, "%s: %s", selected == all ? "yes" : "in part", count);
}

static const char *intervals_of(const struct probe_card *card)
{
    return card->trainings > 1 ? "95%, over trainings by Student's t"
                               : "95%, over held-out sequences; one training, so not over seeds";
}

/* ------------------------------------------------------------------------------------ JSON */

static const char *const source_name[PROBE_CARD_SOURCES] = {"model", "untrained", "truth"};

static void add_line(const struct probe_card *card, int i, cJSON *list)
{
    const struct orr_measure *m = &card->measures.at[i];
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "measure", m->text);
    cJSON_AddStringToObject(line, "better", m->high ? "high" : "low");
    cJSON_AddNumberToObject(line, "value", m->value); /* cJSON prints NaN as null */
    cJSON_AddNumberToObject(line, "low", m->low);
    cJSON_AddNumberToObject(line, "high", m->high_end);
    cJSON_AddNumberToObject(line, "upper_bound", m->upper_bound);
    cJSON_AddNumberToObject(line, "baseline", m->baseline);
    cJSON_AddNumberToObject(line, "raw", m->raw);
    cJSON_AddNumberToObject(line, "n", (double)m->n);
    if (card->trainings > 1)
        cJSON_AddItemToObject(line, "values",
                              cJSON_CreateDoubleArray(card->value[i], card->trainings));
    if (card->beyond[i] < 0)
        cJSON_AddNullToObject(line, "beyond_untrained");
    else
        cJSON_AddBoolToObject(line, "beyond_untrained", card->beyond[i]);
    cJSON_AddItemToArray(list, line);
}

static void add_laws(const struct probe_card *card, cJSON *json)
{
    const struct probe_card_laws *l = &card->laws;
    if (!*l->rule) {
        cJSON_AddNullToObject(json, "laws");
        return;
    }
    cJSON *laws = cJSON_AddObjectToObject(json, "laws");
    cJSON_AddStringToObject(laws, "law", l->law);
    cJSON_AddStringToObject(laws, "rule", l->rule);
    for (int k = 0; k < PROBE_CARD_SOURCES; k++) {
        if (!l->of[k].samples)
            continue;
        cJSON *one = cJSON_AddObjectToObject(laws, source_name[k]);
        cJSON_AddNumberToObject(one, "samples", l->of[k].samples);
        cJSON_AddNumberToObject(one, "selected", l->of[k].selected);
        cJSON_AddNumberToObject(one, "on_front", l->of[k].on_front);
    }
}

static void settings_sum(const struct probe_card *card, char sum[PROBE_SUM])
{
    probe_settings_sum(card->settings, sum);
}

static int write_json(const struct probe_card *card, const char *folder)
{
    char path[4096], text[PROBE_CARD_TEXT], sum[PROBE_SUM];
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "format", PROBE_CARD_FORMAT);
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON_AddStringToObject(json, "model", card->name);
    probe_card_answer(card, text);
    cJSON_AddStringToObject(json, "does_it_know_the_force", text);
    cJSON *data = cJSON_AddObjectToObject(json, "data");
    cJSON_AddStringToObject(data, "preset", card->settings->name);
    orr_json_add_u64(data, "seed", card->settings->seed);
    settings_sum(card, sum);
    cJSON_AddStringToObject(data, "settings_xxh64", sum);
    cJSON_AddNumberToObject(json, "seeds", card->trainings);
    cJSON *list = card->trainings > 1 ? cJSON_AddArrayToObject(json, "trainings") : NULL;
    for (int t = 0; t < card->trainings && list; t++)
        cJSON_AddItemToArray(list, cJSON_CreateString(card->training[t]));
    list = cJSON_AddArrayToObject(json, "probes");
    for (int i = 0; i < card->probes; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(card->probe[i]));
    cJSON *without = cJSON_AddObjectToObject(json, "left_out");
    for (int i = 0; i < card->left_out; i++)
        cJSON_AddStringToObject(without, card->without[i].what, card->without[i].why);
    list = cJSON_AddArrayToObject(json, "lines");
    for (int i = 0; i < card->measures.count; i++)
        add_line(card, i, list);
    add_laws(card, json);
    cJSON_AddStringToObject(json, "intervals", intervals_of(card));
    int rc = orr_path(path, "%s/card.json", folder);
    rc = rc ? rc : orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}

/* ------------------------------------------------------------------------------------ page */

enum { COLUMNS = 80, PAGE = 16384 };

/* Adds a paragraph in lines of at most 80 columns. */
static void add_text(char page[PAGE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_text(char page[PAGE], const char *format, ...)
{
    char text[4 * PROBE_CARD_TEXT], *rest = NULL;
    size_t column = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        const size_t bytes = strlen(word);
        const bool breaks = column && column + 1 + bytes > COLUMNS;
        orr_append(page, PAGE, "%s%s", !column ? "" : breaks ? "\n" : " ", word);
        column = breaks || !column ? bytes : column + 1 + bytes;
    }
    orr_append(page, PAGE, "\n");
}

/* As many of three digits as fit into 7 columns. */
static const char *number(double x, char text[32])
{
    if (!isfinite(x))
        return "-";
    for (int digits = 3; digits >= 1; digits--) {
        snprintf(text, 32, "%.*g", digits, x);
        if (strlen(text) <= 7)
            break;
    }
    return text;
}

static void add_row(const struct probe_card *card, int i, char page[PAGE])
{
    const struct orr_measure *m = &card->measures.at[i];
    char a[32], b[32], interval[72] = "-";
    if (isfinite(m->low) && isfinite(m->high_end))
        snprintf(interval, sizeof interval, "%s to %s", number(m->low, a), number(m->high_end, b));
    orr_append(page, PAGE, "%-27s%8s", m->brief, number(m->value, a));
    orr_append(page, PAGE, " %-18s%8s", interval, number(m->baseline, a));
    orr_append(page, PAGE, "%8s", number(m->upper_bound, a));
    orr_append(page, PAGE, "%8s%s\n", number(m->raw, a), card->beyond[i] > 0 ? " *" : "");
}

static void make_page(const struct probe_card *card, char page[PAGE])
{
    char text[PROBE_CARD_TEXT], sum[PROBE_SUM];
    *page = '\0';
    probe_card_answer(card, text);
    settings_sum(card, sum);
    add_text(page, "# %s: does it know the force?", card->name);
    orr_append(page, PAGE, "\n");
    add_text(page, "%s.", text);
    orr_append(page, PAGE, "\n");
    add_text(page,
             "Data: preset %s, seed %llu, settings %s; Orrery %s. Trainings: %d. "
             "Intervals: %s.",
             card->settings->name, (unsigned long long)card->settings->seed, sum, ORR_VERSION,
             card->trainings, intervals_of(card));
    orr_append(page, PAGE, "\n```\n%-27s%8s %-18s%8s%8s%8s\n", "measure", "model", "interval",
               "untrain.", "truth", "nothing");
    for (int i = 0; i < card->measures.count; i++)
        add_row(card, i, page);
    orr_append(page, PAGE, "```\n");
    add_text(page, "* better than its untrained twin (95%%). Truth: fed the truth, or an orbit "
                   "fit; nothing: inputs alone, or persistence.");
    for (int k = 0; k < PROBE_CARD_SOURCES; k++)
        if (card->laws.of[k].samples)
            add_text(page, "Law %s, %s: selected in %d of %d samples, on the front in %d.",
                     card->laws.law, source_name[k], card->laws.of[k].selected,
                     card->laws.of[k].samples, card->laws.of[k].on_front);
    for (int i = 0; i < card->left_out; i++)
        add_text(page, "Not measured: %s, %s.", card->without[i].what, card->without[i].why);
}

int probe_card_write(const struct probe_card *card, const char *folder, bool printed)
{
    struct orr_file file = {0};
    char path[4096];
    char *page = orr_alloc(PAGE, 1);
    int rc = page ? orr_path(path, "%s/card.md", folder) : ORR_ENOMEM;
    if (!rc) {
        make_page(card, page);
        rc = orr_file_create(&file, path);
    }
    if (!rc) {
        (void)orr_file_printf(&file, "%s", page);
        rc = orr_file_commit(&file);
        orr_file_close(&file);
    }
    rc = rc ? rc : write_json(card, folder);
    if (!rc && printed)
        printf("%s", page);
    free(page);
    return rc;
}
