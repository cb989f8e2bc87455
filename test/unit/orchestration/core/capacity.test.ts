import { describe, expect, test } from "bun:test";
import { argumentFault, argumentsFault } from "../../../../src/orchestration/core/argument-size.ts";
import { capabilityFault } from "../../../../src/orchestration/core/capabilities.ts";
import { capacityProblems } from "../../../../src/orchestration/core/capacity.ts";

describe("capabilities", () => {
  test.each(["NET_ADMIN", "cap_sys_ptrace", "ALL", "CAP_BPF"])("%s is one", (name) => {
    expect(capabilityFault(name)).toBeUndefined();
  });

  test("one that Linux does not have is named, with the nearest", () => {
    expect(capabilityFault("NET_ADMN")).toBe('"NET_ADMN" is not a capability of Linux; did you mean "NET_ADMIN"');
    expect(capabilityFault("FLY_TO_THE_MOON")).toContain('write "NET_ADMIN" and the like');
  });
});

describe("CPU limits", () => {
  const spec = (cpu: string, init = "1") => ({
    resources: { limits: { cpu } },
    inits: [{ name: "a", resources: { limits: { cpu: init } } }],
  });

  test("beyond the machine are refused, of init containers and cron jobs as well", () => {
    const problems = capacityProblems({ kind: "deployment", spec: spec("64", "4.5") }, { stored: undefined, cpus: 4 });
    expect(problems).toEqual([
      { path: "spec.resources.limits.cpu", message: '"64" is more than the 4 CPUs of this machine' },
      { path: "spec.inits[0].resources.limits.cpu", message: '"4.5" is more than the 4 CPUs of this machine' },
    ]);
    const cronjob = { kind: "cronjob" as const, spec: { job: spec("64") } };
    expect(capacityProblems(cronjob, { stored: undefined, cpus: 4 })[0]?.path).toBe("spec.job.resources.limits.cpu");
  });

  test("within the machine, of an unknown machine, and those that were stored before are fine", () => {
    const owner = { kind: "deployment" as const, spec: spec("64") };
    expect(capacityProblems({ ...owner, spec: spec("4") }, { stored: undefined, cpus: 4 })).toEqual([]);
    expect(capacityProblems(owner, { stored: undefined, cpus: undefined })).toEqual([]);
    expect(capacityProblems(owner, { stored: spec("64"), cpus: 4 })).toEqual([]);
  });
});

describe("what a process can be started with", () => {
  test("one argument has up to 131071 bytes, counted as bytes", () => {
    expect(argumentFault("a".repeat(131_071))).toBeUndefined();
    expect(argumentFault("a".repeat(131_072))).toStartWith("is 131072 bytes long");
    expect(argumentFault("ä".repeat(65_536))).toStartWith("is 131072 bytes long");
  });

  test("all together have a limit too", () => {
    const long = "a".repeat(131_071);
    expect(argumentsFault(Array(16).fill(long))).toBeUndefined();
    expect(argumentsFault(Array(17).fill(long))).toContain("2228224 bytes together");
  });
});
