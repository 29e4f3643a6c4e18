/* sass.h - the machine code of a kernel as nvdisasm prints it: instructions, their classes, the
 * loops of the control-flow graph, and how many instructions of each class a loop holds.
 *
 * What is counted is static: every instruction of a loop's body once, both sides of a branch too. A
 * piece that is not taken every time is given a name of its own (struct predict_range), and leaves
 * the loop that it lies in. Nothing here knows how often a loop runs. */
#ifndef PREDICT_SASS_H
#define PREDICT_SASS_H

#include "base.h"

/* What an instruction is, by the pipe that executes it (NVIDIA, Nsight Compute's Kernel Profiling
 * Guide, "Pipelines"). Classes from PREDICT_UNIFORM on take a slot of the scheduler, and nothing
 * else that is modelled. */
enum predict_class {
    PREDICT_MMA,     /* matrix products of a warp: HMMA, IMMA */
    PREDICT_WGMMA,   /* of a warp group: HGMMA */
    PREDICT_FP32,    /* FADD, FMUL, FFMA */
    PREDICT_IMAD,    /* products of integers, and moves that are written as such */
    PREDICT_HALF,    /* pairs of halves: HFMA2 */
    PREDICT_FP64,    /* DFMA */
    PREDICT_ALU,     /* integers, logic, comparisons, selections, float to bf16 (F2FP) */
    PREDICT_XU,      /* MUFU, conversions of integers, counts of bits */
    PREDICT_SHARED,  /* LDS, STS, LDSM, and LDGSTS, which is global as well */
    PREDICT_SHUFFLE, /* SHFL */
    PREDICT_GLOBAL,  /* LDG, STG, RED, ATOM */
    PREDICT_LOCAL,   /* LDL, STL: spilled registers */
    PREDICT_UNIFORM, /* the uniform datapath, constants, special registers */
    PREDICT_CONTROL, /* branches, barriers, waits */
    PREDICT_OTHER,   /* opcodes that the table of classes.c does not have */
    PREDICT_CLASSES
};
extern const char *const predict_class_name[PREDICT_CLASSES]; /* "mma", as in files of counts */

/* Counts per warp. */
struct predict_tally {
    double count[PREDICT_CLASSES];                  /* instructions */
    double multiply_adds[2];                        /* of PREDICT_MMA and PREDICT_WGMMA */
    double shared_bytes, global_bytes, local_bytes; /* all lanes active */
};
double predict_tally_instructions(const struct predict_tally *tally);
/* sum += factor * more */
void predict_tally_add(struct predict_tally *sum, const struct predict_tally *more, double factor);

struct predict_instruction {
    unsigned address;
    enum predict_class class;
    struct predict_tally one; /* what it adds to a tally */
    int target;               /* instruction that it may jump to, -1: none */
    bool ends;                /* the next instruction does not follow it */
    int block;                /* basic block */
    int part;                 /* place in predict_code.part */
};

enum { PREDICT_NAME = 64 };
/* A loop, a named range, what is outside of both ("once"), or what nothing leads to but divergent
 * branches ("cold"). */
struct predict_part {
    char name[PREDICT_NAME]; /* loops by address: "1", "2"; inside of the first: "1.1" */
    unsigned from, to;       /* first and last address */
    int depth;               /* loops around it and itself */
    struct predict_tally tally;
};

struct predict_code {
    char *symbol;    /* of the kernel, mangled */
    char target[16]; /* "sm_80" */
    int registers;   /* 0: nvdisasm does not say, as for sm_90 */
    size_t count;
    struct predict_instruction *instruction; /* (count) */
    int parts;
    struct predict_part *part;  /* (parts) */
    char unknown[PREDICT_NAME]; /* first opcode of PREDICT_OTHER, "" when there is none */
};

/* A piece of the code with a name: addresses from `from` to `to`, inclusive. */
struct predict_range {
    char name[PREDICT_NAME];
    unsigned from, to;
};

/* A branch that always goes one way: what it then never leads to is "cold". */
struct predict_branch {
    unsigned address;
    bool taken;
};

/* What is known of the code that its text does not tell. */
struct predict_known {
    const struct predict_range *range; /* (ranges) */
    int ranges;
    const struct predict_branch *branch; /* (branches) */
    int branches;
};

/* Reads the one function of `path`, nvdisasm's text, whose symbol contains `kernel` ("": any), and
 * its loops. known: NULL, or what the text does not tell. ORR_EMISSING: no such function;
 * ORR_EINVAL: several, or no branch at an address of `known`; ORR_EFORMAT, with line or address: no
 * text of nvdisasm, a jump through a register, a loop that is entered in two places. */
int predict_code_read(struct predict_code *code, const char *path, const char *kernel,
                      const struct predict_known *known);
void predict_code_free(struct predict_code *code); /* also of an empty one */

/* ---- steps of predict_code_read(), each in a file of its own */

/* classes.c: the class of an opcode such as "LDGSTS.E.BYPASS.128", and what it adds to a tally;
 * operands: the text after it. */
enum predict_class predict_classify(const char *opcode, const char *operands,
                                    struct predict_tally *one);
/* flow.c: fills in block and part of the instructions, and the parts. */
int predict_flow(struct predict_code *code, const char *path, const struct predict_known *known);

/* ---- files of counts (JSON, docs/predict.md) */

/* Adds the parts under `name` to the file, in place of those that it has there; makes the file.
 * `source` says what the code is of. */
int predict_counts_write(const struct predict_code *code, const char *path, const char *name,
                         const char *source);
/* Reads the parts of the kernel `name`: *part (*parts), which the caller frees. */
int predict_counts_read(const char *path, const char *name, struct predict_part **part, int *parts);

#endif
