import { targetOf } from "../../base/wire/client.ts";
import { openAppRun, openTerminal, terminalProtocol } from "../../observability/api/exec.ts";
import { planePath } from "../../observability/api/plane-endpoint.ts";
import {
  createFrameReader,
  encodeFrame,
  type Frame,
  frameTypes,
  jsonFrame,
  readJsonFrame,
} from "../../orchestration/api/exec-frames.ts";

/** Where a command runs: in a pod, or in a container of its own beside an app. */
export type Place = { pod: string } | { scope: string; name: string; kind: string; ordinal?: string };

interface Asked {
  place: Place;
  command: readonly string[];
  size: { cols: number; rows: number };
}

interface LineEvents {
  onOpen: () => void;
  onOutput: (bytes: Uint8Array) => void;
  /** Once: with the exit code of the command, or with why there is none. */
  onEnd: (end: { exitCode: number } | { fault: string }) => void;
}

/** The line to a command. */
export interface Line {
  type(text: string): void;
  resize(size: { cols: number; rows: number }): void;
  /** Ends the command. */
  hangUp(): void;
  /** Like `hangUp`, without a message. */
  close(): void;
}

const lostText =
  "The connection was lost, and the command has ended. The server may be restarting, or refuse terminals.";

export function openLine({ place, command, size }: Asked, { onOpen, onOutput, onEnd }: LineEvents): Line {
  const query = { command: JSON.stringify(command), cols: size.cols, rows: size.rows };
  const target =
    "pod" in place
      ? targetOf(planePath(openTerminal), { params: { pod: place.pod }, query })
      : targetOf(planePath(openAppRun), {
          params: { scope: place.scope, name: place.name },
          query: { ...query, kind: place.kind, ordinal: place.ordinal },
        });
  const socket = new WebSocket(
    `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}${target}`,
    terminalProtocol,
  );
  socket.binaryType = "arraybuffer";
  const reader = createFrameReader();
  let isOver = false;
  const end = (how: Parameters<LineEvents["onEnd"]>[0]) => {
    if (isOver) return;
    isOver = true;
    onEnd(how);
  };
  const take = (frame: Frame) => {
    if (frame.type === frameTypes.stdout || frame.type === frameTypes.stderr) onOutput(frame.payload);
    else if (frame.type === frameTypes.exit) end({ exitCode: Number(readJsonFrame(frame)?.exit_code ?? 0) });
    else if (frame.type === frameTypes.error) end({ fault: new TextDecoder().decode(frame.payload) });
  };
  socket.onopen = onOpen;
  socket.onmessage = ({ data }) => {
    const { frames } = reader.push(new Uint8Array(data as ArrayBuffer));
    for (const frame of frames) take(frame);
  };
  socket.onclose = () => end({ fault: lostText });
  const send = (bytes: Uint8Array) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(new Uint8Array(bytes));
  };
  return {
    type: (text) => send(encodeFrame(frameTypes.stdin, new TextEncoder().encode(text))),
    resize: (to) => send(jsonFrame(frameTypes.resize, to)),
    hangUp() {
      end({ fault: "You ended the session, and the command with it." });
      socket.close();
    },
    close() {
      isOver = true;
      socket.close();
    },
  };
}
