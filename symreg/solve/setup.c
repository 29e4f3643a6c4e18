/* setup.c - turns the options of CSV mode into settings. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "solve.h"

/* Sets the loss: a name of the preset's, or a formula of p and t. */
static int choose_loss(const char *text, struct orr_settings *settings, struct sr_csv_setup *setup)
{
    static const char *const letters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (!text) {
        /* as spelled in --help */
        static const char *const names[] = {"l1",    "l2",       "study",    "relative",
                                            "huber", "logcosh",  "quantile", "poisson",
                                            "gamma", "bernoulli"};
        snprintf(setup->loss, sizeof setup->loss, "%s", names[settings->symreg.loss]);
        return 0;
    }
    snprintf(setup->loss, sizeof setup->loss, "%s", text);
    if (!text[strspn(text, letters)])
        return orr_settings_set_by(settings, "--loss", "symreg.loss", text);
    const int rc = sr_custom_loss_define(setup->language, text);
    if (!rc)
        settings->symreg.loss = ORR_SR_CUSTOM;
    return rc;
}

/* Text of the definitions that formulas need: named constants, then user-defined operators. */
static char *write_definitions(const struct sr_language *language, const char *define)
{
    char *text = NULL, number[SR_NUMBER];
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    for (int k = 0; k < language->named && out; k++) {
        sr_number_print(language->constant[k], number);
        fprintf(out, "%s%s=%s", k ? "; " : "", language->constant_name[k], number);
    }
    if (define && out)
        fprintf(out, "%s%s", language->named ? "; " : "", define);
    if (out && !fclose(out))
        return text;
    free(text);
    return NULL;
}

/* Reads units, named constants and user-defined operators, which may use the constants. */
static int set_language(const struct sr_csv_options *o, const struct sr_table *table,
                        struct sr_csv_setup *setup)
{
    const int features = table->data.features;
    if (o->units)
        TRY(sr_units_parse(o->units, table->name, features, table->target, &setup->units));
    if (o->constants)
        TRY(sr_constants_parse(o->constants, o->units ? &setup->units : NULL, setup->language));
    if (o->constants || o->define) {
        setup->define = write_definitions(setup->language, o->define);
        TRY(setup->define ? 0 : ORR_ENOMEM);
    }
    const int given = setup->language->named;
    if (o->define)
        TRY(sr_custom_define(setup->language, o->define));
    for (int k = 0; k < setup->language->named; k++)
        for (int f = -1; f < features; f++)
            if (!strcmp(setup->language->constant_name[k], f < 0 ? table->target : table->name[f]))
                return ORR_FAIL(ORR_EUSAGE,
                                "%s: \"%s\" is a column, too; expected another name, as in "
                                "\"%s_0=VALUE UNIT\"",
                                k < given ? "--constants" : "--define",
                                setup->language->constant_name[k],
                                setup->language->constant_name[k]);
    return 0;
}

static int set_units(const struct sr_csv_options *o, struct sr_csv_setup *setup)
{
    struct sr_constraints *c = &setup->constraints;
    if (!o->units)
        return 0;
    if (o->log_target && setup->units.target_known) /* a logarithm is dimensionless */
        memset(&setup->units.target, 0, sizeof setup->units.target);
    c->units = setup->settings.units = &setup->units;
    if (o->units_penalty)
        c->units_penalty = strtod(o->units_penalty, NULL);
    return 0;
}

/* Reads the columns that every formula must use. */
static int set_required(const char *list, const struct sr_table *table, struct sr_csv_setup *setup)
{
    const struct sr_settings *s = &setup->settings;
    int count = 0;
    for (const char *at = list; at; count++) {
        char name[256], meant[128];
        struct orr_nearest nearest = {0};
        TRY(sr_column_next("--require", list, &at, name, sizeof name));
        const int f = sr_feature_find(name, table->name, table->data.features, &nearest);
        orr_nearest_text(&nearest, meant);
        if (f < 0)
            return ORR_FAIL(ORR_EUSAGE, "--require: \"%s\" is not among the features%s", name,
                            meant);
        if (setup->constraints.required >> f & 1)
            return ORR_FAIL(ORR_EUSAGE, "--require: \"%s\" stands twice", name);
        setup->constraints.required |= (uint64_t)1 << f;
    }
    if (2 * count - 1 > s->maxsize)
        return ORR_FAIL(ORR_EUSAGE,
                        "--require: a formula of %d columns has a complexity of at least %d, "
                        "symreg.maxsize is %d",
                        count, 2 * count - 1, s->maxsize);
    return count < 2 || s->binary_count ? 0
                                        : ORR_FAIL(ORR_EUSAGE,
                                                   "--require: a formula of %d columns needs an "
                                                   "operator of two arguments, found none",
                                                   count);
}

/* Lists the target and the table's columns that are no features. The caller frees the list. */
static const char **other_words(const struct sr_table *table, size_t *count)
{
    const char **word = orr_alloc(table->csv.cols + 1, sizeof *word);
    *count = 0;
    if (!word)
        return NULL;
    word[(*count)++] = table->target;
    for (size_t i = 0; i < table->csv.cols; i++)
        word[(*count)++] = table->csv.names[i];
    return word;
}

/* Reads the template. --maxsize is for its unknown functions; its other nodes are added. */
static int set_form(const struct sr_csv_options *o, const struct sr_table *table,
                    struct sr_csv_setup *setup)
{
    struct sr_settings *s = &setup->settings;
    struct sr_template *form = &setup->form;
    char message[1024];
    size_t count;
    if (!o->form)
        return 0;
    const char **const others = other_words(table, &count);
    const int rc = others ? sr_template_parse(form, setup->language, o->form, table->name,
                                              table->data.features, others, count)
                          : ORR_ENOMEM;
    free(others);
    if (rc == ORR_ENOMEM)
        return rc;
    snprintf(message, sizeof message, "%s", orr_error());
    if (rc)
        return ORR_FAIL(ORR_EUSAGE, "--template: %s", message);
    const int fixed = form->form.count - form->functions, all = s->maxsize + fixed;
    if (s->maxsize < form->functions)
        return ORR_FAIL(ORR_EUSAGE,
                        "--template: %d unknown functions need as many nodes, but --maxsize is %d",
                        form->functions, s->maxsize);
    s->maxsize = all < SR_NODES ? all : SR_NODES;
    s->form = setup->constraints.form = form;
    if (s->algorithm == &sr_algorithm_orrery)
        s->algorithm = &sr_algorithm_parts;
    return 0;
}

/* --constrain-constants: of all numbers, or of constants of the template. */
static int set_bounds(const char *text, struct sr_csv_setup *setup)
{
    struct sr_language *language = setup->language;
    char message[1024];
    language->bounded = true;
    if (!text[strcspn(text, "<>")])
        return sr_shape_bounds(text, &language->low, &language->high);
    if (!setup->settings.form)
        return ORR_FAIL(ORR_EUSAGE,
                        "--constrain-constants: \"%s\" names constants, which only --template has, "
                        "as \"k*exp(-r*x)\"; LOW,HIGH is for all numbers",
                        text);
    language->bounds = sr_template_limits;
    language->bounds_context = &setup->form;
    if (!sr_template_bounds(&setup->form, text))
        return 0;
    snprintf(message, sizeof message, "%s", orr_error());
    return ORR_FAIL(ORR_EUSAGE, "--constrain-constants: %s", message);
}

/* --monotone, --positive, --constrain-constants. */
static int set_shape(const struct sr_csv_options *o, const struct sr_table *table,
                     struct sr_csv_setup *setup)
{
    struct sr_shape *shape = &setup->shape;
    if (o->constrain_constants)
        TRY(set_bounds(o->constrain_constants, setup));
    if (!o->monotone && !o->positive)
        return 0;
    shape->positive = o->positive != NULL;
    if (o->monotone)
        TRY(sr_shape_monotone(shape, o->monotone, table->name, table->data.features));
    setup->constraints.shape = shape;
    return sr_shape_make(shape, &table->data);
}

static int set_constraints(const struct sr_csv_options *o, const struct sr_table *table,
                           struct sr_csv_setup *setup)
{
    struct sr_constraints *c = &setup->constraints;
    sr_constraints_init(c, setup->language);
    TRY(set_form(o, table, setup));
    c->maxsize = setup->settings.maxsize;
    TRY(sr_complexity_set(setup->language, o->complexity, table->name, table->data.features));
    c->maxdepth = o->maxdepth ? atoi(o->maxdepth) : 0;
    if (o->constrain)
        TRY(sr_constraints_arguments(c, o->constrain));
    if (o->nest) { /* the user's rules replace the default ones */
        TRY(sr_constraints_nesting(c, o->nest));
        setup->settings.nests = true;
    }
    if (o->require)
        TRY(set_required(o->require, table, setup));
    TRY(set_units(o, setup));
    TRY(set_shape(o, table, setup));
    if (c->shape || setup->language->bounded || o->require || o->complexity || o->maxdepth ||
        o->constrain || o->nest || o->units || o->form) {
        setup->settings.admissible = sr_constraints_admissible;
        setup->settings.whole = sr_constraints_whole;
        setup->settings.penalty = c->units_penalty > 0 ? sr_constraints_penalty : NULL;
        setup->settings.context = c;
    }
    return 0;
}

/* Length up to a ";" outside quoted names. */
static size_t formula_length(const char *text)
{
    size_t length = strcspn(text, ";\"");
    for (size_t name; text[length] == '"'; length += strcspn(text + length, ";\"")) {
        name = sr_name_quoted(text + length);
        length += name ? name : 1;
    }
    return length;
}

/* Adds a first formula of the required columns as a guess, joined by the first operator that the
 * constraints and units allow, so that even a search without time for more has a front. */
static void guess_required(struct sr_csv_setup *setup)
{
    struct sr_settings *s = &setup->settings;
    struct sr_expr *expr = &setup->guess[s->guesses];
    const uint64_t required = setup->constraints.required;
    for (int k = 0; k < (s->binary_count ? s->binary_count : 1) && required; k++) {
        if (s->guesses == ORR_LIST)
            return;
        expr->count = 0;
        for (int f = 0; f < SR_FEATURES; f++) {
            if (!(required >> f & 1))
                continue;
            sr_put_node(expr, sr_feature_node(f));
            if (expr->count > 1)
                sr_put_op(expr, s->binary[k]);
        }
        if (sr_put_end(s->language, expr, s->maxsize) && s->admissible(expr, s->context)) {
            s->guesses++;
            return;
        }
    }
}

/* Refuses a guess that has no value in a row: no fit could start from it. */
static int check_values(const struct sr_table *table, const struct sr_language *language,
                        const char *text, const struct sr_expr *guess)
{
    const size_t rows = table->data.rows;
    double x[SR_FEATURES], value;
    struct sr_data row = {
        .rows = 1, .features = table->data.features, .x = x, .language = language};
    char where[SR_TEXT] = "", number[SR_NUMBER];
    for (size_t i = 0; i < rows; i++) {
        for (int f = 0; f < row.features; f++)
            x[f] = table->data.x[(size_t)f * rows + i];
        if (sr_eval(guess, &row, &value))
            continue;
        uint64_t seen = 0;
        for (int k = 0; k < guess->count; k++) {
            const int f = guess->node[k].feature;
            if (guess->node[k].op != SR_FEATURE || (seen >> f & 1))
                continue;
            const size_t used = strlen(where);
            sr_number_print(x[f], number);
            snprintf(where + used, sizeof where - used, "%s%s = %s", seen ? ", " : "",
                     table->name[f], number);
            seen |= UINT64_C(1) << f;
        }
        return ORR_FAIL(ORR_EUSAGE,
                        "--guess: \"%s\" is not finite in row %zu of the %zu that are used (%s)",
                        text, i + 1, rows, where);
    }
    return 0;
}

/* Parses guesses separated by ";". Each must be admissible on the front, and finite in all rows. */
static int set_guesses(const char *text, const struct sr_table *table, struct sr_csv_setup *setup)
{
    struct sr_settings *s = &setup->settings;
    char one[SR_TEXT], message[1024];
    s->guess = setup->guess;
    for (const char *at = text; at; at += *at == ';') {
        const size_t length = formula_length(at);
        struct sr_expr *expr = &setup->guess[s->guesses];
        if (s->guesses == ORR_LIST || length >= sizeof one)
            return ORR_FAIL(ORR_EUSAGE, "--guess: at most %d formulas of %d bytes", ORR_LIST,
                            SR_TEXT - 1);
        memcpy(one, at, length);
        one[length] = '\0';
        if (sr_expr_parse(s->language, one, table->name, table->data.features, expr)) {
            snprintf(message, sizeof message, "%s", orr_error());
            return ORR_FAIL(ORR_EUSAGE, "--guess: %s", message);
        }
        if (s->form && !sr_template_adopt(s->form, expr))
            return ORR_FAIL(ORR_EUSAGE, "--guess: \"%s\" is not of the form of --template", one);
        if (!s->form)
            sr_expr_fold_named(s->language, expr);
        const int complexity = sr_expr_complexity(s->language, expr);
        if (complexity > s->maxsize)
            return ORR_FAIL(ORR_EUSAGE, "--guess: \"%s\": complexity %d, --maxsize is %d", one,
                            complexity, s->maxsize);
        if (s->admissible && !s->admissible(expr, s->context))
            return ORR_FAIL(ORR_EUSAGE, "--guess: \"%s\" breaks the constraints or units", one);
        TRY(check_values(table, s->language, one, expr));
        s->guesses++;
        at += length;
        if (!*at)
            break;
    }
    return 0;
}

/* Checks that some leaf satisfies the constraints; otherwise no formula can. */
static int check_possible(const struct sr_csv_setup *setup, const struct sr_table *table)
{
    const struct sr_settings *s = &setup->settings;
    bool possible = !s->whole || s->form;
    for (int f = -1; f < table->data.features && !possible; f++) {
        const struct sr_expr leaf = {.count = 1, .node = {sr_leaf_node(f)}};
        possible = s->admissible(&leaf, s->context);
    }
    return possible ? 0
                    : ORR_FAIL(ORR_EUSAGE, "the constraints leave no formula, not even a constant "
                                           "or a column");
}

/* Adds the operators of --define to the operator sets. */
static void add_custom(struct sr_settings *s)
{
    for (int op = SR_CUSTOM; sr_op_known(s->language, op); op++)
        if (sr_op(s->language, op)->arity == 1)
            s->unary[s->unary_count++] = (enum sr_op)op;
        else
            s->binary[s->binary_count++] = (enum sr_op)op;
}

int sr_csv_setup_weigh(const struct sr_csv_options *options, struct sr_csv_setup *setup)
{
    struct sr_csv_options weighed = *options;
    weighed.weights = SR_WEIGHTS_CHOSEN;
    free(setup->about);
    setup->settings.context_text = setup->about = sr_options_record(&weighed);
    return setup->about ? 0 : ORR_ENOMEM;
}

/* With errors in x, constants are those of orthogonal distance regression. */
static int check_sigma_x(const struct sr_csv_options *o, const struct sr_table *table,
                         enum orr_symreg_loss loss)
{
    if (!table->data.x_variance)
        return 0;
    if (loss != ORR_SR_L2)
        return ORR_FAIL(ORR_EUSAGE, "--sigma-x: needs the loss l2");
    if (table->category)
        return ORR_FAIL(ORR_EUSAGE, "--sigma-x: not with --category");
    return o->alternatives && atoi(o->alternatives)
               ? ORR_FAIL(ORR_EUSAGE, "--sigma-x: not with --alternatives")
               : 0;
}

int sr_targets_check(enum orr_symreg_loss loss, const struct sr_csv_options *o,
                     const struct sr_table *table, const char *file)
{
    char column[SR_TEXT];
    snprintf(column, sizeof column, o->log_target ? "log(%s)" : "%s", table->target);
    return sr_deviance_check(loss, &table->data, file, table->line ? table->line : table->csv.line,
                             column);
}

enum { SAMPLE = 4096 }; /* rows, for large tables */

int sr_csv_setup(const struct orr_settings *given, const struct sr_csv_options *o,
                 const struct sr_table *table, struct sr_csv_setup *setup)
{
    struct orr_settings settings = *given;
    const long batch = o->batch ? atol(o->batch) : table->data.rows > SR_LARGE_TABLE ? SAMPLE : 0;
    *setup = (struct sr_csv_setup){.language = sr_language_create(), .rule = SR_BEST};
    TRY(setup->language ? 0 : ORR_ENOMEM);
    TRY(sr_options_check(o));
    TRY(set_language(o, table, setup));
    TRY(choose_loss(o->loss, &settings, setup));
    TRY(check_sigma_x(o, table, settings.symreg.loss));
    TRY(sr_settings_init(&setup->settings, &settings));
    if (table->data.low)
        TRY(sr_interval_refuse(o, setup, settings.symreg.loss));
    if (o->round_constants)
        setup->settings.round =
            (enum sr_round)sr_option_word(SR_OPTION_round_constants, o->round_constants);
    if (o->category && setup->settings.algorithm == &sr_algorithm_pysr)
        return ORR_FAIL(ORR_EUSAGE, "--category: not with --compat pysr, whose algorithm fits one "
                                    "set of constants");
    if (!o->round_constants && !o->category && setup->settings.algorithm != &sr_algorithm_pysr)
        setup->settings.round = SR_ROUND_LIKELY;
    if (o->rule)
        setup->rule = (enum sr_rule)sr_option_word(SR_OPTION_rule, o->rule);
    if (batch == 1)
        return ORR_FAIL(ORR_EUSAGE, "--batch: expected 0 or at least 2 rows, found 1");
    if (settings.symreg.loss == ORR_SR_CUSTOM)
        TRY(sr_custom_loss_check(setup->language, &table->data, table->file, table->csv.line));
    TRY(sr_targets_check(settings.symreg.loss, o, table, table->file));
    setup->settings.language = setup->language;
    setup->settings.tolerance = o->tolerance ? strtod(o->tolerance, NULL) : 0;
    /* with errors in x those that are nearly the best are compared once more (sr_front_finish()) */
    setup->settings.alternatives = table->data.x_variance ? 1
                                   : o->alternatives      ? atoi(o->alternatives)
                                                          : 0;
    setup->settings.restarts_fresh = o->use_seconds && settings.symreg.seconds > 0;
    setup->rules = settings.symreg.rules;
    setup->permutations = o->permutations ? atoi(o->permutations) : 0;
    setup->batch = (size_t)batch < table->data.rows ? (size_t)batch : 0;
    setup->settings.context_text = setup->about = sr_options_record(o);
    TRY(setup->about ? 0 : ORR_ENOMEM);
    add_custom(&setup->settings);
    if (setup->settings.binary_count + setup->settings.unary_count == 0)
        return ORR_FAIL(ORR_EUSAGE, "symreg.binary, symreg.unary: expected at least one operator");
    TRY(set_constraints(o, table, setup));
    TRY(check_possible(setup, table));
    TRY(set_guesses(o->guess, table, setup));
    if (!o->form)
        guess_required(setup);
    return 0;
}

void sr_csv_setup_free(struct sr_csv_setup *setup)
{
    sr_language_free(setup->language);
    sr_recall_free(setup->recall);
    sr_shape_free(&setup->shape);
    free(setup->about);
    free(setup->define);
    *setup = (struct sr_csv_setup){0};
}
