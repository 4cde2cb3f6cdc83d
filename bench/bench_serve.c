/* bench_serve.c: what the live coordinator costs beyond moving the bytes.
 *
 *  - client-rounds per second, and per second of the coordinator's processor time, beside the bare loop
 *    (bare_loop.h): by turns, in one run, the same load (bench_load.h), 1,000 and 10,000 loopback connections, plain
 *    and mutual TLS 1.3, d = 100: hedge (100 numbers per client and block) and svt (one number);
 *  - memory per connection: resident bytes of the coordinator's process with and without its connections;
 *  - the part of its processor time that goes into adding: caucus_coordinator_receive timed alone on the same reports;
 *  - commits: one per kept block, two per switch;
 *  - from the last report to the announcement, with what a commit takes alone.
 * Coordinator and bare loop run one loop on one core, the load on the other. State is kept in memory (/dev/shm) but for
 * one row: how fast this machine's disk syncs is not what is measured. Handshakes are done before the clock starts. */
#include "bare_loop.h"
#include "bench_load.h"

#include <caucus/caucus.h>
#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>

#include "net/certify.h"
#include "net/server.h"

#define EXPERTS 100u
#define TURNS 5u
#define SERVER_CORE 0
#define LOAD_CORE 1

static void must(caucus_status status, const caucus_error *error) {
    if (status != CAUCUS_OK)
        bench_die(error->field[0] ? error->field : "caucus", error->text[0] ? error->text : caucus_status_text(status));
}

/* ---- the coordinator in a process of its own ---- */

typedef struct serve_settings {
    const caucus_plan *plan;
    const char *certificates, *state;
} serve_settings;

static void *run_server(void *argument) {
    caucus_error error = {0};
    must(caucus_server_run(argument, &error), &error);
    return NULL;
}

static const uint8_t plan_hash[32] = {0xbe, 0x9c};

static void serve(void *argument, int control) {
    const serve_settings *set = argument;
    char cert[512], key[512], ca[512];
    caucus_server_settings s = {.plan = set->plan,
                                .state_dir = set->state,
                                .listen = "127.0.0.1:0",
                                .loops = 1,
                                .budget_epsilon = INFINITY,
                                .linger_ms = 600000};
    memcpy(s.plan_hash, plan_hash, sizeof plan_hash);
    caucus_key_from_seed(1, &s.key);
    if (set->certificates) {
        snprintf(cert, sizeof cert, "%s/coordinator.pem", set->certificates);
        snprintf(key, sizeof key, "%s/coordinator.key", set->certificates);
        snprintf(ca, sizeof ca, "%s/ca.pem", set->certificates);
        s.cert = cert;
        s.key_file = key;
        s.client_ca = ca;
    }
    caucus_server *server = NULL;
    caucus_error error = {0};
    pthread_t thread;
    must(caucus_server_open(&s, &server, &error), &error);
    if (pthread_create(&thread, NULL, run_server, server) != 0)
        bench_die("cannot start a thread", strerror(errno));
    uint16_t port = caucus_server_port(server);
    bench_send(control, &port, sizeof port);
    for (;;) { /* whoever asks is told the status */
        char ask;
        caucus_server_status status;
        bench_receive(control, &ask, sizeof ask);
        caucus_server_get_status(server, &status);
        bench_send(control, &status, sizeof status);
    }
}

static void serve_bare(void *argument, int control) {
    bare_serve(argument, control);
}

static caucus_server_status ask_status(bench_child *server) {
    caucus_server_status status;
    bench_send(server->control, "?", 1);
    if (recv(server->control, &status, sizeof status, MSG_WAITALL) != (ssize_t)sizeof status)
        exit(1);
    return status;
}

/* ---- where things are kept ---- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)info, (void)kind, (void)where;
    return remove(path);
}

static char scratch[2][64]; /* in memory, on disk */
static pid_t owner;

static void remove_scratch(void) {
    for (int i = 0; i < 2 && getpid() == owner; i++)
        if (scratch[i][0])
            nftw(scratch[i], remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_scratch(void) {
    struct stat info;
    snprintf(scratch[0], sizeof scratch[0], "%s/caucus-bench.XXXXXX", stat("/dev/shm", &info) == 0 ? "/dev/shm" : "/tmp");
    snprintf(scratch[1], sizeof scratch[1], "/var/tmp/caucus-bench.XXXXXX");
    for (int i = 0; i < 2; i++)
        if (!mkdtemp(scratch[i]))
            bench_die(scratch[i], strerror(errno));
    owner = getpid();
    atexit(remove_scratch);
}

static char *new_state(bool disk, char ret[128]) {
    static unsigned made;
    snprintf(ret, 128, "%s/state-%u", scratch[disk], made++);
    return ret;
}

/* ---- one server and its load ---- */

typedef struct side {
    bench_child server, load;
    caucus_plan *plan; /* NULL: the bare loop */
    char state[128];
    double resident_before, resident_after;
    size_t report_bytes, announcement_bytes;
} side;

static caucus_plan *make_plan(bool hedge, uint32_t clients) {
    caucus_error error = {0};
    caucus_settings c;
    caucus_settings_init(&c);
    c.trust = CAUCUS_TRUST_COORDINATOR;
    c.algorithm = hedge ? CAUCUS_ALGORITHM_HEDGE : CAUCUS_ALGORITHM_SVT;
    c.clients = clients;
    c.experts = EXPERTS;
    c.rounds = 1024;
    caucus_plan *plan = NULL;
    must(caucus_plan_make(&c, &plan, &error), &error);
    return plan;
}

/* What the bare loop reads and writes: an announcement like any other, and the report that answers it. */
static bare_sizes sizes_of(bool hedge) {
    caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT,
                          .cost_next = hedge ? 0 : 50,
                          .sums_next = hedge ? 50 : 1,
                          .announcement = {.serial = 50,
                                           .expert = 7,
                                           .epoch = hedge ? 0 : 1,
                                           .ask = hedge ? CAUCUS_ASK_SUMS : CAUCUS_ASK_COST,
                                           .block = 50}};
    bare_sizes sizes = {0};
    uint8_t bytes[4096];
    int64_t value[EXPERTS] = {0};
    sizes.reply = caucus_wire_put(&frame, sizes.reply_bytes, sizeof sizes.reply_bytes);
    caucus_frame report = {.kind = CAUCUS_FRAME_REPORT,
                           .report = {.client = 1,
                                      .kind = frame.announcement.ask,
                                      .first = 50,
                                      .block = 50,
                                      .step = frame.announcement.epoch,
                                      .count = hedge ? EXPERTS : 1,
                                      .value = value}};
    sizes.report = caucus_wire_put(&report, bytes, sizeof bytes);
    return sizes;
}

static uint16_t receive_port(bench_child *server) {
    uint16_t port;
    if (recv(server->control, &port, sizeof port, MSG_WAITALL) != (ssize_t)sizeof port)
        exit(1);
    return port;
}

static const load_identity *identities;

static void open_side(side *s, caucus_plan *plan, uint32_t clients, const char *certificates, bool disk, int64_t cost) {
    *s = (side){.plan = plan};
    serve_settings serves = {.plan = plan, .certificates = certificates, .state = new_state(disk, s->state)};
    bare_settings bare = {.clients = clients, .certificates = certificates};
    load_settings loads = {.clients = clients, .experts = EXPERTS, .certificates = certificates, .identity = identities, .cost = cost};
    memcpy(loads.plan_hash, plan_hash, sizeof plan_hash);
    s->server = plan ? bench_start(serve, &serves, SERVER_CORE) : bench_start(serve_bare, &bare, SERVER_CORE);
    loads.port = receive_port(&s->server);
    if (!plan) {
        bare_sizes sizes = sizes_of(true);
        bench_send(s->server.control, &sizes, sizeof sizes);
    }
    s->resident_before = bench_resident(s->server.pid);
    s->load = bench_start(load_run, &loads, LOAD_CORE);
    load_do(&s->load, LOAD_JOIN, 0);
    s->resident_after = bench_resident(s->server.pid);
}

/* The bare loop changes size between turns; whatever its clients hold is of the size before, so they play it out. */
static void resize_bare(side *s, bool hedge) {
    bare_sizes sizes = sizes_of(hedge);
    if (!hedge) { /* replies say what the next reports are: the reports under way are still the long ones */
        bare_sizes first = sizes;
        first.report = sizes_of(true).report;
        bench_send(s->server.control, &first, sizeof first);
        receive_port(&s->server);
        load_do(&s->load, LOAD_PLAY, 1);
    }
    bench_send(s->server.control, &sizes, sizeof sizes);
    receive_port(&s->server);
}

static void close_side(side *s) {
    bench_end(&s->load);
    bench_end(&s->server);
    caucus_plan_free(s->plan);
}

/* ---- figures ---- */

typedef struct figure {
    bool tls, hedge;
    uint32_t clients;
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

/* Seconds that one report takes to add, alone: one machine, m reports a step, values in an arena as the loop has them. */
static double seconds_adding(const caucus_plan *plan, bool hedge) {
    enum { ARENA = 256 };
    caucus_coordinator *machine = NULL;
    caucus_error error = {0};
    caucus_key key;
    caucus_key_from_seed(1, &key);
    must(caucus_coordinator_new(plan, &key, &machine), &error);
    uint32_t m = plan->settings.clients, steps = 100000 / m + 1;
    int64_t *value = malloc(sizeof *value * ARENA * EXPERTS);
    for (size_t i = 0; i < ARENA * EXPERTS; i++)
        value[i] = hedge ? 1000 + (int64_t)(i % 1000) : 0;
    double *step = malloc(sizeof *step * steps);
    uint32_t measured = 0;
    for (uint32_t k = 0; k < steps; k++) {
        const caucus_announcement *now = caucus_coordinator_announcement(machine);
        bool cost = now->ask == CAUCUS_ASK_COST;
        double start = bench_seconds();
        for (uint32_t i = 0; i < m; i++) {
            caucus_report r = {.client = i + 1,
                               .kind = now->ask,
                               .first = hedge || cost ? now->block : 1,
                               .block = now->block,
                               .step = now->epoch,
                               .count = cost ? 1 : EXPERTS,
                               .value = value + (size_t)(i % ARENA) * EXPERTS};
            must(caucus_coordinator_receive(machine, &r), &error);
        }
        if (hedge || cost)
            step[measured++] = bench_seconds() - start;
        must(caucus_coordinator_close(machine), &error);
    }
    double spent = bench_median(step, measured) / m;
    free(step);
    free(value);
    caucus_coordinator_free(machine);
    return spent;
}

static figure measure(side *ours, side *bare, bool hedge, uint32_t announcements) {
    uint32_t m = ours->plan->settings.clients;
    double ratio[TURNS], core[TURNS], rate[TURNS], per_core[TURNS];
    play(ours, 1);
    play(bare, 1);
    for (uint32_t i = 0; i < TURNS; i++) {
        played a = play(ours, announcements), b = play(bare, announcements);
        ratio[i] = b.seconds / a.seconds;
        core[i] = b.cpu / a.cpu;
        rate[i] = (double)m * announcements / a.seconds;
        per_core[i] = (double)m * announcements / a.cpu;
    }
    double resident = bench_resident(ours->server.pid), bare_resident = bench_resident(bare->server.pid);
    figure f = {.hedge = hedge,
                .clients = m,
                .per_second = bench_median(rate, TURNS),
                .per_core = bench_median(per_core, TURNS),
                .over_bare = bench_median(ratio, TURNS),
                .over_bare_core = bench_median(core, TURNS),
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
    enum { TIMES = 25 };
    load_answer answer = load_do(&s->load, LOAD_LAST, TIMES);
    return (latency){
        .name = name, .first = bench_median(answer.first, TIMES), .all = bench_median(answer.all, TIMES), .commit = -1};
}

/* What one commit of such a plan's state takes alone. */
static double seconds_commit(const caucus_plan *plan, bool disk) {
    enum { TIMES = 25 };
    double took[TIMES];
    char dir[128];
    caucus_error error = {0};
    caucus_key key;
    caucus_key_from_seed(1, &key);
    caucus_coordinator *machine = NULL;
    must(caucus_coordinator_new(plan, &key, &machine), &error);
    size_t bytes = caucus_coordinator_state_bytes(machine);
    uint8_t *state = malloc(bytes);
    caucus_coordinator_save(machine, state);
    caucus_store *store = NULL;
    must(caucus_store_open(new_state(disk, dir), plan_hash, true, &store, &error), &error);
    for (uint32_t i = 0; i < TIMES; i++) {
        caucus_announcement a = *caucus_coordinator_announcement(machine);
        a.serial = i;
        memset(state + bytes / 2, (int)i, bytes / 4); /* every page of it changes, as in a run */
        double start = bench_seconds();
        must(caucus_store_commit(store, state, bytes, &a, NULL, 0, &error), &error);
        took[i] = bench_seconds() - start;
    }
    caucus_store_close(store);
    caucus_coordinator_free(machine);
    free(state);
    return bench_median(took, TIMES);
}

/* ---- tables ---- */

static void print_figure(const figure *f, bool json, bool first) {
    if (json)
        printf("%s{\"clients\": %u, \"tls\": %s, \"algorithm\": \"%s\", \"client_rounds_per_second\": %.0f, "
               "\"per_core_second\": %.0f, \"over_bare\": %.3f, \"over_bare_core\": %.3f, \"goal\": 0.8, "
               "\"kib_per_connection\": %.2f, \"kib_per_connection_bare\": %.2f, \"adding_share\": %.4f}",
               first ? "" : ", ", f->clients, f->tls ? "true" : "false", f->hedge ? "hedge" : "svt", f->per_second,
               f->per_core, f->over_bare, f->over_bare_core, f->kib, f->kib_bare, f->adding);
    else
        printf("  %6u  %-5s  %-5s  %10.0f  %10.0f     %4.2f    %4.2f      %5.1f (%4.1f)   %5.2f %%\n", f->clients,
               f->tls ? "TLS" : "plain", f->hedge ? "hedge" : "svt", f->per_second, f->per_core, f->over_bare,
               f->over_bare_core, f->kib, f->kib_bare, 100 * f->adding);
    fflush(stdout);
}

static void print_latencies(const latency *l, size_t count, bool json) {
    if (!json)
        printf("\n  last report to announcement, m = 1000    first client   every client   a commit alone\n");
    for (size_t i = 0; i < count; i++) {
        if (json)
            printf("%s{\"name\": \"%s\", \"first_us\": %.1f, \"all_us\": %.1f, \"commit_us\": %.1f}", i ? ", " : "",
                   l[i].name, l[i].first * 1e6, l[i].all * 1e6, l[i].commit * 1e6);
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
    uint64_t switches = s->selections, kept = s->blocks - switches, wanted = 1 + kept + 2 * switches + half;
    printf(json ? "], \"commits\": {\"commits\": %llu, \"kept\": %llu, \"switches\": %llu, \"wanted\": %llu}"
                : "\n  commits (svt, m = 1000): %llu, for 1 opening, %llu kept blocks and %llu switches: wanted %llu%s\n",
           (unsigned long long)s->commits, (unsigned long long)kept, (unsigned long long)switches,
           (unsigned long long)wanted, json ? "" : half ? " (a switch is half done)" : "");
}

/* All rows of one number of connections, plain or TLS. The bare loop's connections serve both algorithms. */
static void measure_size(uint32_t m, const char *certificates, bool json, bool first, latency *ret, size_t *ret_count) {
    side hedge, svt, bare;
    uint32_t announcements = m >= 10000 ? 2 : 20;
    open_side(&bare, NULL, m, certificates, false, 0);
    open_side(&hedge, make_plan(true, m), m, certificates, false, 0);
    figure f = measure(&hedge, &bare, true, announcements);
    f.tls = certificates != NULL;
    print_figure(&f, json, first);
    close_side(&hedge);
    open_side(&svt, make_plan(false, m), m, certificates, false, 0);
    resize_bare(&bare, false);
    f = measure(&svt, &bare, false, announcements);
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
    make_scratch();
    uint32_t most = bench_files(10000 + 64) >= 10000 + 64 ? 10000 : 1000;
    if (bench_files(1000 + 64) < 1000 + 64)
        bench_die("too few file descriptors", "raise the limit: ulimit -n 10100");
    snprintf(certificates, sizeof certificates, "%s/certificates", scratch[0]);
    caucus_certify_settings certify = {.dir = certificates, .clients = most, .days = 2};
    must(caucus_certify(&certify, &error), &error);
    identities = load_identities(certificates, most);
    if (json)
        printf("{\"where\": \"%s\", \"rows\": [", where);
    else
        printf("%s\n\n"
               "  connections           client-rounds/s  per core-s   / bare: time, core   KB/conn. (bare)   adding\n"
               "  (goals)                                             >= 0.80  >= 0.80      <= 30             < 10 %%\n",
               where);
    latency l[5];
    size_t latencies = 0;
    for (int tls = 0; tls < 2; tls++) {
        measure_size(1000, tls ? certificates : NULL, json, tls == 0, l + latencies, &latencies);
        if (most == 10000)
            measure_size(10000, tls ? certificates : NULL, json, false, NULL, NULL);
    }
    if (most < 10000 && !json)
        printf("   10000  not measured: the limit on open files cannot be raised (ulimit -n 10100)\n");
    side disk, costly;
    caucus_plan *plan = make_plan(false, 1000);
    open_side(&disk, plan, 1000, NULL, true, 0);
    l[latencies] = measure_latency("plain, state on disk (/var/tmp)", &disk);
    l[latencies++].commit = seconds_commit(plan, true);
    close_side(&disk);
    plan = make_plan(false, 1000);
    open_side(&costly, plan, 1000, NULL, false, plan->grid / 4);
    load_do(&costly.load, LOAD_PLAY, 200);
    caucus_server_status status = ask_status(&costly.server);
    printf(json ? "], \"last_report\": [" : "");
    print_latencies(l, latencies, json);
    print_commits(&status, json);
    printf(json ? "}\n" : "");
    close_side(&costly);
    return 0;
}
