import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOffers } from "../../../../src/orchestration/plugins/offers.ts";
import { failureText } from "../../../support/failure.ts";
import { waitFor } from "../../../support/wait.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-offers-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What of the folder this process has open; other tests of it open and close theirs meanwhile. */
const openFiles = () =>
  readdirSync("/proc/self/fd")
    .flatMap(targetOf)
    .filter((path) => path.startsWith(folder));

function targetOf(descriptor: string): string[] {
  try {
    return [readlinkSync(join("/proc/self/fd", descriptor))];
  } catch {
    return [];
  }
}

describe("a file that is offered", () => {
  test("is read piece by piece and closed at its end, or when nobody wants the rest", async () => {
    const path = join(folder, "a");
    writeFileSync(path, "x".repeat(1_000_000));
    const offers = createOffers(10);
    offers.put("r", [path]);
    const whole = await offers.open("r", 0);
    expect(whole.size).toBe(1_000_000);
    expect((await new Response(whole.body).text()).length).toBe(1_000_000);
    const { body } = await offers.open("r", 0);
    const reader = body.getReader();
    expect((await reader.read()).value?.byteLength).toBeLessThan(1_000_000);
    await reader.cancel();
    await waitFor("the file to be closed", () => openFiles().length === 0);
  });

  test("may be empty", async () => {
    writeFileSync(join(folder, "empty"), "");
    const offers = createOffers(10);
    offers.put("r", [join(folder, "empty")]);
    const { size, body } = await offers.open("r", 0);
    expect([size, await new Response(body).text()]).toEqual([0, ""]);
  });

  test("is refused where it is not a file, not there, or of no run that is kept", async () => {
    const offers = createOffers(2);
    offers.put("one", [folder, join(folder, "none")]);
    expect(await failureText(offers.open("one", 0))).toContain("is not a file");
    expect(await failureText(offers.open("one", 1))).toContain("it is not there");
    expect(await failureText(offers.open("one", 2))).toContain("offers no such file");
    expect(openFiles()).toEqual([]);
    offers.put("none", []);
    offers.put("two", ["/x"]);
    offers.put("three", ["/x"]);
    expect(await failureText(offers.open("one", 0))).toContain("offers no such file");
  });
});
