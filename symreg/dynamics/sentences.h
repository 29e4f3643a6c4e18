/* sentences.h - inside symreg/dynamics/: sentences about a system of equations. */
#ifndef SR_SENTENCES_H
#define SR_SENTENCES_H

#include "dynamics.h"

/* Names of what equations contain; "" of features that are none. */
void sr_said_names(const struct sr_states *states, const char *name[SR_SYSTEM_NAMES]);
/* "dx/dt = -0.4 * x   (-0.4 +- 0.001)" of equation d; without errors where none is known. */
void sr_said_equation(const struct sr_states *states, const struct sr_language *language,
                      const struct sr_system *system, int d, char *text, size_t bytes);
/* A conserved quantity in a notation for people, with constants of six digits; "conserved", or of
 * one that is so nearly how much it changes. */
void sr_said_quantity(const struct sr_states *states, const struct sr_language *language,
                      const struct sr_conserved *conserved, int q, enum sr_notation notation,
                      char *text, size_t bytes);
void sr_said_how(const struct sr_conserved *conserved, int q, char *text, size_t bytes);
/* "0.4 +- 0.001": constant k of each category, in the i-th; where no error is known "0.4". */
enum { SR_SAID_CONSTANT = 2 * SR_NUMBER + 8 };
void sr_said_constant(const struct sr_system *system, int k, int i, char text[SR_SAID_CONSTANT]);
/* What is known of the choice. */
void sr_said_choice(const struct sr_system *system, char *text, size_t bytes);
/* A remark: what it is about, "" where that is the whole system, and what to do. Returns how many
 * there are. */
struct sr_said_remark {
    char subject[SR_TEXT];
    const char *advice;
};
enum { SR_SAID_REMARKS = 6 };
int sr_said_remarks(const struct sr_states *states, const struct sr_system *system,
                    struct sr_said_remark remark[SR_SAID_REMARKS]);

#endif
