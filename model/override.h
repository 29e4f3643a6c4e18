/* override.h - changes the attention of a trained model, for evaluation. */
#ifndef GPT_OVERRIDE_H
#define GPT_OVERRIDE_H

#include "model.h"

enum gpt_reweight { GPT_REWEIGHT_AS_TRAINED, GPT_REWEIGHT_ON, GPT_REWEIGHT_OFF };
/* Changes to the attention of a trained model; all zero changes nothing. */
struct gpt_attention_override {
    const char *attention;      /* another variant; NULL: as trained */
    enum gpt_reweight reweight; /* the re-weighting of LSSAR Eq. (5) on or off */
    double power;               /* >= 1; 0: as trained; unused without re-weighting */
    bool set_window;
    int window;  /* with set_window: 0 = all earlier positions */
    int context; /* larger than trained: rope or no positions only; 0: as trained */
    bool ntk;    /* rope_base *= (context / trained context)^(d / (d - 2)), NTK-aware scaling;
                    a context up to the trained one leaves the base */
};
/* Whether NTK scaling has an effect: rotary positions, and heads of more than two numbers. */
bool gpt_has_ntk(const struct gpt_config *config);
/* Applies the change to the model as trained: a second call replaces the first, and an override
 * that is all zero undoes it. model->config then has the changed attention; model->variant has
 * the name of the equal line of the table, or else of the line it was made from. ORR_EUSAGE
 * where a change has no meaning for the model, which stays unchanged: an unknown variant,
 * re-weighting of rows that are not distributions, learned positions beyond their table, ntk
 * without rope. An overridden model is for evaluation only: gpt_save rejects it. */
int gpt_override_attention(struct gpt_model *model, const struct gpt_attention_override *change);

#endif
