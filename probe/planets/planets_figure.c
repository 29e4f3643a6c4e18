/* planets_figure.c - pictures of forces along the orbit of each real planet. */
#include "stage/provenance.h"
#include "planets.h"

#include <math.h>
#include <string.h>

enum who { TRUTH, MODEL, BASELINE, WHO };

/* As in the run's figures (figures/plot_forces.c): the length of an arrow of force 1, as a share of
 * the distance; and the length at which arrows are cut. */
static const double arrow_share = 0.45, longest = 1.5;

struct field {
    const struct probe_planets *p;
    int planet, panels, cut;
    double arrow_au, extent_au;
};

/* The arrow at step k, in AU; *cut: it was longer than the limit. */
/* Panels have the order of the run's figures: truth, untrained baseline, model. */
static enum who who_at(const struct field *field, int panel)
{
    return panel == 0 ? TRUTH : panel == 1 && field->panels == WHO ? BASELINE : MODEL;
}

static void arrow_of(const struct field *field, enum who who, int k, double arrow[2], bool *cut)
{
    double f[SIM_AXES];
    if (who == TRUTH)
        probe_arrows_truth(field->p, field->planet, k, f);
    else
        probe_arrows_at(field->p, who == BASELINE, field->planet, k, f);
    const double size = hypot(f[0], f[1]); /* of the projection that is drawn */
    *cut = size > longest;
    for (int c = 0; c < 2; c++)
        arrow[c] = field->arrow_au * f[c] * (*cut ? longest / size : 1);
}

static void measure_field(struct field *field)
{
    const struct probe_arrows *a = &field->p->arrows;
    const struct probe_track *track = &field->p->real[field->planet];
    const int numbers = 2 * track->axes;
    const double *state = track->state;
    double r_au = 0;
    for (int k = a->first; k < a->first + a->count; k++)
        r_au += hypot(state[numbers * k], state[numbers * k + 1]) / a->count;
    field->arrow_au = arrow_share * r_au;
    for (int who = 0; who < field->panels; who++)
        for (int k = a->first; k < a->first + a->count; k++) {
            double arrow[2];
            bool cut;
            arrow_of(field, (enum who)who, k, arrow, &cut);
            field->cut += cut;
            for (int c = 0; c < 2; c++) {
                const double at = state[numbers * k + c], reach = fabs(at + arrow[c]);
                field->extent_au = fmax(field->extent_au, fmax(fabs(at), reach));
            }
        }
    field->extent_au *= 1.07;
}

/* The row of one planet's forces, added by probe_arrows_measure(). */
static const struct orr_row *row_of(const struct field *field, const char *measure)
{
    char quantity[ORR_QUANTITY];
    struct orr_row row = {.quantity = quantity, .measure = measure, .layer = -1};
    snprintf(quantity, sizeof quantity, "force, %s", probe_planets_name(field->planet));
    return orr_table_find(&field->p->s.results.table, &row, false);
}

static void write_arrows(const struct field *field, struct orr_file *file)
{
    const struct probe_arrows *a = &field->p->arrows;
    for (int panel = 0; panel < field->panels; panel++) {
        for (int k = a->first; k < a->first + a->count; k++) {
            const double *at = field->p->real[field->planet].state + 2 * field->p->axes * k;
            double arrow[2];
            bool cut;
            arrow_of(field, who_at(field, panel), k, arrow, &cut);
            orr_file_printf(file, "%.7g %.7g %.7g %.7g %d\n", at[0], at[1], arrow[0], arrow[1],
                            cut ? 2 : 0);
        }
        orr_file_printf(file, "\n\n");
    }
}

static void write_panels(const struct field *field, struct orr_file *file)
{
    const struct gpt_model *model = &field->p->s.probe.model;
    const struct orr_row *cosine = row_of(field, "cosine"), *error = row_of(field, "error of size");
    const char *const colour[WHO] = {"#222222", orr_attention_colour(model->config.attention, 1),
                                     "#8a8a8a"};
    char text[PROBE_TEXT], note[128];
    probe_describe(model, text);
    const char *const title[WHO] = {"True forces", text, "untrained, fine-tuned alike"};
    for (int panel = 0; panel < field->panels; panel++) {
        const enum who who = who_at(field, panel);
        if (who == TRUTH)
            snprintf(note, sizeof note, "%d positions, none trained on", field->p->arrows.count);
        else
            snprintf(note, sizeof note, "cosine %.3f, median error of size %.1f%%",
                     who == MODEL ? cosine->value : cosine->baseline,
                     100 * (who == MODEL ? error->value : error->baseline));
        orr_gnuplot_assign(file, "title", panel + 1, title[who]);
        orr_gnuplot_assign(file, "note", panel + 1, note);
        orr_gnuplot_assign(file, "colour", panel + 1, colour[who]);
    }
}

static int write_field(const void *of, struct orr_file *data, struct orr_file *settings)
{
    struct field field = *(const struct field *)of;
    char name[64];
    measure_field(&field);
    write_arrows(&field, data);
    orr_file_printf(settings,
                    "panels = %d\nextent = %.7g\narrow = %.7g\ncut = %d\nlongest = %.3g\n"
                    "stride = 1\nlabels = 0\nunit_name = \"largest labelled force\"\n"
                    "array title[%d]\narray note[%d]\narray colour[%d]\n",
                    field.panels, field.extent_au, field.arrow_au, field.cut, longest, field.panels,
                    field.panels, field.panels);
    snprintf(name, sizeof name, "%s, real positions (VSOP87)%s", probe_planets_name(field.planet),
             field.p->axes == 3 ? ", x and y" : "");
    orr_gnuplot_assign(settings, "planet", 0, name);
    write_panels(&field, settings);
    return 0;
}

int probe_arrows_draw(struct probe_planets *p)
{
    for (int i = 0; i < PROBE_PLANETS; i++) {
        const struct field field = {
            .p = p, .planet = i, .panels = p->arrows.has_baseline ? WHO : WHO - 1};
        char name[64];
        snprintf(name, sizeof name, "planets_forces_%s", sim_sun_bodies[i].name);
        TRY(orr_picture_draw(p->s.folder, name, "forces.gp", write_field, &field));
        TRY(probe_results_picture(&p->s.results, p->s.folder, name));
    }
    return 0;
}
