import { placeholdersIn } from "../placeholders.ts";
import { parseVolumeOwner } from "../volume-owner.ts";
import { parseVolume, pathFault, plainPath } from "../volumes.ts";
import { eachEntry, type Report, reportRepeats } from "./rule.ts";
import type { ContainerFields } from "../../api/kinds/container.ts";
import type { VolumeClaim } from "../../api/kinds/volume-claim.ts";
import { bytesRule } from "./size.ts";
import { scopeOk } from "../identity.ts";
import { parseMemory } from "../../../base/pure/quantity.ts";

interface Target {
  key: string;
  path: string;
}

/** Volumes of a spec and, for statefulsets, its claims: two mounts never share a target. */
export function volumeRules(
  { volumes = [], volume_owner: text }: Pick<ContainerFields, "volumes" | "volume_owner">,
  path: string,
  report: Report,
): void {
  reportRepeats(volumeTargets(volumes, `${path}.volumes`, report), "mount path", report);
  const owner = text === undefined ? undefined : parseVolumeOwner(text);
  if (owner?.ok === false) report(`${path}.volume_owner`, owner.error);
}

export function claimRules(claims: readonly VolumeClaim[], volumes: readonly string[], report: Report): void {
  const path = "spec.volume_claims";
  eachEntry(claims, path, (claim, claimPath) => claimRule(claim, claimPath, report));
  const named = claims.map(({ name }, index) => ({ key: name, path: `${path}[${index}].name` }));
  reportRepeats(named, "claim name", report);
  const targets = claims.map((claim, index) => ({
    key: plainPath(claim.mount_path),
    path: `${path}[${index}].mount_path`,
  }));
  const taken = new Set(volumeTargets(volumes, "spec.volumes", () => {}).map(({ key }) => key));
  reportRepeats(targets, "mount path", report);
  for (const target of targets) {
    if (taken.has(target.key)) report(target.path, `the mount path "${target.key}" is already in spec.volumes`);
  }
}

function claimRule(claim: VolumeClaim, path: string, report: Report): void {
  if (!scopeOk(claim.name)) {
    report(`${path}.name`, `"${claim.name}" is not a claim name; use 1 to 40 lower-case letters, digits and "-"`);
  }
  const fault = pathFault(claim.mount_path);
  if (fault !== undefined) report(`${path}.mount_path`, `is "${claim.mount_path}", ${fault}`);
  if (claim.size !== undefined) claimSizeRule(claim.size, `${path}.size`, report);
}

function claimSizeRule(text: string, path: string, report: Report): void {
  const bytes = parseMemory(text);
  if (bytes === undefined) report(path, `"${text}" is not a size; write "20Gi" or bytes`);
  else bytesRule(bytes, { text, path, report });
}

function volumeTargets(volumes: readonly string[], path: string, report: Report): Target[] {
  return volumes.flatMap((text, index) => {
    const entryPath = `${path}[${index}]`;
    const malformed = placeholdersIn(text).find((placeholder) => placeholder.type === "malformed");
    const mount = parseVolume(text);
    if (malformed?.type === "malformed") {
      report(entryPath, `"${malformed.text}" is not a reference; ${malformed.form}`);
    } else if (!mount.ok) report(entryPath, mount.error);
    return mount.ok ? [{ key: plainPath(mount.value.target), path: entryPath }] : [];
  });
}
