/* names.c - expressions of a description, by muParser, and the tiles of an attention matrix. */
#include "predict.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <muParserDLL.h>

double predict_tiles(double T, double rows, double columns, bool masked)
{
    double tiles = 0;
    for (double first = 0; first < T && rows >= 1 && columns >= 1; first += rows) {
        const double last = fmin(first + rows, T) - 1; /* queries */
        const double all = floor(last / columns) + 1;
        /* no key of these comes after the first query */
        const double whole = floor((first + 1) / columns);
        tiles += masked ? all - whole : all;
    }
    return tiles;
}

static muFloat_t pairs(muFloat_t T, muFloat_t rows, muFloat_t columns)
{
    return predict_tiles(T, rows, columns, false);
}

static muFloat_t masked(muFloat_t T, muFloat_t rows, muFloat_t columns)
{
    return predict_tiles(T, rows, columns, true);
}

static muFloat_t ceiling(muFloat_t x)
{
    return ceil(x);
}

struct predict_names {
    muParserHandle_t parser;
};

int predict_names_create(struct predict_names **names)
{
    *names = orr_alloc(1, sizeof **names);
    if (!*names)
        return ORR_ENOMEM;
    (*names)->parser = mupCreate(muBASETYPE_FLOAT);
    if (!(*names)->parser) {
        free(*names);
        *names = NULL;
        return ORR_FAIL(ORR_ENOMEM, "muParser: out of memory");
    }
    mupDefineFun1((*names)->parser, "ceil", ceiling, 1);
    mupDefineFun3((*names)->parser, "pairs", pairs, 1);
    mupDefineFun3((*names)->parser, "masked", masked, 1);
    return 0;
}

void predict_names_free(struct predict_names *names)
{
    if (!names)
        return;
    mupRelease(names->parser);
    free(names);
}

int predict_names_set(struct predict_names *names, const char *name, double value)
{
    bool good = isalpha((unsigned char)*name) != 0;
    for (const char *c = name; *c; c++)
        good = good && (isalnum((unsigned char)*c) || *c == '_');
    if (!good)
        return ORR_FAIL(ORR_EFORMAT,
                        "\"%s\" is no name of a variable: expected a letter, then letters, digits "
                        "and _",
                        name);
    mupDefineConst(names->parser, name, value);
    if (!mupError(names->parser))
        return 0;
    mupErrorReset(names->parser);
    return ORR_FAIL(ORR_EFORMAT, "\"%s\" cannot be the name of a variable: muParser has it", name);
}

int predict_evaluate(const struct predict_names *names, const char *text, const char *where,
                     double *value)
{
    mupSetExpr(names->parser, text);
    *value = mupEval(names->parser);
    if (mupError(names->parser)) {
        char why[128];
        snprintf(why, sizeof why, "%s", mupGetErrorMsg(names->parser));
        mupErrorReset(names->parser);
        return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": %s", where, text, why);
    }
    if (!(*value >= 0) || !isfinite(*value))
        return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected a number from 0 on; found %g", where,
                        text, *value);
    return 0;
}
