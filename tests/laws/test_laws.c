/* test_laws.c - whole runs: laws of a run directory from forces of every source, --resume, broken
 * inputs; and any CSV table. */
#include "symreg/formulas.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cjson/cJSON.h>

#include "laws.h"
#include "symreg/table/program.h"

enum { SAMPLES = 2, ROWS = 60, SOURCES = 4 };
static const char *const source_name[SOURCES] = {"truth", "oracle", "softmax", "untrained"};

/* A run directory with forces of four sources, settings, and a file that takes standard output. */
struct fixture {
    char dir[64], laws[4096], printed[4096];
    struct orr_cli cli;
};

static void path_of(char path[4096], const struct fixture *f, const char *source)
{
    assert_int_equal(orr_path(path, "%s/run/%s/finetune/forces_magnitude.csv", f->dir, source), 0);
}

/* truth is exact, oracle and softmax have noise, untrained knows only a constant. */
static void write_forces(const struct fixture *f, int source)
{
    char folder[4096], path[4096];
    FILE *stream;
    gsl_rng *rng = random_stream(81), *noise = random_stream(82 + (uint64_t)source);
    assert_int_equal(orr_path(folder, "%s/run/%s/finetune", f->dir, source_name[source]), 0);
    assert_int_equal(orr_mkdir(folder), 0);
    path_of(path, f, source_name[source]);
    assert_non_null(stream = fopen(path, "w"));
    fprintf(stream, "sample,sequence,step,r,m1,m2,dt,F_true,F\n");
    for (int i = 0; i < SAMPLES * ROWS; i++) {
        const double r = 0.6 + 2.4 * gsl_rng_uniform(rng), m1 = 0.1 + 1.9 * gsl_rng_uniform(rng),
                     m2 = 0.1 + 1.9 * gsl_rng_uniform(rng), truth = 39.4784 * m1 * m2 / (r * r);
        const double wrong = source == 3 ? 20 + gsl_ran_gaussian(noise, 15)
                                         : truth * (1 + 0.1 * source * gsl_ran_ugaussian(noise));
        fprintf(stream, "%d,%d,%d,%.9g,%.9g,%.9g,0.04,%.9g,%.9g\n", i % SAMPLES, i / 6, 8 + i % 6,
                r, m1, m2, truth, source ? wrong : truth);
    }
    assert_int_equal(fclose(stream), 0);
    gsl_rng_free(rng);
    gsl_rng_free(noise);
}

static void set(struct fixture *f, const char *assignment)
{
    if (orr_settings_set(&f->cli.settings, assignment))
        fail_msg("%s: %s", assignment, orr_error());
}

static int create(void **state)
{
    static struct fixture fixture;
    struct fixture *f = &fixture;
    *state = f;
    memset(f, 0, sizeof *f);
    scratch_create(f->dir);
    orr_settings_defaults(&f->cli.settings);
    snprintf(f->cli.settings.name, sizeof f->cli.settings.name, "tiny");
    scratch_path(f->cli.run, f->dir, "run");
    scratch_path(f->laws, f->dir, "run/laws");
    scratch_path(f->printed, f->dir, "printed");
    set(f, "attention=softmax");
    set(f, "symreg.unary=inv");
    set(f, "symreg.iterations=8");
    set(f, "symreg.populations=3");
    set(f, "symreg.cycles=80");
    set(f, "symreg.restarts=1");
    set(f, "symreg.enumerate=20000");
    f->cli.threads = 2;
    f->cli.quiet = true;
    for (int s = 0; s < SOURCES; s++)
        write_forces(f, s);
    return 0;
}

static int discard(void **state)
{
    const struct fixture *f = *state;
    scratch_remove(f->dir);
    return 0;
}

/* Runs with standard output in f->printed. */
static int quietly(struct fixture *f, int (*run)(struct fixture *f))
{
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    const int file = open(f->printed, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(kept >= 0 && file >= 0 && dup2(file, STDOUT_FILENO) >= 0);
    const int rc = run(f);
    fflush(stdout);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    close(file);
    return rc;
}

static int laws(struct fixture *f)
{
    return laws_run(&f->cli, "", "", "laws");
}

static char *content(const char *dir, const char *name)
{
    char path[4096], *text;
    size_t bytes;
    scratch_path(path, dir, name);
    if (orr_file_read(path, &text, &bytes))
        fail_msg("%s", orr_error());
    return text;
}

static void file_has(const char *dir, const char *name, const char *part)
{
    char *text = content(dir, name);
    if (!strstr(text, part))
        fail_msg("%s lacks \"%s\":\n%s", name, part, text);
    free(text);
}

static const cJSON *get(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!item)
        fail_msg("laws.json: no \"%s\"", key);
    return item;
}

static double number(const cJSON *object, const char *key)
{
    const cJSON *item = get(object, key);
    if (!cJSON_IsNumber(item))
        fail_msg("laws.json: \"%s\" is no number", key);
    return item->valuedouble;
}

static cJSON *read_laws(const struct fixture *f)
{
    char path[4096];
    cJSON *json = NULL;
    scratch_path(path, f->laws, "laws.json");
    if (orr_json_read(path, &json))
        fail_msg("%s", orr_error());
    return json;
}

/* ---- laws.json */

/* One object per source, sample and rule, in that order; each is the row of its front. */
static void check_law(const struct fixture *f, const cJSON *law, int index)
{
    const int rule = index % SR_MDL, sample = index / SR_MDL % SAMPLES,
              source = index / SR_MDL / SAMPLES;
    char name[64], row[SR_TEXT + 64];
    const char *equation = get(law, "equation")->valuestring;
    assert_string_equal(get(law, "source")->valuestring, source_name[source]);
    assert_string_equal(get(law, "rule")->valuestring, sr_rule_name[rule]);
    assert_true(number(law, "sample") == sample);
    snprintf(name, sizeof name, "front_%s_%d.csv", source_name[source], sample);
    snprintf(row, sizeof row, "\n%.0f,%.9g,\"%s\"\n", number(law, "complexity"),
             number(law, "loss"), equation);
    file_has(f->laws, name, row);
    const struct sr_expr expr = formula(equation);
    assert_int_equal(expr.count, (int)number(law, "complexity"));
    const bool on_front = cJSON_IsTrue(get(law, "on_front"));
    assert_true(cJSON_IsBool(get(law, "on_front")) && cJSON_IsBool(get(law, "selected_true")));
    if (source == 0) {
        assert_true(on_front && cJSON_IsTrue(get(law, "selected_true")));
        assert_true(near(number(law, "constant"), 39.4784, 1e-3));
    } else if (source == 3) {
        assert_true(!on_front && !cJSON_IsTrue(get(law, "selected_true")));
        assert_true(cJSON_IsNull(get(law, "constant")));
    }
}

TEST_BETWEEN(laws_are_written, create, discard)
{
    struct fixture *f = *state;
    if (quietly(f, laws))
        fail_msg("%s", orr_error());
    assert_int_equal(scratch_count(f->laws), SOURCES * SAMPLES + 2);
    cJSON *json = read_laws(f);
    const cJSON *list = get(json, "laws"), *sources = get(json, "sources"), *item;
    assert_int_equal(cJSON_GetArraySize(list), SOURCES * SAMPLES * SR_MDL);
    int index = 0;
    cJSON_ArrayForEach (item, list)
        check_law(f, item, index++);
    assert_int_equal(cJSON_GetArraySize(sources), SOURCES);
    index = 0;
    cJSON_ArrayForEach (item, sources) {
        assert_string_equal(get(item, "source")->valuestring, source_name[index]);
        const cJSON *exponents = get(item, "exponents");
        static const double newton[3] = {-2, 1, 1};
        for (int e = 0; e < FEATURES; e++) {
            const cJSON *interval = get(exponents, feature_name[e]);
            const double value = number(interval, "value");
            assert_true(number(interval, "low") <= value && value <= number(interval, "high"));
            if (index == 0)
                assert_true(near(value, newton[e], 1e-6));
        }
        assert_true(number(item, "r2_log") <= 1 && number(item, "median_relative_error") >= 0);
        assert_true((number(item, "dropped") > 0) == (index == 3));
        index++;
    }
    assert_int_equal(cJSON_GetArraySize(get(json, "samples")), SOURCES * SAMPLES);
    cJSON_ArrayForEach (item, get(json, "samples")) {
        assert_true(number(item, "rows") == ROWS && number(item, "k_dropped_m2") > 0);
        assert_true(number(item, "leverage") > 0 && number(item, "leverage") < 1);
    }
    const cJSON *baselines = get(json, "baselines");
    assert_true(number(baselines, "log_r") < number(baselines, "log_scale_dt_r") &&
                number(baselines, "constant") == 0);
    assert_string_equal(get(json, "preset")->valuestring, "tiny");
    assert_string_equal(get(json, "version")->valuestring, ORR_VERSION);
    assert_true(number(json, "seed") == (double)f->cli.settings.seed);
    cJSON_Delete(json);
}

TEST_BETWEEN(markdown_is_written_and_printed, create, discard)
{
    struct fixture *f = *state;
    if (quietly(f, laws))
        fail_msg("%s", orr_error());
    for (int s = 0; s < SOURCES; s++)
        for (int rule = 0; rule < SR_MDL; rule++) {
            char start[128];
            snprintf(start, sizeof start, "\n| %s | %s | `", source_name[s], sr_rule_name[rule]);
            file_has(f->laws, "laws.md", start);
        }
    file_has(f->laws, "laws.md", "| 2/2 | 2/2 | 39.478 |");
    file_has(f->laws, "laws.md", "` | 0/2 | 0/2 | - |");
    file_has(f->laws, "laws.md", "| truth | 1.0000 | 0.00% | -2.000 [-2.000, -2.000] | 1.000 [");
    file_has(f->laws, "laws.md", "Preset `tiny`, seed");
    char *printed = content(f->dir, "printed"), *written = content(f->laws, "laws.md");
    assert_string_equal(printed, written);
    free(printed);
    free(written);
}

/* laws.md and laws.json say which law they ask for. The labels of these tables are Newton's, of the
 * steps 8 to 13, which other settings are told. */
TEST_BETWEEN(own_law_is_named, create, discard)
{
    static const char *const newton = "formula is k m1 m2 / r^2, *on front*",
                             *const own = "formula is k times the run's true law, *on front*";
    static const struct {
        const char *settings[3], *formula;
        double k[2];
        const char *says[3];
    } cases[] = {
        {{"seed=0"}, "k m1 m2 / r^2", {39.4784}, {newton, "| truth | best", "| 2/2 | 2/2 | 39"}},
        {{"orbits.law=power", "orbits.law_exponent=-1"},
         "k times the force of the law power, orbits.law_exponent=-1",
         {39.4784},
         {own,
          "law power, orbits.law_exponent=-1;\nk = 39.478 is the law itself.\nThe labels are "
          "not of this law",
          "| 0/2 | 0/2 | - |"}},
        {{"orbits.law=newton", "orbits.jump_step=8", "orbits.jump_factor=2"},
         "k m1 m2 / r^2",
         {78.9568},
         {newton, "by 2 from step 8 on, and labels are of the steps from there on: k = 78.957",
          "differs by 50%"}},
        {{"orbits.jump_step=14"}, "k m1 m2 / r^2", {39.4784}, {"steps before: k = 39.478"}},
        {{"orbits.jump_step=9"},
         "k m1 m2 / r^2",
         {39.4784, 78.9568},
         {"k = 39.478 is\nthe law before, 78.957 after", "| 2/2 | 2/2 | 39"}},
    };
    struct fixture *f = *state;
    set(f, "symreg.iterations=2");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int i = 0; i < 3 && cases[c].settings[i]; i++)
            set(f, cases[c].settings[i]);
        if (quietly(f, laws))
            fail_msg("%s", orr_error());
        for (int i = 0; i < 3 && cases[c].says[i]; i++)
            file_has(f->laws, "laws.md", cases[c].says[i]);
        cJSON *json = read_laws(f);
        const cJSON *law = get(json, "true_law"), *k = get(law, "k");
        assert_string_equal(get(law, "formula")->valuestring, cases[c].formula);
        assert_string_equal(get(law, "law")->valuestring, c == 1 ? "power" : "newton");
        assert_int_equal(cJSON_GetArraySize(k), cases[c].k[1] > 0 ? 2 : 1);
        for (int i = 0; i < cJSON_GetArraySize(k); i++)
            assert_true(near(cJSON_GetArrayItem(k, i)->valuedouble, cases[c].k[i], 1e-5));
        assert_true((number(law, "labels_differ_by") > 0) == (c != 0 && c != 3));
        cJSON_Delete(json);
    }
}

/* Laws of two sources, written without a search: five samples, whose fronts differ. The law stands
 * on the fronts of samples 1, 2 and 4, is chosen by `accuracy` on sample 2 alone, and has another
 * k on each. */
TEST_BETWEEN(columns_are_what_they_say, create, discard)
{
    enum { N = 5 };
    struct fixture *f = *state;
    static struct laws laws;
    static struct law_sample sample[2][N];
    struct orr_sources sources;
    set(f, "symreg.rules=accuracy");
    laws = (struct laws){.cli = &f->cli, .sources = 2};
    snprintf(laws.folder, sizeof laws.folder, "%s", f->laws);
    scratch_path(laws.checkpoint, f->dir, "checkpoint.bin");
    assert_int_equal(orr_mkdir(laws.folder), 0);
    assert_int_equal(law_true_create(&laws.true_law, &f->cli.settings), 0);
    assert_int_equal(orr_lineage_open(&laws.lineage, &f->cli.settings, NULL), 0);
    orr_sources_list(&f->cli.settings, "", &sources);
    assert_int_equal(orr_lineage_laws(&laws.lineage, &sources, laws.digest), 0);
    for (int i = 0; i < 2; i++) {
        struct law_source *source = &laws.source[i];
        snprintf(source->name, sizeof source->name, "%s", i ? "untrained" : "truth");
        source->forces.samples = N;
        source->sample = sample[i];
        for (int s = 0; s < N; s++) {
            struct sr_front *front = &sample[i][s].fit.front;
            *front = (struct sr_front){.count = 2, .loss = {7.5, 0.3125 + s}};
            front->expr[0] = formula("8.25");
            front->expr[1] = formula(s ? "m1 * m2" : "m1 / r");
            static const double k[N] = {0, 41.5, 38.25, 0, 39.75};
            sample[i][s].true_row = k[s] > 0 ? 1 : -1;
            sample[i][s].k = k[s] > 0 ? k[s] + i : NAN;
            sample[i][s].row_true[1] = s == 2;
            sample[i][s].facts =
                (struct law_sample_facts){10, 27.0625 + s + 10 * i, 0.125 + 0.1 * s};
        }
    }
    if (laws_write(&laws))
        fail_msg("%s", orr_error());
    file_has(f->laws, "laws.md", "| truth | accuracy | `(m1 / r)` | 1/5 | 3/5 | 39.75 |\n");
    file_has(f->laws, "laws.md",
             "| untrained (softmax) | accuracy | `(m1 / r)` | 1/5 | 3/5 | 40.75 |\n");
    file_has(f->laws, "laws.md", " | 0 | 27.06 | 0.12 |\n"); /* of sample 0 */
    file_has(f->laws, "laws.md", " | 0 | 37.06 | 0.12 |\n");
    file_has(f->laws, "laws.md", "\n| untrained (softmax) | 0.0000 |");
    set(f, "attention=lssar,softmax"); /* the first of the list */
    sample[0][4].true_row = -1;        /* of an even number the mean of the two in the middle */
    if (laws_write(&laws))
        fail_msg("%s", orr_error());
    file_has(f->laws, "laws.md", "| 1/5 | 2/5 | 39.875 |\n");
    file_has(f->laws, "laws.md", "\n| untrained (lssar) | accuracy |");
    snprintf(laws.lineage.external_tables[0], sizeof laws.lineage.external_tables[0], "elsewhere");
    if (laws_write(&laws)) /* tables made elsewhere do not tell */
        fail_msg("%s", orr_error());
    file_has(f->laws, "laws.md", "\n| untrained | accuracy |");
    law_true_free(&laws.true_law);
    orr_lineage_close(&laws.lineage);
}

/* Every file again, byte by byte, with one thread and in another folder. Fronts of sources and
 * samples that there are no more go, and no other file. */
TEST_BETWEEN(runs_repeat_themselves, create, discard)
{
    struct fixture *f = *state;
    static const char *const mine[] = {"front_mine_old.csv", "front_truth_1.csv.txt",
                                       "front_truth_01.csv", "front_7.csv"};
    char other[4096], path[4096];
    assert_int_equal(orr_mkdir(f->laws), 0);
    for (int i = 0; i < 4; i++) {
        scratch_text(scratch_at(f->laws, mine[i]), "");
    }
    scratch_path(path, f->laws, "front_softmax_7.csv"); /* of a search of more samples */
    scratch_text(path, "");
    if (quietly(f, laws))
        fail_msg("%s", orr_error());
    assert_false(orr_exists(path));
    for (int i = 0; i < 4; i++) {
        assert_true(orr_exists(scratch_at(f->laws, mine[i])));
    }
    scratch_path(other, f->dir, "elsewhere/deep");
    snprintf(f->cli.out, sizeof f->cli.out, "%s", other);
    f->cli.threads = 1;
    if (quietly(f, laws))
        fail_msg("%s", orr_error());
    assert_int_equal(scratch_count(other), SOURCES * SAMPLES + 2);
    static const char *const name[] = {"laws.json", "laws.md", "front_truth_0.csv",
                                       "front_softmax_1.csv", "front_untrained_0.csv"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char *a = content(f->laws, name[i]), *b = content(other, name[i]);
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
}

/* ---- --resume: laws.md gets a time that only a new computation takes away */

static bool computes_again(struct fixture *f)
{
    static const struct timespec long_ago[2] = {{.tv_sec = 86400}, {.tv_sec = 86400}};
    char path[4096];
    struct stat info;
    scratch_path(path, f->laws, "laws.md");
    if (orr_exists(path))
        assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    f->cli.resume = true;
    if (quietly(f, laws))
        fail_msg("%s", orr_error());
    char *text = content(f->laws, "laws.md"), *printed = content(f->dir, "printed");
    assert_string_equal(text, printed);
    free(text);
    free(printed);
    assert_int_equal(stat(path, &info), 0);
    return info.st_mtim.tv_sec != long_ago->tv_sec;
}

TEST_BETWEEN(resume_computes_only_what_changed, create, discard)
{
    struct fixture *f = *state;
    char path[4096];
    set(f, "symreg.iterations=1"); /* nine searches: what they find is of no matter here */
    set(f, "symreg.cycles=10");
    set(f, "symreg.enumerate=200");
    assert_true(computes_again(f)); /* nothing was there */
    assert_false(computes_again(f));
    set(f, "symreg.iterations=2");
    assert_true(computes_again(f));
    assert_false(computes_again(f));
    set(f, "pretrain.steps=17"); /* not a setting of this stage */
    assert_false(computes_again(f));
    set(f, "seed=5");
    assert_true(computes_again(f));
    write_forces(f, 1); /* the same bytes */
    assert_false(computes_again(f));
    path_of(path, f, "oracle"); /* one digit of one force */
    char *text = NULL;
    size_t bytes;
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    text[bytes - 2] = text[bytes - 2] == '7' ? '8' : '7';
    scratch_text(path, text);
    free(text);
    assert_true(computes_again(f));
    assert_false(computes_again(f));
    scratch_path(path, f->laws, "front_truth_1.csv"); /* by hand */
    scratch_text(path, "Complexity,Loss,Equation\n1,0,\"r\"\n");
    assert_true(computes_again(f));
    assert_false(computes_again(f));
    scratch_path(path, f->laws, "laws.json");
    scratch_text(path, "{ \"digest\": ");
    assert_true(computes_again(f));
    assert_int_equal(unlink(path), 0);
    assert_true(computes_again(f));
    f->cli.resume = false; /* without --resume always */
    scratch_text(scratch_at(f->laws, "laws.md"), "marked\n");
    assert_int_equal(quietly(f, laws), 0);
    file_has(f->laws, "laws.md", "| truth |");
}

/* Another process holds the folder for a moment, makes `appear` there of `hidden`, and says whether
 * `there` was there until then. */
static pid_t hold(const struct fixture *f, const char *hidden, const char *appear,
                  const char *there)
{
    char path[3][4096];
    int fd;
    scratch_path(path[0], f->laws, hidden);
    scratch_path(path[1], f->laws, appear);
    scratch_path(path[2], f->laws, there);
    assert_int_equal(orr_lock(f->laws, "searching for laws", 0, &fd), 0);
    const pid_t other = fork();
    assert_true(other >= 0);
    if (other == 0) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 700000000}, NULL);
        const bool was_there = orr_exists(path[2]);
        _exit(rename(path[0], path[1]) ? 2 : was_there ? 0 : 1);
    }
    orr_unlock(fd); /* the lock is the other one's alone */
    return other;
}

/* What another search has made while this one waited is kept, and what lies beside laws is not
 * taken from a search that is under way. */
TEST_BETWEEN(resume_looks_again_behind_the_lock, create, discard)
{
    struct fixture *f = *state;
    char path[4096], hidden[4096];
    int status;
    set(f, "symreg.iterations=1");
    set(f, "symreg.cycles=10");
    set(f, "symreg.enumerate=200");
    assert_true(computes_again(f));
    scratch_path(path, f->laws, "laws.json");
    scratch_path(hidden, f->laws, "hidden");
    assert_int_equal(rename(path, hidden), 0);
    pid_t other = hold(f, "hidden", "laws.json", "laws.md");
    assert_false(computes_again(f));
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    scratch_path(path, f->laws, "checkpoint.bin");
    scratch_text(path, "of a search under way");
    scratch_text(hidden, "");
    other = hold(f, "hidden", "seen", "checkpoint.bin");
    assert_false(computes_again(f));
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_false(orr_exists(path));
    scratch_text(path, "of a search for others");
    scratch_text(hidden, "{\"made\": \"for others\"}"); /* is not shown as these laws */
    other = hold(f, "hidden", "laws.json", "checkpoint.bin");
    assert_true(computes_again(f));
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- broken inputs: a message that helps, and no laws folder */

static void fails(struct fixture *f, int code)
{
    const int rc = quietly(f, laws);
    if (rc != code)
        fail_msg("status %d, expected %d: %s", rc, code, orr_error());
    assert_false(orr_exists(f->laws));
    char *printed = content(f->dir, "printed");
    assert_string_equal(printed, "");
    free(printed);
}

TEST_BETWEEN(missing_sources_are_named, create, discard)
{
    struct fixture *f = *state;
    char path[4096];
    for (int s = 0; s < SOURCES; s++) {
        path_of(path, f, source_name[s]);
        assert_int_equal(unlink(path), 0);
        fails(f, ORR_EMISSING);
        error_names(path, "missing; make it with: finetune", NULL);
        write_forces(f, s);
    }
    set(f, "attention=softmax,lssar");
    fails(f, ORR_EMISSING);
    error_names("run/lssar/finetune/forces_magnitude.csv", "--attention", NULL);
}

TEST_BETWEEN(broken_sources_are_named, create, discard)
{
    struct fixture *f = *state;
    char path[4096], *text;
    size_t bytes;
    for (int s = 0; s < SOURCES; s += 2) {
        path_of(path, f, source_name[s]);
        assert_int_equal(orr_file_read(path, &text, &bytes), 0);
        char *line = text;
        for (int i = 1; i < 41; i++) /* line 41 */
            line = strchr(line, '\n') + 1;
        line[0] = 'x';
        scratch_text(path, text);
        fails(f, ORR_EFORMAT);
        error_names(path, ":41", NULL);
        text[200] = '\0'; /* cut in the middle of a row */
        scratch_text(path, text);
        fails(f, ORR_EFORMAT);
        error_names(path, NULL);
        free(text);
        write_forces(f, s);
    }
    /* samples 0 and 2 without 1 */
    path_of(path, f, "truth");
    static const char few[] = "sample,sequence,step,r,m1,m2,dt,F_true,F\n0,0,8,1,1,1,1,1,1\n"
                              "0,1,8,2,2,1,1,1,1\n2,2,8,2,3,1,1,1,1\n2,3,8,2,1,4,1,1,1\n";
    scratch_text(path, few);
    fails(f, ORR_EFORMAT);
    error_names(path, "sample 1", "at least 2 rows, found 0", NULL);
    write_forces(f, 0);
    path_of(path, f, "oracle"); /* rows that are not the truth's */
    scratch_text(path, few);
    fails(f, ORR_EFORMAT);
    error_names(path, ":2: ", "truth/finetune/forces_magnitude.csv, found ", NULL);
    write_forces(f, 1);
    snprintf(f->cli.settings.symreg.unary.item[0], sizeof f->cli.settings.symreg.unary.item[0],
             "inverse");
    fails(f, ORR_EUSAGE);
    error_names("symreg.unary", "inverse", NULL);
}

/* ---- any table */

static const char *csv_file, *csv_target, *csv_features;
static int table_run(struct fixture *f)
{
    const struct sr_csv_options options = {.target = csv_target, .features = csv_features};
    return sr_csv_run(&f->cli, csv_file, &options);
}

static int run_csv(struct fixture *f, const char *file, const char *target, const char *features)
{
    csv_file = file;
    csv_target = target;
    csv_features = features;
    return quietly(f, table_run);
}

TEST_BETWEEN(any_table_gives_a_front, create, discard)
{
    struct fixture *f = *state;
    char path[4096], out[4096];
    scratch_path(path, f->dir, "any.csv");
    scratch_path(out, f->dir, "fit");
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fprintf(stream, "name,mass,volume,force\n");
    for (int i = 1; i <= 40; i++)
        fprintf(stream, "n%d,%d,%g,%.12g\n", i, i % 7 + 1, 0.1 * i, 3.5 * (i % 7 + 1) / (0.1 * i));
    assert_int_equal(fclose(stream), 0);
    if (run_csv(f, path, "force", "mass,volume"))
        fail_msg("%s", orr_error());
    file_has(f->dir, "printed", "complexity          loss     score  equation\n");
    file_has(f->dir, "printed", "<- accuracy, score, best\n");
    assert_false(orr_exists(out)); /* without --out nothing is written */
    snprintf(f->cli.out, sizeof f->cli.out, "%s", out);
    if (run_csv(f, path, "force", "mass,volume"))
        fail_msg("%s", orr_error());
    char *front = content(out, "front.csv"), equation[256] = "";
    for (const char *row = front; row; row = strchr(row + 1, '\n')) /* the last one stays */
        sscanf(row, "\n%*d,%*g,\"%255[^\"]", equation);
    static const char *const names[2] = {"mass", "volume"};
    struct sr_expr expr;
    double value;
    const double x[2] = {2, 0.5};
    const struct sr_data data = {.rows = 1, .features = 2, .x = x};
    assert_int_equal(sr_expr_parse(NULL, equation, names, 2, &expr), 0);
    assert_true(sr_eval(&expr, &data, &value));
    assert_true(near(value, 14, 1e-5));
    free(front);
    /* all other columns of numbers; a name must be asked for to be refused */
    assert_int_equal(run_csv(f, path, "force", NULL), 0);
    assert_int_equal(run_csv(f, path, "force", "mass,name"), ORR_EFORMAT);
    error_names(path, ":2", "\"name\"", "finite number", "\"n1\"", NULL);
}

TEST_BETWEEN(wrong_columns_are_named, create, discard)
{
    struct fixture *f = *state;
    char path[4096];
    scratch_path(path, f->dir, "any.csv");
    scratch_text(path, "mass,volume,force\n1,2,3\n2,3,4\n3,4,nan\n");
    assert_int_equal(run_csv(f, path, "forse", NULL), ORR_EMISSING);
    error_names(path, "\"forse\"", "\"force\"", NULL);
    assert_int_equal(run_csv(f, path, "volume", "mas"), ORR_EMISSING);
    error_names("\"mas\"", "\"mass\"", NULL);
    assert_int_equal(run_csv(f, path, "volume", "mass,volume"), ORR_EUSAGE);
    error_names("--features", "\"volume\" is the target", NULL);
    assert_int_equal(run_csv(f, path, "volume", "mass,mass"), ORR_EUSAGE);
    error_names("--features", "\"mass\"", "twice", NULL);
    assert_int_equal(run_csv(f, path, "volume", "mass,,force"), ORR_EUSAGE);
    error_names("--features", "mass,,force", NULL);
    assert_int_equal(run_csv(f, path, "volume", "mass,"), ORR_EUSAGE);
    assert_int_equal(run_csv(f, path, "force", NULL), ORR_EFORMAT);
    error_names(path, ":4", "\"force\"", "nan", NULL);
    scratch_text(path, "force\n1\n2\n");
    assert_int_equal(run_csv(f, path, "force", NULL), ORR_EINVAL);
    error_names(path, "no column of numbers beside the target", NULL);
    scratch_text(path, "mass,force\n1,2\n");
    assert_int_equal(run_csv(f, path, "force", NULL), ORR_EINVAL);
    error_names(path, "at least 2 rows", NULL);
    scratch_path(path, f->dir, "none.csv");
    assert_int_equal(run_csv(f, path, "force", NULL), ORR_EMISSING);
    error_names(path, "not found", NULL);
}

TESTS(NULL, NULL)
