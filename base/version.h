/* version.h - the version of Orrery, as --version, manifests and pages say it. */
#ifndef ORR_VERSION_H
#define ORR_VERSION_H

#define ORR_VERSION "0.2.0-dev"

#endif
