"""A consumer of the Conan package: configures with find_package(pdl) and looks for the headers; no CUDA is needed."""

from __future__ import annotations

from conan import ConanFile
from conan.tools.cmake import CMake, cmake_layout


class Consumer(ConanFile):
    """Run by `conan create`."""

    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self) -> None:
        """The package under test."""
        self.requires(self.tested_reference_str)

    def layout(self) -> None:
        """Below build/."""
        cmake_layout(self)

    def build(self) -> None:
        """Configuring is the test: CMakeLists.txt ends with an error if the headers are not where the target says."""
        CMake(self).configure()

    def test(self) -> None:
        """Nothing is run: a header alone has no behaviour without CUDA."""
