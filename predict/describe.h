/* describe.h - one kernel of a description (docs/predict.md) and its time: between describe.c and
 * table.c. */
#ifndef PREDICT_DESCRIBE_H
#define PREDICT_DESCRIBE_H

#include "predict.h"

struct cJSON;

/* A description that was read. */
struct predict_description {
    char path[4096];
    struct cJSON *json;
    char counts[4096];   /* file of counts, "" when it names none */
    struct cJSON *gemms; /* estimates of products, NULL when it names none */
};
int predict_description_open(struct predict_description *d, const char *path);
void predict_description_close(struct predict_description *d);
/* A path that the description names: from its own folder on. */
int predict_description_path(const struct predict_description *d, const char *name,
                             char path[4096]);

/* The time of all calls of `kernel`, an entry of a list, with the values of a case. `where` stands
 * in front of errors. */
int predict_kernel_time(struct predict_time *time, const struct predict_description *d,
                        const struct cJSON *kernel, const struct predict_machine *machine,
                        const struct predict_names *names, const char *where);

/* A number, or an expression as text, evaluated. ORR_EFORMAT when it is neither; ORR_EMISSING when
 * the key is not there. */
int predict_value(const struct cJSON *object, const char *key, const struct predict_names *names,
                  const char *where, double *value);

#endif
