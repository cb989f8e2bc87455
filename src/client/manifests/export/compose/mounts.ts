import { base64Bytes } from "../../../../base/pure/bytes.ts";
import { fieldsOf, listOf, textOf, wordsOf } from "../../../../orchestration/core/spec/lenient.ts";
import { type AssetReference, placeholdersIn } from "../../../../orchestration/core/placeholders.ts";
import { parseVolume } from "../../../../orchestration/core/volumes.ts";
import type { Exportable } from "../exportable.ts";

/** What stands beside the services in a Compose file. */
export interface ComposeFile {
  volumes: Record<string, object>;
  networks: Record<string, object>;
  configs: Record<string, object>;
  /** The content of a file of an asset; undefined where it is not a known text. */
  textOf: (scope: string, asset: AssetReference) => { text: string; mode: string | undefined } | undefined;
}

/** `volumes` and `configs` of a service. */
export function mountsOf(from: Exportable, file: ComposeFile): Record<string, unknown> {
  const { spec, scope, lose } = from;
  const volumes: string[] = [];
  const configs: { source: string; target: string; mode?: string }[] = [];
  wordsOf(spec.volumes).forEach((text, index) => {
    const at = `spec.volumes[${index}]`;
    const volume = parseVolume(text);
    if (!volume.ok) {
      lose(at, "cannot be read: left out");
      return;
    }
    const { type, source, target, readOnly, external } = volume.value;
    const mode = readOnly ? ":ro" : "";
    const [placeholder] = placeholdersIn(source);
    if (placeholder !== undefined) {
      const config = placeholder.type === "asset" ? configOf(scope, placeholder.asset, file) : undefined;
      if (config === undefined) lose(at, "holds no text that is known here: left out");
      else configs.push({ source: config.name, target, ...(config.mode === undefined ? {} : { mode: config.mode }) });
    } else if (type === "bind") volumes.push(`${source}:${target}${mode}`);
    else {
      const name = source.replaceAll("/", "-");
      file.volumes[name] = external === true ? { external: true, name: source } : {};
      volumes.push(`${name}:${target}${mode}`);
      lose(at, "the content of the volume is not copied");
    }
  });
  listOf(spec.volume_claims).forEach((claim, index) => {
    const name = `${from.name}-${textOf(claim.name) ?? index}`;
    file.volumes[name] = {};
    volumes.push(`${name}:${textOf(claim.mount_path) ?? "/"}`);
    lose(`spec.volume_claims[${index}]`, "the content of the volume is not copied");
  });
  return {
    ...(volumes.length === 0 ? {} : { volumes }),
    ...(configs.length === 0 ? {} : { configs }),
  };
}

function configOf(scope: string, asset: AssetReference, file: ComposeFile) {
  const found = file.textOf(scope, asset);
  if (found === undefined) return undefined;
  const name = `${asset.name}-${asset.key}`;
  file.configs[name] = { content: found.text.replaceAll("$", "$$$$") };
  return { name, mode: found.mode };
}

/** Looks among assets as a reference does: in its own scope, then among those without one. */
export function lookUpTexts(assets: readonly Exportable[]): ComposeFile["textOf"] {
  return (scope, { scope: written, name, key }) => {
    const scopes = written === undefined ? [scope, ""] : [written];
    for (const one of scopes) {
      const asset = assets.find((candidate) => candidate.scope === one && candidate.name === name);
      const text = textIn(fieldsOf(asset?.spec.files)[key]);
      if (text !== undefined) return { text, mode: textOf(fieldsOf(asset?.spec.modes)[key]) };
    }
    return undefined;
  };
}

function textIn(file: unknown): string | undefined {
  if (typeof file === "string") return file;
  const { _source: source, content } = fieldsOf(file);
  const bytes = source === "file" && typeof content === "string" ? base64Bytes(content) : undefined;
  return bytes === undefined ? undefined : decoded(bytes);
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
