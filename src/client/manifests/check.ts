import type { ErrorProblem } from "../../base/wire/envelope.ts";
import { type Problem, problemsAt } from "../../base/wire/failure.ts";
import { closest } from "../../base/pure/suggest.ts";
import { formatKey } from "../../orchestration/api/manifest.ts";
import { reservedField, conflictText, duplicateReservations } from "../../orchestration/core/reservations.ts";
import type { CoreDraft, PluginBlock } from "../../orchestration/core/draft.ts";
import { expandApp } from "../../orchestration/core/expand.ts";
import { uncertifiedHosts } from "../../orchestration/core/local-names.ts";
import { kindWords } from "../../orchestration/core/kind.ts";
import { normaliseSpec } from "../../orchestration/core/normalise.ts";
import type { ValidationLimits } from "../../orchestration/core/rules/rule.ts";
import { decodeManifests, placeOf } from "../../orchestration/core/validate.ts";

interface Checked {
  /** What the server would refuse, whatever it has stored; each names its manifest, from 1. */
  problems: ErrorProblem[];
  /** Blocks of kinds that are not the server's own. Only a server that has their plugin can check their fields. */
  blocks: PluginBlock[];
  /** What the server would warn of; `index` is that of the manifest, from 0. */
  warnings: { index: number; text: string }[];
}

/** The checks of an apply that need no server: shapes, rules, and manifests that cannot stand beside each other. */
export function checkManifests(manifests: readonly unknown[], limits: ValidationLimits): Checked {
  const { problems, manifests: drafts, pluginBlocks } = decodeManifests(manifests, { limits, isPluginKind });
  if (problems.length > 0) return { problems: problems.map(told), blocks: pluginBlocks, warnings: [] };
  const fromBlocks = new Set(pluginBlocks.map(({ index }) => index));
  const indexes = manifests.map((_, index) => index).filter((index) => !fromBlocks.has(index));
  const parts = drafts.flatMap((draft, at): Part[] => {
    return expandApp(draft).map((part) => ({
      ...part,
      spec: normaliseSpec(part.kind, part.spec),
      from: indexes[at] ?? 0,
    }));
  });
  const found = [...twins(parts), ...conflicts(parts)].flatMap(({ from, ...problem }) => {
    return problemsAt(placeOf(from, manifests.length), [problem]);
  });
  const warnings = parts.flatMap((part) => {
    return uncertifiedHosts(part.kind, part.spec).map((text) => ({
      index: part.from,
      text: `${formatKey(part)}: ${text}`,
    }));
  });
  return { problems: found.map(told), blocks: pluginBlocks, warnings };
}

/** A misspelled kind of the server is a fault; any other word may be the kind of a plugin. */
function isPluginKind(kind: string): boolean {
  return closest(kind, kindWords()) === undefined;
}

/** A part of what is applied; `from` is the index of the manifest that it comes from. */
type Part = CoreDraft & { from: number };
type Found = Problem & { from: number };

function twins(parts: readonly Part[]): Found[] {
  const seen = new Set<string>();
  return parts.flatMap((part) => {
    const ref = formatKey(part);
    if (!seen.has(ref)) {
      seen.add(ref);
      return [];
    }
    return [{ from: part.from, path: "", message: `${ref} is here twice; an app makes one of them` }];
  });
}

/** Two of them that want the same host, port or name. */
function conflicts(parts: readonly Part[]): Found[] {
  return duplicateReservations(parts).flatMap(({ name, first, second }) => {
    const [holder, late] = [parts[first], parts[second]];
    if (holder === undefined || late === undefined) return [];
    return [{ from: late.from, path: reservedField(name), message: conflictText(name, holder) }];
  });
}

/** As the server's answer tells a problem. */
function told({ path, message, reason, place }: Problem): ErrorProblem {
  return {
    path,
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(place === undefined ? {} : { manifest: place.manifest }),
  };
}
