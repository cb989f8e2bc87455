/** What an alert is about: `scope`, `name` and `kind` of an app, `host` of a certificate, `mount` of a disk. */
export type Labels = Readonly<Record<string, string>>;

/** The same text for the same labels, in whatever order they come. */
export function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(pairs);
}

/** `SCOPE/NAME` of the app that labels are about. */
export function appOf({ scope, name }: Labels): string | undefined {
  if (name === undefined) return undefined;
  return scope === undefined || scope === "" ? name : `${scope}/${name}`;
}

/** Whether a text fits a pattern in which `*` stands for any characters. Linear in time, whatever the pattern. */
export function fits(pattern: string, text: string): boolean {
  const [head = "", ...rest] = pattern.split("*");
  const tail = rest.pop();
  if (tail === undefined) return pattern === text;
  if (!text.startsWith(head) || !text.endsWith(tail) || text.length < head.length + tail.length) return false;
  let at = head.length;
  const end = text.length - tail.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Whether labels are about one of the apps; every alert fits where there is no list. */
export function isAbout(labels: Labels, apps: readonly string[] | undefined): boolean {
  if (apps === undefined || apps.length === 0) return true;
  const app = appOf(labels);
  return app !== undefined && apps.some((pattern) => fits(pattern, app));
}
