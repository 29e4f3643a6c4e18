/* forms.h - inside symreg/motion/: laws of force that are tried beside those of a search. */
#ifndef SR_FORMS_H
#define SR_FORMS_H

#include "arcs.h"

struct sr_form_found {
    struct sr_form form;
    double loss; /* mean squared residual of the table's rows in their weights */
    double nats; /* of the table: by the loss, the formula and its parameters */
};
/* Fits the constants of a form to a table by least squares; parameters start where they are.
 * Returns the loss, infinite where the form is not finite. work: (rows, numbers + 1). */
double sr_form_fit(const struct sr_data *data, int steps, struct sr_form *form, double *work);
/* What a form that leaves this loss costs by the table alone. */
double sr_form_nats(const struct sr_data *data, const struct sr_form *form, double loss);
/* Forms with the settings' operators and size, fitted to the table, the best first: at most `most`.
 * Returns how many. ORR_ENOMEM in *rc. */
int sr_forms_find(const struct sr_settings *settings, const struct sr_data *data,
                  const char *const *features, double until_s, int most,
                  struct sr_form_found *found, int *rc);

#endif
