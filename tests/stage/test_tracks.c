/* test_tracks.c - which sequences of imported tracks are pieces of one track, by the manifest. */
#include "base/scratch.h"

#include "stage/settings.h"
#include "stage/tracks.h"

#include <string.h>

static char dir[64];

static int setup(void **state)
{
    (void)state;
    scratch_create(dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(dir);
    return 0;
}

/* Reads the tracks of 5 sequences of test from a manifest with these pieces. */
static int pieces_of(const char *pieces, int track[5])
{
    static struct orr_settings settings;
    char text[256];
    snprintf(text, sizeof text,
             "{\"tracks\": {\"positions\": 9}, \"sets\": {\"test\": {\"sequences\": 5%s%s}}}",
             *pieces ? ", \"pieces\": " : "", pieces);
    scratch_text(scratch_at(dir, "manifest.json"), text);
    snprintf(settings.tracks, sizeof settings.tracks, "%s", dir);
    return orr_tracks_pieces(&settings, "test", 5, track);
}

TEST(pieces_of_a_track_have_its_number)
{
    static const int alone[] = {0, 1, 2, 3, 4}, cut[] = {0, 0, 1, 2, 2};
    struct orr_settings simulated = {.tracks = ""};
    int track[5];
    assert_int_equal(pieces_of("", track), 0);
    assert_memory_equal(track, alone, sizeof track);
    assert_int_equal(pieces_of("[2, 1, 2]", track), 0);
    assert_memory_equal(track, cut, sizeof track);
    assert_int_equal(pieces_of("[5]", track), 0);
    assert_true(track[0] == 0 && track[4] == 0);
    assert_int_equal(orr_tracks_pieces(&simulated, "test", 5, track), 0);
    assert_memory_equal(track, alone, sizeof track);
}

TEST(numbers_that_are_no_pieces_are_named)
{
    static const char *const bad[] = {"[2, 2]", "[2, 1, 3]", "[5, 0]",  "[6, -1]", "[2.5, 2.5]",
                                      "2",      "[\"5\"]",   "[1e300]", "[]"};
    int track[5];
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(pieces_of(bad[k], track), ORR_EFORMAT);
        assert_non_null(strstr(orr_error(), "\"pieces\" of \"test\""));
        assert_non_null(strstr(orr_error(), "whose sum is 5"));
    }
}

TESTS(setup, teardown)
