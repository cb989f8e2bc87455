import type { SourceTree } from "../runtime.ts";

const looksMax = 300;
const usual = /(?:^|\/)(?:\w*Application|App|Main|Server|\w*Main|\w*Server|\w*App)\.(?:java|kt)$/;

/** The class with the program of a module, as its build file names it or as its source shows. */
export function mainClass(tree: SourceTree, buildText: string, folder = ""): string | undefined {
  const named =
    /<(?:mainClass|exec\.mainClass|start-class)>\s*([\w.$]+)\s*</.exec(buildText)?.[1] ??
    /\bmainClass(?:Name)?(?:\.set\(|\s*=)\s*["']([\w.$]+)["']/.exec(buildText)?.[1];
  if (named !== undefined) return named;
  for (const language of ["java", "kotlin"]) {
    const root = `${folder}src/main/${language}`;
    const files = sourceFiles(tree, root);
    const found = [...files.filter((file) => usual.test(file)), ...files].find((file) =>
      hasMain(tree.read(file) ?? ""),
    );
    if (found === undefined) continue;
    const name = found.slice(root.length + 1).replaceAll("/", ".");
    return name.endsWith(".kt") ? name.replace(/\.kt$/, "Kt") : name.replace(/\.java$/, "");
  }
  return undefined;
}

function hasMain(text: string): boolean {
  return /\bpublic\s+static\s+void\s+main\s*\(|^fun main\(/m.test(text);
}

function sourceFiles(tree: SourceTree, root: string): string[] {
  const found: string[] = [];
  const queue = [root];
  for (let looks = 0; queue.length > 0 && looks < looksMax; looks++) {
    const folder = queue.shift() ?? "";
    for (const name of tree.list(folder)) {
      if (name.endsWith("/")) queue.push(`${folder}/${name.slice(0, -1)}`);
      else if (/\.(?:java|kt)$/.test(name)) found.push(`${folder}/${name}`);
    }
  }
  return found;
}
