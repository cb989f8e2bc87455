import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { bindable, createPortGuard } from "../../../../src/ingress/proxy/ports.ts";
import { expectFailure } from "../../../support/failure.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { table, tcpSite } from "../../../support/ingress-table.ts";
import { listenOnSix } from "../../../support/listen-six.ts";
import { freePort } from "../../../support/ports.ts";

const comm = readFileSync(`/proc/${process.pid}/comm`, "utf8").trim();
const busy: { stop(isForced: boolean): void }[] = [];

afterEach(() => {
  for (const listener of busy.splice(0)) listener.stop(true);
});

function busyPort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  busy.push(listener);
  return listener.port;
}

const at = (listen: string) => tcpSite("db", listen);
const tryAll = async (listen: string, had: ReturnType<typeof at>[] | undefined) => {
  const found = await bindable(table([], { tcp: [at(listen)] }), had);
  return { served: found.table.tcp.length, problems: found.refused.map(({ site, problem }) => `${site} ${problem}`) };
};

test("a free port stays in the table, and stays free", async () => {
  const port = await freePort();
  for (const listen of [`127.0.0.1:${port}`, `:${port}`, `0.0.0.0:${port}`, `127.0.0.1:${port}`]) {
    expect(await tryAll(listen, [])).toEqual({ served: 1, problems: [] });
  }
});

test("a port of another program, and an address of another machine, leave the table", async () => {
  const port = busyPort();
  for (const listen of [`127.0.0.1:${port}`, `:${port}`]) {
    const who = `process ${process.pid} (${comm})`;
    const problem = `shop/db tcp.port: address ${listen} is in use by ${who}; end it with "kill ${process.pid}", or choose another address`;
    expect(await tryAll(listen, [])).toEqual({ served: 0, problems: [problem] });
  }
  for (const listen of [`203.0.113.7:${await freePort()}`, `[2001:db8::7]:${await freePort()}`]) {
    expect(await tryAll(listen, [])).toEqual({
      served: 0,
      problems: [expect.stringContaining(`tcp.port: ${listen} cannot be listened on`)],
    });
  }
});

test("a port that the proxy has, or may have, is not taken", async () => {
  const port = busyPort();
  expect((await tryAll(`127.0.0.1:${port}`, [at(`127.0.0.1:${port}`)])).served).toBe(1);
  expect((await tryAll(`:${port}`, [at(`127.0.0.1:${port}`)])).served).toBe(1);
  expect((await tryAll(`:${port}`, undefined)).served).toBe(1);
  expect((await tryAll(`203.0.113.7:${port}`, [at(`127.0.0.1:${port}`)])).served).toBe(0);
});

test("HAProxy is not started where another program has one of its ports, although it could share it", async () => {
  const [port, free] = [busyPort(), await freePort()];
  const guard = createPortGuard({ config: "/none/haproxy.cfg", master: async () => undefined }, silentLog);
  const starts = (http: string[], https: string[] = []) =>
    guard.mustBeFree(table([], { listen: { http, https, trustedProxies: [], proxyProtocolFrom: [] } }));
  for (const address of [`:${port}`, `127.0.0.1:${port}`, `[::]:${port}`]) {
    const { message } = await expectFailure(starts([`127.0.0.1:${free}`], [address]), "conflict");
    expect(message).toStartWith(`address ${address} is in use by process ${process.pid} (`);
  }
  await starts([`127.0.0.1:${free}`, `127.0.0.2:${port}`]);
});

test("a port that another program has in the other family only does not keep HAProxy from its start", async () => {
  const six = Bun.listen({ hostname: "::1", port: 0, socket: { data() {} } });
  busy.push(six);
  const guard = createPortGuard({ config: "/none/haproxy.cfg", master: async () => undefined }, silentLog);
  const starts = (address: string) =>
    guard.mustBeFree(table([], { listen: { http: [address], https: [], trustedProxies: [], proxyProtocolFrom: [] } }));
  // Such as a database on ::1 whose port an ingress serves on IPv4: the kernel gives both.
  await starts(`:${six.port}`);
  await starts(`0.0.0.0:${six.port}`);
  await starts(`127.0.0.1:${six.port}`);
  for (const address of [`[::1]:${six.port}`, `[::]:${six.port}`]) await expectFailure(starts(address), "conflict");
});

test("a port that is shared with the proxy that runs is told, but not one that only the proxy has", async () => {
  const port = busyPort();
  const told: unknown[] = [];
  const log = { ...silentLog, warn: (_: string, fields?: Record<string, unknown>) => void told.push(fields?.problem) };
  const look = (master: number) =>
    createPortGuard({ config: "/none/haproxy.cfg", master: async () => master }, log).tellShared(
      table([], { tcp: [at(`127.0.0.1:${port}`)] }),
    );
  await look(process.pid);
  expect(told).toEqual([]);
  await look(1);
  expect(told).toEqual([expect.stringContaining(`end it with "kill ${process.pid}"`)]);
});

test("a port on [::] of another program is free for IPv4 where that is for IPv6 alone", async () => {
  const guard = createPortGuard({ config: "/none/haproxy.cfg", master: async () => undefined }, silentLog);
  const starts = (address: string) =>
    guard.mustBeFree(table([], { listen: { http: [address], https: [], trustedProxies: [], proxyProtocolFrom: [] } }));
  for (const ipv6Only of [true, false]) {
    using six = await listenOnSix(ipv6Only);
    for (const address of [`:${six.port}`, `127.0.0.1:${six.port}`]) {
      if (ipv6Only) await starts(address);
      else await expectFailure(starts(address), "conflict");
    }
    const { message } = await expectFailure(starts(`[::]:${six.port}`), "conflict");
    expect(message).toStartWith(`address [::]:${six.port} is in use by process ${process.pid} (`);
  }
});
