import { Failure, failureStatus } from "../../base/wire/failure.ts";
import { refusalOf } from "../../base/http/error-mapping.ts";
import type { Admit, Vetted } from "../../base/http/front/connection.ts";
import type { Refusal } from "../../base/http/front/refusal.ts";
import type { RequestHead } from "../../base/http/front/request-head.ts";
import { pathOf } from "../../base/http/request.ts";
import type { Log } from "../../base/words/log.ts";
import type { Sender, Senders } from "../../orchestration/api/sender.ts";
import { refusalAsProtobuf, takenAsJson, takenAsProtobuf } from "../core/otlp/answer.ts";
import { requestShapes, type Signal } from "../core/otlp/shapes.ts";
import type { TelemetryRoom } from "../service/telemetry/create.ts";
import type { OtlpEncoding } from "../service/telemetry/messages.ts";

interface TelemetryAppOptions {
  room: TelemetryRoom;
  senders: Senders;
  /** Under which the front tells the client's address. */
  peerHeader: string;
  limits: { bodyBytesMax: number; holdMs: number; sendersMax: number };
  log: Log;
}

/** What the front of a listener asks, in this order. */
interface TelemetryApp {
  /** Who connects: only containers whose manifest says `telemetry: true` are listened to. */
  admit: Admit;
  /** Before the body is read: whether its head is right, and its app may send it. */
  vet(head: RequestHead, peer: string): Vetted;
  fetch(request: Request): Promise<Response>;
}

const contentTypes: Readonly<Record<OtlpEncoding, string>> = {
  protobuf: "application/x-protobuf",
  json: "application/json",
};

/** OTLP asks for a status that `Failure` has no code for. */
class Unsupported extends Error {}
const unsupportedStatus = 415;

/** Tells `fetch` what `vet` has counted; what a client says under this name is dropped. */
const countedHeader = "berth-counted-bytes";

/** OTLP over HTTP for containers, known by their address: `POST /v1/metrics`, `/v1/logs` and `/v1/traces`. */
export function createTelemetryApp({ room, senders, peerHeader, limits, log }: TelemetryAppOptions): TelemetryApp {
  /** By address: who the container of a connection is stays true for as long as the connection. */
  const admitted = new Map<string, Sender>();

  async function senderAt(peer: string): Promise<Sender> {
    const sender = await senders.at(peer);
    if (sender === undefined) {
      const hint = "this listener takes telemetry from containers on the platform network, network_mode host has none";
      throw new Failure("forbidden", `${peer} is not known here; ${hint}`);
    }
    if (sender.wantsTelemetry) return sender;
    throw new Failure("forbidden", `${sender.pod} sends telemetry, but its manifest does not say "telemetry: true"`);
  }

  function known(peer: string): Sender {
    const sender = admitted.get(peer);
    if (sender !== undefined) return sender;
    throw new Failure("unavailable", "connect again", { retryAfterSeconds: 1 });
  }

  async function take(request: Request, encoding: OtlpEncoding): Promise<Response> {
    const sender = known(request.headers.get(peerHeader) ?? "");
    const signal = signalOf(request.method, pathOf(request));
    const taken = await room.take({
      ...{ sender, signal, encoding },
      isPacked: isPacked(request.headers.get("content-encoding")),
      body: await request.arrayBuffer(),
      counted: Number(request.headers.get(countedHeader) ?? "0"),
    });
    const body = encoding === "json" ? JSON.stringify(takenAsJson(signal, taken)) : takenAsProtobuf(taken);
    return new Response(body, { headers: { "Content-Type": contentTypes[encoding] } });
  }

  function refused(error: unknown, encoding: OtlpEncoding): Refusal {
    const refusal = statusOf(error, log);
    const { status, message } = refusal;
    if (status === failureStatus.internal) log.info("telemetry refused", { status, reason: message });
    const bytes = encoding === "json" ? Buffer.from(JSON.stringify({ message })) : refusalAsProtobuf(message);
    return { ...refusal, content: { type: contentTypes[encoding], bytes } };
  }

  return {
    async admit({ remoteAddress }) {
      admitted.delete(remoteAddress);
      try {
        admitted.set(remoteAddress, await senderAt(remoteAddress));
      } catch (error) {
        return { ...refused(error, "json"), holdMs: limits.holdMs };
      }
      const [oldest] = admitted.size > limits.sendersMax ? admitted.keys() : [];
      if (oldest !== undefined) admitted.delete(oldest);
      return undefined;
    },
    vet(head, peer) {
      const encoding = encodingOf(headerOf(head, "content-type"));
      try {
        const sender = known(peer);
        signalOf(head.method, head.path);
        if (encoding === undefined) {
          throw new Unsupported(`send ${contentTypes.protobuf} or ${contentTypes.json} as Content-Type`);
        }
        isPacked(headerOf(head, "content-encoding"));
        // A body that does not say its length may be as large as any.
        const { framing } = head;
        const bytes = framing.kind === "length" ? framing.bytes : framing.kind === "none" ? 0 : limits.bodyBytesMax;
        room.admit(sender, bytes);
        const headers = head.headers.filter(([name]) => name !== countedHeader);
        return { head: { ...head, headers: [...headers, [countedHeader, String(bytes)]] } };
      } catch (error) {
        const refusal = refused(error, encoding ?? "json");
        return { head, refusal: { ...refusal, holdMs: limits.holdMs } };
      }
    },
    async fetch(request) {
      const encoding = encodingOf(request.headers.get("content-type")) ?? "json";
      try {
        return await take(request, encoding);
      } catch (error) {
        const { status, content, headers } = refused(error, encoding);
        return new Response(content?.bytes, {
          status,
          headers: { ...headers, "Content-Type": contentTypes[encoding] },
        });
      }
    },
  };
}

function statusOf(error: unknown, log: Log): Refusal {
  if (error instanceof Unsupported) return { status: unsupportedStatus, message: error.message };
  const { status, message, headers } = refusalOf(error, log);
  // A sender that retries needs to know when.
  const more: Record<string, string> = status === failureStatus.unavailable ? { "Retry-After": "1" } : {};
  return { status, message, headers: { ...more, ...headers } };
}

function headerOf({ headers }: RequestHead, wanted: string): string | null {
  return headers.find(([name]) => name === wanted)?.[1] ?? null;
}

function encodingOf(contentType: string | null): OtlpEncoding | undefined {
  const [type = ""] = (contentType ?? "").split(";");
  const plain = type.trim().toLowerCase();
  return plain === contentTypes.protobuf ? "protobuf" : plain === contentTypes.json ? "json" : undefined;
}

function isPacked(contentEncoding: string | null): boolean {
  const coding = (contentEncoding ?? "identity").trim().toLowerCase();
  if (coding === "gzip") return true;
  if (coding === "identity" || coding === "") return false;
  throw new Unsupported(`Content-Encoding ${JSON.stringify(coding)} is not taken, use gzip`);
}

function signalOf(method: string, path: string): Signal {
  const signal = (Object.keys(requestShapes) as Signal[]).find((one) => path === `/v1/${one}`);
  if (signal === undefined) {
    throw new Failure(
      "not_found",
      `path ${JSON.stringify(path)} does not exist here: use /v1/metrics, /v1/logs or /v1/traces`,
    );
  }
  if (method === "POST") return signal;
  throw new Failure("method_not_allowed", `method ${method} is not allowed here, use POST`);
}
