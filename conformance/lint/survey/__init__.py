"""The survey: lint over the GPU code of published packages, a record of each, and one table over all."""
