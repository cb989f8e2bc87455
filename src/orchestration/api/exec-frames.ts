/**
 * The opt-in framing of exec sessions (`framing=1`): after the response head both ways carry frames of one type byte,
 * a four-byte big-endian payload length, and the payload.
 */
export const frameTypes = {
  /** Client to server; without a payload it closes the process's stdin. */
  stdin: 0,
  /** Server to client; with a terminal all output is stdout. */
  stdout: 1,
  stderr: 2,
  /** Server to client, JSON `{"exit_code": 0}`: the last frame of a process that ended. */
  exit: 3,
  /** Client to server, JSON `{"cols": 80, "rows": 24}`. */
  resize: 4,
  /** Server to client, text: the last frame of a session that failed. */
  error: 5,
} as const;

export interface Frame {
  /** One of `frameTypes`, or a number of a later version: to be skipped. */
  type: number;
  payload: Uint8Array;
}

/** A longer frame is a fault; writers split. */
export const framePayloadBytesMax = 1024 * 1024;

const headBytes = 5;

/** The bytes of one frame, or of several where the payload is longer than one may be. */
export function encodeFrame(type: number, payload: Uint8Array): Uint8Array {
  const count = Math.max(Math.ceil(payload.length / framePayloadBytesMax), 1);
  const bytes = new Uint8Array(payload.length + count * headBytes);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < count; index += 1) {
    const part = payload.subarray(index * framePayloadBytesMax, (index + 1) * framePayloadBytesMax);
    const at = index * (framePayloadBytesMax + headBytes);
    view.setUint8(at, type);
    view.setUint32(at + 1, part.length);
    bytes.set(part, at + headBytes);
  }
  return bytes;
}

export function jsonFrame(type: number, value: unknown): Uint8Array {
  return encodeFrame(type, new TextEncoder().encode(JSON.stringify(value)));
}

/** Finds frames in a stream, however it is cut; keeps at most one unfinished frame. */
export interface FrameReader {
  /** The frames that are now complete. `fault` ends the stream: the reader must not be used again. */
  push(chunk: Uint8Array): { frames: Frame[]; fault?: string };
  /** Whether the stream may end here: no frame is unfinished. */
  readonly empty: boolean;
}

export function createFrameReader(): FrameReader {
  const head = new Uint8Array(headBytes);
  let headFilled = 0;
  let payload: Uint8Array | undefined;
  let payloadFilled = 0;

  /** Moves bytes of the chunk from `at` on; returns how many. */
  const fill = (chunk: Uint8Array, at: number): number => {
    const [target, filled] = payload === undefined ? [head, headFilled] : [payload, payloadFilled];
    const part = chunk.subarray(at, at + target.length - filled);
    target.set(part, filled);
    if (payload === undefined) headFilled += part.length;
    else payloadFilled += part.length;
    return part.length;
  };

  return {
    push(chunk) {
      const frames: Frame[] = [];
      let at = 0;
      while (at < chunk.length) {
        at += fill(chunk, at);
        if (payload === undefined && headFilled === headBytes) {
          const length = new DataView(head.buffer).getUint32(1);
          if (length > framePayloadBytesMax) return { frames, fault: tooLong(length) };
          payload = new Uint8Array(length);
        }
        if (payload !== undefined && payloadFilled === payload.length) {
          frames.push({ type: head[0] ?? 0, payload });
          payload = undefined;
          headFilled = 0;
          payloadFilled = 0;
        }
      }
      return { frames };
    },
    get empty() {
      return headFilled === 0;
    },
  };
}

function tooLong(length: number): string {
  return `a frame of ${length} bytes is too long, the most is ${framePayloadBytesMax}; split it`;
}

/** The JSON object in a payload; undefined where there is none. */
export function readJsonFrame({ payload }: Frame): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(payload));
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
