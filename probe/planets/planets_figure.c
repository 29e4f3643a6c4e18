/* planets_figure.c - pictures of forces along the orbit of each real planet. */
#include "planets.h"

#include <math.h>
#include <string.h>

/* value, ceiling, floor and raw of one planet's row; NaN where there is no such row. */
static void numbers_of(const struct probe_planets *p, const char *what, const char *measure,
                       int planet, double number[4])
{
    char quantity[PROBE_QUANTITY];
    snprintf(quantity, sizeof quantity, "%s, %s", what, probe_planets_name(planet));
    for (int c = 0; c < 4; c++)
        number[c] = NAN;
    for (int i = 0; i < p->s.results.count; i++) {
        const struct probe_row *r = &p->s.results.row[i];
        if (strcmp(r->quantity, quantity) != 0 || strcmp(r->measure, measure) != 0)
            continue;
        const double found[4] = {r->value, r->ceiling, r->floor, r->raw};
        memcpy(number, found, sizeof found);
    }
}

enum who { TRUTH, MODEL, FLOOR, WHO };

/* As in the run's figures (figures/plot_forces.c): an arrow of force 1 is so long, in distances; a
 * longer arrow than this is cut. */
static const double arrow_share = 0.45, longest = 1.5;

struct field {
    const struct probe_planets *p;
    int planet, panels, cut;
    double arrow_au, extent_au;
    double cosine[WHO], error[WHO];
};

/* The arrow at step k, in AU; *cut where it was too long. */
static void arrow_of(const struct field *field, enum who who, int k, double arrow[2], bool *cut)
{
    double f[2];
    if (who == TRUTH)
        probe_arrows_truth(field->p, field->planet, k, f);
    else
        probe_arrows_at(field->p, who == FLOOR, field->planet, k, f);
    const double size = hypot(f[0], f[1]);
    *cut = size > longest;
    for (int c = 0; c < 2; c++)
        arrow[c] = field->arrow_au * f[c] * (*cut ? longest / size : 1);
}

static void measure_field(struct field *field)
{
    const struct probe_arrows *a = &field->p->arrows;
    const double *state = field->p->real[field->planet].state;
    double r_au = 0, number[4];
    for (int k = a->first; k < a->first + a->count; k++)
        r_au += hypot(state[4 * k], state[4 * k + 1]) / a->count;
    field->arrow_au = arrow_share * r_au;
    for (int who = 0; who < field->panels; who++)
        for (int k = a->first; k < a->first + a->count; k++) {
            double arrow[2];
            bool cut;
            arrow_of(field, (enum who)who, k, arrow, &cut);
            field->cut += cut;
            for (int c = 0; c < 2; c++) {
                const double at = state[4 * k + c], reach = fabs(at + arrow[c]);
                field->extent_au = fmax(field->extent_au, fmax(fabs(at), reach));
            }
        }
    field->extent_au *= 1.07;
    numbers_of(field->p, "force", "cosine", field->planet, number);
    field->cosine[MODEL] = number[0];
    field->cosine[FLOOR] = number[2];
    numbers_of(field->p, "force", "error of size", field->planet, number);
    field->error[MODEL] = number[0];
    field->error[FLOOR] = number[2];
}

static int write_arrows(const struct field *field, const char *path)
{
    const struct probe_arrows *a = &field->p->arrows;
    struct orr_file file = {0};
    int rc = orr_file_create(&file, path);
    for (int who = 0; who < field->panels && !rc; who++) {
        for (int k = a->first; k < a->first + a->count && !rc; k++) {
            const double *at = field->p->real[field->planet].state + 4 * k;
            double arrow[2];
            bool cut;
            arrow_of(field, (enum who)who, k, arrow, &cut);
            rc = orr_file_printf(&file, "%.7g %.7g %.7g %.7g %d\n", at[0], at[1], arrow[0],
                                 arrow[1], cut ? 2 : 0);
        }
        rc = rc ? rc : orr_file_printf(&file, "\n\n");
    }
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* Of the run's figures (figures/read.c). */
static const char *colour_of(const char *attention)
{
    static const char *const known[][2] = {
        {"softmax", "#d1602b"}, {"lssar", "#1f6fb4"}, {"lssa", "#2a8f5b"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(attention, known[i][0]))
            return known[i][1];
    return "#8a4fb0";
}

static int write_panels(const struct field *field, struct orr_file *file)
{
    const struct gpt_model *model = &field->p->s.probe.model;
    const char *const colour[WHO] = {"#222222", colour_of(model->config.attention), "#8a8a8a"};
    char text[PROBE_TEXT], note[128];
    probe_describe(model, text);
    const char *const title[WHO] = {"True forces", text, "random weights, fine-tuned alike"};
    for (int who = 0; who < field->panels; who++) {
        if (who == TRUTH)
            snprintf(note, sizeof note, "%d places, none trained on", field->p->arrows.count);
        else
            snprintf(note, sizeof note, "cosine %.3f, median error of size %.1f%%",
                     field->cosine[who], 100 * field->error[who]);
        TRY(orr_gnuplot_assign(file, "title", who + 1, title[who]));
        TRY(orr_gnuplot_assign(file, "note", who + 1, note));
        TRY(orr_gnuplot_assign(file, "colour", who + 1, colour[who]));
    }
    return 0;
}

static int write_field(const void *of, const char *data, const char *settings)
{
    struct field field = *(const struct field *)of;
    struct orr_file file = {0};
    char name[64];
    measure_field(&field);
    int rc = write_arrows(&field, data);
    rc = rc ? rc : orr_file_create(&file, settings);
    if (!rc)
        rc = orr_file_printf(&file,
                             "panels = %d\nextent = %.7g\narrow = %.7g\ncut = %d\nlongest = %.3g\n"
                             "stride = 1\nlabels = 0\nunit_name = \"largest labelled force\"\n"
                             "array title[%d]\narray note[%d]\narray colour[%d]\n",
                             field.panels, field.extent_au, field.arrow_au, field.cut, longest,
                             field.panels, field.panels, field.panels);
    snprintf(name, sizeof name, "%s, real places (VSOP87)", probe_planets_name(field.planet));
    rc = rc ? rc : orr_gnuplot_assign(&file, "planet", 0, name);
    rc = rc ? rc : write_panels(&field, &file);
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

int probe_arrows_draw(struct probe_planets *p)
{
    for (int i = 0; i < PROBE_PLANETS; i++) {
        const struct field field = {
            .p = p, .planet = i, .panels = p->arrows.has_floor ? WHO : WHO - 1};
        char name[64];
        snprintf(name, sizeof name, "planets_forces_%s", sim_sun_bodies[i].name);
        TRY(probe_picture(p->s.folder, name, "forces.gp", write_field, &field));
        snprintf(name, sizeof name, "planets_forces_%s.png", sim_sun_bodies[i].name);
        TRY(probe_results_file(&p->s.results, p->s.folder, name));
    }
    return 0;
}
