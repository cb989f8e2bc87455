import type { SchemaNode } from "../../../orchestration/core/schema-fields.ts";
import type { Comments } from "./comments.ts";

/** A manifest to be written, with marks in place of what a reader replaces (`kept.ts`). */
export interface Writable {
  manifest: Record<string, unknown>;
  comments: Comments;
  /** What the language cannot say, by path. */
  refuse: (path: string, message: string) => void;
}

/** A field that is text whatever is written: a lone reference in it is not a number. */
export function isText(schema: SchemaNode | undefined): boolean {
  return schema?.type === "string";
}

/** A field that is never text: a lone reference in it needs no quotes. */
export function isPlain(schema: SchemaNode | undefined): boolean {
  return schema?.type === "integer" || schema?.type === "number" || schema?.type === "boolean";
}

/** The paths of a manifest that stand at its head in every language. */
const headPaths = ["", "kind", "scope", "name", "spec", "metadata"];

/** The comments at the head of a manifest. */
export function headComments({ above, behind }: Comments): string[] {
  return headPaths.flatMap((path) => {
    const last = behind(path);
    return [...above(path), ...(last === undefined ? [] : [last])];
  });
}

export function commentLine(text: string): string {
  return text === "" ? "#" : `# ${text}`;
}
