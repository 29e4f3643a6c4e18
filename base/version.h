/* version.h - the version of Orrery, which --version, manifests and pages show. */
#ifndef ORR_VERSION_H
#define ORR_VERSION_H

#define ORR_VERSION "0.2.0"

/* 10000 major + 100 minor + patch */
#define ORR_VERSION_NUMBER 200

#endif
