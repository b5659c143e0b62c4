/* SPDX-License-Identifier: MIT */
/* The version of the program, in one place. */
#ifndef VERSION_H
#define VERSION_H

#define GRPCTAP_VERSION "0.1.0"

#endif
