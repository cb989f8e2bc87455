import { join, relative } from "node:path";
import type { UiFile } from "../../observability/http/ui-pages.ts";
import { readExamples } from "./read-examples.ts";

const source = join(import.meta.dir, "../../ui");

/**
 * The API layers: what a browser needs of an endpoint value is how to call it, not its schema. The frames of terminals are
 * code that it runs.
 */
const contract = /\/src\/(?:observability|orchestration|identity|ingress)\/api\/(?!exec-frames\.ts$).+\.ts$/;

/** Bundles the web UI for browsers: one page, and files whose names hold the digest of what is in them. */
export async function bundleUi(): Promise<UiFile[]> {
  const made = await Bun.build({
    entrypoints: [join(source, "index.html")],
    root: source,
    target: "browser",
    format: "esm",
    minify: true,
    splitting: true,
    publicPath: "/assets/",
    naming: { entry: "[name].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [callsOnly, withExamples],
  });
  return Promise.all(
    made.outputs.map(async (file) => ({
      name: relative(".", file.path),
      bytes: new Uint8Array(await file.arrayBuffer()),
    })),
  );
}

/**
 * Puts the method and path of each endpoint in the place of the module that defines it. The schemas, and the library that
 * makes them, would be most of what a browser loads.
 */
const callsOnly: Bun.BunPlugin = {
  name: "calls only",
  setup(build) {
    build.onLoad({ filter: contract }, async ({ path }) => {
      const found: Record<string, unknown> = await import(path);
      const lines = Object.entries(found).flatMap(([name, value]) => {
        const kept = keptOf(value);
        return kept === undefined ? [] : `export const ${name} = ${JSON.stringify(kept)};`;
      });
      return { contents: lines.join("\n"), loader: "js" };
    });
  },
};

/** Puts the examples of the checkout in the place of the module that names them. */
const withExamples: Bun.BunPlugin = {
  name: "examples",
  setup(build) {
    build.onLoad({ filter: /\/src\/ui\/examples\.ts$/ }, () => ({
      contents: `export const examples = ${JSON.stringify(readExamples())};`,
      loader: "js",
    }));
  },
};

/** What a browser gets of an exported value: how to call an endpoint, and words and numbers as they are. */
function keptOf(value: unknown): unknown {
  if (typeof value === "string" || typeof value === "number") return value;
  if (Array.isArray(value)) return value.every((one) => typeof one === "string") ? value : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  const { method, path, once, flat, bodyType } = value as Record<string, unknown>;
  return typeof method === "string" && typeof path === "string" ? { method, path, once, flat, bodyType } : undefined;
}
