const hidden = "********";
/** Shorter parts stand in texts that have nothing to do with a secret. */
const charactersMin = 4;

/** Replaces the secrets of a build, and each line of those with many, in what the build prints. */
export function createSecretHider(secrets: Readonly<Record<string, string>>): (text: string) => string {
  const parts = Object.values(secrets).flatMap((value) => [
    value.trim(),
    ...value.split(/\r?\n/).map((line) => line.trim()),
  ]);
  const sought = [...new Set(parts)].filter((part) => part.length >= charactersMin);
  // The longest first: one can be a part of another.
  sought.sort((a, b) => b.length - a.length);
  return (text) => sought.reduce((shown, part) => shown.replaceAll(part, hidden), text);
}
