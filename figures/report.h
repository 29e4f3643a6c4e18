/* report.h - figures and the self-contained report of a run.
 *
 * report_read() gathers what a run directory holds (docs/formats.md) into one struct,
 * report_plot() lets gnuplot draw it, report_html() writes the page. Nothing is written under a
 * final name before every picture is there. Units: AU, years, solar masses; forces of the planets
 * in units of each planet's own (report_force_unit). */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/base.h"
#include "stage/settings.h"

enum {
    REPORT_PLANETS =
        8, /* and four bodies on eccentric orbits behind them, where the run has them */
    REPORT_BODIES = 12,
    REPORT_SOURCES = ORR_LIST + 3, /* truth, oracle, untrained and the attention variants */
    REPORT_PATH = 4096,
};

/* One position of a planet: where it is relative to the sun, the true force and a prediction. */
struct report_position {
    double x_au, y_au, fx_true, fy_true, fx, fy;
    bool labelled; /* its label was trained on */
    int step;      /* of its sequence */
};
struct report_orbit {
    size_t count;
    struct report_position *at; /* (count), in order of time */
};

/* A model's own continuation of a body's orbit, from step 0 on; relative to the sun. The first
 * `known` steps are what it was given. */
struct report_step {
    double x_true_au, y_true_au, x_au, y_au;
};
struct report_rollout {
    size_t count, known;
    struct report_step *at; /* (count) */
};

/* A training log, cut back where a resumed run repeats steps. */
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
    double value, low, high; /* NaN when absent */
};

enum report_role { REPORT_TRUTH, REPORT_ORACLE, REPORT_ATTENTION, REPORT_UNTRAINED };

struct report_source {
    char name[ORR_NAME];       /* as in files: "lssar" */
    char title[ORR_NAME + 20]; /* as printed: "GPT (LSSAR)" */
    enum report_role role;
    const char *colour; /* "#rrggbb" */
    bool has_vectors, has_laws;
    struct report_orbit orbit[REPORT_BODIES];
    struct report_rollout rollout[REPORT_BODIES]; /* without steps where there is none */
    struct report_curve curve[REPORT_STAGES];
    double r2_log, median_relative_error;
    struct report_interval exponent[3]; /* of r, m1, m2 */
    /* NaN when absent: predictions, and those of them that are not positive; of sample 0 the k of
     * k m1 / r^2 that fits best, and the largest share of sum |F| of one sequence */
    double predictions, dropped, k_dropped_m2, leverage;
    double k_dropped_mean; /* that k, mean over samples */
};

/* The choice of one rule on one sample. */
struct report_law {
    int source, sample; /* source: index into report_run.source */
    char rule[32];
    char *equation;
    double complexity, loss;
    bool selected_true, on_front;
    double constant; /* NaN when the true structure is not on the front */
};

/* The law that selected_true and on_front ask for: that of the run's orbits. */
struct report_true_law {
    bool newton;        /* so it is in files that do not say */
    char formula[1024]; /* "k m1 m2 / r^2", or words */
    int constants;      /* 2: labels before and after a jump of G; 0: the file does not say */
    double k[2];        /* of the law itself */
    double exponent[3]; /* of r, m1, m2: Newton's, or what the truth's forces have */
};

struct report_run {
    char path[REPORT_PATH];
    char name[256]; /* last part of the path */
    struct orr_settings preset;
    char *preset_text; /* preset.json as it stands */
    int source_count;
    struct report_source source[REPORT_SOURCES]; /* truth, oracle, attention..., untrained */
    bool has_vectors, has_laws;
    size_t law_count;
    struct report_law *law;
    struct report_true_law true_law;
    int samples;                /* largest sample number + 1 */
    struct orr_name_list rules; /* in order of appearance */
    double baseline_log_r, baseline_log_scale_dt_r,
        baseline_constant; /* R^2 of log F, NaN when absent */
    double period_r2;      /* of ln T on ln dt in the prior of planet runs; NaN when not recorded */
};

/* Names of the bodies, Mercury first, as in file names and as printed. */
extern const char *const report_body_name[REPORT_BODIES];
extern const char *const report_body_title[REPORT_BODIES];
/* Bodies that the run has. */
int report_bodies(const struct report_run *run);
/* The number of a body by its name, -1 for none. */
int report_body_of(const char *name);
/* Headings of the training stages. */
extern const char *const report_stage_title[REPORT_STAGES];

/* Reads a run directory. attention "" = every variant of the run's preset, else that one.
 * A missing file is ORR_EMISSING with the command that makes it. Free with report_free() also
 * after an error. */
int report_read(struct report_run *run, const char *path, const char *attention);
void report_free(struct report_run *run);
/* Parts of report_read(): settings and names of the sources; laws/laws.json, beside which the
 * fronts of sample 0 have to be; a number of a JSON file (what is not there leaves it as it is);
 * one training log (a file that is not there leaves an empty curve). */
int report_read_settings(struct report_run *run, const char *path, const char *attention);
int report_read_laws(struct report_run *run);
/* laws/laws.json alone; the front of sample 0 of a source, which gnuplot reads. */
int report_read_laws_json(struct report_run *run);
int report_front_path(const struct report_run *run, int source, char path[REPORT_PATH]);
int report_read_number(const char *path, const char *key, double *value);
int report_read_curve(const char *path, struct report_curve *curve);
/* A log as text, of at most so many lines; free(text). */
struct report_log {
    const char *path;
    char *text;
    size_t lines;
};
int report_log_open(const char *path, struct report_log *log);
/* Every line in turn, once: take() is given the object, which it deletes or keeps, its step and the
 * line's number. The last line may be cut short by a kill, and is then none. ORR_EFORMAT: a line
 * that is no object with a finite step; what take() returns. */
int report_log_read(struct report_log *log,
                    int (*take)(void *of, struct cJSON *line, double step, size_t number),
                    void *of);
/* A source of the run with its title and colour; one that it has is left as it is. */
int report_add_source(struct report_run *run, const char *name, enum report_role role);
/* pretrain_planets/rollouts.csv of a source, where there is one. */
int report_read_rollouts(const struct report_run *run, struct report_source *source);
/* ORR_EMISSING: "FILE: missing; make it with: ...", a command of that program for the reader. */
int report_missing(const char *file, const char *program);
/* The rule whose choice tables show first: `best` when it was run, else the last. */
const char *report_headline_rule(const struct report_run *run);
/* Index of a source, -1 when the run has none of that name. */
int report_find(const struct report_run *run, const char *source);

/* The unit of a planet's forces under the run's settings: "largest labelled force". */
const char *report_force_unit(const struct report_run *run);

/* Agreement of predictions with the truth over positions whose label was not trained on. */
struct report_agreement {
    size_t count;
    double cosine;         /* mean cosine of the angle between prediction and truth */
    double relative_error; /* median of |f - f_true| / |f_true| */
};
enum report_weights {
    REPORT_EVEN_IN_TIME,   /* positions as they are */
    REPORT_EVEN_IN_ANOMALY /* each by the angle around the sun that its time step covers: the few
                              positions near the sun count as much as the many far away */
};
/* Predictions that know the direction: straight towards the sun. */
enum report_baseline {
    REPORT_NO_BASELINE,    /* the source's own predictions */
    REPORT_BASELINE_MEAN,  /* mean size of the body's labelled forces */
    REPORT_BASELINE_SQUARE /* size by 1/r^2, through the labelled forces (median of F r^2) */
};
/* Over orbits (n) together; NaN when there is no unlabelled position. Where none is labelled,
 * baselines use all forces of the body. Only ORR_ENOMEM fails. */
int report_agree(const struct report_orbit *orbit, size_t n, enum report_weights weights,
                 enum report_baseline baseline, struct report_agreement *result);

/* What the page says on top: questions, answered from the run's own values (docs/report.md). */
enum { REPORT_ANSWERS = 3, REPORT_ANSWER = 2048 };
struct report_answer {
    const char *question;
    char text[REPORT_ANSWER]; /* lines; the first begins with the answer in a few words */
};
/* Only ORR_ENOMEM fails. */
int report_answers(const struct report_run *run, struct report_answer answer[REPORT_ANSWERS]);
/* A relative error as "9.3%", from 10 on as a factor, "145 times". */
void report_percent(double error, char text[32]);

/* A picture that was drawn: base name without extension, caption. */
struct report_picture {
    char name[64];
    char caption[512];
};
struct report_pictures {
    size_t count;
    struct report_picture at[REPORT_BODIES + 8];
};
/* Draws every figure of the run as PNG and SVG into `folder` (which exists). */
int report_plot(const struct report_run *run, const char *folder, bool quiet,
                struct report_pictures *pictures);
/* Figures by name: those of a body ("earth"), and "exponents", "pareto", "loss". What one is drawn
 * from, as below; ORR_EINVAL: the run has no such figure. */
bool report_is_figure(const char *name);
int report_plot_figure(const struct report_run *run, const char *name, const char *folder,
                       struct report_picture *picture);
/* The script that draws a picture ("forces_earth", "loss"). */
const char *report_script(const char *picture);
/* Writes <folder>/<stem>.set, of forces .dat as well, for one figure: see forces.gp, curves.gp,
 * exponents.gp. */
int report_plot_forces(const struct report_run *run, int planet, const char *folder,
                       struct report_picture *picture);
int report_plot_loss(const struct report_run *run, const char *folder,
                     struct report_picture *picture);
int report_plot_pareto(const struct report_run *run, const char *folder,
                       struct report_picture *picture);
int report_plot_exponents(const struct report_run *run, const char *folder,
                          struct report_picture *picture);

/* ---- one figure alone */

struct report_style {
    int pixels;    /* width of a PNG; 0: the figure's own */
    char face[64]; /* font; "": DejaVu Sans */
    double points; /* size of text; 0: 11 */
};
/* Reads "1600", "Liberation Sans" or "Liberation Sans,14"; NULL leaves the figure's own.
 * ORR_EUSAGE names the option. */
int report_style_read(const char *size, const char *font, struct report_style *style);
/* ORR_EUSAGE: no such figure, an `out` that ends in neither .png nor .svg, a size for an SVG. */
int report_single_check(const char *figure, const struct report_style *style, const char *out);
/* Draws a figure into `out`, which report_single_check() has let pass. keep: what gnuplot drew it
 * from stays beside it (report_keep). ORR_EINVAL: the run has no such figure. */
int report_single(const struct report_run *run, const char *figure,
                  const struct report_style *style, bool keep, const char *out);
/* Leaves a figure's <from>/<name>.set and .dat as <stem>.set and .dat, and its script as
 * <stem>.gp, so that `gnuplot -c STEM.gp STEM OUTPUT.png png` draws it again. */
int report_keep(const char *from, const char *name, const char *stem);

/* ---- training logs alone */

/* Training and validation losses of all attention variants of `count` run directories: a table in
 * Markdown on stdout, and a figure into `out` (.png or .svg). ORR_EMISSING: a run without a log. */
int report_losses(const char *const *path, int count, const struct report_style *style, bool keep,
                  const char *out);
/* Writes each log of a run directory as an event file of TensorBoard, <out>/<log>/events.out...,
 * the numbers of every line by their keys. TFRecord framing with CRC-32C, protobuf wire format
 * (tensorboard's event.proto and summary.proto). ORR_EMISSING: no logs. */
int report_tensorboard(const char *run, const char *out, bool quiet);

/* Draws <folder>/orbit_<body>.gif: the true orbit, models' rollouts and forces, step by step.
 * ORR_EINVAL: the run has no force vectors of the body. */
int report_animate(const struct report_run *run, int body, const char *folder);
/* Writes path (report.html) with the pictures of `folder` inside it, atomically. */
int report_html(const struct report_run *run, const struct report_pictures *pictures,
                const char *folder, const struct cJSON *verdict, const char *path);
/* The verdict of a grid: reads and checks the file (cJSON_Delete() it, also after an error); its
 * part of the page, nothing for NULL. */
int report_verdict_read(const char *path, struct cJSON **json);
int report_html_verdict(const struct cJSON *json, struct orr_file *html);
/* The tables of the page. */
int report_html_laws(const struct report_run *run, struct orr_file *html);
void report_html_choices(const struct report_run *run, struct orr_file *html);
void report_html_exponents(const struct report_run *run, struct orr_file *html);
int report_html_vectors(const struct report_run *run, struct orr_file *html);
/* Opens a table with heads "Source|#Size" (#: of numbers), to which more may be added: the caption
 * (HTML), and a box that scrolls by itself, so that no table makes the page wider than a screen.
 * The caption stands outside, where it is read without scrolling. Then its rows, and its end. */
void report_html_table(struct orr_file *html, const char *id, const char *caption,
                       const char *heads);
void report_html_rows(struct orr_file *html);
int report_html_table_end(struct orr_file *html);
/* The dot in the colour of a source. */
void report_html_dot(const struct report_source *source, struct orr_file *html);
/* The player of orbits, and its data alone: one JSON object. */
int report_html_player(const struct report_run *run, struct orr_file *html);
void report_html_player_data(const struct report_run *run, struct orr_file *html);
/* How to repeat the run, and what wrote its files. */
int report_html_commands(const struct report_run *run, struct orr_file *html);
/* A file of figures/ as it stands: style and script of the page. */
int report_html_part(struct orr_file *html, const char *name);
/* Text with & < > " escaped. */
void report_html_text(struct orr_file *html, const char *text);
void report_html_bytes(struct orr_file *html, const char *text, size_t bytes);
/* The bytes of a file as base64 (RFC 4648, no line breaks). */
int report_html_base64(struct orr_file *html, const char *path);

#endif
