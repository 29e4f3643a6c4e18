/* run.c - what a run that was read is made of: bodies and stages by name, sources, views, rules. */
#include "stage/provenance.h"
#include "report.h"

#include <math.h>
#include <string.h>
#include <strings.h>

const char *const report_body_name[REPORT_BODIES] = {"mercury", "venus",  "earth",  "mars",
                                                     "jupiter", "saturn", "uranus", "neptune",
                                                     "pluto",   "icarus", "encke",  "halley"};
const char *const report_body_title[REPORT_BODIES] = {"Mercury", "Venus",  "Earth",  "Mars",
                                                      "Jupiter", "Saturn", "Uranus", "Neptune",
                                                      "Pluto",   "Icarus", "Encke",  "Halley"};
const char *const report_stage_log[REPORT_STAGES] = {
    "pretrain/log.jsonl", "pretrain_planets/log.jsonl", "finetune/magnitude.jsonl",
    "finetune/vector.jsonl"};
const char *const report_stage_title[REPORT_STAGES] = {
    "Pretraining: next state", "Pretraining on planet runs: next state",
    "Fine-tuning: force magnitude", "Fine-tuning: force vectors"};

/* A program that reads many runs was not told this one by --run. */
int report_to_make(const struct report_run *run, const char *file, const char *why,
                   const char *program)
{
    char command[ORR_COMMAND];
    orr_command_of_run(program, command);
    if (!strstr(command, " --run ") && !strstr(command, " --run=")) {
        orr_command_add(command, sizeof command, "--run");
        orr_command_add(command, sizeof command, run->path);
    }
    return ORR_FAIL(why ? ORR_EINVAL : ORR_EMISSING, "%s: %s; make it %swith: %s", file,
                    why ? why : "missing", why ? "again " : "", command);
}

int report_find(const struct report_run *run, const char *source)
{
    for (int s = 0; s < run->source_count; s++)
        if (!strcmp(run->source[s].name, source))
            return s;
    return -1;
}

bool report_is_model(const struct report_source *source)
{
    return source->role == REPORT_ATTENTION || source->role == REPORT_OTHER;
}

int report_add_source(struct report_run *run, const char *name, enum report_role role)
{
    if (report_find(run, name) >= 0)
        return 0;
    if (run->source_count == REPORT_SOURCES)
        return ORR_FAIL(ORR_EINVAL, "%s: more than %d sources", run->path, REPORT_SOURCES);
    struct report_source *source = &run->source[run->source_count];
    snprintf(source->name, sizeof source->name, "%s", name);
    source->role = role;
    source->colour = orr_attention_colour(name, run->source_count);
    char label[ORR_NAME];
    if (role == REPORT_UNTRAINED) /* the title has its attention */
        name = orr_source_attention(&run->settings, name);
    snprintf(label, sizeof label, "%s", name);
    if (!strcmp(name, "softmax"))
        snprintf(label, sizeof label, "Softmax");
    else if (!strcmp(name, "lssar") || !strcmp(name, "lssa"))
        snprintf(label, sizeof label, "%s", strcmp(name, "lssa") ? "LSSAR" : "LSSA");
    switch (role) {
    case REPORT_TRUTH:
        snprintf(source->title, sizeof source->title, "Truth");
        source->colour = "#222222";
        break;
    case REPORT_ORACLE:
        snprintf(source->title, sizeof source->title, "Oracle (KNN)");
        source->colour = "#5b8c2a";
        break;
    case REPORT_ATTENTION:
        snprintf(source->title, sizeof source->title, "GPT (%s)", label);
        break;
    case REPORT_UNTRAINED:
        snprintf(source->title, sizeof source->title, "GPT (untrained, %s)", label);
        source->colour = "#8a8a8a";
        break;
    case REPORT_POSITIONS:
        snprintf(source->title, sizeof source->title, "Positions (no network)");
        source->colour = "#b02a37";
        break;
    case REPORT_OTHER: /* its name is all that is known */
        snprintf(source->title, sizeof source->title, "%s", name);
        break;
    }
    source->r2_log = source->median_relative_error = NAN;
    source->predictions = source->dropped = source->k_dropped_m2 = source->leverage = NAN;
    for (int e = 0; e < 3; e++)
        source->exponent[e] = (struct report_interval){NAN, NAN, NAN};
    run->source_count++;
    return 0;
}

int report_bodies(const struct report_run *run)
{
    const bool eccentric = run->settings.planets.enabled && run->settings.planets.eccentric;
    return eccentric ? REPORT_BODIES : REPORT_PLANETS;
}

int report_body_of(const char *name)
{
    for (int p = 0; p < REPORT_BODIES; p++)
        if (!strcasecmp(name, report_body_name[p]))
            return p;
    return -1;
}

int report_views(const struct report_run *run)
{
    return run->settings.orbits.dimensions == 3 ? REPORT_VIEWS : 1;
}

const char *report_headline_rule(const struct report_run *run)
{
    for (int r = 0; r < run->rules.count; r++)
        if (!strcmp(run->rules.item[r], "best"))
            return "best";
    return run->rules.item[run->rules.count - 1];
}
