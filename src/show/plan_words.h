/* SPDX-License-Identifier: Apache-2.0 */
/* plan_words.h: numbers and names as people read them, for plans and ledgers.
 * layer: show */
#ifndef CAUCUS_SHOW_PLAN_WORDS_H
#define CAUCUS_SHOW_PLAN_WORDS_H

#include "plan/plan.h"
#include <stdio.h>

/* Room for any of the texts below; they return their buffer. */
#define CAUCUS_WORDS_BYTES 64
typedef struct caucus_words {
    char text[CAUCUS_WORDS_BYTES];
} caucus_words;

/** Three digits that count, thousands apart: "0.273", "10.6", "51,200". "none" for what is no number. */
caucus_words caucus_words_number(double value);
/** Two digits that count: "2", "740", "12,000": for what was simulated or estimated. */
caucus_words caucus_words_about(double value);
caucus_words caucus_words_whole(uint64_t value);
/** A time in whole seconds: "1 day", "36 hours", "90 minutes", "22 minutes 30 seconds". */
caucus_words caucus_words_time(uint64_t seconds);
/** The same as it is typed: "1d", "36h", "90m", "1350s". */
caucus_words caucus_words_typed_time(uint64_t seconds);
/** When a slot of devices' clocks begins: "2027-01-31 06:00:00 UTC"; and as it is typed: "2027-01-31T06:00:00", where
 *  it is midnight without the time. */
caucus_words caucus_words_slot(const caucus_settings *settings, uint64_t slot);
caucus_words caucus_words_typed_slot(const caucus_settings *settings, uint64_t slot);
/** "812 bytes", "12.2 kB", "3.1 MB". */
caucus_words caucus_words_bytes(double bytes);
/** "epsilon 10 (pure)", "epsilon 1, delta 1e-06", "not private", "nothing is spent"; for NaN "coordinator is
 *  trusted". */
caucus_words caucus_words_privacy(double epsilon, double delta);
/** What stands behind an epsilon that holds with it: ", delta 1e-06"; nothing for 0. */
caucus_words caucus_words_delta(double delta);

/** The name an algorithm has in papers: "Fed-SVT". */
const char *caucus_words_algorithm(caucus_algorithm algorithm);
/** What one change of the data is: "one loss of one client". */
const char *caucus_words_unit(const caucus_settings *settings);

/* Loss units of one grid step of a summed score: of one loss; of a block's mean, a block of them (unit client-block);
 * of a gradient's coordinate (convex losses). */
double caucus_words_step(const caucus_plan *plan);
/** Scale of a noise or of a selection with this rate, in loss units. */
double caucus_words_scale(const caucus_plan *plan, caucus_rational rate);
double caucus_words_spread(const caucus_plan *plan, const caucus_noise *noise);
/** "geometric", "Laplace", "Gaussian", "K-norm". */
const char *caucus_words_law(caucus_noise_kind kind);

/** Bytes of the character a text begins with, 0 if it is not well-formed UTF-8 (surrogates and overlong forms are
 *  not). */
size_t caucus_words_character(const char *text);

/** Columns a text takes on a screen. */
int caucus_words_width(const char *text);

#endif
