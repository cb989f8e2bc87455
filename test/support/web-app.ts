/**
 * A web server for containers of tests, run by Bun. It answers with $TEXT, takes its time at /slow, and echoes
 * WebSockets. When it is told to end, it closes each WebSocket with a code and finishes its requests.
 */
const open = new Set<Bun.ServerWebSocket>();

const server = Bun.serve({
  port: 8080,
  async fetch(request, self) {
    const { pathname } = new URL(request.url);
    if (pathname === "/socket") return self.upgrade(request) ? undefined : new Response("no socket", { status: 400 });
    if (pathname === "/slow") await Bun.sleep(300);
    return new Response(process.env.TEXT ?? "");
  },
  websocket: {
    open: (socket) => void open.add(socket),
    close: (socket) => void open.delete(socket),
    message: (socket, text) => void socket.send(text),
  },
});

process.on("SIGTERM", async () => {
  for (const socket of open) socket.close(1001, "going away");
  await server.stop();
  process.exit(0);
});
