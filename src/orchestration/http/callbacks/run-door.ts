import type { Principal } from "../../../access/principal.ts";
import { actorHeader } from "../../../base/wire/client.ts";
import { onlyHeader } from "../../api/dispatch.ts";
import type { RunCalls } from "../../controller/plugins/run-calls.ts";
import type { Log } from "../../../base/words/log.ts";
import { mapError, refusalOf } from "../../../base/http/error-mapping.ts";
import { parseBody } from "../../../base/http/request.ts";
import type { FrontLimits } from "../../../base/http/front/connection.ts";
import { startFront } from "../../../base/http/front/front.ts";
import type { AppHandler } from "../../../base/http/front/answer.ts";
import type { RequestHead } from "../../../base/http/front/request-head.ts";
import type { TakeoverHandler } from "../../../base/http/front/takeover.ts";

export interface RunDoorOptions {
  calls: RunCalls;
  /** The orchestration plane. */
  plane: (request: Request, principal: Principal) => Response | Promise<Response>;
  takeover: (request: RequestHead) => TakeoverHandler | undefined;
  headerPrefix: string;
  limits: FrontLimits & { jsonDepthMax: number };
  log: Log;
}

/** The listener by which runs of plugins reach the plane, on a free port of loopback. */
export interface RunDoor {
  /** For the run that has this token: any client that appends a path to it says whose call it is. */
  url(token: string): string;
  stop(graceMs: number): Promise<void>;
}

/** Before the token of a run whose body is to be looked at. */
const withBody = "body ";
const pathPattern = /^\/run\/([0-9a-f]{64})(\/.*)$/;

export async function startRunDoor(options: RunDoorOptions): Promise<RunDoor> {
  const { calls, limits, log, takeover } = options;
  const runHeader = `${options.headerPrefix}-Run`.toLowerCase();
  const front = await startFront({
    tcp: { hostname: "127.0.0.1", port: 0 },
    app: withBodies(options, runHeader),
    vet: (head) => vet(calls, { head, runHeader, log }),
    takeover,
    limits,
    log,
  });
  return { url: (token) => `http://${front.addresses[0]}/run/${token}`, stop: front.stop };
}

/** Takes the token out of the path, which no log then shows, and says who asks. */
function vet(calls: RunCalls, { head, runHeader, log }: { head: RequestHead; runHeader: string; log: Log }) {
  const [, token, target] = pathPattern.exec(head.target) ?? [];
  if (token === undefined || target === undefined) {
    const message = "calls of plugins begin with the controller_url of their run, path included";
    return { head, refusal: { status: 403, message } };
  }
  const [path = ""] = target.split("?");
  const inside = { ...head, target, path };
  try {
    const { pass, asksForBody } = calls.admit({ token, method: head.method, target });
    const ours = new Set([actorHeader.toLowerCase(), onlyHeader.toLowerCase(), runHeader]);
    const headers = head.headers.filter(([name]) => !ours.has(name));
    headers.push([actorHeader.toLowerCase(), pass.actor]);
    if (pass.only !== undefined) {
      headers.push([onlyHeader.toLowerCase(), pass.only.map(({ scope, name }) => `${scope}/${name}`).join(",")]);
    }
    headers.push([runHeader, asksForBody ? `${withBody}${token}` : token]);
    return { head: { ...inside, headers } };
  } catch (error) {
    return { head: inside, refusal: refusalOf(error, log) };
  }
}

/** What is decided by the body alone. */
function withBodies({ calls, plane, limits, log }: RunDoorOptions, runHeader: string): AppHandler {
  return async (request) => {
    const asked = request.headers.get(runHeader) ?? "";
    const token = asked.replace(withBody, "");
    const by = calls.principalOf(token);
    if (!asked.startsWith(withBody)) return plane(request, by);
    try {
      const bytes = await request.arrayBuffer();
      calls.admitManifests(token, parseBody(bytes, { depthMax: limits.jsonDepthMax }));
      const { method, headers, signal } = request;
      return await plane(new Request(request.url, { method, headers, body: bytes, signal }), by);
    } catch (error) {
      return mapError(error, log);
    }
  };
}
