import type { Manifest } from "../../src/api/manifest.ts";
import type { Block } from "./block.ts";

/** What an expansion needs beside its block. */
export interface ExpandContext {
  /** Upper-case prefix of the variables that the platform gives to pods. */
  envPrefix: string;
  /** A new secret at each call. */
  newPassword: () => string;
}

/** Keys of an asset have no dots: those separate the parts of a reference. */
const fileKey = (file: string) => file.replace(".", "_");

/** The asset that holds what the pods of a block run, by file name. */
export function scriptsAsset({ scope, name }: Block, content: Readonly<Record<string, string>>): Manifest {
  const files = Object.entries(content).map(([file, text]) => [fileKey(file), text]);
  return { kind: "asset", scope, name, spec: { files: Object.fromEntries(files) } };
}

/** Volumes that put these files of the asset below `/berth/`. */
export function scriptMounts({ scope, name }: Block, files: readonly string[]): string[] {
  return files.map((file) => `\${asset.${scope}.${name}.${fileKey(file)}}:/berth/${file}:ro`);
}
