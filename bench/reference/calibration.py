# SPDX-License-Identifier: Apache-2.0
"""Noise and thresholds of Fed-SVT and Fed-Hedge from the formulas of docs/PRIVACY.md, in plain floats.

Independent of the C library on purpose: where that one convolves on a grid and rounds towards privacy, this one
evaluates closed forms and rounds nothing. Nothing here is fit to protect data.
"""
import math
from dataclasses import dataclass


@dataclass(frozen=True)
class SvtPlan:
    kind: str          # "tight": one-sided exponential noise; "paper": Laplace noise
    kappa: int         # selections allowed
    eta: float         # P(y) ~ exp(-eta score(y) / 2)
    threshold: float   # L, in sums over clients
    noise_threshold: float  # scale, once per epoch
    noise_check: float      # scale, once per check
    eps_threshold: float    # eps_AT
    margin: float           # g
    bound: float            # regret per client, with probability 1 - rho; nan if none is claimed


def renewal_probability(count, log_d, g):
    """P(V_1 + ... + V_count <= log_d), V ~ Exp(1) truncated to [0, g/2].

    The density of the sum is C^k e^-s times the k-fold convolution of the indicator of [0, a], a = g/2, so by
    inclusion and exclusion   P = C^k sum_j (-1)^j binom(k, j) e^(-j a) GammaP(k, log_d - j a).
    """
    a = g / 2
    if log_d >= count * a:
        return 1.0
    norm = 1 / -math.expm1(-a)
    terms = []
    for j in range(count + 1):
        rest = log_d - j * a
        if rest <= 0:
            break
        terms.append((-1) ** j * math.comb(count, j) * math.exp(-j * a) * gamma_p(count, rest))
    return norm ** count * math.fsum(terms)


def gamma_p(k, y):
    """Regularised lower incomplete gamma function for an integer k >= 1: P(Poisson(y) >= k)."""
    term = math.exp(-y + k * math.log(y) - math.lgamma(k + 1))
    total, i = 0.0, k
    while term > total * 1e-17:
        total += term
        i += 1
        term *= y / i
    return total


def kappa_renewal(d, rho, g):
    """The renewal bound: the least k such that more than k switches have probability at most rho."""
    k = 1
    while renewal_probability(k + 1, math.log(d), g) > rho:
        k += 1
    return k


def checks(T, N):
    """M: no check after the last block."""
    return -(-T // N) - 1


def svt_tight(m, T, N, d, eps, rho=0.05, Lstar=0.0):
    """The margin g in {3, 3.5, .., 8} with the least proved bound; the budget split minimises A/eps_AT + B/eps_EM."""
    M, rho_c, rho_a = checks(T, N), rho / 4, rho / 4
    if M == 0:
        return SvtPlan("tight", 0, math.nan, math.inf, 0.0, 0.0, 0.0, math.nan, float(T))
    best = None
    for half in range(6, 17):
        g = half / 2
        kappa = kappa_renewal(d, rho / 2, g)
        false_alarm, slow = math.log(M / (2 * rho_c)), math.log((kappa + 1) / rho_a)
        A, B = false_alarm + slow, g * kappa
        eps_at = eps * math.sqrt(A) / (math.sqrt(A) + math.sqrt(B))
        eta, lam = (eps - eps_at) / kappa, 1 / eps_at
        L = m * Lstar + g / eta + lam * false_alarm
        bound = (kappa + 1) * (Lstar + N + (g / eta + lam * A) / m)
        if best is None or bound < best.bound:
            best = SvtPlan("tight", kappa, eta, L, lam, lam, eps_at, g, bound)
    return best


def svt_paper(m, T, N, d, eps, rho=0.05, Lstar=0.0):
    """The paper's constants, kappa rounded up to an integer. eps_threshold is what they are meant to cost."""
    if checks(T, N) == 0:
        return SvtPlan("paper", 0, math.nan, math.inf, 0.0, 0.0, 0.0, math.nan, float(T))
    kappa = math.ceil(3 * math.ceil(math.log2(d)) + 24 * math.log(1 / rho))
    eta = eps / (2 * kappa)
    L = m * Lstar + 8 * math.log(2 * T * T / (N * N * rho)) / eps + 4 / eta
    return SvtPlan("paper", kappa, eta, L, 4 / eps, 8 / eps, eps / 2, 4.0, math.nan)


def svt_plan(calibration, *args, **kwargs):
    return {"tight": svt_tight, "paper": svt_paper}[calibration](*args, **kwargs)


def caucus_zcdp_epsilon(rho, delta):
    """inf over a > 1 of a rho + ln((a-1)/a) + (ln(1/delta) - ln a)/(a-1): golden section in ln(a - 1)."""
    def value(u):
        a = 1 + math.exp(u)
        return a * rho + math.log((a - 1) / a) + (math.log(1 / delta) - math.log(a)) / (a - 1)
    lo, hi, ratio = -8.0, 25.0, (math.sqrt(5) - 1) / 2
    for _ in range(120):
        left, right = hi - ratio * (hi - lo), lo + ratio * (hi - lo)
        if value(left) < value(right):
            hi = right
        else:
            lo = left
    return value((lo + hi) / 2)


def caucus_zcdp_rho(eps, delta):
    """The largest rho whose conversion is at most eps."""
    lo, hi = 1e-12, eps
    for _ in range(100):
        mid = math.sqrt(lo * hi)
        lo, hi = (mid, hi) if caucus_zcdp_epsilon(mid, delta) <= eps else (lo, mid)
    return lo


def hedge_rate(m, T, N, d, eps, delta=0.0):
    """e_H: the rate that minimises the regret bound, or less if the budget does not pay for it."""
    draws = -(-T // N)
    free = math.sqrt(8 * math.log(d) / (T * N))
    if math.isinf(eps):
        return free
    paid = m * eps / (2 * draws)
    if delta > 0:
        paid = max(paid, m * math.sqrt(2 * caucus_zcdp_rho(eps, delta) / draws))
    return min(free, paid)
