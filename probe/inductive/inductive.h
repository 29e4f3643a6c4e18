/* inductive.h - inside probe/: the inductive-bias probe, from fine-tuned models to rows of
 * results. */
#ifndef PROBE_INDUCTIVE_H
#define PROBE_INDUCTIVE_H

#include "probe/core/cells.h"
#include "probe/core/session.h"
#include "oracle.h"

enum { PROBE_MODELS = 2 }; /* fine-tuned models: the probed one, and random weights */

/* Predictors of the target. */
enum probe_predictor {
    PROBE_BY_MODEL,    /* fine-tuned from the probed checkpoint */
    PROBE_BY_BASELINE, /* fine-tuned from random weights */
    PROBE_BY_INPUTS,   /* ridge regression on positions and time step: raw */
    PROBE_BY_TRUTH,    /* the target itself: upper bound */
    PROBE_BY_LINEAR,   /* least squares on the state */
    PROBE_BY_MLP,      /* a perceptron on the state */
    PROBE_PREDICTORS
};

/* The points at which predictions are compared. */
enum probe_form {
    PROBE_CORRECTED, /* rows of bodies in held-out sequences, equal for all data sets */
    /* any rows of each data set's own sequences: equal indices of sequence and row, which refer
     * to different sequences in each data set */
    PROBE_PUBLISHED,
    PROBE_FORMS
};

struct probe_inductive {
    struct probe_session s;
    struct orr_train_settings train;
    struct probe_labelled fit, held_out; /* sequences of the data sets; held-out sequences */
    struct probe_pool pool;
    struct probe_noise *noise; /* (sets) */
    int sets;
    size_t points[PROBE_FORMS];
    int *sequence, *step; /* (points[PROBE_CORRECTED]) indices in the held-out set */
    int *place;           /* (points[PROBE_PUBLISHED]): sequence of the data set * T + row */
    /* predictions of fine-tuned models; all NaN where the training diverged */
    struct probe_cells cells;
    /* (sets, points) each; NULL where a predictor does not apply; not read where !used */
    double *value[PROBE_FORMS][PROBE_PREDICTORS];
    bool *used;                 /* (sets) whether neither fine-tuning diverged */
    int usable;                 /* number of used data sets */
    int diverged[PROBE_MODELS]; /* -1: there is no such model */
    char cells_key[PROBE_KEY];
    /* (sets, points of both forms) predictions of another program's model and its twin; NULL:
     * none */
    double *answer[PROBE_MODELS];
};

/* Opens the model and settings of p->s.options. ORR_EINVAL or ORR_EUSAGE, with the reason, where
 * the probe does not apply to this checkpoint. of: struct probe_inductive. (inductive.c) */
int probe_inductive_open(void *of);
/* Prepares sequences and points, and reads predictions that the session's folder already has. The
 * caller frees p->cells. */
int probe_inductive_prepare(struct probe_inductive *p);
/* Its first part: sequences and points. Then all data sets, p->noise. */
int probe_inductive_points(struct probe_inductive *p);
int probe_inductive_noises(struct probe_inductive *p);

/* ---- models of other programs (inductive_answers.c, docs/exchange.md) */

#define PROBE_INDUCTIVE_ANSWERS "targets_inductive.csv"
/* A point of a data set at which the target is asked, with its true value. */
struct probe_inductive_point {
    bool held_out; /* sequence of the held-out set, else of the sets' own */
    int sequence, row;
    double target;
};
/* Point i of data set d, whose p->noise has been made; the points of the corrected form come
 * first. */
struct probe_inductive_point probe_inductive_point_at(const struct probe_inductive *p, int d,
                                                      size_t i);
/* Reads the predictions of answers and twin into p->answer, after all data sets were made.
 * ORR_EFORMAT, naming the line, where a row is not the one that was asked, or not a number. */
int probe_inductive_read_answers(struct probe_inductive *p);

/* Fills part `pass` of data set d: inputs, and targets at labelled rows; other rows have weight 0.
 * config: of the fine-tuned model. (inductive_predict.c) */
void probe_inductive_fill(const struct probe_inductive *p, int d, const struct gpt_config *config,
                          int pass, struct gpt_batch *batch);
/* Fine-tunes a copy of the model, or random weights, to data set d. guess: predictions at the
 * points of both forms, corrected first; all NaN where the training diverged. ORR_EINTR after a
 * signal. */
int probe_inductive_fit(struct probe_inductive *p, int learner, int d, double *guess);
/* The standardised state at a row of data set d's own sequences: `place` = sequence of the set * T
 * + row. */
void probe_inductive_state(const struct probe_inductive *p, int d, int place,
                           double z[PROBE_STATE]);
/* Fills p->value of data set d for all predictors that are not fine-tuned models. */
int probe_inductive_observe(struct probe_inductive *p, int d);
/* Computes the rows of results. (inductive_rows.c) */
int probe_inductive_rows(struct probe_inductive *p);

#endif
