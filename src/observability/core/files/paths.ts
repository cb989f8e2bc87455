import { Failure } from "../../../base/wire/failure.ts";

const charactersMax = 4_096;

/** An absolute path of a container without `.`, `..` and doubled slashes. Fails `invalid`. */
export function readPath(text: string | null | undefined): string {
  if (text === undefined || text === null || text === "") throw new Failure("invalid", "query path: is required");
  if (!text.startsWith("/")) throw new Failure("invalid", `query path: ${JSON.stringify(text)} does not start with /`);
  if (text.includes("\0") || text.length > charactersMax) {
    throw new Failure("invalid", `query path: has a NUL, or more than ${charactersMax} characters`);
  }
  const parts: string[] = [];
  for (const part of text.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** The folder of a path, and its last name. */
export function splitPath(path: string): { folder: string; name: string } {
  const at = path.lastIndexOf("/");
  return { folder: path.slice(0, at) || "/", name: path.slice(at + 1) };
}

/** `Content-Disposition` (RFC 6266) for a name that may hold any character: quotes, line ends, letters of any script. */
export function attachment(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const exact = encodeURIComponent(name).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
