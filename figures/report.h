/* report.h - pictures and the self-contained report of a run.
 *
 * report_read() reads a run directory (docs/formats.md) into one struct, report_plot() draws its
 * pictures by gnuplot, report_html() writes the page. Files get their final names only after every
 * picture is drawn. Units: AU, years, solar masses; forces of the planets in each planet's own unit
 * (report_force_unit()). */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/html.h"
#include "base/base.h"
#include "stage/measures.h"
#include "stage/provenance.h"
#include "stage/settings.h"

enum {
    REPORT_PLANETS = 8, /* followed by four bodies on eccentric orbits, if the run has them */
    REPORT_BODIES = 12,
    /* truth, oracle, untrained, positions, the attention variants, models of other programs */
    REPORT_SOURCES = ORR_SOURCES,
    REPORT_PATH = 4096,
};

/* One position of a planet: relative to the Sun, with the true and the predicted force. */
struct report_position {
    double x_au, y_au, fx_true, fy_true, fx, fy;
    bool labelled;            /* its label was used for training */
    int step;                 /* step of its sequence */
    double z_au, fz_true, fz; /* in three dimensions, else 0 */
};
/* Which coordinates a picture shows: x and y, or x and z. */
enum report_view { REPORT_XY, REPORT_XZ, REPORT_VIEWS };
struct report_orbit {
    size_t count;
    struct report_position *at; /* (count), in order of time */
};

/* A model's rollout of a body's orbit, from step 0, relative to the Sun. The first `known` steps
 * were given to the model. */
struct report_step {
    double x_true_au, y_true_au, x_au, y_au, z_true_au, z_au;
};
struct report_rollout {
    size_t count, known;
    struct report_step *at; /* (count) */
};

/* A training log; steps repeated by a resumed run are replaced. */
struct report_curve {
    size_t count, val_count;
    double *step, *loss;         /* (count) */
    double *val_step, *val_loss; /* (val_count) */
};
enum report_stage {
    REPORT_PRETRAIN,
    REPORT_PRETRAIN_PLANETS,
    REPORT_MAGNITUDE,
    REPORT_VECTOR,
    REPORT_STAGES
};

struct report_interval {
    double value, low, high; /* NaN when missing */
};

/* REPORT_POSITIONS: of laws alone, where laws.json has it; there is no network behind it.
 * REPORT_OTHER: a model of another program, of laws where laws.json has it (docs/exchange.md). */
enum report_role {
    REPORT_TRUTH,
    REPORT_ORACLE,
    REPORT_ATTENTION,
    REPORT_UNTRAINED,
    REPORT_POSITIONS,
    REPORT_OTHER
};

struct report_source {
    char name[ORR_NAME];       /* as in files: "lssar" */
    char title[ORR_NAME + 20]; /* as printed: "GPT (LSSAR)" */
    enum report_role role;
    const char *colour; /* "#rrggbb" */
    bool has_vectors, has_laws;
    struct report_orbit orbit[REPORT_BODIES];
    struct report_rollout rollout[REPORT_BODIES]; /* empty where there is none */
    struct report_curve curve[REPORT_STAGES];
    double r2_log, median_relative_error;
    struct report_interval exponent[3]; /* exponents of r, m1, m2 */
    /* NaN when missing: number of predictions, and of nonpositive ones; for sample 0 the best k of
     * k m1 / r^2, and the largest share of sum |F| in one sequence */
    double predictions, dropped, k_dropped_m2, leverage;
    double k_dropped_mean; /* k_dropped_m2, mean over samples */
    /* What probes measured, and all rows of rollout and labels; empty where no answers of another
     * program have such results. */
    struct orr_measures measures;
    struct orr_table probed;
};

/* The choice of one rule on one sample. */
struct report_law {
    int source, sample; /* source: index into report_run.source */
    char rule[32];
    char *equation;
    double complexity, loss;
    bool selected_true, on_front;
    double constant; /* k of the law; NaN when the true structure is not on the front */
};

/* The law of the run's orbits, which selected_true and on_front refer to. */
struct report_true_law {
    bool newton;        /* true for files that do not record it */
    char formula[1024]; /* "k m1 m2 / r^2", or words */
    int constants;      /* 2: labels before and after a jump of G; 0: not recorded */
    double k[2];        /* constants of the law itself */
    double exponent[3]; /* exponents of r, m1, m2: Newton's, or those of the true forces */
};

struct report_run {
    char path[REPORT_PATH];
    char name[256]; /* last part of the path */
    struct orr_settings settings;
    char *preset_text; /* text of preset.json */
    int source_count;
    struct report_source source[REPORT_SOURCES]; /* truth, oracle, attention..., untrained,
                                                    positions */
    bool has_vectors, has_laws;
    size_t law_count;
    struct report_law *law;
    struct report_true_law true_law;
    int samples;                /* largest sample number + 1 */
    struct orr_name_list rules; /* in order of appearance */
    double baseline_log_r, baseline_log_scale_dt_r,
        baseline_constant; /* R^2 of log F, NaN when missing */
    double period_r2; /* R^2 of ln T on ln dt in the prior of planet runs; NaN when not recorded */
};

/* Names of the bodies, from Mercury on: in file names, and as printed. */
extern const char *const report_body_name[REPORT_BODIES];
extern const char *const report_body_title[REPORT_BODIES];
/* Number of bodies of the run. */
int report_bodies(const struct report_run *run);
/* Index of a body by name, -1 for none. */
int report_body_of(const char *name);
/* The training stages: their logs in a source's folder of a run, and their headings. */
extern const char *const report_stage_log[REPORT_STAGES], *const report_stage_title[REPORT_STAGES];

/* Reads a run directory. attention: one variant of the run's preset; "": all. answers: models of
 * other programs whose forces are shown, too; NULL: none. ORR_EMISSING where a
 * file is missing, with the command that makes it. Call report_free() after an error, too. */
int report_read(struct report_run *run, const char *path, const char *attention,
                const struct orr_answers *answers);
void report_free(struct report_run *run);
/* Parts of report_read(): settings and names of the sources; laws/laws.json, which requires the
 * fronts of sample 0; a number of a JSON file (unchanged where missing); one training log (an empty
 * curve where missing). */
int report_read_settings(struct report_run *run, const char *path, const char *attention);
int report_read_laws(struct report_run *run);
/* Reads laws/laws.json alone. report_check_laws() finds whether its laws are formulas, and rows of
 * the fronts beside it that are there; ORR_EFORMAT names the law. */
int report_read_laws_json(struct report_run *run);
int report_check_laws(const struct report_run *run, const char *path);
/* The path of the front of sample 0 of a source, which gnuplot reads. */
int report_front_path(const struct report_run *run, int source, char path[REPORT_PATH]);
int report_read_number(const char *path, const char *key, double *value);
int report_read_curve(const char *path, struct report_curve *curve);
/* Means of groups of logged values of a curve: step and loss (most), positive only, as axes of
 * losses are logarithmic. Returns how many. */
size_t report_means(const struct report_curve *curve, size_t most, double step[], double loss[]);
/* Index of the smallest validation loss of a curve; 0 without any. */
size_t report_best(const struct report_curve *curve);
/* The current lines of a log. A run that was killed and resumed logs the steps after its checkpoint
 * again: take(), called once for every line in order with the object, its step and the line's
 * number, adds it to the lines and deletes those that it replaces. A last line cut short by a kill
 * is skipped. ORR_EFORMAT where a line is not an object with a finite step; errors of take(). Free
 * also after an error. */
struct report_lines {
    const char *path;
    struct cJSON **at; /* (count), allocated for all lines of the file */
    size_t count;
};
int report_lines_read(const char *path,
                      int (*take)(void *lines, struct cJSON *line, double step, size_t number),
                      struct report_lines *lines);
void report_lines_free(struct report_lines *lines);
/* Adds a source with its title and colour; an existing one is unchanged. */
int report_add_source(struct report_run *run, const char *name, enum report_role role);
/* Reads pretrain_planets/rollouts.csv of a source, if it exists. */
int report_read_rollouts(const struct report_run *run, struct report_source *source);
/* ORR_EMISSING for a file of the run that is not there (why NULL), else ORR_EINVAL for one that
 * cannot be believed; the message has the command of the program that makes it. */
int report_to_make(const struct report_run *run, const char *file, const char *why,
                   const char *program);
/* Reads what probes measured, of the run's own models and of answers that are named; nothing where
 * no answers have such results. */
int report_read_probes(struct report_run *run, const struct orr_answers *answers);
/* Whether any source has results of probes. */
bool report_has_probes(const struct report_run *run);
/* The XXH64 of the files of results that report_read_probes() would read; 0: none. */
int report_probes_content(const char *run, const struct orr_settings *settings,
                          const struct orr_answers *answers, uint64_t *content);
/* The rule whose choice tables show first: `best` when it was used, else the last. */
const char *report_headline_rule(const struct report_run *run);
/* Whether a source is a pretrained model, Orrery's or another program's. */
bool report_is_model(const struct report_source *source);
/* Index of a source, -1 for none. */
int report_find(const struct report_run *run, const char *source);

/* The unit of a planet's forces under the run's settings, such as "largest labelled force". */
const char *report_force_unit(const struct report_run *run);

/* Agreement of predictions with the truth over positions that were not used as labels. */
struct report_agreement {
    size_t count;
    double cosine;         /* mean cosine of the angle between prediction and truth */
    double relative_error; /* median of |f - f_true| / |f_true| */
};
enum report_weights {
    REPORT_EVEN_IN_TIME, /* each position counts once */
    /* each position is weighted by the true anomaly of its time step, so that the few positions
     * near the Sun count as much as the many far away */
    REPORT_EVEN_IN_ANOMALY
};
/* Baselines that know the direction, straight towards the Sun. */
enum report_baseline {
    REPORT_NO_BASELINE,   /* none: the source's own predictions */
    REPORT_BASELINE_MEAN, /* mean size of the body's labelled forces */
    /* size proportional to 1/r^2, with the median of F r^2 over labelled forces */
    REPORT_BASELINE_SQUARE
};
/* Agreement over n orbits together; NaN where all positions are labelled. Where none is labelled,
 * baselines use all forces of the body. The only error is ORR_ENOMEM. */
int report_agree(const struct report_orbit *orbit, size_t n, enum report_weights weights,
                 enum report_baseline baseline, struct report_agreement *result);

/* The questions at the top of the page, answered from the run's own values (docs/report.md). */
enum { REPORT_ANSWERS = 3, REPORT_ANSWER = 2048 };
struct report_answer {
    const char *question;
    char text[REPORT_ANSWER]; /* lines; the first begins with a short answer */
};
/* The only error is ORR_ENOMEM. */
int report_answers(const struct report_run *run, struct report_answer answer[REPORT_ANSWERS]);
/* A relative error as "9.3%", with the two digits that a median of some tens of positions has, and
 * whole percents from 10% on; from 10 on as a factor, "145 times". */
void report_percent(double error, char text[32]);

/* A picture: base name without extension, caption. */
struct report_picture {
    char name[64];
    char caption[512];
};
struct report_pictures {
    size_t count;
    struct report_picture at[REPORT_VIEWS * REPORT_BODIES + 8];
};
/* Draws every picture of the run as PNG and SVG into `folder`, which must exist. */
int report_plot(const struct report_run *run, const char *folder, bool quiet,
                struct report_pictures *pictures);
/* Pictures by name: those of a body ("earth"), of a planet at its real positions ("real_venus"),
 * and "exponents", "pareto", "loss". The second
 * function writes the data of one picture, as below; ORR_EINVAL: the run has no such picture. */
bool report_is_figure(const char *name);
int report_plot_figure(const struct report_run *run, const char *name, const char *folder,
                       struct report_picture *picture);
/* The gnuplot script of a picture ("forces_earth", "loss"). */
const char *report_script(const char *picture);
/* Writes <folder>/<stem>.set, for forces also .dat, for one picture: see forces.gp, curves.gp,
 * exponents.gp. */
int report_plot_forces(const struct report_run *run, int planet, enum report_view view,
                       const char *folder, struct report_picture *picture);
/* Views of a run's orbits: 1, or in three dimensions 2. */
int report_views(const struct report_run *run);
/* The same of a planet at its real positions, which `bin/probe planets` has predicted forces at:
 * truth, untrained model, and every model whose probe_pretrain_planets/planets_forces.csv is there.
 * ORR_EMISSING where none is; ORR_EFORMAT for a table that is not the probe's. */
int report_plot_real(const struct report_run *run, int planet, const char *folder,
                     struct report_picture *picture);
/* A panel of forces.gp: an orbit with the forces of one source. report_panel_of() fills it. */
struct report_panel {
    const char *title, *colour;
    const struct report_orbit *orbit;
    bool truth; /* draws fx_true, fy_true */
};
/* Writes $curve of a gnuplot script: the ellipse around the Sun through the positions at (n, 2), at
 * even steps of eccentric anomaly, which resolve both ends well; the positions where there is
 * none. */
void report_write_curve(size_t n, const double at[], struct orr_file *file);
void report_panel_of(const struct report_source *source, const struct report_orbit *orbit,
                     struct report_panel *panel);
/* Writes <stem>.dat and .set of panels, the first of which is the truth. root: lengths are square
 * roots of forces; *ends: whether arrows that would pass the Sun end at their positions. */
int report_plot_panels(const struct report_panel panel[], int panels, enum report_view view,
                       bool root, const char *heading, const char *unit, const char *stem,
                       bool *ends);
int report_plot_loss(const struct report_run *run, const char *folder,
                     struct report_picture *picture);
int report_plot_pareto(const struct report_run *run, const char *folder,
                       struct report_picture *picture);
int report_plot_exponents(const struct report_run *run, const char *folder,
                          struct report_picture *picture);
/* Rollouts and label curves of all models, with their untrained twins. */
int report_plot_probes(const struct report_run *run, const char *folder,
                       struct report_picture *picture);

/* ---- a single picture */

struct report_style {
    int pixels;    /* width of a PNG; 0: the picture's default */
    char face[64]; /* font; "": DejaVu Sans */
    double points; /* size of text; 0: 11 */
};
/* Parses "1600", and "Liberation Sans" or "Liberation Sans,14"; NULL keeps the default. ORR_EUSAGE
 * names the option. */
int report_style_read(const char *size, const char *font, struct report_style *style);
/* ORR_EUSAGE where there is no such picture, `out` ends in neither .png nor .svg, or an SVG is
 * given a size. */
int report_single_check(const char *figure, const struct report_style *style, const char *out);
/* Draws a picture into `out`, after report_single_check() succeeded. keep: also keeps the files for
 * gnuplot (report_keep()). ORR_EINVAL: the run has no such picture. */
int report_single(const struct report_run *run, const char *figure,
                  const struct report_style *style, bool keep, const char *out);
/* Copies a picture's <from>/<name>.set and .dat to <stem>.set and .dat, and its script to
 * <stem>.gp, so that `gnuplot -c STEM.gp STEM OUTPUT.png png` draws it again. */
int report_keep(const char *from, const char *name, const char *stem);

/* ---- training logs */

/* Training and validation losses of all attention variants of `count` run directories: a Markdown
 * table on stdout, and a picture in `out` (.png or .svg). ORR_EMISSING: a run has no log. */
int report_losses(const char *const *path, int count, const struct report_style *style, bool keep,
                  const char *out);
/* Shows the losses of all stages of trainings that are under way, again whenever a log changes: as
 * a picture in `out`, or, where that is "", drawn with characters on stdout, which a terminal gets
 * each time and a file once, at the end. A run is a run directory, a folder with such, or one log;
 * what is not there yet is waited for. Returns 0 when no process of this machine has had a log open
 * and none has changed for five times `every_s`, or at a signal. ORR_EMISSING: a folder that is not
 * a run's, or logs without losses. */
struct report_follow {
    const char *const *run; /* (count) */
    int count;
    double every_s; /* between two looks at the logs */
    const struct report_style *style;
    bool keep, quiet;
    const char *out; /* .png or .svg */
};
int report_follow(const struct report_follow *of);
/* Writes two blocks of gnuplot data, as curves.gp has them: a curve's training losses, then its
 * validation losses. */
void report_write_training(struct orr_file *data, const struct report_curve *curve);

/* Draws a GIF: the true orbit, the models' rollouts and forces, step by step, projected on x and y
 * or on x and z. Its folder is made. ORR_EINVAL: the run has no force vectors of the body. */
int report_animate(const struct report_run *run, int body, enum report_view view,
                   const char *picture);
/* Writes report.html to `path` with the pictures of `folder` embedded, atomically. lab: lab.html of
 * the run will lie beside it. */
int report_html(const struct report_run *run, const struct report_pictures *pictures,
                const char *folder, bool lab, const char *path);
/* The tables of the page. */
int report_html_laws(const struct report_run *run, struct orr_file *html);
void report_html_choices(const struct report_run *run, struct orr_file *html);
void report_html_exponents(const struct report_run *run, struct orr_file *html);
int report_html_probes(const struct report_run *run, struct orr_file *html);
int report_html_vectors(const struct report_run *run, struct orr_file *html);
/* Opens a table with heads "Source|#Size" (#: numeric column): the caption (HTML), and a box that
 * scrolls separately, so that no table makes the page wider than the screen. The caption is outside
 * of the box, so that it needs no scrolling. The other functions write rows and the end. */
void report_html_table(struct orr_file *html, const char *id, const char *caption,
                       const char *heads);
void report_html_rows(struct orr_file *html);
int report_html_table_end(struct orr_file *html);
/* Writes the dot in the colour of a source. */
void report_html_dot(const struct report_source *source, struct orr_file *html);
/* Of a run that read imported tracks (stage/tracks.h): what the page says first, and the errors of
 * its models' next positions and rollouts. */
void report_html_tracks_head(const struct report_run *run, struct orr_file *html);
int report_html_tracks(const struct report_run *run, struct orr_file *html);
/* Writes the player of orbits; and its data alone, one JSON object. */
int report_html_player(const struct report_run *run, struct orr_file *html);
void report_html_player_data(const struct report_run *run, struct orr_file *html);
/* Writes the losses that the page says where the pointer is on the picture of losses. */
int report_html_losses(const struct report_run *run, struct orr_file *html);
/* The panel of the orbit lab (docs/lab.md), of runs whose networks read coordinates in the plane.
 * report_lab_make() writes FOLDER/lab.html by `probe lab`, where the run has a network and the
 * source its page. One that cannot be written is told, and leaves the panel without a frame. *made:
 * whether there is a page; *failed: whether there should be one. Errors: a signal, and those of
 * paths. report_html_lab() shows the page in a frame, or says how to make one. */
bool report_has_lab(const struct report_run *run);
int report_lab_make(const struct report_run *run, const char *folder, bool *made, bool *failed);
int report_html_lab(const struct report_run *run, bool made, struct orr_file *html);
/* Writes a command line that can be copied: the run's path as one word of a shell behind `before`,
 * and, unless it is "", its preset.json there and its path behind `between`. */
int report_html_command(const struct report_run *run, const char *before, const char *between,
                        struct orr_file *html);
/* Writes how to repeat the run, and which programs wrote its files. */
int report_html_commands(const struct report_run *run, struct orr_file *html);
/* Writes "F = ..." in MathML; a text that is no formula of k, m1, m2 and r as it is. */
void report_html_formula(struct orr_file *html, const char *formula);
/* The same for a table cell, followed by the text on demand. */
void report_html_law(struct orr_file *html, const char *formula, const char *class_name);
/* Writes the bytes of a file as base64 (RFC 4648, no line breaks). */
int report_html_base64(struct orr_file *html, const char *path);

#endif
