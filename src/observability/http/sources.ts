import { okResponse } from "../../base/http/answers.ts";
import { Failure } from "../../base/wire/failure.ts";
import { readFlag } from "../../base/wire/query.ts";
import { fetchAppSource, uploadAppSource } from "../api/sources.ts";
import { mountStream } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

/** Source of new apps: both take longer than other requests, and the upload has a body of any size. */
export function mountSources(plane: ObservabilityPlane): void {
  const { apps, streams } = plane.observability;
  mountStream(plane, fetchAppSource, async ({ grant, request, readBody }) => {
    const body = await readBody();
    plane.connected.keepOpen(request);
    const stream = streams.open(grant, request.signal);
    try {
      return okResponse(200, await apps.sources.git(grant, body, stream.signal));
    } finally {
      stream.close();
    }
  });
  mountStream(plane, uploadAppSource, async ({ grant, query, request }) => {
    if (request.body === null) throw new Failure("invalid", "the body is empty: send an archive");
    plane.connected.keepOpen(request);
    const { scope = "", name = "", host } = query;
    const ask = { scope, name, host, isFolder: readFlag(query.folder, false) };
    const declared = Number(request.headers.get("content-length") ?? "0");
    const stream = streams.open(grant, request.signal);
    try {
      return okResponse(
        200,
        await apps.sources.archive(grant, { bytes: request.body, declared }, { ask, signal: stream.signal }),
      );
    } finally {
      stream.close();
    }
  });
}
