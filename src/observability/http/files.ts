import { pulled } from "../../base/http/pulled.ts";
import { readCount, readPodName } from "../../base/http/request.ts";
import { Failure } from "../../base/wire/failure.ts";
import { listFolder, readPodFile, writePodFile } from "../api/files.ts";
import { attachment, readPath } from "../core/files/paths.ts";
import type { FilePart, FilePlace } from "../service/files/create.ts";
import { mount, mountStream } from "../../base/http/mount.ts";
import type { PlaneCall } from "./mount.ts";
import type { PlaneEndpoint } from "../api/plane-endpoint.ts";
import type { ObservabilityPlane } from "./plane.ts";

/** Copies that stand still are cut by the listener: the machine has room for a few at one time. */
export function mountFiles(plane: ObservabilityPlane): void {
  const { files } = plane.observability;
  mount(plane, listFolder, {
    answer: (call) => files.list(placeOf(call)),
    headers: () => ({ "Cache-Control": "no-store" }),
  });
  mountStream(plane, readPodFile, async (call) => {
    const { query, request } = call;
    const most = Number.MAX_SAFE_INTEGER;
    const offset = readCount("offset", query.offset, most) ?? 0;
    const length = readCount("length", query.length, most);
    const part = await files.read(placeOf(call), { offset, length, left: request.signal });
    return answer(part);
  });
  mount(plane, writePodFile, async (call) => {
    const { request } = call;
    const length = lengthOf(request);
    return files.write(placeOf(call), request.body ?? nothing(), length);
  });
}

/** The path as it was sent: a name may begin or end with a space, or with a line end. */
function placeOf({ grant, actor, params, request }: PlaneCall<PlaneEndpoint>): FilePlace {
  const given = new URL(request.url).searchParams.get("path");
  return { grant, actor, pod: readPodName(params), path: readPath(given) };
}

function lengthOf({ headers }: Request): number {
  const length = headers.get("content-length");
  if (length !== null && /^\d{1,15}$/.test(length)) return Number(length);
  throw new Failure("invalid", "header Content-Length: is required, since the size of a file is written before it");
}

/** It is nothing that a browser may show or run as a page of this plane. */
function answer({ name, length, sizeBytes, content }: FilePart): Response {
  const headers = {
    "Content-Type": "application/octet-stream",
    "Content-Disposition": attachment(name),
    "Content-Length": String(length),
    "X-File-Size": String(sizeBytes),
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "no-store",
  };
  return new Response(pulled(content, { ahead: 0 }), { headers });
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // A file without content.
}
