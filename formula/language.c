/* language.c - what a user adds to the operators of the table: operators, constants, a loss. */
#include "expr.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 2 };

struct sr_language *sr_language_create(void)
{
    return orr_alloc(1, sizeof(struct sr_language));
}

void sr_language_free(struct sr_language *language)
{
    free(language);
}

int sr_language_name(struct sr_language *language, const char *option, const char *name,
                     double value)
{
    if (!sr_name_is_plain(language, name) || strlen(name) >= SR_OP_NAME)
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: expected the name of a constant, a word of at most %d bytes that is "
                        "no operator, found \"%s\"",
                        option, SR_OP_NAME - 1, name);
    if (!isfinite(value))
        return ORR_FAIL(ORR_EUSAGE, "%s: %s: its value is not finite", option, name);
    if (language->named == SR_NAMED)
        return ORR_FAIL(ORR_EUSAGE, "%s: at most %d named constants", option, SR_NAMED);
    for (int k = 0; k < language->named; k++)
        if (!strcmp(language->constant_name[k], name))
            return ORR_FAIL(ORR_EUSAGE, "%s: two constants \"%s\"", option, name);
    strcpy(language->constant_name[language->named], name);
    language->constant[language->named++] = value;
    return 0;
}

/* ---- definitions */

static const char *skip_blanks(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* Reads a name at *at into name[SR_OP_NAME]; *at moves past it. */
static bool take_name(const char **at, char name[SR_OP_NAME])
{
    size_t n = 0;
    *at = skip_blanks(*at);
    if (!isalpha((unsigned char)**at) && **at != '_')
        return false;
    for (; isalnum((unsigned char)**at) || **at == '_'; (*at)++)
        if (n + 1 < SR_OP_NAME)
            name[n++] = **at;
        else
            return false;
    name[n] = '\0';
    *at = skip_blanks(*at);
    return true;
}

/* Reads "g(x, y)=", name and arguments; *at moves to the formula. */
static bool take_head(const char **at, char name[SR_OP_NAME], char argument[ARGUMENTS][SR_OP_NAME],
                      int *arity)
{
    if (!take_name(at, name) || *(*at)++ != '(')
        return false;
    for (*arity = 0; *arity < ARGUMENTS;) {
        if (!take_name(at, argument[(*arity)++]))
            return false;
        if (**at != ',')
            break;
        (*at)++;
    }
    if (*(*at)++ != ')')
        return false;
    *at = skip_blanks(*at);
    return *(*at)++ == '=';
}

static int name_is_free(const struct sr_language *language, const char *name)
{
    enum sr_op op;
    if (language->count == SR_CUSTOMS)
        return ORR_FAIL(ORR_EUSAGE, "--define: at most %d operators", SR_CUSTOMS);
    if (sr_op_seek(language, name, &op, NULL))
        return ORR_FAIL(ORR_EUSAGE, "--define: there is already an operator \"%s\"", name);
    for (int k = 0; k < language->named; k++)
        if (!strcmp(language->constant_name[k], name))
            return ORR_FAIL(ORR_EUSAGE, "--define: there is already a constant \"%s\"", name);
    return 0;
}

/* Parses a formula of named arguments; messages mention `what`. */
static int read_formula(const struct sr_language *language, const char *what, const char *text,
                        const char *const *names, int count, struct sr_expr *expr)
{
    char message[1024];
    if (!sr_expr_parse(language, text, names, count, expr))
        return 0;
    snprintf(message, sizeof message, "%s", orr_error());
    return ORR_FAIL(ORR_EUSAGE, "%s: %s", what, message);
}

/* Whether a text is "name=number", a named constant. */
static bool take_constant(const char *text, char name[SR_OP_NAME], double *value)
{
    char *end;
    if (!take_name(&text, name) || *text != '=')
        return false;
    *value = strtod(text + 1, &end);
    return end > text + 1 && !*skip_blanks(end);
}

static int define_one(struct sr_language *language, const char *text)
{
    char name[SR_OP_NAME], argument[ARGUMENTS][SR_OP_NAME];
    const char *at = text, *const names[ARGUMENTS] = {argument[0], argument[1]};
    int arity = 0;
    double value;
    if (take_constant(text, name, &value))
        return sr_language_name(language, "--define", name, value);
    if (!take_head(&at, name, argument, &arity))
        return ORR_FAIL(ORR_EUSAGE,
                        "--define: expected \"name(x)=formula\", \"name(x,y)=formula\" or "
                        "\"name=number\", found \"%s\"",
                        text);
    TRY(name_is_free(language, name));
    if (arity == 2 && !strcmp(argument[0], argument[1]))
        return ORR_FAIL(ORR_EUSAGE, "--define: %s: two arguments \"%s\"", name, argument[0]);
    const int k = language->count;
    TRY(read_formula(language, "--define", at, names, arity, &language->formula[k]));
    memcpy(language->name[k], name, sizeof name);
    language->op[k] = (struct sr_op_info){.name = language->name[k], .arity = arity, .cost = 2};
    language->count++;
    return 0;
}

int sr_custom_define(struct sr_language *language, const char *text)
{
    char one[SR_TEXT];
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ";");
        if (length >= sizeof one)
            return ORR_FAIL(ORR_EUSAGE, "--define: longer than %d bytes", SR_TEXT - 1);
        memcpy(one, at, length);
        one[length] = '\0';
        TRY(define_one(language, one));
        at += length;
        if (!*at)
            return 0;
    }
}

int sr_custom_loss_define(struct sr_language *language, const char *text)
{
    static const char *const names[2] = {"p", "t"};
    struct sr_expr loss;
    const int rc = read_formula(language, "--loss", text, names, 2, &loss);
    if (!rc)
        language->loss = loss;
    return rc;
}
