import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { makeRecoveryKey, readRecoveryKey } from "../../../src/backups/core/recovery-key.ts";
import {
  causeOf,
  createStallWatch,
  keepWords,
  lacksOnlyVanished,
  readRemoved,
  readSnapshots,
  readSummary,
  resticVersion,
  troubleOf,
} from "../../../src/backups/core/restic-words.ts";
import {
  hasFeature,
  isAtLeast,
  lockingOf,
  repairIndexWords,
  resticFeatures,
  resticMin,
  restoreProgress,
  restoreWords,
  takeWords,
} from "../../../src/backups/core/restic-commands.ts";
import { expectedMs, partsOf } from "../../../src/backups/core/restore-choice.ts";
import { readSubject, stateTag, subjectTags, volumeTag, whatOf } from "../../../src/backups/core/subject.ts";
import { checkCredentials, readTarget, repositoryEnvironment } from "../../../src/backups/core/target.ts";

describe("the address of a target", () => {
  test.each([
    ["/mnt/disk/copies/", "folder", "/mnt/disk/copies/0a1b"],
    ["s3://s3.eu-central-1.amazonaws.com/bucket/a/b", "s3", "s3:https://s3.eu-central-1.amazonaws.com/bucket/a/b/0a1b"],
    ["s3+http://127.0.0.1:9000/bucket", "s3", "s3:http://127.0.0.1:9000/bucket/0a1b"],
    ["sftp://ann@nas.example.com:2222/volume1/x", "sftp", "sftp://ann@nas.example.com:2222//volume1/x/0a1b"],
    ["rest:https://vault.example.com:8000/", "rest", "rest:https://vault.example.com:8000/0a1b/"],
    ["rest:http://vault.example.com/a", "rest", "rest:http://vault.example.com/a/0a1b/"],
  ] as const)("%s is read", (url, kind, repository) => {
    const place = readTarget(url);
    expect([place.kind, place.repositoryOf("0a1b")]).toEqual([kind, repository]);
  });

  test.each([
    ["copies", "is not the address of a target"],
    ["/", "is not a folder for copies"],
    ["/srv/../etc", "is not a folder for copies"],
    ["s3://bucket/path", "write s3://s3.REGION.amazonaws.com/bucket/path"],
    ["s3://bucket", "s3://s3.REGION.amazonaws.com/bucket/PATH"],
    ["s3://AKIA:secret@host.example.com/bucket", "credentials do not belong in the address"],
    ["rest:https://user:word@host.example.com/", "credentials do not belong in the address"],
    ["rest:host.example.com", "write rest:https://HOST/PATH"],
    ["sftp://host.example.com", "names no folder"],
    ["sftp://-oProxyCommand=x@host.example.com/a", 'begins with "-"'],
    ["sftp://host.example.com/a b", "a blank"],
    ["s3://host.example.com/bucket?x=1", '"?"'],
    ["s3://host.example.com/buc%6bet", "the path of a target"],
    ["ftp://host.example.com/a", "is not the address of a target"],
  ])("%s is refused", (url, said) => {
    expect(() => readTarget(url)).toThrow(said);
  });

  test("takes the credentials of its kind, and no others", () => {
    const s3 = readTarget("s3://s3.example.com/bucket");
    expect(() => checkCredentials(s3, {})).toThrow("a target of the kind s3 needs access_key_id");
    expect(() => checkCredentials(s3, { access_key_id: "a", secret_access_key: "b" })).not.toThrow();
    expect(() => checkCredentials(readTarget("/srv/x"), { user: "a" })).toThrow("folder takes no user");
  });

  test("passes credentials on in the environment alone", () => {
    const access = { installation: "0a1b", password: "key" };
    const login = { user: "a/b", password: "c@d" };
    const rest = readTarget("rest:https://vault.example.com/");
    expect(repositoryEnvironment(rest, { ...access, credentials: login })).toEqual({
      RESTIC_REPOSITORY: "rest:https://a%2Fb:c%40d@vault.example.com/0a1b/",
      RESTIC_PASSWORD: "key",
    });
    const keys = { access_key_id: "id", secret_access_key: "word" };
    expect(repositoryEnvironment(readTarget("s3://s3.example.com/b"), { ...access, credentials: keys })).toEqual({
      RESTIC_REPOSITORY: "s3:https://s3.example.com/b/0a1b",
      RESTIC_PASSWORD: "key",
      AWS_ACCESS_KEY_ID: "id",
      AWS_SECRET_ACCESS_KEY: "word",
    });
  });

  test("is read or refused as invalid, whatever it is", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((text) => `s3://${text}`),
        ),
        (url) => {
          try {
            expect(readTarget(url).repositoryOf("0a1b")).toContain("0a1b");
          } catch (error) {
            expect((error as { code: string }).code).toBe("invalid");
          }
        },
      ),
    );
  });
});

test.each([
  ["7d 4w 12m", ["--keep-last", "1", "--keep-daily", "7", "--keep-weekly", "4", "--keep-monthly", "12"]],
  ["24h", ["--keep-last", "1", "--keep-hourly", "24"]],
])("what to keep: %s", (text, words) => {
  expect(keepWords(text)).toEqual(words);
});

test.each([
  ["", "it is empty"],
  ["7", '"7" is not a count with its unit'],
  ["0d", '"0d" is not a count'],
  ["7d 7d", '"d" stands in it twice'],
  ["7d,4w", '"7d,4w" is not a count'],
])("what to keep: %p is refused", (text, said) => {
  expect(() => keepWords(text)).toThrow(said);
});

describe("the recovery key", () => {
  test("names the installation, and reads back as it was written down", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 200, maxLength: 200 }), (random) => {
        const made = (() => {
          try {
            return makeRecoveryKey("0123456789abcdef", random);
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError);
            return undefined;
          }
        })();
        if (made === undefined) return;
        expect(made.text).toMatch(/^0123456789abcdef\.([2-9a-hj-km-np-z]{5}-){7}[2-9a-hj-km-np-z]{5}$/);
        expect(readRecoveryKey(`  ${made.text.toUpperCase()}\n`)).toEqual(made);
      }),
    );
  });

  test.each(["", "abc", "0123456789abcdef", "0123456789abcdef.aaaaa-aaaaa"])("%p is refused", (text) => {
    expect(() => readRecoveryKey(text)).toThrow("this is not a recovery key");
  });
});

describe("what restic says", () => {
  test("its version, and whether that is new enough", () => {
    expect(resticVersion("restic 0.14.0 compiled with go1.19.8 on linux/amd64\n")).toBe("0.14.0");
    expect(resticVersion("bash: restic: command not found")).toBeUndefined();
    const versions = ["0.11.0", "0.12.0", "0.9.6", "0.17.3", "1.0"];
    expect(versions.map((one) => isAtLeast(one, resticMin))).toEqual([false, true, false, true, true]);
  });

  test("a feature is used from the version on that brought it, and done without before", () => {
    const versions = [undefined, "0.13.1", "0.14.0", "0.15.2", "0.16.5", "0.17.0", "0.18.1"];
    const names = Object.keys(resticFeatures) as (keyof typeof resticFeatures)[];
    const found = versions.map((one) => names.filter((name) => hasFeature(one, name)));
    const since16 = ["copy", "sparse", "repairIndex", "restoreProgress"] as typeof names;
    expect(found).toEqual([[], [], ["copy"], ["copy", "sparse"], since16, names, names]);
    expect(takeWords("0.14.0", "ab")).toEqual(["copy", "ab"]);
    expect(() => takeWords("0.13.1", "ab")).toThrow("install 0.14 or newer");
    expect(["0.14.0", "0.16.0"].map(repairIndexWords)).toEqual([["rebuild-index"], ["repair", "index"]]);
    const order = { snapshot: "ab", folder: "/x", only: ["--include", "/a"] };
    const usual = "restore ab --verify --target /x --include /a";
    expect(restoreWords("0.14.0", order).join(" ")).toBe(usual);
    expect(restoreWords("0.15.0", order).join(" ")).toBe(usual.replace("--verify", "--verify --sparse"));
    expect(restoreWords("0.16.0", order).join(" ")).toBe(usual.replace("--verify", "--verify --sparse --json"));
    for (const words of [...["0.14.0", "0.18.0"].map(repairIndexWords), restoreWords("0.18.0", order)])
      expect(["read", "write"]).toContain(lockingOf(words));
    expect(() => lockingOf(["mount"])).toThrow("not in the table");
    const seen: number[] = [];
    const onBytes = (bytes: number) => void seen.push(bytes);
    const line = '{"message_type":"status","percent_done":0.5,"total_bytes":8,"bytes_restored":4}';
    restoreProgress("0.16.0", "/x", onBytes).onText?.(`${line}\n${line.replace(":4}", ":6}")}\n{"message_type":"sta`);
    restoreProgress("0.16.0", "/x", onBytes).onText?.('{"message_type":"summary","total_bytes":8}');
    expect([seen, restoreProgress("0.14.0", "/x", onBytes)]).toEqual([[6], { watched: { folder: "/x", onBytes } }]);
    expect([10, 11, 12, 1].map((code) => troubleOf("", code))).toEqual([
      ...["no_repository", "locked", "wrong_key", "other"],
    ] as never);
  });

  test.each([
    ["Fatal: wrong password or no key found", "wrong_key"],
    ["unable to create lock in backend: repository is already locked by PID 7", "locked"],
    [
      "Fatal: unable to open config file: stat /x/config: no such file or directory\nIs there a repository at",
      "no_repository",
    ],
    [
      "Fatal: unable to open config file: Stat: The specified key does not exist.\nIs there a repository at",
      "no_repository",
    ],
    ["Fatal: unable to open config file: client.Head: dial tcp: connection refused\nIs there a repository at", "other"],
    ["Fatal: unable to save snapshot: snapshot is empty\n", "empty"],
    ["Fatal: no space left on device", "other"],
  ] as const)("%s", (said, trouble) => {
    expect(troubleOf(said)).toBe(trouble);
  });

  test("the line that names the cause", () => {
    const cause = (said: string) => causeOf(said, (text) => text.replaceAll("word-of-the-target", "***"));
    expect(cause("Fatal: wrong password\nIs there a repository at the following location?\n/x\n")).toBe(
      "wrong password",
    );
    expect(cause("subprocess ssh: Connection refused\nFatal: unable to open repository: EOF")).toBe(
      "Connection refused",
    );
    const lost =
      "Fatal: unable to open repository at sftp:x: unable to start the sftp session, error: read |0: file already closed";
    expect(cause(lost)).toStartWith("ssh did not connect; what it says, as root: ssh ");
    const again =
      "Load(<config/0000000000>, 0, 0) returned error, retrying after 552.330144ms: open /x: not a directory";
    expect(cause(again)).toBe("open /x: not a directory");
    expect(cause("")).toBe("restic said nothing");
    // A secret that the end of a long text would cut in two is hidden whole.
    const long = cause(`Fatal: ${"x".repeat(390)}word-of-the-target and more`);
    expect([long.length, long.includes("word")]).toEqual([400, false]);
  });

  test("the summary of a backup; one that was cut off has none", () => {
    const summary = '{"message_type":"summary","total_bytes_processed":30,"data_added":10,"snapshot_id":"9fb48919"}';
    expect(readSummary(`{"message_type":"status"}\n${summary}\n`)).toEqual({
      snapshot: "9fb48919",
      bytes: 30,
      added: 10,
    });
    expect(readSummary('{"message_type":"status"}\n')).toBeUndefined();
    expect(readSummary(summary.slice(0, -9))).toBeUndefined();
  });

  test("snapshots; a list that was cut off is none", () => {
    const row = { id: "aa", time: "2026-11-28T22:02:39.5Z", tags: ["x"] };
    expect(readSnapshots(JSON.stringify([row, { id: 1 }]))).toEqual([
      { id: "aa", at: Date.parse("2026-11-28T22:02:39.5Z"), tags: ["x"] },
    ]);
    expect(() => readSnapshots('[{"id":"aa"')).toThrow("restic listed no snapshots");
  });
});

describe("the tags of a copy", () => {
  const subject = { scope: "shop", kind: "statefulset", name: "db", claim: "data", ordinal: 0 };

  test("name the volume, and are read back", () => {
    const tags = subjectTags(subject);
    expect(tags).toEqual(["scope=shop", "kind=statefulset", "name=db", "claim=data", "ordinal=0"]);
    expect(readSubject([...tags, volumeTag])).toEqual(subject);
    expect(whatOf(subject)).toBe("shop/db/data/0");
    const shared = { ...subject, kind: "deployment", ordinal: undefined };
    expect(readSubject([volumeTag, ...subjectTags(shared)])).toEqual(shared);
    expect(whatOf(shared)).toBe("shop/db/data");
  });

  test("of anything else name none", () => {
    for (const tags of [[], ["berth-state"], subjectTags(subject), [volumeTag], [volumeTag, "scope=shop", "name=db"]])
      expect(readSubject(tags)).toBeUndefined();
  });
});

describe("the parts of a server that comes back", () => {
  const day = 86_400_000;
  const volume = (id: string, at: number, name: string) => {
    const subject = { scope: "shop", kind: "statefulset", name, claim: "data", ordinal: 0 };
    return { id, at, tags: [volumeTag, ...subjectTags(subject)] };
  };
  const state = (id: string, at: number) => ({ id, at, tags: [stateTag] });
  const now = 100 * day;
  const copies = [
    ...[state("s1", now - 2 * day), state("s2", now), volume("a1", now - 3 * day, "db"), volume("a2", now - day, "db")],
    ...[volume("b1", now - 2 * day, "web"), volume("b2", now - 1_000, "web"), volume("c1", now - 40 * day, "gone")],
  ];
  const partsAt = (limit: number, stateAt = now) => partsOf(copies, { stateAt, limit, oldMs: 14 * day });

  test("have their times, and one time for all of them where they lie apart", () => {
    expect(partsAt(Infinity)).toEqual({
      rows: [
        { what: "shop/db/data/0", at: now - day, isOld: false },
        { what: "shop/gone/data/0", at: now - 40 * day, isOld: true },
        { what: "shop/web/data/0", at: now - 1_000, isOld: false },
      ],
      together: now - day,
    });
    const then = partsAt(now - 2 * day, now - 2 * day).rows.map(({ at }) => now - at);
    expect(then).toEqual([3 * day, 40 * day, 2 * day]);
  });

  test("are of one time already, or have none", () => {
    const near = [state("s", now), volume("a", now - 30_000, "db")];
    expect(partsOf(near, { stateAt: now, limit: Infinity, oldMs: day }).together).toBeUndefined();
    const early = [state("s", now), volume("a", now - day / 2, "db")];
    expect(partsOf(early, { stateAt: now, limit: Infinity, oldMs: day }).together).toBeUndefined();
    expect(partsOf([state("s", now)], { stateAt: now, limit: Infinity, oldMs: day }).rows).toEqual([]);
  });
});

describe("a request of restic that goes on failing", () => {
  const retry = (request: string, delay: string) => `${request} returned error, retrying after ${delay}: 503 Busy\n`;
  let now = 0;
  const watch = () => {
    now = 0;
    return createStallWatch(60_000, () => now);
  };
  const later = (seconds: number) => {
    now += seconds * 1_000;
  };

  test("is found out by its own tries, which come after longer and longer pauses", () => {
    const isStalled = watch();
    for (const delay of ["552.3ms", "391ms", "1.08s", "2.5s", "12.8s", "43.2s"]) {
      expect(isStalled(retry("Save(<data/aa>)", delay))).toBe(false);
      later(10);
    }
    later(1);
    expect(isStalled(retry("Save(<data/aa>)", "1m2.5s"))).toBe(true);
  });

  test("is not one where several fail now and then, or the same again after it succeeded", () => {
    const isStalled = watch();
    for (let count = 0; count < 50; count += 1) {
      expect(
        isStalled(retry(`Save(<data/${count}>)`, "552ms") + retry("List(index)", count % 2 ? "600ms" : "2.1s")),
      ).toBe(false);
      later(20);
    }
    expect(isStalled("Fatal: returned error, and no word of a retry\n")).toBe(false);
  });
});

test("how long a restore takes follows from the largest that was made from there, if that says anything", () => {
  const mib = 1024 * 1024;
  const planned = (target: string, ...sizes: number[]) => sizes.map((bytes) => ({ target, bytes }));
  const timing = (target: string, bytes: number, ms: number) => ({ target, bytes, ms });
  const timings = [timing("disk", 1, 2_000), timing("disk", 100 * mib, 10_000), timing("far", 1_000, 3_000)];
  expect(expectedMs(planned("disk", 150 * mib, 50 * mib), timings)).toBe(20_000);
  // It does not become faster than it begins.
  expect(expectedMs(planned("disk", 5), timings)).toBe(10_000);
  expect(expectedMs(planned("far", 10 * mib), timings)).toBe(3_000);
  // Most of the time of a small one is its beginning: nothing follows for a large one.
  expect(expectedMs(planned("far", 20 * mib), timings)).toBeUndefined();
  expect(expectedMs(planned("other", 5), timings)).toBeUndefined();
});

test("what a removal has removed is read from its answer", () => {
  const group = (remove: unknown) => ({ tags: null, host: "x", keep: [{ id: "cc" }], remove });
  expect(readRemoved(JSON.stringify([group([{ id: "aa" }, { id: "bb" }]), group(null)]))).toEqual(["aa", "bb"]);
  expect(readRemoved("\n")).toEqual([]);
  expect(() => readRemoved("{}")).toThrow("did not say");
});

test("files that were gone when their turn came are told from files that cannot be read, in all versions", () => {
  const row = (error: object) => JSON.stringify({ message_type: "error", error, during: "archival", item: "/v/x" });
  const gone = [row({ Op: "lstat", Path: "/v/x", Err: 2 }), row({ message: "lstat /v/x: no such file or directory" })];
  const denied = [row({ Op: "open", Path: "/v/x", Err: 13 }), row({ message: "open /v/x: permission denied" })];
  const warning = "\nWarning: at least one source file could not be read\n";
  const [there, away] = [() => false, () => true];
  expect(lacksOnlyVanished(`${gone.join("\n")}${warning}`, there)).toBe(true);
  for (const one of denied) expect(lacksOnlyVanished([...gone, one].join("\n"), away)).toBe(false);
  for (const said of ["", "Fatal: wrong password"]) expect(lacksOnlyVanished(said, away)).toBe(false);
  // restic 0.14 says nothing of an error between two calls for the same file.
  const asked: string[] = [];
  for (const isGone of [true, false])
    expect(lacksOnlyVanished(`${row({})}${warning}`, (path) => asked.push(path) > 0 && isGone)).toBe(isGone);
  expect(asked).toEqual(["/v/x", "/v/x"]);
});
