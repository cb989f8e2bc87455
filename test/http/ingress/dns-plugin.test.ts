import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveOptions } from "../../../src/config/config.ts";
import { dnsThrough } from "../../../src/daemon/certificates.ts";
import { createPluginRoom } from "../../../src/daemon/plugins.ts";
import { layoutOf } from "../../../src/base/disk/layout.ts";
import { makeFolders } from "../../../src/base/disk/root.ts";
import { noPlugins } from "../../../src/orchestration/controller/state/plugin-room.ts";
import { naming } from "../../../src/orchestration/core/naming.ts";
import { printing, writePlugin } from "../../support/plugins.ts";
import { silentLog } from "../../support/silent-log.ts";
import { type Plane, startPlane } from "../../support/socket-plane.ts";

const root = mkdtempSync(join(tmpdir(), "dns-"));
const layout = layoutOf(root);
let plane: Plane;
beforeAll(async () => {
  await makeFolders(layout);
  const plugins = await createPluginRoom({
    layout,
    names: naming(),
    installationId: "dns-test",
    options: serveOptions({ root }, {}),
    log: silentLog,
    controllerUrl: () => plane.front.url,
    callbacks: noPlugins().callbacks,
    configOf: () => ({}),
    onChange: () => undefined,
  });
  plane = await startPlane({ layout, plugins });
});
afterAll(async () => {
  await plane.close();
  rmSync(root, { recursive: true, force: true });
});

const record = { name: "_acme-challenge.shop.test", text: "pr-oo_f" };

test("a plugin sets and clears the record by its commands", async () => {
  const told = join(root, "told");
  const note = (command: string) =>
    `echo "${command} $*" >> ${told}\n${printing({ status: "ok", data: { message: "ok", actions: [] } })}`;
  writePlugin(layout, "zone", { commands: { "dns-set": note("set"), "dns-clear": note("clear") } });
  const dns = dnsThrough(plane.controller, "zone");
  await dns.set(record);
  await dns.clear(record);
  const lines = readFileSync(told, "utf8").trim().split("\n");
  expect(lines).toEqual([
    expect.stringMatching(/^set .*_acme-challenge\.shop\.test pr-oo_f$/),
    expect.stringMatching(/^clear .*_acme-challenge\.shop\.test pr-oo_f$/),
  ]);
});

test("a plugin that is missing, or has no such command, is named", async () => {
  await expect(dnsThrough(plane.controller, "none").set(record)).rejects.toThrow('dns: plugin "none": ');
  writePlugin(layout, "other", { commands: { greet: printing({ status: "ok", data: { message: "", actions: [] } }) } });
  await expect(dnsThrough(plane.controller, "other").set(record)).rejects.toThrow('dns: plugin "other": ');
});
