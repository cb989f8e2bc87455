import { afterEach, expect, test } from "bun:test";
import { identityLimits } from "../../../../src/config/config.ts";
import { type IdentityWorld, identityWorld } from "../../../support/identity.ts";
import { waitFor } from "../../../support/wait.ts";

let it: IdentityWorld;
let started: number;
let stopping: AbortController;
let running: Promise<void>;

/** A service with a search thread that does nothing. */
async function serve(fill: () => Promise<unknown> = async () => {}): Promise<void> {
  started = 0;
  const startSearch = () => {
    started += 1;
    return { post() {}, end() {} };
  };
  it = identityWorld({}, { startSearch });
  await fill();
  stopping = new AbortController();
  running = it.running.run(stopping.signal);
}

afterEach(async () => {
  stopping.abort();
  await running;
  it.close();
});

/** One look at whether there is something to index. */
async function look(): Promise<void> {
  it.clock.moveTo(it.clock.steady() + identityLimits.tendMs);
  await Bun.sleep(0);
}

test("the search thread starts with the server when there is an instance", async () => {
  await serve(() => it.tenant());
  expect(started).toBe(1);
});

test("without an instance no search thread runs, and with the first one it starts", async () => {
  await serve();
  await look();
  await look();
  expect(started).toBe(0);
  await it.tenant();
  await waitFor("the search thread to start", async () => {
    await look();
    return started === 1;
  });
});
