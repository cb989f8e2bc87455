/** `pg:psql` is `pg psql`, and `pg:backups:capture` is `pg backups:capture`; any other word stays one. */
export function splitPluginWord(word: string): string[] {
  const [, first, rest] = /^([a-z0-9][a-z0-9_-]*):([A-Za-z0-9][\w:.-]*)$/.exec(word) ?? [];
  return first === undefined || rest === undefined ? [word] : [first, rest];
}
