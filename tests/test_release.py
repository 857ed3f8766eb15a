"""What a release needs: versions that agree, pinned actions, a wheel that is tried first."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import directrix

pytestmark = pytest.mark.every_case  # each case sees its own workflow

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
#: A release candidate has the changelog of the release.
RELEASE = directrix.__version__.partition("rc")[0]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_citation_has_the_version():
    assert re.findall(r"^version: (.+)$", text("CITATION.cff"), re.MULTILINE) == [RELEASE]


def test_the_newest_version_of_the_changelog_is_this_one():
    headings = re.findall(r"^## \[(.+?)\](.*)$", text("CHANGELOG.md"), re.MULTILINE)
    version, rest = next(heading for heading in headings if heading[0] != "Unreleased")
    assert version == RELEASE
    assert rest == " - unreleased" or re.fullmatch(r" - 20\d\d-\d\d-\d\d", rest)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit_with_their_version(path):
    uses = re.findall(r"^\s*-?\s*uses: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert uses
    pinned = r"[\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+"
    assert [line for line in uses if not re.fullmatch(pinned, line)] == []


def test_an_action_has_one_version_in_all_workflows():
    pins = {}
    for path in WORKFLOWS:
        for action, pin in re.findall(r"uses: ([\w/-]+)@(.*)", path.read_text(encoding="utf-8")):
            pins.setdefault("/".join(action.split("/")[:2]), set()).add(pin)
    assert {action: found for action, found in pins.items() if len(found) > 1} == {}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_begin_with_few_permissions(path):
    found = re.search(r"(?m)^permissions:(.*\n(?:  .*\n)*)", path.read_text(encoding="utf-8"))
    assert found is not None
    assert found[1] in (" {}\n", "\n  contents: read\n")


@pytest.mark.parametrize("job", ["release", "release-candidate"])
def test_nothing_is_published_before_the_wheel_was_tried(job):
    jobs = re.split(r"^  (?=[\w-]+:$)", text(".github/workflows/publish.yml"), flags=re.MULTILINE)
    (block,) = (block for block in jobs if block.startswith(f"{job}:\n"))
    assert "needs: smoke\n" in block
    assert "github.event_name == 'push'" in block


def test_workflows_run_what_exists():
    commands = "\n".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    targets = re.findall(r"^([a-z-]+):.*##", text("Makefile"), re.MULTILINE)
    asked = re.findall(r"\bmake ([a-z-]+)$", commands, re.MULTILINE)
    assert asked
    assert set(asked) <= set(targets)
    assert (ROOT / "benchmarks" / "speed" / "compare.py").is_file()
    assert (ROOT / ".ci" / "smoke.py").is_file()


def test_the_smoke_test_refuses_the_package_of_the_checkout():
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "smoke.py", ROOT],
        env={"PYTHONPATH": str(ROOT / "src"), "SYSTEMROOT": "C:\\Windows"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode != 0
    assert "directrix is not the installed one" in done.stderr
