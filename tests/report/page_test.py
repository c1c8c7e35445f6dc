#!/usr/bin/env python3
"""A report of a run in headless Chromium: it opens without a complaint, a click and the keyboard show what they should.

usage: page_test.py FCVI_SIM SOURCE_DIR
"""

import base64
import hashlib
import re
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

import chromium

SIMULATOR, SOURCE = "", Path()


class ThirdParty(unittest.TestCase):
    def test_files_are_those_of_the_package(self):
        """third_party/README.md names each file with its checksum, and nothing else lies there."""
        table = (SOURCE / "third_party/README.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `(\w+)` .*?\| `([\w.]+)` \| `([0-9a-f]{64})` \|$", table, re.MULTILINE)
        self.assertTrue(rows)
        for folder, name, digest in rows:
            self.assertEqual(hashlib.sha256((SOURCE / "third_party" / folder / name).read_bytes()).hexdigest(), digest, name)
        listed = {f"{folder}/{name}" for folder, name, _ in rows} | {f"{folder}/LICENSE" for folder, _, _ in rows}
        there = {str(path.relative_to(SOURCE / "third_party")) for path in (SOURCE / "third_party").glob("*/*")}
        self.assertEqual(there, listed)


def many_ports(pairs: int) -> str:
    """A scenario of so many clients, each with a server of its own; the later ones send more. One name looks like HTML."""
    names = [(f"client{k}" if k else "<i>client0</i>", f"server{k}") for k in range(pairs)]
    ports = [f"  - {{name: '{name}', address: 10.0.{side}.{k + 1}}}" for k, pair in enumerate(names) for side, name in enumerate(pair)]
    work = [f"  - {{name: w{k}, client: '{client}', server: {server}, reliability: unreliable_delivery, start: {k}ms,\n"
            f"     transfers: [{{operation: send, data: {{random: {4 * k + 4}KiB}}, message_bytes: 4KiB}}]}}" for k, (client, server) in enumerate(names)]
    return "\n".join(["name: many ports", "seed: 1", "ports:", *ports, "workloads:", *work, ""])


class Inflate(unittest.TestCase):
    def test_takes_apart_what_zlib_packs(self):
        """Stored, with fixed and with dynamic codes, of any length; what is cut or damaged is refused, and ends."""
        script = (SOURCE / "tools/fcvi_sim/report/page/inflate.js").read_text(encoding="utf-8") + """
            return arguments[0].map((text) => { try { return btoa(Array.from(inflate(bytesOfBase64(text)), (c) => String.fromCharCode(c)).join("")); } catch (e) { return e.message; } });"""
        words = b"".join(b"%d frames of %d, " % (k * k, k) for k in range(6000))
        noise = hashlib.shake_128(b"noise").digest(70000)
        cases = []
        for data in (b"", b"a", b"abcabcabcabcabc", bytes(300000), words, noise, words + noise + words):
            for level, strategy in ((0, 0), (1, 0), (6, 0), (9, 0), (9, zlib.Z_FIXED), (9, zlib.Z_HUFFMAN_ONLY), (9, zlib.Z_RLE)):
                packer = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
                cases.append((packer.compress(data) + packer.flush(), data))
        whole = cases[-4][0]
        broken = [b"", bytes(50), whole[:len(whole) // 2], whole[:100], b"\x07" + whole]
        with chromium.Page(Path("/dev/null")) as page:
            out = page.run(script, [base64.b64encode(case).decode() for case, _ in cases])
            for k, (_, data) in enumerate(cases):
                self.assertTrue(base64.b64decode(out[k]) == data, k)
            for said in page.run(script, [base64.b64encode(case).decode() for case in broken]):
                self.assertIn("damaged", said)


def three_pairs():
    ports = ", ".join(f"{{name: {side}{k}}}" for k in range(3) for side in ("client", "server"))
    works = ", ".join(f"{{name: work{k}, client: client{k}, server: server{k}, transfers: [{{operation: send, data: {{random: 4KiB}}}}]}}"
                      for k in range(3))
    return f"name: three pairs\nports: [{ports}]\nworkloads: [{works}]\n"


class ReportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        place = Path(cls.place.name)
        cls.lost, cls.transfer, cls.capture = place / "lost.html", place / "transfer.html", place / "capture.html"
        scenarios = SOURCE / "tools/scenarios"
        subprocess.run([SIMULATOR, "run", scenarios / "fc-vi/figure-C.3-lost-connect-rqst.yaml", "--report", cls.lost,
                        "--capture", place / "lost.pcapng"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([SIMULATOR, "run", scenarios / "first_connection.yaml", "--report", cls.transfer], check=True,
                       stdout=subprocess.DEVNULL)
        cls.class_2 = place / "class_2.html"
        subprocess.run([SIMULATOR, "run", scenarios / "fc-vi/figure-B.1-class-2-reliable.yaml", "--report", cls.class_2], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([SIMULATOR, "report", place / "lost.pcapng", "-o", cls.capture], check=True, stdout=subprocess.DEVNULL)
        cls.busy = place / "busy.html"
        subprocess.run([SIMULATOR, "run", scenarios / "quickstart.yaml", "--report", cls.busy], check=True, stdout=subprocess.DEVNULL)
        cls.many = place / "many.html"
        (place / "many.yaml").write_text(many_ports(7), encoding="utf-8")
        subprocess.run([SIMULATOR, "run", place / "many.yaml", "--report", cls.many], check=True, stdout=subprocess.DEVNULL)
        cls.nine = place / "nine.html"  # six ports and three services
        (place / "nine.yaml").write_text(three_pairs(), encoding="utf-8")
        subprocess.run([SIMULATOR, "run", place / "nine.yaml", "--report", cls.nine], check=True, stdout=subprocess.DEVNULL)
        cls.page = chromium.Page(cls.lost)

    @classmethod
    def tearDownClass(cls):
        cls.page.close()
        cls.place.cleanup()

    def setUp(self):
        self.page.open(self.lost)

    def tearDown(self):
        self.assertEqual(self.page.console(), [])

    def view(self, name):
        self.page.run("document.getElementById('tab-' + arguments[0]).click()", name)

    def click_row(self, text):
        self.page.run("[...document.querySelectorAll('.row')].find((row) => row.innerText.includes(arguments[0])).click()", text)

    def test_every_view_opens_without_a_complaint(self):
        """Four views, two pages, desk and phone, light and dark: no message in the console, no sideways scrolling."""
        for path in (self.lost, self.transfer, self.capture, self.many):
            for phone, dark in ((False, False), (True, True)):
                with chromium.Page(path, phone=phone, dark=dark) as page:
                    for name in ("summary", "ladder", "states", "plots"):
                        page.run("document.getElementById('tab-' + arguments[0]).click()", name)
                        self.assertGreater(len(page.text("#" + name)), 20, name)
                        page.wait("return document.documentElement.scrollWidth <= window.innerWidth", f"{name} fits {path.name}")
                    theme = page.run("return document.documentElement.dataset.theme")
                    self.assertEqual(theme, "dark" if dark else "light")
                    self.assertEqual(page.console(), [])

    def test_asks_nothing_of_the_network(self):
        """The page loads no other resource."""
        self.assertEqual(self.page.run("return performance.getEntriesByType('resource').length"), 0)

    def test_summary_tells_faults_and_leads_to_their_frames(self):
        """The lost CONNECT_RQST is in the summary; its link shows the frame, marked as lost."""
        self.view("summary")
        self.assertIn("all 21 expectations held", self.page.text("#verdict"))
        self.assertRegex(self.page.text("#summary details summary"), r"^21 that held, in \d+ rows$")
        self.page.run("document.querySelector('#summary td [data-frame]').click()")
        self.assertIn("FCVI_CONNECT_RQST", self.page.text("#detail h2"))
        self.assertIn("lost", self.page.text("#detail .remark"))

    def test_click_shows_fields_and_bytes(self):
        """A click on a frame shows its fields; the field under the pointer marks its bytes, and a byte its field."""
        self.view("ladder")
        self.click_row("FCVI_CONNECT_RQST")
        items = self.page.texts("#detail .tree li")
        self.assertTrue(any("revision" in item and "0001h" in item for item in items), items)
        marked = self.page.run("""
            const field = [...document.querySelectorAll('.tree li')].find((item) => item.innerText.startsWith('revision'));
            field.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
            return [...document.querySelectorAll('.hex i.on:not(.a)')].map((byte) => byte.innerText)""")
        self.assertEqual(marked, ["00", "01"])
        # FCoE header 14 bytes of Ethernet and 14 of its own, then R_CTL: the first byte of the frame header.
        field = self.page.run("""
            document.querySelector('.hex [data-b="28"]').dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
            return document.querySelector('.tree li.on').innerText""")
        self.assertTrue(field.startswith("r_ctl"), field)

    def test_filter_hides_others(self):
        """Only frames that pass are rows; what is not understood is said and changes nothing."""
        self.view("ladder")
        everything = len(self.page.texts(".row"))
        self.page.run("const f = document.getElementById('filter'); f.value = 'name:GID_IPP'; f.dispatchEvent(new Event('input'))")
        self.page.wait("return document.querySelectorAll('.row').length === 1", "one row")
        self.assertIn("GID_IPP", self.page.text(".row"))
        self.assertIn("1 of ", self.page.text("#filter-said"))
        self.page.run("const f = document.getElementById('filter'); f.value = 'is:nonsense'; f.dispatchEvent(new Event('input'))")
        self.page.wait("return document.getElementById('filter-said').innerText.includes('not understood')", "says so")
        self.page.run("const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input'))")
        self.page.wait(f"return document.querySelectorAll('.row').length >= {everything}", "all rows again")

    def test_acknowledgements_are_folded_and_no_aborts(self):
        """Class 2: ACK_1 frames have a kind of their own and are folded with the data that they acknowledge."""
        with chromium.Page(self.class_2) as page:
            page.run("document.getElementById('tab-ladder').click()")
            self.assertIn("ack", [chip.split()[0] for chip in page.texts("#kinds [data-kind]")])
            page.run("const f = document.getElementById('filter'); f.value = 'kind:abort'; f.dispatchEvent(new Event('input'))")
            page.wait("return document.getElementById('filter-said').innerText.includes(' of ')", "filtered")
            self.assertFalse(any("ACK_1" in row for row in page.texts(".row")))
            page.run("const f = document.getElementById('filter'); f.value = 'kind:ack'; f.dispatchEvent(new Event('input'))")
            page.wait("return [...document.querySelectorAll('.row.fold')].some((row) => row.innerText.includes('ACK_1'))", "folded")

    def test_filter_takes_only_its_own_words(self):
        """Words that every object of JavaScript has are no terms and no flags."""
        self.view("ladder")
        for text, said in (("constructor:x", "not understood: constructor:x"), ("is:constructor", "not understood: is:constructor"), ("toString:1", "not understood"), ("is:valueOf", "not understood")):
            self.page.run("const f = document.getElementById('filter'); f.value = arguments[0]; f.dispatchEvent(new Event('input'))", text)
            self.page.wait(f"return document.getElementById('filter-said').innerText.includes('{said}')", f"{text}: {said}")
            self.page.run("const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input'))")
            self.page.wait("return !/ of |not/.test(document.getElementById('filter-said').innerText)", "no filter")

    def test_filter_says_what_may_be_meant(self):
        """Of an unknown key the nearest one, of an unknown value the nearest value; words in quotes have no key."""
        self.view("ladder")
        for text, said in (("conection:1", "conection:1 has no such key; did you mean connection:?"), ("nmae:FLOGI", "did you mean name:?"),
                           ("is:losst", "is:losst; did you mean is:lost?"), ("kind:set-up", "did you mean kind:setup?"),
                           ("frame:x", "frame:x needs numbers"), ("time:x", "time:x needs times"), ("port:", "port: needs a value")):
            self.page.run("const f = document.getElementById('filter'); f.value = arguments[0]; f.dispatchEvent(new Event('input'))", text)
            self.page.wait(f"return document.getElementById('filter-said').innerText.includes('{said}')", f"{text}: {said}")
            self.assertIn("not understood: ", self.page.text("#filter-said"))
        self.page.run("const f = document.getElementById('filter'); f.value = arguments[0]; f.dispatchEvent(new Event('input'))", '"conection:1"')
        self.page.wait("return document.getElementById('filter-said').innerText.includes('0 of ')", "words")

    def test_words_have_room_beside_many_lanes(self):
        """Nine lanes with the fields of a frame beside them, on a desk and on a phone: the words of each row are on the screen, and
        nothing scrolls sideways."""
        for phone in (False, True):
            with chromium.Page(self.nine, phone=phone) as page:
                page.run("document.getElementById('tab-ladder').click()")
                self.assertGreaterEqual(len(page.texts("#lanes .lane")), 9)
                if not phone:
                    page.run("document.querySelector('.row').click()")
                    page.wait("return document.getElementById('detail').classList.contains('open')", "a frame is chosen")
                rooms = page.run("""
                    const list = document.getElementById('ladder-list').getBoundingClientRect();
                    return [...document.querySelectorAll('.row:not(.small) .x')].map((words) => {
                      const box = words.getBoundingClientRect();
                      const isCut = [...words.children].some((part) => part.scrollWidth > part.clientWidth);
                      return box.right > list.right || isCut ? Math.min(box.right, list.right) - box.left : 1e9;
                    })""")
                self.assertGreater(len(rooms), 10)
                self.assertGreaterEqual(min(rooms), 280)
                self.assertTrue(page.run("const list = document.getElementById('ladder-list'); return list.scrollWidth <= list.clientWidth"))

    def test_plots_of_a_time_out_begin_with_the_set_up(self):
        """Microseconds of set-up and seconds of waiting: what is shown at first is the set-up, and a plot without a point there says so."""
        with chromium.Page(self.lost) as page:
            page.keys("4")
            first, last = page.run("return document.getElementById('plots-span').innerText").split(", of ")
            self.assertRegex(first, r"^0 ns to [0-9.]+ µs$")
            self.assertRegex(last, r"^0 ns to [0-9.]+ s$")
            empty = "return document.querySelectorAll('.plot .empty').length"
            self.assertLess(page.run(empty), page.run("return document.querySelectorAll('.plot').length"))
            for _ in range(60):
                page.keys("+")
            page.wait(empty, "so near that no point is left")

    def test_search_tells_of_matches_that_a_filter_hides(self):
        """A word that is only in frames that do not pass the filter: none, and how many there are."""
        self.view("ladder")
        search = "const s = document.getElementById('search'); s.value = arguments[0]; s.dispatchEvent(new Event('input')); return document.getElementById('matches').innerText"
        everywhere = self.page.run(search, "FLOGI")
        self.assertRegex(everywhere, r"^\d+ found$")
        self.page.run("const f = document.getElementById('filter'); f.value = 'kind:setup'; f.dispatchEvent(new Event('input'))")
        self.page.wait("return document.getElementById('filter-said').innerText.includes(' of ')", "filtered")
        self.assertEqual(self.page.run(search, "FLOGI"), f"none, {everywhere.split()[0]} filtered out")
        self.assertEqual(self.page.run(search, "nowhere at all"), "none")

    def test_search_jumps(self):
        """Enter in the search goes to the next frame with the word, and again to the one after it."""
        from selenium.webdriver.common.keys import Keys
        self.view("ladder")
        self.page.keys("/")
        self.page.keys("ADISC", Keys.ENTER)
        self.page.wait("return document.querySelector('.row.chosen').innerText.includes('ADISC')", "the first")
        first = self.page.run("return document.querySelector('.row.chosen').id")
        self.page.keys(Keys.ENTER)
        self.page.wait(f"return document.querySelector('.row.chosen').id !== '{first}'", "the next")
        self.assertIn("ADISC", self.page.text(".row.chosen"))
        self.assertIn("found", self.page.text("#matches"))

    def test_folds_open(self):
        """A long transfer is one row that tells its frames; opened, they are rows."""
        self.page.open(self.transfer)
        self.view("ladder")
        self.page.run("const f = document.getElementById('filter'); f.value = 'kind:data'; f.dispatchEvent(new Event('input'))")
        self.page.wait("return document.querySelector('.row.fold') !== null", "a fold")
        folded = int(self.page.run("return document.querySelector('.row').getAttribute('aria-setsize')"))
        self.page.run("document.querySelector('.row.fold').click()")
        self.page.wait(f"return Number(document.querySelector('.row').getAttribute('aria-setsize')) > {folded}", "more rows")

    def test_states_tell_rows_with_clauses(self):
        """The time line of endpoints, and each row that fired with its table and clause."""
        self.view("states")
        self.assertIn("Pending Connect", self.page.text("#states"))
        rows = self.page.texts("#changes tbody tr")
        self.assertTrue(any("connect_originator" in row and "FC-VI" in row for row in rows), rows[:5])
        self.page.run("document.querySelector('.seg').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        self.assertIn("→", self.page.text(".row.chosen"))

    def test_busy_tables_are_listed_when_chosen(self):
        """A table of which rows fire with each frame is not listed before it is chosen, and the page says so; each row once has its number of times."""
        self.page.open(self.busy)
        self.view("states")
        tables = "return [...new Set([...document.querySelectorAll('#changes tbody [data-head=table]')].map((cell) => cell.innerText.trim()))]"
        choose = "const s = document.getElementById(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new Event('change', {bubbles: true}))"
        self.assertNotIn("message_responder", self.page.run(tables))
        self.assertIn("message_responder", self.page.text("#changes [role=status]"))
        self.page.run(choose, "machine", "message_responder")
        self.assertEqual(self.page.run(tables), ["message_responder"])
        self.page.run("document.getElementById('once').click()")
        self.page.run(choose, "machine", "*")
        self.assertLess({"link_port", "exchange", "sequence", "message_responder", "port_login"}, set(self.page.run(tables)))
        times = [int(text.replace(" ", "")) for text in self.page.texts("#changes tbody [data-head=times]")]
        total = int(self.page.text("#states .panel:last-child h2 .dim").replace(" ", ""))
        self.assertEqual(sum(times), total)
        place = self.page.run("return [...document.getElementById('place').options].find((option) => option.text === 'bob').value")
        self.page.run(choose, "place", place)
        of_bob = [int(text.replace(" ", "")) for text in self.page.texts("#changes tbody [data-head=times]")]
        self.assertTrue(0 < sum(of_bob) < total)

    def test_frame_tells_the_rows_that_it_made_fire(self):
        """Beside the fields of a frame stand the rows that fired at its ends then, each with its clause."""
        self.view("ladder")
        self.click_row("FCVI_CONNECT_RQST")
        self.page.run("document.querySelector('#detail .rows-of summary').click()")
        rows = self.page.texts("#detail .rows-of li")
        self.assertTrue(any("sent: connect_originator" in row and "FC-VI" in row for row in rows), rows)
        self.click_row("LS_ACC to FLOGI")
        self.page.run("document.querySelector('#detail .rows-of summary').click()")
        self.assertTrue(any("arrived: port_attachment" in row for row in self.page.texts("#detail .rows-of li")))

    def test_many_ports_most_talkative_first(self):
        """Of 14 ports and the services eight are shown; the page says what is hidden, and each can be chosen, also by keyboard alone."""
        from selenium.webdriver.common.keys import Keys
        page = self.page
        page.open(self.many)
        self.view("ladder")
        lanes = "return [...document.querySelectorAll('#lanes .lane b')].map((name) => name.innerText)"
        shown = page.run(lanes)
        self.assertEqual(len(shown), 9)
        self.assertEqual(shown[-1], "others")
        self.assertIn("client6", shown)
        self.assertNotIn("<i>client0</i>", shown)
        self.assertRegex(page.text("#ladder-ports summary"), r"8 of 1[78]")
        self.assertRegex(page.text("#filter-said"), r"\d+ of \d+ frames · \d+ between ports that are not shown")
        page.keys("p")
        page.wait("return document.activeElement.classList.contains('port-search')", "the field of the list has the focus")
        page.keys("client0")
        page.wait("return document.querySelectorAll('#ladder-ports .port-list label').length === 1", "one port")
        self.assertIn("<i>client0</i>", page.text("#ladder-ports .port-list"))
        page.keys(Keys.TAB, Keys.TAB, Keys.TAB, Keys.TAB, Keys.SPACE)
        page.wait("return document.querySelectorAll('#lanes .lane').length === 10", "one lane more")
        self.assertIn("<i>client0</i>", page.run(lanes))
        page.keys(Keys.ESCAPE)
        self.assertFalse(page.run("return document.getElementById('ladder-ports').open"))
        page.run("document.querySelector('#ladder-ports [data-ports=all]').click()")
        self.assertNotIn("others", page.run(lanes))
        self.assertNotIn("not shown", page.text("#filter-said"))
        page.run("document.querySelector('#ladder-ports [data-ports=none]').click()")
        self.assertIn("not shown", page.text("#ladder-none"))
        page.run("document.getElementById('tab-summary').click()")
        page.run("document.querySelector('#summary [data-query^=\"name:\"]').click()")
        page.keys("/")
        page.keys("PLOGI", Keys.ENTER)
        self.assertIn("filtered out", page.text("#matches"))

    def test_help_begins_at_its_top_on_a_phone(self):
        """It is longer than the screen, and its button, which has the focus, is at its end."""
        with chromium.Page(self.lost, phone=True) as page:
            page.keys("?")
            self.assertTrue(page.run("const help = document.getElementById('help'); return help.open && help.scrollHeight > help.clientHeight"))
            self.assertEqual(page.run("return document.getElementById('help').scrollTop"), 0)

    def test_chosen_row_stays_in_sight_on_a_phone(self):
        """The fields cover the ladder from below: the row that they are of is above them, one in the middle and the last one."""
        from selenium.webdriver.common.keys import Keys
        with chromium.Page(self.lost, phone=True) as page:
            for keys in ((Keys.HOME, *(Keys.ARROW_DOWN,) * 9), (Keys.END,)):
                page.keys("2", *keys, Keys.ENTER)
                page.wait("return document.getElementById('detail').getBoundingClientRect().bottom <= innerHeight", "the fields are there")
                page.wait("""
                    const box = (id) => document.getElementById(id).getBoundingClientRect();
                    const row = box(document.getElementById('ladder-list').getAttribute('aria-activedescendant'));
                    return row.top >= box('ladder-list').top - 1 && row.bottom <= box('detail').top + 1""", "the row is above the fields")
                page.keys(Keys.ESCAPE)

    def test_tables_of_the_summary_fit_a_phone(self):
        """No column is cut."""
        for path in (self.lost, self.nine, self.many):
            with self.subTest(path=path.name), chromium.Page(path, phone=True) as page:
                cut = page.run("return [...document.querySelectorAll('#summary .scroll')].filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.innerText)")
                self.assertEqual(cut, [])

    def test_count_of_what_held(self):
        """One row of several conditions fails by one of them: the numbers of failed and held conditions make the whole."""
        path, page = self.lost.with_name("some_failed.html"), self.page
        scenario = (SOURCE / "tools/scenarios/fc-vi/figure-C.3-lost-connect-rqst.yaml").read_text(encoding="utf-8")
        text = scenario.replace("message: BA_ACC, from: server, exchange: 1", "message: BA_ACC, from: server, exchange: 2")
        self.assertNotEqual(text, scenario)
        path.with_suffix(".yaml").write_text(text, encoding="utf-8")
        status = subprocess.run([SIMULATOR, "run", path.with_suffix(".yaml"), "--report", path], stdout=subprocess.DEVNULL, check=False).returncode
        self.assertEqual(status, 1)
        page.open(path)
        self.view("summary")
        self.assertIn("1 of 21 failed", page.text("#summary h2 .dim"))
        self.assertRegex(page.text("#summary details summary"), r"^20 that held, in 18 rows and 2 in those that failed$")
        self.assertNotIn("still waiting", page.run("return document.getElementById('summary').textContent"))

    def test_list_of_ports_fits_a_phone(self):
        """Open, in the ladder and in the plots, it is on the screen of a phone, and nothing scrolls sideways."""
        with chromium.Page(self.many, phone=True, dark=True) as page:
            for view, box in (("ladder", "ladder-ports"), ("plots", "plot-ports")):
                page.run("document.getElementById('tab-' + arguments[0]).click()", view)
                page.keys("p")
                page.wait("return document.activeElement.classList.contains('port-search')", "open")
                left, right = page.run("const box = document.querySelector(`#${arguments[0]} .port-box`).getBoundingClientRect(); return [box.left, box.right]", box)
                self.assertTrue(0 <= left and right <= 400, (view, left, right))
                self.assertEqual(page.run("return [document.documentElement.scrollLeft, document.body.scrollLeft, document.documentElement.scrollWidth]"), [0, 0, 400])
            self.assertEqual(page.console(), [])

    def test_plots_of_the_ports_that_are_shown(self):
        """Curves of eight ports at most; what is hidden is said, and the choice of ports brings it."""
        page = self.page
        page.open(self.many)
        self.view("plots")
        names = "return [...document.querySelectorAll(`#plot-${arguments[0]} .u-series .u-label`)].slice(1).map((label) => label.innerText)"
        before = page.run(names, "throughput")
        self.assertIn("client6", before)
        self.assertNotIn("server0", before)
        queues = page.run(names, "measured-Switch-queues")
        self.assertIn("switch to server6", queues)
        self.assertNotIn("switch to server0", queues)
        page.run("document.querySelector('#plot-ports [data-ports=all]').click()")
        self.assertEqual(len(page.run(names, "throughput")), 8)
        self.assertIn("more curves", page.text("#plots"))
        page.run("document.querySelector('#plot-ports [data-ports=none]').click()")
        page.run("document.getElementById('plot-ports').open = true")
        page.wait("return document.querySelectorAll('#plot-ports [data-lane]').length > 8", "the list")
        page.run("[...document.querySelectorAll('#plot-ports label')].find((label) => label.innerText.includes('server0')).click()")
        self.assertEqual(page.run(names, "throughput"), ["server0"])
        self.assertEqual(page.run(names, "measured-Switch-queues"), ["switch to server0"])

    def test_nothing_beside_the_ladder_before_a_choice(self):
        """The ladder has the whole width, and state rows their event and clause, until a row is chosen; Escape gives it back."""
        from selenium.webdriver.common.keys import Keys
        self.view("ladder")
        width = "return document.getElementById('ladder-list').offsetWidth"
        self.assertEqual(self.page.run(width), 1280)
        whole = self.page.run("""
            const lines = [...document.querySelectorAll('.row.state .x > span')];
            return lines.length > 3 && lines.every((line) => line.scrollWidth <= line.clientWidth)""")
        self.assertTrue(whole, "a line of a state row is cut")
        self.assertTrue(any("FC-VI" in row for row in self.page.texts(".row.state")))
        self.click_row("FCVI_CONNECT_RQST")
        self.assertLess(self.page.run(width), 900)
        self.page.keys(Keys.ESCAPE)
        self.assertEqual(self.page.run(width), 1280)

    def test_rows_that_fired_fit_a_phone(self):
        """Event and clause of each row are on the screen of a phone, without scrolling sideways."""
        with chromium.Page(self.lost, phone=True) as page:
            page.run("document.getElementById('tab-states').click()")
            cells = page.run("""
                return [...document.querySelectorAll('#changes tbody tr')].slice(0, 20).flatMap((row) => ['event', 'clause'].map((head) => {
                  const cell = row.querySelector(`[data-head="${head}"]`), box = cell.getBoundingClientRect();
                  return [cell.innerText.length, box.left, box.right, cell.scrollWidth - cell.clientWidth];
                }))""")
            self.assertGreater(len(cells), 10)
            for length, left, right, over in cells:
                self.assertTrue(length > 0 and left >= 0 and right <= 400 and over <= 0, (length, left, right, over))

    def test_times_are_whole_on_a_phone(self):
        """No lane crosses the digits of a row, or its words; no time of the endpoints' line is cut or covers another."""
        for path in (self.lost, self.nine):
            with self.subTest(path=path.name), chromium.Page(path, phone=True) as page:
                page.run("document.getElementById('tab-ladder').click()")
                page.wait("return document.querySelectorAll('.row').length > 3", "rows")
                crossed = page.run("""
                    return [...document.querySelectorAll('.rows.compact .row')].filter((row) => ['.t', '.x'].some((part) => {
                      const style = getComputedStyle(row.querySelector(part));
                      return style.display !== 'none' && (style.backgroundColor !== getComputedStyle(row).backgroundColor ||
                        style.backgroundColor === 'rgba(0, 0, 0, 0)');
                    })).length""")
                self.assertEqual(crossed, 0)
                page.run("document.getElementById('tab-states').click()")
                for _ in range(2):  # in equal steps, and to scale
                    edges = page.run("""
                        const room = document.querySelector('.timeline').getBoundingClientRect();
                        return [...document.querySelectorAll('.timeline .tick')].map((tick) => {
                          const box = tick.getBoundingClientRect();
                          return [box.left - room.left, box.right - room.left, room.width];
                        })""")
                    self.assertGreater(len(edges), 0)
                    for left, right, width in edges:
                        self.assertTrue(left >= 0 and right <= width, (left, right, width))
                    self.assertEqual([edge for edge, after in zip(edges, edges[1:]) if edge[1] > after[0]], [])
                    page.run("[...document.querySelectorAll('#states button')].find((button) => button.textContent === 'Time to scale').click()")

    def test_plots_begin_where_the_frames_are(self):
        """24 ms of traffic in a run of seconds: the plots show those, and keys and buttons move what they show."""
        from selenium.webdriver.common.keys import Keys
        with chromium.Page(self.class_2) as page:
            span = "return document.getElementById('plots-span').innerText"
            page.keys("4")
            begun = page.run(span)
            self.assertIn(", of ", begun)
            page.keys("+")
            closer = page.run(span)
            self.assertNotEqual(closer, begun)
            page.keys(Keys.RIGHT)
            self.assertNotEqual(page.run(span), closer)
            page.keys(Keys.HOME)
            self.assertNotIn(", of ", page.run(span))
            page.keys(Keys.END)
            self.assertEqual(page.run(span), begun)
            page.run("document.querySelector('[data-move=whole]').click()")
            self.assertNotIn(", of ", page.run(span))
            self.assertIn("never changed", page.text("#constant"))
            self.assertEqual(page.console(), [])

    def test_times_that_go_back_are_told(self):
        """A capture whose records are not in the order of time: the summary says so; of one that is, it does not."""
        whole = (Path(self.place.name) / "lost.pcapng").read_bytes()
        blocks, at = [], 0
        while at < len(whole):
            size = int.from_bytes(whole[at + 4:at + 8], "little")
            blocks.append(whole[at:at + size])
            at += size
        mixed, page = Path(self.place.name) / "mixed.pcapng", Path(self.place.name) / "mixed.html"
        first = next(k for k, block in enumerate(blocks) if block[0] == 6)
        mixed.write_bytes(b"".join(blocks[:first] + blocks[-1:] + blocks[first:-1]))
        subprocess.run([SIMULATOR, "report", mixed, "-o", page], check=True, stdout=subprocess.DEVNULL)
        said = "not in the order of their times: 1 "
        self.assertNotIn("not in the order", self.page.text("#summary"))
        self.page.open(page)
        self.assertIn(said, self.page.text("#summary"))

    def test_keyboard_alone_suffices(self):
        """From the summary to a frame's field and back, to a filter, another view and the help, without a pointer."""
        from selenium.webdriver.common.keys import Keys
        page = self.page
        page.keys("2")
        self.assertEqual(page.run("return document.activeElement.id"), "ladder-list")
        page.keys(Keys.DOWN, Keys.DOWN, Keys.END)
        page.wait("const r = document.querySelector('.row.chosen'); return r.getAttribute('aria-posinset') === r.getAttribute('aria-setsize')", "the last row")
        page.keys(Keys.HOME, Keys.ENTER)
        self.assertEqual(page.run("return document.activeElement.getAttribute('role')"), "treeitem")
        for _ in range(6):
            page.keys(Keys.DOWN)
        self.assertTrue(page.run("return document.querySelectorAll('.hex i.on').length > 0"))
        page.keys(Keys.ESCAPE)
        self.assertEqual(page.run("return document.activeElement.id"), "ladder-list")
        page.keys("!")
        self.assertIn("lost", page.text(".row.chosen"))
        page.keys("f")
        page.keys("kind:abort", Keys.ENTER)
        page.wait("return [...document.querySelectorAll('.row')].every((row) => /ABTS|BA_ACC/.test(row.innerText))", "filtered")
        page.keys("3")
        self.assertEqual(page.run("return document.getElementById('tab-states').getAttribute('aria-selected')"), "true")
        page.keys("?")
        self.assertTrue(page.run("return document.getElementById('help').open"))
        page.keys(Keys.ESCAPE)
        self.assertFalse(page.run("return document.getElementById('help').open"))
        page.keys("t")
        page.keys("t")
        self.assertEqual(page.run("return document.documentElement.dataset.theme"), "dark")

    def test_everything_has_a_name(self):
        """Buttons, fields and plots have labels, rows and bars tell what they are."""
        self.view("ladder")
        self.view("plots")
        nameless = self.page.run("""
            const name = (e) => e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.innerText.trim();
            return [...document.querySelectorAll('button,input,select,[role=img],[role=option],[role=treeitem],[role=tabpanel]')]
              .filter((e) => !name(e)).map((e) => e.outerHTML.slice(0, 120))""")
        self.assertEqual(nameless, [])

    def test_capture_says_what_it_cannot_know(self):
        """A capture has no expectations and no states: the page says so and how to get them."""
        self.page.open(self.capture)
        self.view("summary")
        self.assertIn("no expectations", self.page.text("#summary"))
        self.view("states")
        self.assertIn("--report", self.page.text("#states"))


if __name__ == "__main__":
    SIMULATOR, SOURCE = sys.argv[1], Path(sys.argv[2])
    chromium.skip_without_chromium()
    unittest.main(argv=sys.argv[:1], verbosity=2)
