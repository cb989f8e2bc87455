import { describe, expect, test } from "bun:test";
import { planLocal } from "../../../../src/client/entry/exec-local.ts";

const words = (text: string) => text.split(" ");

describe("a command for the operator's terminal", () => {
  test("docker exec is run where the engine is", () => {
    const command = words("docker exec -it data-main.0 psql -U postgres");
    expect(planLocal(command, { docker: true, terminal: true })).toEqual({ type: "docker", argv: command });
  });

  test.each([
    ["docker exec -it data-main.0 psql -U postgres -d app", "-i -t data-main.0 -- psql -U postgres -d app"],
    ["docker exec data-main.0 ls", "data-main.0 -- ls"],
    ["docker exec --interactive --tty c sh", "-i -t c -- sh"],
    ["docker exec -u postgres -e A=1 --env=B=2 -w /tmp c id", "-u postgres -e A=1 -e B=2 -w /tmp c -- id"],
    ["docker exec -itu root c sh -c x", "-i -t -u root c -- sh -c x"],
  ])("elsewhere %s goes through the server", (command, expected) => {
    expect(planLocal(words(command), { docker: false, terminal: true })).toEqual({
      type: "exec",
      words: words(expected),
    });
  });

  test.each([
    ["docker exec -it data-main.0 psql -t", "docker exec -i data-main.0 psql -t"],
    ["docker exec -t c sh -t", "docker exec c sh -t"],
    ["docker exec --tty --user tom c sh", "docker exec --user tom c sh"],
    ["docker exec -itu tty c sh", "docker exec -iu tty c sh"],
    ["docker exec -e A=-t --tty=true c env", "docker exec -e A=-t c env"],
    ["docker exec c -t", "docker exec c -t"],
  ])("%s without a terminal is %s", (command, expected) => {
    const plan = planLocal(words(command), { docker: true, terminal: false });
    expect(plan).toEqual({ type: "docker", argv: words(expected) });
    const elsewhere = planLocal(words(command), { docker: false, terminal: false });
    expect(elsewhere).toEqual(planLocal(words(expected), { docker: false, terminal: true }));
  });

  test("berth exec without a terminal loses its -t too", () => {
    const plan = planLocal(words("berth exec -it s/web -- sh -t"), { docker: false, terminal: false });
    expect(plan).toEqual({ type: "exec", words: words("-i s/web -- sh -t") });
  });

  test("berth exec goes through the server everywhere", () => {
    for (const docker of [true, false]) {
      expect(planLocal(words("berth exec s/web -- ls"), { docker, terminal: true })).toEqual({
        type: "exec",
        words: words("s/web -- ls"),
      });
    }
  });

  test.each([
    "docker run x",
    "docker exec --privileged c sh",
    "docker exec -d c sh",
    "docker exec -u",
    "rm -rf /",
    "berth delete s",
  ])("%s is the operator's to decide", (command) => {
    expect(planLocal(words(command), { docker: false, terminal: true })).toEqual({ type: "ask", argv: words(command) });
  });
});
