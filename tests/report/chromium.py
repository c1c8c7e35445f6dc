"""Headless Chromium, for the tests beside this file."""

import atexit
import os
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77


def use_system_python() -> None:
    """Selenium is a package of Debian's Python: where another one comes first in PATH, starts again with that."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        if sys.executable != "/usr/bin/python3" and Path("/usr/bin/python3").exists():
            os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])


def skip_without_chromium() -> None:
    """Ends the test where a part is missing, and says which."""
    use_system_python()
    try:
        import selenium  # noqa: F401
    except ImportError:
        skip("python3-selenium is not installed (tools/setup --test installs it)")
    for program, package in (("chromium", "chromium"), ("chromedriver", "chromium-driver")):
        if shutil.which(program) is None:
            skip(f"{package} is not installed (tools/setup --test installs it)")
    # As tests/wireshark does with tshark: a program that is there and does not start at all is no finding of ours.
    about = subprocess.run(["chromium", "--version"], capture_output=True, text=True, check=False)
    if about.returncode != 0:
        skip(f"chromium --version fails: {about.stderr.strip()[:200]}")


def skip(reason: str) -> None:
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


idle = []  # browsers between two pages: a start takes longer than most tests


def start():
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,800"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    atexit.register(browser.quit)
    return browser


class Page:
    """One page in a browser that shows no other. Size as on a desk, or with `phone` as on a phone."""

    def __init__(self, path: Path, phone: bool = False, dark: bool = False):
        self.browser = idle.pop() if idle else start()
        width, height = (400, 800) if phone else (1280, 800)
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                     {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else ""}]})
        self.open(path)

    def open(self, path: Path) -> float:
        """Returns milliseconds from the navigation to the end of the page's script, and of the first picture of it."""
        self.browser.get("about:blank")
        self.browser.get(Path(path).resolve().as_uri())
        return self.run("return performance.getEntriesByType('navigation')[0].loadEventEnd")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        """What the page left, and what the browser said of it, does not reach the next one."""
        self.run("try { localStorage.clear(); sessionStorage.clear(); } catch (e) { }")
        self.browser.get("about:blank")
        self.console()
        idle.append(self.browser)

    def run(self, script: str, *arguments):
        return self.browser.execute_script(script, *arguments)

    def wait(self, script: str, what: str):
        from selenium.common.exceptions import TimeoutException
        from selenium.webdriver.support.ui import WebDriverWait
        try:
            return WebDriverWait(self.browser, 60, 0.02).until(lambda _: self.run(script))
        except TimeoutException:
            raise AssertionError(f"never so: {what}") from None

    def keys(self, *keys):
        """To whatever has the focus."""
        from selenium.webdriver.common.action_chains import ActionChains
        ActionChains(self.browser).send_keys(*keys).perform()

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def texts(self, selector: str) -> list:
        return self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText)", selector)

    def console(self) -> list:
        """What the browser complained of: errors, and what it was refused."""
        return [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
