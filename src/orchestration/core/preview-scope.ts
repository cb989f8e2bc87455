import { sha256Hex } from "../../base/pure/digest.ts";

const scopeLengthMax = 40;
const labelLengthMin = 8;

/**
 * What the preview of a branch is called: `label` is for host names, `scope` is where it runs. Branches that would get
 * the same name differ by a part of their digest. Undefined where the scope leaves too little room.
 */
export function previewScope(of: string, branch: string): { scope: string; label: string } | undefined {
  const room = scopeLengthMax - of.length - 1;
  if (room < labelLengthMin) return undefined;
  const plain = branch
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  if (plain === branch && plain.length <= room) return { scope: `${of}-${plain}`, label: plain };
  const digest = sha256Hex(branch).slice(0, 6);
  const label = `${plain.slice(0, room - digest.length - 1)}-${digest}`.replace(/^-+/, "").replace(/-{2,}/g, "-");
  return { scope: `${of}-${label}`, label };
}
