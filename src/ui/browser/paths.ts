/** Values of the `:name` parts of a pattern, or undefined where the path is another one. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [parts(pattern), parts(path)];
  if (wanted.length !== given.length) return undefined;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = decoded(given[index] ?? "");
    if (part.startsWith(":")) found[part.slice(1)] = value;
    else if (part !== value) return undefined;
  }
  return found;
}

/** The address of an app, or of one of its tabs; jobs and cron jobs have a page without tabs. */
export function appPath({ kind, scope, name }: { kind?: string; scope: string; name: string }, tab = ""): string {
  const base = `/apps/${encodeURIComponent(scope)}/${encodeURIComponent(name)}`;
  if (kind === "job" || kind === "cronjob") return base.replace("/apps", `/jobs/${kind}`);
  return tab === "" ? base : `${base}/${tab}`;
}

function parts(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

/** An address that a person typed may hold anything. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
