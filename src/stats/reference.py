"""Prints the reference values that the tests of this room repeat.

Run in an environment of its own: python -m venv /tmp/v && /tmp/v/bin/pip install scipy &&
/tmp/v/bin/python src/stats/reference.py. The tests need neither Python nor scipy.
"""
import math

import numpy as np
from scipy import optimize, stats
from scipy.special import betaln


def show(name, value):
    print(f"{name:58s} {value:.12g}")


def tango_z(wins, losses, n, difference):
    """Tango (1998), by maximising the trinomial likelihood numerically instead of his closed form."""
    low, high = max(0.0, -difference), (1.0 - difference) / 2.0

    def negative_log_likelihood(q):  # q = P(only the reference is right)
        total = 0.0
        for count, p in ((wins, q + difference), (losses, q), (n - wins - losses, 1 - 2 * q - difference)):
            if count:
                total -= count * math.log(max(p, 1e-300))
        return total

    q = optimize.minimize_scalar(negative_log_likelihood, bounds=(low, high), method="bounded",
                                 options={"xatol": 1e-14}).x
    return (wins - losses - n * difference) / math.sqrt(n * (2 * q + difference * (1 - difference)))


def tango_lower(wins, losses, n, alpha):
    z = stats.norm.ppf(1 - alpha)
    estimate = (wins - losses) / n
    return optimize.brentq(lambda d: tango_z(wins, losses, n, d) - z, -0.999, estimate - 1e-9, xtol=1e-13)


def main():
    print("# distributions")
    show("normal_quantile(0.95)", stats.norm.ppf(0.95))
    show("normal_quantile(0.999)", stats.norm.ppf(0.999))
    show("normal_quantile(1e-10)", stats.norm.ppf(1e-10))
    show("student_t_quantile(0.95, 9)", stats.t.ppf(0.95, 9))
    show("student_t_quantile(0.999, 63)", stats.t.ppf(0.999, 63))
    show("binomial_cdf(3, 1000, 0.01)", stats.binom.cdf(3, 1000, 0.01))
    show("clopper_pearson_upper(0, 299, 0.05)", stats.beta.ppf(0.95, 1, 299))
    show("clopper_pearson_upper(3, 1000, 0.05)", stats.beta.ppf(0.95, 4, 997))
    show("clopper_pearson_lower(5, 100, 0.05)", stats.beta.ppf(0.05, 5, 96))
    show("log_beta(40, 60)", betaln(40, 60))

    print("# quantiles")
    values = [3.1, 1.2, 9.7, 4.4, 5.0, 2.6, 8.3]
    show("quantile_type7(values, 0.9)", np.quantile(values, 0.9))
    show("quantile_type7(values, 0.25)", np.quantile(values, 0.25))
    for n, p, rank in ((44, 0.9, 44), (64, 0.9, 63), (459, 0.99, 459), (662, 0.99, 661)):
        show(f"confidence of rank {rank} of {n} for p = {p}", stats.binom.cdf(rank - 1, n, p))

    print("# paired score test (by numerical maximum likelihood)")
    for wins, losses, n, difference in ((12, 9, 1000, -0.01), (1, 5, 300, -0.03), (0, 3, 600, -0.01),
                                        (7, 0, 400, -0.01), (0, 0, 300, -0.01), (40, 60, 2000, -0.02)):
        show(f"score_statistic({wins}, {losses}, {n}; {difference})", tango_z(wins, losses, n, difference))
    for wins, losses, n in ((12, 9, 1000), (1, 5, 300), (0, 3, 600), (40, 60, 2000)):
        show(f"score_lower_bound({wins}, {losses}, {n}; 0.05)", tango_lower(wins, losses, n, 0.05))

    print("# real-valued")
    differences = np.array([0.1, -0.2, 0.05, 0.0, -0.3, 0.12, -0.01, 0.0, 0.07, -0.15, 0.02, -0.04])
    n = len(differences)
    sd = differences.std(ddof=1)
    show("t lower bound, alpha 0.05", differences.mean() - stats.t.ppf(0.95, n - 1) * sd / math.sqrt(n))
    bca = stats.bootstrap((differences,), np.mean, confidence_level=0.90, n_resamples=2_000_000, batch=20_000,
                          method="BCa", rng=np.random.default_rng(1)).confidence_interval
    show("BCa lower bound, alpha 0.05 (2,000,000 resamples)", bca.low)
    show("BCa upper bound, alpha 0.05 (2,000,000 resamples)", bca.high)
    groups = [differences[0:3], differences[3:4], differences[4:9], differences[9:12]]
    mean = differences.mean()
    sums = np.array([np.sum(g - mean) for g in groups])
    g = len(groups)
    error = math.sqrt(g / (g - 1) * np.sum(sums**2)) / n
    show("cluster t lower bound, alpha 0.05", mean - stats.t.ppf(0.95, g - 1) * error)

    print("# e-process, by integrating the mixture")
    from scipy.integrate import quad
    for n, k in ((7, 7), (8, 8), (11, 9), (20, 10), (35, 27)):
        value = quad(lambda p: 2 * (2 * p) ** k * (2 * (1 - p)) ** (n - k), 0.5, 1, epsabs=0, epsrel=1e-12)[0]
        show(f"log E, {k} wins in {n}", math.log(value))

    print("# sample sizes")
    z = stats.norm.ppf
    for psi, margin, alpha, power in ((0.02, 0.01, 0.05, 0.8), (0.02, 0.005, 0.05, 0.8), (0.02, 0.001, 0.05, 0.8)):
        show(f"samples_for_power({psi}, {margin}, {alpha}, {power})",
             math.ceil((z(1 - alpha) + z(power)) ** 2 * psi / margin**2))
    show("(z(0.975) + z(1 - 0.2/6))^2", (z(0.975) + z(1 - 0.2 / 6)) ** 2)
    for alpha, margin in ((0.05, 0.01), (0.05, 0.005), (0.05, 0.001), (0.025, 0.01)):
        exact = math.ceil(math.log(alpha) / math.log(1 - margin))
        score = math.ceil(z(1 - alpha) ** 2 * (1 - margin) / margin)
        show(f"zero_loss_samples({margin}, {alpha})", max(exact, score))

    print("# noise")
    series = np.array([1.0, 2.0, 1.7, 3.0, 2.5, 2.4])
    centred = series - series.mean()
    show("autocorrelation_lag1", np.sum(centred[1:] * centred[:-1]) / np.sum(centred**2))
    show("median_absolute_deviation * 1.4826", stats.median_abs_deviation(series, scale="normal"))


if __name__ == "__main__":
    main()
