import { posix } from "node:path";
import { isFields } from "../../../base/pure/fields.ts";
import type { Fault, Source } from "../source.ts";
import { cleared, mergeFiles, mergeService } from "./merge.ts";
import { type Parsed, parseCompose } from "./parse.ts";
import { movedPaths, withContexts } from "./places.ts";

type Fields = Record<string, unknown>;

/** Where Compose files come from. Their names are paths from where the manifests are read. */
interface Reading {
  /** Throws a `CommandFailure`. */
  read: (name: string) => Source;
  nodesMax: number;
  faults: Fault[];
}

interface Loaded {
  top: Fields;
  /** For places in messages. */
  files: Parsed[];
  /** Services whose settings others of their file take over. */
  shared: ReadonlySet<string>;
}

/** More levels of `extends` and `include` are a circle. */
const levelsMax = 20;

/** Several Compose files as one, with what they include and extend. Paths of them all start at `folder`. */
export function loadCompose(sources: readonly Source[], folder: string, reading: Reading): Loaded | undefined {
  const loading: Loading = { ...reading, files: [] };
  const tops = sources.map((source) => loadOne(source, folder, loading, 0));
  if (reading.faults.length > 0) return undefined;
  const top = tops.reduce<Fields>((base, over) => mergeFiles(base, over ?? {}), {});
  const shared = new Set(loading.files.flatMap((file) => [...file.shared]));
  return { top: withContexts(cleared(top) as Fields, folder), files: loading.files, shared };
}

interface Loading extends Reading {
  files: Parsed[];
}

function loadOne(source: Source, folder: string, loading: Loading, level: number): Fields | undefined {
  const parsed = parseCompose(source, loading.nodesMax, loading.faults);
  if (parsed === undefined) return undefined;
  loading.files.push(parsed);
  const { include, ...own } = movedPaths(parsed.value, folder);
  const at: Extending = {
    loading,
    source,
    folder: source.name === "stdin" ? folder : posix.dirname(source.name),
    level,
  };
  const services = extended(isFields(own.services) ? own.services : {}, at);
  return mergeFiles(included(include, folder, at), { ...own, services });
}

interface Extending {
  loading: Loading;
  source: Source;
  /** Where the file is. */
  folder: string;
  level: number;
}

function included(include: unknown, folder: string, at: Extending): Fields {
  const list = Array.isArray(include) ? include : include === undefined || include === null ? [] : [include];
  return list.reduce<Fields>((base, item) => mergeFiles(base, includedOne(item, folder, at)), {});
}

function includedOne(item: unknown, folder: string, { loading, source, level }: Extending): Fields {
  const fields = isFields(item) ? item : { path: item };
  const paths = (Array.isArray(fields.path) ? fields.path : [fields.path]).filter((path) => typeof path === "string");
  if (paths.length === 0 || level >= levelsMax) {
    fail(loading, source, paths.length === 0 ? "an entry of include has no path" : "files include each other");
    return {};
  }
  const names = paths.map((path) => posix.join(folder, path));
  const own = typeof fields.project_directory === "string" ? fields.project_directory : undefined;
  const start = own === undefined ? posix.dirname(names[0] ?? "") : posix.join(folder, own);
  const top = names.reduce<Fields>((base, path) => {
    return mergeFiles(base, loadOne(loading.read(path), start, loading, level + 1) ?? {});
  }, {});
  return withContexts(top, start);
}

function extended(services: Fields, at: Extending): Fields {
  const whole = (name: string, chain: readonly string[]): unknown => {
    const fields = services[name];
    if (!isFields(fields) || fields.extends === undefined) return fields;
    const { extends: from, ...own } = fields;
    const { service, file } = isFields(from) ? from : { service: from, file: undefined };
    if (typeof service !== "string" || chain.includes(name)) {
      fail(at.loading, at.source, `services.${name}: extends itself, or no service`);
      return own;
    }
    const base = typeof file === "string" ? otherFile(file, service, at) : whole(service, [...chain, name]);
    if (isFields(base)) return mergeService(base, own);
    fail(at.loading, at.source, `services.${name}: extends "${service}", which does not exist`);
    return own;
  };
  return Object.fromEntries(Object.keys(services).map((name) => [name, whole(name, [])]));
}

function otherFile(file: string, service: string, { loading, source, folder, level }: Extending): unknown {
  if (level >= levelsMax) {
    fail(loading, source, "files extend each other");
    return undefined;
  }
  const name = posix.join(folder, file);
  const top = loadOne(loading.read(name), posix.dirname(name), loading, level + 1);
  const { services } = withContexts(top ?? {}, posix.dirname(name));
  return isFields(services) ? services[service] : undefined;
}

function fail(loading: Loading, source: Source, message: string): void {
  loading.faults.push({ span: { source, start: 0, end: 1 }, message });
}
