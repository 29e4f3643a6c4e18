/* plot_curves.c - writes the data of curves.gp (losses, Pareto fronts) and exponents.gp. */
#include "report.h"

#include <math.h>
#include <string.h>

enum { POINTS_DRAWN = 400 }; /* points of a curve; longer training logs are averaged */

static int create_settings(const char *folder, const struct report_picture *picture,
                           struct orr_file *set)
{
    char path[REPORT_PATH];
    TRY(orr_path(path, "%s/%s.set", folder, picture->name));
    return orr_file_create(set, path);
}

static int commit_settings(struct orr_file *set)
{
    const int rc = orr_file_commit(set);
    orr_file_close(set);
    return rc;
}

/* Writes the title, colour and panel of a curve. */
static void name_curve(struct orr_file *set, int curve, int panel,
                       const struct report_source *source)
{
    orr_file_printf(set, "panel_of[%d] = %d\ncolour[%d] = \"%s\"\n", curve, panel, curve,
                    source->colour);
    orr_gnuplot_assign(set, "title", curve, source->title);
}

size_t report_best(const struct report_curve *curve)
{
    size_t best = 0;
    for (size_t i = 1; i < curve->val_count; i++)
        best = curve->val_loss[i] < curve->val_loss[best] ? i : best;
    return best;
}

/* Ends a block of gnuplot data. An empty block would shift the numbers of the following ones, so it
 * gets a line of NaN. */
static void end_block(struct orr_file *data, size_t points)
{
    orr_file_printf(data, points ? "\n\n" : "NaN NaN NaN\n\n\n");
}

size_t report_means(const struct report_curve *curve, size_t most, double step[], double loss[])
{
    const size_t stride = 1 + (curve->count > 0 ? curve->count - 1 : 0) / most;
    size_t taken = 0;
    for (size_t i = 0; i < curve->count; i += stride) {
        double sum = 0, steps = 0;
        size_t n = 0;
        for (size_t j = i; j < i + stride && j < curve->count; j++) {
            sum += curve->loss[j];
            steps += curve->step[j];
            n++;
        }
        if (sum > 0) {
            step[taken] = steps / (double)n;
            loss[taken++] = sum / (double)n;
        }
    }
    return taken;
}

/* Step, loss, and the smoothed loss: the geometric mean over a twentieth of the curve around it. */
void report_write_training(struct orr_file *data, const struct report_curve *curve)
{
    double step[POINTS_DRAWN], loss[POINTS_DRAWN];
    const size_t n = report_means(curve, POINTS_DRAWN, step, loss), reach = n / 40;
    for (size_t i = 0; i < n; i++) {
        const size_t half = reach < i ? reach : i, least = n - 1 - i < half ? n - 1 - i : half;
        double sum = 0;
        for (size_t j = i - least; j <= i + least; j++)
            sum += log(loss[j]);
        orr_file_printf(data, "%.7g %.7g %.7g\n", step[i], loss[i],
                        exp(sum / (double)(2 * least + 1)));
    }
    end_block(data, n);
    size_t written = 0;
    for (size_t i = 0; i < curve->val_count; i++) {
        written += curve->val_loss[i] > 0;
        if (curve->val_loss[i] > 0)
            orr_file_printf(data, "%.7g %.7g %d\n", curve->val_step[i], curve->val_loss[i],
                            i == report_best(curve));
    }
    end_block(data, written);
}

int report_plot_loss(const struct report_run *run, const char *folder,
                     struct report_picture *picture)
{
    snprintf(picture->name, sizeof picture->name, "loss");
    snprintf(picture->caption, sizeof picture->caption,
             "Training losses per stage (logarithmic). Lines: training batches, smoothed, with the "
             "logged values in pale; dots: held-out validation, the best one in a circle.%s",
             run->settings.pretrain.ema > 0 && run->settings.pretrain.noise_au > 0
                 ? " In pretraining, validation uses averaged weights and inputs without noise, so "
                   "that it can lie below the training batches."
                 : "");
    int panels = 0, curves = 0, panel_of_stage[REPORT_STAGES];
    for (int stage = 0; stage < REPORT_STAGES; stage++) {
        int found = 0;
        for (int s = 0; s < run->source_count; s++)
            found += run->source[s].curve[stage].count > 0;
        panel_of_stage[stage] = found ? ++panels : 0;
        curves += found;
    }
    if (curves == 0)
        return ORR_FAIL(ORR_EMISSING,
                        "%s: no training log in any source; make them with: make finetune "
                        "PRESET=%s/preset.json RUN=%s",
                        run->path, run->path, run->path);
    struct orr_file set;
    TRY(create_settings(folder, picture, &set));
    orr_file_printf(&set,
                    "panels = %d\ncurves = %d\nkind = \"loss\"\narray panel_title[%d]\n"
                    "array panel_of[%d]\narray title[%d]\narray colour[%d]\n",
                    panels, curves, panels, curves, curves, curves);
    int curve = 0;
    for (int stage = 0; stage < REPORT_STAGES; stage++) {
        if (!panel_of_stage[stage])
            continue;
        orr_file_printf(&set, "panel_title[%d] = \"%s\"\n", panel_of_stage[stage],
                        report_stage_title[stage]);
        for (int s = 0; s < run->source_count; s++)
            if (run->source[s].curve[stage].count > 0)
                name_curve(&set, ++curve, panel_of_stage[stage], &run->source[s]);
    }
    orr_file_printf(&set, "$data << EOD\n");
    for (int stage = 0; stage < REPORT_STAGES; stage++)
        for (int s = 0; s < run->source_count; s++)
            if (run->source[s].curve[stage].count > 0)
                report_write_training(&set, &run->source[s].curve[stage]);
    orr_file_printf(&set, "EOD\n");
    return commit_settings(&set);
}

/* The choice of the rule `best` (or the last rule) on sample 0 of a source; NULL: none. */
static const struct report_law *chosen_law(const struct report_run *run, int source)
{
    const struct report_law *found = NULL;
    for (size_t i = 0; i < run->law_count; i++) {
        const struct report_law *law = &run->law[i];
        if (law->source == source && law->sample == 0) {
            found = law;
            if (!strcmp(law->rule, "best"))
                break;
        }
    }
    return found;
}

/* Draws fronts from the files of the search, front_<source>_0.csv. */
int report_plot_pareto(const struct report_run *run, const char *folder,
                       struct report_picture *picture)
{
    char path[REPORT_PATH];
    struct orr_file set;
    int curve = 0, curves = 0, positions = 0; /* positions: the last source */
    snprintf(picture->name, sizeof picture->name, "pareto");
    for (int s = 0; s < run->source_count; s++) {
        curves += run->source[s].has_laws;
        positions += run->source[s].has_laws && run->source[s].role == REPORT_POSITIONS;
    }
    snprintf(picture->caption, sizeof picture->caption,
             "Pareto fronts of symbolic regression on sample 0: loss against complexity, right "
             "without %s. Where fronts coincide, dots of earlier sources are rings around those of "
             "later ones. The large circle is the formula that the rule \"best\" selects, filled "
             "when it is %s.",
             positions ? "the truth and without the positions, whose loss is a weighted one"
                       : "the truth",
             run->true_law.newton ? "k m1 m2 / r^2" : "the run's true law");
    TRY(create_settings(folder, picture, &set));
    orr_file_printf(&set,
                    "panels = %d\ncurves = %d\nlast = %d\nkind = \"pareto\"\nlaw = \"%s\"\n"
                    "array panel_title[2]\narray panel_of[%d]\narray title[%d]\narray colour[%d]\n"
                    "array front[%d]\narray size[%d]\narray loss[%d]\narray is_true[%d]\n"
                    "panel_title[1] = \"Pareto fronts, sample 0\"\n"
                    "panel_title[2] = \"The same without %s\"\n",
                    curves - positions > 1 ? 2 : 1, curves, curves - positions,
                    run->true_law.newton ? "Newton's law" : "the run's true law", curves, curves,
                    curves, curves, curves, curves, curves,
                    positions ? "truth and positions" : "the truth");
    for (int s = 0; s < run->source_count; s++) {
        const struct report_law *law = chosen_law(run, s);
        if (!run->source[s].has_laws)
            continue;
        name_curve(&set, ++curve, 1, &run->source[s]);
        (void)report_front_path(run, s, path); /* checked when the laws were read */
        orr_gnuplot_assign_path(&set, "front", curve, path);
        orr_file_printf(&set, "size[%d] = %.7g\nloss[%d] = %.7g\nis_true[%d] = %d\n", curve,
                        law ? law->complexity : 0, curve, law ? law->loss : 1, curve,
                        law ? law->selected_true : -1);
    }
    return commit_settings(&set);
}

/* The range of the axes: the law's exponents with a margin of 0.1, and every interval. */
static void write_exponent_axes(const struct report_run *run, struct orr_file *set)
{
    const double *law = run->true_law.exponent;
    orr_file_printf(set, "array expected[3]\narray lowest[3]\narray highest[3]\nlaw = \"%s\"\n",
                    run->true_law.newton ? "Newton" : "truth");
    for (int e = 0; e < 3; e++) {
        double lowest = law[e] - 0.1, highest = law[e] + 0.1;
        for (int s = 0; s < run->source_count; s++) {
            const struct report_interval *x = &run->source[s].exponent[e];
            /* fmin and fmax ignore NaN */
            lowest = fmin(lowest, fmin(x->low, x->value));
            highest = fmax(highest, fmax(x->high, x->value));
        }
        orr_file_printf(set, "expected[%d] = %.4g\nlowest[%d] = %.6g\nhighest[%d] = %.6g\n", e + 1,
                        law[e], e + 1, lowest, e + 1, highest);
    }
}

int report_plot_exponents(const struct report_run *run, const char *folder,
                          struct report_picture *picture)
{
    snprintf(picture->name, sizeof picture->name, "exponents");
    snprintf(picture->caption, sizeof picture->caption,
             "Exponents of the force on held-out sequences: least squares of log F on log r, "
             "log m1 and log m2, with bootstrap intervals. %s the dashed line.",
             run->true_law.newton ? "Newton's law is" : "What the truth has is");
    int rows = 0;
    for (int s = 0; s < run->source_count; s++)
        rows += isfinite(run->source[s].exponent[0].value);
    if (rows == 0)
        return ORR_FAIL(ORR_EFORMAT, "%s/laws/laws.json: no exponents in \"sources\"", run->path);
    struct orr_file set;
    TRY(create_settings(folder, picture, &set));
    orr_file_printf(&set, "rows = %d\narray title[%d]\narray colour[%d]\n", rows, rows, rows);
    write_exponent_axes(run, &set);
    int row = 0;
    for (int s = 0; s < run->source_count; s++)
        if (isfinite(run->source[s].exponent[0].value)) {
            orr_file_printf(&set, "colour[%d] = \"%s\"\n", ++row, run->source[s].colour);
            orr_gnuplot_assign(&set, "title", row, run->source[s].title);
        }
    orr_file_printf(&set, "$data << EOD\n");
    for (int s = 0; s < run->source_count; s++)
        for (int e = 0; e < 3 && isfinite(run->source[s].exponent[0].value); e++) {
            const struct report_interval *x = &run->source[s].exponent[e];
            orr_file_printf(&set, "%.7g %.7g %.7g%s", x->value, x->low, x->high,
                            e < 2 ? " " : "\n\n\n");
        }
    orr_file_printf(&set, "EOD\n");
    return commit_settings(&set);
}
