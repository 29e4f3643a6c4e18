/* law_expression.c - a user-defined force law, parsed by muParser. */
#include "sim.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "muparser.h"

#ifdef ORR_LIBRARY
#define mupCreate      sim_muparser.mupCreate_
#define mupRelease     sim_muparser.mupRelease_
#define mupDefineVar   sim_muparser.mupDefineVar_
#define mupDefineConst sim_muparser.mupDefineConst_
#define mupSetExpr     sim_muparser.mupSetExpr_
#define mupEval        sim_muparser.mupEval_
#define mupEvalMulti   sim_muparser.mupEvalMulti_
#define mupError       sim_muparser.mupError_
#define mupErrorReset  sim_muparser.mupErrorReset_
#define mupGetErrorPos sim_muparser.mupGetErrorPos_
#define mupGetErrorMsg sim_muparser.mupGetErrorMsg_
#endif

/* muParser keeps its messages in one place for all threads, hence the lock. */
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

struct sim_expression {
    muParserHandle_t parser;
    double r, m1, m2; /* values of the variables */
};

/* Finds an assignment, which muParser would allow (to r, for example); comparisons are allowed. */
static const char *find_assignment(const char *text)
{
    for (const char *at = text; (at = strchr(at, '=')) != NULL; at++) {
        if (at[1] == '=')
            at++;
        else if (at == text || !strchr("<>!", at[-1]))
            return at;
    }
    return NULL;
}

#define EXPECTED "expected an expression of r, m1, m2 and G, such as G*m1*m2/r^2"

static int compile_expression(struct sim_expression *e, const char *text)
{
    const char *assignment = find_assignment(text);
    if (assignment)
        return ORR_FAIL(ORR_EUSAGE,
                        "orbits.expression: position %d of \"%s\": found an assignment; " EXPECTED,
                        (int)(assignment - text) + 1, text);
    mupDefineVar(e->parser, "r", &e->r);
    mupDefineVar(e->parser, "m1", &e->m1);
    mupDefineVar(e->parser, "m2", &e->m2);
    mupDefineConst(e->parser, "G", SIM_G);
    /* muParser's own _pi has 13 digits, as of 2.3.3 of Debian 12 */
    mupDefineConst(e->parser, "_pi", 3.14159265358979323846);
    mupDefineConst(e->parser, "_e", 2.71828182845904523536);
    mupSetExpr(e->parser, text);
    int values = 0;
    mupEvalMulti(e->parser, &values);
    if (mupError(e->parser)) {
        const int bytes = (int)strlen(text), at = mupGetErrorPos(e->parser);
        const bool inside = at >= 0 && at < bytes; /* from 0; otherwise: at the end */
        char why[128];
        snprintf(why, sizeof why, "%s", mupGetErrorMsg(e->parser));
        char *place = strstr(why, " at position"); /* the message already gives it, from 1 */
        const size_t length = place ? (size_t)(place - why) : strcspn(why, ".!");
        return ORR_FAIL(ORR_EUSAGE, "orbits.expression: position %d of \"%s\": %.*s; " EXPECTED,
                        (inside ? at : bytes) + 1, text, (int)length, why);
    }
    if (values != 1)
        return ORR_FAIL(ORR_EUSAGE,
                        "orbits.expression: position %d of \"%s\": found %d values; " EXPECTED,
                        (int)strlen(text), text, values);
    return 0;
}

int sim_expression_create(struct sim_expression **expression, const char *text)
{
    int rc;
    struct sim_expression *e = calloc(1, sizeof *e);
    *expression = e;
    if (!e)
        return ORR_FAIL(ORR_ENOMEM, "orbits.expression: out of memory");
    e->r = e->m1 = e->m2 = 1;
    pthread_mutex_lock(&reading);
    rc = sim_muparser_open();
    e->parser = rc ? NULL : mupCreate(muBASETYPE_FLOAT);
    if (!rc)
        rc = e->parser ? compile_expression(e, text)
                       : ORR_FAIL(ORR_ENOMEM, "muParser: out of memory");
    pthread_mutex_unlock(&reading);
    if (rc) {
        sim_expression_free(e);
        *expression = NULL;
    }
    return rc;
}

void sim_expression_free(struct sim_expression *e)
{
    if (!e)
        return;
    if (e->parser)
        mupRelease(e->parser);
    free(e);
}

double sim_expression_force(struct sim_expression *e, double m1, double m2, double r)
{
    e->r = r;
    e->m1 = m1;
    e->m2 = m2;
    const double F = mupEval(e->parser);
    if (!mupError(e->parser))
        return F;
    mupErrorReset(e->parser);
    return NAN;
}
