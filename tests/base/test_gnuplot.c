/* test_gnuplot.c - the runner of gnuplot, with programs that stand for it: what they are told, how
 * they fail, a full disk, a signal. What was there before a failure stays, and nothing else comes.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "scratch.h"

#define PNG "printf '\\211PNG\\r\\n\\032\\n 12 bytes of it IEND\\256B`\\202' > \"$4\"\n"

static char folder[64]; /* gnuplot and x.gp, and a folder for pictures */
static char pictures[4096], picture[4096];
static char *path_before;

FIXTURE(open_folder)
{
    char both[8192];
    scratch_create(folder);
    scratch_text(scratch_at(folder, "x.gp"), "");
    scratch_path(pictures, folder, "pictures");
    assert_int_equal(orr_mkdir(pictures), 0);
    scratch_path(picture, pictures, "it.png");
    scratch_text(picture, "what was there before");
    path_before = strdup(getenv("PATH"));
    assert_non_null(path_before);
    snprintf(both, sizeof both, "/nonexistent::%s:%s", folder, path_before);
    setenv("PATH", both, 1);
    setenv("ORRERY_FIGURES", folder, 1);
    return 0;
}

FIXTURE(close_folder)
{
    setenv("PATH", path_before, 1);
    unsetenv("ORRERY_FIGURES");
    free(path_before);
    scratch_remove(folder);
    return 0;
}

/* A shell script that stands for gnuplot. */
static void pose(const char *script)
{
    char path[4096], text[1024];
    scratch_path(path, folder, "gnuplot");
    snprintf(text, sizeof text, "#!/bin/sh\n%s", script);
    scratch_text(path, text);
    assert_int_equal(chmod(path, 0700), 0);
}

/* The picture is the one from before, and is alone. */
static void as_before(void)
{
    char *text;
    size_t bytes;
    assert_int_equal(orr_file_read(picture, &text, &bytes), 0);
    assert_string_equal(text, "what was there before");
    free(text);
    assert_int_equal(scratch_count(pictures), 1);
}

TEST(test_failures)
{
    static const struct {
        const char *script, *message;
    } cases[] = {
        {"echo 'gnuplot> plot'; echo '   ^'; echo '\"x.gp\" line 3: no such terminal' >&2; exit "
         "3\n",
         "exit status 3 while drawing it.png: \"x.gp\" line 3: no such terminal"},
        {"head -c 1000000 /dev/zero | tr '\\0' x; exit 4\n", "exit status 4 while drawing it.png"},
        {PNG "exit 1\n", "exit status 1 while drawing it.png: no message"},
        {"exit 0\n", "it.png is missing or incomplete"},
        {"printf '\\211PNG\\r\\n\\032\\n and then the disk was full' > \"$4\"\n",
         "it.png is missing or incomplete (disk full?)"},
        {"printf 'no PNG but 12 bytes of IEND\\256B`\\202' > \"$4\"\n", "missing or incomplete"},
        {"rm \"$4\"\n", "it.png is missing or incomplete"},
        {PNG "kill -9 $$\n", "killed by signal 9 while drawing it.png"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pose(cases[i].script);
        assert_int_equal(orr_gnuplot_draw("x.gp", "input", picture), ORR_EIO);
        error_names("gnuplot: ", cases[i].message, NULL);
        as_before();
    }
}

/* The end of an SVG is another one, with blanks behind it at most. */
TEST(test_svg)
{
    char path[4096];
    scratch_path(path, pictures, "it.svg");
    pose("printf '<svg></svg> <!-- cut' > \"$4\"\n");
    assert_int_equal(orr_gnuplot_draw("x.gp", "input", path), ORR_EIO);
    error_names("it.svg", "incomplete", NULL);
    as_before();
    pose("printf '<svg></svg>\\n\\n' > \"$4\"\ntest \"$5\" = svg\n");
    assert_int_equal(orr_gnuplot_draw("x.gp", "input", path), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(orr_gnuplot_draw("x.gp", "input", "it.pdf"), ORR_EINVAL);
    error_names("it.pdf", ".png", ".svg", NULL);
}

TEST(test_missing)
{
    char path[4096], *now = strdup(getenv("PATH"));
    assert_non_null(now);
    scratch_path(path, folder, "gnuplot");
    (void)unlink(path);
    assert_int_equal(mkdir(path, 0700), 0); /* a folder of this name is no program */
    snprintf(path, sizeof path, "/nonexistent::/dev/null:%s", folder);
    setenv("PATH", path, 1);
    assert_int_equal(orr_gnuplot_draw("x.gp", "input", picture), ORR_EMISSING);
    error_names("gnuplot: not found in PATH", "gnuplot-nox", "make deps", NULL);
    assert_int_equal(orr_gnuplot_check("x.gp"), ORR_EMISSING);
    as_before();
    setenv("PATH", now, 1);
    free(now);
    assert_int_equal(rmdir(scratch_at(folder, "gnuplot")), 0);
    pose(PNG);
    assert_int_equal(orr_gnuplot_check("x.gp"), 0);
    assert_int_equal(orr_gnuplot_check("y.gp"), ORR_EMISSING);
    error_names(folder, "no y.gp", "ORRERY_FIGURES", NULL);
    assert_int_equal(orr_gnuplot_draw("y.gp", "input", picture), ORR_EMISSING);
    unsetenv("ORRERY_FIGURES");
    assert_int_equal(orr_gnuplot_check("y.gp"), ORR_EMISSING);
    error_names("figures/y.gp: not found", "ORRERY_DATA", NULL);
    setenv("ORRERY_FIGURES", folder, 1);
    as_before();
}

/* What can be written is less than a picture. */
TEST(test_full_disk)
{
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 2000;
    pose("{ printf '\\211PNG\\r\\n\\032\\n'; head -c 5000 /dev/zero; printf 'IEND\\256B`\\202'; } "
         "> \"$4\" 2>/dev/null\nexit 0\n");
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int rc = orr_gnuplot_draw("x.gp", "input", picture);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rc, ORR_EIO);
    error_names("it.png", "disk full?", NULL);
    as_before();
    assert_int_equal(orr_gnuplot_draw("x.gp", "input", picture), 0); /* with room */
    scratch_text(picture, "what was there before");
}

/* gnuplot gets script, input, a name to draw under, and the format; no input of its own. */
TEST(test_success)
{
    char *text, *named, expected[4200];
    char path[4096];
    size_t bytes;
    pose(PNG "cat\nprintf '%s\\n' \"$@\" > \"$3\"\nls \"${4%/*}\" >> \"$3\"\n");
    scratch_path(path, folder, "told");
    assert_int_equal(orr_gnuplot_draw("x.gp", path, picture), 0);
    assert_int_equal(scratch_count(pictures), 1);
    assert_int_equal(orr_file_read(picture, &text, &bytes), 0);
    assert_memory_equal(text, "\x89PNG\r\n\x1a\n 12 bytes", 17);
    free(text);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    snprintf(expected, sizeof expected, "-c\n%s/x.gp\n%s\n", folder, path);
    assert_memory_equal(text, expected, strlen(expected));
    named = text + strlen(expected);
    assert_memory_equal(named, picture, strlen(picture));
    assert_true(named[strlen(picture)] == '.'); /* a temporary name beside it */
    assert_non_null(strstr(named, "\npng\nit.png\nit.png."));
    free(text);
    scratch_text(picture, "what was there before");
}

/* A relative name that begins with "<" or "|" is a command of gnuplot, and one with "-" an option:
 * "./" stands before each relative one (gnuplot 5.4, help special-filenames, help set output). */
TEST(test_relative_names)
{
    static const char *const names[] = {"<touch pwned;", "|touch pwned;", "-p", "~", "plain"};
    char here[4096], *text;
    size_t bytes;
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64], expected[256], scripts[64];
        snprintf(name, sizeof name, "%s.png", names[i]);
        snprintf(scripts, sizeof scripts, "%s", names[i]);
        assert_int_equal(orr_mkdir(scripts), 0);
        scratch_text(scratch_at(scripts, "x.gp"), "");
        setenv("ORRERY_FIGURES", scripts, 1);
        pose(PNG "printf '%s\\n' \"$@\" > told\n");
        assert_int_equal(orr_gnuplot_draw("x.gp", names[i], name), 0);
        assert_int_equal(orr_file_read("told", &text, &bytes), 0);
        snprintf(expected, sizeof expected, "-c\n./%s/x.gp\n./%s\n./%s.png.", names[i], names[i],
                 names[i]);
        if (strncmp(text, expected, strlen(expected)) != 0)
            fail_msg("gnuplot was told\n%s for\n%s", text, expected);
        free(text);
        (void)unlink(name);
        scratch_remove(scripts);
    }
    setenv("ORRERY_FIGURES", folder, 1);
    assert_int_equal(chdir(here), 0);
}

/* The path of a file that a script opens, as text of the script. */
TEST(test_paths_in_scripts)
{
    struct orr_file file = {0};
    char *text;
    size_t bytes;
    assert_int_equal(orr_file_create(&file, scratch_at(folder, "paths")), 0);
    assert_int_equal(orr_gnuplot_assign_path(&file, "front", 2, "<touch \"x\""), 0);
    assert_int_equal(orr_gnuplot_assign_path(&file, "front", 0, "/a/b"), 0);
    assert_int_equal(orr_file_flush(&file), 0);
    assert_int_equal(orr_file_read(file.temporary, &text, &bytes), 0);
    assert_string_equal(text, "front[2] = \"./<touch \\\"x\\\"\"\nfront = \"/a/b\"\n");
    free(text);
    orr_file_close(&file);
}

/* figures/ of the current folder, which a stranger's run has, is no place for scripts. */
TEST(test_no_scripts_of_the_current_folder)
{
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(orr_mkdir("figures"), 0);
    scratch_text("figures/planted.gp", "system(\"touch pwned\")\n");
    unsetenv("ORRERY_FIGURES");
    assert_int_equal(orr_gnuplot_check("planted.gp"), ORR_EMISSING);
    error_names("planted.gp", "ORRERY_DATA", NULL);
    setenv("ORRERY_FIGURES", folder, 1);
    scratch_remove("figures");
    assert_int_equal(chdir(here), 0);
}

TEST(test_strings)
{
    struct orr_file file = {0};
    char *text;
    size_t bytes;
    assert_int_equal(orr_file_create(&file, scratch_at(folder, "escapes")), 0);
    assert_int_equal(orr_gnuplot_string(&file, "a\"b\\c`d`\ne"), 0);
    assert_int_equal(orr_file_flush(&file), 0);
    assert_int_equal(orr_file_read(file.temporary, &text, &bytes), 0);
    assert_string_equal(text, "\"a\\\"b\\\\c'd'\\ne\"");
    free(text);
    orr_file_close(&file);
}

/* A signal ends a gnuplot that waits; one that came before does not keep it from drawing. The test
 * is the last, since the signal stays seen. */
TEST(test_signal)
{
    orr_signals_catch();
    pose(PNG "kill -INT $PPID\nexec sleep 60\n");
    const double start_s = orr_time_s();
    assert_int_equal(orr_gnuplot_draw("x.gp", "input", picture), ORR_EINTR);
    assert_true(orr_time_s() - start_s < 30);
    error_names("signal", "it.png", NULL);
    as_before();
    pose(PNG);
    assert_int_equal(orr_gnuplot_draw("x.gp", "input", picture), 0);
}

TESTS(open_folder, close_folder)
