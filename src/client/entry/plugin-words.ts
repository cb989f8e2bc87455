/** `pg:psql` is `pg psql`, and `pg:backups:capture` is `pg backups:capture`; any other word stays one. */
export function splitPluginWord(word: string): string[] {
  const [, first, rest] = /^([a-z0-9][a-z0-9_-]*):([A-Za-z0-9][\w:.-]*)$/.exec(word) ?? [];
  return first === undefined || rest === undefined ? [word] : [first, rest];
}

/** What follows `--at`: a time without a zone is one of this machine, which a plugin on the server does not know. */
export function withZone(word: string, at: number, words: readonly string[]): string {
  const before = words.slice(0, at).includes("--") ? undefined : words[at - 1];
  const [, flag = "", time] = /^(--at=)?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)$/.exec(word) ?? [];
  if (time === undefined || (flag === "" && before !== "--at")) return word;
  const ms = Date.parse(time.replace(" ", "T"));
  return Number.isNaN(ms) ? word : `${flag}${new Date(ms).toISOString()}`;
}
