import { describe, expect, test } from "bun:test";
import { Answer, type Call, cli, refusal, stored } from "../../../support/cli.ts";

const manifests = [
  stored("job/shop/report", { image: "tools:1" }),
  stored("job/bank/report", { image: "tools:1" }),
  stored("job/shop/both", { image: "tools:1" }),
  stored("cronjob/shop/both", { schedule: "0 3 * * *", job: {} }),
  stored("cronjob/shop/nightly", { schedule: "30 4 * * *", timezone: "Europe/Berlin", job: {} }),
  stored("cronjob/shop/off", { schedule: "@daily", suspend: true, job: {} }),
];

function aRun(change: Record<string, unknown> = {}) {
  return {
    run_id: "abcde",
    kind: "job",
    scope: "shop",
    name: "report",
    container: "shop-report.abcde",
    status: "succeeded",
    trigger: "manual",
    attempt: 1,
    started_at: "2026-01-01T23:59:00.000Z",
    ended_at: "2026-01-01T23:59:42.000Z",
    exit_code: 0,
    tail: ["counting", "42 rows"],
    ...change,
  };
}

/** Answers `running` twice, then the given end. */
function server(end: Record<string, unknown> = {}) {
  let looks = 0;
  return ({ method, path, query }: Call): unknown => {
    switch (`${method} ${path}`) {
      case "GET /apply":
        return manifests.filter(
          (row) =>
            (query.kind ?? row.kind) === row.kind &&
            (query.scope ?? row.scope) === row.scope &&
            (query.name ?? row.name) === row.name,
        );
      case "POST /jobs/run":
      case "POST /cronjobs/run":
        return new Answer(202, { status: "ok", data: aRun({ status: "scheduled", ended_at: undefined }) });
      case "GET /jobs/runs/abcde":
        return ++looks < 3 ? aRun({ status: "running", ended_at: undefined, exit_code: undefined }) : aRun(end);
      case "GET /jobs/runs":
        return { runs: [aRun({ kind: "cronjob", name: "nightly", trigger: "schedule", ...end })] };
      case "POST /jobs/runs/abcde/cancel":
        return aRun({ status: "cancelled", exit_code: 143 });
      default:
        return undefined;
    }
  };
}

const text = { "Content-Type": "text/plain" };

describe("berth run", () => {
  test("waits for the end, shows the output and exits with 0", async () => {
    const { code, out, err, calls } = await cli(["run", "shop/report"], { server: server() });
    expect(code).toBe(0);
    expect(out).toBe("counting\n42 rows\n");
    expect(err).toContain("run abcde of job/shop/report succeeded after 42s");
    expect(calls.find(({ path }) => path === "/jobs/run")?.query).toEqual({
      scope: "shop",
      name: "report",
      wait: "false",
    });
  });

  test.each<[Record<string, unknown>, number]>([
    [{ status: "failed", exit_code: 7, error: "exit code 7" }, 7],
    [{ status: "failed", exit_code: -1, error: "no such image" }, 1],
    [{ status: "timed_out", exit_code: 143, error: "took longer than its timeout of 30s" }, 3],
    [{ status: "cancelled", exit_code: 143, error: "cancelled by bob" }, 1],
  ])("%p exits with %d and says why", async (end, expected) => {
    const { code, err } = await cli(["run", "shop/report"], { server: server(end) });
    expect(code).toBe(expected);
    expect(err).toContain(String(end.error));
  });

  test("shows the output while it runs, and then not again", async () => {
    const whole = server();
    const { code, out, calls } = await cli(["run", "shop/report"], {
      server: (call) => {
        if (!call.path.endsWith("/logs")) return whole(call);
        return new Response("more than the record keeps\ncounting\n42 rows", { headers: text });
      },
    });
    expect(code).toBe(0);
    expect(out).toBe("more than the record keeps\ncounting\n42 rows\n");
    const logs = calls.filter(({ path }) => path.endsWith("/logs"));
    expect(logs).toMatchObject([{ path: "/pods/shop-report.abcde/logs", query: { follow: "true" } }]);
  });

  test.each([
    ["in the middle of a line", "cou", "counting\n42 rows\n"],
    ["after a line", "begin\ncounting\n", "begin\ncounting\n42 rows\n"],
    ["at the end of a line", "begin\ncounting", "begin\ncounting\n42 rows\n"],
  ])("output that ends %s is made up for by what is missing", async (_, first, expected) => {
    const whole = server();
    const { code, out, err } = await cli(["run", "shop/report"], {
      server: (call) => (call.path.endsWith("/logs") ? new Response(first, { headers: text }) : whole(call)),
    });
    expect({ code, out }).toEqual({ code: 0, out: expected });
    expect(err).not.toContain("dropped");
  });

  test("output with a gap is made up for by the last lines of the record, and that is told", async () => {
    const whole = server();
    const { code, out, err } = await cli(["run", "shop/report"], {
      server: (call) => (call.path.endsWith("/logs") ? new Response("begin", { headers: text }) : whole(call)),
    });
    expect({ code, out }).toEqual({ code: 0, out: "begin\ncounting\n42 rows\n" });
    expect(err).toContain("output was dropped here; these are its last lines:");
  });

  /** Comes to no end. */
  function cutOff(said: string): ReadableStream {
    let turn = 0;
    return new ReadableStream({
      pull(controller) {
        if (turn++ === 0) controller.enqueue(new TextEncoder().encode(said));
        else controller.error(new Error("reset"));
      },
    });
  }

  test("output that a restart of the server broke off goes on from there: no line twice, none missing", async () => {
    const whole = server();
    const pieces = ["begin\n", "begin\nmidd", "begin\nmiddle\ncounting\n42 rows\n"];
    let looks = 0;
    const { out } = await cli(["run", "shop/report"], {
      server: (call) => {
        if (call.path.endsWith("/logs")) return new Response(cutOff(pieces[looks - 1] ?? ""), { headers: text });
        if (call.path !== "/jobs/runs/abcde" || ++looks > 4) return whole(call);
        return aRun({ status: "running", ended_at: undefined, exit_code: undefined, tail: [] });
      },
    });
    expect(out).toBe("begin\nmiddle\ncounting\n42 rows\n");
  });

  test("output that breaks off is made up for by the last lines of the record", async () => {
    const whole = server();
    const broken = () =>
      new ReadableStream({
        pull(controller) {
          controller.error(new Error("reset"));
        },
      });
    const { code, out } = await cli(["run", "shop/report"], {
      server: (call) => (call.path.endsWith("/logs") ? new Response(broken(), { headers: text }) : whole(call)),
    });
    expect({ code, out }).toEqual({ code: 0, out: "counting\n42 rows\n" });
  });

  test("a try that was over before anybody looked is shown by its last lines, then the next", async () => {
    const whole = server({ attempt: 2, container: "shop-report.abcde-2" });
    let looks = 0;
    const waiting = { status: "scheduled", attempt: 2, container: "shop-report.abcde-2", tail: ["no luck"] };
    const { code, out, err } = await cli(["run", "shop/report"], {
      server: (call) => {
        if (call.path !== "/jobs/runs/abcde" || ++looks > 2) return whole(call);
        return aRun({ ...waiting, ended_at: undefined, error: "try 1 of 2: exit code 42" });
      },
    });
    expect({ code, out }).toEqual({ code: 0, out: "no luck\ncounting\n42 rows\n" });
    expect(err).toContain("try 1 of 2: exit code 42; trying again");
  });

  test("with -o json prints the record in its envelope and nothing else", async () => {
    const { code, out, err } = await cli(["run", "shop/report", "-o", "json"], { server: server({ exit_code: 0 }) });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ status: "ok", data: { run_id: "abcde", tail: ["counting", "42 rows"] } });
    expect(err).toBe("");
  });

  test("--no-wait prints the id", async () => {
    const { code, out, calls } = await cli(["run", "shop/report", "--no-wait"], { server: server() });
    expect({ code, out }).toEqual({ code: 0, out: "abcde\n" });
    expect(calls.some(({ path }) => path.startsWith("/jobs/runs"))).toBe(false);
  });

  test("Ctrl-C leaves the run alone and tells how to end it", async () => {
    const { code, err, calls } = await cli(["run", "shop/report"], {
      server: server(),
      onSleep: (_, interrupt) => interrupt(),
    });
    expect(code).toBe(130);
    expect(err).toContain("berth run --cancel abcde");
    expect(calls.some(({ path }) => path.endsWith("/cancel"))).toBe(false);
  });

  test("--cancel ends a run", async () => {
    const { code, out } = await cli(["run", "--cancel", "abcde"], { server: server() });
    expect({ code, out }).toEqual({ code: 0, out: "run abcde of job/shop/report cancelled\n" });
  });

  test("a cron job is found by its name, and --kind decides between two", async () => {
    const path = async (...words: string[]) =>
      (await cli(["run", ...words, "--no-wait"], { server: server() })).calls.at(-1)?.path;
    expect(await path("shop/nightly")).toBe("/cronjobs/run");
    expect(await path("shop/both", "--kind", "job")).toBe("/jobs/run");
    expect(await path("cronjob/shop/both")).toBe("/cronjobs/run");
  });

  test.each<[string[], string]>([
    [["run"], "say what to run"],
    [["run", "shop/both"], "job/shop/both or cronjob/shop/both"],
    [["run", "report"], "job/shop/report or job/bank/report"],
    [["run", "deployment/shop/web"], "has no runs"],
    [["run", "--cancel", "abcde", "shop/report"], "nothing else"],
  ])("%p is wrong usage", async (words, text) => {
    const { code, err } = await cli(words, { server: server() });
    expect(code).toBe(2);
    expect(err).toContain(text);
  });

  test("an unknown job is an error, as is a refusal of the server", async () => {
    expect(await cli(["run", "shop/nothing"], { server: server() })).toMatchObject({ code: 1 });
    const refusing = (call: Call) =>
      call.path === "/cronjobs/run" ? refusal(409, "cronjob/shop/nightly is suspended") : server()(call);
    const { code, err } = await cli(["run", "shop/nightly"], { server: refusing });
    expect(code).toBe(1);
    expect(err).toContain("is suspended");
  });
});

describe("berth cron", () => {
  test("list shows schedule, next and last run", async () => {
    const { code, out } = await cli(["cron", "list", "shop"], { server: server({ status: "missed", error: "late" }) });
    expect(code).toBe(0);
    const lines = out.split("\n").map((line) => line.split(/\s{2,}/));
    expect(lines[0]).toEqual(["NAME", "SCHEDULE", "TIMEZONE", "NEXT", "LAST", "RESULT"]);
    // The client's clock stands at 2026-01-02T00:00Z; 04:30 in Berlin is 03:30Z.
    expect(lines).toContainEqual([
      "shop/nightly",
      "30 4 * * *",
      "Europe/Berlin",
      "in 3h",
      "2026-01-01 23:59:00Z",
      "missed",
    ]);
    expect(lines).toContainEqual(["shop/off", "@daily", "UTC", "suspended", "-", "-"]);
  });

  test("run starts it and exits as it does", async () => {
    const { code, calls } = await cli(["cron", "run", "shop/nightly"], {
      server: server({ status: "failed", exit_code: 9 }),
    });
    expect(code).toBe(9);
    expect(calls.some(({ method, path }) => method === "POST" && path === "/cronjobs/run")).toBe(true);
  });

  test("history lists runs with why", async () => {
    const end = { status: "failed", exit_code: 2, error: "exit code 2", attempt: 3 };
    const { out, calls } = await cli(["cron", "history", "shop/nightly", "-n", "5"], { server: server(end) });
    const [, row = ""] = out.split("\n");
    expect(row.split(/\s{2,}/)).toEqual([
      ...["abcde", "failed (try 3)", "schedule", "2026-01-01 23:59:00Z", "42s", "2", "exit code 2"],
    ]);
    expect(calls.at(-1)?.query).toEqual({ kind: "cronjob", scope: "shop", name: "nightly", limit: "5" });
  });

  test("show prints one run with its last lines, which cannot drive the terminal", async () => {
    const play = server({ tail: ["\u001b[2Jgone", "42 rows"] });
    for (let looks = 0; looks < 2; looks++)
      play({ method: "GET", path: "/jobs/runs/abcde", query: {}, body: undefined });
    const { out } = await cli(["cron", "show", "abcde"], { server: play });
    expect(out).toContain("run abcde");
    expect(out).toContain("  42 rows");
    expect(out).not.toContain("\u001b");
  });

  test("cancel ends a run", async () => {
    expect((await cli(["cron", "cancel", "abcde"], { server: server() })).out).toBe("run abcde cancelled\n");
  });

  test.each([[["cron"]], [["cron", "lst"]], [["cron", "run"]], [["cron", "run", "a/b", "c"]]])(
    "%p is wrong usage",
    async (words) => {
      expect((await cli(words, { server: server() })).code).toBe(2);
    },
  );
});

test("describe of a job lists its runs", async () => {
  const description = {
    manifest: manifests[4],
    status: {
      phase: "ready",
      schedule: "30 4 * * *",
      timezone: "Europe/Berlin",
      next_run: "2026-01-02T03:30:00.000Z",
      history: [aRun({ status: "skipped", started_at: undefined, error: "1 run is under way", tail: undefined })],
    },
    pods: [],
  };
  const { out } = await cli(["describe", "cronjob", "shop/nightly"], { server: () => description });
  expect(out).toContain("2026-01-02 03:30:00Z");
  expect(out).toMatch(/abcde +skipped.*1 run is under way/);
});
