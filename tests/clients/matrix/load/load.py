"""Imports every module of the package that is named, and so finds what does not compile."""

import importlib
import pkgutil
import sys

package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
    importlib.import_module(module.name)
