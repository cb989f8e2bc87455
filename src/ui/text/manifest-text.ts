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

/** One field of the first manifest, by its dotted path; empty where it is not a plain value. */
export function fieldOf(text: string, path: string): string {
  const value: unknown = parseDocument(text, { uniqueKeys: false }).getIn(path.split("."));
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** The text with another value of a field; comments and order stay. An empty value takes the field away. */
export function withField(text: string, path: string, value: string): string {
  const document = parseDocument(text);
  if (document.errors.length > 0) return text;
  const keys = path.split(".");
  const parent = keys.slice(0, -1);
  if (value === "") document.deleteIn(keys);
  else {
    if (parent.length > 0 && !isMap(document.getIn(parent))) document.setIn(parent, document.createNode({}));
    document.setIn(keys, /^\d{1,6}$/.test(value) ? Number(value) : value);
  }
  return document.toString({ lineWidth: 0 });
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

export const firstManifest = `kind: app
scope: shop
name: web
spec:
  image: registry.example.com/shop/web:1.0.0
  ports:
    - "8080"
  host: shop.example.com
`;
