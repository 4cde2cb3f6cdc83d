/* SPDX-License-Identifier: Apache-2.0 */
/* bench_serve.c: what the live coordinator costs beyond moving the bytes.
 *
 *  - client-rounds per second, and per second of the coordinator's processor time, beside the bare loop
 *    (bare_loop.h): by turns, in one run, the same load (bench_load.h), 1,000 and 10,000 loopback connections, plain
 *    and mutual TLS 1.3, d = 100: hedge (100 numbers per client and block) and svt (one number);
 *  - the same with 2 and 4 loops beside 2 and 4 bare loops, 1,000 connections: on machines with few cores the loops
 *    and the load share them, so what says most is the ratio per second of processor time;
 *  - memory per connection: resident bytes of the coordinator's process with and without its connections (what the
 *    kernel keeps for a socket is not among them);
 *  - the part of its processor time that goes into adding: caucus_coordinator_count into a partial and merging that,
 *    timed alone on the same reports;
 *  - commits: one per kept block, two per switch;
 *  - from the last report to the announcement, with what a commit takes alone.
 * One loop, of either, runs on one core and its load on another. State is kept in memory (/dev/shm) but for
 * one row: how fast this machine's disk syncs is not what is measured. Handshakes are done before the clock starts. */
#include "bench_side.h"

#include "dial/certify.h"
#include "plan/plan.h"

#define TURNS_MAX 11u

typedef struct figure {
    bool tls, hedge;
    uint32_t clients, loops;
    double per_second, per_core, over_bare, over_bare_core; /* client-rounds */
    double kib;                                             /* per connection */
    double adding;                                          /* part of the processor time */
    double kib_bare;
} figure;

typedef struct played {
    double seconds, cpu;
} played;

static played play(side *s, uint32_t announcements) {
    double cpu = bench_cpu(s->server.pid);
    load_answer answer = load_do(&s->load, LOAD_PLAY, announcements);
    s->report_bytes = answer.report_bytes;
    s->announcement_bytes = answer.announcement_bytes;
    return (played){.seconds = answer.seconds, .cpu = bench_cpu(s->server.pid) - cpu};
}

/* Seconds that one report takes to add, alone: one machine, m reports a step, values in an arena as the loop has
 * them. */
static double seconds_adding(const caucus_plan *plan, bool hedge) {
    enum { ARENA = 256 };
    caucus_coordinator *machine = NULL;
    caucus_error error = {0};
    caucus_key key;
    caucus_key_from_seed(1, &key);
    must(caucus_coordinator_new(plan, &key, &machine), &error);
    caucus_partial *partial = NULL;
    must(caucus_partial_new(machine, &partial), &error);
    uint32_t m = plan->settings.clients, steps = 100000 / m + 1;
    int64_t *value = malloc(sizeof *value * ARENA * EXPERTS);
    for (size_t i = 0; i < ARENA * EXPERTS; i++)
        value[i] = hedge ? 1000 + (int64_t)(i % 1000) : 0;
    double *step = malloc(sizeof *step * steps);
    uint32_t measured = 0;
    for (uint32_t k = 0; k < steps; k++) {
        const caucus_announcement *now = caucus_coordinator_announcement(machine);
        bool cost = now->ask == CAUCUS_ASK_COST;
        double start = caucus_clock_seconds();
        for (uint32_t i = 0; i < m; i++) {
            caucus_report r = {.client = i + 1,
                               .kind = now->ask,
                               .first = hedge || cost ? now->block : 1,
                               .block = now->block,
                               .epoch_or_leaf = now->epoch,
                               .count = cost ? 1 : EXPERTS,
                               .value = value + (size_t)(i % ARENA) * EXPERTS};
            must(caucus_coordinator_count(machine, partial, &r), &error);
        }
        caucus_coordinator_merge(machine, partial);
        if (hedge || cost)
            step[measured++] = caucus_clock_seconds() - start;
        must(caucus_coordinator_decide(machine), &error);
    }
    double spent = bench_median(step, measured) / m;
    free(step);
    free(value);
    caucus_partial_free(partial);
    caucus_coordinator_free(machine);
    return spent;
}

static figure measure(side *ours, side *bare, bool hedge, uint32_t loops, uint32_t announcements) {
    uint32_t m = ours->plan->settings.clients, turns = m >= 10000 || loops > 1 ? 5 : TURNS_MAX;
    double ratio[TURNS_MAX], core[TURNS_MAX], rate[TURNS_MAX], per_core[TURNS_MAX];
    play(ours, 1);
    play(bare, 1);
    for (uint32_t i = 0; i < turns; i++) {
        played a = play(ours, announcements), b = play(bare, announcements);
        ratio[i] = b.seconds / a.seconds;
        core[i] = b.cpu / a.cpu;
        rate[i] = (double)m * announcements / a.seconds;
        per_core[i] = (double)m * announcements / a.cpu;
    }
    double resident = bench_resident(ours->server.pid), bare_resident = bench_resident(bare->server.pid);
    figure f = {.hedge = hedge,
                .clients = m,
                .loops = loops,
                .per_second = bench_median(rate, turns),
                .per_core = bench_median(per_core, turns),
                .over_bare = bench_median(ratio, turns),
                .over_bare_core = bench_median(core, turns),
                .kib = (resident - ours->resident_before) / m / 1024,
                .kib_bare = (bare_resident - bare->resident_before) / m / 1024};
    f.adding = seconds_adding(ours->plan, hedge) * f.per_core;
    return f;
}

typedef struct latency {
    const char *name;
    double first, all, commit; /* seconds, medians */
} latency;

static latency measure_latency(const char *name, side *s) {
    enum { TIMES = 15 };
    load_answer answer = load_do(&s->load, LOAD_LAST, TIMES);
    return (latency){
        .name = name, .first = bench_median(answer.first, TIMES), .all = bench_median(answer.all, TIMES), .commit = -1};
}

/* What one commit of such a plan's state takes alone, after as long a pause as in LOAD_LAST. */
static double seconds_commit(const caucus_plan *plan, bool disk) {
    enum { TIMES = 15 };
    double took[TIMES];
    char dir[128];
    caucus_error error = {0};
    caucus_key key;
    caucus_key_from_seed(1, &key);
    caucus_coordinator *machine = NULL;
    must(caucus_coordinator_new(plan, &key, &machine), &error);
    const uint32_t chunks = caucus_coordinator_chunks(plan);
    caucus_piece root = {0}, *chunk = calloc(chunks, sizeof *chunk);
    must(caucus_coordinator_save_parts(machine, &root, chunk), &error);
    caucus_store *store = NULL;
    must(caucus_store_open(new_state(disk, dir), plan_hash, true, &store, &error), &error);
    for (uint32_t i = 0; i < TIMES; i++) {
        caucus_announcement a = *caucus_coordinator_announcement(machine);
        a.serial = i;
        memset(root.bytes + root.size / 2, (int)i, root.size / 4); /* every page of it changes, as in a run */
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        double start = caucus_clock_seconds();
        must(caucus_store_commit(store, &root, chunk, chunks, &a, NULL, 0, &error), &error);
        took[i] = caucus_clock_seconds() - start;
    }
    caucus_store_close(store);
    caucus_coordinator_free(machine);
    caucus_piece_free(&root);
    for (uint32_t i = 0; i < chunks; i++)
        caucus_piece_free(&chunk[i]);
    free(chunk);
    return bench_median(took, TIMES);
}

/* ---- tables ---- */

static void print_figure(const figure *f, bool json, bool first) {
    if (json)
        printf("%s{\"clients\": %u, \"loops\": %u, \"tls\": %s, \"algorithm\": \"%s\", \"client_rounds_per_second\": "
               "%.0f, "
               "\"per_core_second\": %.0f, \"over_bare\": %.3f, \"over_bare_core\": %.3f, \"goal\": 0.8, "
               "\"kib_per_connection\": %.2f, \"kib_per_connection_bare\": %.2f, \"adding_share\": %.4f}",
               first ? "" : ", ", f->clients, f->loops, f->tls ? "true" : "false", f->hedge ? "hedge" : "svt",
               f->per_second, f->per_core, f->over_bare, f->over_bare_core, f->kib, f->kib_bare, f->adding);
    else
        printf("  %6u  %5u  %-5s  %-5s  %10.0f  %10.0f     %4.2f    %4.2f      %5.1f (%4.1f)   %5.2f %%\n", f->clients,
               f->loops, f->tls ? "TLS" : "plain", f->hedge ? "hedge" : "svt", f->per_second, f->per_core, f->over_bare,
               f->over_bare_core, f->kib, f->kib_bare, 100 * f->adding);
    fflush(stdout);
}

static void print_latencies(const latency *l, size_t count, bool json) {
    if (!json)
        printf("\n  last report to announcement, m = 1000    first client   every client   a commit alone\n");
    for (size_t i = 0; i < count; i++) {
        char commit[32] = "null";
        if (l[i].commit >= 0)
            snprintf(commit, sizeof commit, "%.1f", l[i].commit * 1e6);
        if (json)
            printf("%s{\"name\": \"%s\", \"first_us\": %.1f, \"all_us\": %.1f, \"commit_us\": %s}", i ? ", " : "",
                   l[i].name, l[i].first * 1e6, l[i].all * 1e6, commit);
        else if (l[i].commit < 0)
            printf("    %-34s  %9.0f us   %9.0f us\n", l[i].name, l[i].first * 1e6, l[i].all * 1e6);
        else
            printf("    %-34s  %9.0f us   %9.0f us   %11.0f us\n", l[i].name, l[i].first * 1e6, l[i].all * 1e6,
                   l[i].commit * 1e6);
    }
}

/* A switch in hand has made the first of its two commits. */
static void print_commits(const caucus_server_status *s, bool json) {
    bool half = s->now.ask == CAUCUS_ASK_SUMS;
    uint64_t switches = s->selections, kept = s->blocks - switches, wanted = 2 + kept + 2 * switches + half;
    printf(json ? "], \"commits\": {\"commits\": %llu, \"kept\": %llu, \"switches\": %llu, \"wanted\": %llu}"
                : "\n  commits (svt, m = 1000): %llu, for opening and start, %llu kept blocks and %llu switches: "
                  "wanted %llu%s\n",
           (unsigned long long)s->commits, (unsigned long long)kept, (unsigned long long)switches,
           (unsigned long long)wanted,
           json   ? ""
           : half ? " (a switch is half done)"
                  : "");
}

/* All rows of one number of connections and loops, plain or TLS. The bare loop's connections serve both algorithms. */
static void measure_size(uint32_t m, uint32_t loops, const char *certificates, bool json, bool first, latency *ret,
                         size_t *ret_count) {
    side hedge, svt, bare;
    uint32_t announcements = m >= 10000 ? 1 : 10;
    side_settings set = {.clients = m, .loops = loops, .certificates = certificates};
    open_side(&bare, set);
    set.plan = make_plan(true, m);
    open_side(&hedge, set);
    figure f = measure(&hedge, &bare, true, loops, announcements);
    f.tls = certificates != NULL;
    print_figure(&f, json, first);
    close_side(&hedge);
    set.plan = make_plan(false, m);
    open_side(&svt, set);
    resize_bare(&bare, false);
    f = measure(&svt, &bare, false, loops, announcements);
    f.tls = certificates != NULL;
    print_figure(&f, json, false);
    if (ret) {
        ret[0] = measure_latency(certificates ? "TLS, bare loop" : "plain, bare loop", &bare);
        ret[1] = measure_latency(certificates ? "TLS, state in memory" : "plain, state in memory", &svt);
        ret[1].commit = seconds_commit(svt.plan, false);
        *ret_count += 2;
    }
    close_side(&svt);
    close_side(&bare);
}

int main(int argc, char **argv) {
    bool json = bench_wants_json(argc, argv);
    char where[256], certificates[128];
    caucus_error error = {0};
    bench_where(where, sizeof where);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    make_scratch();
    uint32_t most = bench_files(10000 + 64) >= 10000 + 64 ? 10000 : 1000;
    if (bench_files(1000 + 64) < 1000 + 64)
        bench_die("too few file descriptors", "raise the limit: ulimit -n 10100");
    snprintf(certificates, sizeof certificates, "%s/certificates", scratch[0]);
    caucus_certify_settings certify = {.dir = certificates, .clients = most, .days = 2};
    must(caucus_certify(&certify, &error), &error);
    identities = load_identities(certificates, most);
    if (json)
        printf("{\"where\": \"%s\", \"cores\": %ld, \"rows\": [", where, cores);
    else
        printf("%s; %ld core%s, on which %s\n\n"
               "  connections, loops           client-rounds/s  per core-s   / bare: time, core   KB/conn. (bare)   "
               "adding\n"
               "  (goals)                                                    >= 0.80  >= 0.80      <= 30             < "
               "10 %%\n",
               where, cores, cores == 1 ? "" : "s",
               cores > 4 ? "all loops and the load run at once"
                         : "several loops and their load take turns: of those rows, read the ratio per core");
    latency l[5];
    size_t latencies = 0;
    for (int tls = 0; tls < 2; tls++) {
        measure_size(1000, 1, tls ? certificates : NULL, json, tls == 0, l + latencies, &latencies);
        for (uint32_t loops = 2; loops <= 4; loops += 2)
            measure_size(1000, loops, tls ? certificates : NULL, json, false, NULL, NULL);
        if (most == 10000)
            measure_size(10000, 1, tls ? certificates : NULL, json, false, NULL, NULL);
    }
    if (most < 10000 && !json)
        printf("   10000  not measured: the limit on open files cannot be raised (ulimit -n 10100)\n");
    side disk, costly;
    caucus_plan *plan = make_plan(false, 1000);
    open_side(&disk, (side_settings){.plan = plan, .clients = 1000, .disk = true});
    l[latencies] = measure_latency("plain, state on disk (/var/tmp)", &disk);
    l[latencies++].commit = seconds_commit(plan, true);
    close_side(&disk);
    plan = make_plan(false, 1000);
    side_settings set = {.plan = plan, .clients = 1000, .cost = plan->svt.threshold[0] / 3000};
    open_side(&costly, set); /* a switch in every few blocks */
    load_do(&costly.load, LOAD_PLAY, 200);
    caucus_server_status status = ask_status(&costly.server);
    printf(json ? "], \"last_report\": [" : "");
    print_latencies(l, latencies, json);
    print_commits(&status, json);
    printf(json ? "}\n" : "");
    close_side(&costly);
    return 0;
}
