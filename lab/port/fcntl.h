/* fcntl.h - of the C library, with what it lacks: the module opens no file. */
#ifndef LAB_PORT_FCNTL_H
#define LAB_PORT_FCNTL_H

#include_next <fcntl.h>

#ifndef F_DUPFD_CLOEXEC
#define F_DUPFD_CLOEXEC 1030
#endif

#endif
