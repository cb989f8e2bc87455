import { afterEach, beforeEach, expect, test } from "bun:test";
import { signingSecret } from "../../../src/base/deliver/signature.ts";
import { loadKey } from "../../../src/base/disk/key-file.ts";
import type { Layout } from "../../../src/base/disk/layout.ts";
import { webhookSecretCommand } from "../../../src/local/webhook-secret.ts";
import { diskRoot } from "../../support/disk-root.ts";
import { expectFailure } from "../../support/failure.ts";
import { said } from "../../support/said.ts";

let layout: Layout;
let remove: () => void;
beforeEach(async () => {
  ({ layout, remove } = await diskRoot());
});
afterEach(() => remove());

async function printed(args: string[]): Promise<string> {
  const { result, out } = await said(() => webhookSecretCommand(args));
  expect(result).toBe(0);
  return out;
}

test("prints the secret of the root's key, and makes no key where there is none", async () => {
  const { message } = await expectFailure(webhookSecretCommand(["--root", layout.root]), "not_found");
  expect(message).toContain(`"${layout.root}"`);
  const key = await loadKey(layout);
  expect(await printed(["--root", layout.root])).toBe(`${signingSecret(key).reveal()}\n`);
});

test("says how it is used", async () => {
  expect(await printed(["--help"])).toContain("HMAC-SHA256");
});
