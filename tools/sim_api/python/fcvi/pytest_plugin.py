"""The fixture fcvi_fabric: a fabric of its own for each test. Of a test that fails, its capture, ladder and report are left.

pytest finds it by its entry point (pytest11), where the package fcvi is. Files go to
--fcvi-output (default: fcvi-failures), in a folder with the test's name; the report of the failure shows the ladder and
names the files. `@pytest.mark.fcvi(seed=7, in_order=False)` sets what Fabric() takes.
"""

import re
from pathlib import Path

import pytest

import fcvi

_FABRIC = pytest.StashKey[fcvi.Fabric]()
_MOST_LINES = 60


def pytest_addoption(parser):
    parser.addoption("--fcvi-output", default="fcvi-failures", metavar="FOLDER",
                     help="where failing tests leave capture, ladder and report (default: fcvi-failures)")


def pytest_configure(config):
    config.addinivalue_line("markers", "fcvi(seed=1, in_order=True): options of the fixture fcvi_fabric")


@pytest.fixture
def fcvi_fabric(request):
    """A fcvi.Fabric of this test, closed after it."""
    options = {}
    for mark in request.node.iter_markers("fcvi"):
        options = {**mark.kwargs, **options}
    fabric = fcvi.Fabric(**options)
    request.node.stash[_FABRIC] = fabric
    yield fabric
    fabric.close()


def _leave_files(folder: Path, fabric: fcvi.Fabric) -> list:
    folder.mkdir(parents=True, exist_ok=True)
    files = {"capture.pcapng": fabric.capture(), "ladder.txt": fabric.ladder().encode(),
             "ladder.svg": fabric.ladder(svg=True).encode(), "report.html": fabric.report().encode()}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]


def _attach(item, report, fabric):
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", item.nodeid).strip("_")
    folder = Path(item.config.getoption("--fcvi-output")) / name
    try:
        files = _leave_files(folder, fabric)
    except (OSError, RuntimeError) as error:  # the failure itself is what matters
        report.sections.append(("fcvi", f"no files: {error}"))
        return
    lines = fabric.ladder().splitlines()
    shown = lines if len(lines) <= _MOST_LINES else ["...", *lines[-_MOST_LINES:]]
    report.sections.append(("fcvi ladder", "\n".join(shown)))
    report.sections.append(("fcvi files", "\n".join(map(str, files))))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    fabric = item.stash.get(_FABRIC, None)
    if report.when == "call" and report.failed and fabric is not None and not fabric.closed and fabric.frames():
        _attach(item, report, fabric)
