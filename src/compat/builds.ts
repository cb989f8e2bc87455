import { apply } from "../orchestration/api/apply.ts";
import type { Translation } from "./translation.ts";

/** That client sends the source of an app by itself, and its manifests never name a build. */
export const builds: Translation = {
  claims: (method, path) => method === apply.method && path === apply.path,
  request(request) {
    const url = new URL(request.url);
    url.searchParams.set("unbuilt", "true");
    const { method, headers, body, signal } = request;
    return new Request(url.href, { method, headers, body, signal });
  },
};
