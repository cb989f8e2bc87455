import { describe, expect, test } from "bun:test";
import { parseDockerOptions } from "../../../../src/orchestration/core/docker-options.ts";

const read = (...entries: string[]) => parseDockerOptions(entries, "spec.docker_options");

describe("spellings", () => {
  test.each([
    [["--shm-size=64m"]],
    [["--shm-size 64m"]],
    [["--shm-size", "64m"]],
    [['--shm-size="64m"']],
    [["--shm-size", "67108864"]],
    [["--shm-size=64Mi"]],
  ])("%j", (entries) => {
    expect(read(...entries)).toEqual({ options: { shmSizeBytes: 64 * 1024 ** 2 }, problems: [] });
  });
  test("a value may start with a dash, a short form is the long one", () => {
    expect(read("--oom-score-adj", "-500", "-u", "1000:1000", "--memory-swap=-1").options).toEqual({
      oomScoreAdj: -500,
      user: "1000:1000",
      memorySwapBytes: -1,
    });
  });
});

test.each(["db.other", "-db", "db-", "", "a b", "ü", "a".repeat(64)])("%p is not a name within the scope", (name) => {
  expect(read(`--network-alias=${name}`)).toEqual({
    options: {},
    problems: [{ path: expect.any(String), message: expect.stringContaining("--network-alias") }],
  });
});

test("every accepted flag", () => {
  const { options, problems } = read(
    ...["--init", "--privileged=false", "--read-only=true", "--user=app", "--workdir=/srv", "--hostname=h"],
    ...["--entrypoint=/bin/sh", "--label=a=b=c", "--label=d=", "--cap-drop=ALL", "--dns=1.1.1.1", "--dns=8.8.8.8"],
    ...["--dns-search=x", "--dns-opt=ndots:1", "--group-add=9", "--security-opt=no-new-privileges", "--sysctl=a.b=1"],
    ...["--tmpfs=/tmp:size=1m", "--tmpfs=/run", "--device=/dev/a", "--device=/dev/b:r", "--device=/dev/c:/dev/d:rw"],
    ...["--memory-reservation=1g", "--pids-limit=100", "--cpu-shares=512", "--cpuset-cpus=0-1", "--ipc=host"],
    ...["--pid=host", "--network-alias=sql", "--network-alias=Shop_db"],
  );
  expect(problems).toEqual([]);
  expect(options).toEqual({
    init: true,
    privileged: false,
    readonlyRootfs: true,
    user: "app",
    workingDir: "/srv",
    hostname: "h",
    entrypoint: ["/bin/sh"],
    labels: { a: "b=c", d: "" },
    capDrop: ["ALL"],
    dns: ["1.1.1.1", "8.8.8.8"],
    dnsSearch: ["x"],
    dnsOptions: ["ndots:1"],
    groupAdd: ["9"],
    networkAliases: ["sql", "Shop_db"],
    securityOpt: ["no-new-privileges"],
    sysctls: { "a.b": "1" },
    tmpfs: { "/tmp": "size=1m", "/run": "" },
    devices: [
      { pathOnHost: "/dev/a", pathInContainer: "/dev/a", permissions: "rwm" },
      { pathOnHost: "/dev/b", pathInContainer: "/dev/b", permissions: "r" },
      { pathOnHost: "/dev/c", pathInContainer: "/dev/d", permissions: "rw" },
    ],
    memoryReservationBytes: 1024 ** 3,
    pidsLimit: 100,
    cpuShares: 512,
    cpusetCpus: "0-1",
    ipcMode: "host",
    pidMode: "host",
  });
});

describe("what is refused", () => {
  test.each([
    ["--shm-sise=64m", 'did you mean "--shm-size"'],
    ["--zzz", "is not an accepted flag"],
    ["--constructor=x", "is not an accepted flag"],
    ["--env=A=1", "use env"],
    ["-p=80:80", "use ports"],
    ["--mount type=bind", "use volumes"],
    ["--name=x", "the platform names containers"],
    ["--shm-size", "needs a value"],
    ["--shm-size=lots", 'got "lots"'],
    ["--user=", "needs a value"],
    ["--label=a", "needs KEY=VALUE"],
    ["--pids-limit=1.5", "needs a whole number"],
    ["--oom-score-adj=2000", "from -1000 to 1000"],
    ["--pid=container:x", 'takes "host"'],
    ["--tmpfs=tmp", "needs an absolute path"],
    ["--device=a", "needs /dev/host"],
    ["--device=/a:/b:rw:x", "needs /dev/host"],
    ["--init=maybe", "takes no value"],
    ["stray", "is not a flag"],
  ])("%s", (entry, reason) => {
    const { problems } = read("--init", entry);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.path).toBe("spec.docker_options[1]");
    expect(problems[0]?.message).toContain(reason);
  });
  test("a switch does not swallow the entry after it", () => {
    expect(read("--init", "true").problems[0]?.message).toContain('"true" is not a flag');
  });
});
