import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { kitShell } from "../../../support/shell.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-backups."));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Seconds go by when somebody sleeps, and only for who does. */
const clock = `
now=0
date() { printf '20260102T0304%02dZ\\n' "$now"; }
sleep() { now=$((now + 1)); }`;

/** A server whose backup is one file with `$2` in it. */
const server = `
backups=$1
marker=\${2:-x}
fill_backup() { echo "$marker" >"$1/what"; }
check_backup() { [ "$(cat "$backups/$1/what")" = "$marker" ] || die "it is another one"; }
describe_backup() { echo "$(wc -c <"$1/what" | tr -d ' ') $(cat "$1/what")"; }
${clock}`;

const run = (lines: string, marker = "x") => kitShell(["pod.sh", "backups.sh"], `${server}\n${lines}`, folder, marker);
const names = () => readdirSync(folder).sort();
const at = (second: number) => `20260102T0304${String(second).padStart(2, "0")}Z`;
const backup = (second: number, text = "x") => {
  mkdirSync(join(folder, at(second)));
  writeFileSync(join(folder, at(second), "what"), `${text}\n`);
  const sum = new Bun.CryptoHasher("sha256").update(`${text}\n`).digest("hex");
  writeFileSync(join(folder, at(second), "SHA256SUMS"), `${sum}  what\n`);
};

test("backups that begin in the same second all get a name and keep what is theirs", async () => {
  const markers = ["a", "b", "c", "d", "e", "f"];
  const outcomes = await Promise.all(markers.map((marker) => run("make_backup 9 check", marker)));
  expect(outcomes.map(({ exitCode, stderr }) => [exitCode, stderr.includes("restoring it")])).toEqual(
    markers.map(() => [0, true]),
  );
  const ids = outcomes.map(({ stdout }) => stdout.trim());
  expect(names()).toEqual([0, 1, 2, 3, 4, 5].map(at));
  expect(new Set(ids).size).toBe(6);
  expect(ids.map((id) => readFileSync(join(folder, id, "what"), "utf8").trim())).toEqual(markers);
});

test("one that is complete between the look and the claim keeps its name, and nothing lands in it", async () => {
  const other = `mkdir() { command mkdir -p "$backups/${at(0)}"; command mkdir "$@"; }`;
  expect((await run(`${other}\ntake_backup`)).stdout.trim()).toBe(at(1));
  expect(names()).toEqual([at(0), at(1)]);
  expect(readdirSync(join(folder, at(0)))).toEqual([]);
});

test("a folder that cannot be written ends it, with the reason", async () => {
  rmSync(folder, { recursive: true });
  const { exitCode, stdout, stderr } = await run("take_backup");
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toMatch(/^mq: no backup can be begun: mkdir: .*No such file or directory\n$/);
});

test("what fails half-way has no name, and goes after a day", async () => {
  expect((await run('fill_backup() { echo 1 >"$1/what"; die "the server is gone"; }\nmake_backup 1')).exitCode).toBe(1);
  expect(names()).toEqual([`.new-${at(0)}`]);
  backup(9);
  expect((await run("prune 1")).exitCode).toBe(0);
  expect(names()).toEqual([`.new-${at(0)}`, at(9)]);
  const before = Date.now() / 1000 - 25 * 3600;
  utimesSync(join(folder, `.new-${at(0)}`), before, before);
  expect((await run("prune 1")).exitCode).toBe(0);
  expect(names()).toEqual([at(9)]);
});

test("the newest stay, and none goes for one that cannot be restored", async () => {
  for (const second of [10, 11, 12]) backup(second);
  const later = "now=13\n";
  const failed = await run(`${later}check_backup() { die "rows differ"; }\nmake_backup 1 check`);
  expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringContaining("mq: rows differ")]);
  expect(names()).toEqual([10, 11, 12, 13].map(at));
  const { stdout, stderr } = await run(`${later}make_backup 2 check`);
  expect(stdout.trim()).toBe(at(14));
  expect(stderr).toContain(`removing backup ${at(12)}: 2 are kept`);
  expect(names()).toEqual([13, 14].map(at));
});

test("what is older than the age goes, and never the newest", async () => {
  for (const second of [10, 11, 12]) backup(second);
  expect((await run("unset -f date; prune 9 3600")).exitCode).toBe(0);
  expect(names()).toEqual([at(12)]);
});

test("what comes from elsewhere is put together from its parts, under a name that is no path", async () => {
  const { exitCode } = await run(
    "printf ab | import_part 0f; printf c | import_part 0f; cat $backups/.import-0f >$backups/seen; drop_import 0f",
  );
  expect([exitCode, names()]).toEqual([0, ["seen"]]);
  expect(readFileSync(join(folder, "seen"), "utf8")).toBe("abc");
  expect((await run("import_part ../x </dev/null")).stderr).toBe('mq: "../x" is not an import\n');
});

test("the list is newest first, and leaves out what is not a backup", async () => {
  backup(1, "one");
  backup(2, "three");
  for (const other of [`.new-${at(3)}`, at(4), "notes"]) mkdirSync(join(folder, other));
  expect((await run("list_backups")).stdout).toBe(`${at(2)} 6 three\n${at(1)} 4 one\n`);
});

test.each(["known", "delete_backup"])("%s refuses what is not a backup", async (tool) => {
  mkdirSync(join(folder, "in"));
  backup(1);
  for (const word of ["../in", "in/..", "..", ".new-x", ""]) {
    const { exitCode, stderr } = await run(`${tool} '${word}'`);
    expect([exitCode, stderr]).toEqual([1, `mq: "${word}" is not a backup\n`]);
  }
  expect((await run(`${tool} ${at(2)}`)).stderr).toBe(`mq: no backup "${at(2)}"; see: backups\n`);
  expect(names()).toEqual([at(1), "in"]);
});

test("one that is not as it was written is known as such, and can be deleted", async () => {
  backup(1);
  expect((await run(`known ${at(1)}`)).exitCode).toBe(0);
  writeFileSync(join(folder, at(1), "what"), "y\n");
  expect((await run(`known ${at(1)}`)).stderr).toContain(`backup ${at(1)} is damaged`);
  expect((await run(`delete_backup ${at(1)}`)).exitCode).toBe(0);
  expect(names()).toEqual([]);
});

test("what is cancelled ends with all that it has started, by a signal that its exit code tells", async () => {
  const script = join(folder, "job.sh");
  writeFileSync(script, 'sleep 300 & echo "$!"\nwait\n');
  const job = Bun.spawn(["sh", script], { stdin: "ignore", stdout: "pipe" });
  const { value } = await job.stdout.getReader().read();
  const child = new TextDecoder().decode(value).trim();
  expect((await run(`cancel ${job.pid}`)).exitCode).toBe(0);
  await job.exited;
  expect(job.signalCode).toBe("SIGTERM");
  expect((await run(`[ ! -d /proc/${child} ] || grep '^State:.*Z' /proc/${child}/status`)).exitCode).toBe(0);
});
