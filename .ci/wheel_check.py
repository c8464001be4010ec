"""Build the wheel, check what is in it against the source roots, install it into a fresh environment and use it there.

A wheel that lacks a data file works in the checkout and fails at the user's, so the content is compared file by file.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = ("compat/dragoman", "specs/dragoman_specs", "migrations/dragoman_migrations")
NOT_SHIPPED = ("__pycache__",)
USE = """
import dragoman, dragoman_migrations, dragoman_specs
from dragoman_specs import methods, names, version
from dragoman_specs.catalog import load
assert len(version.ALL) == 5 and methods.METHODS and names.LOG_LEVELS and load()
assert "site-packages" in dragoman.__file__, dragoman.__file__
print(dragoman.__version__)
"""


def main() -> int:
    """Run all steps; the exit status is 0 only if every one of them holds."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with tempfile.TemporaryDirectory(prefix="dragoman-wheel-") as folder:
        wheel = build(Path(folder))
        faults = content_faults(wheel, project["version"])
        for fault in faults:
            print(f"wheel: {fault}", file=sys.stderr)
        if faults:
            return 1
        print(f"wheel: {wheel.name} ({wheel.stat().st_size // 1024} KiB) holds every file of {', '.join(PACKAGES)} and nothing else")
        return use(Path(folder), wheel, project["version"])


def build(folder: Path) -> Path:
    """Build the wheel into ``folder`` with the pinned build backend of this environment."""
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(REPOSITORY))
    (wheel,) = folder.glob("*.whl")
    return wheel


def content_faults(wheel: Path, version: str) -> list[str]:
    """What the wheel holds too much, holds too little, or says wrongly of itself."""
    with zipfile.ZipFile(wheel) as archive:
        found = set(archive.namelist())
        info = f"dragoman-{version}.dist-info"
        entry_points = archive.read(f"{info}/entry_points.txt").decode()
    expected = {
        f"{Path(package).name}/{path.relative_to(REPOSITORY / package).as_posix()}"
        for package in PACKAGES
        for path in (REPOSITORY / package).rglob("*")
        if path.is_file() and not any(part in NOT_SHIPPED for part in path.parts)
    }
    shipped = {name for name in found if not name.startswith(f"{info}/")}
    faults = [f"{name} is missing" for name in sorted(expected - shipped)]
    faults += [f"{name} does not belong in it" for name in sorted(shipped - expected)]
    faults += [f"{info}/{name} is missing" for name in ("METADATA", "licenses/LICENSE") if f"{info}/{name}" not in found]
    if "dragoman = dragoman.wrap.cli:main" not in entry_points:
        faults.append("the console script dragoman is missing")
    return faults


def use(folder: Path, wheel: Path, version: str) -> int:
    """Install the wheel into a fresh environment, import it there and run the command."""
    fresh = folder / "fresh"
    venv.create(fresh, with_pip=True)
    python = fresh / "bin" / "python"
    constraints = REPOSITORY / "constraints.txt"
    run(str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "-c", str(constraints), str(wheel))
    printed = run(str(python), "-I", "-c", USE, cwd=folder).strip()
    if printed != version:
        print(f"wheel: dragoman.__version__ is {printed}, pyproject.toml says {version}", file=sys.stderr)
        return 1
    run(str(fresh / "bin" / "dragoman"), "--help", cwd=folder)
    print("wheel: installs into a fresh environment, imports, and runs")
    return 0


def run(*command: str, cwd: Path | None = None) -> str:
    """Run ``command`` and give its stdout; a failure ends the check with the command and what it printed."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"wheel: {' '.join(command)} failed with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
