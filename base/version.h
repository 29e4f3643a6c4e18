/* version.h - the version of Orrery, which --version, manifests and pages show. */
#ifndef ORR_VERSION_H
#define ORR_VERSION_H

#define ORR_VERSION "0.2.0-dev"

#endif
