import { describe, expect, test } from "bun:test";
import {
  innerFields,
  innerRouting,
  innerSchedule,
  innerTls,
  judges,
  reachOf,
  reachOfBlock,
  routingJudges,
  tlsJudges,
} from "../../../src/access/reach.ts";
import { containerReach } from "../../../src/orchestration/api/kinds/container.ts";
import { specSchemas } from "../../../src/orchestration/api/kinds/schemas.ts";
import { Tls } from "../../../src/orchestration/api/kinds/tls.ts";

const reaching = (spec: object) => reachOf({ kind: "deployment", spec: { ...spec } }).map(({ path }) => path);

describe("every field of a kind is known", () => {
  /** They reach beyond the containers whatever they say. */
  const whole = [
    "labels",
    "tcp",
    "plugin",
    "directory",
    "directory_ca",
    "eab",
    "dns",
    "certificate",
    "key",
    "on_demand",
    "ask",
  ];
  const known = [innerFields, innerRouting, innerSchedule, innerTls, whole].flat();
  const judged = [judges, routingJudges, tlsJudges].flatMap(Object.keys);
  const fields = (["deployment", "statefulset", "job", "cronjob", "ingress"] as const).flatMap((kind) =>
    Object.keys(specSchemas[kind].properties).map((field) => [kind, field]),
  );

  test.each([...fields, ...Object.keys(Tls.properties).map((field) => ["tls", field])])("%s: %s", (kind, field) => {
    expect([...known, ...judged, ...(kind === "cronjob" ? ["job"] : [])]).toContain(field);
  });
});

test("a field of a container that may reach the machine is judged, and no other is", () => {
  const machine = Object.entries(containerReach).flatMap(([field, reach]) => (reach === "machine" ? [field] : []));
  expect(machine.filter((field) => !Object.hasOwn(judges, field))).toEqual([]);
  expect(innerFields.filter((field) => machine.includes(field))).toEqual([]);
});

test("a field that no list knows reaches the machine", () => {
  expect(reaching({ image: "a", devices: ["/dev/sda"] })).toEqual(["spec.devices"]);
  expect(reachOf({ kind: "cronjob", spec: { schedule: "@daily", job: { x: 1 } } })).toMatchObject([
    { path: "spec.job.x" },
  ]);
});

test("what is empty or turned off reaches nothing", () => {
  const spec = {
    volumes: [],
    cap_add: [],
    network_mode: "",
    docker_options: ["--privileged=false"],
    post_deploy: null,
  };
  expect(reaching(spec)).toEqual([]);
});

test.each([
  ["volumes", ["data:/d", "other/data:/e", "${asset.page.index}:/i:ro"]],
  ["ports", ["80", "53/udp"]],
  ["docker_options", ["--entrypoint=sh", "--shm-size", "64m"]],
  ["network_mode", "none"],
])("%s: %j stays inside", (field, value) => {
  expect(reaching({ [field]: value })).toEqual([]);
});

test.each([
  ["volumes", ["/srv:/d"]],
  ["volumes", ["${HOME}:/d"]],
  ["volumes", ["${ref.deployment.a.host}:/d"]],
  ["volumes", ["data:/d:external"]],
  ["ports", ["8080:80"]],
  ["ports", ["0.0.0.0::80"]],
  ["docker_options", ["--security-opt", "seccomp=unconfined"]],
  ["docker_options", ["--unknown"]],
  ["network_mode", "container:db"],
  ["network", "lan"],
  ["networks", ["lan"]],
])("%s: %j reaches the machine", (field, value) => {
  expect(reaching({ [field]: value })).toHaveLength(1);
});

test("the place in a list does not count, the field and the value do", () => {
  const marks = (spec: object) => reachOf({ kind: "deployment", spec: { ...spec } }).map(({ mark }) => mark);
  expect(marks({ volumes: ["data:/a", "/srv:/d"] })).toEqual(marks({ volumes: ["/srv:/d"] }));
  expect(marks({ volumes: ["/srv:/d"] })).not.toEqual(marks({ volumes: ["/srv:/d:ro"] }));
  expect(marks({ cap_add: ["x"] })).not.toEqual(marks({ post_deploy: ["x"] }));
});

test("a block of a plugin is searched at every depth", () => {
  const block = {
    size: "1Gi",
    env: { volumes: "/:/h" },
    pods: [{ inner: [[{ cap_add: ["SYS_ADMIN"] }]] }],
    volumes: ["data:/data"],
  };
  expect(reachOfBlock(block).map(({ path }) => path)).toEqual([
    "spec.env.volumes[0]",
    "spec.pods[0].inner[0][0].cap_add[0]",
  ]);
});
