import { usageFailure } from "../basics/failures.ts";

/** One side of a copy. The path in a pod is absolute, without `.` and without a slash at its end. */
export type CopyPlace = { kind: "local"; path: string } | PodPlace;

export interface PodPlace {
  kind: "pod";
  reference: string;
  path: string;
  /** Its last name; empty for `/`. */
  name: string;
  /** What it is in. */
  folder: string;
  /** Written with a slash at its end. */
  mustBeFolder: boolean;
}

/** `REF:/PATH` is in a pod, everything else here; a path that starts with `/`, `.` or `~` is here too. */
export function readPlace(text: string): CopyPlace {
  const colon = text.indexOf(":");
  if (text === "") throw usageFailure("a path is empty");
  if (colon <= 0 || /^[./~]/.test(text)) return { kind: "local", path: text };
  const [reference, path] = [text.slice(0, colon), text.slice(colon + 1)];
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (!path.startsWith("/") || parts.includes("..")) {
    throw usageFailure(`"${text}": write an absolute path without .. after the colon, or ./${text} for a file here`);
  }
  return {
    kind: "pod",
    reference,
    path: `/${parts.join("/")}`,
    name: parts.at(-1) ?? "",
    folder: `/${parts.slice(0, -1).join("/")}`,
    mustBeFolder: path.endsWith("/"),
  };
}
