/** Map key of a resource: kind, scope and name never hold a slash. */
export type KeyText = string;

export function keyText({ kind, scope = "", name }: { kind: string; scope?: string; name: string }): KeyText {
  return `${kind}/${scope}/${name}`;
}

export function parseKeyText(text: KeyText): { kind: string; scope: string; name: string } {
  const [kind = "", scope = "", name = ""] = text.split("/");
  return { kind, scope, name };
}
