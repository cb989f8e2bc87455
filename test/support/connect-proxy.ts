export interface ConnectProxy {
  /** `http://127.0.0.1:PORT` */
  url: string;
  /** What was asked for, without headers: `CONNECT 1.1.1.1:443`, `GET http://a.test/`. */
  asked: string[];
  stop(): void;
}

/** A proxy that leads every tunnel to one port of loopback, and answers other requests itself. */
export function startConnectProxy(port: number): ConnectProxy {
  const asked: string[] = [];
  interface Half {
    far?: Promise<Bun.Socket<undefined>>;
  }
  const server = Bun.listen<Half>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(near) {
        near.data = {};
      },
      data(near, bytes) {
        if (near.data.far !== undefined) return void near.data.far.then((far) => far.write(bytes));
        const [method = "", target = ""] = bytes.toString().split(" ");
        asked.push(`${method} ${target}`);
        if (method !== "CONNECT") {
          near.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nby proxy\n");
          return;
        }
        const socket = { data: (_: unknown, part: Buffer) => void near.write(part), close: () => void near.end() };
        near.data.far = Bun.connect<undefined>({ hostname: "127.0.0.1", port, data: undefined, socket });
        near.data.far.then(
          () => near.write("HTTP/1.1 200 OK\r\n\r\n"),
          () => near.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"),
        );
      },
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, asked, stop: () => server.stop(true) };
}
