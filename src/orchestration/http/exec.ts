import { createFrameReader } from "../api/exec-frames.ts";
import { execFramingHeader, execIdHeader, execPod, getExec } from "../api/exec.ts";
import { writeFiles } from "../api/files.ts";
import { forwardPort } from "../api/forward.ts";
import { runApp } from "../api/run-app.ts";
import type { QueryOf } from "../../base/wire/endpoint.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import type { ExecOptions } from "../controller/requests.ts";
import { createByteQueue } from "../../base/words/byte-queue.ts";
import { createOutlet } from "../../base/http/front/outlet.ts";
import type { TakeoverSession } from "../../base/http/front/takeover.ts";
import {
  clientData,
  clientEnd,
  clientLeft,
  type ExecPlan,
  type ExecState,
  run,
  type StartedExec,
} from "./exec-session.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { parseBody, readPodName } from "../../base/http/request.ts";
import { takeoverRoute, type TakenCall } from "./takeovers.ts";

export function mountExec(plane: Plane, controller: Controller): void {
  mount(plane, getExec, ({ params }) => controller.execResult(readPodName(params), params.id ?? ""));
}

/** `POST /pods/{name}/exec` (docs/contract/orchestration.md, 4.5): after the head of a 200 the connection is the session. */
export const execPodRoute = takeoverRoute(execPod, (call): TakeoverSession => {
  return sessionOr(call, () => {
    const query = call.query();
    const plan = { ...readTerminal(query), name: readPodName(call.params) };
    return session(call, plan, () =>
      start(call, plan, (body, options) => call.parts.controller.execPod(plan.name, body, options)),
    );
  });
});

/** `POST /run`: the same session with a container of its own. */
export const runAppRoute = takeoverRoute(runApp, (call): TakeoverSession => {
  return sessionOr(call, () => {
    const query = call.query();
    const plan = { ...readTerminal(query), name: [query.scope, query.name].filter(Boolean).join("/") };
    return session(call, plan, () =>
      start(call, plan, (body, options) => call.parts.controller.runApp(query, body, options)),
    );
  });
});

/** `POST /pods/{name}/files`: frames with an archive. */
export const writeFilesRoute = takeoverRoute(writeFiles, (call): TakeoverSession => {
  return sessionOr(call, () => {
    const place = { name: readPodName(call.params), path: call.query().path };
    const plan = { name: place.name, tty: false, interactive: true, framed: true };
    return session(call, plan, () => call.parts.controller.writeFiles(place, { actor: call.actor }));
  });
});

/** `POST /pods/{name}/forward`: the same frames, to and from a port of the pod. */
export const forwardPortRoute = takeoverRoute(forwardPort, (call): TakeoverSession => {
  return sessionOr(call, () => {
    const { port } = call.query();
    const name = readPodName(call.params);
    const plan = { name, tty: false, interactive: true, framed: true };
    return session(call, plan, () => call.parts.controller.forwardPort(name, { port, actor: call.actor }));
  });
});

type Call = Omit<TakenCall<typeof execPod>, "query">;
type Start = (body: unknown, options: ExecOptions) => Promise<StartedExec>;

function sessionOr({ refuse }: Call, begin: () => TakeoverSession): TakeoverSession {
  try {
    return begin();
  } catch (error) {
    refuse(error);
    return refused;
  }
}

/** The session of a request that is answered already: nothing of it is called any more. */
const refused: TakeoverSession = {
  data: () => undefined,
  drain: () => undefined,
  end: () => undefined,
  close: () => undefined,
  retire: () => undefined,
};

function session(call: Call, plan: ExecPlan, begin: () => Promise<StartedExec>): TakeoverSession {
  const { socket } = call.takeover;
  const state: ExecState = {
    plan,
    outlet: createOutlet(socket),
    input: createByteQueue({
      highBytes: call.parts.limits.execInputBytesMax,
      pause: () => socket.pause(),
      resume: () => socket.resume(),
    }),
    frames: plan.framed ? createFrameReader() : undefined,
    log: call.parts.log,
    exec: undefined,
    size: undefined,
    left: false,
    fault: undefined,
  };
  void run(state, {
    start: begin,
    head: (exec) => head(call, plan, exec),
    begun: () => call.answered(200),
    refuse: call.refuse,
    finish: () => call.takeover.finish(),
    terminate: () => socket.terminate(),
  });
  return {
    data: (chunk) => clientData(state, chunk),
    drain: () => state.outlet.drain(),
    end: () => clientEnd(state),
    close: () => clientLeft(state),
    // A command may be about to end: it has as long as every request under way.
    retire: () => undefined,
  };
}

type TerminalQuery = Omit<Partial<QueryOf<typeof execPod>>, "name">;

function readTerminal(query: TerminalQuery): Omit<ExecPlan, "name"> {
  const { tty, interactive, framing, workdir, user, cols, rows } = query;
  const size = { cols: dimension(cols), rows: dimension(rows) };
  return {
    tty: readFlag(tty, false),
    interactive: readFlag(interactive, false),
    framed: readFlag(framing, false),
    ...(workdir === undefined ? {} : { workdir }),
    ...(user === undefined ? {} : { user }),
    ...(readFlag(tty, false) && size.cols > 0 && size.rows > 0 ? { size } : {}),
  };
}

/** Any other value means the size of the kernel. */
function dimension(text: string | undefined): number {
  const value = /^\d{1,5}$/.test(text ?? "") ? Number(text) : 0;
  return value <= 65_535 ? value : 0;
}

async function start(call: Call, { framed: _framed, name: _name, ...options }: ExecPlan, begin: Start) {
  const { takeover, parts, actor } = call;
  return begin(parseBody(takeover.body, { depthMax: parts.limits.jsonDepthMax }), { ...options, actor });
}

function head({ parts }: Call, { name, framed }: ExecPlan, { id, container = name }: StartedExec): Uint8Array {
  const lines = [
    "HTTP/1.1 200 OK",
    "Content-Type: application/octet-stream",
    `${parts.names.headerPrefix}-Container: ${container}`,
    "Connection: close",
    `${execIdHeader}: ${id}`,
    ...(framed ? [`${execFramingHeader}: 1`] : []),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
}
