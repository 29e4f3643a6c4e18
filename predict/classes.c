/* classes.c - which pipe an opcode belongs to, and how much work it is.
 *
 * By NVIDIA's Nsight Compute Kernel Profiling Guide, "Pipelines": ALU has integers but for
 * products, logic, comparisons and, on Ampere, fast conversion of float to half; FMA has float
 * arithmetic and products of integers; XU has transcendental functions and conversions between
 * integers and floats. */
#include "sass.h"

#include <stdlib.h>
#include <string.h>

const char *const predict_class_name[PREDICT_CLASSES] = {
    "mma",    "wgmma",   "fp32",   "imad",  "half",    "fp64",    "alu",  "xu",
    "shared", "shuffle", "global", "local", "uniform", "control", "other"};

/* Opcodes up to their first dot; all of a class in one text, with spaces around each. */
static const char alu[] =
    " IADD3 IADD IADD32I IABS IMNMX ISETP ICMP ISCADD LEA LOP LOP3 LOP32I SHF SHL SHR"
    " SEL PRMT MOV MOV32I VIADD VIMNMX VIMNMX3 VIADDMNMX VABSDIFF VABSDIFF4 PLOP3"
    " P2R R2P BMSK SGXT FMNMX FSEL FSETP FSET FCHK F2FP HMNMX2 HSETP2 HSET2 VOTE ";
static const char control[] =
    " BRA BRX JMP CALL RET EXIT BSSY BSYNC BREAK BMOV BAR WARPSYNC NOP DEPBAR"
    " LDGDEPBAR YIELD NANOSLEEP MEMBAR ERRBAR CGAERRBAR CCTL CCTLL BPT KILL WARPGROUP"
    " FENCE SYNCS ELECT ENDCOLLECTIVE ";
static const char *const opcodes[PREDICT_CLASSES] = {
    [PREDICT_MMA] = " HMMA IMMA ",
    [PREDICT_WGMMA] = " HGMMA IGMMA QGMMA ",
    [PREDICT_FP32] = " FADD FMUL FFMA FADD32I FMUL32I FFMA32I FSWZADD ",
    [PREDICT_IMAD] = " IMAD IMUL IDP IDP4A XMAD ",
    [PREDICT_HALF] = " HADD2 HMUL2 HFMA2 HADD2_32I HMUL2_32I HFMA2_32I ",
    [PREDICT_FP64] = " DADD DMUL DFMA DSETP DMNMX DMMA ",
    [PREDICT_ALU] = alu,
    [PREDICT_XU] = " MUFU F2F F2I I2F I2I I2FP F2IP FRND POPC FLO BREV ",
    [PREDICT_SHARED] = " LDS STS LDSM STSM ATOMS LDGSTS ",
    [PREDICT_SHUFFLE] = " SHFL ",
    [PREDICT_GLOBAL] = " LDG STG LD ST RED REDG ATOM ATOMG ",
    [PREDICT_LOCAL] = " LDL STL ",
    [PREDICT_UNIFORM] = " LDC LDCU CS2R S2R S2UR R2UR VOTEU REDUX ",
    [PREDICT_CONTROL] = control,
};

/* Whether one of the parts between dots is `word`. */
static bool has(const char *opcode, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = strchr(opcode, '.'); at; at = strchr(at + 1, '.'))
        if (!strncmp(at + 1, word, length) && (at[1 + length] == '.' || !at[1 + length]))
            return true;
    return false;
}

/* Bytes of a warp, all lanes active. */
static double bytes_of(const char *opcode)
{
    enum { LANES = 32, MATRIX = 128 /* 8 x 8 of 16 bits */ };
    if (!strncmp(opcode, "LDSM", 4) || !strncmp(opcode, "STSM", 4))
        return has(opcode, "4") ? 4 * MATRIX : has(opcode, "2") ? 2 * MATRIX : MATRIX;
    if (has(opcode, "128"))
        return 16 * LANES;
    if (has(opcode, "64"))
        return 8 * LANES;
    if (has(opcode, "U16") || has(opcode, "S16"))
        return 2 * LANES;
    return (has(opcode, "U8") || has(opcode, "S8") ? 1 : 4) * LANES;
}

/* Rows, columns and depth of "HGMMA.64x128x16.F32"; zeros where the opcode does not say. */
static void shape_of(const char *opcode, double shape[3])
{
    const char *at = strchr(opcode, '.');
    char *end = NULL;
    shape[0] = at ? strtod(at + 1, &end) : 0;
    for (int i = 1; i < 3; i++)
        shape[i] = shape[i - 1] > 0 && *end == 'x' ? strtod(end + 1, &end) : 0;
}

/* Multiply-adds of a warp: of "HMMA.16816.F32.BF16" 16 x 8 x 16; of "HGMMA.64x128x16.F32", which
 * four warps issue together, a quarter. 0: a shape that is not known. */
static double multiply_adds_of(const char *opcode)
{
    static const struct {
        const char *name;
        double number;
    } shapes[] = {{"16816", 16 * 8 * 16},
                  {"1688", 16 * 8 * 8},
                  {"1684", 16 * 8 * 4},
                  {"16832", 16 * 8 * 32},
                  {"16864", 16 * 8 * 64}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (has(opcode, shapes[i].name))
            return shapes[i].number;
    double shape[3];
    shape_of(opcode, shape);
    return shape[0] * shape[1] * shape[2] / 4;
}

/* A quarter of what the four warps of "HGMMA.64x128x16 R24, gdesc[UR4], R24" read of 16-bit
 * numbers: B always, A where it has no registers. */
static double wgmma_bytes_of(const char *opcode, const char *operands)
{
    double shape[3];
    shape_of(opcode, shape);
    const char *a = strchr(operands, ',');
    const bool shared = a && !strncmp(a + 1 + strspn(a + 1, " "), "gdesc[", 6);
    return 2 * shape[2] * (shape[1] + (shared ? shape[0] : 0)) / 4;
}

enum predict_class predict_classify(const char *opcode, const char *operands,
                                    struct predict_tally *one)
{
    *one = (struct predict_tally){0};
    char word[PREDICT_NAME];
    snprintf(word, sizeof word, " %.*s ", (int)strcspn(opcode, "."), opcode);
    int class = 0;
    while (class < PREDICT_OTHER && !strstr(opcodes[class], word))
        class ++;
    if (class == PREDICT_OTHER && word[1] == 'U') /* UIADD3, ULDC and the like */
        class = PREDICT_UNIFORM;
    const double bytes = bytes_of(opcode);
    switch (class) {
    case PREDICT_MMA:
    case PREDICT_WGMMA:
        one->multiply_adds[class] = multiply_adds_of(opcode);
        if (one->multiply_adds[class] <= 0)
            class = PREDICT_OTHER;
        if (class == PREDICT_WGMMA)
            one->shared_bytes = wgmma_bytes_of(opcode, operands);
        break;
    case PREDICT_SHARED:
        one->shared_bytes = bytes;
        if (!strcmp(word, " LDGSTS "))
            one->global_bytes = bytes;
        break;
    case PREDICT_GLOBAL:
        one->global_bytes = bytes;
        break;
    case PREDICT_LOCAL:
        one->local_bytes = bytes;
        break;
    default:
        break;
    }
    one->count[class] = 1;
    return (enum predict_class) class;
}

double predict_tally_instructions(const struct predict_tally *tally)
{
    double sum = 0;
    for (int i = 0; i < PREDICT_CLASSES; i++)
        sum += tally->count[i];
    return sum;
}

void predict_tally_add(struct predict_tally *sum, const struct predict_tally *more, double factor)
{
    for (int i = 0; i < PREDICT_CLASSES; i++)
        sum->count[i] += factor * more->count[i];
    for (int i = 0; i < 2; i++)
        sum->multiply_adds[i] += factor * more->multiply_adds[i];
    sum->shared_bytes += factor * more->shared_bytes;
    sum->global_bytes += factor * more->global_bytes;
    sum->local_bytes += factor * more->local_bytes;
}
