/* recommender.c: which genre should twelve shops put forward, if nobody may see what a customer likes?
 *
 * Every round each shop meets one user of MovieLens 100K. Experts are the 18 genres; the loss of a genre for a user is
 * how much lower the user rates it than Drama, the public yardstick, on average (0 if not lower, 5 is the worst).
 * Nobody is trusted: before anything leaves a shop it is private by itself, a vote per phase drawn with noise
 * (Fed-DP-OPE-Stoch, trust nobody). The phases double, so there are few votes, and each is about losses that no other
 * vote has seen.
 *
 * Compile against an installed caucus:   cc recommender.c $(pkg-config --cflags --libs caucus) -lm
 * Run:   ./a.out path/to/ml-100k            a private run
 *        ./a.out path/to/ml-100k --seed 7   a repeatable one, which is NOT PRIVATE */
#include <caucus/caucus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOPS = 12, GENRES = 18, DRAMA = 7, USERS = 943, FILMS = 1682, ROUNDS = USERS / SHOPS };

static const char *const genre_name[GENRES] = {
    "Action",    "Adventure", "Animation", "Children's", "Comedy",  "Crime",  "Documentary", "Drama", "Fantasy",
    "Film-Noir", "Horror",    "Musical",   "Mystery",    "Romance", "Sci-Fi", "Thriller",    "War",   "Western"};

typedef struct ratings {
    unsigned char has[FILMS + 1][GENRES]; /* which genres a film has */
    double mean[USERS + 1][GENRES];       /* how a user rates a genre; 0: has rated none of it */
} ratings;

static FILE *open_in(const char *directory, const char *name) {
    char path[1024];
    FILE *file = NULL;
    if (snprintf(path, sizeof path, "%s/%s", directory, name) < (int)sizeof path)
        file = fopen(path, "r");
    if (!file)
        fprintf(stderr,
                "%s: cannot be read; give the directory of MovieLens 100K (grouplens.org/datasets/movielens/100k)\n",
                path);
    return file;
}

/* u.item: id|title|...|19 flags, "unknown" first and then the genres in the order above. */
static int read_films(const char *directory, ratings *r) {
    FILE *file = open_in(directory, "u.item");
    char line[2048];
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file)) {
        unsigned long film = strtoul(line, NULL, 10);
        size_t length = strcspn(line, "\r\n");
        if (film < 1 || film > FILMS || length < 2 * GENRES)
            continue;
        for (int g = 0; g < GENRES; g++)
            r->has[film][g] = line[length - 1 - 2 * (size_t)(GENRES - 1 - g)] == '1';
    }
    fclose(file);
    return 1;
}

/* u.data: user, film, rating, time. */
static int read_ratings(const char *directory, ratings *r) {
    static unsigned count[USERS + 1][GENRES];
    FILE *file = open_in(directory, "u.data");
    char line[256];
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file)) {
        char *at = line;
        unsigned long user = strtoul(at, &at, 10), film = strtoul(at, &at, 10), rating = strtoul(at, &at, 10);
        if (user < 1 || user > USERS || film < 1 || film > FILMS || rating < 1 || rating > 5)
            continue;
        for (int g = 0; g < GENRES; g++)
            if (r->has[film][g]) {
                r->mean[user][g] += (double)rating;
                count[user][g]++;
            }
    }
    fclose(file);
    for (int u = 1; u <= USERS; u++)
        for (int g = 0; g < GENRES; g++)
            if (count[u][g] > 0)
                r->mean[u][g] /= count[u][g];
    return 1;
}

/* What shop s (from 0) loses in a round (from 1) with each genre: every user is met once, by one shop. */
static void losses_of(const ratings *r, uint32_t shop, uint32_t round, double ret[GENRES]) {
    const double *mean = r->mean[1 + shop * ROUNDS + round - 1];
    for (int g = 0; g < GENRES; g++)
        ret[g] = mean[DRAMA] > mean[g] ? mean[DRAMA] - mean[g] : 0;
}

/* The range of a loss is public and wide enough for any user: that clamp, and no promise about the data, is what
 * privacy rests on. */
static caucus_status make_plan(caucus_plan **ret, caucus_error *error) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = CAUCUS_ALGORITHM_STOCH;
    s.trust = CAUCUS_TRUST_NOBODY;
    s.message = CAUCUS_MESSAGE_VOTE;
    s.clients = SHOPS;
    s.experts = GENRES;
    s.rounds = ROUNDS;
    s.lo = 0;
    s.hi = 5;
    s.epsilon = 5;
    return caucus_plan_make(&s, ret, error);
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
            status = caucus_coordinator_close(m->coordinator);
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
    for (uint32_t round = 1; status == CAUCUS_OK && round <= ROUNDS; round++) {
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
        printf("lost per shop: %.1f stars in %d rounds; always %s: %.1f\n", played, (int)ROUNDS, genre_name[best],
               total[best]);
        printf("privacy of every message, against everybody: epsilon %.3g for one user\n",
               plan->guarantee.epsilon_messages);
    }
    return status;
}

int main(int argc, char **argv) {
    caucus_key key;
    char *end = NULL;
    bool seeded = argc == 4 && strcmp(argv[2], "--seed") == 0;
    unsigned long long seed = seeded ? strtoull(argv[3], &end, 10) : 0;
    if (!(argc == 2 || seeded) || (seeded && (end == argv[3] || *end != '\0'))) {
        fprintf(stderr, "usage: %s MOVIELENS-100K-DIRECTORY [--seed NUMBER]\n", argv[0]);
        return 2;
    }
    if (seeded)
        caucus_key_from_seed(seed, &key);
    ratings *r = calloc(1, sizeof *r);
    caucus_plan *plan = NULL;
    caucus_error error = {"", ""};
    market m = {.coordinator = NULL};
    if (!r || !read_films(argv[1], r) || !read_ratings(argv[1], r)) {
        free(r);
        return 1;
    }
    caucus_status status = make_plan(&plan, &error);
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
