import type { Principal } from "../../../access/principal.ts";
import { actorHeader } from "../../../base/wire/client.ts";
import { getConfig } from "../../api/config.ts";
import { describe } from "../../api/describe.ts";
import { dispatchPlugin, onlyHeader } from "../../api/dispatch.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { CallbackCaller, CallbackRoom } from "../../controller/plugins/callbacks.ts";
import type { Log } from "../../../base/words/log.ts";
import { mapError } from "../../../base/http/error-mapping.ts";
import { pathOf, readQuery } from "../../../base/http/request.ts";

interface CallbackAppOptions {
  callbacks: CallbackRoom;
  /** The orchestration plane, which answers what is let through. */
  plane: (request: Request, principal: Principal) => Response | Promise<Response>;
  /** Under which the front tells the client's address. */
  peerHeader: string;
  log: Log;
}

const commandPath = /^\/plugin\/([^/]+)\/[^/]+$/;

/**
 * What containers of plugins' blocks may ask of the controller: what their own blocks are, the config of those, and
 * commands of their own plugin. Everything else is 403 for every caller.
 */
export function createCallbackApp({ callbacks, plane, peerHeader, log }: CallbackAppOptions) {
  const answer = async (request: Request): Promise<Response> => {
    const caller = await callbacks.caller({
      address: request.headers.get(peerHeader) ?? "",
      token: tokenOf(request.headers.get("authorization")),
    });
    const path = pathOf(request);
    const [, plugin] = commandPath.exec(path) ?? [];
    if (request.method === dispatchPlugin.method && plugin !== undefined) {
      callbacks.requireOwnPlugin(caller, decoded(plugin));
    } else if (request.method === "GET" && (path === describe.path || path === getConfig.path)) {
      const { scope, name } = readQuery(request, path === describe.path ? describe : getConfig);
      callbacks.requireOwn(caller, { scope, name });
    } else {
      throw new Failure("forbidden", "only GET /describe, GET /config and POST /plugin/… are answered here");
    }
    return plane(asCaller(request, caller), { type: "pod", askedBy: caller.by });
  };
  return {
    fetch: (request: Request): Promise<Response> => answer(request).catch((error: unknown) => mapError(error, log)),
  };
}

/** The same request as the plane gets it. The caller cannot name itself, nor what it may see. */
function asCaller(request: Request, { actor, only }: Pick<CallbackCaller, "actor" | "only">): Request {
  const passed = new Request(request);
  passed.headers.set(actorHeader, actor);
  passed.headers.delete(onlyHeader);
  if (only !== undefined) passed.headers.set(onlyHeader, only.map(({ scope, name }) => `${scope}/${name}`).join(","));
  return passed;
}

function tokenOf(header: string | null): string | undefined {
  return /^Bearer ([0-9a-f]{32,128})$/i.exec(header ?? "")?.[1];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
