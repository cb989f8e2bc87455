import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Layout, layoutOf } from "../../src/base/disk/layout.ts";
import { makeFolders } from "../../src/base/disk/root.ts";

/** A root with its folders, for one test; `remove` it after. */
export async function diskRoot(): Promise<{ layout: Layout; remove(): void }> {
  const root = mkdtempSync(join(tmpdir(), "disk-"));
  const layout = layoutOf(root);
  await makeFolders(layout);
  return { layout, remove: () => rmSync(root, { recursive: true, force: true }) };
}
