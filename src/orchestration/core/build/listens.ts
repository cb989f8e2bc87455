/** How much of a file is looked at. */
const textMax = 64 * 1024;

/** The port that source code writes down, as in `Listen(":3000")`, where none of it reads PORT. */
export function writtenPort(texts: readonly string[], calls: RegExp): number | undefined {
  const all = texts.map((text) => text.slice(0, textMax).replaceAll(/^[ \t]*\/\/.*$/gm, "")).join("\n");
  if (/\bPORT\b/.test(all) || /\bflag\.(?:String|Int)|\bviper\.|\bconfig\b/i.test(all)) return undefined;
  const port = Number(calls.exec(all)?.[1] ?? 0);
  return port > 0 && port < 65_536 ? port : undefined;
}
