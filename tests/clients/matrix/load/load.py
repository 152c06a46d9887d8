"""Imports every module of a generated package, and reads every example of an answer with its model.

    python load.py openapi_client contract.json
"""

import importlib
import json
import pkgutil
import sys

package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
    importlib.import_module(module.name)

with open(sys.argv[2], encoding="utf-8") as file:
    contract = json.load(file)
models = importlib.import_module(f"{package.__name__}.models")


def resolved(node):
    """The node that a reference of the contract leads to."""
    while "$ref" in node:
        target = contract
        for key in node["$ref"].removeprefix("#/").split("/"):
            target = target[key.replace("~1", "/")]
        node = target
    return node


def answers():
    """Model, place and value of every example."""
    for operations in contract["paths"].values():
        for operation in operations.values():
            if "responses" not in operation:
                continue
            for status, response in operation["responses"].items():
                for kind, media in resolved(response).get("content", {}).items():
                    model = media.get("schema", {}).get("$ref", "").rpartition("/")[2]
                    if not model or "json" not in kind:
                        continue
                    for name, example in media.get("examples", {}).items():
                        where = f"{operation['operationId']} {status} {name}"
                        yield model, where, resolved(example)["value"]


faults = []
# Each once: most operations have the examples of the errors in common.
distinct = {(model, json.dumps(value)): where for model, where, value in answers()}
for (model, value), where in distinct.items():
    try:
        getattr(models, model).from_dict(json.loads(value))
    except Exception as error:
        faults.append(f"{where}: {model} cannot be read: {error!r}"[:300])
if not distinct:
    faults.append("there are no examples")
print("\n".join(faults))
sys.exit(1 if faults else 0)
