import { isMap, parseAllDocuments, parseDocument, stringify } from "yaml";

/** The manifests of a text, or why it cannot be read. YAML, and so JSON as well. */
export function readManifests(text: string): { manifests: unknown[] } | { fault: string } {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return { manifests: [] };
  for (const { errors } of documents) {
    const [error] = errors;
    if (error !== undefined) return { fault: error.message };
  }
  const values = documents
    .map((document) => document.toJS({ maxAliasCount: 100 }) as unknown)
    .filter((value) => value !== null);
  return { manifests: values.flat() };
}

/** Kinds whose fields the form shows; of several manifests, those of the first of these. */
const formKinds: readonly unknown[] = ["app", "deployment", "statefulset"];

/** Between two manifests. */
const between = /^---[ \t]*\n/m;

/** The manifests of a text, and which of them the form is about. */
function partsOf(text: string): { parts: string[]; main: number } {
  const parts = text.split(between);
  const kinds = parts.map((part) => /^kind:[ \t]*["']?(\w+)/m.exec(part)?.[1]?.toLowerCase());
  return {
    parts,
    main: Math.max(
      0,
      kinds.findIndex((kind) => formKinds.includes(kind)),
    ),
  };
}

/** One field of the manifest that the form is about, by its dotted path; empty where it is not a plain value. */
export function fieldOf(text: string, path: string): string {
  const { parts, main } = partsOf(text);
  const document = parseDocument(parts[main] ?? "", { uniqueKeys: false });
  const value: unknown = isMap(document.contents) ? document.getIn(path.split(".")) : undefined;
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** The text with another value of a field; comments, order and other manifests stay. An empty value takes the field away. */
export function withField(text: string, path: string, value: string): string {
  const { parts, main } = partsOf(text);
  const document = parseDocument(parts[main] ?? "");
  if (document.errors.length > 0) return text;
  const keys = path.split(".");
  const parent = keys.slice(0, -1);
  if (value === "") document.deleteIn(keys);
  else {
    if (parent.length > 0 && !isMap(document.getIn(parent))) document.setIn(parent, document.createNode({}));
    document.setIn(keys, /^\d{1,6}$/.test(value) ? Number(value) : value);
  }
  return parts.with(main, document.toString({ lineWidth: 0 })).join("---\n");
}

/**
 * An example as the command line would send it: `${NAME:-default}` is its default, and `$$` a dollar sign. A name without
 * a default stays for the viewer to replace.
 */
export function withoutVariables(text: string): string {
  return text.replaceAll(/\$\{[A-Z][A-Z0-9_]*:-([^}]*)\}/g, "$1").replaceAll("$$", () => "$");
}

/** A stored manifest for a person to change: without what the server keeps about it. */
export function manifestText({
  kind,
  scope,
  name,
  spec,
}: {
  kind: string;
  scope: string;
  name: string;
  spec: unknown;
}): string {
  return stringify({ kind, scope, name, spec }, { lineWidth: 0 });
}

/** A copy of a manifest for another app: without its name and the hosts that it has alone. */
export function withoutNames(text: string): string {
  return withField(withField(text, "name", ""), "spec.host", "");
}

/** What a new app begins as: no name that anybody could deploy by mistake. */
export const firstManifest = `kind: app
scope:
name:
spec:
  image:
`;

/** The port that visitors are passed to, as the form shows it; the first where a manifest has several. */
export function portOf(text: string): string {
  return fieldOf(text, "spec.ports.0");
}

/** The text with this port in the first place. */
export function withPort(text: string, port: string): string {
  if (portOf(text) !== "" || port === "") return withField(text, "spec.ports.0", port);
  const { parts, main } = partsOf(text);
  const document = parseDocument(parts[main] ?? "");
  if (document.errors.length > 0) return text;
  if (!isMap(document.get("spec"))) document.set("spec", document.createNode({}));
  document.setIn(["spec", "ports"], document.createNode([port]));
  return parts.with(main, document.toString({ lineWidth: 0 })).join("---\n");
}

/** What an app still needs before it can be planned, as a question; undefined where nothing is missing. */
export function missingOf(text: string): string | undefined {
  if (/^kind:[ \t]*["']?(?:app|deployment|statefulset)\b/m.exec(text) === null) return undefined;
  const has = (path: string) => fieldOf(text, path) !== "";
  if (!has("scope")) return "Give the app a scope";
  if (!has("name")) return "Give the app a name";
  if (/^[ \t]+image:[ \t]*$/m.test(text)) return "Give the image that runs";
  const host = fieldOf(text, "spec.host");
  if (host === "" || /^[ \t]+(?:ports|port|tcp):/m.test(text)) return undefined;
  return `Give the port that the app listens on: visitors of ${host} are passed to it`;
}

/** The app, and what it has no name for is named after its repository, folder or archive. */
export function namedAfter({ scope, name }: { scope: string; name: string }, place: string) {
  const found = nameFrom(place);
  return { scope: scope || found, name: name || found };
}

function nameFrom(place: string): string {
  const last =
    place
      .replace(/[?#].*$/, "")
      .split(/[/\\:]/)
      .findLast((part) => part !== "") ?? "";
  return last
    .replace(/\.(?:git|tar|tgz|zip|tar\.gz)$/i, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, "");
}
