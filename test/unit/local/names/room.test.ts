import { expect, test } from "bun:test";
import { createNamesRoom } from "../../../../src/local/names/room.ts";
import type { HostServers } from "../../../../src/local/names/host-servers.ts";
import type { NamesNetwork } from "../../../../src/local/names/network.ts";
import type { ZoneFile } from "../../../../src/local/names/zone-file.ts";
import type { ContainerSpec } from "../../../../src/orchestration/core/workload.ts";
import { type SteadyClock, systemClock } from "../../../../src/base/words/clock.ts";
import { networkLimits } from "../../../../src/config/network-limits.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { silentLog } from "../../../support/silent-log.ts";

const here: NamesNetwork = { gateway: "172.18.0.1", subnets: ["172.18.0.0/16"], bridge: "br-1", taken: ["172.18.0.1"] };

function world(clock: SteadyClock = systemClock) {
  const state = {
    network: here as NamesNetwork | undefined,
    host: { servers: ["192.0.2.1", "192.0.2.2", "192.0.2.3"], search: ["corp.example"] } as
      HostServers | { problem: string },
    short: ["db.dev"],
    refused: undefined as string | undefined,
    blocked: undefined as string | undefined,
    isRoot: true,
    written: [] as ZoneFile[],
    proofs: 0,
    looks: 0,
  };
  const room = createNamesRoom({
    network: "berth0",
    suffix: "berth",
    readNetwork: async () => {
      state.looks += 1;
      return state.network;
    },
    hostServers: () => state.host,
    shortNames: () => state.short,
    process: { isUp: () => true, ensure: async () => state.refused },
    prove: async () => {
      state.proofs += 1;
      return state.blocked;
    },
    write: async (zone) => void state.written.push(zone),
    get isRoot() {
      return state.isRoot;
    },
    clock,
    log: silentLog,
  });
  const dns = async (options = {}, networks = ["berth0", "own"]) => {
    const spec = { options, networks: networks.map((name) => ({ name, aliases: [] })) } as unknown as ContainerSpec;
    return (await room.withServers(spec)).options.dns;
  };
  return { state, room, dns };
}

test("a container on the network asks the name server, then two of the machine", async () => {
  const { dns } = world();
  expect(await dns()).toEqual(["172.18.0.1", "192.0.2.1", "192.0.2.2"]);
});

test("servers of the user stay, and a container without the network gets none", async () => {
  const { dns } = world();
  expect(await dns({ dns: ["192.0.2.7"] })).toEqual(["192.0.2.7"]);
  expect(await dns({}, [])).toBeUndefined();
  expect(await dns({}, ["own"])).toBeUndefined();
});

test("what is wrong is kept for the doctor, and containers are made as before", async () => {
  const wrongs: [Partial<ReturnType<typeof world>["state"]>, string][] = [
    [{ isRoot: false }, "only root can listen on port 53"],
    [{ host: { problem: "this machine asks 127.0.0.1" } }, "this machine asks 127.0.0.1"],
    [{ refused: "in use" }, "cannot listen on 172.18.0.1:53: in use"],
    [{ blocked: "no answer" }, "no answer"],
  ];
  for (const [wrong, text] of wrongs) {
    const { state, dns } = world();
    Object.assign(state, wrong);
    expect(await dns()).toBeUndefined();
    expect(state.written.at(-1)).toMatchObject({ servers: [], problem: { text, mend: expect.any(String) } });
  }
});

test("a firewall that is closed later ends it for new containers, and one that is opened brings it back", async () => {
  const { state, room, dns } = world();
  state.blocked = "no answer";
  expect(await dns()).toBeUndefined();
  state.blocked = undefined;
  await room.look();
  expect(await dns()).toContain("172.18.0.1");
  // What was proved a moment ago is not proved again at every look.
  await room.look();
  expect(state.proofs).toBe(2);
});

test("a network that was made again has other addresses, and is proved again", async () => {
  const { state, dns } = world();
  expect(await dns()).toContain("172.18.0.1");
  state.network = { ...here, gateway: "172.19.0.1", subnets: ["172.19.0.0/16"], bridge: "br-2" };
  expect(await dns()).toContain("172.19.0.1");
  expect(state.written.at(-1)?.subnets).toEqual(["172.19.0.0/16"]);
  expect(state.proofs).toBe(2);
  state.network = undefined;
  expect(await dns()).toBeUndefined();
});

test("a name that was written is known before a container with it is made", async () => {
  const { state, room, dns } = world();
  await dns();
  state.short = ["db.dev", "web.dev"];
  room.changed();
  await dns();
  expect(state.written.at(-1)?.short).toEqual(["db.dev", "web.dev"]);
});

test("while nothing changes, Docker is asked twice a minute; other name servers of the machine are known in five seconds", async () => {
  const clock = createFakeClock();
  const { state, room } = world(clock);
  const over = new AbortController();
  const running = room.run(over.signal);
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      clock.moveTo(clock.steady() + 1_000);
      await Bun.sleep(0);
    }
  };
  await pass(1);
  state.looks = 0;
  await pass(60);
  expect(state.looks).toBe(2);
  state.host = { servers: ["192.0.2.9"], search: [] };
  await pass(networkLimits.names.hostMs / 1_000 + 1);
  expect(state.written.at(-1)?.servers).toEqual(["172.18.0.1", "192.0.2.9"]);
  over.abort();
  await running;
});
