/** Where a program listens. */
export interface ListenAddress {
  address: string;
  port: number;
}

interface PortState {
  phase: "unknown" | "open" | "closed";
  /** What the last attempt found, for people; undefined before the first. */
  text: string | undefined;
  /** When the port is asked next; undefined once it is open: it is never asked again. */
  nextAt: number | undefined;
}

/**
 * Which ports of one run of a container have answered. Plain data; never altered in place. Times are of one clock that is
 * never set back.
 */
export interface PortProof {
  startedAt: number;
  ports: ReadonlyMap<number, PortState>;
}

export interface PortOutcome {
  port: number;
  isOpen: boolean;
  text: string;
  /** When the attempt ended. */
  at: number;
  /** Whether the replica counts only once the port is open. */
  isRequired: boolean;
}

/** Pauses between attempts: a part of the time that the run has taken, within these bounds. */
const pauses = { share: 1 / 4, minMs: 100, requiredMaxMs: 5_000, otherMaxMs: 60_000 };

/** The proof of a container that was started just now. */
export function startProof(ports: Iterable<number>, startedAt: number): PortProof {
  const fresh = { phase: "unknown", text: undefined, nextAt: startedAt } as const;
  return { startedAt, ports: new Map([...ports].map((port) => [port, fresh])) };
}

/** The proof of a container that has served already: nothing is checked. */
export function provenAlready(ports: Iterable<number>, startedAt: number): PortProof {
  const open = { phase: "open", text: undefined, nextAt: undefined } as const;
  return { startedAt, ports: new Map([...ports].map((port) => [port, open])) };
}

/** Other ports are led to: what is known of those that stay is kept. */
export function withPorts(proof: PortProof, ports: Iterable<number>, now: number): PortProof {
  const fresh = startProof(ports, now).ports;
  return { ...proof, ports: new Map([...fresh].map(([port, state]) => [port, proof.ports.get(port) ?? state])) };
}

export function duePorts({ ports }: PortProof, now: number): number[] {
  return [...ports].flatMap(([port, { nextAt }]) => (nextAt !== undefined && nextAt <= now ? [port] : []));
}

/** When a port that is not `busy` is asked next; undefined when never. */
export function portsWakeAt({ ports }: PortProof, busy: ReadonlySet<number>): number | undefined {
  const times = [...ports].flatMap(([port, { nextAt }]) => (nextAt === undefined || busy.has(port) ? [] : [nextAt]));
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The state after one attempt. An outcome of a port that is not led to any more is dropped. */
export function portStep(proof: PortProof, { port, isOpen, text, at, isRequired }: PortOutcome): PortProof {
  if (!proof.ports.has(port)) return proof;
  const maxMs = isRequired ? pauses.requiredMaxMs : pauses.otherMaxMs;
  const pauseMs = Math.min(maxMs, Math.max(pauses.minMs, Math.ceil((at - proof.startedAt) * pauses.share)));
  const state: PortState = isOpen
    ? { phase: "open", text: undefined, nextAt: undefined }
    : { phase: "closed", text, nextAt: at + pauseMs };
  return { ...proof, ports: new Map([...proof.ports, [port, state]]) };
}

/** The first of `ports` that has not answered; `isAsked`: an attempt has failed. */
export function unproven(
  proof: PortProof,
  ports: Iterable<number>,
): { port: number; isAsked: boolean; text: string | undefined } | undefined {
  for (const port of ports) {
    const state = proof.ports.get(port);
    if (state === undefined || state.phase === "open") continue;
    return { port, isAsked: state.phase === "closed", text: state.text };
  }
  return undefined;
}

const listenersShown = 3;

/**
 * Why a port does not answer, and where the program does listen. `listeners`: undefined where that cannot be seen.
 * `connection refused; it listens on 127.0.0.1:5000; berth needs 0.0.0.0:3000`
 */
export function closedText(
  port: number,
  { said, listeners }: { said: string; listeners: readonly ListenAddress[] | undefined },
): string {
  const needed = `berth needs 0.0.0.0:${port}`;
  if (listeners === undefined) return `${said}; ${needed}`;
  if (listeners.length === 0) return `nothing listens yet; ${needed}`;
  const texts = [...new Set(listeners.map(({ address, port: at }) => `${bracketed(address)}:${at}`))].sort();
  const more = texts.length - listenersShown;
  const shown = [...texts.slice(0, listenersShown), ...(more > 0 ? [`${more} more`] : [])];
  return `${said}; the program listens on ${shown.join(", ")}; ${needed}`;
}

function bracketed(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
