import { describe, expect, test } from "bun:test";
import type { PodDetail } from "../../../../src/orchestration/api/pods.ts";
import { describeText, podText } from "../../../../src/client/text/describe-text.ts";
import { digestOf } from "../../../../src/client/facts/digest.ts";
import { pod, stored } from "../../../support/cli.ts";
import { plainStyle } from "../../../support/plain-style.ts";

const setup = { style: plainStyle, width: 200, now: Date.UTC(2026, 0, 2), reveal: false };

const detail: PodDetail = {
  name: "shop-web.a1b2c",
  id: "f00d",
  kind: "deployment",
  scope: "shop",
  resource_name: "web",
  replica_id: "a1b2c",
  image: "web:1",
  image_id: "sha256:1",
  status: "Exited (137) 2 minutes ago",
  running: false,
  ready: false,
  frozen: true,
  node: "local",
  state: {
    status: "exited",
    running: false,
    exit_code: 137,
    oom_killed: true,
    restarts: 3,
    started_at: "2026-01-01T23:00:00Z",
  },
  command: ["serve", "--port=80"],
  entrypoint: ["/bin/web"],
  working_dir: "/",
  env: { TOKEN: "s3cret", MODE: "prod" },
  labels: {},
  networks: { berth0: { network_id: "n", ip_address: "172.30.0.5", gateway: "172.30.0.1", aliases: [] } },
  mounts: [{ type: "volume", source: "data", destination: "/var/lib", mode: "", rw: false }],
  ports: [{ container: "80/tcp", host_ip: "127.0.0.1", host_port: "32768" }],
  restart_policy: "unless-stopped",
};

test("a pod: why it is down, where it listens; environment values as digests", () => {
  expect(podText(detail, setup)).toBe(
    [
      "shop-web.a1b2c",
      "  resource   deployment/shop/web",
      "  replica    a1b2c",
      "  state      exited, frozen",
      "             killed: out of memory",
      "  exit code  137",
      "  restarts   3",
      "  started    60m ago",
      "  image      web:1",
      "  command    /bin/web serve --port=80",
      "  ports      127.0.0.1:32768 → 80/tcp",
      "  networks   berth0 172.30.0.5",
      "",
      "mounts",
      "  /var/lib  data  read-only",
      "",
      "environment",
      `  MODE   ${digestOf("prod")}`,
      `  TOKEN  ${digestOf("s3cret")}`,
    ].join("\n"),
  );
});

test("a pod shows its environment with reveal only", () => {
  expect(podText(detail, { ...setup, reveal: true })).toContain("TOKEN  s3cret");
});

describe("a resource", () => {
  const described = (spec: Record<string, unknown>, status: Record<string, unknown> | null = null) =>
    describeText({ manifest: stored("cronjob/shop/nightly", spec), status, pods: [] }, setup);

  test("that the server has not looked at says so", () => {
    expect(described({})).toContain("  status    the server has not looked at it yet");
  });

  test("hides environment values at any depth, and what the server stamped", () => {
    const text = described({ job: { env: { TOKEN: "s3cret" } }, _asset_digests: { a: "b" } });
    expect(text).toContain(`      TOKEN: "${digestOf("s3cret")}"`);
    expect(text).not.toMatch(/s3cret|_asset/);
  });

  test("has no character in its spec that drives the terminal", () => {
    const text = described({ job: { command: ["a\u009b31mb", "c\u202ed", "e\u001b[1mf"], script: "one\ntwo" } });
    expect(text).not.toMatch(/[\u001b\u0080-\u009f\u202e]/);
    expect(text).toContain("    script: |-\n      one\n      two");
  });

  describe("whose last release", () => {
    const failed = { id: "2", cause: "apply", status: "failed", error: "CrashLoop: shop-web.a1b2c crash-loops" };
    const good = { id: "1", cause: "apply", status: "succeeded" };
    const back = { id: "3", cause: "auto_rollback", status: "succeeded" };
    const see = "see: berth why shop/nightly";

    test("was rolled back names what was taken back", () => {
      const releases = [
        { ...back, taken_back: ["image"], spec_snapshot: { image: "app:1" } },
        { ...failed, spec_snapshot: { image: "app:2" } },
        good,
      ];
      expect(described({}, { releases })).toContain('  taken back    image "app:2" → "app:1"');
    });

    test.each([
      ["was rolled back", [back, failed, good], `failed, rolled back: ${failed.error}; ${see}`],
      ["failed and stayed", [failed], `failed: ${failed.error}; ${see}`],
      [
        "failed in its last command alone",
        [{ ...good, post_exit_code: 9 }, failed],
        `succeeded, but post_command failed (exit 9); ${see}`,
      ],
      [
        "failed in the rollback itself",
        [{ ...failed, cause: "auto_rollback" }, good],
        `failed: ${failed.error}; ${see}`,
      ],
    ])("%s says so", (_, releases, text) => {
      expect(described({}, { releases })).toContain(`  last release  ${text}`);
    });

    test.each([
      ["is good", [good, failed]],
      ["is under way", [{ ...good, status: "running" }, failed]],
      ["is not there", []],
    ])("%s says nothing", (_, releases) => {
      expect(described({}, { releases })).not.toContain("last release");
    });
  });

  test("shows warnings of its status, without the escapes in them", () => {
    expect(described({}, { warnings: ["not run yet\x1b[2J"] })).toContain("  warning   not run yet [2J");
  });

  test("keeps init and release containers apart from its replicas", () => {
    const pods = [pod("shop-web.a1b2c"), pod("shop-web.init", { role: "init" })];
    const text = describeText({ manifest: stored("deployment/shop/web"), status: null, pods }, setup);
    const [replicas = "", others = ""] = text.slice(text.indexOf("pods\n")).split("other containers\n");
    expect(replicas).toContain("shop-web.a1b2c");
    expect(replicas).not.toContain("shop-web.init");
    expect(others).toContain("shop-web.init");
  });
});

test("an app says how its volumes are copied, in the words of the server", () => {
  const description = { manifest: stored("deployment/shop/web", { image: "a" }), status: null, pods: [] };
  const app = { kind: "deployment", scope: "shop", name: "web" };
  const rows = (every: string | undefined, ...copies: { target: string; at?: string; error?: string }[]) =>
    describeText(description, { ...setup, backup: { ...app, every, volumes: [{ volume: "data", copies }] } })
      .split("\n")
      .flatMap((line) => /^ +((?:backup|last copy) .*)/.exec(line)?.[1]?.replaceAll(/ +/g, " ") ?? []);
  expect(rows(undefined)).toEqual([
    "backup not protected: add `backup: {}` to its manifest; see: berth backup target add --help",
  ]);
  expect(rows("1d")).toEqual(["backup nothing is copied: there is no target; see: berth backup target add --help"]);
  expect(rows("1d", { target: "disk" })).toEqual(["backup every 1d to every target"]);
  const [at, later] = ["2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z"];
  expect(rows("1d", { target: "far", at: later }, { target: "disk", at })[1]).toMatch(/^last copy .*10:00/);
  expect(rows("1d", { target: "disk", at, error: "away" })[1]).toBe("last copy shop/web/data to disk failed: away");
  expect(describeText(description, setup)).not.toContain("backup");
});
