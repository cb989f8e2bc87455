import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dir, "../../../examples");

/** The first paragraph below the heading of a README. */
function aboutOf(readme: string): string {
  return (readme.split(/\n\s*\n/)[1] ?? "").replaceAll("\n", " ").replaceAll("`", "").trim();
}

/** What the web UI offers to begin with: each folder of `examples/` with its manifests. */
export function readExamples(): { name: string; about: string; text: string }[] {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const files = readdirSync(join(folder, name)).filter((file) => file.endsWith(".yaml"));
      const texts = files.sort().map((file) => readFileSync(join(folder, name, file), "utf8"));
      return { name, about: aboutOf(readFileSync(join(folder, name, "README.md"), "utf8")), text: texts.join("---\n") };
    });
}
