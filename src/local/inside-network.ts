import type { InsideNetwork } from "../orchestration/controller/rollout/drill-room.ts";

/** Bytes of an answer that are read. */
const answerBytesMax = 64 * 1024;

/**
 * Asks what listens in the network of a process from inside of it, with the bash of this machine. It speaks HTTP alone: of a
 * port with TLS it is only seen that it takes connections.
 */
export const insideNetwork: InsideNetwork = (pid) => {
  async function exchanged(host: string, port: number, words: string, signal: AbortSignal): Promise<string> {
    const script = `exec 3<>/dev/tcp/${host}/${port} || exit 7; cat >&3; head -c ${answerBytesMax} <&3`;
    const child = Bun.spawn(["nsenter", `--net=/proc/${pid}/ns/net`, "--", "bash", "-c", script], {
      ...{ stdin: new Blob([words]), stdout: "pipe", stderr: "ignore", signal, killSignal: "SIGKILL" },
    });
    const said = await new Response(child.stdout).arrayBuffer();
    if ((await child.exited) === 7) throw new Error("connection refused");
    signal.throwIfAborted();
    return Buffer.from(said).toString("latin1");
  }

  return {
    async knock({ host, port }, limit) {
      const script = `exec 3<>/dev/tcp/${host}/${port} || exit 7`;
      const child = Bun.spawn(["nsenter", `--net=/proc/${pid}/ns/net`, "--", "bash", "-c", script], {
        ...{ stdin: "ignore", stdout: "ignore", stderr: "ignore", signal: limit, killSignal: "SIGKILL" },
      });
      if ((await child.exited) !== 0) throw new Error("connection refused");
    },
    async fetch(url, { signal, headers = {} }) {
      const { hostname, port, pathname, search, protocol, host } = new URL(url);
      if (protocol !== "http:") {
        await this.knock({ host: hostname, port: Number(port || 443) }, signal);
        return new Response(null, { status: 200, statusText: "connected" });
      }
      const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === "host");
      const rows = Object.entries({ ...(isNamed ? {} : { Host: host }), ...headers }).map(
        ([name, value]) => `${name}: ${value}`,
      );
      const words = [`GET ${pathname}${search} HTTP/1.0`, ...rows, "", ""].join("\r\n");
      return responseOf(await exchanged(hostname, Number(port || 80), words, signal));
    },
  };
};

function responseOf(text: string): Response {
  const [, status, statusText = "", rest = ""] = /^HTTP\/\d\.\d (\d{3}) ?([^\r\n]*)\r?\n([\s\S]*)$/.exec(text) ?? [];
  if (status === undefined || Number(status) < 200) throw new Error("what answered does not speak HTTP");
  const end = /\r?\n\r?\n/.exec(`\n${rest}`);
  const location = /^location:\s*(\S+)/im.exec(rest.slice(0, end?.index ?? 0))?.[1];
  const isEmpty = status === "204" || status === "304" || status === "205";
  const body = isEmpty || end === null ? null : rest.slice(end.index - 1 + end[0].length);
  return new Response(body, {
    status: Number(status),
    statusText,
    headers: location === undefined ? {} : { location },
  });
}
