"""Optuna's TPE as fiel asks it (`fiel tune --strategy-program "PYTHON tpe.py"`, docs/adding-a-strategy.md): JSON lines.

Optuna's own defaults. A knob is only asked for where it counts, what is not admissible breaks a constraint, and the defaults of
all engines come first, as with fiel's own strategies.
"""

import json
import sys

import optuna


class Knobs:
    """Knobs of one name have one list of values, of all engines: Optuna wants a parameter's choices never to change."""

    def __init__(self, engines):
        self.engines = {engine["engine"]: engine["knobs"] for engine in engines}

    def suggest(self, trial):
        engine = trial.suggest_categorical("engine", list(self.engines))
        chosen = {}
        for knob in self.engines[engine]:  # a knob comes after those that its conditions name
            if all(chosen.get(c["knob"], c["values"][0]) in c["values"] for c in knob["only_if"]):
                chosen[knob["name"]] = trial.suggest_categorical(f"{engine} {knob['name']}", knob["values"])
        return engine, chosen

    def canonical(self, engine, chosen):
        defaults = {knob["name"]: knob["default"] for knob in self.engines[engine]}
        return engine, tuple(sorted((name, value) for name, value in chosen.items() if value != defaults[name]))


def main():
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    knobs = study = None
    pending, start = {}, []
    for line in sys.stdin:
        message = json.loads(line)
        if "space" in message:
            knobs = Knobs(message["space"]["engines"])
            sampler = optuna.samplers.TPESampler(seed=message["seed"] % 2**32, constraints_func=lambda trial: trial.user_attrs["broken"])
            study = optuna.create_study(sampler=sampler)
            first = message["start"] or {"engine": next(iter(knobs.engines)), "settings": {}}
            start = [first] + [{"engine": engine, "settings": {}} for engine in knobs.engines if engine != first["engine"]]
            for route in start:
                study.enqueue_trial({"engine": route["engine"], **{f"{route['engine']} {knob['name']}": route["settings"].get(knob["name"], knob["default"])
                                                                   for knob in knobs.engines[route["engine"]]}})
        elif "ask" in message:
            trial = study.ask()
            engine, chosen = knobs.suggest(trial)
            pending.setdefault(knobs.canonical(engine, chosen), []).append(trial)
            print(json.dumps({"engine": engine, "settings": chosen}), flush=True)
        else:
            told = message["tell"]
            for trial in pending.pop((told["engine"], tuple(sorted(told["settings"].items()))), []):
                trial.set_user_attr("broken", [0.0 if told["outcome"] == "admissible" else 1.0])
                if told["log_speedup"] is None:
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                else:
                    study.tell(trial, -told["log_speedup"])


if __name__ == "__main__":
    main()
