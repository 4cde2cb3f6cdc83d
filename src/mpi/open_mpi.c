/* SPDX-License-Identifier: Apache-2.0 */
/* open_mpi.c: ranks over MPI. See here.h and sim/ranks.h.
 *
 * Only the thread that called caucus_ranks_open() calls MPI (MPI_THREAD_FUNNELED). Waiting is done here rather than by
 * MPI, which would keep a core busy and could not be left: every wait is a request that is tested, at first without a
 * pause, since the next answer of a trial that is played by all is microseconds away, then with longer and longer ones.
 * A wait ends without success some time after a signal. There is no way back from that: the request stays where it is,
 * no further MPI call is made, and the program ends without MPI_Finalize, after which mpirun ends whoever is left. */
#define _GNU_SOURCE /* memfd_create, sched_getaffinity */
#include "mpi/here.h"

#include "store/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Numbers that travel at once: MPI keeps the buffer of a request that is left behind, so it is one of ours. */
#define PIECE 65536u

/* After a signal rank 0 waits this long for the others: mpirun kills a second after it, and what is complete must have
 * been kept by then. The others have nothing to save, and give rank 0 time. */
#define PATIENCE_SECONDS 0.4
#define PATIENCE_OTHERS_SECONDS 30.0
/* A rank that has failed by itself lets the others arrive at the end, where they do if all have failed alike. */
#define TOGETHER_SECONDS 2.0

#define LOOK_SECONDS 0.05 /* between two looks for ranks that have died */

/* A request is tested without a pause for so long. By the clock and not by a number of tests: where there are more
 * ranks than cores a test gives the core away, and may take milliseconds. */
#define SPIN_SECONDS 3e-4
#define PAUSE_NS_LEAST 20000  /* the first pause; each is a little longer than the one before */
#define PAUSE_NS_MOST 1000000 /* the longest */

/* Messages under way at once. Whoever sends one goes on at once, and waits only if so many have not been taken yet. */
#define LETTERS 64

typedef struct letter {
    MPI_Request request; /* MPI_REQUEST_NULL: nothing is under way */
    char bytes[CAUCUS_RANKS_MESSAGE_BYTES];
} letter;

static struct {
    bool begun; /* MPI is to be ended */
    bool lost;  /* a rank is gone, or was given up: no further call of MPI but MPI_Abort */
    const volatile int *stop;
    const char *hint;     /* what to do when rank 0 is gone */
    double stop_seen;     /* when a wait first saw the signal */
    MPI_Comm play, close; /* the end is spoken about apart from all else: ranks may come to it from different places */
    int64_t *piece;       /* [PIECE] */
    letter *letter;       /* [LETTERS]: a ring */
    size_t sent;          /* letters so far */
    int real_stderr, held_stderr; /* other ranks: the true one, and a file in memory in its place; -1: none */
    int (*near)[2];               /* [near_count]: number and process of every rank on this machine */
    int near_count;
    int64_t gone;     /* a rank that has died; -1: none is known to */
    double gone_seen; /* when that was last looked at */
    caucus_ranks table;
} here = {.real_stderr = -1, .held_stderr = -1, .gone = -1};

static void lose(void) {
    here.lost = true;
}

static bool good(int result) {
    if (result != MPI_SUCCESS)
        lose();
    return result == MPI_SUCCESS;
}

/* The lowest rank of this machine whose process is no more. */
static int64_t gone(void) {
    double now = caucus_clock_seconds();
    if (here.gone >= 0 || now - here.gone_seen < LOOK_SECONDS)
        return here.gone;
    here.gone_seen = now;
    for (int i = 0; i < here.near_count && here.gone < 0; i++)
        if (kill((pid_t)here.near[i][1], 0) != 0 && errno == ESRCH)
            here.gone = here.near[i][0];
    return here.gone;
}

/* Has a rank died, or has a wait gone on for too long since a signal came? */
static bool out_of_patience(void) {
    if (gone() >= 0)
        return true;
    if (here.stop == NULL || !__atomic_load_n(here.stop, __ATOMIC_RELAXED))
        return false;
    double now = caucus_clock_seconds();
    if (here.stop_seen <= 0)
        here.stop_seen = now;
    return now - here.stop_seen > (here.table.rank == 0 ? PATIENCE_SECONDS : PATIENCE_OTHERS_SECONDS);
}

/* Wait for a request, at most for `seconds` (0: no limit). Returns: false if it was left behind. */
static bool wait_at_most(MPI_Request *request, double seconds, bool signals) {
    const double start = caucus_clock_seconds();
    long pause = PAUSE_NS_LEAST;
    for (;;) {
        int done = 0;
        if (!good(MPI_Test(request, &done, MPI_STATUS_IGNORE)))
            return false;
        if (done)
            return true;
        double waited = caucus_clock_seconds() - start;
        if (waited < SPIN_SECONDS)
            continue;
        if (signals && out_of_patience())
            lose();
        if (here.lost || (seconds > 0 && waited > seconds))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
        pause = pause + pause / 4 < PAUSE_NS_MOST ? pause + pause / 4 : PAUSE_NS_MOST;
    }
}

static bool wait_for(MPI_Request *request) {
    return wait_at_most(request, 0, true);
}

static caucus_status sum(int64_t *value, size_t count) {
    for (size_t at = 0; at < count && !here.lost; at += PIECE) {
        size_t now = count - at < PIECE ? count - at : PIECE;
        MPI_Request request = MPI_REQUEST_NULL;
        memcpy(here.piece, value + at, now * sizeof *value);
        if (good(MPI_Iallreduce(MPI_IN_PLACE, here.piece, (int)now, MPI_INT64_T, MPI_SUM, here.play, &request)) &&
            wait_for(&request))
            memcpy(value + at, here.piece, now * sizeof *value);
    }
    return here.lost ? CAUCUS_E_STOPPED : CAUCUS_OK;
}

static caucus_status share(void *bytes, size_t count) {
    const size_t room = PIECE * sizeof *here.piece;
    char *all = bytes;
    for (size_t at = 0; at < count && !here.lost; at += room) {
        size_t now = count - at < room ? count - at : room;
        MPI_Request request = MPI_REQUEST_NULL;
        memcpy(here.piece, all + at, now);
        if (good(MPI_Ibcast(here.piece, (int)now, MPI_BYTE, 0, here.play, &request)) && wait_for(&request))
            memcpy(all + at, here.piece, now);
    }
    return here.lost ? CAUCUS_E_STOPPED : CAUCUS_OK;
}

static void send_message(uint32_t to, const void *bytes, size_t count) {
    letter *l = &here.letter[here.sent % LETTERS];
    if (here.lost || !wait_for(&l->request))
        return;
    memcpy(l->bytes, bytes, count);
    if (good(MPI_Isend(l->bytes, (int)count, MPI_BYTE, (int)to, 0, here.play, &l->request)))
        here.sent++;
}

/* MPI must not be ended while a letter is under way. Returns: whether none is. */
static bool letters_taken(void) {
    for (size_t i = 0; i < LETTERS; i++)
        if (!wait_at_most(&here.letter[i].request, TOGETHER_SECONDS, false))
            return false;
    return true;
}

static bool receive_message(uint32_t *ret_from, void *ret, size_t *ret_count) {
    MPI_Status status;
    int flag = 0, count = 0;
    /* A look that finds nothing lets MPI take in what has arrived, but does not look there: hence the second one. */
    for (unsigned looks = 0; looks < 2 && !flag; looks++)
        if (here.lost || !good(MPI_Iprobe(MPI_ANY_SOURCE, 0, here.play, &flag, &status)))
            return false;
    if (!flag || !good(MPI_Get_count(&status, MPI_BYTE, &count)))
        return false;
    if ((size_t)count > CAUCUS_RANKS_MESSAGE_BYTES)
        abort(); /* another program than this one speaks */
    *ret_from = (uint32_t)status.MPI_SOURCE;
    *ret_count = (size_t)count;
    return good(MPI_Recv(ret, count, MPI_BYTE, status.MPI_SOURCE, 0, here.play, MPI_STATUS_IGNORE));
}

/* This process's part of the cores: those it may use, divided among the ranks of this machine that may use the same.
 * Ranks that are bound have cores of their own; those that are not share what the job was given, which is perhaps not
 * the whole machine. */
static uint32_t threads_of(const cpu_set_t *allowed, const cpu_set_t *near, int near_count) {
    int sharing = 0;
    for (int i = 0; i < near_count; i++)
        sharing += CPU_EQUAL(&near[i], allowed) != 0;
    const int cores = CPU_COUNT(allowed) / (sharing > 0 ? sharing : 1);
    return cores > 0 ? (uint32_t)cores : 1;
}

/* Who is on this machine, and on which cores. */
static bool look_around(int rank) {
    MPI_Comm near;
    int own[2] = {rank, (int)getpid()};
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN) && i < CPU_SETSIZE; i++)
            CPU_SET((size_t)i, &allowed);
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &near) != MPI_SUCCESS ||
        MPI_Comm_size(near, &here.near_count) != MPI_SUCCESS)
        return false;
    here.near = calloc((size_t)here.near_count, sizeof *here.near);
    cpu_set_t *cores = calloc((size_t)here.near_count, sizeof *cores);
    const bool known =
        here.near != NULL && cores != NULL &&
        MPI_Allgather(own, 2, MPI_INT, here.near, 2, MPI_INT, near) == MPI_SUCCESS &&
        MPI_Allgather(&allowed, sizeof allowed, MPI_BYTE, cores, sizeof allowed, MPI_BYTE, near) == MPI_SUCCESS;
    if (known)
        here.table.threads = threads_of(&allowed, cores, here.near_count);
    free(cores);
    return known && MPI_Comm_free(&near) == MPI_SUCCESS;
}

/* Only rank 0 prints. */
static void fall_silent(void) {
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    here.real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    here.held_stderr = memfd_create("complaints", MFD_CLOEXEC);
    if (null >= 0)
        (void)dup2(null, STDOUT_FILENO);
    if (here.held_stderr >= 0)
        (void)dup2(here.held_stderr, STDERR_FILENO);
    if (null >= 0)
        (void)close(null);
}

/* What this rank would have complained about, on the true standard error. */
static void speak_up(void) {
    char text[4096];
    ssize_t bytes;
    off_t at = 0;
    (void)fflush(stderr);
    while (here.held_stderr >= 0 && here.real_stderr >= 0 &&
           (bytes = pread(here.held_stderr, text, sizeof text, at)) > 0 &&
           write(here.real_stderr, text, (size_t)bytes) == bytes)
        at += bytes;
}

const char *caucus_ranks_library(void) {
    static char text[64];
    char all[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (MPI_Get_library_version(all, &length) != MPI_SUCCESS)
        return "MPI";
    (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(all, ","), all); /* "Open MPI v4.1.4, package: ..." */
    return text;
}

void caucus_ranks_open(int *argc, char ***argv, const volatile int *stop, const char *hint) {
    int given = 0, rank = 0, size = 1;
    here.stop = stop;
    here.hint = hint;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS)
        return; /* MPI has said why, and as a rule ended the process */
    here.begun = true;
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2)
        return;
    here.piece = malloc(PIECE * sizeof *here.piece);
    here.letter = malloc(LETTERS * sizeof *here.letter);
    for (size_t i = 0; here.letter != NULL && i < LETTERS; i++)
        here.letter[i].request = MPI_REQUEST_NULL;
    if (here.piece == NULL || here.letter == NULL || given < MPI_THREAD_FUNNELED ||
        MPI_Comm_dup(MPI_COMM_WORLD, &here.play) != MPI_SUCCESS ||
        MPI_Comm_dup(MPI_COMM_WORLD, &here.close) != MPI_SUCCESS || !look_around(rank)) {
        fputs("caucus: MPI: no memory, or a library that does not allow threads\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    (void)MPI_Comm_set_errhandler(here.play, MPI_ERRORS_RETURN);
    (void)MPI_Comm_set_errhandler(here.close, MPI_ERRORS_RETURN);
    here.table.rank = (uint32_t)rank;
    here.table.size = (uint32_t)size;
    here.table.sum = sum;
    here.table.share = share;
    here.table.send = send_message;
    here.table.receive = receive_message;
    here.table.give_up = lose;
    here.table.gone = gone;
    if (rank > 0)
        fall_silent();
}

const caucus_ranks *caucus_ranks_here(void) {
    return here.table.size > 1 ? &here.table : NULL;
}

/* Somebody is gone. Rank 0 has said what it kept; if it is rank 0 that is gone, the next one says so. */
static void end_alone(int code) {
    if (here.table.rank == 1 && here.gone == 0 && here.real_stderr >= 0) {
        char line[256];
        const int length = snprintf(line, sizeof line, "caucus: rank 0 is gone — %.200s\n", here.hint);
        (void)!write(here.real_stderr, line, (size_t)length);
    }
    (void)fflush(NULL);
    if (!here.lost) /* else mpirun is ending everybody already, or does when this rank has ended */
        MPI_Abort(MPI_COMM_WORLD, code > 0 ? code : 1);
    _exit(code > 0 ? code : 1);
}

int caucus_ranks_close(int code) {
    if (!here.begun)
        return code;
    if (here.table.size < 2) {
        (void)MPI_Finalize();
        return code;
    }
    if (here.lost)
        end_alone(code);
    /* The lowest rank that knows why it failed is the one that is heard. Signals do not count here: rank 0 may still
     * be writing what it keeps, and whoever sent one to everybody ends those that wait for too long. */
    static int lowest;
    const bool failed = code > 0;
    lowest = failed ? (int)here.table.rank : INT_MAX;
    MPI_Request request = MPI_REQUEST_NULL;
    bool together = good(MPI_Iallreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, here.close, &request)) &&
                    wait_at_most(&request, failed ? TOGETHER_SECONDS : 0, false) && letters_taken();
    const bool speaker = failed && (!together || lowest == (int)here.table.rank);
    if (speaker && here.table.rank > 0)
        speak_up();
    if (!together)
        end_alone(code);
    (void)MPI_Finalize();
    return speaker ? code : 0;
}
