import { join, relative } from "node:path";
import type { UiFile } from "../../observability/http/ui-pages.ts";
import { callsOnly } from "./calls.ts";
import { readExamples } from "./read-examples.ts";

const source = join(import.meta.dir, "../../ui");

/**
 * Bundles the web UI for browsers: one page, and files whose names hold the digest of what is in them. `gallery`: with the
 * screens for those who work on it.
 */
export async function bundleUi({ gallery }: { gallery: boolean }): Promise<UiFile[]> {
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
    plugins: [callsOnly, withExamples, ...(gallery ? [] : [withoutGallery])],
  });
  return Promise.all(
    made.outputs.map(async (file) => ({
      name: relative(".", file.path),
      bytes: new Uint8Array(await file.arrayBuffer()),
    })),
  );
}

const withoutGallery: Bun.BunPlugin = {
  name: "gallery",
  setup(build) {
    build.onLoad({ filter: /\/src\/ui\/gallery\.ts$/ }, () => ({
      contents: "export const gallery = [];",
      loader: "js",
    }));
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
