import { fetchDefaults } from "../../api/kinds/defaults.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { type Fields, fieldsOf, msOf, textOf } from "./lenient.ts";

export interface DecodedAsset {
  kind: "asset";
  /** In the order written; unreadable ones are left out. */
  files: readonly DecodedFile[];
}

/** One file; the content of an embedded one is base64, which is not looked at here. */
export type DecodedFile = { readonly key: string } & (
  | { readonly type: "inline"; readonly text: string }
  | { readonly type: "embedded"; readonly content: string; readonly fileName: string | undefined }
  | {
      readonly type: "url";
      readonly url: string;
      readonly timeoutMs: number;
      readonly onFailure: "stale" | "error" | "skip";
    }
);

const fetchTimeoutMs = parseDuration(fetchDefaults.timeout) ?? 0;

export function decodeAsset(spec: Fields): DecodedAsset {
  return { kind: "asset", files: Object.entries(fieldsOf(spec.files)).flatMap(([key, file]) => fileOf(key, file)) };
}

function fileOf(key: string, file: unknown): DecodedFile[] {
  if (typeof file === "string") return [{ key, type: "inline", text: file }];
  if (!isFields(file)) return [];
  if (file._source !== "url") {
    const content = typeof file.content === "string" ? file.content : "";
    return [{ key, type: "embedded", content, fileName: textOf(file.filename) }];
  }
  const url = textOf(file.url);
  if (url === undefined) return [];
  const { on_failure } = file;
  const onFailure = on_failure === "error" || on_failure === "skip" ? on_failure : fetchDefaults.onFailure;
  return [{ key, type: "url", url, timeoutMs: msOf(file.timeout) ?? fetchTimeoutMs, onFailure }];
}
