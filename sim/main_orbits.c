/* main_orbits.c - bin/orbits: simulates and writes the data sets of a preset. */
#include "sim.h"

#include <string.h>
#include <sys/statvfs.h>

static const struct orr_program program = {
    .name = "orbits",
    .purpose = "Simulates planetary orbits and writes the data sets of a preset.",
    .usage = "orbits [options]",
    .groups = "seed,orbits,planets",
};

/* Says what a large set needs, and refuses one that can not fit. */
static int check_disk(const struct orr_cli *cli, const char *dir)
{
    const double bytes = sim_dataset_bytes(&cli->preset);
    if (bytes > 10e9)
        orr_note(cli->quiet, "orbits: %.1f GB will be written to %s", bytes / 1e9, dir);
    char probe[4096];
    int rc = orr_path(probe, "%s", dir);
    while (!rc && !orr_exists(probe)) { /* the nearest folder that is there */
        char *slash = strrchr(probe, '/');
        if (slash == probe || !slash) {
            strcpy(probe, slash ? "/" : ".");
            break;
        }
        *slash = '\0';
    }
    struct statvfs disk;
    if (rc || statvfs(probe, &disk))
        return rc;
    const double room = (double)disk.f_bavail * (double)disk.f_frsize;
    if (bytes > room)
        return ORR_FAIL(ORR_EIO,
                        "%s: %.3f GB needed, %.3f GB free; make orbits.train_files "
                        "smaller or choose another --out",
                        dir, bytes / 1e9, room / 1e9);
    return 0;
}

static int run(const struct orr_cli *cli)
{
    char dir[4096], saved[4096];
    struct sim_dynamics dynamics;
    int rc = sim_dynamics_create(&dynamics, &cli->preset); /* a wrong expression: nothing is made */
    sim_dynamics_free(&dynamics);
    if (rc)
        return rc;
    rc = *cli->out ? orr_path(dir, "%s", cli->out) : orr_path(dir, "%s/orbits", cli->run);
    if (!rc && sim_dataset_complete(&cli->preset, dir)) {
        orr_note(cli->quiet, "orbits: %s is up to date", dir);
        return 0;
    }
    if (!rc)
        rc = check_disk(cli, dir);
    if (!rc)
        rc = orr_mkdir(dir);
    if (!rc && !*cli->out)
        rc = orr_path(saved, "%s/preset.json", cli->run);
    if (!rc && !*cli->out)
        rc = orr_preset_save(&cli->preset, saved);
    return rc ? rc : sim_dataset_write(&cli->preset, dir, cli->threads, cli->quiet);
}

int main(int argc, char **argv)
{
    return orr_main(&program, argc, argv, run);
}
