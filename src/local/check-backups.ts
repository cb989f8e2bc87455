import type { BackupTarget } from "../backups/api/backups.ts";
import { copiesFail } from "../backups/api/protection.ts";
import type { Check } from "./checks.ts";
import { getJson, record } from "./probe.ts";

/** The targets of the server of this root; undefined when none answers there. */
export async function askTargets(socket: string): Promise<BackupTarget[] | undefined> {
  try {
    const { targets } = record((await getJson(`unix://${socket}`, "/backups/targets")).data);
    return Array.isArray(targets) ? (targets as BackupTarget[]) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether copies reach every target, as the running server knows it; undefined: no server answers. */
export function checkBackups(targets: readonly BackupTarget[] | undefined): Check {
  const name = "off-site backups";
  if (targets === undefined) return { name, status: "skip", detail: "only the running server knows how copies go" };
  const worse = targets.find(({ check_error: error }) => error !== undefined);
  if (worse !== undefined) {
    const detail = `the check of the target ${worse.name} failed: ${worse.check_error}`;
    return { name, status: "fail", detail, mend: `berth backup repair ${worse.name} --dry-run` };
  }
  const failing = targets.filter(copiesFail);
  if (failing.length > 0) {
    const [{ last_error: error, volume_errors: [first] = [] } = {}] = failing;
    const detail = `copies to ${failing.map((target) => target.name).join(", ")} fail: ${error ?? first}`;
    return { name, status: "fail", detail, mend: "berth backup target list shows all that failed" };
  }
  if (targets.length > 0)
    return { name, status: "ok", detail: `to ${targets.map((target) => target.name).join(", ")}` };
  return { name, status: "skip", detail: "no target: to have copies elsewhere, berth backup target add --help" };
}
