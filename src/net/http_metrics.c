/* SPDX-License-Identifier: Apache-2.0 */
/* http_metrics.c: /metrics in the Prometheus text format (version 0.0.4). docs/RUNTIME.md says what each one
 * means. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>

#include <caucus/version.h>

#include "net/http_view.h"

static void head(FILE *to, const char *name, const char *type, const char *help) {
    (void)fprintf(to, "# HELP caucus_%s %s\n# TYPE caucus_%s %s\n", name, help, name, type);
}

static void gauge(FILE *to, const char *name, double value, const char *help) {
    head(to, name, "gauge", help);
    if (isnan(value))
        (void)fprintf(to, "caucus_%s NaN\n", name);
    else if (isinf(value))
        (void)fprintf(to, "caucus_%s %cInf\n", name, value > 0 ? '+' : '-');
    else
        (void)fprintf(to, "caucus_%s %.9g\n", name, value);
}

static void whole_gauge(FILE *to, const char *name, uint64_t value, const char *help) {
    head(to, name, "gauge", help);
    (void)fprintf(to, "caucus_%s %" PRIu64 "\n", name, value);
}

static void counter(FILE *to, const char *name, uint64_t value, const char *help) {
    head(to, name, "counter", help);
    (void)fprintf(to, "caucus_%s %" PRIu64 "\n", name, value);
}

static void put_run(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    const caucus_settings *settings = &view->plan->settings;
    head(to, "info", "gauge", "Version, plan and algorithm of this coordinator; always 1.");
    (void)fprintf(to, "caucus_info{version=\"%s\",plan=\"%s\",algorithm=\"%s\",trust=\"%s\"} 1\n", CAUCUS_VERSION,
                  view->plan_hash, caucus_algorithm_word(settings->algorithm), caucus_trust_word(settings->trust));
    gauge(to, "started", s->started, "1 once the run has started.");
    gauge(to, "finished", s->finished, "1 once nothing more is asked.");
    gauge(to, "seeded", s->seeded, "1 if noise comes from a seed: NOT PRIVATE.");
    if (s->started) {
        gauge(to, "expert", s->now.expert, "Expert in force, from 0.");
        const char *name = caucus_plan_expert_name(view->plan, s->now.expert);
        if (name != NULL) {
            head(to, "expert_info", "gauge", "What the expert in force is called; always 1.");
            (void)fputs("caucus_expert_info{name=\"", to);
            for (; *name != '\0'; name++) /* labels hold no quotes and no line ends */
                (void)fprintf(to, *name == '\\' ? "\\\\" : "%c", *name);
            (void)fprintf(to, "\",number=\"%u\"} 1\n", s->now.expert);
        }
        whole_gauge(to, "announcement_serial", s->now.serial, "Serial of the announcement in force.");
        whole_gauge(to, "block", s->now.block, "Block or phase that is asked about.");
    }
    if (!caucus_plan_is_endless(view->plan))
        whole_gauge(to, "blocks", caucus_view_blocks(view), "Blocks or phases of the whole run.");
    gauge(to, "clients_enrolled", s->clients, "Clients in the plan.");
    gauge(to, "clients_present", s->present, "Clients connected.");
    gauge(to, "clients_waited_for", s->waited_for, "Clients that a step waits for.");
    gauge(to, "clients_excused", s->excused, "Clients on the list of the excused.");
    gauge(to, "clients_revoked", s->revoked, "Clients on the list of the revoked, by number or certificate.");
    gauge(to, "clients_expired", s->expired, "Clients that were cut off because their certificates have expired.");
    gauge(to, "clients_missing", s->missing, "Clients that missed too many deadlines and are not waited for.");
    gauge(to, "clients_answered", s->answered, "Clients that have answered the step in hand.");
    gauge(to, "step_open_seconds", s->seconds_in_step, "Seconds since the step in hand was opened.");
    gauge(to, "step_deadline_seconds", s->deadline_seconds,
          "Seconds a step stays open; 0 = until everybody has answered, or at own pace by the clock.");
    gauge(to, "step_overdue", caucus_view_overdue(view), "1 if the step is open past its deadline: no quorum.");
    gauge(to, "uptime_seconds", s->uptime_seconds, "Seconds since this process started.");
}

static void put_privacy(const caucus_server_status *s, FILE *to) {
    gauge(to, "epsilon_choices", s->epsilon_choices, "Epsilon the plan guarantees for everything announced.");
    gauge(to, "epsilon_messages", s->epsilon_messages,
          "Epsilon for what clients send; NaN if the coordinator is trusted with it.");
    gauge(to, "epsilon_device", s->epsilon_device,
          "What epsilon comes to for everything one client contributes to the run; +Inf: no bound.");
    gauge(to, "delta", s->delta, "Delta of both guarantees.");
    gauge(to, "epsilon_spent", s->epsilon_spent, "Epsilon of choices used so far, of what this run has reserved.");
    gauge(to, "epsilon_reserved", s->epsilon_reserved, "Epsilon this run has reserved; none of it is given back.");
    gauge(to, "budget_epsilon", s->budget_epsilon, "Epsilon for all runs on this data, by the ledger; NaN: no ledger.");
    gauge(to, "budget_delta", s->budget_delta,
          "Delta for all runs on this data, by the ledger; NaN: no ledger or limit.");
    gauge(to, "left_epsilon", s->left_epsilon, "Epsilon other runs on this data may still reserve; NaN: no ledger.");
    gauge(to, "left_delta", s->left_delta, "Delta other runs on this data may still reserve; NaN: no ledger or limit.");
    whole_gauge(to, "selections_allowed", s->selections_allowed,
                "Selections the plan allows; 0 = no limit of its own.");
}

static void put_look(const caucus_server_status *s, FILE *to) {
    if (s->looks == 0)
        return;
    const caucus_look *last = &s->look[0];
    gauge(to, "shown_loss", last->loss, "Loss of the expert that was in force, as last shown, with noise.");
    gauge(to, "shown_loss_low", last->low, "Lower end of its interval, 95 %.");
    gauge(to, "shown_loss_high", last->high, "Upper end of its interval, 95 %.");
    whole_gauge(to, "shown_loss_phase", last->phase, "Phase whose losses it is made of.");
    gauge(to, "shown_loss_expert", last->expert, "Expert whose loss it is.");
}

/* Of each relay that is shown one by one: a number with its label. */
static void each_relay(const caucus_server_status *s, FILE *to, const char *name, const char *type, const char *help,
                       uint64_t (*value)(const caucus_relay_status *relay)) {
    head(to, name, type, help);
    for (uint32_t i = 0; i < s->relays.count && i < CAUCUS_RELAYS_LISTED; i++)
        (void)fprintf(to, "caucus_%s{relay=\"%u\"} %" PRIu64 "\n", name, s->relay[i].number, value(&s->relay[i]));
}

static uint64_t is_here(const caucus_relay_status *r) {
    return r->here;
}

static uint64_t clients_of(const caucus_relay_status *r) {
    return r->clients;
}

static uint64_t durable_of(const caucus_relay_status *r) {
    return r->durable;
}

static void put_relays(const caucus_server_status *s, FILE *to) {
    if (s->relays.count == 0)
        return;
    gauge(to, "nats_up", s->relays.up, "1 while a NATS server is connected.");
    counter(to, "nats_reconnects_total", s->relays.reconnects, "Times NATS was connected again.");
    counter(to, "nats_drops_total", s->relays.drops, "Messages of NATS that could not be kept until they were read.");
    each_relay(s, to, "relay_here", "gauge", "1 while a session with this relay is in force.", is_here);
    each_relay(s, to, "relay_clients", "gauge", "Clients that are placed at this relay.", clients_of);
    each_relay(s, to, "relay_durable", "gauge", "Number of the last partial of its session that is in an announcement.",
               durable_of);
    head(to, "relay_partials_total", "counter", "Partials of relays, by what became of them.");
    (void)fprintf(to, "caucus_relay_partials_total{answer=\"accepted\"} %" PRIu64 "\n", s->relays.accepted);
    (void)fprintf(to, "caucus_relay_partials_total{answer=\"stale\"} %" PRIu64 "\n", s->relays.stale);
    (void)fprintf(to, "caucus_relay_partials_total{answer=\"items\"} %" PRIu64 "\n", s->relays.refused);
    counter(to, "relay_reports_total", s->relays.reports, "Reports that came with partials of relays.");
    counter(to, "relays_cut_off_total", s->relays.cut_off, "Relays that sent what no relay sends, and are not heard.");
}

void caucus_view_metrics(const caucus_view *view, FILE *to) {
    const caucus_server_status *s = &view->status;
    put_run(view, to);
    put_privacy(s, to);
    put_look(s, to);
    put_relays(s, to);
    counter(to, "selections_total", s->selections, "Experts selected since the run began.");
    counter(to, "checks_total", s->checks, "Threshold checks made since the run began.");
    counter(to, "steps_decided_total", s->steps_decided, "Steps decided.");
    counter(to, "commits_total", s->commits, "Decisions committed to disk by this process.");
    head(to, "commit_seconds_total", "counter", "Seconds that commits took, all of this process, in tenths.");
    (void)fprintf(to, "caucus_commit_seconds_total %.1f\n", s->commit_seconds);
    head(to, "committing_seconds", "gauge", "Since when a decision is being committed, in tenths; 0: none is.");
    (void)fprintf(to, "caucus_committing_seconds %.1f\n", s->committing_seconds);
    counter(to, "unknown_outcomes_total", s->unknown_outcomes,
            "Commits of this process of which nobody could tell at first whether they were made.");
    head(to, "role", "gauge", "What this coordinator is. Always 1.");
    (void)fputs("caucus_role{role=\"primary\"} 1\n", to);
    whole_gauge(to, "term", s->term, "Raised by every coordinator that takes the run, and after an unknown outcome.");
    counter(to, "reports_total", s->reports, "Reports counted.");
    whole_gauge(to, "rollback_claims", s->rollback_claims,
                "Clients that have heard more than is committed here; no step is decided while there is one.");
    gauge(to, "strangers", s->strangers, "Connections that have not said who they are.");
    counter(to, "files_out_total", s->files_out, "Times no connection could be accepted for want of open files.");
    gauge(to, "certificate_expiry_timestamp_seconds", s->certificate_ends ? (double)s->certificate_ends : NAN,
          "When the coordinator's certificate expires (Unix time); NaN: no TLS.");
    gauge(to, "client_certificate_expiry_timestamp_seconds",
          s->client_certificate_ends ? (double)s->client_certificate_ends : NAN,
          "When the first of the connected clients' certificates expires (Unix time); NaN: none.");
    gauge(to, "reload_failed", s->reload_failed,
          "1 if certificates could not be read again (SIGHUP): those from before stay in force.");
    gauge(to, "excused_list_broken", s->excused_broken,
          "1 while the list of the excused cannot be read: the last good one stays in force.");
    gauge(to, "revoked_list_broken", s->list_broken,
          "1 if the list of the revoked cannot be read: the last good one stays in force, newcomers wait.");
    head(to, "refused_total", "counter", "Connections and frames refused, by reason.");
    for (int i = 0; i < CAUCUS_REASON_COUNT; i++)
        (void)fprintf(to, "caucus_refused_total{reason=\"%s\"} %" PRIu64 "\n", caucus_reason_word((caucus_reason)i),
                      s->refused_for[i]);
    counter(to, "log_dropped_total", view->log_dropped ? atomic_load(view->log_dropped) : 0,
            "Lines of the log that nobody read in time.");
    counter(to, "received_bytes_total", s->bytes_in, "Bytes received from clients.");
    counter(to, "sent_bytes_total", s->bytes_out, "Bytes sent to clients.");
    counter(to, "scalars_received_total", s->scalars_up, "Numbers received in reports.");
    counter(to, "scalars_paper_total", s->scalars_paper, "Numbers the paper's protocol would have received by now.");
}
