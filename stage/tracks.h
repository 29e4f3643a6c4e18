/* tracks.h - runs whose data sets are tracks of another program, which `orbits import` wrote, in
 * place of simulated orbits. */
#ifndef ORR_TRACKS_H
#define ORR_TRACKS_H

#include "settings.h"

/* Whether the manifest of a folder says that its data sets are imported tracks: it has an object
 * "tracks". Then preset->tracks becomes the folder, and the settings of the data become what the
 * folder holds: number of sequences, positions, coordinates; neither labelled sets nor planet runs.
 * Otherwise nothing changes. A manifest that cannot be read counts as one without tracks, because
 * whoever reads the data reports it. Fails only without memory. */
int orr_tracks_adopt(struct orr_settings *settings, const char *folder, bool *adopted);
/* Sequences of a set that are pieces of one track are alike: track (n) gets the number of the
 * track, from 0 and ascending, that each sequence of `set` is cut from, by the folder's manifest;
 * every sequence another one where the run reads no tracks, or the manifest does not say it.
 * ORR_EFORMAT, naming the key, where its numbers are no counts or have another sum than n. */
int orr_tracks_pieces(const struct orr_settings *settings, const char *set, int n, int track[]);
/* ORR_EINVAL if the run reads tracks: `what` needs simulated orbits. */
int orr_tracks_refuse(const struct orr_settings *settings, const char *what);

#endif
