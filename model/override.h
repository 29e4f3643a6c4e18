/* override.h - a trained model that attends otherwise, for evaluation. */
#ifndef GPT_OVERRIDE_H
#define GPT_OVERRIDE_H

#include "model.h"

enum gpt_reweight { GPT_REWEIGHT_AS_TRAINED, GPT_REWEIGHT_ON, GPT_REWEIGHT_OFF };
/* How a trained model attends, changed without training; all zero changes nothing. */
struct gpt_attention_override {
    const char *attention;      /* another variant; NULL: as trained */
    enum gpt_reweight reweight; /* the re-weighting of LSSAR Eq. (5) on or off */
    double p;                   /* its power, >= 1; 0: as trained; unused without re-weighting */
    bool set_window;
    int window;  /* with set_window: 0 = all earlier positions */
    int context; /* larger than trained: rope or no positions only; 0: as trained */
    bool ntk;    /* rope_base *= (context / trained context)^(d / (d - 2)), NTK-aware scaling;
                    a context up to the trained one leaves the base */
};
/* Whether NTK scaling means anything: rotary positions, of heads of more than two numbers. */
bool gpt_has_ntk(const struct gpt_config *config);
/* Applies it to the model as it was trained: a second call replaces the first, an override that is
 * all zero undoes it. model->config then says how the model attends; model->variant has the name
 * of the line of the table it equals, else the name of the line it was made from. ORR_EUSAGE where
 * it has no meaning for the model (unknown variant, re-weighting of rows that are no distribution,
 * learned positions beyond their table, ntk without rope), which leaves the model as it was. An
 * overridden model is for evaluation only: gpt_save refuses it. */
int gpt_override_attention(struct gpt_model *model, const struct gpt_attention_override *change);

#endif
