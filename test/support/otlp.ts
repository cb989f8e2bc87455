import { telemetryLimits } from "../../src/config/telemetry-limits.ts";
import { createBudget } from "../../src/observability/core/otlp/budget.ts";
import { createDecoder } from "../../src/observability/service/telemetry/decoder.ts";
import type { StartDecodeThread } from "../../src/observability/service/telemetry/decode-thread.ts";
import type { Scalar, Shape } from "../../src/observability/core/otlp/shapes.ts";

type Fields = Record<string, unknown>;

/** A message as protobuf has it, from the object that its JSON would be. */
export function encodeProtobuf(shape: Shape, fields: Fields): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  for (const [number, { name, type, repeated }] of Object.entries(shape)) {
    const value = fields[name];
    if (value === undefined) continue;
    const values = repeated ? (value as unknown[]) : [value];
    const isPacked = repeated && typeof type === "string" && !["string", "bytes", "id"].includes(type);
    if (isPacked) bytes.push(...tag(number, 2), ...sized(values.flatMap((one) => scalar(one, type))));
    else
      for (const one of values) {
        if (typeof type === "function")
          bytes.push(...tag(number, 2), ...sized([...encodeProtobuf(type(), one as Fields)]));
        else bytes.push(...tag(number, wireOf(type)), ...scalar(one, type));
      }
  }
  return Uint8Array.from(bytes);
}

const tag = (number: string, wire: number) => varint(BigInt(Number(number) * 8 + wire));
const sized = (bytes: number[]) => [...varint(BigInt(bytes.length)), ...bytes];

function wireOf(type: Scalar): number {
  if (type === "string" || type === "bytes" || type === "id") return 2;
  return type === "double" || type === "fixed64" || type === "sfixed64" ? 1 : 0;
}

function scalar(value: unknown, type: Scalar): number[] {
  if (type === "string") return sized([...new TextEncoder().encode(String(value))]);
  if (type === "bytes") return sized([...Buffer.from(String(value), "base64")]);
  if (type === "id") return sized([...Buffer.from(String(value), "hex")]);
  const number = Number(value);
  if (wireOf(type) === 1) {
    const view = new DataView(new ArrayBuffer(8));
    if (type === "double") view.setFloat64(0, number, true);
    else view.setBigInt64(0, BigInt.asIntN(64, BigInt(String(value))), true);
    return [...new Uint8Array(view.buffer)];
  }
  if (type === "sint32") return varint(BigInt(number < 0 ? -number * 2 - 1 : number * 2));
  return varint(BigInt.asUintN(64, BigInt(number)));
}

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128n) {
    bytes.push(Number(rest % 128n) + 128);
    rest /= 128n;
  }
  return [...bytes, Number(rest)];
}

/** Nanoseconds as JSON of OTLP has them. */
export const nanos = (ms: number) => `${Math.floor(ms)}000000`;

export const text = (key: string, value: string) => ({ key, value: { stringValue: value } });

export const oneMetric = (metric: Fields) => ({ resourceMetrics: [{ scopeMetrics: [{ metrics: [metric] }] }] });

export const logRecords = (...records: Fields[]) => ({
  resourceLogs: [{ scopeLogs: [{ scope: { name: "app" }, logRecords: records }] }],
});

export const oneTrace = (service: string, ...spans: Fields[]) => ({
  resourceSpans: [
    { resource: { attributes: [text("service.name", service)] }, scopeSpans: [{ scope: { name: "http" }, spans }] },
  ],
});

/** A budget that no test spends. */
export const plenty = () => createBudget({ ...telemetryLimits.room.decode, bytesLeft: 1e9, entryBytes: 1 });

/** Decodes in this process, as the thread would. */
export const decodeHere: StartDecodeThread = ({ onMessage }) => {
  let isOver = false;
  const receive = createDecoder({
    post: (message) => queueMicrotask(() => void (isOver || onMessage(structuredClone(message)))),
    report: (error) => {
      throw error;
    },
  });
  return {
    post: (message, moved = []) => {
      const own = structuredClone(message, { transfer: moved });
      queueMicrotask(() => void (isOver || receive(own)));
    },
    end() {
      isOver = true;
    },
  };
};
