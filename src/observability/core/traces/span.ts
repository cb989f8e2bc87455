export const spanKinds = ["unspecified", "internal", "server", "client", "producer", "consumer"] as const;
type SpanKind = (typeof spanKinds)[number];

/** A span as it is stored. */
export interface Span {
  /** Hexadecimal, 32 letters. */
  trace: string;
  /** Hexadecimal, 16 letters. */
  id: string;
  /** Empty for the root of a trace. */
  parent: string;
  name: string;
  kind: SpanKind;
  /** Epoch microseconds. */
  atUs: number;
  durationUs: number;
  error: boolean;
  /** Message of the status. */
  message: string;
  /** `service.name` as the app says it, and the replica that sent it. */
  service: string;
  replica: string;
  attributes: Record<string, unknown>;
  events: { atUs: number; name: string; attributes: Record<string, unknown> }[];
}

/** What one app sent of one trace at one time. */
export interface TracePart {
  trace: string;
  fromUs: number;
  untilUs: number;
  spans: number;
  errors: number;
  /** Name of the root; empty where the root is not among them. */
  root: string;
  /** Names of its spans, once each, with spaces between: what is searched. */
  words: string;
}

const wordsMax = 500;

/** The parts that a batch of spans is made of. */
export function partsOf(spans: readonly Span[]): TracePart[] {
  const parts = new Map<string, TracePart & { names: Set<string> }>();
  for (const span of spans) {
    const untilUs = span.atUs + span.durationUs;
    const known = parts.get(span.trace) ?? {
      ...{ trace: span.trace, fromUs: span.atUs, untilUs, spans: 0, errors: 0, root: "", words: "" },
      names: new Set<string>(),
    };
    parts.set(span.trace, known);
    known.fromUs = Math.min(known.fromUs, span.atUs);
    known.untilUs = Math.max(known.untilUs, untilUs);
    known.spans += 1;
    known.errors += span.error ? 1 : 0;
    known.names.add(span.name);
    if (span.parent === "") known.root = span.name;
  }
  return [...parts.values()].map(({ names, ...part }) => ({ ...part, words: [...names].join(" ").slice(0, wordsMax) }));
}
