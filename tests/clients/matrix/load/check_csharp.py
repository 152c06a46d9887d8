"""Parses every C# file of a folder, and checks what can be checked without a compiler: no type has a
member twice, and every type that is named is one of the client's own or of the libraries."""

import pathlib
import sys
from collections import Counter

import tree_sitter
import tree_sitter_c_sharp

TYPES = ("class_declaration", "struct_declaration", "interface_declaration", "enum_declaration")
TYPED = ("property_declaration", "field_declaration", "variable_declaration", "parameter")
METHODS = ("method_declaration", "delegate_declaration")
LIBRARIES = set(
    """
    Action AsyncCircuitBreakerPolicy AsyncRetryPolicy AsyncTimeoutPolicy BoundedChannelOptions
    CancellationToken Channel DateOnly DateTime Dictionary ElapsedEventArgs EventId Exception Guid
    HostBuilderContext HttpClient HttpContentHeaders HttpRequestMessage HttpResponseHeaders
    HttpResponseMessage HttpStatusCode IEnumerable IHostApplicationBuilder IHostBuilder
    IHttpClientBuilder ILogger IServiceCollection IServiceProvider JsonElement
    JsonSerializerOptions JsonTokenType KeyValuePair List MediaTypeWithQualityHeaderValue
    MultipartFormDataContent NameValueCollection Object PolicyBuilder Regex Stream StringBuilder
    Task TimeSpan Timer Type Uri UriBuilder Utf8JsonReader Utf8JsonWriter ValidationContext
    ValidationResult ValueTask
    """.split()
)
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


def names_in(node):
    """The names of a type and of its arguments, without namespaces."""
    if node.type == "identifier":
        yield node.text.decode()
    for child in node.children[-1:] if node.type == "qualified_name" else node.children:
        yield from names_in(child)


class Client:
    """The declared and the named types of a client, and its faults."""

    def __init__(self):
        self.declared = set(LIBRARIES)
        self.named = {}
        self.faults = []

    def read(self, path):
        self.path = path
        self.visit(PARSER.parse(path.read_bytes()).root_node)

    def fault(self, node, text):
        self.faults.append(f"{self.path}:{node.start_point[0] + 1}: {text}")

    def visit(self, node):
        if node.type == "ERROR" or node.is_missing:
            self.fault(node, "is not C#")
        if node.type in (*TYPES, "delegate_declaration"):
            self.declared.add(name_of(node))
        if node.type == "type_parameter":
            self.declared.add(node.text.decode())
        if node.type in TYPES:
            for name, times in Counter(members(node)).items():
                if times > 1:
                    self.fault(node, f"{name_of(node)}.{name} is declared {times} times")
        if node.type in (*TYPED, *METHODS):
            field = node.child_by_field_name("type") or node.child_by_field_name("returns")
            for name in names_in(field) if field else []:
                self.named.setdefault(name, f"{self.path}:{node.start_point[0] + 1}")
        for child in node.children:
            self.visit(child)

    def report(self):
        unknown = sorted(set(self.named) - self.declared)
        return self.faults + [f"{self.named[name]}: there is no type {name}" for name in unknown]


client = Client()
for file in sorted(pathlib.Path(sys.argv[1]).rglob("*.cs")):
    client.read(file)
found = client.report()
print("\n".join(found))
sys.exit(1 if found else 0)
