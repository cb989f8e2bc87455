/** A line that the proxy sends while a request waits for an app that is asleep: `wake <backend> <host>`. */
interface WakeLine {
  backend: string;
  /** As the visitor wrote it, without the port. */
  host: string;
}

/** Undefined for every other line. No backend is called `wake`, so that none of the access lines is one. */
export function parseWakeLine(line: string): WakeLine | undefined {
  const [word, backend, host, ...more] = line.trimEnd().split(" ");
  if (word !== "wake" || backend === undefined || host === undefined || more.length > 0) return undefined;
  return { backend, host };
}
