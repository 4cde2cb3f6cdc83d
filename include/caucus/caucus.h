/* caucus.h: the whole public interface. Each header says what it is for in its first lines.
 * layer: algo */
#ifndef CAUCUS_CAUCUS_H
#define CAUCUS_CAUCUS_H

#include <caucus/client.h>
#include <caucus/coordinator.h>
#include <caucus/ledger.h>
#include <caucus/message.h>
#include <caucus/plan.h>
#include <caucus/rational.h>
#include <caucus/rng.h>
#include <caucus/samplers.h>
#include <caucus/select.h>
#include <caucus/settings.h>
#include <caucus/status.h>
#include <caucus/threshold.h>
#include <caucus/version.h>

#endif
