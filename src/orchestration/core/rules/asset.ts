import type { AssetFile } from "../../api/kinds/asset-file.ts";
import type { AssetSpec } from "../../api/kinds/asset.ts";
import { base64Bytes, textBytes } from "../../../base/pure/bytes.ts";
import { parseMode } from "../spec/asset.ts";
import { durationRule } from "./duration.ts";
import type { RuleContext } from "./rule.ts";
import { urlRule } from "./url.ts";

const keyPattern = /^[A-Za-z0-9_-]{1,128}$/;

export function assetRules(spec: AssetSpec, context: RuleContext): void {
  for (const [key, file] of Object.entries(spec.files)) {
    if (keyPattern.test(key)) fileRule(file, `spec.files.${key}`, context);
    else context.report("spec.files", `"${key}" is not a file key; use letters, digits, "_" and "-"`);
  }
  for (const [key, mode] of Object.entries(spec.modes ?? {})) {
    if (!Object.hasOwn(spec.files, key)) context.report("spec.files", `has no file "${key}", which spec.modes names`);
    else if (parseMode(mode) === undefined) context.report(`spec.modes.${key}`, modeFault(mode));
  }
}

function modeFault(mode: string): string {
  return `"${mode}" is not a mode; use three octal digits in quotes, such as "0755". Only the owner may write`;
}

function fileRule(file: AssetFile, path: string, { report, limits }: RuleContext): void {
  if (typeof file === "string") {
    sizeRule(textBytes(file).length, path, { report, limits });
    return;
  }
  if (file._source === "url") {
    urlRule(file.url, `${path}.url`, report);
    durationRule(file.timeout, `${path}.timeout`, { report, aboveZero: true });
    return;
  }
  const bytes = base64Bytes(file.content);
  if (bytes === undefined) report(`${path}.content`, "is not base64");
  else sizeRule(bytes.length, path, { report, limits });
}

function sizeRule(bytes: number, path: string, { report, limits }: RuleContext): void {
  if (bytes > limits.assetBytesMax) {
    report(path, `has ${bytes} bytes; at most ${limits.assetBytesMax} are allowed`);
  }
}
