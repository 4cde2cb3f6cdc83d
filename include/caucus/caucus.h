/* SPDX-License-Identifier: Apache-2.0 */
/* caucus.h: the whole public interface. Each header says what it is for in its first lines.
 * layer: show
 *
 * Arguments stand in one order in every function:
 *   1. the object it works on, the one that the function's name begins with; a draw works on the stream it draws from;
 *   2. inputs, an array followed by the number of its elements (unless the plan fixes it), working space behind them;
 *   3. outputs, called ret or ret_..., written on success only; an array of the caller's is followed by the room
 *      it has, ret_bytes for bytes and characters and ret_count for numbers (or the n that the function fills); a
 *      single number has a name of its own (ret_run), and ret_size is how many bytes *ret has;
 *   4. ret_error, the one line for people about a failure; NULL is allowed.
 *
 * Beginnings and ends have one pair of names each: _new and _free for memory, _open and _close for what holds a file or
 * a socket, _init for a struct of the caller's (and _wipe where it holds a secret). _free takes NULL.
 *
 * A struct that may grow begins with its size, set by its _init (an entry of a ledger by the library): a library that
 * knows more than the caller leaves alone what lies behind it. One that cannot grow says why, after "Fixed:".
 *
 * Functions of link.h, journal.h and plan_file.h are in the libraries caucus-link and caucus-sim, those of advice.h,
 * asked.h, losses.h and simulate.h in caucus-sim, all others in each of the three; a program links one of them.
 *
 * tests/house holds these rules, and that nothing is exported that is not declared here. */
#ifndef CAUCUS_CAUCUS_H
#define CAUCUS_CAUCUS_H

#include <caucus/advice.h>
#include <caucus/asked.h>
#include <caucus/client.h>
#include <caucus/coordinator.h>
#include <caucus/journal.h>
#include <caucus/ledger.h>
#include <caucus/link.h>
#include <caucus/losses.h>
#include <caucus/message.h>
#include <caucus/pick.h>
#include <caucus/plan.h>
#include <caucus/plan_file.h>
#include <caucus/rational.h>
#include <caucus/rng.h>
#include <caucus/samplers.h>
#include <caucus/select.h>
#include <caucus/settings.h>
#include <caucus/simulate.h>
#include <caucus/status.h>
#include <caucus/threshold.h>
#include <caucus/version.h>

#endif
