import type { Signal } from "./shapes.ts";

/** What became of a request that was taken. */
export interface Taken {
  /** Data points, log records or spans that were not kept. */
  rejected: number;
  /** Why; also alone, as a warning. */
  message: string;
}

const names: Readonly<Record<Signal, string>> = {
  metrics: "rejectedDataPoints",
  logs: "rejectedLogRecords",
  traces: "rejectedSpans",
};

/** The body of a 200: `Export…ServiceResponse`. Empty where everything was kept. */
export function takenAsJson(signal: Signal, { rejected, message }: Taken): unknown {
  if (rejected === 0 && message === "") return {};
  return { partialSuccess: { [names[signal]]: String(rejected), errorMessage: message } };
}

export function takenAsProtobuf({ rejected, message }: Taken): Uint8Array<ArrayBuffer> {
  if (rejected === 0 && message === "") return new Uint8Array();
  const text = new TextEncoder().encode(message);
  const inner = [0x08, ...varint(rejected), 0x12, ...varint(text.length), ...text];
  return Uint8Array.from([0x0a, ...varint(inner.length), ...inner]);
}

/** The body of a refusal: `google.rpc.Status`, of which OTLP asks for the message alone. */
export function refusalAsProtobuf(message: string): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(message);
  return Uint8Array.from([0x12, ...varint(text.length), ...text]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return [...bytes, rest];
}
