/* SPDX-License-Identifier: Apache-2.0 */
/* model_selection.c: a fleet settles on one of six models, and changes its mind when an update breaks it.
 *
 * Twenty devices run six candidate models side by side and know, each round, the share of answers each one got wrong.
 * The fleet should use the best one. The coordinator is told sums of what devices saw; what everybody else learns is
 * the choice, which is differentially private. In round 400 an update of the data makes the favourite bad: Fed-SVT
 * notices that the model in force costs too much, and chooses again.
 *
 * Here devices and coordinator share one process, so that the whole protocol fits on a screen. On a network the same
 * machines talk through include/caucus/link.h, or are simply `caucus join` and `caucus serve`.
 *
 * Compile against an installed caucus:   cc model_selection.c $(pkg-config --cflags --libs caucus) -lm
 * Run:   ./a.out            a private run
 *        ./a.out --seed 7   a repeatable one, which is NOT PRIVATE */
#include <caucus/caucus.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 20, MODELS = 6, ROUNDS = 1000, BLOCK = 5, UPDATE = 400 };

static const char *const model_name[MODELS] = {"tiny", "small", "small-v2", "medium", "distilled", "large-4bit"};

/* The share of wrong answers of one model at one device in one round: simulated, different everywhere. */
static double measured_loss(uint32_t device, uint32_t round, uint32_t model) {
    static const double usual[MODELS] = {0.40, 0.22, 0.02, 0.16, 0.004, 0.30};
    uint32_t h = device * 2654435761u ^ round * 40503u ^ model * 97u; /* a little variety, no more */
    h ^= h >> 13;
    h *= 1540483477u;
    h ^= h >> 15;
    double loss = usual[model] * (0.5 + (double)(h % 1000) / 1000);
    return model == 2 && round > UPDATE ? 0.45 : loss; /* the update of round 400 breaks small-v2 */
}

/* 1. What is asked for. L* is what the best model may cost a device in all, known beforehand: about 4 answers in
 * 1000. */
static caucus_status make_plan(caucus_plan **ret, caucus_error *error) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = CAUCUS_ALGORITHM_SVT;
    s.trust = CAUCUS_TRUST_COORDINATOR; /* it adds the noise, and sees each device's sums */
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;  /* protect everything a device sees in one block, not only a single loss */
    s.clients = DEVICES;
    s.experts = MODELS;
    s.rounds = ROUNDS;
    s.interval = BLOCK; /* a report every five rounds */
    s.lstar = 5;
    s.epsilon = 2;
    return caucus_plan_new(&s, ret, error);
}

typedef struct fleet {
    caucus_plan *plan;
    caucus_coordinator *coordinator;
    caucus_client *device[DEVICES];
    uint64_t numbers_sent;
} fleet;

/* 2. One machine per device and one for the coordinator, each with a key of its own. A key from the operating system is
 * what makes the run private; keys derived from a seed are for repeating it. */
static caucus_status new_key(const caucus_key *seeded, uint64_t entity, caucus_key *ret) {
    if (!seeded)
        return caucus_key_generate(ret);
    caucus_key_derive(seeded, entity, ret);
    return CAUCUS_OK;
}

static caucus_status open_fleet(fleet *f, const caucus_key *seeded) {
    caucus_key key;
    caucus_status status = new_key(seeded, 0, &key);
    if (status == CAUCUS_OK)
        status = caucus_coordinator_new(f->plan, &key, &f->coordinator);
    for (uint32_t i = 0; status == CAUCUS_OK && i < DEVICES; i++) {
        status = new_key(seeded, i + 1, &key);
        if (status == CAUCUS_OK)
            status = caucus_client_new(f->plan, i + 1, &key, &f->device[i]);
        if (status == CAUCUS_OK) /* the first announcement: a model to begin with, drawn blindly */
            status = caucus_client_hear(f->device[i], caucus_coordinator_announcement(f->coordinator));
    }
    caucus_key_wipe(&key);
    return status;
}

static void close_fleet(fleet *f) {
    for (uint32_t i = 0; i < DEVICES; i++)
        caucus_client_free(f->device[i]);
    caucus_coordinator_free(f->coordinator);
    caucus_plan_free(f->plan);
}

/* 3. At the end of a block: reports up, a decision, announcements down; twice if the coordinator asks for more. This
 * function is all that a network has to do. */
static caucus_status talk(fleet *f) {
    caucus_status status = CAUCUS_OK;
    while (status == CAUCUS_OK && caucus_client_report(f->device[0])) {
        for (uint32_t i = 0; status == CAUCUS_OK && i < DEVICES; i++) {
            const caucus_report *report = caucus_client_report(f->device[i]);
            status = caucus_coordinator_receive(f->coordinator, report);
            f->numbers_sent += report->count;
        }
        if (status == CAUCUS_OK)
            status = caucus_coordinator_decide(f->coordinator);
        for (uint32_t i = 0; status == CAUCUS_OK && i < DEVICES; i++)
            status = caucus_client_hear(f->device[i], caucus_coordinator_announcement(f->coordinator));
    }
    return status;
}

/* 4. The rounds: every device uses the model in force and observes what all six would have cost. */
static caucus_status play(fleet *f) {
    caucus_status status = CAUCUS_OK;
    uint32_t in_force = caucus_client_expert(f->device[0]);
    printf("round    1: %s, drawn blindly\n", model_name[in_force]);
    for (uint32_t round = 1; status == CAUCUS_OK && round <= ROUNDS; round++) {
        for (uint32_t i = 0; status == CAUCUS_OK && i < DEVICES; i++) {
            double loss[MODELS];
            for (uint32_t n = 0; n < MODELS; n++)
                loss[n] = measured_loss(i + 1, round, n);
            status = caucus_client_observe(f->device[i], loss, 1);
        }
        if (status == CAUCUS_OK)
            status = talk(f);
        uint32_t now = caucus_client_expert(f->device[0]);
        if (now != in_force)
            printf("round %4u: %s had cost too much; from now on %s\n", (unsigned)round, model_name[in_force],
                   model_name[now]);
        in_force = now;
    }
    return status;
}

/* 5. What it came to. Only the simulation knows everybody's losses. */
static void sum_up(const fleet *f) {
    double played = 0, best = 1e9;
    uint32_t winner = 0;
    for (uint32_t i = 0; i < DEVICES; i++)
        played += (double)caucus_client_cost(f->device[i]) / (double)caucus_plan_grid(f->plan) / DEVICES;
    for (uint32_t n = 0; n < MODELS; n++) {
        double cost = 0;
        for (uint32_t i = 1; i <= DEVICES; i++)
            for (uint32_t round = 1; round <= ROUNDS; round++)
                cost += measured_loss(i, round, n) / DEVICES;
        if (cost < best) {
            best = cost;
            winner = n;
        }
    }
    printf("cost per device: %.1f; always %s: %.1f; regret %.1f (proven: at most %.1f)\n", played, model_name[winner],
           best, played - best, caucus_plan_bound(f->plan));
    printf("sent: %.0f numbers per device (a vector per block would be %d)\n", (double)f->numbers_sent / DEVICES,
           ROUNDS / BLOCK * MODELS);
    printf("privacy of all choices together: epsilon %.3g, unit: everything a device sees in %d rounds\n",
           caucus_plan_epsilon_choices(f->plan), BLOCK);
}

static int read_seed(int argc, char **argv, caucus_key *key, const caucus_key **ret) {
    char *end = NULL;
    *ret = NULL;
    if (argc == 1)
        return 0;
    errno = 0;
    unsigned long long seed = argc == 3 ? strtoull(argv[2], &end, 10) : 0;
    if (argc != 3 || strcmp(argv[1], "--seed") != 0 || errno != 0 || end == argv[2] || *end != '\0') {
        fprintf(stderr, "usage: %s [--seed NUMBER]\n", argv[0]);
        return 2;
    }
    caucus_key_from_seed(seed, key);
    *ret = key;
    return 0;
}

int main(int argc, char **argv) {
    fleet f = {.plan = NULL};
    caucus_key key;
    const caucus_key *seeded = NULL;
    caucus_error error = {0};
    int result = read_seed(argc, argv, &key, &seeded);
    if (result != 0)
        return result;
    caucus_status status = make_plan(&f.plan, &error);
    if (status != CAUCUS_OK) {
        fprintf(stderr, "plan: %s: %s\n", error.field, error.text);
        return 1;
    }
    status = open_fleet(&f, seeded);
    if (status == CAUCUS_OK)
        status = play(&f);
    if (status == CAUCUS_OK)
        sum_up(&f);
    else
        fprintf(stderr, "%s\n", caucus_status_text(status));
    if (seeded)
        printf("NOT PRIVATE (seeded): whoever knows the seed knows the noise\n");
    close_fleet(&f);
    return status == CAUCUS_OK ? 0 : 1;
}
