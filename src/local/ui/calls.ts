import { dirname, join, relative } from "node:path";

/**
 * The API layers: what a caller needs of an endpoint value is how to call it, not its schema. The frames of terminals and
 * the keys of resources are code that it runs, as is where endpoints are on the observability plane, and how copies are.
 */
const contract =
  /\/src\/(?:backups|identity|ingress|observability|orchestration)\/api\/(?!(?:exec-frames|manifest-key|missing-lines|plane-endpoint|protection)\.ts$).+\.ts$/;

/**
 * Puts the method and path of each endpoint in the place of the module that defines it. The schemas, and the library that
 * makes them, would be most of what a browser loads.
 */
export const callsOnly: Bun.BunPlugin = {
  name: "calls only",
  setup(build) {
    build.onLoad({ filter: contract }, async ({ path }) => ({ contents: await callsText(path), loader: "js" }));
  },
};

/**
 * The same for the client of a program that is the server as well. A module of which the client needs more, such as a
 * schema, stays as it is. To make the schemas takes a third of the time of a short command.
 */
export async function clientCalls(): Promise<Bun.BunPlugin> {
  const namespaces = await clientNamespaces();
  return {
    name: "client calls",
    setup(build) {
      build.onResolve({ filter: /\/api\/.+\.ts$/ }, ({ path, importer }) => {
        const file = join(dirname(importer), path);
        const namespace = isOfClient(importer) ? namespaces.get(file) : undefined;
        // Relative, so that the folder of the checkout is nowhere in the program.
        return namespace === undefined ? undefined : { path: relative(source, file), namespace };
      });
      build.onLoad({ filter: /./, namespace: "calls" }, async ({ path }) => ({
        contents: await callsText(join(source, path)),
        loader: "js",
      }));
      build.onLoad({ filter: /./, namespace: "code" }, async ({ path }) => ({
        contents: (await Bun.file(join(source, path)).text()).replace(schemaImport, noSchemas),
        loader: "ts",
      }));
    },
  };
}

/** How the bundle gets each module of an `api/` folder: its calls, or its code without schemas. A module that is not in the map is bundled unchanged. */
async function clientNamespaces(): Promise<ReadonlyMap<string, "calls" | "code">> {
  const asked = new Map<string, Set<string>>();
  for await (const path of new Bun.Glob("**/*.ts").scan(source)) {
    const importer = join(source, path);
    if (!isOfClient(importer)) continue;
    for (const [from, names] of namesIn(await Bun.file(importer).text())) {
      const file = join(dirname(importer), from);
      if (contract.test(file)) asked.set(file, (asked.get(file) ?? new Set()).union(new Set(names)));
    }
  }
  const decided = new Map<string, "calls" | "code">();
  for (const [file, names] of asked) {
    const found: Record<string, unknown> = await import(file);
    const more = [...names].filter((name) => keptOf(found[name]) === undefined);
    if (more.length === 0) decided.set(file, "calls");
    else if (more.every((name) => typeof found[name] === "function") && isAlone(await Bun.file(file).text()))
      decided.set(file, "code");
  }
  return decided;
}

const source = join(import.meta.dir, "../..");

/** `kind.ts` is what the client shares with the server and loads with every command. */
const isOfClient = (file: string) => /\/src\/(?:client\/.+|orchestration\/core\/kind)\.ts$/.test(file);

const schemaImport = /^import \{ (?:type Static, )?Type \} from "@sinclair\/typebox";$/m;
/** In place of the library of schemas: all that is read of it, and each call, is this same value, which nothing uses. */
const noSchemas = "const Type = new Proxy(() => Type, { get: () => Type });";

/** Whether a module needs nothing but the library of schemas. */
function isAlone(text: string): boolean {
  return !/^import (?!type )/m.test(text.replace(schemaImport, ""));
}

/** What a file imports from each path, without types. */
function namesIn(text: string): [from: string, names: string[]][] {
  return [...text.matchAll(/^import \{([^}]*)\} from "([^"]*)";$/gm)].map(([, list = "", from = ""]) => [
    from,
    list
      .split(",")
      .map((name) => name.trim().replace(/ as .*/, ""))
      .filter((name) => name !== "" && !name.startsWith("type ")),
  ]);
}

/** A module with what callers need of a module of an `api/` folder. */
async function callsText(path: string): Promise<string> {
  const found: Record<string, unknown> = await import(path);
  const lines = Object.entries(found).flatMap(([name, value]) => {
    const kept = keptOf(value);
    return kept === undefined ? [] : `export const ${name} = ${JSON.stringify(kept)};`;
  });
  return lines.join("\n");
}

/** What a caller gets of an exported value: how to call an endpoint, and words and numbers as they are. */
function keptOf(value: unknown): unknown {
  if (typeof value === "string" || typeof value === "number") return value;
  if (Array.isArray(value)) return value.every((one) => typeof one === "string") ? value : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  const { method, path, once, flat, bodyType, scope } = value as Record<string, unknown>;
  return typeof method === "string" && typeof path === "string"
    ? { method, path, once, flat, bodyType, scope }
    : undefined;
}
