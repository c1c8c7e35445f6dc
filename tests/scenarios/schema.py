#!/usr/bin/env python3
"""The JSON Schema that `fcvi-sim schema` prints, against the loader and the project's scenarios; and the examples of
docs/scenarios.md, which are run.

usage: schema.py FCVI_SIM ROOT [unittest's options]
"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import jsonschema
    import yaml
    MISSING = ""
except ImportError as error:
    MISSING = f"{error}: install python3-jsonschema and python3-yaml (tools/setup --test)"

FCVI_SIM, ROOT = "", Path()
UNKNOWN = "zzzzzzzzzzzzzzzzzzzzzzzz"  # like no key
BASE = "name: x\nports: [{name: a}, {name: b}]\n"
WORKLOAD = BASE + "workloads: [{name: w, client: a, server: b, %s}]\n"
RDMA = "name: x\ntopology: {kind: tcp}\nports: [{name: a}, {name: b}]\nworkloads: [{name: w, client: a, server: b, rdma: {%s}}]\n"
GROUP = BASE + "workloads: [{name: w, count: 2, client: a, server: b, %s}]\n"
EXPECTATIONS = BASE + "expectations: {%s}\n"
# Where each table of the schema stands: a scenario with %s for an entry of such a mapping.
PLACES = {
    "": BASE + "%s\n",
    "topology": BASE + "topology: {%s}\n",
    "switch": BASE + "topology: {switches: [{name: s, %s}]}\n",
    "isl": BASE + "topology: {switches: [{name: s}, {name: t}], isls: [{between: [s, t], %s}]}\n",
    "isl_pattern": BASE + "topology: {switches: [{name: s}, {name: t}], isls: [{pattern: ring, %s}]}\n",
    "loop": BASE + "topology: {loops: [{name: l, %s}]}\n",
    "port": "name: x\nports: [{name: a, %s}]\n",
    "workload": WORKLOAD,
    "transfer": WORKLOAD % "transfers: [{operation: send, %s}]",
    "data": WORKLOAD % "transfers: [{operation: send, data: {random: 1, %s}}]",
    "workload_expectation": WORKLOAD % "expect: {%s}",
    "group_expectation": GROUP % "expect_group: {%s}",
    "latency": WORKLOAD % "expect: {latency: {%s}}",
    "failed": WORKLOAD % "expect: {failed: {%s}}",
    "completion": WORKLOAD % "expect: {client_sends: [{%s}]}",
    "rdma": RDMA,
    "rdma_region": RDMA % "regions: [{name: r, at: client, bytes: 1, %s}]",
    "rdma_operation": RDMA % "regions: [{name: r, at: client, bytes: 64MiB}], operations: [{operation: send, from: r, %s}]",
    "rdma_expectation": RDMA % "expect: {%s}",
    "rdma_terminate": RDMA % "expect: {terminate: {by: client, layer: llp, code: 2, %s}}",
    "rdma_completion": RDMA % "expect: {client_completions: [{operation: send, %s}]}",
    "rdma_content": RDMA % "regions: [{name: r, at: client, bytes: 1}], expect: {contents: [{region: r, unchanged: true, %s}]}",
    "background": BASE + "background: [{name: n, from: a, to: b, rate: 1/s, %s}]\n",
    "expectations": EXPECTATIONS,
    "wire": EXPECTATIONS % "wire: [{message: ABTS, %s}]",
    "wire_message": EXPECTATIONS % "wire_messages: [{message: ABTS, %s}]",
    "discard": EXPECTATIONS % "discards: [{port: a, reason: unknown TYPE, times: 1, %s}]",
    "asynchronous_error": EXPECTATIONS % "asynchronous_errors: [{port: a, error: Connection Lost, %s}]",
    "kept": EXPECTATIONS % "kept: [{port: a, %s}]",
}
# What a fault of that action cannot be without.
NEEDS = {"delay": "by: 1us", "truncate": "bytes: 24", "rewrite": "set: {ox_id: 1}", "partition": "ports: [a]",
         "log_out": "port: a, peer: b", "isl_down": "isl: i", "switch_down": "switch: s",
         **dict.fromkeys(("silence", "link_down", "cut", "nos", "ols", "link_reset", "lip", "replug"), "port: a")}
# Right for both.
RIGHT = (
    "topology:",
    "expectations:",
    "workloads: [{name: w, client: a, server: b, expect: }]",
    "faults: [{action: drop, port: a, probability: '1'}]",
    "faults: [{action: drop, port: a, probability: '0.5'}]",
    "parameters: {x: drop}\nfaults: [{action: \"${x}\", port: a}]",
    "background: [{name: n, from: a, to: b, interval: 0.5us, burst: 0x1}]",
)
# One line each: wrong for the loader, and for the schema.
WRONG = """
zame: y
seed: -1
seed: one
seed: [1]
seed: 1.5
time_limit: 5
time_limit: soon
linger: {a: 1}
file: {a: 1}
topology: fabric
topology: [1]
topology: {kind: star}
topology: {kind: [fabric]}
topology: {line_rate: fast}
topology: {line_rate: 16 GBit}
topology: {latency: 3 minutes}
topology: {bb_credit: many}
topology: {in_order: 1}
topology: {switches: s}
topology: {switches: [s]}
topology: {switches: [{nam: s}]}
topology: {switches: [{domain: 1}]}
topology: {switches: [{name: s}, {name: t}], isls: [{between: s}]}
topology: {switches: [{name: s}, {name: t}], isls: [{name: i}]}
topology: {switches: [{name: s}, {name: t}], isls: [{pattern: star}]}
topology: {loops: [{switch: s}]}
topology: {multipath: all}
topology: {domain_conflict: ignore}
topology: {reconfiguration_delay: 10}
ports: []
ports: {a: 1}
ports: [a]
ports: [{name: a, adress: 10.0.0.1}]
ports: [{address: 10.0.0.1}]
ports: [{name: a, address: host}]
ports: [{name: a, addresses: 10.0.0.1}]
ports: [{name: a, port_name: 20-00}]
ports: [{name: a, class: 4}]
ports: [{name: a, ack_0: yes please}]
ports: [{name: a, reorder_pool: big}]
ports: [{name: a, resolve: dns}]
ports: [{name: a, ulp_timeout: 10}]
ports: [{name: a, count: few}]
workloads: {}
workloads: [{name: w, client: a}]
workloads: [{client: a, server: b}]
workloads: [{name: w, client: a, server: b, reliability: best}]
workloads: [{name: w, client: a, server: b, model: peers}]
workloads: [{name: w, client: a, server: b, answer: maybe}]
workloads: [{name: w, client: a, server: b, disconnect_by: nobody}]
workloads: [{name: w, client: a, server: b, queue_depth: 8KiB}]
workloads: [{name: w, client: a, server: b, transfers: {operation: send}}]
workloads: [{name: w, client: a, server: b, transfers: [{data: {random: 1}}]}]
workloads: [{name: w, client: a, server: b, transfers: [{operation: write}]}]
workloads: [{name: w, client: a, server: b, transfers: [{operation: send, data: {size: 1}}]}]
workloads: [{name: w, client: a, server: b, transfers: [{operation: send, data: [1]}]}]
workloads: [{name: w, client: a, server: b, transfers: [{operation: send, rate: 5}]}]
workloads: [{name: w, client: a, server: b, transfers: [{operation: send, rate: 16GFC}]}]
workloads: [{name: w, client: a, server: b, transfers: [{operation: send, interval: 5}]}]
workloads: [{name: w, client: a, server: b, transfers: [{operation: send, interval: 1us, arrivals: random}]}]
workloads: [{name: w, client: a, server: b, transfers: [{operation: send, think_time: long}]}]
workloads: [{name: w, client: a, server: b, transfers: [{operation: send, reply: much}]}]
workloads: [{name: w, client: a, server: b, transfers: [{operation: send, status: failed}]}]
workloads: [{name: w, client: a, server: b, expect: {connect: Succes}}]
workloads: [{name: w, client: a, server: b, expect: {client_states: Connected}}]
workloads: [{name: w, client: a, server: b, expect: {client_sends: [{state: flushed}]}}]
workloads: [{name: w, client: a, server: b, expect: {client_sends: [{status: lost}]}}]
workloads: [{name: w, client: a, server: b, expect: {latency: 5us}}]
workloads: [{name: w, client: a, server: b, expect: {latency: {p95: 5us}}}]
workloads: [{name: w, client: a, server: b, expect: {latency: {p99: {most: 5us}}}}]
workloads: [{name: w, client: a, server: b, expect: {throughput: {min: fast}}}]
workloads: [{name: w, client: a, server: b, expect: {failed: {sends: 1}}}]
workloads: [{name: w, client: a, server: b, expect: {failed: {client_sends: [{min: 1}]}}}]
workloads: [{name: w, client: a, server: b, expect: {fairness: 1}}]
workloads: [{name: w, count: 2, client: a, server: b, expect_group: {fairness: 2}}]
workloads: [{name: w, count: 2, client: a, server: b, expect_group: {survivors: all}}]
workloads: [{name: w, count: 2, client: a, server: b, except: [w-1]}]
workloads: [{name: w, count: 2, client: a, server: b, except: {w-1: {conect: Timeout}}}]
background: [{name: n, from: a, to: b, rate: 1/s, type: scsi}]
background: [{name: n, from: a, rate: 1/s}]
background: [{name: n, from: a, to: b}]
background: [{name: n, from: a, to: b, rate: 1/s, interval: 1ms}]
background: [{name: n, from: a, to: b, interval: 0}]
background: [{name: n, from: a, to: b, rate: 0/s}]
background: [{name: n, from: a, to: b, rate: 0.0MB/s}]
background: [{name: n, from: a, to: b, rate: 1/s, burst: 0}]
workloads: [{name: w, client: a, server: b, transfers: [{operation: send, rate: 5/s, think_time: 1ms}]}]
parameters: 5
for_each: 5
background: {name: n}
faults: [{message: ABTS}]
faults: [{action: loose}]
faults: [{action: drop, mesage: ABTS}]
faults: [{action: drop, message: SEND}]
faults: [{action: drop, by: 1us}]
faults: [{action: delay, by: 1}]
faults: [{action: drop, nth: first}]
faults: [{action: drop, probability: 2}]
faults: [{action: drop, direction: there}]
faults: [{action: drop, fields: {seq: 1}}]
faults: [{action: drop, fields: [seq_cnt]}]
faults: [{action: rewrite, set: {flags: 1}}]
faults: [{action: corrupt, crc: maybe}]
faults: [{action: drop, times: {least: 1}}]
faults: [{action: link_down, port: a, at: 1}]
expectations: {ius: {SEND: 1}}
expectations: {ius: 3}
expectations: {discards: none}
expectations: {discards: [{port: a}]}
expectations: {discards: [{port: a, reason: bad luck, times: 1}]}
expectations: {asynchronous_errors: [{port: a, error: Lost}]}
expectations: {wire: {message: ABTS}}
expectations: {wire: [{message: ABT}]}
expectations: {wire: [{from: a}]}
expectations: {wire: [{message: ABTS, lost: 1}]}
expectations: {wire: [{message: ABTS, reason: none of these}]}
expectations: {wire_messages: ABTS}
expectations: {duration: 5}
faults: [{action: delay}]
faults: [{action: truncate, crc: good}]
faults: [{action: rewrite}]
faults: [{action: silence, from: 1s}]
faults: [{action: partition}]
faults: [{action: link_down, at: 1s}]
faults: [{action: isl_down, at: 1s}]
faults: [{action: log_out, port: a, at: 1s}]
""".strip().splitlines()


def fcvi_sim(*arguments):
    return subprocess.run([FCVI_SIM, *arguments], capture_output=True, text=True, timeout=240, check=False)


class Checked:
    """What `fcvi-sim check` says of scenarios, all in one process: it names the file of each mistake."""

    def __init__(self, folder, texts):
        texts = list(dict.fromkeys(texts))
        paths = [Path(folder) / f"s{at}.yaml" for at in range(len(texts))]
        for path, text in zip(paths, texts):
            path.write_text(text, encoding="utf-8")
        done = fcvi_sim("check", *map(str, paths))
        errors = done.stderr.split("fcvi-sim: ")[1:]
        good = re.findall(r"^(\S*/s\d+\.yaml): good: ", done.stdout, re.M)
        wrong = {re.match(r"(.*?/s\d+\.yaml):", error).group(1): error for error in errors}
        assert len(errors) == len(wrong) and len(wrong) + len(good) == len(texts) and not set(wrong) & set(good), done.stderr
        assert done.returncode == (2 if wrong else 0), done.returncode
        self.errors = {text: wrong.get(str(path), "") for path, text in zip(paths, texts)}

    def __getitem__(self, text):
        """The error of a scenario; empty: it is good."""
        return self.errors[text]


def read(text):
    """As the loader reads it: << is a key, for it may stand for a parameter."""
    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        yaml_implicit_resolvers = {first: [(tag, pattern) for tag, pattern in all_of if not tag.endswith(":merge")]
                                   for first, all_of in yaml.SafeLoader.yaml_implicit_resolvers.items()}
    return yaml.load(text, Loader=Loader)


def with_change(line):
    """The smallest scenario, with this line in place of its own of the same key."""
    key = line.split(":")[0]
    return "".join(own + "\n" for own in BASE.splitlines() if own.split(":")[0] != key) + line + "\n"


class WithSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        printed = fcvi_sim("schema")
        assert printed.returncode == 0, printed.stderr
        cls.schema = json.loads(printed.stdout)
        cls.validator = jsonschema.Draft7Validator(cls.schema)
        cls.folder = tempfile.TemporaryDirectory()
        (Path(cls.folder.name) / "parts").symlink_to(ROOT / "tools/scenarios/parts")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def write(self, text):
        path = Path(self.folder.name) / "s.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def errors_of(self, text):
        return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
                for error in self.validator.iter_errors(read(text))]

    def properties_of(self, table):
        mapping = self.schema["definitions"][table] if table else self.schema
        return {key for key in mapping["properties"] if key != "<<"}

    def tables(self):
        return [name for name, value in self.schema["definitions"].items()
                if "<<" in value.get("properties", {})] + [""]

    def places(self):
        for table in self.tables():
            action = table[len("fault_"):] if table.startswith("fault_") else ""
            needs = NEEDS[action] + ", " if action in NEEDS else ""
            yield table, PLACES[table] if not action else base_of(action) + f"faults: [{{action: {action}, {needs}%s}}]\n"


def base_of(action):
    """Of a fault: these are of hosts on TCP alone."""
    return ("topology: {kind: tcp}\n" if action in ("reset", "close", "stall", "bad_crc") else "") + BASE


def with_entry(place, key, value):
    """The place with this entry, instead of its own of the same key."""
    if place == PLACES[""]:
        return with_change(f"{key}: {value}")
    head, tail = place.split("%s")
    begin = head.rfind("{")
    own, count = re.subn(rf"\b{key}: (\[[^]]*\]|[^,]*),", f"{key}: {value},", head[begin:])
    return head[:begin] + own + ("" if count else f"{key}: {value}") + tail


def ranges_of(value):
    """(minimum, maximum) of all whole numbers that may stand there."""
    if isinstance(value, list):
        return [one for item in value for one in ranges_of(item)]
    if not isinstance(value, dict):
        return []
    own = [(value["minimum"], value["maximum"])] if value.get("type") == "integer" and "maximum" in value else []
    return own + [one for inner in value.values() for one in ranges_of(inner)]


@unittest.skipIf(MISSING, MISSING)
class SchemaTest(WithSchema):
    def test_schema_is_one(self):
        jsonschema.Draft7Validator.check_schema(self.schema)
        self.assertNotIn("$defs", json.dumps(self.schema))

    # A number below or above what the schema says is one that the loader refuses, too, and the bounds are none.
    def test_ranges_are_the_loaders(self):
        seen, beyond, within = set(), [], []
        for table, place in self.places():
            mapping = self.schema["definitions"][table] if table else self.schema
            for key, value in mapping["properties"].items():
                for least, most in ranges_of(value):
                    seen.add((table, key))
                    beyond += [(key, with_entry(place, key, str(number))) for number in {least - 1, most + 1} - {-1}]
                    within += [(key, with_entry(place, key, str(number))) for number in (least, most)]
        self.assertGreater(len(seen), 25)
        checked = Checked(self.folder.name, [text for _, text in beyond + within])
        for key, text in beyond:
            self.assertIn("expected", checked[text], text)
            self.assertTrue(self.errors_of(text), text)
        for key, text in within:
            self.assertNotRegex(checked[text], rf": {key}: expected .* to ", text)

    # Every scenario of the project.
    def test_scenarios_are_valid(self):
        scenarios = sorted((ROOT / "tools/scenarios").rglob("*.yaml"))
        self.assertGreater(len(scenarios), 100)
        for path in scenarios:
            with self.subTest(path=path.name):
                self.assertEqual(self.errors_of(path.read_text(encoding="utf-8")), [])

    # The loader names the keys that it knows where it gets one that is like none of them: the same as the schema has.
    def test_loader_and_schema_know_the_same_keys(self):
        places = {table: place % (UNKNOWN + ": 1") for table, place in self.places()}
        checked = Checked(self.folder.name, places.values())
        for table, text in places.items():
            with self.subTest(table=table or "scenario"):
                said = checked[text]
                known = re.search(r"; known: (.*)", said)
                self.assertIsNotNone(known, said)
                own = self.properties_of(table) - (set() if table else {"include", "parameters", "for_each"})
                self.assertEqual(set(known.group(1).split(", ")), own)

    # A value of no kind is refused at every key of every table, by the key and not for being unknown.
    def test_loader_and_schema_refuse_a_wrong_value_of_each_key(self):
        wrong = "{%s: {%s: 1}}" % (UNKNOWN, UNKNOWN)
        texts = {(table, key): with_entry(place, key, wrong) for table, place in self.places()
                 for key in self.properties_of(table) - {"parameters", "for_each", "except"}}
        checked = Checked(self.folder.name, texts.values())
        for (table, key), text in texts.items():
            with self.subTest(table=table or "scenario", key=key):
                self.assertNotEqual(checked[text], "", text)
                self.assertNotIn(f'unknown key "{key}"', checked[text])
                self.assertNotEqual(self.errors_of(text), [], text)

    def test_right_scenarios_are_accepted(self):
        for line in RIGHT:
            with self.subTest(line=line):
                text = with_change(line)
                self.assertEqual(fcvi_sim("check", self.write(text)).stderr, "")
                self.assertEqual(self.errors_of(text), [])

    # Of a hundred mistakes.
    def test_wrong_scenarios_are_refused(self):
        self.assertGreaterEqual(len(WRONG), 100)
        checked = Checked(self.folder.name, map(with_change, WRONG))
        for line in WRONG:
            with self.subTest(line=line):
                text = with_change(line)
                self.assertRegex(checked[text], r"s\d+\.yaml:\d+: ")
                if line != "ports: []":  # how many there must be, only the loader says
                    self.assertNotEqual(self.errors_of(text), [])


@unittest.skipIf(MISSING, MISSING)
class DocumentTest(WithSchema):
    """docs/scenarios.md."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.document = (ROOT / "docs/scenarios.md").read_text(encoding="utf-8")
        cls.examples = re.findall(r"^```yaml\n(.*?)^```", cls.document, re.S | re.M)

    # What a line of --json has is in the section on results, and what is there is in a line.
    def test_results_have_the_keys_of_the_page(self):
        path = Path(self.folder.name) / "results.jsonl"
        ran = fcvi_sim("run", str(ROOT / "tools/scenarios/paced/survivors.yaml"), "--json", str(path))
        self.assertEqual(ran.returncode, 0, ran.stdout)
        ran = fcvi_sim("run", str(ROOT / "tools/scenarios/paced/background.yaml"), "--json", str(path) + "2")
        self.assertEqual(ran.returncode, 0, ran.stdout)
        found = set()

        def visit(value):
            for item in value if isinstance(value, list) else []:
                visit(item)
            for key, item in value.items() if isinstance(value, dict) else ():
                found.add(key)
                if key not in ("ius", "latency_ns"):
                    visit(item)

        for name in (str(path), str(path) + "2"):
            for line in Path(name).read_text(encoding="utf-8").splitlines():
                visit(json.loads(line))
        section = self.document.split("## results\n")[1]
        rows = [line for line in section.splitlines() if line.startswith("| ") and "`" in line]
        named = {word for row in rows for word in re.findall(r"`([a-z_]+)`", row)} - {"null", "max", "for_each"}
        self.assertEqual(found - named, set())
        self.assertEqual(named - found, set())

    def test_examples_hold(self):
        self.assertGreater(len(self.examples), 20)
        for example in self.examples:
            with self.subTest(name=re.search(r"^name: (.*)", example, re.M).group(1)):
                self.assertEqual(self.errors_of(example), [])
                ran = fcvi_sim("run", self.write(example))
                self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)

    def keys_in(self, node, table, found):
        """All keys of the example, with the table of the mapping that each stands in."""
        schema = self.schema["definitions"][table] if table else self.schema
        for key, value in node.items():
            found.add((self.kind(table), key))
            below = schema["properties"].get(key, {})
            for inner, mapping in self.mappings(value, below):
                self.keys_in(mapping, inner, found)

    @staticmethod
    def kind(table):
        return "fault" if table.startswith("fault_") else table

    def mappings(self, value, schema):
        """The mappings in the value that are of a table."""
        if isinstance(value, list):
            for item in value:
                yield from self.mappings(item, schema)
        elif isinstance(value, dict):
            tables = [name for name in re.findall(r"#/definitions/(\w+)", json.dumps(schema))
                      if "<<" in self.schema["definitions"][name].get("properties", {})]
            for table in tables:
                known = self.properties_of(table)
                fits = set(value) - {"<<"} <= known and (not table.startswith("fault_") or table == f"fault_{value.get('action')}")
                if fits:
                    yield table, value
                    return
            if "except" in json.dumps(schema.get("description", "")) or "members" in schema.get("description", ""):
                for inner in value.values():
                    yield from self.mappings(inner, schema)

    # Every key of every table stands in an example that is run, and in the document's text.
    def test_every_key_has_an_example(self):
        found = set()
        for example in self.examples:
            self.keys_in(read(example), "", found)
        wanted = {(self.kind(table), key) for table in self.tables() for key in self.properties_of(table)}
        self.assertEqual(sorted(wanted - found), [])
        text = re.sub(r"^```yaml\n.*?^```", "", self.document, flags=re.S | re.M)
        for _, key in wanted:
            self.assertRegex(text, rf"[`.{{ ]{re.escape(key)}[`:,}} ]", f"{key} is not explained")
        for table in self.tables():
            if table.startswith("fault_"):
                self.assertIn(f"action: {table[len('fault_'):]}", "".join(self.examples))


if __name__ == "__main__":
    FCVI_SIM, ROOT = sys.argv[1], Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
