import { afterEach, expect, test } from "bun:test";
import { bindable } from "../../../../src/ingress/proxy/ports.ts";
import { table, tcpSite } from "../../../support/ingress-table.ts";
import { freePort } from "../../../support/ports.ts";

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
const tryAll = (listen: string, had: ReturnType<typeof at>[] | undefined) => {
  const found = bindable(table([], { tcp: [at(listen)] }), had);
  return { served: found.table.tcp.length, problems: found.refused.map(({ site, problem }) => `${site} ${problem}`) };
};

test("a free port stays in the table, and stays free", async () => {
  const port = await freePort();
  for (const listen of [`127.0.0.1:${port}`, `:${port}`, `0.0.0.0:${port}`, `127.0.0.1:${port}`]) {
    expect(tryAll(listen, [])).toEqual({ served: 1, problems: [] });
  }
});

test("a port of another program, and an address of another machine, leave the table", async () => {
  const port = busyPort();
  for (const listen of [`127.0.0.1:${port}`, `:${port}`]) {
    const problem = `shop/db tcp.port: ${listen} is in use by another program; use another port`;
    expect(tryAll(listen, [])).toEqual({ served: 0, problems: [problem] });
  }
  for (const listen of [`203.0.113.7:${await freePort()}`, `[2001:db8::7]:${await freePort()}`]) {
    expect(tryAll(listen, [])).toEqual({
      served: 0,
      problems: [expect.stringContaining(`tcp.port: ${listen} cannot be listened on`)],
    });
  }
});

test("a port that the proxy has, or may have, is not taken", () => {
  const port = busyPort();
  expect(tryAll(`127.0.0.1:${port}`, [at(`127.0.0.1:${port}`)]).served).toBe(1);
  expect(tryAll(`:${port}`, [at(`127.0.0.1:${port}`)]).served).toBe(1);
  expect(tryAll(`:${port}`, undefined).served).toBe(1);
  expect(tryAll(`203.0.113.7:${port}`, [at(`127.0.0.1:${port}`)]).served).toBe(0);
});
