import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "bun:test";
import { sha256Hex } from "../../../../src/base/pure/digest.ts";
import { fetchExecutable, latestVersion } from "../../../../src/local/server/release.ts";
import { publicKeys } from "../../../../src/local/server/ssh-signature.ts";
import { releaseKey } from "../../../support/release-key.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-release."));
const key = releaseKey(folder);
const keys = publicKeys(key.publicText);
const own = `berth-linux-${process.arch}`;
const foreign = own.endsWith("x64") ? "berth-linux-arm64" : "berth-linux-x64";

let files: Record<string, string | Response> = {};
const elsewhere = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("from elsewhere") });
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const found = files[new URL(request.url).pathname];
    return typeof found === "string" ? new Response(found) : (found ?? new Response("none", { status: 404 }));
  },
});
afterAll(async () => {
  await Promise.all([server.stop(true), elsewhere.stop(true)]);
  rmSync(folder, { recursive: true, force: true });
});

const source = { url: `http://127.0.0.1:${server.port}`, keys };
const into = join(folder, "fetched");
const sums = (version: string, programs: Record<string, string>) =>
  `# berth ${version}\n${Object.entries(programs)
    .map(([name, text]) => `${sha256Hex(text)}  ${name}\n`)
    .join("")}`;

function publish(place: string, text: string, signature: string | undefined, programs: Record<string, string>): void {
  files[`/${place}/SHA256SUMS`] = text;
  if (signature !== undefined) files[`/${place}/SHA256SUMS.sig`] = signature;
  for (const [name, program] of Object.entries(programs)) files[`/${place}/${name}`] = program;
}

const programs = { [own]: "ours", [foreign]: "theirs" };
beforeEach(() => {
  files = {};
  rmSync(into, { force: true });
});

const refusal = async (version: string) => {
  const error = await fetchExecutable(source, version, into).then(
    () => "it was taken",
    (failure: Error) => failure.message,
  );
  expect(existsSync(into)).toBe(false);
  return error;
};

test("a signed release is taken", async () => {
  const text = sums("1.0.0", programs);
  publish("1.0.0", text, key.sign(text), programs);
  await fetchExecutable(source, "1.0.0", into);
  expect(readFileSync(into, "utf8")).toBe("ours");
});

test("without a signature, or with that of another key, nothing is fetched but its checksums", async () => {
  const text = sums("1.0.0", programs);
  publish("1.0.0", text, undefined, programs);
  expect(await refusal("1.0.0")).toContain("release 1.0.0 is not signed");
  publish("1.0.0", text, releaseKey(folder).sign(text), programs);
  expect(await refusal("1.0.0")).toContain("the signature of release 1.0.0 is not of the release key");
  publish("1.0.0", text.replace("ours", "x"), key.sign(`${text}\n`), programs);
  expect(await refusal("1.0.0")).toContain("is not of the release key");
});

test("an old release under a new name, and one without a version, are refused", async () => {
  const text = sums("1.0.0", programs);
  publish("2.0.0", text, key.sign(text), programs);
  expect(await refusal("2.0.0")).toContain("holds the release 1.0.0 under the name of 2.0.0");
  const bare = text.replace(/^#.*\n/, "");
  publish("1.0.0", bare, key.sign(bare), programs);
  expect(await refusal("1.0.0")).toContain("holds the release none under the name of 1.0.0");
});

test("the program of another platform in the place of ours is refused", async () => {
  const text = sums("1.0.0", programs);
  publish("1.0.0", text, key.sign(text), { [own]: "theirs", [foreign]: "ours" });
  expect(await refusal("1.0.0")).toContain("does not match its sha256");
  const missing = sums("1.0.0", { [foreign]: "theirs" });
  publish("1.0.0", missing, key.sign(missing), programs);
  expect(await refusal("1.0.0")).toContain(`has no ${own}`);
});

test("a server of this machine leads to no other one, and a text that does not end is cut off", async () => {
  files["/latest"] = Response.redirect(`http://127.0.0.1:${elsewhere.port}/latest`);
  expect(latestVersion(source.url)).rejects.toThrow("cannot fetch");
  files["/latest"] = "1".repeat(100_000);
  expect(latestVersion(source.url)).rejects.toThrow("is too large for a text");
});
