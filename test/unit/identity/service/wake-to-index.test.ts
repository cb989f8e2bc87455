import { afterEach, expect, test } from "bun:test";
import { identityLimits } from "../../../../src/config/config.ts";
import { type IdentityWorld, identityWorld, type Tenant } from "../../../support/identity.ts";
import { waitFor } from "../../../support/wait.ts";

let it: IdentityWorld;
let started: number;
let stopping: AbortController;
let running: Promise<void>;

/** A service whose instances have an index from their third user or session on, with a search thread that does nothing. */
async function serve(fill: () => Promise<void> = async () => {}): Promise<void> {
  started = 0;
  const startSearch = () => {
    started += 1;
    return { post() {}, end() {} };
  };
  it = identityWorld({ search: { ...identityLimits.search, smallMax: 2 } }, { startSearch });
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

test("while every instance is small, no search thread runs", async () => {
  await serve();
  await look();
  for (const tenant of [await it.tenant(), await it.tenant()]) for (const _ of [1, 2]) await it.user(tenant);
  await look();
  await look();
  expect(started).toBe(0);
});

test("the search thread starts with the server when an instance is large", async () => {
  await serve(async () => {
    const tenant = await it.tenant();
    for (const _ of [1, 2, 3]) await it.user(tenant);
  });
  expect(started).toBe(1);
});

const growing = {
  users: async (tenant: Tenant) => {
    for (const _ of [1, 2, 3]) await it.user(tenant);
  },
  sessions: async (tenant: Tenant) => {
    const user = await it.user(tenant);
    for (const _ of [1, 2, 3]) await it.session(tenant, user);
  },
};

for (const [what, grow] of Object.entries(growing)) {
  test(`the search thread starts once an instance has many ${what}`, async () => {
    await serve();
    await look();
    expect(started).toBe(0);
    await grow(await it.tenant());
    await waitFor("the search thread to start", async () => {
      await look();
      return started === 1;
    });
  });
}
