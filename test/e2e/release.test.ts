import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { version } from "../../package.json";
import { releaseKey } from "../support/release-key.ts";
import { copyCheckout } from "../support/checkout.ts";

const work = mkdtempSync(join(tmpdir(), "berth-release."));
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Copies the checkout. Bun's runtime for linux-x64 lies ready; npm cannot be reached. */
function prepare(folder: string): void {
  copyCheckout(folder);
  const runtime = join(folder, ".cache", `runtime-${Bun.version}`, "@oven/bun-linux-x64/package/bin/bun");
  mkdirSync(dirname(runtime), { recursive: true });
  symlinkSync(process.execPath, runtime);
  writeFileSync(join(folder, "npm"), "#!/bin/sh\necho 'npm error code ENOTFOUND' >&2\nexit 1\n");
  chmodSync(join(folder, "npm"), 0o755);
}

const key = releaseKey(join(work, "keys"));

function release(folder: string, args: string[], env: Record<string, string> = {}) {
  const run = Bun.spawnSync([process.execPath, "run", join(folder, "build.ts"), "--release", ...args], {
    cwd: work,
    env: { ...process.env, ...env, PATH: `${folder}:/usr/bin:/bin` },
    stderr: "pipe",
    stdout: "pipe",
  });
  return { exitCode: run.exitCode, stdout: run.stdout.toString(), stderr: run.stderr.toString() };
}

const sum = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

const first = join(work, "one");
const second = join(work, "another/folder/of/another/length");
const into = join(work, "partial");
let whole: ReturnType<typeof release>;
let partial: ReturnType<typeof release>;
/** Each build takes long, so all tests look at the same two. */
beforeAll(() => {
  prepare(first);
  prepare(second);
  for (const folder of [first, second]) copyFileSync(key.publicFile, join(folder, "release.pub"));
  whole = release(first, ["--target", "linux-x64"], { BERTH_RELEASE_KEY: key.file });
  partial = release(second, ["--target", "linux-arm64", "--target", "linux-x64", "--release-dir", into]);
}, 240_000);

test("a release has an executable, its checksum, the installer and the number of the newest version", () => {
  expect(whole.stderr).toBe("");
  expect(whole.exitCode).toBe(0);
  const folder = join(first, "dist/release");
  expect(readdirSync(folder).toSorted()).toEqual([version, "install.sh", "latest"].toSorted());
  expect(readFileSync(join(folder, "latest"), "utf8")).toBe(`${version}\n`);
  const files = ["SHA256SUMS", "SHA256SUMS.sig", "berth-linux-x64", "install.sh"];
  expect(readdirSync(join(folder, version)).toSorted()).toEqual(files.toSorted());
  const check = Bun.spawnSync(["sha256sum", "-c", "--strict", "SHA256SUMS"], { cwd: join(folder, version) });
  expect(check.stdout.toString()).toBe("berth-linux-x64: OK\ninstall.sh: OK\n");
  const said = Bun.spawnSync([join(folder, version, "berth-linux-x64"), "--version"]).stdout.toString();
  expect(said).toStartWith(`berth ${version} (commit: `);
});

test("a release is signed, and its installer and its executable know the key", async () => {
  const folder = join(first, "dist/release");
  expect(readFileSync(join(folder, version, "SHA256SUMS"), "utf8")).toStartWith(`# berth ${version}\n`);
  const [kind = "", base64 = ""] = key.publicText.split(" ");
  expect(readFileSync(join(folder, version, "berth-linux-x64")).includes(base64)).toBe(true);
  expect(readFileSync(join(folder, "install.sh"), "utf8")).toContain(`release_keys='${kind} ${base64}'`);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => new Response(Bun.file(join(folder, new URL(request.url).pathname))),
  });
  const url = `http://127.0.0.1:${server.port}`;
  const fetched = join(work, "fetched");
  const words = ["sh", join(folder, "install.sh"), "--fetch", fetched, "--release-url", url];
  const installed = Bun.spawn(words, { stdout: "pipe", stderr: "inherit" });
  expect(await installed.exited).toBe(0);
  await server.stop(true);
  expect(sum(fetched)).toBe(sum(join(folder, version, "berth-linux-x64")));
});

test("a release without a key is made all the same, and says that nothing will install it", () => {
  expect(partial.stderr).toContain("WARNING: this release is not signed, and no berth will install it");
  expect(existsSync(join(into, version, "SHA256SUMS.sig"))).toBe(false);
});

test("the same source in another folder gives the same bytes", () => {
  const file = join(version, "berth-linux-x64");
  expect(sum(join(into, file))).toBe(sum(join(first, "dist/release", file)));
  expect(readFileSync(join(into, file)).includes(work)).toBe(false);
});

test("a target whose runtime cannot be fetched is named, and the others are made", () => {
  expect(partial.exitCode).toBe(1);
  expect(partial.stderr).toContain("berth-linux-arm64 was not made: cannot fetch @oven/bun-linux-aarch64@");
  expect(partial.stderr).toContain("npm error code ENOTFOUND");
  expect(readdirSync(join(into, version)).toSorted()).toEqual(["SHA256SUMS", "berth-linux-x64", "install.sh"]);
});

test("an unknown target is refused with the known ones", () => {
  const made = release(first, ["--target", "plan9", "--release-dir", join(work, "none")]);
  expect(made.exitCode).toBe(1);
  expect(made.stderr).toContain('unknown target "plan9"; known: linux-x64, linux-arm64, darwin-x64, darwin-arm64');
});
