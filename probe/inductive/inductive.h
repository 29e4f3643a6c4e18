/* inductive.h - inside probe/: the inductive-bias probe, from fine-tuned models to rows. */
#ifndef PROBE_INDUCTIVE_H
#define PROBE_INDUCTIVE_H

#include "probe/core/cells.h"
#include "probe/core/session.h"
#include "oracle.h"

enum { PROBE_MODELS = 2 }; /* that are fine-tuned: the probed one, random weights */

/* Who predicts. */
enum probe_predictor {
    PROBE_BY_MODEL,    /* fine-tuned from the probed checkpoint */
    PROBE_BY_BASELINE, /* the same from random weights */
    PROBE_BY_INPUTS,   /* ridge regression on positions and time step: raw */
    PROBE_BY_TRUTH,    /* the target itself: upper bound */
    PROBE_BY_LINEAR,   /* least squares on the state */
    PROBE_BY_MLP,      /* a perceptron on the state */
    PROBE_PREDICTORS
};

/* Where predictions are compared. */
enum probe_form {
    PROBE_CORRECTED, /* bodies' rows of held-out sequences, the same for all data sets */
    PROBE_PUBLISHED, /* any rows of each data set's own sequences: the same numbers of sequence
                        and row, of other sequences in each data set */
    PROBE_FORMS
};

struct probe_inductive {
    struct probe_session s;
    struct orr_train_settings train;
    struct probe_labelled fit, held_out; /* data sets; held-out sequences */
    struct probe_pool pool;
    struct probe_noise *noise; /* (sets) */
    int sets;
    size_t points[PROBE_FORMS];
    int *sequence, *step;     /* (points[PROBE_CORRECTED]) of the held-out set */
    int *place;               /* (points[PROBE_PUBLISHED]): sequence of the data set * T + row */
    struct probe_cells cells; /* predictions of fine-tuned models: all NaN where one diverged */
    /* (sets, points) each, NULL where a predictor cannot be asked; not read where !used */
    double *value[PROBE_FORMS][PROBE_PREDICTORS];
    bool *used; /* (sets): neither of its fine-tunings diverged */
    int usable; /* how many are */
    int diverged[PROBE_MODELS];
    char cells_key[PROBE_KEY];
};

/* The model and the settings, by p->s.options. ORR_EINVAL or ORR_EUSAGE, saying why, where this
 * checkpoint cannot be asked. of: struct probe_inductive. (inductive.c) */
int probe_inductive_open(void *of);
/* Sequences, points, and the predictions that are in the session's folder already (p->cells: free
 * them). */
int probe_inductive_prepare(struct probe_inductive *p);

/* Part `pass` of data set d: inputs, and targets where its labels stand; all other rows have no
 * weight. config: of the fine-tuned model. (inductive_predict.c) */
void probe_inductive_fill(const struct probe_inductive *p, int d, const struct gpt_config *config,
                          int pass, struct gpt_batch *batch);
/* Fine-tunes a copy of the model, or random weights, to data set d: guess (points of both forms,
 * corrected first), NaN all over where it diverged. ORR_EINTR at a signal. */
int probe_inductive_fit(struct probe_inductive *p, int learner, int d, double *guess);
/* Fills p->value of data set d, of those that are no fine-tuned models. */
int probe_inductive_observe(struct probe_inductive *p, int d);
/* Rows of results. (inductive_rows.c) */
int probe_inductive_rows(struct probe_inductive *p);

#endif
