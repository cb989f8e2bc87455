import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import type { Block } from "./block.ts";
import backupsScript from "./backups.sh" with { type: "text" };
import keptScript from "./kept.sh" with { type: "text" };
import handoverScript from "./handover.sh" with { type: "text" };
import podScript from "./pod.sh" with { type: "text" };
import restoreScript from "./restore.sh" with { type: "text" };

/** What the pods of a block run, by path below `/berth/`. */
export type Scripts = Readonly<Record<string, string>>;

/** Shell pieces for every plugin; its own scripts source them. */
const kitScripts: Scripts = {
  "kit/pod.sh": podScript,
  "kit/handover.sh": handoverScript,
  "kit/backups.sh": backupsScript,
  "kit/kept.sh": keptScript,
  "kit/restore.sh": restoreScript,
};

/** Keys of an asset have neither dots, which separate the parts of a reference, nor slashes. */
const fileKey = (path: string) => path.replaceAll(/[./]/g, "_");

/** The asset that holds the scripts of a block, those of the kit among them. */
export function scriptsAsset({ scope, name }: Block, scripts: Scripts): Manifest {
  const files = Object.entries({ ...kitScripts, ...scripts }).map(([path, text]) => [fileKey(path), text]);
  return { kind: "asset", scope, name, spec: { files: Object.fromEntries(files) } };
}

/** Volumes that put them below `/berth/`. */
export function scriptMounts({ scope, name }: Block, scripts: Scripts): string[] {
  return Object.keys({ ...kitScripts, ...scripts }).map(
    (path) => `\${asset.${scope}.${name}.${fileKey(path)}}:/berth/${path}:ro`,
  );
}
