import { errorResponse } from "../../base/http/answers.ts";
import { readParam, readPodName } from "../../base/http/request.ts";
import type { QueryOf } from "../../base/wire/endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import { readFlag } from "../../base/wire/query.ts";
import { openAppRun, openTerminal, terminalProtocol } from "../api/exec.ts";
import type { TerminalTarget } from "../service/terminals/create.ts";
import { mountStream } from "../../base/http/mount.ts";
import { type PlaneCall, upgradedStatus } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

export function mountTerminals(plane: ObservabilityPlane): void {
  mountStream(plane, openTerminal, async (call) =>
    upgraded(plane, call, { pod: readPodName({ name: readParam(call.params, "pod") }) }),
  );
  mountStream(plane, openAppRun, async (call) => {
    const { kind, ordinal } = call.query;
    const app = { scope: readParam(call.params, "scope"), name: readParam(call.params, "name"), kind, ordinal };
    return upgraded(plane, call, { app });
  });
}

type Call = Pick<PlaneCall<typeof openTerminal>, "grant" | "actor" | "ip" | "requestId" | "query" | "request">;

/** What is wrong with the request is answered before; what is wrong with the command is a frame, which pages can read. */
async function upgraded(plane: ObservabilityPlane, call: Call, target: TerminalTarget): Promise<Response> {
  const { request, query } = call;
  const command = readCommand(query, plane.observability.terminals.limits);
  const protocol = protocolOf(request);
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return noSocket();
  const { events, close } = await plane.observability.terminals.open(call, target, command);
  if (plane.connected.upgrade(request, events, protocol)) return new Response(null, { status: upgradedStatus });
  close();
  return noSocket();
}

function noSocket(): Response {
  return errorResponse({
    status: 426,
    message: "this address is a WebSocket: ask with Upgrade: websocket",
    headers: { Upgrade: "websocket", Connection: "Upgrade" },
  });
}

/** A client that names protocols gets ours, or none at all. */
function protocolOf({ headers }: Request): string | undefined {
  const offered = headers.get("sec-websocket-protocol");
  if (offered === null) return undefined;
  if (offered.split(",").some((one) => one.trim() === terminalProtocol)) return terminalProtocol;
  throw new Failure("invalid", `header Sec-WebSocket-Protocol: the only one known here is ${terminalProtocol}`);
}

interface CommandLimits {
  wordsMax: number;
  commandCharactersMax: number;
}

function readCommand(query: Partial<QueryOf<typeof openTerminal>>, limits: CommandLimits) {
  const { workdir, user } = query;
  const tty = readFlag(query.tty, true);
  const cols = dimension("cols", query.cols);
  const rows = dimension("rows", query.rows);
  const size = cols === undefined || rows === undefined || !tty ? undefined : { cols, rows };
  return { command: wordsOf(query.command, limits), tty, workdir, user, size };
}

function wordsOf(text: string | undefined, { wordsMax, commandCharactersMax }: CommandLimits): string[] {
  if (text === undefined) return ["sh"];
  if (text.length > commandCharactersMax) {
    throw new Failure("invalid", `query command: has more than ${commandCharactersMax} characters`);
  }
  const words = parsed(text);
  const isGood = Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === "string");
  if (isGood && words.length <= wordsMax && words[0] !== "" && !words.some((word) => word.includes("\0"))) return words;
  throw new Failure("invalid", `query command: is not a JSON array of 1 to ${wordsMax} words, such as ["ls","-l"]`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function dimension(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (value > 0 && value <= 65_535) return value;
  throw new Failure("invalid", `query ${name}: ${JSON.stringify(text)} is not a whole number from 1 to 65535`);
}
