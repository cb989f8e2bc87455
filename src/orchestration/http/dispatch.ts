import {
  dispatchPlugin,
  execPlugin,
  fetchPluginFile,
  fileSizeHeader,
  listPluginRuns,
  onlyHeader,
} from "../api/dispatch.ts";
import { readFlag } from "../../base/wire/query.ts";
import { reachesAll, sees, sightOf } from "../../access/apps.ts";
import type { Principal } from "../../access/principal.ts";
import type { Controller } from "../controller/controller.ts";
import { jsonResponse } from "../../base/http/answers.ts";
import { mount, mountStream, type Plane } from "../../base/http/mount.ts";
import { mountProgress } from "./progress.ts";
import { readCount } from "../../base/http/request.ts";

const runsPageDefault = 100;

export function mountDispatch(plane: Plane, controller: Controller, options: { pageMax: number }): void {
  mountProgress(plane, dispatchPlugin, async ({ params, query, actor, by, readBody }, request) => {
    const body = await readBody("optional");
    const target = { plugin: params.name ?? "", command: params.command ?? "", body };
    const caller = {
      actor,
      by,
      restart: readFlag(query.restart, true),
      only: readOnly(request.headers.get(onlyHeader)),
    };
    return (audience) => controller.dispatchPlugin(target, { ...caller, ...audience });
  });
  mountStream(plane, execPlugin, async ({ actor, by, readBody }, request) => {
    const body = await readBody("optional");
    const answer = await controller.execPlugin(body, { actor, by, signal: request.signal });
    return jsonResponse(answer.status, answer.body);
  });
  mountStream(plane, fetchPluginFile, async ({ params }) => {
    const { size, body } = await controller.pluginFile(params.id ?? "", params.index ?? "");
    const headers = {
      "Content-Type": "application/octet-stream",
      [fileSizeHeader]: `${size}`,
    };
    return new Response(body, { headers });
  });
  mount(plane, listPluginRuns, async ({ query: { plugin, limit }, by }) => {
    const most = readCount("limit", limit, options.pageMax) ?? runsPageDefault;
    const { runs } = await controller.listPluginRuns({ plugin, limit: most });
    return { runs: runs.filter(({ args }) => seesRun(by, args)) };
  });
}

/** Whether a run is shown: to a limited token those that name an app that it reaches. */
function seesRun(by: Principal, args: readonly string[]): boolean {
  const [scope = "", name, ...more] = args[0]?.split("/") ?? [];
  return reachesAll(sightOf(by)) || (name !== undefined && more.length === 0 && sees(by, { scope, name }));
}

/** A client that sends it takes rights from itself alone. */
function readOnly(header: string | null): { scope: string; name: string }[] | undefined {
  return header?.split(",").map((text) => {
    const at = text.indexOf("/");
    return { scope: text.slice(0, Math.max(at, 0)), name: text.slice(at + 1) };
  });
}
