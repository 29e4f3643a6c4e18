/* planets_forces.c - compares forces that the run's fine-tuned vector heads predict at the
 * positions of the real planets with Newton's. */
#include "planets.h"

#include "finetune/ft.h"
#include "probe/core/answers.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

/* --------------------------------------------------------------------------------- finding */

/* *same: whether the head was fine-tuned from the probed checkpoint; `unknown` where a file made by
 * another program does not record its origin. */
static int check_origin(const struct probe_planets *p, int which, bool unknown, bool *same)
{
    cJSON *model = NULL, *head = NULL;
    int rc = gpt_checkpoint_made(p->s.options->checkpoint, &model);
    rc = rc ? rc : gpt_checkpoint_made(p->arrows.path[which], &head);
    *same =
        !rc && (model && head ? orr_made_record(head, orr_made_digest(model)) != NULL : unknown);
    cJSON_Delete(model);
    cJSON_Delete(head);
    return rc;
}

static int find_head(struct probe_arrows *a, int which, const char *run, const char *source)
{
    uint64_t bytes;
    TRY(orr_path(a->path[which], "%s/%s/finetune/vector.safetensors", run, source));
    if (!orr_exists(a->path[which]))
        a->path[which][0] = '\0';
    return a->path[which][0] ? orr_file_checksum(a->path[which], &a->content[which], &bytes) : 0;
}

/* Rejects a baseline of another shape or one whose weights are not random. */
static int check_baseline(struct probe_planets *p)
{
    struct probe_arrows *a = &p->arrows;
    const char *own = orr_source_attention(p->s.options->settings, p->s.probe.source);
    const char *its = orr_source_attention(p->s.options->settings, "untrained");
    const char *why = NULL;
    bool trained = false;
    TRY(check_origin(p, 1, false, &trained));
    if (trained)
        why = "untrained/finetune/vector.safetensors was made from the pretrained model";
    else if (!own || !its || strcmp(own, its) != 0)
        why = "untrained/finetune/vector.safetensors has another attention";
    if (why)
        a->path[1][0] = '\0';
    a->has_baseline = !why;
    orr_note(p->s.options->quiet || !why, "planets: forces without a baseline: %s", why ? why : "");
    return 0;
}

void probe_arrows_steps(struct probe_planets *p, const char **why)
{
    const struct probe_options *o = p->s.options;
    struct probe_arrows *a = &p->arrows;
    const int steps = (p->T - 1) / 2, orbit = (int)floor(o->settings->planets.samples_per_orbit);
    a->first = o->settings->orbits.label_from_step;
    a->count = steps - a->first < orbit ? steps - a->first : orbit;
    *why = NULL;
    if (probe_is_changed(o))
        *why = "attention or length changed";
    else if (!*o->run)
        *why = "the checkpoint belongs to no run";
    else if (o->settings->orbits.law != ORR_LAW_NEWTON)
        *why = "the run's forces are of another law than Newton's";
    else if (a->count < 1)
        *why = "sequences end before orbits.label_from_step";
}

/* Of answers: whether they have forces. */
static void find_answered(struct probe_planets *p, const char *why)
{
    const struct probe_options *o = p->s.options;
    if (!why && !probe_answers_has(o->answers, PROBE_PLANETS_FORCES))
        why = "the answers have no " PROBE_PLANETS_FORCES;
    p->arrows.there = !why;
    p->arrows.has_baseline = !why && o->twin && probe_answers_has(o->twin, PROBE_PLANETS_FORCES);
    orr_note(o->quiet || !why, "planets: no forces: %s", why ? why : "");
}

int probe_arrows_find(struct probe_planets *p)
{
    const struct probe_options *o = p->s.options;
    struct probe_arrows *a = &p->arrows;
    const char *why = NULL;
    bool same = false;
    probe_arrows_steps(p, &why);
    if (o->answers) {
        find_answered(p, why);
        return 0;
    }
    if (!why)
        TRY(find_head(a, 0, o->run, p->s.probe.source));
    if (!why && !*a->path[0])
        why = "the run has no finetune/vector.safetensors of this source; orrery finetune makes it";
    if (!why)
        TRY(check_origin(p, 0, true, &same));
    if (!why && !same)
        why = "the run's finetune/vector.safetensors was made from another model";
    if (!why)
        TRY(find_head(a, 1, o->run, "untrained"));
    a->there = !why;
    a->has_baseline = !why && *a->path[1];
    orr_note(o->quiet || !why, "planets: no forces: %s", why ? why : "");
    return a->has_baseline ? check_baseline(p) : 0;
}

/* ------------------------------------------------------------------------- labels */

/* The simulated planets that heads were fine-tuned on, made from the seed. */
struct simulated {
    struct ft_run run; /* preset, planets and labels */
    float *force;      /* (n, P, d) */
    float scale[PROBE_PLANETS];
};

static int simulate_labels(struct probe_arena *arena, struct simulated *s,
                           const struct orr_settings *settings)
{
    const size_t P = (size_t)sim_split_positions(settings, SIM_SPLIT_PLANETS_SOLAR);
    const size_t labels = (size_t)settings->planets.labels,
                 axes = (size_t)settings->orbits.dimensions;
    struct sim_sequence sequence = {0};
    s->force = probe_take(arena, PROBE_PLANETS * P * axes, sizeof *s->force);
    s->run.settings = settings;
    s->run.labels = probe_take(arena, PROBE_PLANETS * labels, sizeof *s->run.labels);
    s->run.planets = (struct sim_dataset){.n = PROBE_PLANETS,
                                          .positions = (int)P,
                                          .dimensions = settings->orbits.dimensions,
                                          .split = SIM_SPLIT_PLANETS_SOLAR,
                                          .force_vector = s->force};
    TRY(arena->failed);
    int rc = sim_sequence_create(&sequence, settings, SIM_SPLIT_PLANETS_SOLAR);
    for (size_t i = 0; i < PROBE_PLANETS && !rc; i++) {
        rc = sim_sequence_make(&sequence, settings, SIM_SPLIT_PLANETS_SOLAR, i);
        if (rc)
            break;
        memcpy(s->force + axes * i * P, sequence.force_vector, axes * P * sizeof *s->force);
        s->scale[i] = sequence.scale;
        rc = ft_choose_labels(&s->run.planets, (long)i, (int)P - 1, settings->seed, (int)labels,
                              s->run.labels + i * labels);
    }
    sim_sequence_free(&sequence);
    return rc;
}

/* A model is given positions only in units of the first distance, so its unit of force scales with
 * the force at the first distance. The real planet starts at another point of its orbit; its unit
 * therefore differs by the squared ratio of the two first distances. */
int probe_arrows_units(struct probe_planets *p)
{
    struct simulated s = {0};
    double unit[FT_PLANETS][SIM_AXES];
    TRY(simulate_labels(&p->s.arena, &s, &p->s.probe.settings));
    ft_vector_scale(&s.run, unit);
    const int labels = p->s.probe.settings.planets.labels;
    for (int i = 0; i < PROBE_PLANETS; i++) {
        const double ratio = (double)s.scale[i] / p->real[i].scale_au;
        double size = 0;
        for (int k = 0; k < labels; k++) {
            const size_t row = (size_t)s.run.labels[i * labels + k];
            const size_t at = (size_t)i * (size_t)s.run.planets.positions + row;
            size += sim_row_length(s.force + (size_t)p->axes * at, p->axes) / labels;
        }
        p->arrows.mean_size[i] = size;
        p->arrows.ratio2[i] = ratio * ratio;
        for (int c = 0; c < p->axes; c++)
            p->arrows.unit[i][c] = unit[i][c] * ratio * ratio;
    }
    return 0;
}

/* -------------------------------------------------------------------------------- results */

void probe_arrows_truth(const struct probe_planets *p, int planet, int k, double f[])
{
    const struct probe_track *track = &p->real[planet];
    const double *at = track->state + 2 * p->axes * k, r = sim_hypot(at, p->axes);
    for (int c = 0; c < p->axes; c++)
        f[c] = -sim_force(track->mass, 1, r) * at[c] / (r * p->arrows.unit[planet][c]);
}

void probe_arrows_at(const struct probe_planets *p, int which, int planet, int k, double f[])
{
    const size_t axes = (size_t)p->axes;
    memcpy(f, p->arrows.f[which] + axes * ((size_t)planet * (size_t)p->T + 2 + 2 * (size_t)k),
           axes * sizeof *f);
}

int probe_arrows_predict(struct probe_planets *p, int which)
{
    struct probe_arrows *a = &p->arrows;
    const struct probe_options *o = p->s.options;
    struct gpt_model model = {0};
    a->f[which] =
        probe_take(&p->s.arena, PROBE_PLANETS * (size_t)(p->T * p->axes), sizeof *a->f[which]);
    TRY(p->s.arena.failed);
    if (o->answers)
        return probe_arrows_answered(p, which ? o->twin : o->answers, which);
    TRY(gpt_load(&model, a->path[which], o->ops, NULL));
    const struct gpt_config *c = &model.config;
    int rc = 0;
    if (!gpt_is_continuous(c) || gpt_config_axes(c) != p->axes || c->head != GPT_HEAD_REGRESSION ||
        c->outputs != p->axes || c->context < p->T)
        rc = ORR_FAIL(ORR_EINVAL, "%s: expected a head of %d numbers on %d positions, found %d, %d",
                      a->path[which], p->axes, p->T, c->outputs, c->context);
    if (!rc) {
        gpt_swap_average(&model); /* the averaged weights, which the run's predictions use */
        rc = probe_planets_predict(&model, p->real, p->T, a->f[which]);
    }
    gpt_free(&model);
    return rc;
}

/* Mean cosine and median relative error of the size. by: 0 model, 1 baseline, -1 the constant
 * baseline (towards the Sun, with the mean size of the labels). */
static int score_planet(struct probe_planets *p, int by, int planet, double *cosine, double *error)
{
    const struct probe_arrows *a = &p->arrows;
    const size_t kept = p->s.arena.count;
    double *column = probe_take(&p->s.arena, (size_t)a->count, sizeof *column);
    size_t numbers = 0;
    TRY(p->s.arena.failed);
    *cosine = 0;
    for (int i = 0; i < a->count; i++) {
        double truth[SIM_AXES] = {0}, f[SIM_AXES] = {0};
        const double *at = p->real[planet].state + 2 * p->axes * (a->first + i);
        probe_arrows_truth(p, planet, a->first + i, truth);
        const double size = sim_hypot(truth, p->axes);
        if (by < 0)
            for (int c = 0; c < p->axes; c++)
                f[c] = -at[c] / sim_hypot(at, p->axes) * a->mean_size[planet] / a->unit[planet][c];
        else
            probe_arrows_at(p, by, planet, a->first + i, f);
        const double found = sim_hypot(f, p->axes);
        *cosine += sim_dot(f, truth, p->axes) / (found * size) / a->count;
        column[numbers] = fabs(found / size - 1);
        numbers += isfinite(column[numbers]) != 0;
    }
    *error = orr_median(column, numbers);
    probe_rewind(&p->s.arena, kept);
    return 0;
}

int probe_arrows_measure(struct probe_planets *p)
{
    double cosine[4][PROBE_PLANETS], error[4][PROBE_PLANETS];
    TRY(probe_arrows_units(p));
    TRY(probe_arrows_predict(p, 0));
    if (p->arrows.has_baseline)
        TRY(probe_arrows_predict(p, 1));
    for (int i = 0; i < PROBE_PLANETS; i++) {
        cosine[1][i] = 1;
        error[1][i] = 0;
        cosine[2][i] = error[2][i] = NAN;
        TRY(score_planet(p, 0, i, &cosine[0][i], &error[0][i]));
        if (p->arrows.has_baseline)
            TRY(score_planet(p, 1, i, &cosine[2][i], &error[2][i]));
        TRY(score_planet(p, -1, i, &cosine[3][i], &error[3][i]));
    }
    TRY(probe_planets_add(p, "force", "cosine", cosine, p->arrows.count));
    return probe_planets_add(p, "force", "error of size", error, p->arrows.count);
}

/* ------------------------------------------------------------------------------------ files */

int probe_arrows_remove(const struct probe_planets *p)
{
    char path[4096];
    for (int i = -1; i < PROBE_PLANETS; i++) {
        TRY(i < 0
                ? orr_path(path, "%s/planets_forces.csv", p->s.folder)
                : orr_path(path, "%s/planets_forces_%s.png", p->s.folder, sim_sun_bodies[i].name));
        TRY(orr_remove(path));
    }
    return 0;
}

int probe_arrows_write(struct probe_planets *p)
{
    const struct probe_arrows *a = &p->arrows;
    struct orr_file file = {0};
    char path[4096], header[PROBE_HEADER] = "planet,name,step";
    TRY(orr_path(path, "%s/planets_forces.csv", p->s.folder));
    TRY(orr_file_create(&file, path));
    probe_arrows_name(p->axes, "", "", header);
    probe_arrows_name(p->axes, "f", "_true", header);
    probe_arrows_name(p->axes, "f", "", header);
    probe_arrows_name(p->axes, "f", "_baseline", header);
    orr_file_printf(&file, "%s\n", header);
    for (int i = 0; i < PROBE_PLANETS; i++)
        for (int k = a->first; k < a->first + a->count; k++) {
            double vector[4][SIM_AXES] = {[3] = {NAN, NAN, NAN}};
            memcpy(vector[0], p->real[i].state + 2 * p->axes * k,
                   (size_t)p->axes * sizeof *vector[0]);
            probe_arrows_truth(p, i, k, vector[1]);
            probe_arrows_at(p, 0, i, k, vector[2]);
            if (a->has_baseline)
                probe_arrows_at(p, 1, i, k, vector[3]);
            orr_file_printf(&file, "%d,%s,%d", i, sim_sun_bodies[i].name, k);
            for (int n = 0; n < 4 * p->axes; n++)
                orr_file_printf(&file, ",%.9g", vector[n / p->axes][n % p->axes]);
            orr_file_printf(&file, "\n");
        }
    const int rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc ? rc : probe_results_file(&p->s.results, p->s.folder, "planets_forces.csv");
}
