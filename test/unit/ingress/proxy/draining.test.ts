import { expect, test } from "bun:test";
import { connectionsOf, createDraining } from "../../../../src/ingress/proxy/draining.ts";

const head =
  "# bkname/svname bkid/svid addr port - purge_delay used_cur used_max need_est unsafe_nb safe_nb idle_lim idle_cur idle_per_thr[1]";
const line = (server: string, used: number) => `p1/${server} 3/1 127.0.0.1 9000 - 5000 ${used} 1 0 0 0 -1 0 0`;

test("connections in use are read by server", () => {
  expect([...connectionsOf(`${head}\n${line("s1", 0)}\n${line("s2", 3)}\n\n`)]).toEqual([
    ["s1", 0],
    ["s2", 3],
  ]);
});

test("an answer without a heading tells nothing", () => {
  expect(connectionsOf("No such backend.\n").size).toBe(0);
});

/** A proxy with one server. */
function fakeSocket() {
  const said: string[] = [];
  const state = { used: 1, refusesDelete: false };
  return {
    said,
    state,
    async ask(text: string) {
      said.push(text.trim());
      if (text.startsWith("show servers conn")) return `${head}\n${line("s1", state.used)}\n`;
      if (text.startsWith("del server"))
        return state.refusesDelete ? "Server still has connections attached to it.\n" : "Server deleted.\n";
      return "\n";
    },
  };
}

const s1 = { backend: "p1", server: "s1" };

test("a server is deleted once nothing uses it, and not before", async () => {
  const socket = fakeSocket();
  const draining = createDraining(socket);
  draining.add(s1, 1_000);
  await draining.look(0);
  expect(draining.isDraining(s1)).toBe(true);
  expect(socket.said).toEqual(["show servers conn p1"]);
  socket.state.used = 0;
  await draining.look(1);
  expect(draining.isDraining(s1)).toBe(false);
  expect(socket.said.at(-1)).toBe("del server p1/s1");
});

test("a server that is idle is not busy, even while the proxy keeps connections to it and refuses to delete it", async () => {
  const socket = fakeSocket();
  const draining = createDraining(socket);
  socket.state.refusesDelete = true;
  draining.add(s1, 1_000);
  expect(draining.isBusy(s1)).toBe(true);
  await draining.look(0);
  expect(draining.isBusy(s1)).toBe(true);
  socket.state.used = 0;
  await draining.look(1);
  expect([draining.isBusy(s1), draining.isDraining(s1)]).toEqual([false, true]);
  draining.remove(s1);
  draining.add(s1, 1_000);
  expect(draining.isBusy(s1)).toBe(true);
});

test("at its deadline its last connections are closed", async () => {
  const socket = fakeSocket();
  const draining = createDraining(socket);
  draining.add(s1, 1_000);
  await draining.look(1_000);
  expect(socket.said).toEqual(["show servers conn p1", "shutdown sessions server p1/s1", "del server p1/s1"]);
});

test("a refused deletion is tried again, an earlier deadline counts, a server that is used again stays", async () => {
  const socket = fakeSocket();
  const draining = createDraining(socket);
  socket.state.refusesDelete = true;
  draining.add(s1, 5_000);
  draining.add(s1, 9_000);
  await draining.look(5_000);
  expect(draining.size).toBe(1);
  draining.remove(s1);
  await draining.look(6_000);
  expect(draining.size).toBe(0);
});
