/* SPDX-License-Identifier: Apache-2.0 */
/* test_server_flood.c: strangers who open connections as fast as they can, from one address and from many, keep no
 * client out, however slow its line.
 *
 * Eight clients of the product dial over a line with a round trip of 150 ms while the flood goes on. Attackers hold
 * what they have opened, the oldest goes with a reset (RST) when the next one is opened. CAUCUS_FLOOD_RATE: connects
 * per second (default 3,000; 0: as many as the machine gives); CAUCUS_FLOOD_CONNECTS: how many of them at least while
 * the clients join and after they have (default 2,000 each). The rate that was reached is printed. */
#define _GNU_SOURCE /* accept4 */
#include "net/delaying_proxy.h"

#include "dial/certify.h"
#include "dial/dial.h"

#define CLIENTS 8u
#define ROUND_TRIP_MS 150
#define HELD 2000u /* connections an attacker holds */
#define PATIENCE_TURNS 60000

typedef struct flood {
    uint16_t port;
    uint32_t addresses; /* 127.0.0.2 and those behind it */
    uint32_t rate;      /* connects a second; 0: as many as can be */
    _Atomic bool stop;
    _Atomic uint64_t connects;
    pthread_t thread;
} flood;

static void reset(int fd) {
    struct linger none = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(fd);
}

static int knock(const flood *f, uint64_t number) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0)
        return -1;
    struct sockaddr_in from = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + (uint32_t)(number % f->addresses))};
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(f->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    (void)setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&from, sizeof from) != 0 ||
        (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS)) {
        reset(fd);
        return -1;
    }
    return fd;
}

static void *flood_run(void *user) {
    flood *f = user;
    int *held = malloc(HELD * sizeof *held);
    assert_non_null(held);
    for (unsigned i = 0; i < HELD; i++)
        held[i] = -1;
    const int64_t begun = caucus_clock_ms();
    for (uint64_t n = 0; !f->stop; n++) {
        while (f->rate && !f->stop && (int64_t)(n * 1000 / f->rate) > caucus_clock_ms() - begun)
            usleep(1000);
        int *place = &held[n % HELD];
        if (*place >= 0)
            reset(*place);
        *place = knock(f, n);
        f->connects += *place >= 0;
    }
    for (unsigned i = 0; i < HELD; i++)
        if (held[i] >= 0)
            reset(held[i]);
    free(held);
    return NULL;
}

/* ---- clients ---- */

typedef struct guest {
    caucus_dial *dial;
    caucus_link *link;
} guest;

static void open_guest(guest *g, const caucus_plan *plan, const uint8_t *hash, const char *dir, uint32_t index,
                       const char *where) {
    char cert[128], key[128], ca[128];
    (void)snprintf(cert, sizeof cert, "%s/client-%u.pem", dir, index);
    (void)snprintf(key, sizeof key, "%s/client-%u.key", dir, index);
    (void)snprintf(ca, sizeof ca, "%s/ca.pem", dir);
    caucus_dial_settings dial = {.cert = cert, .key = key, .ca = ca};
    caucus_error error = {0};
    if (caucus_dial_new(&dial, &g->dial, &error) != CAUCUS_OK)
        fail_msg("%s %s", error.field, error.text);
    caucus_key secret;
    caucus_key_from_seed(index, &secret);
    caucus_link_settings link;
    caucus_link_settings_init(&link);
    link.plan = plan;
    link.plan_hash = hash;
    link.index = index;
    link.key = &secret;
    link.address = &where;
    link.addresses = 1;
    link.pause_most_ms = 1000;
    assert_int_equal(caucus_link_new(&link, &g->link, &error), CAUCUS_OK);
}

static void step_all(guest *g) {
    for (uint32_t i = 0; i < CLIENTS; i++) {
        bool awake;
        caucus_error error = {0};
        if (caucus_dial_step(g[i].dial, g[i].link, -1, 1, &awake, &error) != CAUCUS_OK)
            fail_msg("client %u: %s %s", i + 1, error.field, error.text);
    }
}

static uint32_t present(const hall *h) {
    caucus_server_status now;
    caucus_server_get_status(h->server, &now);
    return now.present;
}

static uint64_t number_from(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text && text[0] ? strtoull(text, NULL, 10) : otherwise;
}

static caucus_plan *fleet_plan(void) {
    caucus_settings s;
    caucus_plan *plan = NULL;
    caucus_settings_init(&s);
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = CLIENTS + 1; /* one never comes: the run does not begin, and everybody stays */
    s.experts = 3;
    s.rounds = 4;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    return plan;
}

static void join_under(uint32_t addresses) {
    caucus_plan *plan = fleet_plan();
    hall h;
    hall_init(&h, plan, 3);
    char dir[80], cert[128], key[128], ca[128], where[32];
    (void)snprintf(dir, sizeof dir, "%s-certs", h.dir);
    caucus_certify_settings certs = {.dir = dir, .clients = CLIENTS, .days = 2};
    assert_int_equal(caucus_certify(&certs, NULL), CAUCUS_OK);
    (void)snprintf(cert, sizeof cert, "%s/coordinator.pem", dir);
    (void)snprintf(key, sizeof key, "%s/coordinator.key", dir);
    (void)snprintf(ca, sizeof ca, "%s/ca.pem", dir);
    h.settings.cert = cert;
    h.settings.key_file = key;
    h.settings.client_ca = ca;
    hall_open(&h);
    delaying_proxy *line = proxy_open(caucus_server_port(h.server), ROUND_TRIP_MS);
    (void)snprintf(where, sizeof where, "127.0.0.1:%u", (unsigned)line->port);

    const uint64_t wanted = number_from("CAUCUS_FLOOD_CONNECTS", 2000);
    flood f = {.port = caucus_server_port(h.server),
               .addresses = addresses,
               .rate = (uint32_t)number_from("CAUCUS_FLOOD_RATE", 3000)};
    assert_int_equal(pthread_create(&f.thread, NULL, flood_run, &f), 0);
    while (f.connects < wanted) /* it is well under way before anybody comes */
        usleep(1000);
    guest g[CLIENTS] = {{0}};
    for (uint32_t i = 0; i < CLIENTS; i++)
        open_guest(&g[i], plan, h.settings.plan_hash, dir, i + 1, where);
    const int64_t begun = caucus_clock_ms();
    const uint64_t before = f.connects;
    int turns = 0;
    for (; turns < PATIENCE_TURNS / (int)CLIENTS && present(&h) < CLIENTS; turns++)
        step_all(g);
    const uint32_t joined = present(&h);
    while (joined == CLIENTS && f.connects < before + wanted) /* and they stay */
        step_all(g);
    const int64_t took = caucus_clock_ms() - begun;
    print_message("%u of %u clients joined while %llu connections a second came from %u address%s\n", joined, CLIENTS,
                  (unsigned long long)((f.connects - before) * 1000 / (uint64_t)(took > 0 ? took : 1)), addresses,
                  addresses == 1 ? "" : "es");
    assert_int_equal(joined, CLIENTS);
    assert_int_equal(present(&h), CLIENTS);
    f.stop = true;
    assert_int_equal(pthread_join(f.thread, NULL), 0);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        caucus_link_free(g[i].link);
        caucus_dial_free(g[i].dial);
    }
    proxy_close(line);
    hall_stop(&h);
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
    hall_free(&h);
    caucus_plan_free(plan);
}

static void test_one_address(void **state) {
    (void)state;
    join_under(1);
}

static void test_many_addresses(void **state) {
    (void)state;
    join_under(64);
}

int main(void) {
    signal(SIGPIPE, SIG_IGN); /* this side's writes go through OpenSSL, too */
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_address), cmocka_unit_test(test_many_addresses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
