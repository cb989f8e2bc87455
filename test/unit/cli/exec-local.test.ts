import { describe, expect, test } from "bun:test";
import { planLocal } from "../../../src/cli/exec-local.ts";

const words = (text: string) => text.split(" ");

describe("a command for the operator's terminal", () => {
  test("docker exec is run where the engine is", () => {
    const command = words("docker exec -it data-main.0 psql -U postgres");
    expect(planLocal(command, { docker: true })).toEqual({ type: "docker", argv: command });
  });

  test.each([
    ["docker exec -it data-main.0 psql -U postgres -d app", "-i -t data-main.0 -- psql -U postgres -d app"],
    ["docker exec data-main.0 ls", "data-main.0 -- ls"],
    ["docker exec --interactive --tty c sh", "-i -t c -- sh"],
    ["docker exec -u postgres -e A=1 --env=B=2 -w /tmp c id", "-u postgres -e A=1 -e B=2 -w /tmp c -- id"],
    ["docker exec -itu root c sh -c x", "-i -t -u root c -- sh -c x"],
  ])("elsewhere %s goes through the server", (command, expected) => {
    expect(planLocal(words(command), { docker: false })).toEqual({ type: "exec", words: words(expected) });
  });

  test("berth exec goes through the server everywhere", () => {
    for (const docker of [true, false]) {
      expect(planLocal(words("berth exec s/web -- ls"), { docker })).toEqual({
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
    expect(planLocal(words(command), { docker: false })).toEqual({ type: "ask", argv: words(command) });
  });
});
