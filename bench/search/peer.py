"""Runs one peer on one recorded space, in the peers' environment.

    peer.py PEER SPACE.json REPEATS SEED EVALUATIONS SECONDS [CLOCK]    prints {"traces": [[record number, ...], ...]}

SPACE.json is what `fiel replay --dump` prints. A trace is the order in which recorded configurations were visited first.
A peer that can't be told which configurations exist has its proposals moved to the nearest recorded one (fewest knobs
that differ, ties by chance); a visit of one that it knows already costs nothing. SECONDS of real time end a peer's repeats; CLOCK, seconds on the
virtual clock, ends a repeat of at least FEWEST evaluations: what comes later changes no score.
"""

import json
import logging
import random
import sys
import time
import warnings

import numpy as np

FEWEST = 20
FREE_ASKS = 20  # in a row that bring nothing new; then one by chance


class Space:
    def __init__(self, dump):
        self.names, self.values = ["engine"], {"engine": [engine["engine"] for engine in dump["engines"]]}
        for engine in dump["engines"]:
            for knob in engine["knobs"]:
                known = self.values.setdefault(knob["name"], [])
                if not known:
                    self.names.append(knob["name"])
                known += [value for value in knob["values"] if value not in known]
        defaults = {engine["engine"]: {knob["name"]: knob["default"] for knob in engine["knobs"]} for engine in dump["engines"]}
        self.records = dump["records"]
        self.rows = []
        for record in self.records:
            own = {**{name: values[0] for name, values in self.values.items()}, **defaults[record["engine"]], **record["settings"],
                   "engine": record["engine"]}
            self.rows.append([self.values[name].index(own[name]) for name in self.names])
        keep = [i for i, name in enumerate(self.names) if len(self.values[name]) > 1]
        self.names = [self.names[i] for i in keep]
        self.table = np.array([[row[i] for i in keep] for row in self.rows])
        self.rows = [tuple(int(x) for x in row) for row in self.table]
        self.sizes = [len(self.values[name]) for name in self.names]
        self.ordered = [size >= 3 and all(is_number(value) for value in self.values[name]) for name, size in zip(self.names, self.sizes)]

    def found(self, number):
        record = self.records[number]
        return record["value"] if record["outcome"] == "admissible" else None


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


class Done(Exception):
    pass


class Session:
    """One search: what was visited, in order."""

    def __init__(self, space, seed, evaluations, clock):
        self.space, self.rng, self.evaluations = space, random.Random(seed), evaluations
        self.clock_left = clock
        self.trace, self.seen, self.idle = [], set(), 0
        self.optimum = min(space.found(i) for i in range(len(space.rows)) if space.found(i) is not None)

    def visit(self, number):
        """The value, or None where it failed."""
        if number not in self.seen:
            self.seen.add(number)
            self.trace.append(number)
            self.clock_left -= self.space.records[number]["seconds"]
            self.idle = 0
        else:
            self.idle += 1
        value = self.space.found(number)
        if len(self.trace) >= min(self.evaluations, len(self.space.rows)) or value == self.optimum:
            raise Done
        if self.clock_left < 0 and len(self.trace) >= FEWEST:
            raise Done
        if self.idle >= FREE_ASKS:
            self.idle = 0
            self.visit(self.rng.choice([i for i in range(len(self.space.rows)) if i not in self.seen]))
        return value

    def nearest(self, levels):
        differing = (self.space.table != np.array(levels)).sum(axis=1)
        return self.rng.choice(np.flatnonzero(differing == differing.min()).tolist())


def optuna_tpe(session, seed):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    space = session.space
    while True:
        trial = study.ask()
        levels = [trial.suggest_int(name, 0, size - 1) if ordered else trial.suggest_categorical(name, list(range(size)))
                  for name, size, ordered in zip(space.names, space.sizes, space.ordered)]
        value = session.visit(session.nearest(levels))
        if value is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, value)


def nevergrad_of(optimizer):
    def run(session, seed):
        import nevergrad as ng

        space = session.space
        parameters = ng.p.Instrumentation(*[ng.p.TransitionChoice(list(range(size))) if ordered else ng.p.Choice(list(range(size)))
                                            for size, ordered in zip(space.sizes, space.ordered)])
        parameters.random_state.seed(seed % 2**32)
        search = ng.optimizers.registry[optimizer](parametrization=parameters, budget=session.evaluations)
        worst = max(value for value in map(space.found, range(len(space.rows))) if value is not None)
        while True:
            candidate = search.ask()
            value = session.visit(session.nearest(candidate.args))
            search.tell(candidate, np.log(worst if value is None else value))

    return run


def smac(session, seed):
    from ConfigSpace import CategoricalHyperparameter, ConfigurationSpace, OrdinalHyperparameter
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.runhistory.dataclasses import TrialValue

    import tempfile

    space = session.space
    configurations = ConfigurationSpace(seed=seed % 2**31)
    for name, size, ordered in zip(space.names, space.sizes, space.ordered):
        kind = OrdinalHyperparameter if ordered else CategoricalHyperparameter
        configurations.add(kind(name, list(range(size))))
    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(configurations, deterministic=True, n_trials=session.evaluations * 3, seed=seed % 2**31, output_directory=folder)
        search = HyperparameterOptimizationFacade(scenario, lambda config, seed=0: 0.0, overwrite=True, logging_level=logging.ERROR)
        worst = max(value for value in map(space.found, range(len(space.rows))) if value is not None)
        while True:
            info = search.ask()
            value = session.visit(session.nearest([info.config[name] for name in space.names]))
            search.tell(info, TrialValue(cost=float(np.log(worst if value is None else value))))


def kernel_tuner_of(strategy):
    def run(session, seed):
        from kernel_tuner import util
        from kernel_tuner.interface import Options, strategy_map
        from kernel_tuner.runners.runner import Runner
        from kernel_tuner.searchspace import Searchspace

        random.seed(seed)
        np.random.seed(seed % 2**32)
        space = session.space
        # Levels of names are given as numbers too: its strategies move along the list of values.
        params = {name: list(range(size)) for name, size in zip(space.names, space.sizes)}
        numbers = {row: number for number, row in enumerate(space.rows)}
        cache = {",".join(map(str, row)): dict(zip(space.names, row)) for row in space.rows}
        searchspace = Searchspace(None, None, None, from_cache={"tune_params": params, "cache": cache})

        class Recorded(Runner):
            dev = type("Device", (), {"max_threads": 1 << 30})()

            def get_device_info(self):
                return None

            def get_environment(self, tuning_options):
                return {}

            def run(self, parameter_space, tuning_options):
                results = []
                for element in parameter_space:
                    result = dict(zip(space.names, element))
                    number = numbers.get(tuple(int(x) for x in element))
                    value = None if number is None else session.visit(number)
                    if value is None:
                        result["__error__"] = util.RuntimeFailedConfig()
                    else:
                        result["time"] = value
                    results.append(result)
                return results

        options = Options(objective=["time"], objective_higher_is_better=[False], strategy_options=Options({}), verbose=False, eps=1e-6,
                          restrictions=None, tune_params=params, cache={}, simulation_mode=True, metrics=None, snap=True,
                          max_fevals=session.evaluations, budget=util.TuningBudget(None, session.evaluations * 50))
        options.strategy_options["max_fevals"] = session.evaluations
        for _ in range(50):  # one that ends early begins anew, as a user would
            strategy_map[strategy].tune(searchspace, Recorded(), options)

    return run


PEERS = {"optuna_tpe": optuna_tpe, "smac": smac, "nevergrad_ngopt": nevergrad_of("NGOpt"),
         "nevergrad_discrete": nevergrad_of("DiscreteOnePlusOne"),
         **{f"kt_{name}": kernel_tuner_of(name) for name in
            ("genetic_algorithm", "greedy_ils", "simulated_annealing", "dual_annealing", "diff_evo", "pso", "mls", "bayes_opt")}}


def main():
    peer, path, repeats, seed, evaluations, seconds = sys.argv[1:7]
    clock = float(sys.argv[7]) if len(sys.argv) > 7 else float("inf")
    warnings.simplefilter("ignore")
    with open(path, encoding="utf-8") as file:
        space = Space(json.load(file))
    traces, began, error = [], time.monotonic(), None
    for repeat in range(int(repeats)):
        session = Session(space, int(seed) * 1000 + repeat, int(evaluations), clock)
        try:
            PEERS[peer](session, int(seed) * 1000 + repeat)
        except Done:
            pass
        except Exception as exception:  # a peer's own failure is its result; what it had visited counts
            error = f"{type(exception).__name__}: {exception}"[:300]
            if len(session.trace) < 5:
                break
        traces.append(session.trace)
        if time.monotonic() - began > float(seconds):
            break
    print(json.dumps({"traces": traces, "error": error, "seconds": time.monotonic() - began}))


if __name__ == "__main__":
    main()
