/* symreg_front.h - the front that bin/symreg prints, compared with the law of its table. */
#ifndef SYMREG_FRONT_H
#define SYMREG_FRONT_H

#include <sys/wait.h>

#include "symreg_judge.h"

static const char default_rule[] = "best";

/* Of one search. */
struct outcome {
    bool solved, rule[SR_RULES], on_front; /* solved: by the default rule */
    bool plain[SR_RULES];                  /* the choice is the simplest that is the law */
    char equation[SR_TEXT];                /* of the default rule */
    char finders[256]; /* stages that found the law as a seed, the first one first; "": none */
};

/* One line "seed STAGES FORMULA" of a program built with SR_LOG_SEEDS (symreg/seed/proposal.c), of
 * columns x0, x1 ... */
static inline void judge_seed(struct truth *t, double noise, const char *line, struct outcome *out)
{
    static const char *const name[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"};
    struct sr_expr expr;
    char stages[64], listed[sizeof out->finders + 2];
    const size_t used = strlen(out->finders);
    int at = 0;
    if (sscanf(line, "seed %61[^ ] %n", stages, &at) != 1 || !at)
        return;
    strcat(stages, ",");
    snprintf(listed, sizeof listed, ",%s,", out->finders);
    if (strstr(listed, stages) || used + strlen(stages) >= sizeof out->finders)
        return;
    if (sr_expr_parse(NULL, line + at, name, t->problem->features, &expr))
        orr_error_clear();
    else if (recovers(t, &expr, noise))
        snprintf(out->finders + used, sizeof out->finders - used, "%s%.*s", used ? "," : "",
                 (int)strlen(stages) - 1, stages);
}

/* One line of the printed front: whether its formula is the law, and which rules choose it. */
static inline void judge_line(struct truth *t, double noise, char *line, struct outcome *out)
{
    const struct problem *problem = t->problem;
    struct sr_expr expr;
    int at = 0;
    char *mark = strstr(line, "   <- ");
    line[strcspn(line, "\n")] = '\0';
    sscanf(line, "%*s %*s %*s %n", &at);
    if (mark)
        *mark = '\0';
    if (!at || sr_expr_parse(NULL, line + at, problem->feature, problem->features, &expr)) {
        orr_error_clear();
        return;
    }
    const bool is_law = recovers(t, &expr, noise), is_first = is_law && !out->on_front;
    out->on_front = out->on_front || is_law;
    for (int rule = 0; rule < SR_RULES && mark; rule++) {
        if (!strstr(mark + 1, sr_rule_name[rule]))
            continue;
        out->rule[rule] = is_law;
        out->plain[rule] = is_first;
        if (!strcmp(sr_rule_name[rule], default_rule)) {
            out->solved = is_law;
            snprintf(out->equation, sizeof out->equation, "%s", line + at);
        }
    }
}

/* Runs a command of bin/symreg and judges the front that it prints. */
static inline int ask_front(const char *command, const char *program, struct truth *t, double noise,
                            struct outcome *out)
{
    static char line[2 * SR_TEXT];
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return ORR_FAIL(ORR_EIO, "%s: cannot be started", program);
    while (fgets(line, sizeof line, pipe))
        if (line[0] == ' ')
            judge_line(t, noise, line, out);
        else
            judge_seed(t, noise, line, out);
    const int status = pclose(pipe);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? 0
               : ORR_FAIL(ORR_EIO, "%s: ended with status %d", command, status);
}

#endif
