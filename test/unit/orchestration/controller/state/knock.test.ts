import { expect, test } from "bun:test";
import { createServer } from "node:net";
import { knock, refusalText } from "../../../../../src/orchestration/controller/state/knock.ts";

test("an open port answers and is left at once; a closed one says that it refuses", async () => {
  const left = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on("error", () => undefined).on("close", () => left.resolve());
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await knock({ host: "127.0.0.1", port }, AbortSignal.timeout(5_000));
  await left.promise;
  await new Promise((resolve) => server.close(resolve));
  const refused = await knock({ host: "127.0.0.1", port }, AbortSignal.timeout(5_000)).catch((error: unknown) => error);
  expect(refusalText(refused)).toBe("connection refused");
});

test("a limit that has passed ends it", async () => {
  const limit = AbortSignal.abort(new Error("too late"));
  expect(knock({ host: "127.0.0.1", port: 1 }, limit)).rejects.toThrow();
});
