/* settings.c - checks and resolves the preset's names of operators, rules and the algorithm. */
#include "evolve.h"

static int find_all(const char *key, const struct orr_name_list *names, int arity, enum sr_op *ops,
                    int *count)
{
    *count = 0;
    for (int i = 0; i < names->count; i++) {
        enum sr_op op;
        TRY(sr_op_find(key, names->item[i], arity, &op));
        bool twice = false;
        for (int k = 0; k < *count; k++)
            twice = twice || ops[k] == op;
        if (!twice)
            ops[(*count)++] = op;
    }
    return 0;
}

int sr_settings_init(struct sr_settings *settings, const struct orr_settings *given)
{
    const struct orr_symreg_settings *s = &given->symreg;
    *settings = (struct sr_settings){
        .loss = s->loss,
        .loss_parameter = s->loss_parameter > 0 ? s->loss_parameter : 0.5,
        .follows =
            !(s->loss_parameter > 0) && (s->loss == ORR_SR_HUBER || s->loss == ORR_SR_LOGCOSH),
        .maxsize = s->maxsize,
        .iterations = s->iterations,
        .populations = s->populations,
        .population_size = s->population_size,
        .cycles = s->cycles,
        .restarts = s->restarts,
        .parsimony = s->parsimony,
        .nests = s->algorithm == ORR_SR_PYSR || s->loss == ORR_SR_STUDY, /* as published */
        .seed = given->seed,
        .max_seconds = s->seconds,
        .max_evaluations = s->evaluations,
        .stop_loss = s->stop_loss,
        .enumerate = s->enumerate,
        .patience = s->patience,
        .algorithm = s->algorithm == ORR_SR_PYSR ? &sr_algorithm_pysr : &sr_algorithm_orrery,
    };
    TRY(find_all("symreg.binary", &s->binary, 2, settings->binary, &settings->binary_count));
    TRY(find_all("symreg.unary", &s->unary, 1, settings->unary, &settings->unary_count));
    for (int i = 0; i < s->rules.count; i++) {
        enum sr_rule rule;
        TRY(sr_rule_find("symreg.rules", s->rules.item[i], &rule));
    }
    if (s->rules.count == 0)
        return ORR_FAIL(ORR_EUSAGE,
                        "symreg.rules: expected at least one of accuracy, score, best, mdl");
    return 0;
}
