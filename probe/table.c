/* table.c - the table of bin/probe's probes, one line each. */
#include "probe.h"

#include <string.h>

const struct probe_command probe_table[] = {
    {"attention", "maps, entropy, sink mass, zeros of every layer and head", probe_attention,
     .takes = "--layer,--head"},
    {"evaluate", "next-state errors (text: loss), trained and changed", probe_evaluate,
     .takes = "--answers,--untrained"},
    {"outputs", "inputs and head outputs as arrays, in fp32", probe_outputs, .takes = "",
     .exact = true},
    {"linear", "physical quantities read out of the residual stream", probe_linear,
     .takes = "--resume,--answers,--untrained", .exact = true, .states = true},
    {"rollout", "errors and drifts of a model's continuation of orbits", probe_rollout,
     .takes = "--resume,--answers,--untrained", .exact = true},
    {"intervene", "whether quantities changed inside move predictions", probe_intervene,
     .takes = "--resume,--answers,--untrained", .exact = true, .states = true},
    {"labels", "R^2 of forces against labelled sequences, label saving", probe_labels,
     .takes = "--resume,--sizes,--steps,--draws,--no-untrained,--answers,--untrained",
     .states = true},
    {"extrapolate", "forces outside the range of r, or m1 m2, of the labels", probe_extrapolate,
     .takes = "--resume,--sizes,--steps,--draws,--no-untrained,--answers,--untrained",
     .states = true},
    {"adaptation", "forces outside the labels, frozen model and fine-tuned", probe_adaptation,
     .takes = "--resume,--sizes,--steps,--draws", .exact = true, .states = true},
    {"length", "errors, entropy, sinks, to 16 times the trained length", probe_length,
     .takes = "--resume", .states = true},
    {"passkey", "keys found in texts up to 16 times as long as trained", probe_passkey,
     .takes = "--resume"},
    {"inductive", "whether random targets are generalised as the state is", probe_inductive,
     .takes = "--resume,--steps,--draws,--answers,--untrained", .states = true},
    {"planets", "next positions and forces of the real planets (VSOP87)", probe_planets,
     .takes = "--resume,--answers,--untrained", .exact = true, .planets = true, .states = true},
    {"ephemeris", "tracks of the real planets, for orbits import (VSOP87)", probe_ephemeris,
     .takes = "", .no_model = true},
    {"export", "what a model of another program is asked", probe_export,
     .takes = "--sizes,--draws,--answers", .no_model = true, .states = true},
    {"answer", "answers of a model of the run, as another program's", probe_answer,
     .takes = "--export,--steps", .exact = true, .states = true},
    {"judge", "all probes that answers allow, and a card: orrery judge", probe_judge,
     .takes = "--resume,--answers,--untrained,--probes", .judges = true,
     .about = "Measures a model of another program by all probes that its answers allow, and\n"
              "writes its card (docs/exchange.md).",
     .usage = "probe judge --run RUN --answers DIR [--untrained DIR] [--probes NAME,NAME]\n"
              "       probe judge --run RUN --answers DIR,DIR [--untrained DIR,DIR] --out DIR",
     .usual = "--answers,--untrained,--probes,--run,--out,--set,--threads,--resume,--quiet,--help",
     .states = true},
    {"lab", "the orbit lab with the networks of a run: orrery lab", probe_lab, .takes = "",
     .no_model = true,
     .about = "Writes the orbit lab with the networks of a run: one HTML file that needs no\n"
              "network and no program (docs/lab.md).",
     .usage = "probe lab --run RUN [--out FILE.html]", .usual = "--run,--out,--quiet,--help"},
    {"seeds", "now: compare seeds FILE.json ...", NULL, .takes = "", .program = "compare"},
    {"grid", "now: compare effects FILE.json ...", NULL, .takes = "--figure", .program = "compare"},
    {.name = NULL},
};

int probe_find(const char *name, const struct probe_command **command)
{
    char known[256] = "", meant[128];
    struct orr_nearest nearest = {0};
    for (*command = probe_table; (*command)->name; ++*command) {
        if (!(*command)->program) /* those that moved are still taken, and not offered */
            orr_append(known, sizeof known, "%s%s", *known ? ", " : "", (*command)->name);
        if (name && !strcmp(name, (*command)->name))
            return 0;
        if (name)
            orr_nearest_offer(&nearest, name, (*command)->name);
    }
    orr_nearest_text(&nearest, meant);
    return name ? ORR_FAIL(ORR_EUSAGE, "unknown probe \"%s\"%s; expected one of %s", name, meant,
                           known)
                : ORR_FAIL(ORR_EUSAGE, "which probe? expected one of %s", known);
}
