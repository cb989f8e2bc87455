import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Naming } from "../../src/orchestration/core/naming.ts";
import type { ContainerSpec } from "../../src/orchestration/core/workload.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import type { PodEvent } from "../../src/orchestration/engine/pod.ts";
import { containerSpec } from "../support/container-spec.ts";
import { expectFailure } from "../support/failure.ts";
import { freePort } from "../support/ports.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

/** What the suite needs of an implementation. */
export interface RuntimeSubject {
  runtime: Engine;
  names: Naming;
  installationId: string;
  /** An image that is on the machine and can sleep. */
  image: string;
  unique(text: string): string;
  /** Runs until `leave` is called, and writes what `talk` is given. */
  puppet: string[];
  /** The main process of a puppet writes this. */
  talk(nameOrId: string, text: string): Promise<void>;
  /** The main process of a puppet ends with this code. */
  leave(nameOrId: string, exitCode: number): Promise<void>;
  /** Removes everything that the suite made. */
  cleanUp(): Promise<void>;
}

/** What every `Runtime` promises, run against each of them. */
export function runtimeContract(name: string, makeSubject: () => Promise<RuntimeSubject>): void {
  describe(`runtime contract: ${name}`, () => {
    let subject: RuntimeSubject;
    let runtime: Engine;

    beforeAll(async () => {
      subject = await makeSubject();
      runtime = subject.runtime;
    });
    afterEach(() => subject.cleanUp());
    afterAll(() => runtime.close());

    const owner = { kind: "deployment", scope: "shop", name: "web" };
    const labelsOf = ({ kind, scope, name: resource }: typeof owner) => {
      const { label } = subject.names;
      return { [label.kind]: kind, [label.scope]: scope, [label.name]: resource };
    };
    const spec = (text: string, change: Partial<ContainerSpec> = {}) =>
      containerSpec({
        name: subject.unique(text),
        image: subject.image,
        labels: labelsOf(owner),
        networkMode: "none",
        ...change,
      });
    const started = async (container: ContainerSpec) => {
      const id = await runtime.create(container);
      await runtime.start(id);
      return id;
    };

    describe("containers", () => {
      test("are listed with the networks that they are connected to", async () => {
        const names = [subject.unique("near"), subject.unique("far")];
        for (const network of names) await runtime.ensureNetwork(network);
        const networks = names.map((network) => ({ name: network, aliases: [] }));
        const id = await started(spec("joined", { networkMode: "bridge", networks }));
        const row = (await runtime.observe(owner)).find((container) => container.id === id.id);
        expect([...(row?.joined ?? [])].sort()).toEqual([...names].sort());
        expect([...((await runtime.inspect(id))?.joined ?? [])].sort()).toEqual([...names].sort());
        await runtime.remove(id);
      });

      test("are listed with their address in each network while they run, and without one while they do not", async () => {
        const network = subject.unique("near");
        await runtime.ensureNetwork(network);
        const networks = [{ name: network, aliases: [] }];
        const id = await runtime.create(spec("addressed", { networkMode: "bridge", networks }));
        const addresses = async () =>
          (await runtime.observe(owner)).find((container) => container.id === id.id)?.addresses;
        expect(await addresses()).toEqual({});
        await runtime.start(id);
        const detail = await runtime.inspect(id);
        const address = detail?.networks[network]?.ipAddress ?? "";
        expect(address).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
        expect(detail?.addresses).toEqual({ [network]: address });
        expect(detail?.address).toBe(network === subject.names.network ? address : undefined);
        expect(await addresses()).toEqual({ [network]: address });
        await runtime.stop(id, { graceMs: 0 });
        expect(await addresses()).toEqual({});
        expect((await runtime.inspect(id))?.addresses).toEqual({});
        await runtime.remove(id);
      });

      test.each(["host", "none"] as const)("on network %s are listed so, and have no address", async (networkMode) => {
        const id = await started(spec("bare", { networkMode }));
        const row = (await runtime.observe(owner)).find((container) => container.id === id.id);
        expect(row).toMatchObject({ joined: [networkMode], addresses: {} });
        expect(await runtime.inspect(id)).toMatchObject({ joined: [networkMode], addresses: {} });
      });

      test("a created container is listed with its labels and its image as given, and does not run", async () => {
        const wanted = spec("a");
        const id = await runtime.create(wanted);
        const rows = await runtime.observe();
        expect(rows).toHaveLength(1);
        expect(rows[0]).toMatchObject({ ...id, name: wanted.name, image: subject.image, state: "created" });
        const identity = { key: owner, replicaId: "", ordinal: undefined, role: undefined };
        expect(rows[0]).toMatchObject({ node: "local", identity, address: undefined });
        expect(await runtime.inspect(id)).toMatchObject({ node: "local", identity, address: undefined });
        const { label, prefix } = subject.names;
        expect(rows[0]?.labels).toMatchObject({
          ...wanted.labels,
          createdby: prefix,
          [label.installation]: subject.installationId,
        });
        expect(Math.abs((rows[0]?.createdAt ?? 0) - Date.now())).toBeLessThan(60_000);
      });

      test("are paused and go on; what does not run is not paused, and what is not paused goes on", async () => {
        const pod = await runtime.create(spec("paused"));
        expect(await runtime.pause(pod)).toBe(false);
        await runtime.start(pod);
        const state = async () => (await runtime.inspect(pod))?.state;
        expect([await runtime.pause(pod), await runtime.pause(pod), await state()]).toEqual([true, true, "paused"]);
        await runtime.unpause(pod);
        await runtime.unpause(pod);
        expect(await state()).toBe("running");
        await runtime.pause(pod);
        await runtime.stop(pod, { graceMs: 0 });
        expect(await state()).toBe("exited");
        await runtime.remove(pod);
        await runtime.unpause(pod);
        expect(await runtime.pause(pod)).toBe(false);
      });

      test("labels of raw engine options never replace those of the platform", async () => {
        const { label } = subject.names;
        const options = { labels: { [label.kind]: "forged", [label.installation]: "forged", team: "blue" } };
        await runtime.create(spec("a", { options }));
        const [row] = await runtime.observe();
        expect(row?.labels).toMatchObject({
          [label.kind]: owner.kind,
          [label.installation]: subject.installationId,
          team: "blue",
        });
      });

      test("start makes it run, and starting again is fine", async () => {
        const id = await runtime.create(spec("a"));
        await runtime.start(id);
        await runtime.start(id);
        const detail = await runtime.inspect(id);
        expect(detail).toMatchObject({ state: "running", exitCode: undefined, error: "" });
        expect(detail?.pid).toBeGreaterThan(0);
        expect(Math.abs((detail?.startedAt ?? 0) - Date.now())).toBeLessThan(60_000);
      });

      test("stop ends it, keeps it, and stopping again is fine; it can be started anew", async () => {
        const id = await started(spec("a"));
        await runtime.stop(id, { graceMs: 0 });
        await runtime.stop(id, { graceMs: 0 });
        const detail = await runtime.inspect(id);
        expect(detail).toMatchObject({ state: "exited", pid: undefined });
        expect(detail?.exitCode).toBeNumber();
        expect(detail?.finishedAt).toBeNumber();
        await runtime.start(id);
        expect((await runtime.inspect(id))?.state).toBe("running");
      });

      test("a container that was told to restart always stays down after stop", async () => {
        const id = await started(spec("a", { restart: { name: "always", maximumRetryCount: 0 } }));
        await runtime.stop(id, { graceMs: 0 });
        expect((await runtime.inspect(id))?.state).toBe("exited");
      });

      test("remove ends a running container; removing what is not there is fine", async () => {
        const wanted = spec("a");
        const id = await started(wanted);
        await runtime.remove(podRef(wanted.name));
        await runtime.remove(podRef(wanted.name));
        await runtime.remove(id);
        expect(await runtime.inspect(id)).toBeUndefined();
        expect(await runtime.observe()).toEqual([]);
      });

      test("two that remove one container at the same time both succeed, and it is gone", async () => {
        const id = await started(spec("a"));
        await Promise.all([runtime.remove(id), runtime.remove(id), runtime.remove(id)]);
        expect(await runtime.inspect(id)).toBeUndefined();
      });

      test("removeUnlessRunning leaves alone what runs, also what is being started at the same moment", async () => {
        const id = await started(spec("a"));
        expect(await runtime.removeUnlessRunning(id)).toBe(false);
        expect((await runtime.inspect(id))?.state).toBe("running");
        await runtime.stop(id, { graceMs: 0 });
        expect(await runtime.removeUnlessRunning(id)).toBe(true);
        expect(await runtime.inspect(id)).toBeUndefined();
        expect(await runtime.removeUnlessRunning(id)).toBe(true);

        for (let round = 0; round < 5; round++) {
          const raced = await runtime.create(spec("b"));
          const start = runtime.start(raced).then(
            () => true,
            () => false,
          );
          if (round > 0) await Bun.sleep(round * 10);
          const removed = await runtime.removeUnlessRunning(raced);
          const runs = await start;
          expect([runs, (await runtime.inspect(raced))?.state]).toEqual(
            removed ? [false, undefined] : [true, "running"],
          );
          await runtime.remove(raced);
        }
      });

      test("inspect tells what was asked for", async () => {
        const wanted = spec("a", {
          env: { GREETING: "hello = world", EMPTY: "", LINES: "a\nb" },
          memoryBytes: 64 * 1024 * 1024,
          nanoCpus: 500_000_000,
          restart: { name: "unless-stopped", maximumRetryCount: 0 },
          stopGraceMs: 7_000,
          options: { entrypoint: ["/bin/sh", "-c"], workingDir: "/tmp" },
          command: ["sleep 600"],
        });
        await runtime.create(wanted);
        const detail = await runtime.inspect(podRef(wanted.name));
        expect(detail).toMatchObject({
          name: wanted.name,
          image: subject.image,
          command: ["sleep 600"],
          entrypoint: ["/bin/sh", "-c"],
          workingDir: "/tmp",
          memoryBytes: 64 * 1024 * 1024,
          nanoCpus: 500_000_000,
          restartPolicy: "unless-stopped",
          stopGraceMs: 7_000,
          restartCount: 0,
          oomKilled: false,
          tty: false,
          startedAt: undefined,
          finishedAt: undefined,
          exitCode: undefined,
        });
        expect(detail?.env).toMatchObject(wanted.env);
      });

      test("inspect finds by name and by id, never by the beginning of one", async () => {
        const wanted = spec("a");
        const id = await runtime.create(wanted);
        expect(await runtime.inspect(podRef(wanted.name))).toMatchObject(id);
        expect((await runtime.inspect(id))?.name).toBe(wanted.name);
        expect(await runtime.inspect(podRef(id.id.slice(0, 5)))).toBeUndefined();
      });

      test.each(["missing", "..", "../version", "a/b", "", "a?b", "a b"])(
        "the name %p is of nothing, and of nothing else",
        async (missing) => {
          expect(await runtime.inspect(podRef(missing))).toBeUndefined();
          await runtime.remove(podRef(missing));
          await expectFailure(runtime.start(podRef(missing)), "not_found");
          await expectFailure(runtime.stop(podRef(missing), { graceMs: 0 }), "not_found");
          await expectFailure(runtime.rename(podRef(missing), subject.unique("x")), "not_found");
        },
      );

      test("a name in use is refused by create and by rename", async () => {
        const [first, second] = [spec("a"), spec("b")];
        await runtime.create(first);
        const id = await runtime.create(second);
        const failure = await expectFailure(runtime.create(first), "conflict", "NameTaken");
        expect(failure.message).toContain(`"${first.name}"`);
        await expectFailure(runtime.rename(id, first.name), "conflict", "NameTaken");
        await runtime.rename(id, subject.unique("c"));
        expect((await runtime.inspect(id))?.name).toBe(subject.unique("c"));
        expect(await runtime.inspect(podRef(second.name))).toBeUndefined();
        await runtime.create(second);
      });

      test("an image that is not on the machine is named", async () => {
        const failure = await expectFailure(
          runtime.create(spec("a", { image: "nowhere.invalid/nothing:1" })),
          "conflict",
          "ImageMissing",
        );
        expect(failure.message).toContain("nowhere.invalid/nothing:1");
      });

      test("list takes any part of the key", async () => {
        const other = { kind: "statefulset", scope: "shop", name: "db" };
        const third = { kind: "deployment", scope: "blog", name: "web" };
        for (const [index, key] of [owner, other, third].entries()) {
          await runtime.create(spec(`k${index}`, { labels: labelsOf(key) }));
        }
        const names = async (filter: Parameters<Engine["observe"]>[0]) =>
          (await runtime.observe(filter)).map((row) => row.name.slice(-2)).sort();
        expect(await names({})).toEqual(["k0", "k1", "k2"]);
        expect(await names({ kind: "deployment" })).toEqual(["k0", "k2"]);
        expect(await names({ scope: "shop" })).toEqual(["k0", "k1"]);
        expect(await names({ name: "web", scope: "blog" })).toEqual(["k2"]);
        expect(await names(other)).toEqual(["k1"]);
        expect(await names({ ...other, name: "none" })).toEqual([]);
      });

      test("many at once are all made and all run", async () => {
        const ids = await Promise.all([1, 2, 3, 4, 5, 6].map((index) => started(spec(`p${index}`))));
        expect(new Set(ids).size).toBe(6);
        const rows = await runtime.observe();
        expect(rows.map(({ state }) => state)).toEqual(ids.map(() => "running"));
      });

      test("of two with one name created at once, one wins and the other is told", async () => {
        const outcomes = await Promise.allSettled([runtime.create(spec("a")), runtime.create(spec("a"))]);
        expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
        expect(await runtime.observe()).toHaveLength(1);
      });
    });

    describe("ports", () => {
      let published: Partial<ContainerSpec>;
      beforeEach(async () => {
        await runtime.ensureNetwork(subject.unique("n1"));
        published = { networkMode: "bridge", networks: [{ name: subject.unique("n1"), aliases: [] }] };
      });
      const loopback = { hostIp: "127.0.0.1", containerPort: 80, protocol: "tcp" as const };

      test("a port without a number gets a free one while it runs", async () => {
        const ports = [{ ...loopback, hostPort: undefined }];
        const [first, second] = [
          await started(spec("a", { ...published, ports })),
          await started(spec("b", { ...published, ports })),
        ];
        const rows = [
          ...((await runtime.inspect(first))?.ports ?? []),
          ...((await runtime.inspect(second))?.ports ?? []),
        ];
        expect(rows.map(({ container, hostIp }) => `${hostIp} ${container}`)).toEqual([
          "127.0.0.1 80/tcp",
          "127.0.0.1 80/tcp",
        ]);
        expect(new Set(rows.map(({ hostPort }) => hostPort)).size).toBe(2);
      });

      test("a fixed port that another holds is named at start, and is free when that one is gone", async () => {
        const hostPort = await freePort();
        const ports = [{ ...loopback, hostPort }];
        const first = await started(spec("a", { ...published, ports }));
        const second = await runtime.create(spec("b", { ...published, ports }));
        const failure = await expectFailure(runtime.start(second), "conflict", "PortTaken");
        expect(failure.message).toContain(String(hostPort));
        expect((await runtime.inspect(second))?.state).not.toBe("running");
        await runtime.stop(first, { graceMs: 0 });
        await runtime.start(second);
        expect((await runtime.inspect(second))?.ports).toEqual([
          { container: "80/tcp", hostIp: "127.0.0.1", hostPort: String(hostPort) },
        ]);
      });

      test("who holds a port is told with the container, for overlapping addresses too, and not once it is free", async () => {
        const hostPort = await freePort();
        const fixed = { ...loopback, hostPort };
        const first = await started(spec("a", { ...published, ports: [fixed] }));
        const everywhere = { ...fixed, hostIp: "0.0.0.0" };
        const others = [
          { ...fixed, hostIp: "127.0.0.2" },
          { ...fixed, protocol: "udp" as const },
        ];
        const holder = { holder: `container "${subject.unique("a")}"`, container: first.id };
        expect(await runtime.portHolders([fixed, everywhere, ...others])).toEqual([
          { binding: fixed, ...holder },
          { binding: everywhere, ...holder },
        ]);
        await runtime.stop(first, { graceMs: 0 });
        expect(await runtime.portHolders([fixed])).toEqual([]);
      });

      test("one number serves two addresses and two protocols", async () => {
        const hostPort = await freePort();
        const udp = { ...loopback, protocol: "udp" as const, hostPort };
        await started(spec("a", { ...published, ports: [{ ...loopback, hostPort }, udp] }));
        await started(spec("b", { ...published, ports: [{ ...loopback, hostIp: "127.0.0.2", hostPort }] }));
      });
    });

    describe("networks", () => {
      test("a container joins all its networks in bridge mode, with its aliases", async () => {
        const [first, second] = [subject.unique("n1"), subject.unique("n2")];
        await runtime.ensureNetwork(first);
        await runtime.ensureNetwork(second);
        await runtime.ensureNetwork(second);
        const networks = [
          { name: first, aliases: ["web.shop", "web.shop.berth"] },
          { name: second, aliases: ["web.shop"] },
        ];
        const id = await started(spec("a", { networkMode: "bridge", networks }));
        const detail = await runtime.inspect(id);
        expect(Object.keys(detail?.networks ?? {}).sort()).toEqual([first, second]);
        expect(detail?.networks[first]?.aliases).toEqual(expect.arrayContaining(["web.shop", "web.shop.berth"]));
        expect(detail?.networks[second]?.aliases).toEqual(expect.arrayContaining(["web.shop"]));
        expect(detail?.networks[first]?.ipAddress).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      });

      test.each(["n1", "n2"])("without the network %p it does not start, and says which is missing", async (there) => {
        await runtime.ensureNetwork(subject.unique(there));
        const networks = ["n1", "n2"].map((text) => ({ name: subject.unique(text), aliases: [] }));
        const container = spec("a", { networkMode: "bridge", networks });
        const failure = await expectFailure(started(container), "conflict", "StartFailed");
        expect(failure.message).toContain(subject.unique(there === "n1" ? "n2" : "n1"));
        expect((await runtime.inspect(podRef(container.name)))?.state).not.toBe("running");
      });

      test.each(["host", "none"] as const)("mode %s has neither ports nor platform networks", async (networkMode) => {
        const ports = [{ hostIp: "127.0.0.1", hostPort: undefined, containerPort: 80, protocol: "tcp" as const }];
        const id = await started(spec("a", { networkMode, ports }));
        expect(await runtime.inspect(id)).toMatchObject({ state: "running", ports: [] });
      });

      test("asked for many times at once it is made once, and can be used", async () => {
        const name = subject.unique("n1");
        await Promise.all([1, 2, 3, 4, 5, 6].map(() => runtime.ensureNetwork(name)));
        const id = await started(spec("a", { networkMode: "bridge", networks: [{ name, aliases: [] }] }));
        expect(await runtime.inspect(id)).toMatchObject({ state: "running" });
      });

      test("a closed network is made once, its containers have an address in it, and it goes by its labels", async () => {
        const [name, labels] = [subject.unique("n1"), { closed: subject.unique("label") }];
        await runtime.makeClosedNetwork(name, labels);
        await expectFailure(runtime.makeClosedNetwork(name, labels), "conflict");
        const networks = [{ name, aliases: ["web.shop"] }];
        const id = await started(spec("a", { networkMode: "bridge", networks }));
        expect((await runtime.inspect(id))?.addresses[name]).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
        await runtime.remove(id);
        await runtime.removeNetworks({ closed: "other" });
        expect(await runtime.hasNetwork(name)).toBe(true);
        await runtime.removeNetworks(labels);
        expect(await runtime.hasNetwork(name)).toBe(false);
      });

      test("this machine has an address in a network, the gateway of its containers", async () => {
        const name = subject.unique("n1");
        expect(await runtime.networkGateway(name)).toBeUndefined();
        expect(await runtime.networkSubnets(name)).toEqual([]);
        expect(await runtime.hasNetwork(name)).toBe(false);
        await runtime.ensureNetwork(name);
        expect(await runtime.hasNetwork(name)).toBe(true);
        const id = await started(spec("a", { networkMode: "bridge", networks: [{ name, aliases: [] }] }));
        const gateway = (await runtime.inspect(id))?.networks[name]?.gateway;
        expect(gateway).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
        expect(await runtime.networkGateway(name)).toBe(gateway);
        const [subnet = ""] = await runtime.networkSubnets(name);
        expect(subnet).toMatch(/^\d+\.\d+\.\d+\.\d+\/\d+$/);
        expect(subnet.split(".")[0]).toBe(gateway?.split(".")[0] ?? "");
      });
    });

    describe("volumes", () => {
      const claim = () => ({ ...labelsOf(owner), [subject.names.label.claim]: "data" });

      test("made once, with our labels", async () => {
        const name = subject.unique("v");
        expect(await runtime.ensureVolume(name, claim())).toEqual({ created: true });
        expect(await runtime.ensureVolume(name, claim())).toEqual({ created: false });
        const volume = await runtime.inspectVolume(name);
        expect(volume?.labels).toMatchObject({
          ...claim(),
          [subject.names.label.installation]: subject.installationId,
        });
      });

      test("one whose labels name another owner is refused and left as it is", async () => {
        const name = subject.unique("v");
        await runtime.ensureVolume(name, claim());
        const other = { ...claim(), [subject.names.label.name]: "other" };
        const failure = await expectFailure(runtime.ensureVolume(name, other), "conflict", "VolumeForeign");
        expect(failure.message).toContain(`"${name}"`);
        expect((await runtime.inspectVolume(name))?.labels).toMatchObject(claim());
      });

      test("listed by labels, all of which must match", async () => {
        await runtime.ensureVolume(subject.unique("v1"), claim());
        await runtime.ensureVolume(subject.unique("v2"), { ...claim(), [subject.names.label.claim]: "logs" });
        const names = async (labels: Record<string, string>) =>
          (await runtime.listVolumes(labels)).map((volume) => volume.name).sort();
        const mine = { [subject.names.label.installation]: subject.installationId };
        expect(await names(mine)).toEqual([subject.unique("v1"), subject.unique("v2")]);
        expect(await names({ ...mine, [subject.names.label.claim]: "logs" })).toEqual([subject.unique("v2")]);
        expect(await names({ ...mine, [subject.names.label.scope]: "none" })).toEqual([]);
      });

      test("mounted where asked, and kept while a container has it, even a stopped one", async () => {
        const name = subject.unique("v");
        await runtime.ensureVolume(name, claim());
        const mounts = [
          { type: "volume" as const, source: name, target: "/data", readOnly: false },
          { type: "volume" as const, source: name, target: "/look", readOnly: true },
        ];
        const id = await runtime.create(spec("a", { mounts }));
        const found = (await runtime.inspect(id))?.mounts.map(({ type, source, destination, rw }) => {
          return { type, source, destination, rw };
        });
        expect(found).toEqual(
          expect.arrayContaining([
            { type: "volume", source: name, destination: "/data", rw: true },
            { type: "volume", source: name, destination: "/look", rw: false },
          ]),
        );
        await expectFailure(runtime.removeVolume(name), "conflict");
        expect((await runtime.volumeUsers(name)).map(({ id: user, state }) => [user, state])).toEqual([
          [id.id, "created"],
        ]);
        await runtime.remove(id);
        expect(await runtime.volumeUsers(name)).toEqual([]);
        expect((await runtime.inspectVolume(name))?.name).toBe(name);
        await runtime.removeVolume(name);
        await runtime.removeVolume(name);
        expect(await runtime.inspectVolume(name)).toBeUndefined();
      });

      test.each(["missing-volume", "../x", ""])("the name %p is of no volume", async (name) => {
        expect(await runtime.inspectVolume(name)).toBeUndefined();
        expect(await runtime.volumeUsers(name)).toEqual([]);
        await runtime.removeVolume(name);
      });
    });

    describe("images", () => {
      test("found by reference and by id, and listed", async () => {
        const image = await runtime.inspectImage(subject.image);
        expect(image?.id).toMatch(/^sha256:[0-9a-f]{64}$/);
        expect(image?.tags).toContain(subject.image);
        expect((await runtime.inspectImage(image?.id ?? ""))?.tags).toContain(subject.image);
        expect((await runtime.listImages()).map(({ id }) => id)).toContain(image?.id ?? "");
      });

      test("a second name is found and listed, goes without the image, and cannot be given to what is not here", async () => {
        const image = await runtime.inspectImage(subject.image);
        const name = `contract-kept/image:x.${crypto.randomUUID().slice(0, 8)}`;
        expect(await runtime.tagImage(image?.id ?? "", name)).toBe(true);
        expect((await runtime.inspectImage(name))?.id).toBe(image?.id ?? "");
        expect((await runtime.listImages()).find(({ id }) => id === image?.id)?.tags).toContain(name);
        await runtime.removeImage(name);
        expect([await runtime.inspectImage(name), (await runtime.inspectImage(subject.image))?.id]).toEqual([
          undefined,
          image?.id,
        ]);
        expect(await runtime.tagImage(`sha256:${"0".repeat(64)}`, name)).toBe(false);
      });

      test.each(["missing:1", "../x", "", "UPPER", "a/../b"])("%p is no image here", async (ref) => {
        expect(await runtime.inspectImage(ref)).toBeUndefined();
        await runtime.removeImage(ref);
      });

      test("an image that a container uses is not removed by its id", async () => {
        await started(spec("a"));
        const image = await runtime.inspectImage(subject.image);
        await expectFailure(runtime.removeImage(image?.id ?? ""), "conflict");
        expect(await runtime.inspectImage(subject.image)).toBeDefined();
      });

      test("a pull that finds nothing says so, and so does one of no reference at all", async () => {
        const failure = await expectFailure(runtime.pull("127.0.0.1:1/none:1", undefined), "conflict", "ImagePull");
        expect(failure.message).toContain('"127.0.0.1:1/none:1"');
        await expectFailure(runtime.pull("No Such", undefined), "invalid", "ImagePull");
      });
    });

    describe("events", () => {
      /** Follows in the background until `enough`; fails when the stream ends before. */
      const follow = async (enough: (seen: PodEvent[]) => boolean, act: () => Promise<unknown>) => {
        const seen: PodEvent[] = [];
        const stop = new AbortController();
        const opened = Promise.withResolvers<void>();
        const done = (async () => {
          for await (const event of runtime.events(stop.signal, opened.resolve)) {
            seen.push(event);
            if (enough(seen)) stop.abort();
          }
        })();
        await Promise.race([opened.promise, done]);
        await act();
        await done;
        return seen;
      };
      const actions = (events: PodEvent[]) => events.map(({ action }) => action);

      test("tell the life of a container, with its name, whose it is and exit code", async () => {
        const wanted = spec("a");
        const seen = await follow(
          (events) => actions(events).includes("destroy"),
          async () => {
            const id = await started(wanted);
            await runtime.stop(id, { graceMs: 0 });
            await runtime.remove(id);
          },
        );
        const told = actions(seen).filter((action) => ["create", "start", "die", "destroy"].includes(action));
        expect(told).toEqual(["create", "start", "die", "destroy"]);
        for (const event of seen) {
          expect(event.name).toBe(wanted.name);
          expect(event.identity).toMatchObject({ key: owner });
          expect(Math.abs(event.at - Date.now())).toBeLessThan(60_000);
        }
        expect(seen.find(({ action }) => action === "die")?.exitCode).toBeNumber();
        expect(seen.find(({ action }) => action === "start")?.exitCode).toBeUndefined();
      });

      test("tell a new name", async () => {
        const id = await runtime.create(spec("a"));
        const seen = await follow(
          (events) => actions(events).includes("rename"),
          () => runtime.rename(id, subject.unique("b")),
        );
        expect(seen.at(-1)).toMatchObject({ action: "rename", ...id, name: subject.unique("b") });
      });

      test("an abort ends the stream without an error, before, at and after its opening", async () => {
        const before = AbortSignal.abort();
        for await (const _ of runtime.events(before, () => undefined)) throw new Error("no event was to come");
        const during = new AbortController();
        for await (const _ of runtime.events(during.signal, () => during.abort()))
          throw new Error("no event was to come");
        const later = new AbortController();
        const opened = Promise.withResolvers<void>();
        const ended = (async () => {
          for await (const _ of runtime.events(later.signal, opened.resolve)) throw new Error("no event was to come");
        })();
        await opened.promise;
        later.abort();
        await ended;
      });

      test("every follower gets every event", async () => {
        const whole = (events: PodEvent[]) => actions(events).includes("create");
        const second = Promise.withResolvers<PodEvent[]>();
        const first = await follow(whole, async () => {
          second.resolve(follow(whole, () => runtime.create(spec("a"))));
          await second.promise;
        });
        expect(actions(first)).toContain("create");
        expect(actions(await second.promise)).toContain("create");
      });
    });

    describe("the engine", () => {
      test("says what it is", async () => {
        const info = await runtime.info();
        expect(Number(info.apiVersion.split(".")[1])).toBeGreaterThanOrEqual(41);
        expect([1, 2]).toContain(info.cgroupVersion);
        expect(info.liveRestore).toBeBoolean();
      });

      test("says how much room is left, or nothing", async () => {
        const bytes = await runtime.freeBytes();
        if (bytes !== undefined) expect(bytes).toBeGreaterThan(0);
      });

      test("is not asked any more after close", async () => {
        const other = await makeSubject();
        other.runtime.close();
        await expectFailure(other.runtime.observe(), "unavailable", "EngineUnavailable");
      });
    });
  });
}
