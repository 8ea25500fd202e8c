"""How far the records of several runs are apart: `python compare.py ASKED.json ANSWER.json`.

It measures and judges nothing. It runs in the interpreter of the script because numpy is there.
Every observable of the original is a series; for each of its points the answer holds the distance
of the rewritten version, of the original run again (noise) and of the original with weights moved
by one unit in the last place (envelope), all in the unit of the observable.
"""

import json
import os
import re
import sys

import numpy as np

NUMBERS = re.compile(r"(?:_\d+)+(?=[/:\[]|$)")
NUMBERED = re.compile(r"_\d+(?=[/:\[]|$)")
NEAR = 1e-2
MATCHED_IN_ORDER = ("fetched", "read")
MOST_PAIRS = 1 << 20


def main(asked_path, answer_path):
    with open(asked_path) as file:
        asked = json.load(file)
    if "scalars" in asked:
        answer = [scalars(Record(folder)) for folder in asked["scalars"]]
        with open(answer_path, "w") as file:
            json.dump(answer, file)
        return
    original = Record(asked["original"])
    rewritten = Record(asked["rewritten"])
    again = [Record(folder) for folder in asked["again"]]
    nudged = [Record(folder) for folder in asked["nudged"]]
    answer = {"series": [], "only_original": [], "only_rewritten": []}
    pairs, left, right = matched(original, rewritten)
    for key, ours, theirs in pairs:
        answer["series"].append(compared(key, original, ours, rewritten, theirs, again, nudged))
    answer["only_original"] = [list(key) for key in left if original.must_have(key)]
    answer["only_rewritten"] = [list(key) for key in right if rewritten.must_have(key)]
    answer["passing"] = sorted(
        {name for kind, name in left if not original.must_have((kind, name))}
        | {name for kind, name in right if not rewritten.must_have((kind, name))}
    )
    with open(answer_path, "w") as file:
        json.dump(answer, file)


class Record(object):
    """What one run wrote down, by kind and name."""

    def __init__(self, folder):
        path = os.path.join(folder, "values.bin")
        size = os.path.getsize(path)
        self._data = np.memmap(path, np.uint8, "r") if size else np.zeros(0, np.uint8)
        self.series = {}
        with open(os.path.join(folder, "values.jsonl")) as file:
            for line in file:
                entry = json.loads(line)
                self.series.setdefault((entry["kind"], entry["name"]), []).append(entry)
        for key in self.series:
            if key[0] == "initial":  # the last before the first step is what counts
                self.series[key] = self.series[key][-1:]
        self._main = self._loop_with_most_steps()

    def _loop_with_most_steps(self):
        counts = {}
        for (kind, _), entries in self.series.items():
            if kind == "weights":
                for entry in entries:
                    counts[entry["loop"]] = counts.get(entry["loop"], 0) + 1
        return max(counts, key=lambda loop: counts[loop]) if counts else None

    def of_main_loop(self, entries):
        """The steps of the loop that has most of them, where a smaller one may be gone."""
        return [entry for entry in entries if entry.get("loop") == self._main]

    def of_names(self, kind, names):
        """What several ops made, by step; of one op, its series as it is."""
        found = [entry for name in names for entry in self.series.get((kind, name), ())]
        return found if len(names) == 1 else sorted(found, key=lambda entry: entry["step"])

    def must_have(self, key):
        """Whether a version without this is another; how long a metric lives is no matter."""
        kind = key[0]
        trained = all(entry.get("trained", True) for entry in self.series[key])
        return kind not in ("weights", "initial", "final") or trained

    def array(self, entry):
        dtype = np.dtype(entry["dtype"])
        start = entry["at"]
        return self._data[start : start + entry["n"] * dtype.itemsize].view(dtype)


def scalars(record):
    """The numbers that a run came to: single values as series, and how far weights have come."""
    found = {}
    for (kind, name), entries in record.series.items():
        entries = [entry for entry in entries if "digest" in entry]
        if not entries or np.dtype(entries[0]["dtype"]).kind not in "fiu":
            continue
        if kind in ("fetched", "read", "file"):
            values = [size_of(record.array(entry)) for entry in entries]
        elif kind == "weights" and ("initial", name) in record.series:
            first = record.array(record.series["initial", name][0])
            values = [way(first, record.array(entry)) for entry in entries]
        else:
            continue
        found[kind + " " + name] = values
    return found


def size_of(array):
    """A number as it is; of several, how large they are."""
    values = array.astype(np.float64)
    if values.size < 2:
        return float(values.sum())
    return float(np.sqrt(np.mean(values * values)))


def way(first, now):
    if first.shape != now.shape or not first.size:
        return 0.0
    step = now.astype(np.float64) - first.astype(np.float64)
    return float(np.sqrt(np.mean(step * step)))


def matched(original, rewritten):
    """Series of both that stand for the same: by name, by name without numbers, and in order."""
    pairs, left, elsewhere = [], [], []
    for key, entries in original.series.items():
        other = rewritten.series.get(key)
        in_order = key[0] in MATCHED_IN_ORDER
        if other is None or (in_order and len(other) != len(entries)):
            left.append(key)
        elif in_order and steps_of(other) != steps_of(entries):
            elsewhere.append((key, entries, other))
        else:
            pairs.append((key, entries, other))
    taken = {key for key, _, _ in pairs}
    right = [key for key in rewritten.series if key not in taken]
    numbers_that_moved(original, rewritten, pairs, left, right, elsewhere)
    return merged(original, rewritten, pairs, left, right)


def numbers_that_moved(original, rewritten, pairs, left, right, elsewhere):
    """An op that is made once takes up one number: what comes later has those of other ops.

    So a name that is read at other steps stands for another value, if all of its family taken
    together is read at the same steps; where it is not, the name is all that there is to go by.
    """
    ours = bundled(original, left + [key for key, _, _ in elsewhere])
    theirs = bundled(rewritten, right)
    for family in sorted({numberless(key) for key, _, _ in elsewhere}):
        names, entries = ours[family]
        others, values = theirs[family]
        if steps_of(entries) == steps_of(values):
            pairs.append((family, entries, values))
            left[:] = [key for key in left if key not in names]
            right[:] = [key for key in right if key not in others]
            elsewhere = [one for one in elsewhere if one[0] not in names]
    pairs.extend(elsewhere)
    for key, _, _ in elsewhere:
        right.remove(key)


def steps_of(entries):
    return [entry["step"] for entry in entries]


def numberless(key):
    return key[0], NUMBERED.sub("", key[1])


def merged(original, rewritten, pairs, left, right):
    """Ops that are made in a loop have numbered names: as one series they may agree."""
    ours, theirs = bundled(original, left), bundled(rewritten, right)
    for key in sorted(set(ours) & set(theirs)):
        if key[0] in MATCHED_IN_ORDER and len(ours[key][1]) == len(theirs[key][1]):
            pairs.append((key, ours[key][1], theirs[key][1]))
            left = [one for one in left if one not in ours[key][0]]
            right = [one for one in right if one not in theirs[key][0]]
    renumbered(original, rewritten, pairs, left, right)
    thinned(original, rewritten, pairs, left, right)
    delayed(original, rewritten, pairs, left, right)
    return renamed(original, rewritten, pairs, left, right)


def renumbered(original, rewritten, pairs, left, right):
    """Variables that are made in a trace have other numbers: they count in the order of making.

    To take one for another shows more differences and hides none: all of them have to agree.
    """
    ours, theirs = families(original, left), families(rewritten, right)
    for family in sorted(set(ours) & set(theirs)):
        if len(ours[family]) == len(theirs[family]):
            for key, other in zip(ours[family], theirs[family]):
                pairs.append((key, original.series[key], rewritten.series[other]))
                left.remove(key)
                right.remove(other)


def families(record, keys):
    """Names of variables that differ by numbers, each with the size that they have."""
    found = {}
    for kind, name in keys:
        if kind not in MATCHED_IN_ORDER:
            size = record.series[kind, name][0]["n"]
            found.setdefault((kind, NUMBERS.sub("", name), size), []).append((kind, name))
    return found


def thinned(original, rewritten, pairs, left, right):
    """What one version reads at some steps only is held to what the other reads at these."""
    for key in list(left):
        if key[0] in MATCHED_IN_ORDER and key in right:
            ours, theirs = original.series[key], rewritten.series[key]
            mine, other = by_step(ours), by_step(theirs)
            both = [
                pair
                for step in sorted(set(mine) & set(other))
                for pair in fitted(original, mine[step], rewritten, other[step])
            ]
            if len(both) == min(len(ours), len(theirs)):
                pairs.append((key, [one for one, _ in both], [two for _, two in both]))
                left.remove(key)
                right.remove(key)


def by_step(entries):
    found = {}
    for entry in entries:
        found.setdefault(entry["step"], []).append(entry)
    return found


def fitted(record, ours, other_record, theirs):
    """Entries in pairs: where one side has more, those that fit best in order, if that is known."""
    too_many = len(ours) * len(theirs) > MOST_PAIRS
    if too_many or len(ours) == len(theirs) or any(one.get("n") != 1 for one in ours + theirs):
        return list(zip(ours, theirs))
    mine, other = numbers(record, ours), numbers(other_record, theirs)
    if len(ours) < len(theirs):
        return list(zip(ours, [theirs[place] for place in best_places(mine, other)]))
    return list(zip([ours[place] for place in best_places(other, mine)], theirs))


def delayed(original, rewritten, pairs, left, right):
    """What is read at other moments, all of it and perhaps again, is held to what fits it in order.

    Where nothing fits, other values are read.
    """
    for key in list(left):
        if key[0] in MATCHED_IN_ORDER and key in right:
            ours, theirs = original.series[key], rewritten.series[key]
            if len(ours) > len(theirs):
                continue
            both = fitted(original, ours, rewritten, theirs)
            if all(near(original, one, rewritten, two) for one, two in both):
                pairs.append((key, ours, [two for _, two in both]))
                left.remove(key)
                right.remove(key)


def numbers(record, entries):
    return np.array([float(np.real(record.array(one)[0])) for one in entries])


def best_places(few, many):
    """Which of the many numbers, in their order, are nearest to the few, all in all."""
    with np.errstate(invalid="ignore"):
        gaps = np.abs(few[:, None] - many[None, :])
    gaps[~np.isfinite(gaps)] = 0.0  # whether these are the same is found out afterwards
    spare = len(many) - len(few)
    least = np.zeros(spare + 1)
    chosen = []
    for row in range(len(few)):
        cost = least + gaps[row, row : row + spare + 1]
        least = np.minimum.accumulate(cost)
        is_less = np.append(True, cost[1:] < least[:-1])
        chosen.append(np.maximum.accumulate(np.where(is_less, np.arange(spare + 1), 0)))
    places = []
    skipped = spare
    for row in reversed(range(len(few))):
        skipped = int(chosen[row][skipped])
        places.append(row + skipped)
    return places[::-1]


def renamed(original, rewritten, pairs, left, right):
    """What is computed by another op has another name; it is the same if it is nearly as large."""
    for key in list(left):
        ours = original.series[key]
        for other in right:
            theirs = rewritten.series[other]
            if key[0] == other[0] and key[0] in MATCHED_IN_ORDER and len(ours) == len(theirs):
                if all(near(original, one, rewritten, two) for one, two in zip(ours, theirs)):
                    pairs.append((key, ours, theirs))
                    left.remove(key)
                    right.remove(other)
                    break
    return pairs, left, right


def near(record, entry, other_record, other):
    found = distance(record, entry, other_record, other)
    return found["distance"] is not None and found["distance"] <= NEAR * found["scale"]


def bundled(record, keys):
    bundles = {}
    for kind, name in keys:
        names, entries = bundles.setdefault(numberless((kind, name)), ([], []))
        names.append((kind, name))
        entries.extend(record.series[kind, name])
    for _, entries in bundles.values():
        entries.sort(key=lambda entry: entry["step"])
    return bundles


def compared(key, original, ours, rewritten, theirs, again, nudged):
    kind, name = key
    names = named(ours)
    own_again = [record.of_names(kind, names) for record in again]
    own_nudged = [record.of_names(kind, names) for record in nudged]
    if kind == "weights" and len(ours) != len(theirs):
        main, other = original.of_main_loop(ours), rewritten.of_main_loop(theirs)
        if len(main) == len(other) and main:
            ours, theirs = main, other
            own_again = [record.of_main_loop(own) for record, own in zip(again, own_again)]
            own_nudged = [record.of_main_loop(own) for record, own in zip(nudged, own_nudged)]
    at_once = 1
    if kind == "weights" and len(ours) != len(theirs):
        at_once = steps_at_once(theirs)
        seen = {entry["step"] for entry in ours} & {entry["step"] for entry in theirs}
        if ours[-1]["step"] == theirs[-1]["step"] in seen and len(seen) in (len(ours), len(theirs)):
            ours, theirs = at(seen, ours), at(seen, theirs)
            own_again = [at(seen, own) for own in own_again]
            own_nudged = [at(seen, own) for own in own_nudged]
    if kind == "weights":
        own_again, own_nudged = (
            [in_step(own, ours) for own in every] for every in (own_again, own_nudged)
        )
    found = {
        "kind": kind,
        "name": name,
        "counts": [len(ours), len(theirs)],
        "read": [
            len(original.of_names(kind, names)),
            len(rewritten.of_names(kind, named(theirs))),
        ],
        "at_once": at_once,
        "is_text": all("digest" not in entry for entry in ours + theirs),
        "points": [],
    }
    start = Start(key, original, rewritten, again, nudged)
    # Of a series that was thinned out, where its entries were; other runs of the original have all.
    whole = original.of_names(kind, names) if kind in MATCHED_IN_ORDER else ()
    places = {id(entry): place for place, entry in enumerate(whole)}
    for number, (entry, other) in enumerate(zip(ours, theirs)):
        place = places.get(id(entry), number)
        point = {"step": entry["step"], "identical": same(entry, other)}
        point.update(distance(original, entry, rewritten, other))
        point["noise"] = most(original, entry, again, own_again, place)
        point["envelope"] = most(original, entry, nudged, own_nudged, place)
        if kind == "weights":
            point.update(start.drifts(entry, other, own_again, own_nudged, place))
        found["points"].append(point)
    return found


def named(entries):
    """The names of a series, which are several where ops that a loop made are taken together."""
    return list(dict.fromkeys(entry["name"] for entry in entries))


def steps_at_once(entries):
    """Keras may make several steps between two of its calls; 1 where weights were seen at each."""
    steps = [0] + [entry["step"] for entry in entries]
    return min(steps[place + 1] - steps[place] for place in range(len(entries)))


def in_step(own, ours):
    """Another run of the original, as far as its steps are of the same loops."""
    for place, (one, entry) in enumerate(zip(own, ours)):
        if one["loop"] != entry["loop"]:
            return own[:place]
    return own


def at(steps, entries):
    return [entry for entry in entries if entry["step"] in steps]


def same(entry, other):
    if "digest" not in entry or "digest" not in other:
        return entry.get("text") == other.get("text")
    names = ("digest", "dtype", "shape")
    return all(entry[name] == other[name] for name in names)


def distance(record, entry, other_record, other):
    """The largest difference of two values, and what it is to be seen against."""
    if "digest" not in entry or "digest" not in other:
        return {"distance": 0.0 if same(entry, other) else None, "scale": 0.0, "ulp": 0.0}
    ours = record.array(entry)
    floating = ours.dtype.kind in "fc"
    ulp = float(np.finfo(ours.dtype).eps) if floating else 0.0
    finite = np.abs(ours[np.isfinite(ours)]) if floating else np.abs(ours.astype(np.float64))
    scale = float(finite.max()) if finite.size else 0.0
    found = {"scale": scale, "ulp": ulp, "shown": shown(ours), "size": entry["n"]}
    if same(entry, other):
        found["distance"] = 0.0
        return found
    theirs = other_record.array(other)
    found["other"] = shown(theirs)
    if theirs.size == 1 and np.isfinite(theirs[0]):
        found["other_scale"] = abs(float(np.real(theirs[0])))
    of_bytes = entry["kind"] == "other file"
    if of_bytes or entry["shape"] != other["shape"] or ours.dtype != theirs.dtype:
        found["distance"] = None  # how far bytes are apart that are no numbers is not known
        return found
    if ours.dtype == np.float64 and was_single(ours) and was_single(theirs):
        found["ulp"] = float(np.finfo(np.float32).eps)
    found["distance"] = apart(ours, theirs)
    return found


def was_single(array):
    """Whether numbers of 64 bits come of such of 32, as what Keras' `evaluate` returns does.

    Whole numbers may be counts, which rounding does not touch.
    """
    numbers = array[np.isfinite(array)]
    with np.errstate(over="ignore"):
        narrow = numbers.astype(np.float32).astype(np.float64)
    return bool((narrow == numbers).all() and (numbers != np.rint(numbers)).any())


def apart(ours, theirs):
    """The largest difference of two arrays, or None where one is no number and the other is."""
    if ours.dtype.kind == "b":
        return float(np.count_nonzero(ours != theirs))
    wide = np.complex128 if ours.dtype.kind == "c" else np.float64
    ours, theirs = ours.astype(wide), theirs.astype(wide)
    usual = np.isfinite(ours)
    if not np.array_equal(usual, np.isfinite(theirs)):
        return None
    odd = ~usual
    if odd.any() and repr(ours[odd].tolist()) != repr(theirs[odd].tolist()):
        return None
    if not usual.any():
        return 0.0
    return float(np.abs(ours[usual] - theirs[usual]).max())


def most(original, entry, records, series, place):
    """The largest distance of other runs of the original from this one, at the same place."""
    found = [
        distance(original, entry, record, one[place])["distance"]
        for record, one in zip(records, series)
        if place < len(one)
    ]
    if any(one is None for one in found):
        return None
    return max(found) if found else 0.0


class Start(object):
    """How far weights have come, and whether two runs went the same way at the same pace.

    The drift is the part by which the way of one run is longer or shorter along that of the other:
    0.001 where a learning rate is off by 0.1%, and next to nothing where only rounding differs.
    """

    def __init__(self, key, original, rewritten, again, nudged):
        self._key = ("initial", key[1])
        self._original = original
        self._rewritten = rewritten
        self._again = again
        self._nudged = nudged

    def drifts(self, entry, other, again, nudged, place):
        way = self._way(self._original, entry)
        if way is None:
            return {}
        length = float(np.dot(way, way))
        if not np.isfinite(length) or length == 0.0:
            return {}
        runs = [(self._rewritten, other)]
        for records, series in ((self._again, again), (self._nudged, nudged)):
            runs += [
                (record, one[place]) for record, one in zip(records, series) if place < len(one)
            ]
        found = [self._drift(way, length, record, one) for record, one in runs]
        own = found[0]
        others = [one for one in found[1:] if one is not None]
        return {"drift": own, "drift_envelope": max(others) if others else 0.0}

    def _drift(self, way, length, record, entry):
        other = self._way(record, entry)
        if other is None or other.shape != way.shape:
            return None
        value = abs(float(np.dot(other - way, way)) / length)
        return value if np.isfinite(value) else None

    def _way(self, record, entry):
        start = record.series.get(self._key)
        if not start or "digest" not in entry or np.dtype(entry["dtype"]).kind != "f":
            return None
        first = record.array(start[0])
        now = record.array(entry)
        if first.shape != now.shape:
            return None
        return now.astype(np.float64) - first.astype(np.float64)


def shown(array):
    if array.size == 1:
        return repr(array.reshape(-1)[0].item())
    if array.size == 0:
        return "empty"
    flat = array.reshape(-1)
    head = ", ".join(repr(one) for one in flat[:3].tolist())
    return "[%s%s]" % (head, ", ..." if flat.size > 3 else "")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
