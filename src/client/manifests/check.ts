import type { ErrorProblem } from "../../base/wire/envelope.ts";
import { type Problem, problemsAt } from "../../base/wire/failure.ts";
import { closest, didYouMean } from "../../base/pure/suggest.ts";
import { formatKey } from "../../orchestration/api/manifest.ts";
import { envSources } from "../../orchestration/core/dependencies.ts";
import type { PluginBlock } from "../../orchestration/core/draft.ts";
import { hiddenDomain, uncertifiedHosts } from "../../orchestration/core/local-names.ts";
import { kindWords } from "../../orchestration/core/kind.ts";
import { naming } from "../../orchestration/core/naming.ts";
import type { ValidationLimits } from "../../orchestration/core/rules/rule.ts";
import { brokenReferences, clashes, type FoundAt, type Part, partsOf } from "../../orchestration/core/together.ts";
import { decodeManifests, furtherProblems, placeOf, shapedOnes } from "../../orchestration/core/validate.ts";

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
  const decoded = decodeManifests(manifests, { limits, isPluginKind });
  const shaped = shapedOnes(decoded, limits);
  const parts = partsOf(shaped.manifests, shaped.indexes);
  // What a block makes, and what a server has stored, is not known here.
  const isOpen = () => true;
  const between = [...twins(parts), ...clashes(parts), ...brokenReferences({ parts, isOpen }, naming())];
  const found = between.flatMap(({ from, ...problem }) => problemsAt(placeOf(from, manifests.length), [problem]));
  const beside = furtherProblems(decoded.problems, found);
  const named = new Set([...parts, ...decoded.pluginBlocks].map(({ scope, name }) => `${scope}/${name}`));
  const warnings = parts.flatMap((part) => {
    const texts = [...uncertifiedHosts(part.kind, part.spec), ...hiddenDomain(part), ...unknownSources(part, named)];
    return texts.map((text) => ({ index: part.from, text: `${formatKey(part)}: ${text}` }));
  });
  return { problems: [...decoded.problems, ...beside].map(told), blocks: decoded.pluginBlocks, warnings };
}

/** Config that the files do not show. An apply, and a dry run of it, says whether the server has it. */
function unknownSources(part: Part, named: ReadonlySet<string>): string[] {
  const sources = envSources(part).map(({ scope, name }) => `${scope}/${name}`);
  return sources
    .filter((source) => !named.has(source))
    .map((source) => {
      const close = didYouMean(source, [...named]);
      return `env_from: nothing in these files is called ${source}${close}; no server was asked: berth apply --dry-run does`;
    });
}

/** A misspelled kind of the server is a fault; any other word may be the kind of a plugin. */
function isPluginKind(kind: string): boolean {
  return closest(kind, kindWords()) === undefined;
}

function twins(parts: readonly Part[]): FoundAt[] {
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

/** As the server's answer tells a problem. */
function told({ path, message, reason, place }: Problem): ErrorProblem {
  return {
    path,
    message,
    reason,
    ...(place === undefined ? {} : { manifest: place.manifest }),
  };
}
