/* SPDX-License-Identifier: Apache-2.0 */
/* recommender.c: which genre should twelve shops put forward, if nobody may see what a customer likes?
 *
 * Every round each shop meets one user of MovieLens, 1M or 100K. Experts are the 18 genres; the loss of a genre for a
 * user is how much lower the user rates it than Drama, the public yardstick, on average (0 if not lower, 5 is the
 * worst). Nobody is trusted: before anything leaves a shop it is private by itself, a vote per phase drawn with noise
 * (Fed-DP-OPE-Stoch, trust nobody). The phases double, so there are few votes, and each is about losses that no other
 * vote has seen.
 *
 * Compile against an installed caucus:   cc recommender.c $(pkg-config --cflags --libs caucus) -lm
 * Run:   ./a.out path/to/ml-1m            a private run (ml-100k works as well: what lies there decides)
 *        ./a.out path/to/ml-1m --seed 7   a repeatable one, which is NOT PRIVATE */
#include <caucus/caucus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOPS = 12, GENRES = 18, DRAMA = 7, USERS = 6040, FILMS = 3952 }; /* at most so many users and films */

static const char *const genre_name[GENRES] = {
    "Action",    "Adventure", "Animation", "Children's", "Comedy",  "Crime",  "Documentary", "Drama", "Fantasy",
    "Film-Noir", "Horror",    "Musical",   "Mystery",    "Romance", "Sci-Fi", "Thriller",    "War",   "Western"};

typedef struct ratings {
    uint32_t users;                       /* numbered from 1 */
    unsigned char has[FILMS + 1][GENRES]; /* which genres a film has */
    double mean[USERS + 1][GENRES];       /* how a user rates a genre; 0: has rated none of it */
    unsigned count[USERS + 1][GENRES];    /* how often */
} ratings;

/* A line that a reader has made something of, or not. */
typedef void (*line_reader)(ratings *r, char *line);

/* Every line of a file; 0 if there is none. */
static int read_lines(const char *directory, const char *name, line_reader reader, ratings *r) {
    char path[1024], line[2048];
    FILE *file = NULL;
    if (snprintf(path, sizeof path, "%s/%s", directory, name) < (int)sizeof path)
        file = fopen(path, "r");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file))
        reader(r, line);
    fclose(file);
    return 1;
}

/* 100K, u.item: id|title|...|19 flags, "unknown" first and then the genres in the order above. */
static void take_flags(ratings *r, char *line) {
    unsigned long film = strtoul(line, NULL, 10);
    size_t length = strcspn(line, "\r\n");
    if (film < 1 || film > FILMS || length < 2 * GENRES)
        return;
    for (int g = 0; g < GENRES; g++)
        r->has[film][g] = line[length - 1 - 2 * (size_t)(GENRES - 1 - g)] == '1';
}

/* 1M, movies.dat: id::title::genre|genre|... */
static void take_names(ratings *r, char *line) {
    unsigned long film = strtoul(line, NULL, 10);
    char *at = line;
    for (char *next; (next = strstr(at, "::")) != NULL;)
        at = next + 2;
    if (film < 1 || film > FILMS)
        return;
    for (size_t length; (length = strcspn(at, "|\r\n")) > 0; at += length + (at[length] == '|'))
        for (int g = 0; g < GENRES; g++)
            if (strlen(genre_name[g]) == length && memcmp(at, genre_name[g], length) == 0)
                r->has[film][g] = 1;
}

/* Both: user, film, rating, time, with tabs or "::" between them. */
static void take_rating(ratings *r, char *line) {
    unsigned long field[3];
    char *at = line;
    for (int i = 0; i < 3; i++) {
        field[i] = strtoul(at, &at, 10);
        at += strspn(at, ":\t");
    }
    if (field[0] < 1 || field[0] > USERS || field[1] < 1 || field[1] > FILMS || field[2] < 1 || field[2] > 5)
        return;
    if (field[0] > r->users)
        r->users = (uint32_t)field[0];
    for (int g = 0; g < GENRES; g++)
        if (r->has[field[1]][g]) {
            r->mean[field[0]][g] += (double)field[2];
            r->count[field[0]][g]++;
        }
}

static int read_data(const char *directory, ratings *r) {
    if (!(read_lines(directory, "movies.dat", take_names, r) && read_lines(directory, "ratings.dat", take_rating, r)) &&
        !(read_lines(directory, "u.item", take_flags, r) && read_lines(directory, "u.data", take_rating, r))) {
        fprintf(stderr,
                "%s: neither movies.dat and ratings.dat nor u.item and u.data; give the directory of MovieLens 1M or "
                "100K (grouplens.org/datasets/movielens)\n",
                directory);
        return 0;
    }
    for (uint32_t u = 1; u <= r->users; u++)
        for (int g = 0; g < GENRES; g++)
            if (r->count[u][g] > 0)
                r->mean[u][g] /= r->count[u][g];
    return r->users >= SHOPS;
}

static uint32_t rounds_of(const ratings *r) {
    return r->users / SHOPS;
}

/* What shop s (from 0) loses in a round (from 1) with each genre: every user is met once, by one shop. */
static void losses_of(const ratings *r, uint32_t shop, uint32_t round, double ret[GENRES]) {
    const double *mean = r->mean[1 + shop * rounds_of(r) + round - 1];
    for (int g = 0; g < GENRES; g++)
        ret[g] = mean[DRAMA] > mean[g] ? mean[DRAMA] - mean[g] : 0;
}

/* The range of a loss is public and wide enough for any user: that clamp, and no promise about the data, is what
 * privacy rests on. */
static caucus_status make_plan(uint32_t rounds, caucus_plan **ret, caucus_error *error) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = CAUCUS_ALGORITHM_STOCH;
    s.trust = CAUCUS_TRUST_NOBODY;
    s.message = CAUCUS_MESSAGE_VOTE;
    s.clients = SHOPS;
    s.experts = GENRES;
    s.rounds = rounds;
    s.lo = 0;
    s.hi = 5;
    s.epsilon = 5;
    return caucus_plan_new(&s, ret, error);
}

typedef struct market {
    caucus_coordinator *coordinator;
    caucus_client *shop[SHOPS];
} market;

static caucus_status open_market(market *m, const caucus_plan *plan, const caucus_key *seeded) {
    caucus_key key;
    caucus_status status = CAUCUS_OK;
    for (uint32_t i = 0; status == CAUCUS_OK && i <= SHOPS; i++) { /* 0 is the coordinator */
        if (seeded)
            caucus_key_derive(seeded, i, &key);
        else
            status = caucus_key_generate(&key);
        if (status == CAUCUS_OK)
            status = i == 0 ? caucus_coordinator_new(plan, &key, &m->coordinator)
                            : caucus_client_new(plan, i, &key, &m->shop[i - 1]);
        if (status == CAUCUS_OK && i > 0)
            status = caucus_client_hear(m->shop[i - 1], caucus_coordinator_announcement(m->coordinator));
    }
    caucus_key_wipe(&key);
    return status;
}

/* A phase is over: every shop votes, the votes are counted, everybody hears. What a vote says is already private. */
static caucus_status vote(market *m, uint32_t round) {
    caucus_status status = CAUCUS_OK;
    while (status == CAUCUS_OK && caucus_client_report(m->shop[0])) {
        printf("after round %2u the shops vote:", (unsigned)round);
        for (uint32_t i = 0; status == CAUCUS_OK && i < SHOPS; i++) {
            const caucus_report *report = caucus_client_report(m->shop[i]);
            printf(" %s", genre_name[report->value[0]]);
            status = caucus_coordinator_receive(m->coordinator, report);
        }
        if (status == CAUCUS_OK)
            status = caucus_coordinator_decide(m->coordinator);
        const caucus_announcement *now = caucus_coordinator_announcement(m->coordinator);
        for (uint32_t i = 0; status == CAUCUS_OK && i < SHOPS; i++)
            status = caucus_client_hear(m->shop[i], now);
        printf("\n  put forward now: %s\n", genre_name[now->expert]);
    }
    return status;
}

static caucus_status play(market *m, const ratings *r, const caucus_plan *plan) {
    caucus_status status = CAUCUS_OK;
    double total[GENRES] = {0}, played = 0;
    printf("first, blindly: %s\n", genre_name[caucus_client_expert(m->shop[0])]);
    for (uint32_t round = 1; status == CAUCUS_OK && round <= rounds_of(r); round++) {
        for (uint32_t i = 0; status == CAUCUS_OK && i < SHOPS; i++) {
            double loss[GENRES];
            losses_of(r, i, round, loss);
            for (int g = 0; g < GENRES; g++)
                total[g] += loss[g] / SHOPS;
            played += loss[caucus_client_expert(m->shop[i])] / SHOPS;
            status = caucus_client_observe(m->shop[i], loss, 1);
        }
        if (status == CAUCUS_OK)
            status = vote(m, round);
    }
    int best = 0;
    for (int g = 1; g < GENRES; g++)
        best = total[g] < total[best] ? g : best;
    if (status == CAUCUS_OK) {
        printf("lost per shop: %.1f stars in %u rounds; always %s: %.1f\n", played, (unsigned)rounds_of(r),
               genre_name[best], total[best]);
        printf("privacy of every message, against everybody: epsilon %.3g for one user\n",
               caucus_plan_epsilon_messages(plan));
    }
    return status;
}

int main(int argc, char **argv) {
    caucus_key key;
    char *end = NULL;
    bool seeded = argc == 4 && strcmp(argv[2], "--seed") == 0;
    unsigned long long seed = seeded ? strtoull(argv[3], &end, 10) : 0;
    if (!(argc == 2 || seeded) || (seeded && (end == argv[3] || *end != '\0'))) {
        fprintf(stderr, "usage: %s MOVIELENS-DIRECTORY [--seed NUMBER]\n", argv[0]);
        return 2;
    }
    if (seeded)
        caucus_key_from_seed(seed, &key);
    ratings *r = calloc(1, sizeof *r);
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    market m = {.coordinator = NULL};
    if (!r || !read_data(argv[1], r)) {
        free(r);
        return 1;
    }
    caucus_status status = make_plan(rounds_of(r), &plan, &error);
    if (status != CAUCUS_OK)
        fprintf(stderr, "plan: %s: %s\n", error.field, error.text);
    if (status == CAUCUS_OK)
        status = open_market(&m, plan, seeded ? &key : NULL);
    if (status == CAUCUS_OK)
        status = play(&m, r, plan);
    if (seeded)
        printf("NOT PRIVATE (seeded): whoever knows the seed knows the noise\n");
    for (int i = 0; i < SHOPS; i++)
        caucus_client_free(m.shop[i]);
    caucus_coordinator_free(m.coordinator);
    caucus_plan_free(plan);
    free(r);
    return status == CAUCUS_OK ? 0 : 1;
}
