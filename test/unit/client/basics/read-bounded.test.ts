import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "bun:test";
import { readBounded, readText } from "../../../../src/client/basics/read-bounded.ts";
import { isRoot } from "../../../support/is-root.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-read."));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string) => join(folder, name);
const read = (name: string, more: { mayBePipe?: boolean; silenceMs?: number } = {}) =>
  Buffer.from(readBounded(at(name), name, { bytesMax: 10, ...more })).toString();
const mkfifo = (name: string) => expect(Bun.spawnSync(["mkfifo", at(name)]).exitCode).toBe(0);

test("a file is read, up to its limit", () => {
  writeFileSync(at("file"), "0123456789");
  symlinkSync("file", at("link"));
  expect([read("file"), read("link")]).toEqual(["0123456789", "0123456789"]);
  writeFileSync(at("more"), "0123456789a");
  expect(() => read("more")).toThrow('"more" has 11 bytes, more than the 10 that are read');
  writeFileSync(at("huge"), "");
  truncateSync(at("huge"), 2 ** 40);
  expect(() => read("huge")).toThrow("more than the 10 that are read");
});

test("text that is not UTF-8 is refused, not read as something else", () => {
  const texts: [string, number[], string][] = [
    ["latin", [0x41, 0x3d, 0xe9], '"latin" is not UTF-8 text: save it as UTF-8'],
    ["little", [0xff, 0xfe, 0x41, 0], '"little" is UTF-16 text: save it as UTF-8'],
    ["big", [0xfe, 0xff, 0, 0x41], '"big" is UTF-16 text: save it as UTF-8'],
  ];
  for (const [name, bytes, message] of texts) {
    writeFileSync(at(name), Buffer.from(bytes));
    expect(() => readText(at(name), name, { bytesMax: 10 })).toThrow(message);
  }
  writeFileSync(at("marked"), "\uFEFFA=é");
  expect(readText(at("marked"), "marked", { bytesMax: 10 })).toBe("A=é");
});

test("what tells no size is bounded all the same", () => {
  expect(() => readBounded("/proc/self/status", "status", { bytesMax: 10 })).toThrow('"status" has more bytes');
});

test.each(["/dev/zero", "/dev/full", ...(isRoot ? ["/dev/tty0"] : [])])(
  "the device %s is refused at once, also where a pipe may be",
  (device) => {
    for (const mayBePipe of [false, true]) {
      expect(() => readBounded(device, device, { bytesMax: 10, mayBePipe })).toThrow(
        /is a device|does not exist|cannot/,
      );
    }
    symlinkSync(device, at(`link${device.replaceAll("/", "-")}`));
  },
);

test("a folder, a pipe and what is not there are named", () => {
  mkfifo("pipe");
  expect(() => read("pipe")).toThrow('"pipe" is a pipe, not a file');
  expect(() => read(".")).toThrow('"." is a folder, not a file');
  expect(() => read("none")).toThrow('"none" does not exist');
});

test("a pipe that the operator named is read to its end; one without a writer keeps nobody waiting", async () => {
  mkfifo("own");
  expect(() => read("own", { mayBePipe: true })).toThrow('"own" is a pipe that nothing was written to');
  const script = `readBounded("/dev/stdin", "-", { bytesMax: 10, mayBePipe: true, silenceMs: Number(process.argv[1]) })`;
  const run = (command: string, silenceMs: number) => {
    const program = `import { readBounded, readText } from ${JSON.stringify(require.resolve("../../../../src/client/basics/read-bounded.ts"))};
try { console.log(Buffer.from(${script}).toString()); } catch (error) { console.log(error.message); }`;
    writeFileSync(at("program.ts"), program.replace("process.argv[1]", String(silenceMs)));
    return Bun.spawnSync(["sh", "-c", `${command} | '${process.execPath}' run program.ts`], {
      cwd: folder,
    }).stdout.toString();
  };
  expect(run("{ printf ab; sleep 0.2; printf cd; }", 20_000)).toBe("abcd\n");
  expect(run("yes", 20_000)).toContain("more than the 10 that are read");
  expect(run("sleep 1", 50)).toContain("nothing came from it");
});
