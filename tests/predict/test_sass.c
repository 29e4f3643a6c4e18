/* test_sass.c - loops and counts of machine code: of a small kernel as nvcc compiled it, and of
 * texts by hand, whose instructions are counted by eye. */
#include "sass.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <cmocka.h>

static char folder[] = "/tmp/orrery-predict-XXXXXX", path[64], counts[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/code.sass", mkdtemp(folder) ? folder : "");
    snprintf(counts, sizeof counts, "%s/counts.json", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    unlink(counts);
    return rmdir(folder);
}

static void write_text(const char *text)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

static const struct predict_part *part_of(const struct predict_code *code, const char *name)
{
    for (int p = 0; p < code->parts; p++)
        if (!strcmp(code->part[p].name, name))
            return &code->part[p];
    fail_msg("no part %s", name);
    return NULL;
}

static void assert_count(const struct predict_code *code, const char *part,
                         enum predict_class class, double expected)
{
    const double found = part_of(code, part)->tally.count[class];
    if (found != expected)
        fail_msg("part %s: %g of class %s, expected %g", part, found, predict_class_name[class],
                 expected);
}

/* ---- the kernel of small.cu */

static void small_kernel(void **state)
{
    (void)state;
    struct predict_code code;
    assert_int_equal(predict_code_read(&code, "tests/predict/small.sass", "small", NULL), 0);
    assert_string_equal(code.symbol, "small");
    assert_string_equal(code.target, "sm_80");
    assert_true(code.registers > 0);
    assert_string_equal(code.unknown, "");
    const struct predict_part *inner = part_of(&code, "1.1"), *outer = part_of(&code, "1");
    assert_int_equal(inner->depth, 2);
    assert_int_equal(outer->depth, 1);
    assert_true(inner->from > outer->from && inner->to < outer->to);
    assert_count(&code, "1.1", PREDICT_MMA, 2);
    assert_true(inner->tally.multiply_adds[PREDICT_MMA] == 2 * 16 * 8 * 16);
    assert_count(&code, "1.1", PREDICT_XU, 2);
    assert_count(&code, "1.1", PREDICT_SHARED, 1);
    assert_true(inner->tally.shared_bytes == 16 * 32);
    assert_count(&code, "1.1", PREDICT_FP32, 3); /* two products, one multiply-add */
    assert_count(&code, "1.1", PREDICT_GLOBAL, 0);
    assert_count(&code, "1", PREDICT_GLOBAL, 2);
    assert_true(outer->tally.global_bytes == 2 * 4 * 32);
    assert_count(&code, "1", PREDICT_FP32, 3); /* the sum of four */
    assert_count(&code, "1", PREDICT_MMA, 0);
    assert_count(&code, "once", PREDICT_SHARED, 2);
    assert_true(part_of(&code, "once")->tally.shared_bytes == 2 * 16 * 32);
    double all = 0;
    for (int p = 0; p < code.parts; p++)
        all += predict_tally_instructions(&code.part[p].tally);
    assert_true(all == (double)code.count);
    predict_code_free(&code);
}

/* ---- by hand */

#define HEAD(NAME)           "\t.target\tsm_80\n\t.section\t.text." NAME ",\"ax\",@progbits\n"
#define LINE(ADDRESS, WORDS) "        /*" ADDRESS "*/                   " WORDS " ;\n"

/* 0000 once, 0010 - 0090 a loop with the loop 0030 - 0050 in it, a branch around 0060 and 0070, and
 * code that divergent warps alone reach, behind the end. */
static const char by_hand[] =
    HEAD("first") LINE("0000", "EXIT") "//--------------------- .text.second\n" HEAD("second")
        LINE("0000", "MOV R1, RZ") ".L_x_0:\n" LINE("0010", "FADD R1, R1, R2")
            LINE("0020", "BRA.DIV ~URZ, `(.L_x_9)") ".L_x_1:\n" LINE("0030", "MUFU.EX2 R1, R1")
                LINE("0040", "@!PT LDS RZ, [RZ]") LINE("0050", "@P0 BRA `(.L_x_1)")
                    LINE("0058", "@!P1 BRA `(.L_x_2)") LINE("0060", "LDL R4, [R1]")
                        LINE("0070", "STL.64 [R1], R4") ".L_x_2:\n" LINE(
                            "0080", "CALL.REL.NOINC `($__internal_0_$__slowpath)")
                            LINE("0090", "BRA P2, `(.L_x_0)") LINE("00a0", "EXIT") ".L_x_9:\n" LINE(
                                "00b0", "SHFL.BFLY PT, R1, R1, 0x1, 0x1f")
                                LINE("00c0", "BRA `(.L_x_1)") "$__internal_0_$__slowpath:\n" LINE(
                                    "00d0", "RET.REL R2");

static void loops_by_hand(void **state)
{
    (void)state;
    struct predict_code code;
    write_text(by_hand);
    assert_int_equal(predict_code_read(&code, path, "second", NULL), 0);
    assert_int_equal(code.parts, 4);
    assert_count(&code, "1.1", PREDICT_XU, 1);
    assert_count(&code, "1.1", PREDICT_CONTROL, 2); /* the branch, and what is never done */
    assert_true(part_of(&code, "1.1")->tally.shared_bytes == 0);
    assert_count(&code, "1", PREDICT_FP32, 1);
    assert_count(&code, "1", PREDICT_LOCAL, 2);
    assert_true(part_of(&code, "1")->tally.local_bytes == 4 * 32 + 8 * 32);
    assert_count(&code, "1", PREDICT_CONTROL, 4); /* BRA.DIV, BRA, CALL, BRA */
    assert_count(&code, "once", PREDICT_ALU, 1);
    assert_count(&code, "once", PREDICT_CONTROL, 1);
    assert_count(&code, "cold", PREDICT_SHUFFLE, 1);
    assert_count(&code, "cold", PREDICT_CONTROL, 2);
    predict_code_free(&code);
}

/* A named range leaves its loop; a branch that is always taken makes what it skips cold; one that
 * never is ends the loop. */
static void what_is_known_of_branches(void **state)
{
    (void)state;
    struct predict_code code;
    const struct predict_range range[] = {{"spills", 0x60, 0x70}, {"spills", 0x30, 0x30}};
    const struct predict_branch taken = {0x58, true}, never = {0x50, false}, none = {0x80, true};
    write_text(by_hand);
    const struct predict_known ranges = {.range = range, .ranges = 2};
    assert_int_equal(predict_code_read(&code, path, "second", &ranges), 0);
    assert_count(&code, "spills", PREDICT_LOCAL, 2);
    assert_count(&code, "spills", PREDICT_XU, 1);
    assert_count(&code, "1", PREDICT_LOCAL, 0);
    predict_code_free(&code);
    const struct predict_known skip = {.branch = &taken, .branches = 1};
    assert_int_equal(predict_code_read(&code, path, "second", &skip), 0);
    assert_count(&code, "1", PREDICT_LOCAL, 0);
    assert_count(&code, "cold", PREDICT_LOCAL, 2);
    predict_code_free(&code);
    const struct predict_known once = {.branch = &never, .branches = 1};
    assert_int_equal(predict_code_read(&code, path, "second", &once), 0);
    assert_count(&code, "1", PREDICT_XU, 1);
    predict_code_free(&code);
    const struct predict_known wrong = {.branch = &none, .branches = 1};
    assert_int_equal(predict_code_read(&code, path, "second", &wrong), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "address 0080: expected a branch"));
}

static void texts_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *kernel, *says;
        int status;
    } wrong[] = {
        {"nothing of the kind\n", "", "no function", ORR_EMISSING},
        {HEAD("one") LINE("0000", "EXIT") HEAD("one_more") LINE("0000", "EXIT"), "one",
         "2 functions have \"one\"", ORR_EINVAL},
        {HEAD("one"), "one", ":2: the function has no instructions", ORR_EFORMAT},
        {HEAD("one") LINE("0000", "BRX R2 -0x10"), "one", ":3: BRX jumps through a register",
         ORR_EFORMAT},
        {HEAD("one") LINE("0000", "BRA `(.L_x_7)"), "one", ":3: no label \".L_x_7\"", ORR_EFORMAT},
        {HEAD("one") LINE("0000", "@P0 "), "one", ":3: expected an opcode", ORR_EFORMAT},
        {HEAD("one") LINE("0000", "@P0 BRA `(.L_b)") ".L_a:\n" LINE("0010", "NOP") ".L_b:\n" LINE(
             "0020", "@P1 BRA `(.L_a)") LINE("0030", "EXIT"),
         "one", "entered in two places", ORR_EFORMAT},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct predict_code code;
        write_text(wrong[i].text);
        assert_int_equal(predict_code_read(&code, path, wrong[i].kernel, NULL), wrong[i].status);
        if (!strstr(orr_error(), wrong[i].says))
            fail_msg("found \"%s\", expected \"%s\"", orr_error(), wrong[i].says);
        assert_null(code.instruction);
    }
}

/* ---- opcodes */

static void opcodes_have_classes(void **state)
{
    (void)state;
    static const struct {
        const char *opcode;
        enum predict_class class;
        double multiply_adds, shared, global, local;
    } rows[] = {
        {"HMMA.16816.F32.BF16", PREDICT_MMA, 2048, 0, 0, 0},
        {"HMMA.1688.F32", PREDICT_MMA, 1024, 0, 0, 0},
        {"HMMA.4711", PREDICT_OTHER, 0, 0, 0, 0},
        {"FFMA.FTZ", PREDICT_FP32, 0, 0, 0, 0},
        {"IMAD.MOV.U32", PREDICT_IMAD, 0, 0, 0, 0},
        {"HFMA2.BF16_V2", PREDICT_HALF, 0, 0, 0, 0},
        {"FMNMX", PREDICT_ALU, 0, 0, 0, 0},
        {"F2FP.BF16.F32.PACK_AB", PREDICT_ALU, 0, 0, 0, 0},
        {"F2I.FTZ.U32.TRUNC.NTZ", PREDICT_XU, 0, 0, 0, 0},
        {"LDSM.16.MT88.4", PREDICT_SHARED, 0, 512, 0, 0},
        {"LDSM.16.M88.2", PREDICT_SHARED, 0, 256, 0, 0},
        {"LDSM.16.M88", PREDICT_SHARED, 0, 128, 0, 0},
        {"LDS.U16", PREDICT_SHARED, 0, 64, 0, 0},
        {"STS.128", PREDICT_SHARED, 0, 512, 0, 0},
        {"LDGSTS.E.BYPASS.LTC128B.128", PREDICT_SHARED, 0, 512, 512, 0},
        {"LDGSTS.E.LTC128B", PREDICT_SHARED, 0, 128, 128, 0},
        {"RED.E.ADD.F32.FTZ.RN.STRONG.GPU", PREDICT_GLOBAL, 0, 0, 128, 0},
        {"STG.E.U8", PREDICT_GLOBAL, 0, 0, 32, 0},
        {"LDL.LU.64", PREDICT_LOCAL, 0, 0, 0, 256},
        {"ULDC.64", PREDICT_UNIFORM, 0, 0, 0, 0},
        {"BAR.SYNC.DEFER_BLOCKING", PREDICT_CONTROL, 0, 0, 0, 0},
        {"NEVERHEARDOF.X", PREDICT_OTHER, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct predict_tally one;
        const enum predict_class class = predict_classify(rows[i].opcode, "", &one);
        if (class != rows[i].class)
            fail_msg("%s is of class %s", rows[i].opcode, predict_class_name[class]);
        assert_true(one.count[class] == 1 && predict_tally_instructions(&one) == 1);
        assert_true(one.multiply_adds[0] + one.multiply_adds[1] == rows[i].multiply_adds);
        assert_true(one.shared_bytes == rows[i].shared && one.global_bytes == rows[i].global &&
                    one.local_bytes == rows[i].local);
    }
}

/* B is read from shared memory, and A where it has no registers; a quarter for each of four
 * warps. */
static void products_of_four_warps(void **state)
{
    (void)state;
    static const struct {
        const char *opcode, *operands;
        double multiply_adds, shared;
    } rows[] = {
        {"HGMMA.64x128x16.F32.BF16", "R24, gdesc[UR4], R24 ;", 64 * 128 * 16 / 4,
         2 * 16 * (128 + 64) / 4},
        {"HGMMA.64x32x16.F32.BF16", "R120, R56, gdesc[UR8].tnspB, R120, gsb0 ;", 64 * 32 * 16 / 4,
         2 * 16 * 32 / 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct predict_tally one;
        assert_int_equal(predict_classify(rows[i].opcode, rows[i].operands, &one), PREDICT_WGMMA);
        assert_true(one.multiply_adds[PREDICT_WGMMA] == rows[i].multiply_adds);
        assert_true(one.shared_bytes == rows[i].shared);
    }
}

/* ---- files of counts */

static void counts_come_back(void **state)
{
    (void)state;
    struct predict_code code;
    struct predict_part *part;
    int parts;
    assert_int_equal(predict_code_read(&code, "tests/predict/small.sass", "small", NULL), 0);
    assert_int_equal(predict_counts_write(&code, counts, "small.sm_80", "small.cu"), 0);
    assert_int_equal(predict_counts_write(&code, counts, "again.sm_80", "small.cu"), 0);
    assert_int_equal(predict_counts_read(counts, "small.sm_80", &part, &parts), 0);
    assert_int_equal(parts, code.parts);
    for (int p = 0; p < parts; p++) {
        assert_string_equal(part[p].name, code.part[p].name);
        assert_memory_equal(&part[p].tally, &code.part[p].tally, sizeof part->tally);
    }
    free(part);
    assert_int_equal(predict_counts_read(counts, "other.sm_80", &part, &parts), ORR_EMISSING);
    assert_non_null(strstr(orr_error(), "other.sm_80"));
    write_text("{\"kernels\": {\"a\": {\"parts\": [{\"part\": \"1\", \"mmma\": 2}]}}}");
    assert_int_equal(predict_counts_read(path, "a", &part, &parts), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "unknown key \"mmma\""));
    write_text("{\"kernels\": {\"a\": {\"parts\": [{\"part\": \"1\", \"mma\": -2}]}}}");
    assert_int_equal(predict_counts_read(path, "a", &part, &parts), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "\"mma\" must be a number"));
    predict_code_free(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_kernel),
        cmocka_unit_test(loops_by_hand),
        cmocka_unit_test(what_is_known_of_branches),
        cmocka_unit_test(texts_that_are_refused),
        cmocka_unit_test(opcodes_have_classes),
        cmocka_unit_test(products_of_four_warps),
        cmocka_unit_test(counts_come_back),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
