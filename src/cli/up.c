/* up.c: `caucus up`: a live federation on this machine, from certificates to summary, with nothing left behind.
 *
 * The coordinator and every client are processes of this program, talking over mutual TLS on loopback. At the end what
 * each client played is held against `caucus simulate` with the same flags and seed. */
#include "cli/children.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/up_compare.h"
#include "cli/verbs.h"
#include "net/certify.h"
#include "sim/bound_fit.h"
#include "sim/scenario.h"
#include "store/plan_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS_MAX 500u /* each is a process */
#define PATH_BYTES 512
#define START_SECONDS 20.0
#define END_SECONDS 20.0

enum { KEEP = CAUCUS_FIELD_COUNT, PACE, HTTP };
static const caucus_option options[] = {
#define OPTION(name, word, list, argument, fallback, help) {word, argument, fallback, help},
    CAUCUS_FIELD_LIST(OPTION)
#undef OPTION
        {"keep", "DIR", NULL, "keep certificates, plan, states and logs there (must not exist)"},
    {"pace", "MS", "0", "wait so long before each round, to have time to look"},
    {"http", "HOST:PORT", "127.0.0.1:0", "where the status page is; port 0 = any"},
    {NULL, NULL, NULL, NULL},
};

static volatile int stop;

static void on_signal(int number) {
    (void)number;
    stop = 1;
}

typedef struct upping {
    caucus_scenario scenario;
    caucus_prepared prepared;
    const char *file, *keep, *pace, *http;
    char dir[PATH_BYTES]; /* "" until it is made */
    char connect[80], page[120];
    caucus_child *child; /* [m + 1]: the coordinator, then the clients */
    size_t children;     /* started */
    uint32_t *expert;    /* [m][T]: what was played */
    uint32_t *played;    /* [m] */
    char summary[2048];  /* the coordinator's last line */
    double start, seconds;
} upping;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_help(void) {
    fputs("caucus up: a live federation on this machine: certificates, coordinator, clients over mutual TLS, summary\n"
          "\n"
          "  caucus up\n"
          "  caucus up --clients 20 --epsilon 10 --pace 50\n"
          "  caucus up --data ml-1m --epsilon 10 --format json\n"
          "\n"
          "Takes the flags of caucus simulate (one value each; one trial), and ends by comparing what every client "
          "played with that\n"
          "simulation. Losses are simulated and the noise is seeded: NOT PRIVATE, a demonstration. Nothing stays, no "
          "process and\n"
          "no file, unless --keep is given.\n"
          "\nWhat is played\n",
          stdout);
    caucus_options_help(options, CAUCUS_FIELD_ALGORITHM, CAUCUS_FIELD_EPSILON - CAUCUS_FIELD_ALGORITHM);
    fputs("\nPrivacy and mechanisms\n", stdout);
    caucus_options_help(options, CAUCUS_FIELD_EPSILON, CAUCUS_FIELD_TRUST - CAUCUS_FIELD_EPSILON);
    puts("  --trust WHOM           who may see what (coordinator)");
    caucus_options_help(options, CAUCUS_FIELD_TRUST + 1, CAUCUS_FIELD_DATA - CAUCUS_FIELD_TRUST - 1);
    fputs("\nData\n", stdout);
    caucus_options_help(options, CAUCUS_FIELD_DATA, CAUCUS_FIELD_TRIALS - CAUCUS_FIELD_DATA);
    fputs("\nRunning and results\n", stdout);
    caucus_options_help(options, CAUCUS_FIELD_SEED, 1);
    puts("  --format NAME          table or json on standard output (table)");
    caucus_options_help(options, KEEP, 3);
}

static int say(const char *format, ...) CAUCUS_PRINTF(1, 2);
static int say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("caucus up: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return CAUCUS_EXIT_USAGE;
}

static int complain(const caucus_complaint *c) {
    fprintf(stderr, "%s%s\n", c->placed ? "" : "caucus up: ", c->line);
    return CAUCUS_EXIT_USAGE;
}

static int take_option(void *user, size_t index, const char *value) {
    upping *u = user;
    if (index == SIZE_MAX) {
        if (u->file)
            return say("'%s': one scenario file at a time, '%s' was given already", value, u->file);
        u->file = value;
        return 0;
    }
    if (index >= CAUCUS_FIELD_COUNT) {
        *(index == KEEP ? &u->keep : index == PACE ? &u->pace : &u->http) = value;
        return 0;
    }
    if (index == CAUCUS_FIELD_OUT || index == CAUCUS_FIELD_LEDGER || index == CAUCUS_FIELD_BUDGET)
        return say("--%s: for caucus simulate; --keep DIR keeps the files of a live run", options[index].name);
    if (index == CAUCUS_FIELD_TRIALS && strcmp(value, "1") != 0)
        return say("--trials %s: a live run is one trial; caucus simulate plays many", value);
    caucus_complaint complaint;
    return caucus_scenario_set(&u->scenario, (caucus_field)index, value, &complaint) == CAUCUS_OK
               ? 0
               : complain(&complaint);
}

/* What simulate wants to be told, and a demonstration may assume. */
static caucus_status set_default(upping *u, caucus_field field, const char *value, bool always, caucus_complaint *ret) {
    bool given = u->scenario.field[field].count > 0 && !(always && u->scenario.field[field].line > 0);
    return given ? CAUCUS_OK : caucus_scenario_set(&u->scenario, field, value, ret);
}

static int check_run(const upping *u) {
    const caucus_run *run = &u->prepared.run[0];
    const caucus_plan *plan = u->prepared.plan[0];
    if (u->prepared.count != 1)
        return say("%zu runs: a live run has one value per flag; caucus simulate plays many", u->prepared.count);
    if (u->prepared.format == CAUCUS_FORMAT_CSV)
        return say("--format csv: must be table or json");
    if (plan->settings.losses == CAUCUS_LOSSES_CONVEX)
        return say("--trees with cross-entropy: convex losses are for the C interface (caucus/link.h) and for caucus "
                   "simulate");
    if (run->settings.algorithm == CAUCUS_ALGORITHM_SPARSE_VECTOR ||
        run->settings.algorithm == CAUCUS_ALGORITHM_LIMITED_UPDATES)
        return say("--algorithm %s: is for one client alone — svt, stoch and hedge federate",
                   caucus_algorithm_word(run->settings.algorithm));
    if (run->settings.protocol == CAUCUS_PROTOCOL_PAPER && run->settings.algorithm == CAUCUS_ALGORITHM_SVT)
        return say("--protocol paper: is for caucus simulate; live runs are two-step, with the same experts");
    if (plan->settings.clients > CLIENTS_MAX)
        return say("--clients %u: each is a process, at most %u — caucus simulate takes millions",
                   plan->settings.clients, CLIENTS_MAX);
    char *end = NULL;
    if (u->pace && !(strtod(u->pace, &end) >= 0 && end != u->pace && *end == '\0'))
        return say("--pace %s: must be milliseconds", u->pace);
    return 0;
}

static int read_settings(upping *u, int argc, char **argv) {
    caucus_complaint complaint;
    int code = caucus_options_parse("up", options, argc, argv, take_option, u);
    if (code != 0)
        return code;
    caucus_status status = u->file ? caucus_scenario_load(&u->scenario, u->file, &complaint) : CAUCUS_OK;
    if (status == CAUCUS_OK)
        status = set_default(u, CAUCUS_FIELD_TRUST, "coordinator", false, &complaint);
    if (status == CAUCUS_OK && u->scenario.field[CAUCUS_FIELD_DATA].count > 0)
        status = set_default(u, CAUCUS_FIELD_ADVERSARY, "movielens", false, &complaint);
    if (status == CAUCUS_OK)
        status = set_default(u, CAUCUS_FIELD_TRIALS, "1", true, &complaint);
    if (status == CAUCUS_OK)
        status = caucus_scenario_resolve(&u->scenario, &u->prepared, &complaint);
    return status == CAUCUS_OK ? check_run(u) : complain(&complaint);
}

static void path_in(const upping *u, char ret[PATH_BYTES + 64], const char *format, ...) CAUCUS_PRINTF(3, 4);
static void path_in(const upping *u, char ret[PATH_BYTES + 64], const char *format, ...) {
    char name[64];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(name, sizeof name, format, args);
    va_end(args);
    (void)snprintf(ret, PATH_BYTES + 64, "%s/%s", u->dir, name);
}

/* The directory, certificates and the plan. */
static int make_files(upping *u) {
    char path[PATH_BYTES + 64], hash[CAUCUS_PLAN_HEX_BYTES];
    caucus_error error = {"", ""};
    const char *temporary = getenv("TMPDIR");
    if (u->keep && strlen(u->keep) < PATH_BYTES && mkdir(u->keep, 0700) == 0)
        (void)snprintf(u->dir, sizeof u->dir, "%s", u->keep);
    else if (u->keep)
        return say("--keep %s: %s — give a directory that does not exist yet", u->keep, strerror(errno)),
               CAUCUS_EXIT_USAGE;
    else if (snprintf(u->dir, sizeof u->dir, "%s/caucus-up-XXXXXX", temporary && temporary[0] ? temporary : "/tmp") >=
                 (int)sizeof u->dir ||
             !mkdtemp(u->dir)) {
        say("%s: %s — set TMPDIR to a directory that can be written to", u->dir, strerror(errno));
        u->dir[0] = '\0';
        return CAUCUS_EXIT_FAILED;
    }
    path_in(u, path, "certs");
    caucus_certify_settings certify = {
        .dir = path, .clients = u->prepared.plan[0]->settings.clients, .days = 1, .stop = &stop};
    caucus_status status = caucus_certify(&certify, &error);
    if (status == CAUCUS_OK) {
        path_in(u, path, "plan.yaml");
        status = caucus_plan_file_write(u->prepared.plan[0], path, false, hash, &error);
    }
    if (status != CAUCUS_OK && !stop)
        say("%s%s%s", error.field, error.field[0] ? ": " : "", error.text);
    return status == CAUCUS_OK ? 0 : CAUCUS_EXIT_FAILED;
}

/* A child ended badly: what and, from the last line of its log, why. */
static int say_why(const caucus_child *child, const char *what) {
    FILE *file = child->log ? fopen(child->log, "r") : NULL;
    char line[1024], last[1024] = "no reason given";
    while (file && fgets(line, sizeof line, file))
        (void)snprintf(last, sizeof last, "%s", line);
    if (file)
        (void)fclose(file);
    last[strcspn(last, "\n")] = '\0';
    say("%s: %s", what, last);
    return CAUCUS_EXIT_FAILED;
}

static bool number_after(const char *text, const char *key, unsigned long long *ret) {
    const char *at = strstr(text, key);
    char *end = NULL;
    if (!at)
        return false;
    *ret = strtoull(at + strlen(key), &end, 10);
    return end != at + strlen(key);
}

/* The coordinator speaks JSON lines, the first where it listens, the last how it went; a client prints experts. */
static void take_line(void *user, size_t number, const char *line) {
    upping *u = user;
    unsigned long long port = 0;
    if (number == 0) {
        static const char key[] = "\"listening\": \"";
        const char *at = strstr(line, key);
        if (at)
            (void)snprintf(u->connect, sizeof u->connect, "%.*s", (int)strcspn(at + sizeof key - 1, "\""),
                           at + sizeof key - 1);
        if (at && number_after(line, "\"http_port\": ", &port))
            (void)snprintf(u->page, sizeof u->page, "http://127.0.0.1:%llu/", port);
        if (strstr(line, "\"finished\":"))
            (void)snprintf(u->summary, sizeof u->summary, "%s", line);
        return;
    }
    uint32_t rounds = u->prepared.plan[0]->settings.rounds, i = (uint32_t)number - 1;
    char *end = NULL;
    unsigned long expert = strtoul(line, &end, 10);
    if (u->played[i] < rounds)
        u->expert[(size_t)i * rounds + u->played[i]++] = end != line && *end == '\0' ? (uint32_t)expert : UINT32_MAX;
}

static int start_coordinator(upping *u) {
    char plan[PATH_BYTES + 64], state[PATH_BYTES + 64], cert[PATH_BYTES + 64], key[PATH_BYTES + 64],
        ca[PATH_BYTES + 64], log[PATH_BYTES + 64], seed[32];
    path_in(u, plan, "plan.yaml");
    path_in(u, state, "coordinator");
    path_in(u, cert, "certs/coordinator.pem");
    path_in(u, key, "certs/coordinator.key");
    path_in(u, ca, "certs/ca.pem");
    path_in(u, log, "coordinator.log");
    (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)u->prepared.run[0].seed);
    const char *argv[] = {
        "caucus", "serve", "--plan",   plan,   "--state",     state, "--listen", "127.0.0.1:0",
        "--cert", cert,    "--key",    key,    "--client-ca", ca,    "--http",   u->http ? u->http : "127.0.0.1:0",
        "--seed", seed,    "--format", "json", NULL};
    if (!caucus_child_start(&u->child[0], argv, log)) {
        say("the coordinator could not be started: %s", strerror(errno));
        return CAUCUS_EXIT_FAILED;
    }
    u->children = 1;
    double until = now() + START_SECONDS;
    while (!stop && !u->connect[0] && now() < until && caucus_children_read(u->child, 1, 100, take_line, u) > 0)
        ;
    if (u->connect[0] || stop)
        return stop ? CAUCUS_EXIT_FAILED : 0;
    return say_why(&u->child[0], "the coordinator did not start");
}

static int start_client(upping *u, uint32_t index) {
    char plan[PATH_BYTES + 64], state[PATH_BYTES + 64], cert[PATH_BYTES + 64], key[PATH_BYTES + 64],
        ca[PATH_BYTES + 64], log[PATH_BYTES + 64], seed[32];
    const caucus_run *run = &u->prepared.run[0];
    path_in(u, plan, "plan.yaml");
    path_in(u, state, "client-%u.state", index);
    path_in(u, cert, "certs/client-%u.pem", index);
    path_in(u, key, "certs/client-%u.key", index);
    path_in(u, ca, "certs/ca.pem");
    path_in(u, log, "client-%u.log", index);
    (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    const char *argv[32] = {"caucus", "join", "--connect", u->connect, "--plan", plan, "--cert",    cert, "--key", key,
                            "--ca",   ca,     "--state",   state,      "--seed", seed, "--give-up", "30"};
    size_t n = 18;
    bool file = run->adversary.kind == CAUCUS_ADVERSARY_LOSSES;
    argv[n++] = file ? "--npy" : "--adversary";
    argv[n++] = file ? run->adversary.losses : caucus_adversary_kind_word(run->adversary.kind);
    if (run->adversary.kind == CAUCUS_ADVERSARY_MOVIELENS) {
        argv[n++] = "--data";
        argv[n++] = run->adversary.data;
        argv[n++] = "--genre";
        argv[n++] = run->adversary.genre ? run->adversary.genre : CAUCUS_GENRE_DEFAULT;
    }
    if (u->pace) {
        argv[n++] = "--pace";
        argv[n++] = u->pace;
    }
    argv[n] = NULL;
    if (!caucus_child_start(&u->child[index], argv, log)) {
        say("client %u could not be started: %s", index, strerror(errno));
        return CAUCUS_EXIT_FAILED;
    }
    u->children = (size_t)index + 1;
    return 0;
}

/* A child that ended badly ends the whole. */
static int check_children(const upping *u) {
    for (size_t i = 0; i < u->children; i++) {
        const caucus_child *c = &u->child[i];
        bool early = i == 0 && !u->summary[0];
        if (c->pid == 0 && (c->code != 0 || early)) {
            char what[64];
            if (i == 0)
                (void)snprintf(what, sizeof what, "the coordinator ended with code %d", c->code);
            else
                (void)snprintf(what, sizeof what, "client %zu ended with code %d", i, c->code);
            return say_why(c, what);
        }
    }
    return 0;
}

static int play(upping *u) {
    const caucus_settings *s = &u->prepared.plan[0]->settings;
    int code = 0;
    for (uint32_t i = 1; code == 0 && !stop && i <= s->clients; i++)
        code = start_client(u, i);
    caucus_progress progress;
    caucus_progress_begin(&progress, "live", 4);
    size_t alive = u->children;
    double clients_gone = INFINITY;
    while (code == 0 && !stop && alive > 0) {
        alive = caucus_children_read(u->child, u->children, 200, take_line, u);
        code = check_children(u);
        uint32_t least = s->rounds;
        for (uint32_t i = 0; i < s->clients; i++)
            least = u->played[i] < least ? u->played[i] : least;
        caucus_progress_update(&progress, least, s->rounds);
        if (alive == 1 && u->child[0].pid != 0 && isinf(clients_gone))
            clients_gone = now();
        if (now() - clients_gone > END_SECONDS) {
            caucus_progress_end(&progress);
            return say("the clients have gone and the coordinator has not ended"), CAUCUS_EXIT_FAILED;
        }
    }
    caucus_progress_end(&progress);
    u->seconds = now() - u->start;
    return code == 0 && stop ? (say("stopped"), CAUCUS_EXIT_FAILED) : code;
}

static void print_json(const upping *u, const caucus_compared *c) {
    const caucus_settings *s = &u->prepared.plan[0]->settings;
    unsigned long long scalars = 0, in = 0, out = 0, commits = 0;
    (void)number_after(u->summary, "\"scalars_up\": ", &scalars);
    (void)number_after(u->summary, "\"bytes_in\": ", &in);
    (void)number_after(u->summary, "\"bytes_out\": ", &out);
    (void)number_after(u->summary, "\"commits\": ", &commits);
    printf("{\"equal\": %s, \"algorithm\": \"%s\", \"adversary\": \"%s\", \"trust\": \"%s\", \"clients\": %u, "
           "\"experts\": %u, \"rounds\": %u, "
           "\"seed\": %llu, \"private\": false,\n",
           c->equal ? "true" : "false", caucus_algorithm_word(s->algorithm),
           caucus_adversary_kind_word(u->prepared.run[0].adversary.kind), caucus_trust_word(s->trust), s->clients,
           s->experts, s->rounds, (unsigned long long)u->prepared.run[0].seed);
    if (isfinite(s->epsilon))
        printf(" \"epsilon\": %.17g,", s->epsilon);
    else
        fputs(" \"epsilon\": null,", stdout);
    printf(" \"regret\": %.17g, \"regret_simulated\": %.17g, \"switches\": %u, \"scalars_up\": %llu, "
           "\"scalars_up_simulated\": %llu,\n",
           c->regret_live, c->simulation.regret, c->simulation.switches, scalars,
           (unsigned long long)c->simulation.scalars_up);
    printf(" \"bytes_in\": %llu, \"bytes_out\": %llu, \"commits\": %llu, \"seconds\": %.3f}\n", in, out, commits,
           u->seconds);
}

static void print_table(const upping *u, const caucus_compared *c) {
    const caucus_plan *plan = u->prepared.plan[0];
    const caucus_settings *s = &plan->settings;
    unsigned long long scalars = 0, in = 0, out = 0, paper = 0;
    (void)number_after(u->summary, "\"scalars_up\": ", &scalars);
    (void)number_after(u->summary, "\"scalars_paper\": ", &paper);
    (void)number_after(u->summary, "\"bytes_in\": ", &in);
    (void)number_after(u->summary, "\"bytes_out\": ", &out);
    printf("  %s against %s: %u clients over mutual TLS, %u experts, %u rounds, epsilon %g, %.1f s\n",
           caucus_algorithm_word(s->algorithm), caucus_adversary_kind_word(u->prepared.run[0].adversary.kind),
           s->clients, s->experts, s->rounds, s->epsilon, u->seconds);
    printf("  Regret      %.4g per client", c->regret_live);
    if (caucus_bound_holds(plan, u->prepared.run[0].adversary.kind))
        printf(" (proven \xe2\x89\xa4 %.4g)", plan->bound);
    printf(", %u switches\n", c->simulation.switches);
    printf("  Traffic     %.1f numbers up per client (the paper's protocol: %.1f); %llu bytes in, %llu bytes out\n",
           (double)scalars / s->clients, (double)paper / s->clients, in, out);
    if (c->equal)
        printf("  Simulation  equal, expert for expert: %llu choices\n", (unsigned long long)s->clients * s->rounds);
    else if (c->live == UINT32_MAX)
        printf("  Simulation  NOT equal: client %u has played nothing in round %u, the simulation expert %u\n",
               c->client, c->round, c->simulated);
    else
        printf("  Simulation  NOT equal: client %u, round %u: expert %u live, %u simulated\n", c->client, c->round,
               c->live, c->simulated);
    printf("\n  NOT PRIVATE (seeded): seed %llu, simulated losses.\n", (unsigned long long)u->prepared.run[0].seed);
}

static int run(upping *u, int argc, char **argv) {
    int code = read_settings(u, argc, argv);
    if (code != 0)
        return code;
    const caucus_settings *s = &u->prepared.plan[0]->settings;
    u->child = calloc((size_t)s->clients + 1, sizeof *u->child);
    u->played = calloc(s->clients, sizeof *u->played);
    u->expert = calloc((size_t)s->clients * s->rounds, sizeof *u->expert);
    if (!u->child || !u->played || !u->expert)
        return say("%s", caucus_status_text(CAUCUS_E_MEMORY)), CAUCUS_EXIT_FAILED;
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    u->start = now();
    code = make_files(u);
    if (code == 0)
        code = start_coordinator(u);
    if (code != 0)
        return code;
    if (u->page[0])
        fprintf(stderr, "caucus up: status page %s\n", u->page);
    code = play(u);
    if (code != 0)
        return code;
    caucus_compared compared;
    caucus_status status = caucus_up_compare(u->prepared.plan[0], u->prepared.adversary[0], u->prepared.run[0].seed,
                                             u->expert, u->played, &stop, &compared);
    if (status != CAUCUS_OK)
        return say("%s", stop ? "stopped" : caucus_status_text(status)), CAUCUS_EXIT_FAILED;
    if (u->prepared.format == CAUCUS_FORMAT_JSON)
        print_json(u, &compared);
    else
        print_table(u, &compared);
    return compared.equal ? CAUCUS_EXIT_DONE : CAUCUS_EXIT_FAILED;
}

/* Everything below a directory that we made, links not followed. */
static void remove_tree(int parent, const char *name) {
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(dirfd(dir), entry->d_name, 0) != 0)
            remove_tree(dirfd(dir), entry->d_name);
    if (dir)
        (void)closedir(dir);
    else if (fd >= 0)
        (void)close(fd);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

int caucus_cli_up(int argc, char **argv) {
    upping *u = calloc(1, sizeof *u);
    if (!u)
        return say("%s", caucus_status_text(CAUCUS_E_MEMORY)), CAUCUS_EXIT_FAILED;
    caucus_scenario_init(&u->scenario);
    int code = run(u, argc, argv);
    if (code == CAUCUS_OPTIONS_HELP) {
        print_help();
        code = CAUCUS_EXIT_DONE;
    }
    if (u->child)
        caucus_children_end(u->child, u->children);
    if (u->dir[0] && u->keep)
        fprintf(stderr, "caucus up: kept in %s\n", u->dir);
    else if (u->dir[0])
        remove_tree(AT_FDCWD, u->dir);
    free(u->child);
    free(u->played);
    free(u->expert);
    caucus_prepared_free(&u->prepared);
    caucus_scenario_free(&u->scenario);
    free(u);
    return code;
}
