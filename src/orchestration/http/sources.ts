import { mountProgress } from "./progress.ts";
import type { Plane } from "../../base/http/mount.ts";
import { fetchSource, type SourceReader } from "../api/sources.ts";

export function mountSources(plane: Plane, sources: SourceReader): void {
  mountProgress(plane, fetchSource, async ({ readBody }) => {
    const body = await readBody();
    return ({ signal, onLine }) => sources.git(body, { signal, onLine });
  });
}
