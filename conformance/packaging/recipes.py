"""Builds the recipes as their users would: the Conan 2 package with its consumer, the Debian source package in a fresh root.

    python3 conformance dev recipes conan
    python3 conformance dev recipes debian --roots FOLDER [--suite bookworm]

On demand: both need a network (Conan itself is fetched, pinned by hash), and Debian's also root and debootstrap. 0 the recipe works,
1 it does not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from conformance.packaging.fresh_machines import LENT, SUITES
from conformance.packaging.manual import version
from conformance.pdlkit import places
from conformance.pdlkit.exits import FAILED, OK, SetupImpossible
from conformance.pdlkit.venv import ensure_venv

HERE = Path(__file__).resolve().parent
_SOURCES = ("pdl.h", "pdl_device.cuh", "CMakeLists.txt", "LICENSE", "README.md", "cmake")
_EXPECTED = ("/usr/include/pdl.h", "/usr/include/pdl_device.cuh", "/usr/share/cmake/pdl/pdlConfig.cmake", "/usr/share/pkgconfig/pdl.pc")
_BUILD = r"""
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends build-essential debhelper cmake pkgconf > /dev/null
cp -r /home/given /home/pdl-VERSION
cd /home && tar -czf pdl_VERSION.orig.tar.gz --exclude=debian pdl-VERSION
cd pdl-VERSION && dpkg-buildpackage -us -uc > /home/build.log 2>&1 || { tail -40 /home/build.log; exit 1; }
test -f /home/pdl_VERSION-1.dsc
apt-get purge -qq -y cmake > /dev/null
dpkg -i /home/libpdl-dev_VERSION-1_all.deb > /dev/null
dpkg -L libpdl-dev
echo "version $(pkgconf --modversion pdl)"
dpkg -P libpdl-dev > /dev/null
for file in EXPECTED; do test ! -e "$file"; done
echo purged
"""


def conan() -> list[str]:
    """`conan create`, with a home of its own."""
    python = ensure_venv("conan")
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "CONAN_HOME": home}

        def call(*arguments: str) -> subprocess.CompletedProcess[str]:
            program = [str(python), "-P", "-c", "from conans.conan import run; run()"]
            return subprocess.run([*program, *arguments], env=environment, capture_output=True, text=True, cwd=home)

        call("profile", "detect")
        done = call("create", str(HERE / "conan"))
        said = done.stdout + done.stderr
    if done.returncode != 0 or f"pdl {version()} in " not in said:
        return [f"conan create ended with {done.returncode}: {said[-800:]}"]
    return []


def _lay_sources(folder: Path) -> None:
    """What goes into the source package, with a changelog of this version."""
    for name in _SOURCES:
        source = places.ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy(source, folder / name)
    shutil.copytree(HERE / "debian", folder / "debian")
    (folder / "debian" / "changelog").write_text(
        f"pdl ({version()}-1) unstable; urgency=medium\n\n  * Version {version()}.\n\n"
        " -- The pdl authors <pdl@packages.invalid>  Thu, 01 Jan 2026 00:00:00 +0000\n"
    )


def debian(suite: str, roots: Path, mirror: Sequence[str]) -> list[str]:
    """dpkg-buildpackage, install, look, purge: on top of a fresh root, which stays as it is."""
    root = roots / suite
    if not (root / "usr/bin/apt-get").exists():
        subprocess.run(["debootstrap", "--variant=minbase", suite, str(root), *mirror], check=True)
    with tempfile.TemporaryDirectory() as scratch:
        given, over, merged = (Path(scratch, name) for name in ("given", "over", "merged"))
        for folder in (given, over, merged):
            folder.mkdir()
        _lay_sources(given)
        script = _BUILD.replace("VERSION", version()).replace("EXPECTED", " ".join(_EXPECTED))
        (given.parent / "build.sh").write_text(script)
        mounts = [
            f"mount -t tmpfs tmpfs {over}",
            f"mkdir {over}/top {over}/work",
            f"mount -t overlay overlay -o lowerdir={root},upperdir={over}/top,workdir={over}/work {merged}",
            f"mount -t proc proc {merged}/proc",
            f"mount --rbind /dev {merged}/dev",
            f"cp -r {given} {merged}/home/given",
            f"cp {scratch}/build.sh {merged}/home/build.sh",
        ]
        mounts += [
            f"mkdir -p {merged}{Path(name).parent} && touch {merged}{name} && mount --bind {name} {merged}{name}"
            for name in LENT
            if name == "/etc/resolv.conf" and Path(name).is_file()
        ]
        inside = f"exec chroot {merged} /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 /bin/sh /home/build.sh"
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-ec", "; ".join([*mounts, inside])],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    missing = [path for path in _EXPECTED if path not in done.stdout.splitlines()]
    if done.returncode != 0 or missing or f"version {version()}" not in done.stdout or "purged" not in done.stdout:
        return [f"{SUITES[suite]}: exit {done.returncode}, missing {missing}: {(done.stdout + done.stderr)[-800:]}"]
    return []


def main(argv: Sequence[str] | None = None) -> int:
    """Build one recipe."""
    parser = argparse.ArgumentParser(description="Build a recipe as its users would.")
    parser.add_argument("recipe", choices=("conan", "debian"))
    parser.add_argument("--roots", type=Path, help="folder for the debootstrap roots")
    parser.add_argument("--suite", choices=SUITES, default="bookworm")
    parser.add_argument("--mirror", action="append", default=[], help="debootstrap's mirror")
    options = parser.parse_args(argv)
    if options.recipe == "debian" and options.roots is None:
        raise SetupImpossible("--roots names the folder for the fresh root")
    found = conan() if options.recipe == "conan" else debian(options.suite, options.roots.resolve(), options.mirror)
    print("\n".join(found) or f"{options.recipe}: the recipe works, version {version()}")
    return FAILED if found else OK


if __name__ == "__main__":
    sys.exit(main())
