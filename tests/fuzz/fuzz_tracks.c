/* fuzz_tracks.c - any bytes as tracks of bodies. The first lines are the options that name columns:
 * time, position, body, system and mass (an empty line: not given); the rest is the file. Tracks
 * that are read have rows in order of time, finite positions, and names of their cells. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "symreg/motion/motion.h"

static void check_track(const struct sr_tracks *tracks, const struct sr_track *track)
{
    FUZZ_EXPECT(track->system && track->body && track->n >= SR_TRACK_ROWS);
    FUZZ_EXPECT(isfinite(track->mass) && track->mass >= 0);
    for (size_t i = 0; i < track->n; i++)
        FUZZ_EXPECT(isfinite(track->t[i]) && (!i || track->t[i] > track->t[i - 1]));
    for (size_t i = 0; i < track->n * (size_t)tracks->dims; i++)
        FUZZ_EXPECT(isfinite(track->x[i]));
}

FUZZ_TARGET(tracks)
{
    char path[4096];
    struct sr_tracks tracks = {0};
    char *text = malloc(size + 1), *rest = text;
    FUZZ_EXPECT(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    struct sr_motion_options options = {.time = fuzz_line(&rest)};
    options.time = options.time ? options.time : "t";
    options.position = fuzz_line(&rest);
    options.position = options.position ? options.position : "x,y";
    options.body = fuzz_line(&rest);
    options.system = fuzz_line(&rest);
    options.mass = fuzz_line(&rest);
    fuzz_file(path, "a.csv", rest, strlen(rest));
    const int rc = sr_tracks_read(path, &options, &tracks);
    FUZZ_EXPECT(!rc == (tracks.count > 0) || rc);
    FUZZ_EXPECT(!rc || (*orr_error() && !strchr(orr_error(), '\n')));
    size_t rows = 0, seen = 0;
    for (size_t k = 0; !rc && k < tracks.count; k++) {
        check_track(&tracks, &tracks.track[k]);
        rows += tracks.track[k].n;
    }
    FUZZ_EXPECT(rc || rows == tracks.csv.rows);
    while (!rc && seen < tracks.count) { /* systems lie side by side */
        const size_t bodies = sr_system_size(&tracks, seen);
        FUZZ_EXPECT(bodies > 0);
        seen += bodies;
    }
    sr_tracks_free(&tracks);
    free(text);
    return 0;
}
