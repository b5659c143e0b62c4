# SPDX-License-Identifier: MIT
"""Tables of bench.json: as text, and as Markdown."""
import re

import merge

# Key, heading, digits behind the point.
COLUMNS = (
    ("calls_per_s", "calls/s", 0),
    ("mib_per_s", "MiB/s", 0),
    ("p50_us", "p50 us", 0),
    ("p99_us", "p99 us", 0),
    ("cpu_us_per_call", "CPU us/call", 2),
    ("cpu_us_per_mib", "CPU us/MiB", 0),
    ("connections", "connections", 0),
    ("kib_per_connection", "KiB each", 1),
    ("kib_per_connection_after_call", "KiB each after a call", 1),
    ("rss_kib", "RSS KiB", 0),
)
LABELS = {"grpctap_call": "grpctap, --events call",
          "grpctap_none": "grpctap, --events none",
          "grpctap_2": "grpctap, --threads 2",
          "inflate": "zlib alone"}


def number(value, digits):
    return "-" if value is None else f"{value:,.{digits}f}"


def case_rows(case):
    columns = [column for column in COLUMNS
               if any(column[0] in figures
                      for figures in case["contenders"].values())]
    yield ["", *(heading for _, heading, _ in columns)]
    for name, figures in case["contenders"].items():
        yield [LABELS.get(name, name),
               *(number(figures.get(key), digits)
                 for key, _, digits in columns)]


def limit(target):
    return f">= {target['least']:g}" if target["least"] is not None \
        else f"<= {target['most']:g}"


def verdict(target):
    return "met" if target["met"] else "not met"


def target_rows(out):
    yield ["case", "what, as a ratio where no unit is said", "target", "measured",
           ""]
    for name, case in out["cases"].items():
        for target in case["targets"]:
            yield [name, target["text"], limit(target),
                   number(target["value"], 2), verdict(target)]
    for row in out["micro"]:
        if "target" in row:
            target = row["target"]
            yield ["micro", f"{row['what']}: {target['text']}", limit(target),
                   number(target["value"], 2), verdict(target)]
    for target in out.get("long", {}).get("targets", ()):
        yield ["long", target["text"], limit(target),
               number(target["value"], 3), verdict(target)]


def micro_rows(out):
    yield ["", "ns a unit", "unit", "units/s", "GB/s", "of the other way"]
    for row in out["micro"]:
        yield [row["what"], number(row["ns_per_unit"], 1), row["unit"],
               number(row["units_per_s"], 0), number(row.get("gb_per_s"), 2),
               number(row.get("ratio"), 2)]


def long_rows(out):
    yield ["calls", "CPU us/call since the last", "RSS KiB"]
    for sample in out["long"]["samples"]:
        yield [number(sample["calls"], 0),
               number(sample["cpu_us_per_call"], 3),
               number(sample["rss_kib"], 0)]


def machine_lines(out):
    machine = out["machine"]
    yield (f"{machine['cpu']}, {machine['cores']} cores, "
           f"{machine['memory_mib']:,} MiB, {kernel(machine)}.")
    if machine["proxy_cores"]:
        yield (f"Proxies on core {join(machine['proxy_cores'])}, load and "
               f"server on {join(machine['load_cores'])}, unless said.")
    yield ", ".join(f"{name} {version}" for name, version in
                    machine["versions"].items()) + "."
    yield circumstances(merge.made_of(out))
    lacking = {}
    for case, texts in merge.skipped_of(out).items():
        for text in texts:
            lacking.setdefault(text, []).append(case)
    for text, names in lacking.items():
        yield f"Left out, {text}: of {join(names)}."


def kernel(machine):
    """Major and minor number: the rest is of whoever built it."""
    return re.sub(r"(\d+\.\d+)\S*", r"\1", machine["kernel"])


def circumstances(made):
    return (f"{made['date']}; {made['rounds']} rounds of {made['seconds']:g}"
            " s each.  Load average at the start, which other programs made:"
            f" {made['load_average']:.1f}.")


def older(out, made):
    """What to say of figures of another run than the newest; files of before
    do not tell (None)."""
    if made is None or made == merge.made_of(out):
        return ""
    return f"  Of another run, {circumstances(made)}"


def join(numbers):
    return ", ".join(map(str, numbers))


def sections(out):
    """Headings, a sentence, and rows."""
    yield "Targets", None, list(target_rows(out))
    for name, case in out["cases"].items():
        yield name, f"{case['what']}.{older(out, case.get('made'))}", \
            list(case_rows(case))
    if out["micro"]:
        yield "micro", "The libraries and the event writer alone." + \
            older(out, out.get("micro_made")), list(micro_rows(out))
    if "long" in out:
        yield "long", out["long"]["what"] + ".", list(long_rows(out))


def text(out):
    lines = list(machine_lines(out))
    for heading, sentence, rows in sections(out):
        lines += ["", heading + (f": {sentence}" if sentence else "")]
        widths = [max(len(row[i]) for row in rows)
                  for i in range(len(rows[0]))]
        for row in rows:
            lines.append("  " + "  ".join(
                cell.rjust(width) if is_number(cell) else cell.ljust(width)
                for cell, width in zip(row, widths)).rstrip())
    return "\n".join(lines) + "\n"


def is_number(cell):
    return cell[:1].isdigit() or cell == "-" or cell[:1] == "-"


def markdown(out):
    lines = list(machine_lines(out))
    for heading, sentence, rows in sections(out):
        lines += ["", f"### {heading}", ""]
        if sentence:
            lines += [sentence, ""]
        for i, row in enumerate(rows):
            lines.append("| " + " | ".join(row) + " |")
            if i == 0:
                lines.append("|" + "|".join(
                    "---:" if all(is_number(other[k])
                                  for other in rows[1:]) and rows[1:]
                    else "---" for k in range(len(row))) + "|")
    return "\n".join(lines) + "\n"
