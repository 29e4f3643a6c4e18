/* print_sequence.c - prints elements and sampling of one sequence. */
#include "sim/data/print_sequence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* Samples per orbit: below SAMPLES_LEAST they do not determine the motion (Nyquist); below
 * SAMPLES_GOOD, accelerations from differences are inaccurate. */
enum { SAMPLES_LEAST = 2, SAMPLES_GOOD = 40 };

double sim_shown_period_yr(const struct sim_shown *w, int i)
{
    const struct sim_system *s = &w->system;
    return sim_period_yr(s->orbit[i].a_au, s->mass[i] + s->star_mass);
}

bool sim_shown_kepler(const struct sim_shown *w)
{
    return !w->unknown && sim_states_closed(&w->sequence.dynamics, &w->system);
}

void sim_shown_law(const struct sim_shown *w, char text[160])
{
    const struct sim_dynamics *d = &w->sequence.dynamics;
    text[0] = '\0';
    if (!w->unknown && !sim_shown_kepler(w))
        snprintf(text, 160, "law %s%s%s: a, e and period are those of Newton's law at the start",
                 sim_law_name(d), d->nbody ? ", nbody" : "", d->jump_step ? ", with a jump" : "");
}

static void print_head(const struct sim_shown *w)
{
    char law[160], shown[4096];
    printf("%s %llu of ", sim_split_name(w->split), (unsigned long long)w->index);
    if (w->dir)
        printf("%s: ", orr_shown(shown, sizeof shown, w->dir));
    else
        printf("preset %s, seed %llu: ", w->settings->name, (unsigned long long)w->settings->seed);
    printf("%d bodies, %d positions, dt %.6g%s\n", w->system.planets + 1, w->sequence.positions,
           w->system.dt_yr, w->tracks ? "" : " yr");
    sim_shown_law(w, law);
    if (*law)
        printf("%s\n", law);
}

static void print_table(const struct sim_shown *w)
{
    const struct sim_system *s = &w->system;
    print_head(w);
    if (w->unknown) {
        printf("elements and masses are not known: %s\n", w->unknown);
        return;
    }
    const bool space = w->sequence.dimensions == 3;
    printf("%-5s %12s %9s %7s %9s %9s %11s %9s%s\n", "body", "mass", "a", "e", "omega", "phase",
           "period", "samples", space ? "  inclined      node" : "");
    printf("%-5s %12s %9s %7s %9s %9s %11s %9s%s\n", "", "solar", "AU", "", "degrees", "degrees",
           "yr", "per orbit", space ? "   degrees   degrees" : "");
    const double degrees = 180 / acos(-1);
    for (int i = 0; i < s->planets; i++) {
        const struct sim_elements *el = &s->orbit[i];
        const double period = sim_shown_period_yr(w, i);
        printf("%-5d %12.4g %9.4f %7.4f %9.2f %9.2f %11.4f %9.1f%s", i + 1, s->mass[i], el->a_au,
               el->e, el->omega_rad * degrees, el->phase_rad * degrees, period, period / s->dt_yr,
               el->clockwise ? "  clockwise" : "");
        if (space)
            printf(" %9.2f %9.2f", el->inclination_rad * degrees, el->node_rad * degrees);
        printf("\n");
    }
    printf("%-5s %12.4g\n", "star", s->star_mass);
    printf("centre of mass %.4f, %.4f", s->com_au[0], s->com_au[1]);
    if (space)
        printf(", %.4f", s->com_au[2]);
    printf(" AU; the star %s; %ld coordinates clipped\n",
           s->star_moves ? "moves around it" : "stays there", w->sequence.clipped);
    for (int i = 0; i < s->planets; i++) {
        const double samples = sim_shown_period_yr(w, i) / s->dt_yr;
        if (samples < SAMPLES_LEAST)
            printf("warning: body %d is sampled %.1f times per orbit, below %d (Nyquist): its "
                   "motion cannot be determined from these samples\n",
                   i + 1, samples, SAMPLES_LEAST);
        else if (samples < SAMPLES_GOOD)
            printf("note: body %d is sampled %.1f times per orbit, below %d: forces by "
                   "differences are rough\n",
                   i + 1, samples, SAMPLES_GOOD);
    }
}

int sim_sequence_show(const struct orr_settings *settings, enum sim_split split, uint64_t index,
                      const char *picture)
{
    struct sim_shown w = {.settings = settings, .split = split, .index = index};
    int rc = picture ? sim_picture_check(picture) : 0;
    if (!rc)
        rc = sim_sequence_create(&w.sequence, settings, split);
    if (rc)
        return rc;
    rc = sim_sequence_make(&w.sequence, settings, split, index);
    w.system = w.sequence.system;
    if (!rc)
        print_table(&w);
    if (!rc && picture)
        rc = sim_picture_draw(&w, picture);
    sim_sequence_free(&w.sequence);
    return rc;
}

/* --------------------------------------------------------------------- sequences of a folder */

/* Sets the settings' number of sequences to the number in the set's record. */
static int take_count(struct orr_settings *settings, enum sim_split split, const cJSON *record)
{
    static const char *const keys[SIM_SPLITS] = {
        "orbits.train",          "orbits.val",          "orbits.test",
        "orbits.two_body_train", "orbits.two_body_val", "orbits.two_body_test",
        "orbits.solar_system",   "orbits.solar_system", "planets.train",
        "planets.val",           "planets.eccentric",   "planets.test"};
    const char *value = cJSON_GetStringValue(orr_json_get(record, "sequences"));
    settings->planets.enabled |= split >= SIM_SPLIT_PLANETS_TRAIN;
    if (split == SIM_SPLIT_PLANETS_SOLAR)
        value = value && atoi(value) > SIM_SUN_PLANETS ? "true" : "false";
    else if (split == SIM_SPLIT_SOLAR_SYSTEM || split == SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY)
        value = "true";
    return value ? orr_settings_set_by(settings, "manifest.json", keys[split], value) : 0;
}

/* ORR_EINVAL with the reason if the set was made from other settings. */
static int compare_settings(const struct orr_settings *settings, enum sim_split split,
                            const cJSON *made)
{
    char digest[ORR_DIGEST], why[ORR_WHY] = "";
    cJSON *expected = NULL;
    struct orr_records records = {0};
    int rc = orr_records_create(&records);
    if (!rc)
        rc = orr_set_made(settings, sim_split_name(split), digest, &expected);
    if (!rc)
        rc = orr_records_import(&records, expected, sim_split_name(split), digest);
    if (!rc && !orr_made_same(&records, digest, made, why))
        rc = ORR_FAIL(ORR_EINVAL, "%s", why);
    cJSON_Delete(expected);
    orr_records_free(&records);
    return rc;
}

/* Reads the settings from a set's record; settings that it omits had no effect. ORR_EINVAL if there
 * is no record, or it is of another version. */
static int take_settings(struct orr_settings *settings, enum sim_split split, const cJSON *manifest,
                         const cJSON *set)
{
    const cJSON *made = orr_json_get(set, "made");
    const cJSON *record = orr_made_record(made, orr_made_digest(made)), *item;
    orr_settings_defaults(settings);
    if (orr_json_get(manifest, "tracks"))
        return ORR_FAIL(ORR_EINVAL, "imported tracks of %s",
                        orr_json_text(orr_json_get(manifest, "tracks"), "file"));
    if (!record)
        return ORR_FAIL(ORR_EINVAL, "%s",
                        manifest ? "manifest.json does not say what it was made from"
                                 : "no manifest.json, made elsewhere");
    cJSON_ArrayForEach (item, orr_json_get(record, "settings"))
        if (cJSON_IsString(item))
            TRY(orr_settings_set_by(settings, "manifest.json", item->string, item->valuestring));
    TRY(take_count(settings, split, record));
    return compare_settings(settings, split, made);
}

/* Checks that the set was made from the given settings, whatever its number of sequences. */
static int check_given(const struct orr_settings *given, const char *dir, enum sim_split split,
                       const cJSON *set)
{
    const cJSON *made = orr_json_get(set, "made");
    struct orr_settings settings = *given;
    char why[ORR_WHY];
    TRY(take_count(&settings, split, orr_made_record(made, orr_made_digest(made))));
    const int rc = compare_settings(&settings, split, made);
    if (rc != ORR_EINVAL)
        return rc;
    snprintf(why, sizeof why, "%.*s", (int)sizeof why - 1, orr_error());
    return ORR_FAIL(rc,
                    "%s: data set %s: %s; without --preset, --set, --seed and --run it is shown as "
                    "it is",
                    dir, sim_split_name(split), why);
}

/* Makes the sequence from known settings, for its elements. */
static int make_known(struct sim_shown *w, struct orr_settings *settings)
{
    TRY(sim_sequence_create(&w->sequence, settings, w->split));
    TRY(sim_sequence_make(&w->sequence, settings, w->split, w->index));
    w->system = w->sequence.system;
    return 0;
}

/* Replaces the rows by those of the files. */
static int take_rows(struct sim_shown *w, const struct sim_dataset *set,
                     struct orr_settings *settings)
{
    struct sim_sequence *q = &w->sequence;
    const size_t bytes =
        sim_kind_bytes(set->tokens || sim_dataset_tokens(set, 0) ? SIM_KIND_OBS : SIM_KIND_COORDS,
                       set->positions, set->dimensions);
    const uint16_t *tokens = sim_dataset_tokens(set, w->index);
    const float *coords = sim_dataset_coords(set, w->index);
    if (w->unknown) {
        w->system = (struct sim_system){.planets = set->num_bodies[w->index] - 1};
        w->system.dt_yr =
            tokens ? sim_token_dt_yr(tokens[0], settings->orbits.bins) : orr_exp((double)coords[0]);
        q->positions = set->positions;
        q->dimensions = set->dimensions;
        q->scale = set->scale ? set->scale[w->index] : 1;
        q->tokens = tokens ? orr_alloc(1, bytes) : NULL;
        q->coords = tokens ? NULL : orr_alloc(1, bytes);
        if (!(tokens ? (void *)q->tokens : (void *)q->coords))
            return ORR_ENOMEM;
        if (w->system.planets > SIM_PLANETS)
            return ORR_FAIL(ORR_EFORMAT, "%s: sequence %llu: expected at most %d bodies, found %d",
                            w->dir, (unsigned long long)w->index, SIM_PLANETS + 1,
                            w->system.planets + 1);
    } else if (memcmp(tokens ? (const void *)q->tokens : q->coords,
                      tokens ? (const void *)tokens : coords, bytes) != 0) {
        orr_note(false, "%s: note: rows of %s %llu differ from what its settings make here", w->dir,
                 sim_split_name(w->split), (unsigned long long)w->index);
    }
    memcpy(tokens ? (void *)q->tokens : q->coords, tokens ? (const void *)tokens : coords, bytes);
    return 0;
}

/* Shows a sequence of an open set: settings, elements and rows. The caller provides the storage of
 * preset and why. */
static int show_set(struct sim_shown *w, struct sim_dataset *data, const cJSON *manifest,
                    const char *picture, struct orr_settings *settings, char why[512])
{
    const struct orr_settings *given = w->settings;
    const cJSON *sets = orr_json_get(manifest, "sets");
    const cJSON *set = orr_json_get(sets, sim_split_name(w->split));
    int rc = take_settings(settings, w->split, manifest, set);
    w->settings = settings;
    if (!rc && (sim_split_positions(settings, w->split) != data->positions ||
                settings->orbits.dimensions != data->dimensions))
        rc = ORR_FAIL(ORR_EFORMAT, "its files have other lengths than its settings");
    if (rc) {
        if (rc == ORR_ENOMEM)
            return rc;
        snprintf(why, 512, "%.500s", orr_error());
        w->unknown = why;
        orr_error_clear();
        const double bins = orr_json_number(manifest, "bins");
        const double extent = orr_json_number(manifest, "extent_au");
        if (given) {
            settings->orbits.bins = given->orbits.bins;
            settings->orbits.extent_au = given->orbits.extent_au;
        }
        if (bins >= 1 && bins <= 65532 && extent > 0) { /* else given, or the study's */
            settings->orbits.bins = (int)bins;
            settings->orbits.extent_au = extent;
        }
    }
    data->bins = settings->orbits.bins;
    TRY(sim_dataset_check_rows(data, w->index));
    if (!w->unknown)
        TRY(make_known(w, settings));
    TRY(take_rows(w, data, settings));
    print_table(w);
    return picture ? sim_picture_draw(w, picture) : 0;
}

int sim_folder_show(const char *dir, const struct orr_settings *given, enum sim_split split,
                    uint64_t index, const char *picture)
{
    struct sim_shown w = {.settings = given, .split = split, .index = index, .dir = dir};
    struct sim_dataset data = {0};
    struct orr_settings settings;
    char why[512];
    cJSON *manifest = NULL;
    if (picture)
        TRY(sim_picture_check(picture));
    TRY(sim_manifest_read(dir, &manifest));
    const cJSON *set = orr_json_get(orr_json_get(manifest, "sets"), sim_split_name(split));
    w.tracks = orr_json_get(manifest, "tracks") != NULL;
    int rc = 0;
    if (manifest && !set)
        rc = ORR_FAIL(ORR_EMISSING, "%s/manifest.json: no data set \"%s\"; --split names another",
                      dir, sim_split_name(split));
    if (!rc && given && set)
        rc = check_given(given, dir, split, set);
    if (!rc)
        rc = sim_dataset_open_any(&data, dir, split);
    if (!rc && index >= data.n)
        rc = ORR_FAIL(ORR_EUSAGE, "--sequence: %s of %s has %zu sequences, found %llu",
                      sim_split_name(split), dir, data.n, (unsigned long long)index);
    if (!rc)
        rc = show_set(&w, &data, manifest, picture, &settings, why);
    sim_dataset_close(&data);
    sim_sequence_free(&w.sequence);
    cJSON_Delete(manifest);
    return rc;
}
