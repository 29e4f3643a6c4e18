/* main_predict.c - tools/predict: times of GPU kernels from their machine code and published rates.
 *
 * A tool for those who change kernels, beside the programs: `make predict` builds it. */
#include "predict.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: tools/predict table DESCRIPTION.json [--kernels] [--only TEXT]\n"
    "       tools/predict loops CODE.sass [--kernel TEXT] [--part NAME=FROM-TO]...\n"
    "                     [--taken ADDRESS]... [--never ADDRESS]... [--blocks]\n"
    "                     [--tile ELEMENTS] [--into COUNTS.json --as NAME --source TEXT]\n"
    "       tools/predict limits LIMITS.json COUNTS.json\n"
    "       tools/predict machines\n"
    "\n"
    "table     predicted times of a description's cases, beside what is known; every line says\n"
    "          that it is predicted\n"
    "  --kernels         a line for each kernel as well, with the ms of each pipe\n"
    "  --only TEXT       cases whose names contain it\n"
    "loops     loops of a kernel, from the text of nvdisasm -c, and what they hold\n"
    "  --kernel TEXT     the function whose symbol contains it\n"
    "  --part NAME=A-B   addresses A to B, hexadecimal, inclusive, are a part of their own\n"
    "  --taken A, --never A    the branch at address A always or never jumps: what it then does "
    "not\n"
    "                    lead to is the part \"cold\"; also a list, A,B,...\n"
    "  --blocks          basic blocks as well, with the branches at their ends\n"
    "  --tile ELEMENTS   counts per lane element of a tile of so many: a warp's counts over\n"
    "                    ELEMENTS / 32\n"
    "  --into, --as, --source    writes the counts to a file, under a name, saying of what they "
    "are\n"
    "limits    holds counts against limits (predict/limits.json); status 1 beyond them\n"
    "machines  rates of the GPUs that are known, and their sources\n";

enum { RANGES = 32, BRANCHES = 128 };
struct command {
    struct predict_options table;
    const char *file, *kernel, *into, *as, *source;
    double tile;
    bool blocks;
    struct predict_range range[RANGES];
    struct predict_branch branch[BRANCHES];
    int ranges, branches;
};

/* NAME=FROM-TO */
static int read_range(struct command *c, const char *text)
{
    struct predict_range *r = &c->range[c->ranges];
    const char *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : 0;
    char *end = NULL;
    if (c->ranges == RANGES)
        return ORR_FAIL(ORR_EUSAGE, "--part: more than %d", (int)RANGES);
    if (length > 0 && length < sizeof r->name) {
        snprintf(r->name, sizeof r->name, "%.*s", (int)length, text);
        r->from = (unsigned)strtoul(equals + 1, &end, 16);
        r->to = *end == '-' ? (unsigned)strtoul(end + 1, &end, 16) : 0;
    }
    if (!end || *end || r->to < r->from)
        return ORR_FAIL(ORR_EUSAGE,
                        "--part: expected NAME=FROM-TO, addresses in hexadecimal; found \"%s\"",
                        text);
    c->ranges++;
    return 0;
}

/* ADDRESS,ADDRESS,... */
static int read_branches(struct command *c, const char *text, bool taken)
{
    for (const char *at = text; at;) {
        char *end;
        const unsigned long address = strtoul(at, &end, 16);
        if (end == at || (*end && *end != ','))
            return ORR_FAIL(ORR_EUSAGE,
                            "--taken, --never: expected addresses in hexadecimal; found \"%s\"",
                            text);
        if (c->branches == BRANCHES)
            return ORR_FAIL(ORR_EUSAGE, "--taken, --never: more than %d", (int)BRANCHES);
        c->branch[c->branches++] = (struct predict_branch){(unsigned)address, taken};
        at = *end ? end + 1 : NULL;
    }
    return 0;
}

static int read_option(struct command *c, const char *name, const char *value)
{
    const char **const text = !strcmp(name, "--kernel")   ? &c->kernel
                              : !strcmp(name, "--into")   ? &c->into
                              : !strcmp(name, "--as")     ? &c->as
                              : !strcmp(name, "--source") ? &c->source
                              : !strcmp(name, "--only")   ? &c->table.only
                                                          : NULL;
    const bool part = !strcmp(name, "--part"), tile = !strcmp(name, "--tile");
    const bool taken = !strcmp(name, "--taken"), never = !strcmp(name, "--never");
    if (!text && !part && !tile && !taken && !never)
        return ORR_FAIL(ORR_EUSAGE, "unknown option %s; see tools/predict --help", name);
    if (!value)
        return ORR_FAIL(ORR_EUSAGE, "%s needs a value", name);
    if (part)
        return read_range(c, value);
    if (taken || never)
        return read_branches(c, value, taken);
    if (text) {
        *text = value;
        return 0;
    }
    char *end;
    c->tile = strtod(value, &end);
    if (*end || !(c->tile > 0))
        return ORR_FAIL(ORR_EUSAGE, "--tile: expected a positive number; found \"%s\"", value);
    return 0;
}

static int read_command(struct command *c, int argc, char **argv)
{
    c->kernel = "";
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--kernels")) {
            c->table.kernels = true;
        } else if (!strcmp(argv[i], "--blocks")) {
            c->blocks = true;
        } else if (!strncmp(argv[i], "--", 2)) {
            TRY(read_option(c, argv[i], i + 1 < argc ? argv[i + 1] : NULL));
            i++;
        } else if (c->file) {
            return ORR_FAIL(ORR_EUSAGE, "one file at a time: %s, then %s", c->file, argv[i]);
        } else {
            c->file = argv[i];
        }
    }
    if (!c->file)
        return ORR_FAIL(ORR_EUSAGE, "%s: which file? See tools/predict --help", argv[1]);
    if ((c->into != NULL) != (c->as != NULL) || (c->into != NULL) != (c->source != NULL))
        return ORR_FAIL(ORR_EUSAGE, "--into, --as and --source go together");
    return 0;
}

static void print_part(const struct predict_part *p, double over)
{
    const struct predict_tally *t = &p->tally;
    printf("| %s | %d | %04x-%04x | %.4g", p->name, p->depth, p->from, p->to,
           predict_tally_instructions(t) / over);
    for (int k = 0; k < PREDICT_CLASSES; k++)
        printf(" | %.4g", t->count[k] / over);
    printf(" | %.4g | %.4g | %.4g |\n", t->shared_bytes / over, t->global_bytes / over,
           t->local_bytes / over);
}

static void print_blocks(const struct predict_code *code)
{
    printf("\n| block | part | instructions | mma | xu | then |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < code->count;) {
        const size_t first = i;
        struct predict_tally sum = {0};
        for (; i < code->count && code->instruction[i].block == code->instruction[first].block; i++)
            predict_tally_add(&sum, &code->instruction[i].one, 1);
        const struct predict_instruction *last = &code->instruction[i - 1];
        printf("| %04x-%04x | %s | %g | %g | %g | ", code->instruction[first].address,
               last->address, code->part[last->part].name, predict_tally_instructions(&sum),
               sum.count[PREDICT_MMA], sum.count[PREDICT_XU]);
        if (last->target >= 0)
            printf("%s %04x", last->ends ? "goes to" : "may go to",
                   code->instruction[last->target].address);
        else
            printf("%s", last->ends ? "ends" : "");
        printf(" |\n");
    }
}

static int loops(const struct command *c)
{
    struct predict_code code;
    const struct predict_known known = {c->range, c->ranges, c->branch, c->branches};
    TRY(predict_code_read(&code, c->file, c->kernel, &known));
    printf("%s, %s", code.symbol, *code.target ? code.target : "of a target that is not stated");
    if (code.registers)
        printf(", %d registers", code.registers);
    printf("\n%s\n\n", c->tile > 0 ? "Counts of a warp per lane element of the tile:"
                                   : "Counts of a warp, every instruction once:");
    printf("| part | depth | addresses | all");
    for (int k = 0; k < PREDICT_CLASSES; k++)
        printf(" | %s", predict_class_name[k]);
    printf(" | shared bytes | global bytes | local bytes |\n|---|---|---|---|");
    for (int k = 0; k < PREDICT_CLASSES + 3; k++)
        printf("---|");
    printf("\n");
    for (int p = 0; p < code.parts; p++)
        print_part(&code.part[p], c->tile > 0 ? c->tile / 32 : 1);
    if (*code.unknown)
        printf("\nnote: %s and other opcodes of the class \"other\" are not in predict/classes.c\n",
               code.unknown);
    if (c->blocks)
        print_blocks(&code);
    const int rc = c->into ? predict_counts_write(&code, c->into, c->as, c->source) : 0;
    predict_code_free(&code);
    return rc;
}

static void machines(void)
{
    printf("| GPU | multiprocessors | GHz | mma, wgmma: multiply-adds | float | integer products |"
           " half, pairs | double | integers | special | shuffle | shared, B | L2, B | DRAM, GB/s |"
           " source |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const struct predict_machine *m = predict_machines; m->name; m++)
        printf(
            "| %s | %g | %g | %.0f, %g | %g | %g | %g | %g | %g | %g | %g | %g | %g | %g | %s |\n",
            m->name, m->multiprocessors, m->clock_ghz, m->mma, m->wgmma, m->fp32, m->imad, m->half,
            m->fp64, m->alu, m->xu, m->shuffle, m->shared_bytes, m->l2_bytes, m->dram_gbs,
            m->source);
}

static int run(int argc, char **argv)
{
    static struct command c;
    if (argc < 2)
        return ORR_FAIL(ORR_EUSAGE, "which command? table, loops, limits or machines; see --help");
    if (!strcmp(argv[1], "--help")) {
        fputs(usage, stdout);
        return 0;
    }
    if (!strcmp(argv[1], "machines") && argc == 2) {
        machines();
        return 0;
    }
    if (!strcmp(argv[1], "limits")) {
        if (argc != 4)
            return ORR_FAIL(ORR_EUSAGE, "limits: expected LIMITS.json COUNTS.json");
        return predict_limits(argv[2], argv[3]);
    }
    const bool is_table = !strcmp(argv[1], "table");
    if (!is_table && strcmp(argv[1], "loops"))
        return ORR_FAIL(ORR_EUSAGE,
                        "unknown command \"%s\"; expected table, loops, limits or machines",
                        argv[1]);
    TRY(read_command(&c, argc, argv));
    c.table.path = c.file;
    return is_table ? predict_table(&c.table) : loops(&c);
}

int main(int argc, char **argv)
{
    return orr_error_exit("predict", run(argc, argv));
}
