import { expect, test } from "bun:test";
import { withSignals } from "../../../../../src/orchestration/core/build/with-signals.ts";
import { waitFor } from "../../../../support/wait.ts";

const lines: [line: string, becomes: string][] = [
  ["node worker.js", "exec node worker.js"],
  ["bundle exec puma -p $PORT", "exec bundle exec puma -p $PORT"],
  ["exec node x", "exec node x"],
  ["A=1 B='x y' node x", "A=1 B='x y' exec node x"],
  ["cd api && npm run build; node x", "cd api && npm run build; exec node x"],
  ["cd api && A=1 node x;", "cd api && A=1 exec node x;"],
  ["node x >log 2>&1", "exec node x >log 2>&1"],
  ["node \"a; b\" 'c && d' e\\;f", "exec node \"a; b\" 'c && d' e\\;f"],
  ["node x # then a; b", "exec node x # then a; b"],
  ["serve --port=${PORT:-3000}", "exec serve --port=${PORT:-3000}"],
];

test.each(lines)("a shell that has nothing left to do gives way to the last program: %p", (line, becomes) => {
  expect(withSignals(line)).toBe(becomes);
});

const others = [
  "a | b",
  "a || b",
  "a & b",
  "(a)",
  "if a; then b; fi",
  "a; cd b",
  "a $(b)",
  'a "$(b)"',
  "a `b`",
  "a <<E",
];

test.each([...others, "for x in 1 2; do a; b", "'a"])(
  "any other line runs below a shell that hands signals on: %p",
  (line) => {
    expect(withSignals(line)).toStartWith("trap ");
    expect(withSignals(line)).toContain(`( ${line}\n)`);
  },
);

/** Says that it runs, and ends with 7 on SIGTERM after it has said so. */
const program = `sh -c 'trap "echo bye >&2; exit 7" TERM; echo up; while :; do sleep 0.02; done'`;
const run = [
  program,
  `A=1 ${program}`,
  `cd / && ${program}`,
  `true; ${program}`,
  `false || ${program}`,
  `(${program})`,
];
const many = [`${program} | cat`, `${program} & wait`, `echo "$(true)" && ${program}`];
const shells = [["dash"], ["bash"], ["busybox", "sh"]].filter(([name = ""]) => Bun.which(name) !== null);

test.each(shells.flatMap((shell) => [...run, ...many].map((line) => [shell, line] as const)))(
  "SIGTERM to the shell reaches the program: %p, %p",
  async (shell, line) => {
    // A session of its own: the signal goes to the whole process group.
    const child = Bun.spawn([...shell, "-c", withSignals(line)], { stdout: "pipe", stderr: "pipe", detached: true });
    let said = "";
    const reading = (async () => {
      for await (const bytes of child.stdout) said += new TextDecoder().decode(bytes);
    })();
    await waitFor("the program to run", () => said.includes("up\n"));
    child.kill("SIGTERM");
    const [code, bye] = await Promise.all([child.exited, new Response(child.stderr).text(), reading]);
    expect(bye).toContain("bye");
    if (run.includes(line)) expect(code).toBe(7);
  },
);
