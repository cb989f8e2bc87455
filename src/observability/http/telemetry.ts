import { Failure, failureStatus } from "../../base/wire/failure.ts";
import { refusalOf } from "../../base/http/error-mapping.ts";
import { pathOf } from "../../base/http/request.ts";
import { JsonError, parseJson } from "../../base/words/json.ts";
import { createLimit } from "../../base/words/limit.ts";
import type { Log } from "../../base/words/log.ts";
import type { Senders } from "../../orchestration/api/sender.ts";
import { refusalAsProtobuf, takenAsJson, takenAsProtobuf } from "../core/otlp/answer.ts";
import { OtlpError } from "../core/otlp/budget.ts";
import { decodeJson } from "../core/otlp/json.ts";
import { decodeProtobuf } from "../core/otlp/protobuf.ts";
import { requestShapes, type Signal } from "../core/otlp/shapes.ts";
import type { TelemetryRoom } from "../service/telemetry/create.ts";

interface TelemetryAppOptions {
  room: TelemetryRoom;
  senders: Senders;
  /** Under which the front tells the client's address. */
  peerHeader: string;
  limits: {
    inflatedBytesMax: number;
    itemsMax: number;
    depthMax: number;
    atOnceMax: number;
    waitingMax: number;
  };
  log: Log;
}

type Encoding = "protobuf" | "json";

const contentTypes: Readonly<Record<Encoding, string>> = {
  protobuf: "application/x-protobuf",
  json: "application/json",
};

/** OTLP asks for a status that `Failure` has no code for. */
class Unsupported extends Error {}
const unsupportedStatus = 415;

/** OTLP over HTTP for containers, known by their address: `POST /v1/metrics`, `/v1/logs` and `/v1/traces`. */
export function createTelemetryApp({ room, senders, peerHeader, limits, log }: TelemetryAppOptions) {
  const inTurn = createLimit(limits.atOnceMax);
  let inside = 0;

  async function answer(request: Request, encoding: Encoding | undefined): Promise<Response> {
    const peer = request.headers.get(peerHeader) ?? "";
    const sender = await senders.at(peer);
    if (sender === undefined) {
      const hint = "this listener takes telemetry from containers on the platform network, network_mode host has none";
      throw new Failure("forbidden", `${peer} is not known here; ${hint}`);
    }
    const signal = signalOf(request);
    if (encoding === undefined) {
      throw new Unsupported(`send ${contentTypes.protobuf} or ${contentTypes.json} as Content-Type`);
    }
    room.admit(sender, { requests: 1, bytes: 0 });
    if (inside >= limits.atOnceMax + limits.waitingMax)
      throw new Failure("unavailable", "too many requests at one time", { retryAfterSeconds: 1 });
    inside += 1;
    try {
      const sent = await inTurn(async () => {
        const bytes = await inflated(request, limits.inflatedBytesMax);
        room.admit(sender, { requests: 0, bytes: bytes.length });
        return { sender, signal, request: decoded(bytes, { signal, encoding, limits }), bytes: bytes.length };
      });
      const taken = await room.take(sent);
      const body = encoding === "json" ? JSON.stringify(takenAsJson(signal, taken)) : takenAsProtobuf(taken);
      return new Response(body, { headers: { "Content-Type": contentTypes[encoding] } });
    } finally {
      inside -= 1;
    }
  }

  function refused(error: unknown, encoding: Encoding): Response {
    const { status, message, headers } = statusOf(error, log);
    if (status === failureStatus.internal || status === failureStatus.forbidden)
      log.info("telemetry refused", { status, reason: message });
    const body = encoding === "json" ? JSON.stringify({ message }) : refusalAsProtobuf(message);
    return new Response(body, { status, headers: { ...headers, "Content-Type": contentTypes[encoding] } });
  }

  return {
    fetch: (request: Request): Promise<Response> => {
      const encoding = encodingOf(request);
      return answer(request, encoding).catch((error: unknown) => refused(error, encoding ?? "json"));
    },
  };
}

function statusOf(error: unknown, log: Log): { status: number; message: string; headers?: Record<string, string> } {
  if (error instanceof Unsupported) return { status: unsupportedStatus, message: error.message };
  if (error instanceof OtlpError) return { status: failureStatus.invalid, message: error.message };
  const { status, message, headers } = refusalOf(error, log);
  // What is tried again wants to be told when.
  const more: Record<string, string> = status === failureStatus.unavailable ? { "Retry-After": "1" } : {};
  return { status, message, headers: { ...more, ...headers } };
}

function encodingOf(request: Request): Encoding | undefined {
  const [type = ""] = (request.headers.get("content-type") ?? "").split(";");
  const plain = type.trim().toLowerCase();
  return plain === contentTypes.protobuf ? "protobuf" : plain === contentTypes.json ? "json" : undefined;
}

function signalOf(request: Request): Signal {
  const path = pathOf(request);
  const signal = (Object.keys(requestShapes) as Signal[]).find((one) => path === `/v1/${one}`);
  if (signal === undefined) {
    throw new Failure(
      "not_found",
      `path ${JSON.stringify(path)} does not exist here: use /v1/metrics, /v1/logs or /v1/traces`,
    );
  }
  if (request.method === "POST") return signal;
  throw new Failure("method_not_allowed", `method ${request.method} is not allowed here, use POST`);
}

interface Decoding {
  signal: Signal;
  encoding: Encoding;
  limits: { itemsMax: number; depthMax: number };
}

function decoded(bytes: Uint8Array, { signal, encoding, limits }: Decoding): Record<string, unknown> {
  const shape = requestShapes[signal];
  if (encoding === "protobuf") return decodeProtobuf(shape, bytes, limits);
  try {
    return decodeJson(shape, parseJson(new TextDecoder().decode(bytes), limits), limits);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new OtlpError(`body line ${error.line} column ${error.column}: ${error.message}`);
  }
}

/** The body without its compression; reading ends as soon as it is too large. */
async function inflated(request: Request, bytesMax: number): Promise<Uint8Array> {
  const coding = (request.headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  const body = await request.arrayBuffer();
  if (coding === "identity" || coding === "") return new Uint8Array(body);
  if (coding !== "gzip") throw new Unsupported(`Content-Encoding ${JSON.stringify(coding)} is not taken, use gzip`);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const stream = new Blob([body]).stream().pipeThrough(new DecompressionStream("gzip"));
  try {
    for await (const part of stream) {
      bytes += part.length;
      if (bytes > bytesMax) break;
      parts.push(part);
    }
  } catch {
    throw new OtlpError("the body is not gzip, as its Content-Encoding says");
  }
  if (bytes > bytesMax) throw new Failure("too_large", `the body is larger than ${bytesMax} bytes when decompressed`);
  return Buffer.concat(parts);
}
