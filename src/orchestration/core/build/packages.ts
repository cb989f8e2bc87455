import { readHints } from "./hints/hints.ts";
import { aptLine, type SourceTree } from "./runtime.ts";

/** A Dockerfile with the packages that other platforms install, and what is said of them. */
export function withPackages(tree: SourceTree, dockerfile: string): { dockerfile: string; notes: string[] } {
  const hints = readHints(tree).packages;
  const packages = [...new Set(hints.flatMap(({ value }) => value))];
  if (packages.length === 0) return { dockerfile, notes: [] };
  const notes = hints.map(
    ({ from, value }) =>
      `the packages of ${from} (${value.join(", ")}) are installed from Debian; where Debian names one otherwise, correct ${from}`,
  );
  // An image without a shell takes no packages.
  const distroless = /^(ARG RUN_BASE=)gcr\.io\/distroless\/\S+$/m;
  const line = aptLine(...(distroless.test(dockerfile) ? ["ca-certificates"] : []), ...packages);
  const text = dockerfile.replace(distroless, "$1debian:stable-slim");
  const isAlpine = (base: string) => new RegExp(`^ARG ${base}=\\S*alpine`, "m").test(text);
  return {
    dockerfile: text.replace(/^FROM \$\{(\w+)\}.*$/gm, (from, base: string) =>
      isAlpine(base) ? from : `${from}\n${line}`,
    ),
    notes,
  };
}
