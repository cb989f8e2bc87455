import { isFields } from "../../../base/pure/fields.ts";
import { keptReference } from "../kept.ts";
import { assetFile, type Files, inAsset } from "./machine-paths.ts";
import type { Lose } from "./lose.ts";
import { isScalar } from "./text.ts";

interface Granting {
  /** `secrets` or `configs` at the top of the file. */
  declared: Record<string, unknown>;
  files: Files;
  lose: Lose;
}

/** `secrets` or `configs` of a service as mounts of files of the asset. */
export function grantedMounts(
  field: "secrets" | "configs",
  value: unknown,
  path: string,
  granting: Granting,
): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.flatMap((item, index) => {
    const at = `${path}[${index}]`;
    const { source, target, mode } = isFields(item) ? item : { source: item, target: undefined, mode: undefined };
    if (!isScalar(source)) {
      granting.lose(at, "has no source: left out");
      return [];
    }
    const name = String(source);
    const reference = contentOf(field, { name, mode: runs(mode) ? "0755" : undefined }, at, granting);
    return reference === undefined ? [] : [`${reference}:${targetOf(field, name, target)}:ro`];
  });
}

function targetOf(field: "secrets" | "configs", name: string, target: unknown): string {
  const written = typeof target === "string" ? target : name;
  if (written.startsWith("/")) return written;
  return field === "secrets" ? `/run/secrets/${written}` : `/${written}`;
}

/** Whether a mode lets the owner run it: `0755` or `0o755` as it is written, or the number that YAML makes of it. */
function runs(mode: unknown): boolean {
  const digits = typeof mode === "number" ? mode.toString(8) : typeof mode === "string" ? mode.replace(/^0o?/, "") : "";
  return /^[0-7]{3}$/.test(digits) && (Number.parseInt(digits, 8) & 0o100) !== 0;
}

interface Granted {
  name: string;
  mode: string | undefined;
}

function contentOf(
  field: string,
  { name, mode }: Granted,
  path: string,
  { declared, files, lose }: Granting,
): string | undefined {
  const { [name]: settings } = declared;
  const { file, content, environment } = isFields(settings) ? settings : {};
  if (typeof file === "string") {
    if (files.look(file) !== "file") lose(path, `"${file}" does not exist: create it before berth apply`, "note");
    return assetFile(file, files);
  }
  if (typeof content === "string") return inAsset({ name, content, mode }, files);
  if (typeof environment === "string") return inAsset({ name, content: keptReference(environment), mode }, files);
  lose(
    path,
    `${field}.${name} has neither a file nor a content here: mount an asset, or set a value with berth config`,
  );
  return undefined;
}
