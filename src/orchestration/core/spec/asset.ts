import { fetchDefaults } from "../../api/kinds/defaults.ts";
import { plainMode } from "../../../base/pure/digest.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { type Fields, fieldsOf, msOf, textOf } from "./lenient.ts";

export interface DecodedAsset {
  kind: "asset";
  /** In the order written; unreadable ones are left out. */
  files: readonly DecodedFile[];
}

/** One file; the content of an embedded one is base64, which is not looked at here. */
export type DecodedFile = { readonly key: string; readonly mode: number } & FileContent;

type FileContent =
  | { readonly type: "inline"; readonly text: string }
  | { readonly type: "embedded"; readonly content: string; readonly fileName: string | undefined }
  | {
      readonly type: "url";
      readonly url: string;
      readonly timeoutMs: number;
      readonly onFailure: "stale" | "error" | "skip";
    };

const fetchTimeoutMs = parseDuration(fetchDefaults.timeout) ?? 0;

/** `0755` or `755`. Only the owner may write, as containers share the file; it has to read what it stores. */
export function parseMode(text: unknown): number | undefined {
  return typeof text === "string" && /^0?[4-7][0145][0145]$/.test(text) ? Number.parseInt(text, 8) : undefined;
}

export function decodeAsset(spec: Fields): DecodedAsset {
  const modes = fieldsOf(spec.modes);
  const files = Object.entries(fieldsOf(spec.files)).flatMap(([key, file]) => {
    const content = contentOf(file);
    const mode = (Object.hasOwn(modes, key) ? parseMode(modes[key]) : undefined) ?? plainMode;
    return content === undefined ? [] : [{ key, mode, ...content }];
  });
  return { kind: "asset", files };
}

function contentOf(file: unknown): FileContent | undefined {
  if (typeof file === "string") return { type: "inline", text: file };
  if (!isFields(file)) return undefined;
  if (file._source !== "url") {
    const content = typeof file.content === "string" ? file.content : "";
    return { type: "embedded", content, fileName: textOf(file.filename) };
  }
  const url = textOf(file.url);
  if (url === undefined) return undefined;
  const { on_failure } = file;
  const onFailure = on_failure === "error" || on_failure === "skip" ? on_failure : fetchDefaults.onFailure;
  return { type: "url", url, timeoutMs: msOf(file.timeout) ?? fetchTimeoutMs, onFailure };
}
