import { usageFailure } from "../basics/failures.ts";

/** One port of this machine and the port of the pod that it leads to; local 0 is any free one. */
export interface PortPair {
  local: number;
  remote: number;
}

/** `5432`, `15432:5432` or `:5432`, which takes any free local port. Fails with wrong usage. */
export function readPortPair(text: string): PortPair {
  const [first = "", second, ...more] = text.split(":");
  const remote = portOf(second ?? first);
  const local = second === undefined ? remote : first === "" ? 0 : portOf(first, 0);
  if (more.length > 0 || remote === undefined || local === undefined) {
    throw usageFailure(`"${text}" is not a port: write REMOTE, LOCAL:REMOTE or :REMOTE, with numbers from 1 to 65535`);
  }
  return { local, remote };
}

function portOf(text: string, least = 1): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  return port >= least && port <= 65_535 ? port : undefined;
}
