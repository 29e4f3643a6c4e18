/* statement.c - what is said of a table before its front: what formulas use, their form, and the
 * weights of the rows. */
#include "program.h"

/* The weights of the rows; false where all count alike. */
static bool state_weights(const struct sr_answer *o, struct sr_statement *s)
{
    s->code = "";
    s->after = ".";
    if (o->weights && *o->weights) {
        s->before = o->variance > 0 ? "Rows have the weights 1/sigma^2, sigma of column "
                                    : "Rows have the weights of column ";
        s->code = o->weights;
    } else if (o->by) {
        s->before = "Rows have the weights " SR_WEIGHTS_CHOSEN ", of the prediction ";
        s->after = "; those with |prediction| below a tenth of its median have that one's.";
        sr_expr_print(o->data->language, o->by, o->names, s->formula, sizeof s->formula);
        s->code = s->formula;
    } else if (o->weights) {
        s->before = "Rows have the weights 1/y^2; those with |y| below a tenth of its median have "
                    "that one's.";
        s->after = "";
    }
    return o->by || o->weights;
}

bool sr_output_statement(const struct sr_answer *o, enum sr_statement_of which,
                         struct sr_statement *s)
{
    if (which == SR_STATED_WEIGHTS)
        return state_weights(o, s);
    s->code = which == SR_STATED_DEFINE ? o->define : o->form ? o->form_text : NULL;
    s->before = which == SR_STATED_DEFINE ? "Formulas use " : "Formulas have the form ";
    s->after = ".";
    return s->code;
}
