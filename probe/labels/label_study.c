/* label_study.c - common parts of probes that fine-tune to few labels: labelled sequences, held-out
 * rows, learners and their budget. */
#include "labels.h"

#include <cjson/cJSON.h>

const int probe_label_sizes[PROBE_LABEL_SIZES] = {100, 300, 1000, 3000};

enum { HELD_OUT = 512, ROWS = 8, DRAWS = 3 };

int probe_label_study_open(struct probe_label_study *t)
{
    const struct probe_options *o = t->s.options;
    const struct ft_bounds none = {0};
    const size_t asked = o->sequences ? (size_t)o->sequences : HELD_OUT;
    TRY(probe_open(&t->s.probe, o, false, 1));
    TRY(probe_label_sets_check(&t->s.probe, o));
    TRY(probe_label_sets_open(&t->s.arena, &t->forces, o));
    t->draws = o->draws ? o->draws : DRAWS;
    return probe_held_out_draw(&t->s.arena, &t->held_out, &t->forces.test, &none, NULL,
                               t->forces.test.n < asked ? t->forces.test.n : asked, ROWS,
                               o->settings->seed);
}

int probe_label_study_sizes(struct probe_label_study *t, const int *standard, int standards,
                            size_t most)
{
    TRY(probe_sizes_read(t->s.options->sizes, standard, standards, most, t->n, &t->sizes));
    probe_learners_init(&t->learners, &t->s.arena, &t->s.probe, t->s.options);
    probe_learners_key(&t->learners, t->draws, t->n, t->sizes, t->s.more);
    return 0;
}

int probe_label_study_size(struct probe_label_study *t, size_t most)
{
    enum { SEQUENCES = 3000 };
    const int standard = most < SEQUENCES ? (int)most : SEQUENCES;
    return probe_label_study_sizes(t, &standard, 1, most);
}

cJSON *probe_label_study_about(struct probe_label_study *t)
{
    cJSON *json = t->s.results.about = cJSON_CreateObject();
    if (!t->s.options->answers) /* how another program learned is not known */
        probe_learners_budget(&t->learners, json);
    cJSON_AddNumberToObject(json, "draws", t->draws);
    cJSON_AddNumberToObject(json, "held_out_sequences", (double)t->held_out.sequences);
    return json;
}
