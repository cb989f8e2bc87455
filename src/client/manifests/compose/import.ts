import { type Document, isMap, isScalar as isScalarNode, parseDocument, type Scalar, visit } from "yaml";
import { isFields } from "../../../base/pure/fields.ts";
import type { Fault, Source } from "../source.ts";
import { yamlWords } from "../yaml-words.ts";
import { tellHosts } from "./hosts.ts";
import { own } from "./own.ts";
import { specOf } from "./service.ts";
import { composeText, type Lose } from "./text.ts";
import type { Files, LookAt } from "./volumes.ts";

interface ImportSetup {
  /** Of all manifests; default: the name in the file, else `folder`. */
  scope: string | undefined;
  folder: string;
  lookAt: LookAt;
}

interface Imported {
  /** With marks in place of variables (`kept.ts`). */
  manifests: Record<string, unknown>[];
  /** What does not carry over, in the order of the file. */
  losses: { path: string; message: string; start: number }[];
}

/** Aliases that multiply end in a fault. */
const aliasesMax = 1_000;
const assetName = "files";

/** The manifests that a Compose file stands for. What is wrong with its YAML goes to `faults`. */
export function importCompose(source: Source, setup: ImportSetup, faults: Fault[]): Imported {
  const document = parseDocument(source.text, { merge: true, prettyErrors: false, logLevel: "silent" });
  const losses: Imported["losses"] = [];
  for (const { code, message, pos } of document.errors) {
    faults.push({ span: { source, start: pos[0], end: pos[1] }, message: yamlWords(code, message) });
  }
  const lose: Lose = (path, message) => losses.push({ path, message, start: startOf(document, path) });
  for (const { message, pos } of document.warnings)
    losses.push({ path: "", message: yamlWords("", message), start: pos[0] });
  if (faults.length > 0) return { manifests: [], losses };
  const read = plainOf(document, source, faults);
  if (faults.length > 0) return { manifests: [], losses };
  const top = withMarks(read, "", lose);
  if (!isFields(top) || !isFields(top.services)) {
    faults.push({ span: { source, start: 0, end: 1 }, message: "this is not a Compose file: it has no services" });
    return { manifests: [], losses };
  }
  const manifests = manifestsOf(top, setup, lose);
  losses.sort((a, b) => a.start - b.start);
  return { manifests, losses };
}

/** Numbers that would print otherwise stay as they are written: `0.10`, `0755`. */
function plainOf(document: Document, source: Source, faults: Fault[]): unknown {
  visit(document, {
    Scalar(key, node: Scalar) {
      if (
        key !== "key" &&
        typeof node.value === "number" &&
        node.source !== undefined &&
        node.source !== String(node.value)
      ) {
        node.value = node.source;
      }
    },
  });
  try {
    const plain: unknown = document.toJS({ maxAliasCount: aliasesMax });
    if (!holdsItself(plain, new Set())) return plain;
    throw new Error("an alias stands inside of what it stands for");
  } catch (error) {
    faults.push({
      span: { source, start: 0, end: 1 },
      message: error instanceof Error ? error.message : String(error),
    });
    return undefined;
  }
}

function holdsItself(value: unknown, around: Set<unknown>): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (around.has(value)) return true;
  around.add(value);
  const found = Object.values(value).some((item) => holdsItself(item, around));
  around.delete(value);
  return found;
}

function withMarks(value: unknown, path: string, lose: Lose): unknown {
  if (typeof value === "string") return value.includes("$") ? composeText(value, path, lose) : value;
  if (Array.isArray(value)) return value.map((item, index) => withMarks(item, `${path}[${index}]`, lose));
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withMarks(item, path === "" ? key : `${path}.${key}`, lose)]),
  );
}

function manifestsOf(top: Record<string, unknown>, setup: ImportSetup, lose: Lose): Record<string, unknown>[] {
  const { services, volumes, networks, name, version: _, ...more } = top;
  for (const field of Object.keys(more)) {
    if (!field.startsWith("x-")) lose(field, own(topAdvice, field) ?? "has no counterpart");
  }
  const scope = setup.scope ?? nameFrom(typeof name === "string" ? name : setup.folder);
  const files: Files = {
    scope,
    asset: {},
    assetName,
    lookAt: setup.lookAt,
    volumes: isFields(volumes) ? volumes : {},
  };
  const deployments = Object.entries(services as Record<string, unknown>).flatMap(([service, fields]) => {
    const path = `services.${service}`;
    if (!isFields(fields)) {
      lose(path, "is not a service: left out");
      return [];
    }
    const own = nameFrom(service, /[^a-z0-9._-]/g);
    if (own !== service) lose(path, `is called "${own}" here: names have lower-case letters, digits, ".", "_" and "-"`);
    const spec = specOf(fields, path, { files, networks: isFields(networks) ? networks : {}, lose });
    return [{ kind: "deployment", scope, name: own, spec }];
  });
  tellHosts(services as Record<string, unknown>, scope, lose);
  const asset = { kind: "asset", scope, name: assetName, spec: { files: files.asset } };
  return Object.keys(files.asset).length === 0 ? deployments : [asset, ...deployments];
}

const topAdvice: Record<string, string> = {
  include: "is not read: import the output of docker compose config",
  secrets: "has no counterpart: set the values with berth config, or mount an asset",
  configs: "has no counterpart: mount an asset",
};

/** A text as the name of a scope or a resource. */
function nameFrom(text: string, strange = /[^a-z0-9-]/g): string {
  const plain = text
    .toLowerCase()
    .replaceAll(strange, "-")
    .replaceAll(/^[._-]+|[._-]+$/g, "");
  return plain === "" ? "app" : plain.slice(0, 40).replace(/-+$/, "");
}

/** Where the key of a path is written, or the closest one around it. */
function startOf(document: Document, path: string): number {
  let node: unknown = document.contents;
  let start = 0;
  for (const [, key, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalarNode(item.key) && String(item.key.value) === key);
      if (pair === undefined) return start;
      start = (pair.key as Scalar).range?.[0] ?? start;
      node = pair.value;
    } else {
      const item = index === undefined ? undefined : (node as { items?: unknown[] } | null)?.items?.[Number(index)];
      if (item === undefined) return start;
      start = (item as Scalar).range?.[0] ?? start;
      node = item;
    }
  }
  return start;
}
