/* SPDX-License-Identifier: Apache-2.0 */
/* bench_process.h: benchmarks of several processes: start, talk, pin, measure from outside. */
#ifndef CAUCUS_BENCH_PROCESS_H
#define CAUCUS_BENCH_PROCESS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity, accept4 */
#endif
#include <errno.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "dial/tls.h"

#include <caucus/plan.h>

static inline void bench_die(const char *what, const char *why) {
    fprintf(stderr, "bench_serve: %s: %s\n", what, why);
    exit(1);
}

/* Trust coordinator, a step a round: hedge asks for a vector at each, svt for one number at most of them. */
static inline caucus_plan *bench_plan(bool hedge, uint32_t clients, uint32_t experts, uint32_t rounds) {
    caucus_error error = {0};
    caucus_settings c;
    caucus_settings_init(&c);
    c.trust = CAUCUS_TRUST_COORDINATOR;
    c.algorithm = hedge ? CAUCUS_ALGORITHM_HEDGE : CAUCUS_ALGORITHM_SVT;
    c.clients = clients;
    c.experts = experts;
    c.rounds = rounds;
    caucus_plan *plan = NULL;
    must(caucus_plan_new(&c, &plan, &error), &error);
    return plan;
}

static inline int bench_remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)info, (void)kind, (void)where;
    return remove(path);
}

/* A folder and what is in it. */
static inline void bench_remove(const char *dir) {
    nftw(dir, bench_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Whole messages over a socketpair. A closed other end is the end of this process. */
static inline void bench_send(int fd, const void *from, size_t bytes) {
    if (send(fd, from, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        exit(1);
}

static inline void bench_receive(int fd, void *to, size_t bytes) {
    if (recv(fd, to, bytes, MSG_WAITALL) != (ssize_t)bytes)
        exit(0);
}

typedef struct bench_child {
    pid_t pid;
    int control;
} bench_child;

/* Run work(argument, control) in a process of its own, on one core if there are two; core -1: on any. */
static inline bench_child bench_start(void (*work)(void *argument, int control), void *argument, int core) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        bench_die("socketpair", strerror(errno));
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0)
        bench_die("fork", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)(core < 0 ? 0 : core), &set);
        if (core >= 0 && sysconf(_SC_NPROCESSORS_ONLN) >= 2)
            sched_setaffinity(0, sizeof set, &set);
        work(argument, pair[1]);
        exit(0);
    }
    close(pair[1]);
    return (bench_child){.pid = pid, .control = pair[0]};
}

static inline void bench_end(bench_child *child) {
    close(child->control);
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
}

/* Processor seconds of another process so far, user and system. */
static inline double bench_cpu(pid_t pid) {
    clockid_t clock;
    struct timespec t = {0};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        bench_die("a process has ended early", strerror(errno));
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Resident bytes of another process. */
static inline double bench_resident(pid_t pid) {
    char path[64], line[256];
    double kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = strtod(line + 6, NULL);
    if (status)
        fclose(status);
    return kib * 1024;
}

/* File descriptors this process may have after asking for `wanted`. */
static inline uint64_t bench_files(uint64_t wanted) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= wanted)
        return limit.rlim_cur;
    struct rlimit more = {.rlim_cur = wanted, .rlim_max = limit.rlim_max > wanted ? limit.rlim_max : wanted};
    if (setrlimit(RLIMIT_NOFILE, &more) != 0) {
        more = (struct rlimit){.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
        setrlimit(RLIMIT_NOFILE, &more);
    }
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

static inline SSL_CTX *bench_tls(const char *dir, const char *who, bool server) {
    char cert[512], key[512], ca[512];
    snprintf(cert, sizeof cert, "%s/%s.pem", dir, who);
    snprintf(key, sizeof key, "%s/%s.key", dir, who);
    snprintf(ca, sizeof ca, "%s/ca.pem", dir);
    SSL_CTX *context = NULL;
    caucus_error error = {0};
    caucus_status status = server ? caucus_tls_server_new(cert, key, ca, &context, &error)
                                  : caucus_tls_client_new(cert, key, ca, &context, &error);
    if (status != CAUCUS_OK)
        bench_die("certificates", error.text);
    return context;
}

#endif
