/** What stands between `${` and `}` in a spec string. Anything but assets and refs is left to the container. */
export type Placeholder =
  | { type: "asset"; text: string; asset: AssetReference }
  | { type: "ref"; text: string; kind: string; name: string; field: string }
  | { type: "malformed"; text: string; form: string };

/** `${asset.NAME.KEY}` looks in the own scope, then among unscoped assets; with a scope only there. */
export interface AssetReference {
  /** As written, without the `asset.`: the key under which its digest is stored. */
  ref: string;
  scope: string | undefined;
  name: string;
  key: string;
}

const pattern = /\$\{((?:asset|ref)\.[^{}]*)\}/g;
const assetForm = "write asset.NAME.KEY or asset.SCOPE.NAME.KEY between the braces";
const refForm = "write ref.KIND.NAME.FIELD between the braces";

/** Placeholders of the platform in the text, in order. `${HOME}` and the like are none. */
export function placeholdersIn(text: string): Placeholder[] {
  if (!text.includes("${")) return [];
  return Array.from(text.matchAll(pattern), (match) => readPlaceholder(match[0], match[1] ?? ""));
}

/** The text with each placeholder replaced; undefined from `replace` leaves it as it stands. */
export function substitute(text: string, replace: (placeholder: Placeholder) => string | undefined): string {
  if (!text.includes("${")) return text;
  return text.replace(pattern, (whole: string, expression: string) => {
    return replace(readPlaceholder(whole, expression)) ?? whole;
  });
}

/** `NAME.KEY` or `SCOPE.NAME.KEY`, as `depends_on.assets` writes it; undefined for anything else. */
export function parseAssetReference(ref: string): AssetReference | undefined {
  const parts = ref.split(".");
  if (parts.some((part) => !/^[A-Za-z0-9_-]+$/.test(part))) return undefined;
  const [first = "", second = "", third] = parts;
  if (parts.length === 2) return { ref, scope: undefined, name: first, key: second };
  if (parts.length === 3 && third !== undefined) return { ref, scope: first, name: second, key: third };
  return undefined;
}

function readPlaceholder(text: string, expression: string): Placeholder {
  const [type, ...parts] = expression.split(".");
  if (type === "asset") {
    const asset = parseAssetReference(parts.join("."));
    return asset === undefined ? { type: "malformed", text, form: assetForm } : { type: "asset", text, asset };
  }
  // Names may hold dots; kinds and fields do not.
  const [kind = "", ...rest] = parts;
  const field = rest.pop() ?? "";
  const complete = kind !== "" && field !== "" && rest.length > 0 && rest.every((part) => part !== "");
  if (!complete) return { type: "malformed", text, form: refForm };
  return { type: "ref", text, kind, name: rest.join("."), field };
}
