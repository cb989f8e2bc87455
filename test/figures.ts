/**
 * The size of the house beside its limits (test/golden/house-figures.json): `bun test/figures.ts`, which fails when a
 * figure has grown beyond its limit. `--write` lowers the limits to what stands; a limit is raised by hand, with the reason
 * in the commit. What each figure counts is written in test/support/house-figures.ts.
 */
import { Glob } from "bun";
import { join } from "node:path";
import { definitions, houseFigures, placesOf, type Figure } from "./support/house-figures.ts";
import { source } from "./support/source.ts";

const checkout = join(import.meta.dir, "..");
const limitsFile = join(import.meta.dir, "golden/house-figures.json");

async function read(pattern: string): Promise<{ path: string; text: string }[]> {
  const paths = [...new Glob(pattern).scanSync(checkout)].sort();
  return Promise.all(paths.map(async (path) => ({ path, text: await Bun.file(join(checkout, path)).text() })));
}

/** Files of src and plugins that differ from where this branch left main. */
function changed(): string[] {
  const git = (...words: string[]) =>
    Bun.spawnSync(["git", "-c", "safe.directory=*", ...words], { cwd: checkout, stderr: "ignore" }).stdout.toString();
  const base = git("merge-base", "HEAD", "main").trim() || "HEAD";
  const ours = ["--", "src", "plugins"];
  const paths = git("diff", "--name-only", base, ...ours) + git("ls-files", "--others", "--exclude-standard", ...ours);
  return paths.split("\n").filter((path) => path !== "");
}

const sources = (await read("{src,plugins}/**/*.{ts,tsx}")).map(({ path, text }) => source(path, text));
const figures = houseFigures({
  sources,
  tests: await read("test/**/*.{ts,tsx}"),
  others: await read("{src,plugins}/**/*.{sh,css}"),
});
const names = Object.keys(definitions) as Figure[];
const limits = (await Bun.file(limitsFile).json()) as Record<Figure, number>;
const grown = names.filter((name) => figures[name] > (limits[name] ?? 0));
for (const name of names) {
  const mark = grown.includes(name) ? " GROWN" : "";
  console.log(
    `${String(figures[name]).padStart(7)} of at most ${String(limits[name]).padEnd(7)} ${definitions[name]}${mark}`,
  );
}
if (process.argv.includes("--write")) {
  const lowered = Object.fromEntries(names.map((name) => [name, Math.min(figures[name], limits[name] ?? Infinity)]));
  await Bun.write(limitsFile, `${JSON.stringify(lowered, null, 2)}\n`);
} else if (grown.length > 0) {
  const places = changed().flatMap((path) => placesOf(path, sources.find((one) => one.path === path)?.text ?? ""));
  for (const { figure, place } of places) if (grown.includes(figure)) console.error(`  ${figure}: ${place}`);
  console.error("Make it smaller, or raise the limit in test/golden/house-figures.json and say why in the commit.");
  process.exit(1);
}
