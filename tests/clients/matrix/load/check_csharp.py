"""Parses every C# file of a folder, and looks for members that are declared twice in one type."""

import pathlib
import sys
from collections import Counter

import tree_sitter
import tree_sitter_c_sharp

TYPES = ("class_declaration", "struct_declaration", "interface_declaration", "enum_declaration")
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c_sharp.language()))


def name_of(node):
    name = node.child_by_field_name("name")
    return name.text.decode() if name else None


def members(declaration):
    """The members that may stand only once: not methods and constructors, which overload."""
    body = declaration.child_by_field_name("body")
    for member in body.named_children if body else []:
        if member.type in ("property_declaration", "enum_member_declaration", *TYPES):
            yield name_of(member)


def faults(node):
    if node.type == "ERROR" or node.is_missing:
        yield f"line {node.start_point[0] + 1}: is not C#"
    if node.type in TYPES:
        for name, times in Counter(members(node)).items():
            if times > 1:
                yield f"{name_of(node)}.{name} is declared {times} times"
    for child in node.children:
        yield from faults(child)


found = 0
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.cs")):
    for fault in faults(PARSER.parse(path.read_bytes()).root_node):
        found += 1
        print(f"{path}: {fault}")
sys.exit(1 if found else 0)
