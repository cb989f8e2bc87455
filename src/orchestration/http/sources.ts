import { mountProgress } from "./progress.ts";
import { readBody } from "../../base/http/request.ts";
import type { Plane } from "../../base/http/mount.ts";
import { fetchSource, type SourceReader } from "../api/sources.ts";

export function mountSources(plane: Plane, sources: SourceReader): void {
  mountProgress(plane, fetchSource, async (_, request) => {
    const body = await readBody(request, { depthMax: plane.jsonDepthMax });
    return ({ signal, onLine }) => sources.git(body, { signal, onLine });
  });
}
