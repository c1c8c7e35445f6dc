"""tshark with the plugin, for the tests beside this file."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77


def skip_without_tshark() -> None:
    """Ends the test where there is no tshark that runs Lua 5.2 or later plugins of Wireshark 4."""
    program = shutil.which("tshark")
    if program is None:
        print("skipped: tshark is not installed (tools/setup --test installs it)")
        sys.exit(SKIPPED)
    about = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    words = about.replace("\n", " ")
    if "with Lua" not in words:
        print("skipped: this tshark has no Lua")
        sys.exit(SKIPPED)
    major = int(words.split("(Wireshark) ")[1].split(".")[0])
    if major < 4:
        print(f"skipped: this is Wireshark {major}, the plugin is for 4.0 and later")
        sys.exit(SKIPPED)


class Tshark:
    """Runs with an empty configuration of its own: no other plugin, no preferences."""

    def __init__(self, plugin: str):
        self.plugin = plugin
        self.home = tempfile.TemporaryDirectory()

    def run(self, capture, *arguments, with_plugin=True) -> str:
        environment = dict(os.environ, HOME=self.home.name, XDG_CONFIG_HOME=self.home.name,
                           WIRESHARK_CONFIG_DIR=self.home.name, WIRESHARK_PLUGIN_DIR=self.home.name, LC_ALL="C.UTF-8")
        plugin = ["-X", f"lua_script:{self.plugin}"] if with_plugin else []
        done = subprocess.run(["tshark", *plugin, "-r", str(capture), *arguments], capture_output=True, text=True,
                              errors="replace", check=False, env=environment)
        noise = "could be dangerous"
        errors = "\n".join(line for line in done.stderr.splitlines() if noise not in line)
        if done.returncode != 0 or errors:
            raise AssertionError(f"tshark {' '.join(arguments)} on {capture}: status {done.returncode}\n{errors}")
        return done.stdout

    def fields(self, capture, names, *arguments, display="", with_plugin=True) -> list:
        """A dict for each frame that `display` takes: field -> list of its values."""
        options = [option for name in names for option in ("-e", name)]
        chosen = ["-Y", display] if display else []
        text = self.run(capture, *arguments, *chosen, "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=\x1f",
                        "-E", "separator=\x1e", *options, with_plugin=with_plugin)
        rows = []
        for line in text.split("\n"):
            if not line:
                continue
            values = line.split("\x1e")
            rows.append({name: value.split("\x1f") if value else [] for name, value in zip(names, values)})
        return rows


def workspace() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="fcvi-wireshark-")


def tables(plugin) -> str:
    """The generated part of the plugin."""
    return Path(plugin).read_text(encoding="utf-8").split("-- ---- fields", 1)[0]
