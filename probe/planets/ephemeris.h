/* ephemeris.h - positions of the real planets, from VSOP87 by libnova. The library is optional: the
 * Makefile uses it where its headers are installed (NOVA=0 omits it).
 *
 * Frame: the Sun at the origin, ecliptic and equinox J2000.0, which do not rotate. Positions are
 * those of the planets themselves; the Earth's is not the Earth-Moon barycentre. Source: Bretagnon
 * and Francou, Astronomy and Astrophysics 202, 309 (1988), whose stated precision is 1" within
 * 4,000 years of J2000 for Mercury to Mars, 2,000 for Jupiter and Saturn, 6,000 for Uranus and
 * Neptune. */
#ifndef PROBE_EPHEMERIS_H
#define PROBE_EPHEMERIS_H

/* The epoch of all times, as Julian ephemeris date: 2000 January 1, 12 h TT. */
#define PROBE_J2000_JDE 2451545.0
/* Length of the year in which G (1 solar mass) = 4 pi^2 AU^3: 2 pi / Gauss's constant
 * 0.01720209895. */
#define PROBE_YEAR_DAYS 365.2568983263281

/* ORR_EMISSING, naming the package, where libnova is not built in. */
int probe_ephemeris_check(void);
/* "VSOP87, libnova 0.15.0"; "" where it is not built in. The text is static. */
const char *probe_ephemeris_name(void);
/* place_au (3): x, y, z of planet 0 (Mercury) .. 7 (Neptune), t_yr years after J2000. Times are
 * resolved to about 1e-5 s, the resolution of a Julian date in double precision. Errors as for
 * probe_ephemeris_check(). */
int probe_ephemeris_place(int planet, double t_yr, double place_au[3]);

#endif
