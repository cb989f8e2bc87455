import { isFromAfar } from "../../access/apps.ts";
import type { Principal } from "../../access/principal.ts";
import { okResponse } from "../../base/http/answers.ts";
import { mountStream, type Plane } from "../../base/http/mount.ts";
import { isFields } from "../../base/pure/fields.ts";
import { Failure } from "../../base/wire/failure.ts";
import { readFlag } from "../../base/wire/query.ts";
import { fetchSource, type SourceReader, uploadSource } from "../api/sources.ts";
import { requireBuildable } from "./builds.ts";
import { mountProgress } from "./progress.ts";

/** Source of new apps: both take longer than other requests, and the upload has a body of any size. */
export function mountSources(plane: Plane, sources: SourceReader): void {
  mountProgress(plane, fetchSource, async ({ readBody, by, open }) => {
    const body = await readBody();
    requireBuildable(by, body);
    requireRevealing(by, body);
    const stream = open();
    return ({ signal, onLine }) =>
      sources.git(body, { signal: AbortSignal.any([signal, stream.signal]), onLine }).finally(stream.close);
  });
  mountStream(plane, uploadSource, async ({ query, by, open, keepOpen }, request) => {
    if (request.body === null) throw new Failure("invalid", "the body is empty: send an archive");
    keepOpen();
    const { scope = "", name = "", host } = query;
    requireBuildable(by, { scope, name });
    if (Number(request.headers.get("content-length") ?? "0") > sources.uploadBytesMax) {
      throw new Failure("too_large", `the upload is larger than ${sources.uploadBytesMax} bytes`);
    }
    const ask = { scope, name, host, isFolder: readFlag(query.folder, false) };
    const stream = open();
    const done = sources.archive(request.body, ask, stream.signal).finally(stream.close);
    return okResponse(200, await done);
  });
}

function requireRevealing(by: Principal, body: unknown): void {
  if (!isFromAfar(by) || !isFields(body) || body.token_key === undefined || by.scopes.includes("config:reveal")) return;
  const text = "token_key: a value of config is sent to the address, which takes the scope config:reveal";
  throw new Failure("forbidden", text);
}
