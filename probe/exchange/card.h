/* card.h - the card of a model of another program: what it was measured to know, on one screen, as
 * a page (card.md) and as JSON (card.json, docs/exchange.md). */
#ifndef PROBE_CARD_H
#define PROBE_CARD_H

#include "stage/measures.h"
#include "stage/settings.h"

#define PROBE_CARD_FORMAT "orrery-card-1"
enum { PROBE_TRAININGS = 10, PROBE_CARD_LEFT_OUT = 12, PROBE_CARD_TEXT = 256 };

/* In how many samples the law was found: of the model, its untrained twin, the truth. */
enum probe_card_source { PROBE_CARD_MODEL, PROBE_CARD_TWIN, PROBE_CARD_TRUTH, PROBE_CARD_SOURCES };
struct probe_card_laws {
    char law[1024], rule[64]; /* rule "": no laws */
    struct {
        int samples, selected, on_front; /* samples 0: none */
    } of[PROBE_CARD_SOURCES];
};

struct probe_card {
    const struct orr_settings *settings;
    char name[ORR_NAME];
    int trainings; /* of more than one: means, and intervals over trainings */
    char training[PROBE_TRAININGS][ORR_NAME];
    struct orr_measures measures;
    /* 1: better than the untrained twin, 0: not so, -1: not known */
    signed char beyond[ORR_MEASURES];
    double value[ORR_MEASURES][PROBE_TRAININGS]; /* of each training */
    struct probe_card_laws laws;
    int probes, left_out;
    const char *probe[PROBE_CARD_LEFT_OUT]; /* (probes) that were run */
    struct {
        const char *what; /* probe, or "untrained" */
        char why[PROBE_CARD_TEXT];
    } without[PROBE_CARD_LEFT_OUT]; /* (left_out) */
};
/* The card of one training: name, probes and what is left out are set; reads the results of probes
 * in <folder>/probe, and if they are among the probes the laws in <folder>/laws. twin: its name;
 * "": none. */
int probe_card_read(struct probe_card *card, const char *folder, const char *twin);
/* The card of several trainings: means over trainings, and 95% intervals by Student's t. A training
 * is compared with its own twin. */
void probe_card_join(struct probe_card *card, const struct probe_card *const of[], int count);
/* Does it know the force? One sentence, from laws alone, since a readout may follow from
 * geometry. */
void probe_card_answer(const struct probe_card *card, char text[PROBE_CARD_TEXT]);
/* Writes card.md and card.json into the folder; printed: the page to stdout, too. */
int probe_card_write(const struct probe_card *card, const char *folder, bool printed);

#endif
