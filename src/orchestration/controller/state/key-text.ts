import type { ManifestKey } from "../../api/manifest.ts";

/** Map key of an identity: kind, scope and name never hold a slash. */
export type KeyText = string;

export function keyText(key: ManifestKey): KeyText {
  return `${key.kind}/${key.scope}/${key.name}`;
}

export function parseKeyText(text: KeyText): ManifestKey {
  const [kind = "", scope = "", name = ""] = text.split("/");
  return { kind, scope, name };
}
