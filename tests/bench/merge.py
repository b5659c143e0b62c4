# SPDX-License-Identifier: MIT
"""Puts cases that were measured anew into what bench.json had before.

Every case keeps the circumstances of the run that made it (`made`), and what
that run had to leave out (`skipped`, by case).
"""
import cases


def made_of(out):
    """The circumstances of a run, from its bench.json."""
    return {"date": out["date"], "rounds": out["rounds"],
            "seconds": out["seconds"],
            "load_average": out["machine"]["load_average_at_start"]}


def stamped(out):
    """`out` with the circumstances in each case and with the microbenches;
    files of before had them once, for all."""
    made = made_of(out)
    cases = {name: {"made": made, **case}
             for name, case in out["cases"].items()}
    stamp = {"micro_made": made} if out["micro"] else {}
    return {**stamp, **out, "cases": cases, "skipped": skipped_of(out)}


def skipped_of(out):
    """What was left out, by case. Files of before have a list, that names a
    case, or a contender of any of them."""
    skipped = out.get("skipped", {})
    if isinstance(skipped, dict):
        return skipped
    contenders = {case.name: case.contenders for case in cases.cases()}
    found = {}
    for text in skipped:
        name, _, why = text.partition(": ")
        if name in contenders:
            found.setdefault(name, []).append(why)
            continue
        for case in out["cases"]:
            if name in contenders.get(case, ()):
                found.setdefault(case, []).append(text)
    return found


def merge(old, new):
    """`new`, and of `old` what `new` has not measured."""
    old, new = stamped(old), stamped(new)
    out = {**new, "cases": {**old["cases"], **new["cases"]}}
    kept = {case: texts for case, texts in old["skipped"].items()
            if case not in new["cases"]}
    out["skipped"] = {**kept, **new["skipped"]}
    if not new["micro"] and old["micro"]:
        out["micro"], out["micro_made"] = old["micro"], old["micro_made"]
    if "long" in old:
        out["long"] = old["long"]
    return out
