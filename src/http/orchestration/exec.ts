import { createFrameReader } from "../../api/exec-frames.ts";
import { execFramingHeader, execIdHeader, execPod, getExec } from "../../api/orchestration/exec.ts";
import { readFlag } from "../../api/query.ts";
import type { Controller } from "../../controller/controller.ts";
import { createByteQueue } from "../../lib/byte-queue.ts";
import { createOutlet } from "../server/outlet.ts";
import type { TakeoverSession } from "../server/takeover.ts";
import { clientData, clientEnd, clientLeft, type ExecPlan, type ExecState, run } from "./exec-session.ts";
import { mount, type Plane } from "./mount.ts";
import { parseBody, readPodName } from "./request.ts";
import { takeoverRoute, type TakenCall } from "./takeovers.ts";

export function mountExec(plane: Plane, controller: Controller): void {
  mount(plane, getExec, {
    answer: ({ params }) => controller.execResult(readPodName(params), params.id ?? ""),
  });
}

type Call = TakenCall<typeof execPod>;

/** `POST /pods/{name}/exec` (orchestration API, section 4, "Pods"): after the head of a 200 the connection is the session. */
export const execPodRoute = takeoverRoute(execPod, (call): TakeoverSession => {
  try {
    return session(call, readPlan(call));
  } catch (error) {
    call.refuse(error);
    return refused;
  }
});

/** Of a request that is answered already: nothing of it is called any more. */
const refused: TakeoverSession = {
  data: () => undefined,
  drain: () => undefined,
  end: () => undefined,
  close: () => undefined,
  retire: () => undefined,
};

function session(call: Call, plan: ExecPlan): TakeoverSession {
  const { wire } = call.takeover;
  const state: ExecState = {
    plan,
    outlet: createOutlet(wire),
    input: createByteQueue({
      highBytes: call.parts.limits.execInputBytesMax,
      pause: () => wire.pause(),
      resume: () => wire.resume(),
    }),
    frames: plan.framed ? createFrameReader() : undefined,
    log: call.parts.log,
    exec: undefined,
    size: undefined,
    left: false,
    fault: undefined,
  };
  void run(state, {
    start: () => start(call, plan),
    head: (id) => head(call, plan, id),
    begun: () => call.answered(200),
    refuse: call.refuse,
    finish: () => call.takeover.finish(),
    terminate: () => wire.terminate(),
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

function readPlan(call: Call): ExecPlan {
  const { tty, interactive, framing, workdir, user, cols, rows } = call.query();
  const size = { cols: dimension(cols), rows: dimension(rows) };
  return {
    name: readPodName(call.params),
    tty: readFlag(tty, false),
    interactive: readFlag(interactive, false),
    framed: readFlag(framing, false),
    ...(workdir === undefined ? {} : { workdir }),
    ...(user === undefined ? {} : { user }),
    ...(readFlag(tty, false) && size.cols > 0 && size.rows > 0 ? { size } : {}),
  };
}

/** Anything that is no size means the kernel's own. */
function dimension(text: string | undefined): number {
  const value = /^\d{1,5}$/.test(text ?? "") ? Number(text) : 0;
  return value <= 65_535 ? value : 0;
}

async function start({ takeover, parts, actor }: Call, { framed: _framed, name, ...options }: ExecPlan) {
  const body = parseBody(takeover.body, { depthMax: parts.limits.jsonDepthMax });
  return parts.controller.execPod(name, body, { ...options, actor });
}

function head({ parts }: Call, { name, framed }: ExecPlan, id: string): Uint8Array {
  const lines = [
    "HTTP/1.1 200 OK",
    "Content-Type: application/octet-stream",
    `${parts.names.headerPrefix}-Container: ${name}`,
    "Connection: close",
    `${execIdHeader}: ${id}`,
    ...(framed ? [`${execFramingHeader}: 1`] : []),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
}
