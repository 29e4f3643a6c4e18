/** @file simulation.h
 * Part of orrery.h: orbits. */
#ifndef ORRERY_SIMULATION_H
#define ORRERY_SIMULATION_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup simulation Simulation
 * Simulates orbits of planets under any of Orrery's force laws. Sequences are pure functions of
 * settings, set and index. Their bits are equal on every CPU, for any number of threads, and in the
 * program orbits. @{ */

/** A handle: see orrery_simulation_create(). */
struct orrery_simulation;

/** A data set of the settings. */
struct orrery_set {
    size_t bytes;       /**< sizeof(struct orrery_set) */
    uint64_t sequences; /**< number of sequences; 0: the settings make none */
    size_t positions;   /**< rows of a sequence; row 0 is the time step */
    int tokens;         /**< 1: observations are tokens, 0: coordinates */
    int labelled;       /**< 1: the set has states and forces */
};
/** Receives sequences; arrays that are NULL are not filled. P: positions of the set, n: number
 * of sequences, d: orbits.dimensions of the settings, 2 or 3. docs/formats.md describes the
 * columns. */
struct orrery_arrays {
    size_t bytes;           /**< sizeof(struct orrery_arrays) */
    uint16_t *tokens;       /**< (n, P, 2), for sets with tokens */
    float *coordinates;     /**< (n, P, d), for other sets: x, y[, z] in AU */
    uint8_t *bodies;        /**< (n) */
    float *full_state;      /**< (n, P, 2 d + 2), labelled sets */
    float *state;           /**< (n, P, 2 d + 1), labelled sets */
    float *force_magnitude; /**< (n, P), labelled sets; infinite: no label */
    float *force;           /**< (n, P, d), labelled sets */
    float *scale;           /**< (n) divisor of the coordinates, AU */
};
/** Elements of a planet's Newtonian orbit around the common centre of mass. */
struct orrery_elements {
    double a_au;      /**< semi-major axis of the relative orbit, above 0 */
    double e;         /**< eccentricity, from 0, below 1 */
    double omega_rad; /**< angle of the periapsis from +x */
    double phase_rad; /**< mean anomaly at the start */
    int clockwise;    /**< 1: clockwise, 0: counterclockwise */
};

/** A system of tracks, for orrery_simulation_import(). */
struct orrery_tracks {
    size_t bytes;           /**< sizeof(struct orrery_tracks) */
    size_t steps;           /**< times, at a constant step */
    int bodies;             /**< 2 to 255 */
    double dt;              /**< the time step, above 0 */
    const double *position; /**< (steps, bodies, 2), or (steps, bodies, 3) */
    const double *velocity; /**< likewise; NULL: not known */
    const double *mass;     /**< (bodies), above 0; NULL: not known */
    int dimensions;         /**< coordinates of a position: 2, or 3; 0: 2 */
};
/** How orrery_simulation_import() divides systems into data sets. */
struct orrery_division {
    size_t bytes;      /**< sizeof(struct orrery_division) */
    int steps;         /**< time steps of a sequence; 0: chosen by the shortest system */
    double val;        /**< share of the systems for validation; 0: none */
    double test;       /**< share for the final results; 0: none */
    int by_time;       /**< 1: divides each track by time in place of whole systems */
    uint64_t seed;     /**< of the choice of systems */
    int force;         /**< 1: replaces imported tracks in the folder */
    const char *name;  /**< where the tracks come from, for the manifest */
    const char *units; /**< of the numbers, for the manifest: "yr,AU,Msun"; NULL: of the file */
};

/** Creates a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param simulation *simulation becomes the handle or NULL; free it with orrery_simulation_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_simulation_create(int interface_, struct orrery_simulation **simulation);
/** Frees a handle.
 * @param simulation a handle that no call uses, or NULL */
ORRERY_CALL void orrery_simulation_free(struct orrery_simulation *simulation);
/** Changes settings, one KEY=VALUE per line; "#" begins a comment. Keys are seed, orbits.* and
 * planets.* as `orbits --help` lists them. All settings are checked together; after an error none
 * is changed.
 * @param simulation the handle
 * @param settings lines KEY=VALUE
 * @return a status */
ORRERY_CALL int orrery_simulation_set(struct orrery_simulation *simulation, const char *settings);
/** Describes a data set by its name: "train", "val", "test", "two_body_train", ...,
 * "planets_solar".
 * @param simulation the handle
 * @param name of a data set
 * @param set is filled; the caller sets set->bytes
 * @return a status */
ORRERY_CALL int orrery_simulation_describe(struct orrery_simulation *simulation, const char *name,
                                           struct orrery_set *set);
/** Makes `count` sequences of a set, beginning with number `first`, and writes them into arrays.
 * @param simulation the handle
 * @param name of a data set
 * @param first number of a sequence, from 0
 * @param count sequences, n
 * @param threads 0: all cores
 * @param arrays receive the sequences
 * @return a status; ORRERY_EINVAL if an array is given that the set does not have */
ORRERY_CALL int orrery_simulation_sequences(struct orrery_simulation *simulation, const char *name,
                                            uint64_t first, size_t count, int threads,
                                            const struct orrery_arrays *arrays);
/** Computes the relative motion of two bodies under the law of the settings: x, y, vx, vy at times
 * 0, dt, ..., (n - 1) dt. It starts at the position and in the direction of the Newtonian ellipse,
 * with a speed that makes the orbit bound and similar. Where orbits.dimensions of the settings is
 * 3, a state is x, y, z, vx, vy, vz, here and in the following calls.
 * @param simulation the handle
 * @param elements of the orbit
 * @param m1 mass of body 1, solar masses, above 0
 * @param m2 mass of body 2
 * @param dt_yr time step, years
 * @param n states, at least 1
 * @param state (n, 4)
 * @return a status; ORRERY_EDOM if there is no such orbit, or it cannot be integrated */
ORRERY_CALL int orrery_simulation_orbit(struct orrery_simulation *simulation,
                                        const struct orrery_elements *elements, double m1,
                                        double m2, double dt_yr, size_t n, double *state);
/** Computes the relative motion of two bodies in space, as orrery_simulation_orbit() does in the x,
 * y plane, whatever orbits.dimensions is.
 * @param simulation the handle
 * @param elements of the orbit in its plane, whose x axis is the line of nodes
 * @param inclination_rad of that plane to the x, y plane
 * @param node_rad angle of the ascending node from +x
 * @param m1 mass of body 1, solar masses, above 0
 * @param m2 mass of body 2
 * @param dt_yr time step, years
 * @param n states, at least 1
 * @param state (n, 6) x, y, z, vx, vy, vz
 * @return a status; ORRERY_EDOM if there is no such orbit, or it cannot be integrated */
ORRERY_CALL int orrery_simulation_orbit_in_space(struct orrery_simulation *simulation,
                                                 const struct orrery_elements *elements,
                                                 double inclination_rad, double node_rad, double m1,
                                                 double m2, double dt_yr, size_t n, double *state);
/** Integrates bodies that all attract each other under the law of the settings, from starts
 * taken exactly as they are.
 * @param simulation the handle
 * @param bodies 2 to 11
 * @param mass (bodies), solar masses, above 0
 * @param start (bodies, 4) x, y, vx, vy in an inertial frame, AU and AU/yr
 * @param dt_yr time step, years
 * @param n states, at least 1
 * @param states (bodies, n, 4) at times 0, dt, ..., (n - 1) dt
 * @return a status; ORRERY_EDOM if the motion cannot be integrated */
ORRERY_CALL int orrery_simulation_bodies(struct orrery_simulation *simulation, int bodies,
                                         const double *mass, const double *start, double dt_yr,
                                         size_t n, double *states);
/** Computes the law's force on body 1 at n relative states x, y, vx, vy (body 1 minus body 2), in
 * solar mass AU / yr^2.
 * @param simulation the handle
 * @param m1 mass of body 1, solar masses, above 0
 * @param m2 mass of body 2
 * @param n states
 * @param state (n, 4), finite
 * @param force (n, 2), towards body 2 if the law attracts; or NULL
 * @param magnitude (n), or NULL
 * @return a status */
ORRERY_CALL int orrery_simulation_force(struct orrery_simulation *simulation, double m1, double m2,
                                        size_t n, const double *state, double *force,
                                        double *magnitude);

/** Writes tracks of any program as a folder of data sets, as `orbits import` does
 * (docs/tracks.md). Tracks that are there already stay as they are.
 * @param simulation a handle, whose settings do not matter
 * @param folder is created
 * @param systems how many there are
 * @param tracks (systems) pointers
 * @param division of the systems
 * @return a status; ORRERY_EINVAL names the system that is too short, or the folder that holds
 * other data */
ORRERY_CALL int orrery_simulation_import(struct orrery_simulation *simulation, const char *folder,
                                         size_t systems, const struct orrery_tracks *const *tracks,
                                         const struct orrery_division *division);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
