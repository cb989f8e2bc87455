import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitFor } from "../../../support/wait.ts";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { kitShell } from "../../../support/shell.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-backups."));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Seconds go by when somebody sleeps, and only for who does. `date` answers as at `moment`, where that is set. */
const clock = `
now=0
moment=
date() {
  case "$moment $*" in
    " "*) ;;
    *" -d "*) command date "$@"; return ;;
    *) command date -d "$moment" "$@"; return ;;
  esac
  printf '20260102T0304%02dZ\\n' "$now"
}
sleep() { now=$((now + 1)); }`;

/** A server whose backup is one file with `$2` in it. */
const server = `
backups=$1
marker=\${2:-x}
fill_backup() { echo "$marker" >"$1/what"; }
check_backup() { [ "$(cat "$backups/$1/what")" = "$marker" ] || die "it is another one"; }
describe_backup() { echo "$(wc -c <"$1/what" | tr -d ' ') $(cat "$1/what")"; }
${clock}`;

const run = (lines: string, marker = "x") =>
  kitShell(["pod.sh", "kept.sh", "backups.sh"], `${server}\n${lines}`, folder, marker);
const names = () => readdirSync(folder).sort();
/** What the check of a backup found, as it is kept with it. */
const check = (id: string) => {
  const path = join(folder, id, ".check");
  return existsSync(path) ? readFileSync(path, "utf8").trim() : "";
};
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
  const failed = await run(`${later}check_backup() { echo "rows differ"; return 1; }\nmake_backup 2 check`);
  expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringContaining("cannot be restored: rows differ.")]);
  expect(names()).toEqual([11, 12, 13].map(at));
  expect(check(at(13))).toMatch(/^failed \S+ rows differ$/);
  const { stdout, stderr } = await run(`${later}make_backup 2 check`);
  expect(stdout.trim()).toBe(at(14));
  expect(check(at(14))).toMatch(/^passed /);
  expect(stderr).toContain(`removing backup ${at(11)}: 2 are kept`);
  expect(names()).toEqual([12, 14].map(at));
});

test("what is older than the age goes, and never the newest", async () => {
  for (const second of [10, 11, 12]) backup(second);
  expect((await run("moment=2026-02-02; prune 9 3600")).exitCode).toBe(0);
  expect(names()).toEqual([at(12)]);
});

/** `p`assed, `f`ailed and `u`nchecked ones, oldest first, a day apart, up to 2026-01-20. */
const made = (checks: string) =>
  [...checks].map((letter, index) => {
    const id = `202601${String(20 - checks.length + 1 + index).padStart(2, "0")}T000000Z`;
    mkdirSync(join(folder, id));
    writeFileSync(join(folder, id, "what"), "x\n");
    const sum = new Bun.CryptoHasher("sha256").update("x\n").digest("hex");
    writeFileSync(join(folder, id, "SHA256SUMS"), `${sum}  what\n`);
    writeFileSync(join(folder, id, ".order"), `${index + 1}\n`);
    const verdict = { p: "passed 2026-01-20T00:00:00Z \n", f: "failed 2026-01-20T00:00:00Z rows differ\n" }[letter];
    if (verdict !== undefined) writeFileSync(join(folder, id, ".check"), verdict);
    return id;
  });
/** What stays of them, as they were written. */
const left = (checks: string, ids: string[]) => ids.map((id, at) => (names().includes(id) ? checks[at] : "-")).join("");

const day = 86_400;
describe("what stays of passed, failed and unchecked backups, oldest first", () => {
  for (const [what, checks, words, stays, moment = "2026-01-20"] of [
    ["one that failed displaces none that passed", "ppppppppppf", "1", "---------pf"],
    [
      "while checks fail the count holds, for those that passed and for those that failed",
      "pppppffff",
      "2",
      "---pp--ff",
    ],
    ["what failed goes when a newer one passed", "pffp", "3", "p--p"],
    ["unchecked ones never displace the newest that passed", "ppuuu", "2", "-p-uu"],
    ["those of an older version are displaced by what passed", "uuuuup", "3", "---uup"],
    ["an unchecked one is displaced by what passed", "upp", "2", "-pp"],
    ["all that failed: the newest stay", "ffff", "2", "--ff"],
    ["by age, the newest that passed stays behind what failed", "ppfff", `9 ${day}`, "-p-ff"],
    ["by age with a clock that ran ahead: the newest of each stays", "ppupf", `9 ${day}`, "---pf", "2036-01-01"],
    ["by age with a clock that ran ahead and nothing checked", "uuuu", `9 ${day}`, "---u", "2036-01-01"],
    ["by age with a clock that was set back before all of them", "ppf", `9 ${day}`, "ppf", "2016-01-01"],
    ["by an age that is more than the clock shows", "pp", `9 ${day}`, "pp", "1970-01-01 00:00:05"],
  ] as const) {
    test(what, async () => {
      const ids = made(checks);
      const { exitCode, stderr } = await run(`moment='${moment} UTC'; prune ${words}`);
      expect({ exitCode, stays: left(checks, ids), stderr: exitCode === 0 ? "" : stderr }).toEqual({
        ...{ exitCode: 0, stays, stderr: "" },
      });
    });
  }
});

test("a backup that is taken with a clock set back is the newest all the same", async () => {
  const [, first = "", second = ""] = made("fpp");
  const { exitCode, stdout } = await run("make_backup 2 check");
  expect([exitCode, stdout.trim()]).toEqual([0, at(0)]);
  expect(names()).toEqual([at(0), second]);
  expect((await run("list_backups")).stdout.split("\n").map((line) => line.split("\t")[0])).toEqual([
    at(0),
    second,
    "",
  ]);
  expect(names()).not.toContain(first);
});

test("nothing goes for a backup that has become unreadable since its check", async () => {
  const ids = made("uppp");
  writeFileSync(join(folder, String(ids[3]), "what"), "y\n");
  const { exitCode, stdout } = await run("prune_backups 1 0");
  expect([exitCode, stdout.trim().split("\n")]).toEqual([0, [String(ids[1]), String(ids[0])]]);
  expect([left("uppp", ids), check(String(ids[3]))]).toEqual([
    "--pp",
    expect.stringMatching(/^failed \S+ its files are not what was written$/),
  ]);
});

test("a dry run names what would go and leaves it", async () => {
  const ids = made("fppf");
  expect((await run("prune_backups 1 0 dry")).stdout.trim().split("\n")).toEqual([String(ids[1]), String(ids[0])]);
  expect(left("fppf", ids)).toBe("fppf");
});

test("half a backup that a removal left has no name, and goes with the next", async () => {
  mkdirSync(join(folder, `.gone-${at(1)}`));
  backup(2);
  expect((await run("list_backups")).stdout).toStartWith(at(2));
  expect((await run("prune 1")).exitCode).toBe(0);
  expect(names()).toEqual([at(2)]);
});

test("a check that cannot be carried out says so, and is neither passed nor failed", async () => {
  for (const second of [10, 11]) backup(second);
  const lines = 'now=12\ncheck_backup() { echo "no space left"; return 3; }\n';
  const { exitCode, stderr } = await run(`${lines}make_backup 2 check`);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("could not be checked: no space left.")]);
  expect(check(at(12))).toMatch(/^unchecked \S+ no space left$/);
  // What passed once has not failed by that.
  expect((await run(`check_kept ${at(11)}`, "x")).exitCode).toBe(0);
  expect((await run(`${lines}check_kept ${at(11)}`)).exitCode).toBe(1);
  expect(check(at(11))).toMatch(/^passed /);
});

test("a check that is cut off leaves no verdict", async () => {
  const { exitCode } = await run(
    'check_backup() { kill -TERM "$$"; sleep() { command sleep 1; }; sleep; }\nmake_backup 2 check',
  );
  expect(exitCode).not.toBe(0);
  expect([names(), check(at(0))]).toEqual([[at(0)], ""]);
});

test("counts tell how many failed", async () => {
  made("ufpf");
  expect((await run('count_backups; echo "$count $failed"')).stdout).toBe("4 2\n");
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
  writeFileSync(join(folder, at(1), ".check"), "failed 2026-01-02T00:00:00Z rows differ\n");
  expect((await run("list_backups")).stdout).toBe(
    `${at(2)}\t6\tunchecked\t\t\tthree\n${at(1)}\t4\tfailed\t2026-01-02T00:00:00Z\trows differ\tone\n`,
  );
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
  expect(check(at(1))).toMatch(/^failed /);
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
  const isGone = `[ ! -d /proc/${child} ] || grep '^State:.*Z' /proc/${child}/status`;
  await waitFor("the child to be gone", async () => (await run(isGone)).exitCode === 0);
});

test.each([
  ["a younger one", 60, "made one"],
  ["none", undefined, "made one"],
  ["one that is older", 7_200, "made one"],
])("a copy whose schedule has made %s makes its own backup only where it has to", async (_, ageSeconds, made) => {
  if (ageSeconds !== undefined) {
    backup(1);
    const moment = Date.now() / 1000 - ageSeconds;
    utimesSync(join(folder, at(1)), moment, moment);
  }
  const { stdout } = await run('job() { echo "made one: $*"; }\ndue_job 3600 7 90');
  expect(stdout.trim()).toBe(ageSeconds === 60 ? "" : `${made}: 7 90`);
});
