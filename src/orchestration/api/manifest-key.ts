interface Keyed<Kind extends string = string> {
  kind: Kind;
  scope?: string;
  name: string;
}

/** A resource's key as one text, for maps: kind, scope and name never hold a slash. `formatKey` prints it for people. */
export type KeyText = string;

export function keyText({ kind, scope = "", name }: Keyed): KeyText {
  return `${kind}/${scope}/${name}`;
}

export function parseKeyText(text: KeyText): Required<Keyed> {
  const [first, second] = [text.indexOf("/"), text.lastIndexOf("/")];
  return { kind: text.slice(0, first), scope: text.slice(first + 1, second), name: text.slice(second + 1) };
}

/** Only the key of something that holds more. */
export function keyOf<Kind extends string>({ kind, scope = "", name }: Keyed<Kind>): Required<Keyed<Kind>> {
  return { kind, scope, name };
}

/** Blocks of databases: kinds of the bundled plugins, whose command `backup` makes a backup. */
export const databaseKinds: readonly string[] = ["postgres", "pg", "redis"];

/**
 * The engine's name of the volume with the backups of a block. `a/b-c` and `a-b/c` read the same: whose the volume is, its
 * labels say.
 */
export function backupsVolume({ envPrefix }: { envPrefix: string }, { scope, name }: Omit<Keyed, "kind">): string {
  return `${envPrefix.toLowerCase()}-${scope}-${name}-backups`;
}
