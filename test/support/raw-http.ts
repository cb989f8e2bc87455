import { connect } from "node:net";
import { connect as connectTls } from "node:tls";

/** Sends bytes as they are, and returns everything that comes back until the end, or until it stays silent. */
export function exchange(
  port: number,
  text: string | Uint8Array,
  options: { silenceMs?: number; tls?: string; protocol?: string } = {},
): Promise<string> {
  const { silenceMs = 400, tls, protocol = "http/1.1" } = options;
  return new Promise((resolve) => {
    const at = { host: "127.0.0.1", port };
    const socket =
      tls === undefined
        ? connect(at)
        : connectTls({ ...at, servername: tls, rejectUnauthorized: false, ALPNProtocols: [protocol] });
    let answer = "";
    let timer = setTimeout(() => socket.destroy(), 5_000);
    socket.on("data", (data: Buffer) => {
      answer += data.toString("latin1");
      clearTimeout(timer);
      timer = setTimeout(() => socket.destroy(), silenceMs);
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(answer);
    });
    socket.on(tls === undefined ? "connect" : "secureConnect", () => socket.write(text));
  });
}

/** Status codes of the answers in a text. */
export function statuses(answer: string): number[] {
  return [...answer.matchAll(/^HTTP\/1\.[01] (\d{3})/gm)]
    .map(([, status]) => Number(status))
    .filter((status) => status >= 200);
}
