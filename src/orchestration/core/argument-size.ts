/** The kernel's limit of one argument or variable of a process, its end marker aside: execve(2), MAX_ARG_STRLEN. */
const argumentBytesMax = 128 * 1024 - 1;
/** Size of all together: a quarter of the usual stack of 8 MiB. */
const argumentsBytesMax = 2 * 1024 * 1024;

/** What is wrong with one argument, or one variable as `KEY=value`; undefined when nothing is. */
export function argumentFault(text: string): string | undefined {
  // No character takes more than three bytes per code unit: most texts need no count.
  if (text.length * 3 <= argumentBytesMax) return undefined;
  const bytes = Buffer.byteLength(text);
  if (bytes <= argumentBytesMax) return undefined;
  return `is ${bytes} bytes long, and no process can be started with more than ${argumentBytesMax} in one argument or variable; mount a file instead`;
}

/** Whether everything that a process is started with is so short that neither limit is near: most of it is. */
export function isShort(words: readonly string[], env: Readonly<Record<string, string>>): boolean {
  let length = 0;
  for (const word of words) length += word.length + 1;
  for (const key of Object.keys(env)) length += key.length + (env[key]?.length ?? 0) + 2;
  return length * 3 <= argumentBytesMax;
}

/** Like `argumentFault`, for everything that a process is started with. */
export function argumentsFault(texts: readonly string[]): string | undefined {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
  if (bytes <= argumentsBytesMax) return undefined;
  return `arguments and environment are ${bytes} bytes together, and no process can be started with more than ${argumentsBytesMax}`;
}
