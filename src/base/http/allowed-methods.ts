/** Which methods a path is there for, by the routes that are mounted; none where nothing is. */
export function createAllowedMethods(
  routes: readonly { method: string; path: string }[],
): (path: string) => readonly string[] {
  const rows = routes.map(({ method, path }) => ({
    pattern: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/:[^/]+/g, "[^/]+")}$`),
    methods: method === "GET" ? ["GET", "HEAD"] : [method],
  }));
  return (path) => [...new Set(rows.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))];
}
