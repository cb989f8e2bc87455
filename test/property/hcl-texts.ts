// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import fc from "fast-check";

/** A value as people write it in a plugin's block, which takes any. */
export function hclValue(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(hclValue).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return `{ ${Object.entries(value)
    .map(([key, inner]) => `${quoted(key)} = ${hclValue(inner)}`)
    .join(", ")} }`;
}

function quoted(text: string): string {
  return `"${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll("\\b", "\\u0008")
    .replaceAll("\\f", "\\u000c")
    .replaceAll(/[$%]\{/g, (mark) => mark[0] + mark)}"`;
}

const anyText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("$", "${X}", "$${", "%{if}", "<<E", '"', "\n"),
);
export const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    anyText,
    fc.integer(),
    fc.boolean(),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(anyText, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

export const hclPieces = fc.constantFrom(
  ..."{}[]()=:,.\"'\\\n$#/*-+<>!?%&|;",
  "${",
  "$${",
  "%{",
  "<<E\n",
  "<<-E\n",
  "\nE\n",
  "/*",
  "*/",
  "//",
  "\r\n",
  " ",
  "a",
  "for",
  "null",
  "1",
  "0.5",
  "1e9",
  "x = ",
  'a "b" {',
  "file(",
  "é",
  "\u{1f600}",
  "\0",
);

const corpus = [
  'app "shop" "web" {\n  image = "nginx:1"\n  replicas = 1 + 2 * 2\n  ports = ["80", 81]\n  env = {\n    A = "x"\n    "B-c" : true\n  }\n}\n',
  'deployment "a" "b" {\n  command = ["sh", "-c", <<-SH\n    set -eu\n      echo "$${X}"\n  SH\n  ]\n  init "one" {\n    command = ["x"]\n    limits { cpu = "1" }\n  }\n}\n',
  '# c\n// d\n/* e\n f */\nasset "x" {\n  f = file("a/b")\n  u = url("https://x", {\n    timeout = "8s"\n  })\n  m = <<EOT\none\n  two "x"\nEOT\n}\n',
  'job a b {\n  restart = true ? "always" : "no"\n  x = "a${"b"}c\\t\\u00e9"\n  y = -1.5e3\n  z = !(1 < 2) || 3 >= 2 && 4 != 5\n}\n\nmail {}\n',
];
/** Manifests with a few characters changed: many are still right. */
export const changedHcl = fc
  .tuple(
    fc.constantFrom(...corpus),
    fc.array(fc.tuple(fc.nat(), fc.oneof(fc.constant(""), hclPieces)), { maxLength: 3 }),
  )
  .map(([text, edits]) =>
    edits.reduce((current, [at, piece]) => {
      const place = at % (current.length + 1);
      return current.slice(0, place) + piece + current.slice(place + (piece === "" ? 1 : 0));
    }, text),
  );
