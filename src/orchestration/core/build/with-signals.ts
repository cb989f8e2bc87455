/** Words of the shell itself, which `exec` cannot run. */
const shellWords = new Set([
  ...["if", "then", "for", "while", "until", "case", "function", "select", "time", "do", "!", "{", "}", "[["],
  ...[
    ".",
    ":",
    "alias",
    "cd",
    "command",
    "eval",
    "exit",
    "export",
    "local",
    "read",
    "return",
    "set",
    "shift",
    "source",
  ],
  ...["trap", "type", "ulimit", "umask", "unset", "wait", "bg", "fg", "jobs", "builtin", "readonly"],
]);

const assignment = /^[A-Za-z_][A-Za-z0-9_]*=/;

/**
 * A command line for `sh -c` whose programs get the signal that stops the container. A shell passes none on: as process 1 it
 * even outlives SIGTERM, and its program is killed when the grace is over. Where one program comes last, it takes the place
 * of the shell (`exec`). Any other line runs below a shell that hands the signal to all of its programs.
 */
export function withSignals(line: string): string {
  const at = lastCommandAt(line);
  if (at === undefined) return handedOn(line);
  const program = programAt(line, at);
  const word = /^[^\s;&|<>()]*/.exec(line.slice(program))?.[0] ?? "";
  if (word === "exec") return line;
  if (word === "" || shellWords.has(word)) return handedOn(line);
  return `${line.slice(0, program)}exec ${line.slice(program)}`;
}

/** The shell waits for the program again after the signal, so that the container ends with it and with its exit code. */
function handedOn(line: string): string {
  return `trap 'trap "" TERM; kill -TERM 0; wait $pid; exit $?' TERM; ( ${line}\n) & pid=$!; wait $pid`;
}

/** Where the last command of a line begins that has only commands one after the other; undefined for every other line. */
function lastCommandAt(line: string): number | undefined {
  let start = 0;
  for (let at = 0; at < line.length; at++) {
    const char = line[at];
    if (char === "\\") at++;
    else if (char === "'" || char === '"') {
      const end = quoteEnd(line, at);
      if (end === undefined) return undefined;
      at = end;
    } else if (char === "#" && (at === 0 || /\s/.test(line[at - 1] ?? ""))) {
      break;
    } else if (char === "&" && /[<>]/.test(line[at - 1] ?? "")) {
      // Part of a redirection: 2>&1.
    } else if (char === ";" && line[at + 1] !== ";") {
      // Nothing may follow the last one.
      if (line.slice(at + 1).trim() !== "") start = at + 1;
    } else if (char === "&" && line[at + 1] === "&") {
      start = at + 2;
      at++;
    } else if (/[|&;()`\n]/.test(char ?? "") || line.startsWith("<<", at)) return undefined;
  }
  return isSequence(line.slice(0, start)) ? start : undefined;
}

/** Undefined for a quote that does not end, or holds a command of its own. */
function quoteEnd(line: string, start: number): number | undefined {
  const quote = line[start];
  for (let at = start + 1; at < line.length; at++) {
    if (line[at] === quote) return at;
    if (quote === "'") continue;
    if (line[at] === "\\") at++;
    else if (line[at] === "`" || line.startsWith("$(", at)) return undefined;
  }
  return undefined;
}

/** A last command inside of a loop or a condition is not the last that runs. */
function isSequence(before: string): boolean {
  return !/(?:^|[;&\s])(?:if|for|while|until|case|function|select|\{)\s/.test(before);
}

/** Behind the variables that are set for this command alone. */
function programAt(line: string, from: number): number {
  let at = from;
  for (;;) {
    at += /^\s*/.exec(line.slice(at))?.[0].length ?? 0;
    if (!assignment.test(line.slice(at))) return at;
    while (at < line.length && !/\s/.test(line[at] ?? "")) {
      if (line[at] === "\\") at++;
      else if (line[at] === "'" || line[at] === '"') at = quoteEnd(line, at) ?? line.length;
      at++;
    }
  }
}
