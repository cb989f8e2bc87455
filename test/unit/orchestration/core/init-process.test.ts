import { expect, test } from "bun:test";
import { startsInit } from "../../../../src/orchestration/core/init-process.ts";

const own = [
  ["/sbin/tini", "--", "/entrypoint.sh"],
  ["tini"],
  ["/usr/bin/dumb-init", "node", "x"],
  ["/usr/libexec/catatonit"],
  ["/init"],
  ["/bin/sh", "-c", "prepare && exec /init"],
  ["/lib/systemd/systemd"],
  ["/sbin/init"],
  ["/package/admin/s6/command/s6-svscan", "/run/service"],
  ["sh", "-c", "exec 'tini' -- x"],
];

test.each(own.map((words) => [words]))("%j starts an init of its own", (words) => {
  expect(startsInit(words)).toBe(true);
});

test.each([[["docker-entrypoint.sh", "postgres"]], [["node", "initial.js"]], [["sh", "-c", "httpd -f"]], [[]]])(
  "%j starts none",
  (words) => {
    expect(startsInit(words)).toBe(false);
  },
);
