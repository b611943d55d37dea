"""Recipe of pdl for Conan 2: the two headers and the CMake package, no compiler and no CUDA needed to make it."""

from __future__ import annotations

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy


class Pdl(ConanFile):
    """`conan create conformance/packaging/conan` from a clone."""

    name = "pdl"
    license = "MIT"
    description = "Programmatic dependent launch for CUDA: two headers"
    topics = ("cuda", "gpu", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    def set_version(self) -> None:
        """From pdl.h, where it stands."""
        text = Path(self.recipe_folder, "..", "..", "..", "pdl.h").resolve().read_text(encoding="utf-8")
        self.version = ".".join(re.findall(r"^#define PDL_VERSION_(?:MAJOR|MINOR|PATCH) ([0-9]+)$", text, re.MULTILINE))

    def export_sources(self) -> None:
        """What the installation needs of the tree."""
        root = str(Path(self.recipe_folder, "..", "..", "..").resolve())
        for pattern in ("pdl.h", "pdl_device.cuh", "CMakeLists.txt", "LICENSE", "cmake/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def generate(self) -> None:
        """Only what is installed."""
        chain = CMakeToolchain(self)
        chain.cache_variables.update({"PDL_BUILD_CONFORMANCE": False, "PDL_BUILD_EXAMPLES": False})
        chain.generate()

    def package(self) -> None:
        """The project's own installation."""
        cmake = CMake(self)
        cmake.configure()
        cmake.install()
        copy(self, "LICENSE", self.source_folder, str(Path(self.package_folder, "licenses")))

    def package_id(self) -> None:
        """The same for every compiler and machine."""
        self.info.clear()

    def package_info(self) -> None:
        """Consumers find pdl::pdl by the package's own CMake files."""
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["share/cmake/pdl"]
        self.cpp_info.set_property("pkg_config_name", "pdl")
