import { expect, test } from "bun:test";
import { processHolding } from "../../../../src/runtime/docker/port-holder.ts";
import { freePort } from "../../../support/ports.ts";

test("names the process that listens on a port", async () => {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const holder = await processHolding(server.port);
  server.stop(true);
  expect(holder).toMatch(new RegExp(`^process ${process.pid} \\(.+\\)$`));
});

test("names nobody for a port that is free", async () => {
  expect(await processHolding(await freePort())).toBeUndefined();
});
