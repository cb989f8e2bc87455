/** One line of a Procfile: the command is for a shell. */
export interface Process {
  type: string;
  command: string;
}

/** The processes of a Procfile, in its order; a line that is not `type: command` is skipped, as is a second of one type. */
export function readProcfile(text: string): Process[] {
  const found = new Map<string, Process>();
  for (const line of text.split(/\r?\n/)) {
    const [, type, command] = /^([A-Za-z](?:[\w-]{0,28}[A-Za-z0-9])?)\s*:\s*(\S.*)$/.exec(line.trimEnd()) ?? [];
    if (type === undefined || command === undefined || found.has(type.toLowerCase())) continue;
    found.set(type.toLowerCase(), { type: type.toLowerCase(), command });
  }
  return [...found.values()];
}
