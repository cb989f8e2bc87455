import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import type { DockerClient } from "../client.ts";
import type { Attempt } from "../errors.ts";
import { openConnection } from "../open-stream.ts";
import { bytesField, numberField, wireFields } from "./protobuf.ts";

// Node has it since 20.12; the types do not.
declare module "node:http2" {
  export function performServerHandshake(socket: Duplex): ServerHttp2Session;
}

/**
 * A connection over which the engine asks for the secrets of a build, one by one and only when a step mounts them. The
 * roles are turned round: the engine is the gRPC client. Source: moby/buildkit, session/ (health.proto, secrets.proto).
 */
export interface BuildSession {
  id: string;
  close(): void;
}

const healthCheck = "/grpc.health.v1.Health/Check";
const getSecret = "/moby.buildkit.secrets.v1.Secrets/GetSecret";
/** A request holds the name of a secret and few words more. */
const requestBytesMax = 64 * 1024;
const notFound = "5";
const unimplemented = "12";

type Secrets = Readonly<Record<string, string>>;

export async function openBuildSession(
  engine: DockerClient,
  secrets: Secrets,
  { attempt, signal }: { attempt: Attempt; signal: AbortSignal },
): Promise<BuildSession> {
  const id = crypto.randomUUID();
  const headers = {
    Upgrade: "h2c",
    "X-Docker-Expose-Session-Uuid": id,
    "X-Docker-Expose-Session-Name": "build",
    "X-Docker-Expose-Session-Sharedkey": "",
    "X-Docker-Expose-Session-Grpc-Method": [healthCheck, getSecret],
  };
  const duplex = await engine.call(attempt, (docker, deadline) =>
    openConnection(docker, { path: "/session", headers, signal: AbortSignal.any([signal, deadline]) }),
  );
  const session: ServerHttp2Session = performServerHandshake(duplex);
  session.on("stream", (stream, asked) => answer(stream, String(asked[":path"]), secrets));
  // The engine tells the build itself when its session is gone.
  duplex.on("error", () => duplex.destroy());
  session.on("error", () => duplex.destroy());
  return { id, close: () => duplex.destroy() };
}

function answer(duplex: ServerHttp2Stream, path: string, secrets: Secrets): void {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  duplex.on("error", () => duplex.close());
  duplex.on("data", (part: Uint8Array) => {
    bytes += part.length;
    if (bytes > requestBytesMax) duplex.close();
    else parts.push(part);
  });
  duplex.on("end", () => {
    if (duplex.closed) return;
    const { message, code } = replyTo(path, Buffer.concat(parts).subarray(frameHead), secrets);
    duplex.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    duplex.on("wantTrailers", () => duplex.sendTrailers({ "grpc-status": code }));
    duplex.end(message === undefined ? undefined : framed(message));
  });
}

/** Head of each gRPC message: whether it is compressed, and its length. */
const frameHead = 5;

function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(frameHead);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function replyTo(path: string, request: Uint8Array, secrets: Secrets): { message?: Buffer; code: string } {
  if (path === healthCheck) return { message: numberField(1, 1), code: "0" };
  if (path !== getSecret) return { code: unimplemented };
  const secret = secrets[idIn(request)];
  return secret === undefined ? { code: notFound } : { message: bytesField(1, Buffer.from(secret)), code: "0" };
}

function idIn(request: Uint8Array): string {
  for (const field of wireFields(request)) {
    if (field.number === 1 && "bytes" in field) return Buffer.from(field.bytes).toString();
  }
  return "";
}
